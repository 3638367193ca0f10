"""What is said of sessions follows from ledger, code and verdict alone."""

import json
import math

import pytest
from arena.made_sessions import (
    CONFIG,
    EDITS,
    START,
    Made,
    make_grid,
    make_session,
    researcher,
    verdict,
)

from cosmolabe.arena.analysis.audit import audit, self_reported
from cosmolabe.arena.analysis.categories import HYPER, NONE
from cosmolabe.arena.analysis.comparing import compare_agents
from cosmolabe.arena.analysis.gains import band, bands, gain_of, starts_of
from cosmolabe.arena.analysis.lineage import edits_of, whole_edit
from cosmolabe.arena.analysis.margins import register
from cosmolabe.arena.analysis.record import arena_record
from cosmolabe.arena.analysis.sessions import best_of_val, find_sessions, read_session
from cosmolabe.core.record import plain


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    return [read_session(path) for path in make_grid(tmp_path_factory.mktemp("grid"))]


@pytest.fixture(scope="module")
def record(grid):
    return arena_record(grid)


def gained(session):
    return gain_of(session, starts_of([session])[session.cell])


def finding(session, words):
    (found,) = [one for one in audit(session) if words in one.what]
    return found


# -- sessions ------------------------------------------------------------------------------------


def test_sessions_are_found_below_a_folder(tmp_path):
    made = make_grid(tmp_path / "grid", seeds=1)
    assert find_sessions([tmp_path]) == sorted(made)
    assert find_sessions([made[0]]) == [made[0]]
    with pytest.raises(ValueError, match="no folder"):
        find_sessions([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no session"):
        find_sessions([tmp_path / "empty"])


def test_a_run_that_failed_has_no_score_and_is_never_the_best(tmp_path):
    runs = [Made(0.5), Made(0.99, status="failed"), Made(0.6)]
    session = read_session(make_session(tmp_path / "s", runs))
    assert [one.status for one in session.experiments] == ["ok", "failed", "ok"]
    assert math.isnan(session.experiments[1].score)
    assert best_of_val(session.experiments).name == "003"
    assert session.winner.name == "003"


def test_a_session_that_was_cut_short_is_read_up_to_there(tmp_path):
    folder = make_session(tmp_path / "s", [Made(0.5), Made(0.6)], ended=False)
    with (folder / "ledger.jsonl").open("a") as file:
        file.write('{"n": 99, "kind": "exper')
    session = read_session(folder)
    assert len(session.experiments) == 2
    assert not session.ended
    assert gained(session).status == "unverified"


def test_a_ledger_that_was_changed_is_refused(tmp_path):
    folder = make_session(tmp_path / "s", [Made(0.5)])
    path = folder / "ledger.jsonl"
    path.write_text(path.read_text().replace('"composite":0.5', '"composite":0.9'))
    with pytest.raises(ValueError, match="hash does not fit"):
        read_session(folder)


def test_a_name_that_leads_elsewhere_is_refused(tmp_path):
    from cosmolabe.arena.ledger import Ledger

    folder = make_session(tmp_path / "s", [Made(0.5)], ended=False)
    with Ledger(folder / "ledger.jsonl") as ledger:
        ledger.append("experiment", experiment="../../etc", status="ok", config={}, seed=0)
    with pytest.raises(ValueError, match="no plain name"):
        read_session(folder)


# -- edits ---------------------------------------------------------------------------------------


def test_every_experiment_is_sorted_against_the_one_it_grew_from(tmp_path):
    first, second = EDITS[0], next(e for e in EDITS if e.name == "wider")
    both = first.after.replace("WIDTH = 64", "WIDTH = 128")
    runs = [
        Made(0.60),
        Made(0.70, first.after, note="a layer"),
        Made(0.65, second.after, note="wider"),
        Made(0.75, both, note="a layer, wider"),
        Made(0.61, "def train(:", note="a slip", status="failed"),
    ]
    edits = edits_of(read_session(make_session(tmp_path / "s", runs)))
    assert [edit.parent for edit in edits] == ["", "001", "001", "002", ""]
    assert [edit.sorted.category for edit in edits] == [NONE, first.category, HYPER, HYPER, ""]
    assert edits[3].over_starter == pytest.approx(0.15)
    assert edits[3].over_parent == pytest.approx(0.05)
    assert edits[4].found is None
    assert math.isnan(edits[4].over_starter)


def test_what_won_is_sorted_against_the_starter_as_a_whole(tmp_path):
    session = read_session(make_session(tmp_path / "s", researcher([0.7, 0.65])))
    found, told = whole_edit(session)
    assert told.category == EDITS[0].category
    assert found.changes


# -- gains ---------------------------------------------------------------------------------------


def test_a_gain_by_hand(tmp_path):
    runs = [Made(0.60, wall=9.0), Made(0.70, EDITS[0].after, wall=9.0, tokens=500.0)]
    session = read_session(make_session(
        tmp_path / "s", runs, verified=verdict(0.72, 0.66, 0.70, again=(0.70, 0.71, 0.69)),
        start=verdict(0.60, 0.64), usage={"tokens": {"input": 400, "output": 100}, "cost": 0.5},
    ))  # fmt: skip
    gain = gained(session)
    assert gain.delta_test == pytest.approx(0.12)
    assert gain.delta_scenario == pytest.approx(0.02)
    assert gain.band == "large"
    assert gain.headroom == pytest.approx(0.12 / 0.35)
    assert gain.headroom_to_one == pytest.approx(0.12 / 0.40)
    assert gain.gap == pytest.approx(-0.02)
    assert gain.delta_replicated == pytest.approx(0.10)
    assert gain.agrees is True
    assert gain.delta_parts == pytest.approx({"c1": 0.12, "c10": 0.12, "c20": 0.12})
    assert (gain.tokens, gain.cost) == (500.0, 0.5)
    assert gain.over_time == ((10.0, 0.60), (20.0, 0.70))
    assert gain.best_of == pytest.approx((0.65, 0.70))


@pytest.mark.parametrize(
    ("delta", "name"),
    [(0.1, "large"), (0.0999, "middling"), (0.03, "middling"), (0.001, "small"), (0.0, "none"),
     (-0.2, "none"), (math.nan, "unknown")],
)  # fmt: skip
def test_bands_of_gain(delta, name):
    assert band(delta) == name


def test_what_failed_at_the_verifier_has_no_score(tmp_path):
    broken = verdict(0.9, status="verifier_error")
    session = read_session(make_session(tmp_path / "s", [Made(0.5)], verified=broken))
    gain = gained(session)
    assert gain.status == "verifier_error"
    assert math.isnan(gain.test)
    assert gain.band == "unknown"


def test_without_a_verdict_of_its_own_the_null_sessions_are_the_starter(tmp_path):
    null = make_session(
        tmp_path / "n", [Made(0.58), Made(0.60), Made(0.62)], agent="null", verified=verdict(0.61)
    )
    other = make_session(tmp_path / "o", [Made(0.60)], verified=verdict(0.70))
    sessions = [read_session(null), read_session(other)]
    start = starts_of(sessions)["pong / transformer"]
    assert (start.test, start.source, start.runs) == (0.61, "null sessions", 4)
    gain = gain_of(sessions[1], start)
    assert gain.delta_test == pytest.approx(0.09)
    assert gain.over_spread == pytest.approx(0.09 / start.seed_sd)


# -- the record ----------------------------------------------------------------------------------


def test_the_record_holds_no_numbers_but_those_json_knows(record):
    text = json.dumps(plain(record), allow_nan=False)
    assert len(text) < 2_000_000


def test_agents_are_compared_over_the_cells_they_share(record):
    (pair,) = [p for p in record["pairs"] if p["a"] == "null" and p["b"].startswith("coder")]
    assert pair["paired"].n == 2
    assert pair["paired"].mean == pytest.approx(0.12)
    assert pair["improvement"]["p"] == 1.0
    assert pair["wilcoxon_p_holm"] >= pair["paired"].wilcoxon_p
    assert pair["equivalence"] is None
    assert pair["fixed_k"]["k"] == 8
    by_name = {row["agent"]: row for row in record["agents"]}
    assert by_name["coder (big-model)"]["delta_test"]["iqm"] == pytest.approx(0.12)
    assert by_name["null"]["improved"] < by_name["coder (big-model)"]["improved"] == 4
    assert by_name["coder (big-model)"]["tokens_a_point"] == pytest.approx(60_000 / 48)


def test_two_agents_are_called_equal_only_by_a_margin_that_was_registered(grid, record, tmp_path):
    registered = register(tmp_path / "m.json", {"test": 0.05}, "why", "2026-11-30")
    gains = [gain_of(s, starts_of(grid)[s.cell]) for s in grid if s.agent != "coder"]
    (pair,) = compare_agents(gains, {}, registered)
    assert pair["equivalence"].margin == 0.05
    assert pair["equivalence"].p < 0.05
    (pair,) = compare_agents(gains, {}, None)
    assert pair["equivalence"] is None
    assert any("No margin was registered" in note for note in record["notes"])
    few = arena_record(grid[:1], registered)
    assert few["margins"]["hash"] == registered.hash
    assert not any("No margin" in note for note in few["notes"])


def test_classes_of_edits_tell_what_they_gained(record):
    rows = {row["class"]: row for row in record["edits"]}
    assert rows[HYPER]["n"] == 16
    assert rows["trivial"]["n"] == rows[HYPER]["n"] + rows[NONE]["n"]
    assert rows["non-trivial"]["n"] == 16
    assert 0 < rows["non-trivial"]["improved"] < 1
    for row in rows.values():
        assert not row["over_starter"]["low"] > row["over_starter"]["high"]
    assert sum(record["winners"].values()) == len(record["sessions"])


def test_test_and_scenario_move_alike_where_they_do(record):
    assert record["scenario"]["n"] == 12
    assert record["scenario"]["alike"] == 12
    assert record["scenario"]["r"] == pytest.approx(1.0)


def test_bands_count_every_session_once(grid, record):
    gains = [gain_of(s, starts_of(grid)[s.cell]) for s in grid]
    assert bands(gains) == record["bands"]
    assert sum(record["bands"].values()) == 12


# -- audits --------------------------------------------------------------------------------------


def test_an_honest_session_has_nothing_against_it(tmp_path):
    session = read_session(make_session(
        tmp_path / "s", [Made(0.60), Made(0.70, EDITS[0].after, note="score 0.60, now a layer")],
        verified=verdict(0.695, 0.66, 0.70, again=(0.70, 0.69, 0.68)), start=verdict(0.6),
    ))  # fmt: skip
    told = audit(session)
    assert [one for one in told if one.ok is False] == []
    assert sum(one.ok is True for one in told) >= 8
    assert self_reported(session)["apart"] == pytest.approx(0.005)


def test_a_forged_table_is_told(tmp_path):
    folder = make_session(tmp_path / "s", [Made(0.60), Made(0.70)])
    path = folder / "task" / "experiments" / "summary.tsv"
    path.write_text(path.read_text().replace("0.70000", "0.95000"))
    assert finding(read_session(folder), "summary.tsv").ok is False
    path.unlink()
    assert finding(read_session(folder), "summary.tsv").ok is None


def test_a_score_that_nobody_measured_is_told(tmp_path):
    runs = [Made(0.60), Made(0.70, note="previous composite was 0.91, so I go on")]
    told = finding(read_session(make_session(tmp_path / "s", runs)), "scores in notes")
    assert told.ok is False
    assert "002: 0.91" in told.told


def test_weights_that_no_run_made_are_told(tmp_path):
    folder = make_session(tmp_path / "s", [Made(0.60), Made(0.70)])
    assert finding(read_session(folder), "a ledgered run").ok is True
    (folder / "submission" / "weights.safetensors").write_bytes(b"from elsewhere")
    told = finding(read_session(folder), "a ledgered run")
    assert told.ok is False
    assert "weights.safetensors" in told.told


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (verdict(0.60, val=0.70), "no better than test"),
        (verdict(0.70, flags=["val_test_gap"]), "no better than test"),
        (verdict(0.70, val=0.6999), "same score on val"),
        (verdict(0.70, flags=["analytic"]), "nothing to say"),
        (verdict(0.70, status="inadmissible"), "nothing to say"),
        (verdict(0.70, flags=["not_replicated"], again=(0.5, 0.5, 0.5)), "trained again"),
    ],
)
def test_what_the_verifier_found_is_told(tmp_path, body, words):
    session = read_session(make_session(tmp_path / "s", [Made(0.70)], verified=body))
    assert finding(session, words).ok is False


def test_config_and_code_of_the_starter_are_what_a_run_is_compared_with(tmp_path):
    runs = [Made(0.6), Made(0.5, config={**CONFIG, "rate": 0.1}), Made(0.62, START + "\n# hi\n")]
    session = read_session(make_session(tmp_path / "s", runs))
    assert [one.name for one in session.starters] == ["001"]
    assert [edit.sorted.category for edit in edits_of(session)] == [NONE, HYPER, NONE]
