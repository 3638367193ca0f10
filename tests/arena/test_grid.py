"""A grid does what is missing and nothing twice; one session that fails stops no other."""

import json
from dataclasses import asdict

import pyarrow.parquet as pq
import pytest
from arena.edit_sets import SHOWN
from arena.made_sessions import Made, make_session, verdict

from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.export_ledgers import export_ledgers
from cosmolabe.arena.grid import Entrant, GridPlan, plan_of, run_grid, statuses
from cosmolabe.cli import main
from cosmolabe.core.record import plain, read_json


def plan(hook="arena.grid_hooks:pixels", **more):
    known = {
        "games": ("pong",), "models": ("pixels",), "seeds": 2, "hooks": {"pixels": hook},
        "entrants": (Entrant("null"), Entrant("random_search", {"runs": 2})),
    }  # fmt: skip
    return GridPlan(**known | more)


def verdicts(folder):
    return {p.parent.name: p.stat().st_mtime_ns for p in folder.glob("sessions/*/verdict.json")}


def test_a_cell_of_other_code_enters_the_grid_and_nothing_is_done_twice(tmp_path):
    rows = run_grid(tmp_path, plan())
    assert [row["name"] for row in rows] == [
        "pong-pixels-null-0", "pong-pixels-random-search-0",
        "pong-pixels-null-1", "pong-pixels-random-search-1",
    ]  # fmt: skip
    assert {row["status"] for row in rows} == {"verified: ok"}
    before = verdicts(tmp_path)
    assert run_grid(tmp_path, plan()) == rows == list(statuses(tmp_path))
    assert verdicts(tmp_path) == before
    more = run_grid(tmp_path, plan(seeds=3))
    assert len(more) == 6
    assert {k: v for k, v in verdicts(tmp_path).items() if k in before} == before
    assert len(run_grid(tmp_path, plan(seeds=1))) == 2
    assert read_json(tmp_path / "grid.json")["seeds"] == 3
    assert not (tmp_path / "stores").exists()


def test_a_session_that_fails_is_told_and_tried_again(tmp_path):
    broken = plan("arena.grid_hooks:sometimes")
    rows = run_grid(tmp_path, broken)
    assert [row["status"] for row in rows] == ["verified: ok"] * 2 + ["failed"] * 2
    assert rows[2]["why"] == "the pixels ran out"
    assert [row["status"] for row in statuses(tmp_path)] == [row["status"] for row in rows]
    (tmp_path / "sessions" / "mended").touch()
    assert {row["status"] for row in run_grid(tmp_path, broken)} == {"verified: ok"}
    assert not list(tmp_path.glob("sessions/*.failed.txt"))


def test_a_folder_planned_otherwise_is_refused(tmp_path):
    run_grid(tmp_path, plan(seeds=1))
    with pytest.raises(ValueError, match=r"planned otherwise: \['budget'\]"):
        run_grid(tmp_path, plan(seeds=1, budget="90s"))


def test_a_plan_survives_being_written_down():
    told = plan(max_ticks=60)
    assert plan_of(json.loads(json.dumps(plain(told)))) == told


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"games": ()}, "at least one game"),
        ({"seeds": 0}, "at least one"),
        ({"entrants": (Entrant("null"), Entrant("null"))}, "one name"),
        ({"entrants": (Entrant("a_b"), Entrant("a-b"))}, "otherwise, as AGENT:NAME"),
        ({"games": ("pong", "pong")}, r"one folder: \['pong-pixels-null-0'"),
        (
            {"models": ("y-z", "y"), "entrants": (Entrant("a"), Entrant("z-a"))},
            r"one folder: \['pong-y-z-a-0', 'pong-y-z-a-1'\]",
        ),
        ({"entrants": (Entrant("null", {}, "a/b"),)}, r"called 'pong-pixels-a/b-0'"),
        ({"entrants": (Entrant("null", {}, "../../up"),)}, r"called 'pong-pixels-\.\./\.\./up-0'"),
        ({"entrants": (Entrant("null", {}, "a\nb"),)}, "one folder in it"),
        ({"entrants": (Entrant("null", {}, "a\0b"),)}, "one folder in it"),
        ({"entrants": (Entrant("null", {}, "x" * 300),)}, "one folder in it"),
        ({"models": ("../pixels",)}, "one folder in it"),
        ({"budget": "2000steps"}, "needs --steps"),
        ({"budget": "soon"}, "a budget looks like"),
        ({"hooks": {"pixels": "nowhere"}}, "module:function"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(more, why):
    with pytest.raises(ValueError, match=why):
        plan(**more)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([], "no plan of a grid"),
        (None, "no plan of a grid"),
        ({}, "no plan of a grid"),
        ({"seeds": "2"}, "'seeds' is '2', expected int"),
        ({"seeds": None}, "'seeds' is 'None', expected int"),
        ({"entrants": 3}, "'entrants' is '3', expected list"),
        ({"entrants": [3]}, "agent 0: expected an object, got '3'"),
        ({"entrants": [{}]}, "agent 0: no 'agent'"),
        ({"entrants": [{"agent": "null", "settings": 4, "name": ""}]}, "'settings' is '4'"),
        ({"entrants": [{"agent": ["x"], "settings": {}, "name": ""}]}, "'agent' is"),
    ],
)
def test_a_grid_json_that_is_no_plan_is_refused_in_words(tmp_path, told, why):
    path = tmp_path / "grid.json"
    whole = plain(asdict(plan()))
    path.write_text(json.dumps(whole | told if told else told))
    for ask in (lambda: run_grid(tmp_path, plan()), lambda: list(statuses(tmp_path))):
        with pytest.raises(ValueError, match=r"grid\.json") as refused:
            ask()
        assert why in str(refused.value)


