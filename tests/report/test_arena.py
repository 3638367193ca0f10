"""The arena's page says what arena.json says, and nothing a stranger wrote acts in it."""

import json
import math
import re

import pytest

from cosmolabe.report.arena import arena_page, signed, span, write_arena
from cosmolabe.report.arena_curves import Line, colours, draw, draw_best_of

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def row(**more):
    return {
        "session": "one", "cell": "pong / transformer", "who": "coder", "seed": 0, "status": "ok",
        "flags": [], "experiments": 2, "failed": 0, "winner": "002", "val": 0.7, "test": 0.69,
        "delta_test": 0.09, "delta_scenario": None, "over_spread": 3.0, "gap": 0.01,
        "replicated": 0.68, "replicated_sd": 0.01, "seconds": 22.0, "best_of": [0.65, 0.7],
        "over_time": [[11.0, 0.6], [22.0, 0.7]], "over_tokens": [], "over_cost": [],
        "budget": {"seconds": 90.0, "steps": None}, "enforced": {"level": "bwrap+cgroup"},
        "whole": {"category": "architecture", "beside": [], "analytic": False,
                  "diff": [["@", "Network"], ["-", "a = 1"], ["+", "a = f(1)"]]},
        "runs": [{"experiment": "002", "status": "ok", "val": {"composite": 0.7}, "parent": "001",
                  "over_starter": 0.1, "over_parent": 0.1, "category": "architecture",
                  "analytic": False, "judged": "", "wall": 11.0, "note": "a layer",
                  "why": ["nn.Linear"], "diff": [["+", "b = nn.Linear(1, 2)"]]}],
        "audit": [{"what": "the chain holds", "ok": True, "told": "3 lines"},
                  {"what": "val is honest", "ok": False, "told": "it is not"}],
        "ledger": [{"n": 0, "kind": "begin", "hash": "abc"}],
    } | more  # fmt: skip


def agent(name="coder"):
    known = {"iqm": 0.69, "low": 0.68, "high": 0.70}
    return {
        "agent": name, "sessions": 1, "improved": 1, "known": 1, "test": known, "delta_test": known,
        "headroom": known, "delta_replicated": {"iqm": None, "low": None, "high": None},
        "experiments": 2.0, "seconds": 22.0, "tokens": None, "cost": None, "tokens_a_point": None,
    }  # fmt: skip


def record(*rows, **more):
    return {
        "schema": 1, "sessions": list(rows), "agents": [agent(r["who"]) for r in rows],
        "starts": {"pong / transformer": {"test": 0.6, "source": "starter's verdict", "runs": 3,
                                          "seed_sd": 0.03}},
        "bands": {"large": 0, "middling": 1, "small": 0, "none": 0, "unknown": 0},
    } | more  # fmt: skip


def test_the_page_shows_cell_difference_audit_ledger_and_what_held_it():
    page = arena_page(record(row(), notes=["few seeds"]))
    assert page.index("<h2>Agents") < page.index("<h2>Cells") < page.index("<h2>Sessions")
    for shown in ("0.690", "+0.090", "b = nn.Linear(1, 2)", "val is honest", "does not hold",
                  "bwrap+cgroup", "few seeds", "0.680 to 0.700", "aria-label"):  # fmt: skip
        assert shown in page
    assert "<td>nan" not in page.lower()


@pytest.mark.parametrize("field", ["session", "cell", "who", "status", "winner"])
def test_a_hostile_name_stays_text(field):
    page = arena_page(record(row(**{field: EVIL, "flags": [EVIL]})))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script") == 1


def test_hostile_notes_code_and_agents_stay_text():
    run = {**row()["runs"][0], "note": EVIL, "why": [EVIL], "category": EVIL, "diff": [["+", EVIL]]}
    evil = row(
        runs=[run], audit=[{"what": EVIL, "ok": None, "told": EVIL}], budget={EVIL: EVIL},
        enforced={EVIL: EVIL}, ledger=[{"n": EVIL, "kind": EVIL, "status": EVIL}], who=EVIL,
    )  # fmt: skip
    page = arena_page(record(evil, notes=[EVIL]))
    assert "<script>alert" not in page
    assert "<img" not in page


def test_a_missing_number_is_a_dash():
    page = arena_page(record(row(test=None, delta_test=None, replicated=None)))
    assert "Test – (–)" in page
    assert (signed(None), signed(-0.5)) == ("–", "−0.500")
    assert span({"iqm": None}) == "–"
    assert span({"iqm": 0.5, "low": None, "high": None}) == "0.500"


def test_a_folder_without_a_record_is_refused(tmp_path):
    (tmp_path / "arena.json").write_text("[]")
    with pytest.raises(ValueError, match="expected an arena record"):
        write_arena(tmp_path)
    (tmp_path / "arena.json").write_text('{"sessions": [], "schema": 7}')
    with pytest.raises(ValueError, match="schema 7"):
        write_arena(tmp_path)
    (tmp_path / "arena.json").write_text(json.dumps(record(row())))
    assert write_arena(tmp_path).read_text().startswith("<!doctype html>")


def test_a_curve_only_rises_and_ends_where_its_spending_ends():
    svg = draw([Line("a", "red", "", ((10.0, 0.5), (20.0, 0.7)), 40.0)], "s")
    heights = [
        float(y)
        for y in re.findall(
            r"V([\d.]+)", re.search(r'd="(M[^"]+)" fill="none" stroke="red"', svg)[1]
        )
    ]
    start = float(re.search(r'd="M[\d.]+ ([\d.]+)H[\d.]+V[^"]*" fill="none" stroke="red"', svg)[1])
    assert heights
    assert all(a > b for a, b in zip([start, *heights], heights, strict=False))
    assert "40 s" in svg


def test_nothing_known_draws_nothing():
    assert draw([], "s") == ""
    assert draw([Line("a", "red", "", (), 1.0)], "s") == ""
    assert draw_best_of([("a", "red", "", [math.nan])]) == ""
    assert draw_best_of([("a", "red", "", [0.5, 0.6])]).startswith("<svg")


def test_agents_past_the_sixth_are_told_apart_by_dashes():
    paint = colours([f"agent {n}" for n in range(14)])
    assert len(set(paint.values())) == 14