def test_a_hook_that_is_not_there_fails_in_words(tmp_path):
    rows = run_grid(tmp_path, plan("arena.nowhere:run", seeds=1))
    assert {row["status"] for row in rows} == {"failed"}
    assert "no hook 'arena.nowhere:run'" in rows[0]["why"]


def test_code_of_ones_own_is_loaded_only_with_trust(tmp_path, capsys):
    words = ["arena", "grid", "--games", "pong", "--models", "pixels", "--seeds", "1",
             "--hook", "pixels=arena.grid_hooks:pixels", "--agents", "null",
             "--out", str(tmp_path), "--json"]  # fmt: skip
    assert main.run(words) == 2
    assert "--trust" in json.loads(capsys.readouterr().out)["error"]
    assert main.run([*words, "--trust"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"][0]["status"] == "verified: ok"


def test_a_real_grid_of_steps_comes_to_verdicts_and_a_report(tmp_path, capsys, monkeypatch):
    """Sandbox, sessions, sealed verifier and report in one; seconds, for `linear` is solved."""
    monkeypatch.setenv("COSMOLABE_ARENA_HOME", str(tmp_path / "home"))
    words = ["arena", "grid", "--games", "pong", "--models", "linear", "--agents", "null",
             "--seeds", "1", "--budget", "40steps", "--steps", "10", "--runs", "1",
             "--per-run", "60", "--episodes", "16", "--max-ticks", "90", "--windows", "8",
             "--test-episodes", "6", "--scenarios", "0", "--replicas", "0",
             "--out", str(tmp_path / "grid"), "--json"]  # fmt: skip
    assert main.run(words) == 0, capsys.readouterr().out
    rows = json.loads(capsys.readouterr().out)["sessions"]
    assert [row["status"] for row in rows] == ["verified: ok"]
    report = ["arena", "report", str(tmp_path / "grid"), "--out", str(tmp_path / "page"), "--json"]
    assert main.run(report) == 0, capsys.readouterr().out
    record = read_json(tmp_path / "page" / "arena.json")
    assert record["starts"]["pong / linear"]["source"] == "starter's verdict"
    (row,) = record["sessions"]
    assert (len(row["runs"]), row["who"]) == (1, "null")
    assert row["delta_test"] == pytest.approx(0, abs=1e-9)
    assert [one for one in row["audit"] if one["ok"] is False] == []
    assert sum(one["ok"] is True for one in row["audit"]) >= 6


def test_ledgers_are_handed_out_as_tables(tmp_path):
    edit = SHOWN[0]
    runs = [
        Made(0.6),
        Made(0.7, edit.after, note="half \ud800 a character"),
        Made(0.1, status="failed"),
    ]
    made = make_session(tmp_path / "s", runs, verified=verdict(0.7), start=verdict(0.6))
    counts = export_ledgers([read_session(made)], tmp_path / "out")
    assert counts == {"experiments": 3, "sessions": 1, "ledger": 7}
    table = pq.read_table(tmp_path / "out" / "experiments" / "train.parquet").to_pylist()
    assert [row["category"] for row in table] == ["no change", edit.category, "no change"]
    assert table[1]["train"] == edit.after
    assert table[1]["parent"] == "001"
    session = pq.read_table(tmp_path / "out" / "sessions" / "train.parquet").to_pylist()[0]
    assert session["delta_test"] == pytest.approx(0.1)
    lines = pq.read_table(tmp_path / "out" / "ledger" / "train.parquet").to_pylist()
    assert json.loads(lines[1]["line"])["prev"] == lines[0]["hash"]
    assert "config_name: experiments" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(ValueError, match="one folder name"):
        export_ledgers([read_session(made)] * 2, tmp_path / "other")
