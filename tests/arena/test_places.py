"""A session's record names what it means, and holds no path of one machine."""

import hashlib
import json
import os
import re
import shutil

import pytest

from cosmolabe.arena.budget import Budget
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.grid import Entrant, GridPlan, run_grid
from cosmolabe.arena.ledger import Ledger
from cosmolabe.arena.places import find_store, store_name
from cosmolabe.arena.recorded import program, recorded, short
from cosmolabe.arena.session import Agreement, Session, ledger_of, new_session, read_session
from cosmolabe.cli import main
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import read_json, write_json

KEPT = ("session.json", "ledger.jsonl", "clock.json", "verdict.json", "grid.json")
"""What is handed out of a session or grid; `where.json` is this machine's own."""


def made(folder, store):
    """A session in which one experiment of one step may be run."""
    budget = Budget(None, 20, 120.0)
    return new_session(folder, Agreement("pong", "linear", budget, windows=8, steps=1), store)


def changed(folder, **facts):
    path = folder / "session.json"
    write_json(path, read_json(path) | facts)


def told(folder):
    """Everything that a session's records say."""
    return "".join(path.read_text() for name in KEPT for path in folder.rglob(name))


@pytest.fixture
def store(small_store, tmp_path):
    """The small store, in a folder of its own that a test may move."""
    from cosmolabe.data.store import open_store

    shutil.copytree(small_store.folder, tmp_path / "far" / "off" / "pong")
    return open_store(tmp_path / "far" / "off" / "pong")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("top/sessions/one/store", "store"),
        ("top/sessions/one/data/pong", "data/pong"),
        ("top/sessions/pong", "../pong"),
        ("top/stores/pong", "../../stores/pong"),
        ("top/elsewhere/pong", "pong"),
        ("pong", "pong"),
        ("top/sessions/one-more", "../one-more"),
    ],
)
def test_a_store_is_named_from_the_session_or_by_its_last_name(tmp_path, place, name):
    session = tmp_path / "top" / "sessions" / "one"
    assert store_name(session, tmp_path / place) == name
    os.makedirs(session)
    (tmp_path / "link").symlink_to(tmp_path / "top")
    assert store_name(tmp_path / "link" / "sessions" / "one", tmp_path / place) == name


@pytest.mark.parametrize("move", ["session", "store", "both"])
def test_a_session_finds_its_store_where_either_was_moved(tmp_path, store, move):
    near = tmp_path / "stores" / "pong"
    shutil.copytree(store.folder, near)
    from cosmolabe.data.store import open_store

    folder = made(tmp_path / "sessions" / "one", open_store(near))
    assert find_store(folder, read_session(folder)).folder.resolve() == near
    moved = tmp_path / "moved"
    moved.mkdir()
    if move == "both":  # as a grid is
        os.rename(tmp_path / "sessions", moved / "sessions")
        os.rename(tmp_path / "stores", moved / "stores")
        folder, near = moved / "sessions" / "one", moved / "stores" / "pong"
    elif move == "session":
        folder = folder.rename(moved / "one")
    else:
        near = near.rename(folder / "store")
    assert find_store(folder, read_session(folder)).folder.resolve() == near
    with Session(folder, agent="null") as session:
        assert session.bed.store.fingerprint == store.fingerprint


def test_a_store_that_is_gone_or_another_is_told_with_every_place_that_was_looked_at(
    tmp_path, store, capsys
):
    folder = made(tmp_path / "one", store)
    run_session(folder, "null", {"runs": 1})
    for name in ("gone", "other"):
        os.rename(store.folder, tmp_path / "kept")
        if name == "other":
            shutil.copytree(tmp_path / "kept", store.folder)
            record = read_json(store.folder / "record.json")
            write_json(store.folder / "record.json", {**record, "salt": "another"})
        for words in (["score", str(folder), "001"], ["verify", str(folder)]):
            assert main.run(["arena", *words]) == 2
            said = capsys.readouterr().err
            assert f"its episodes, {store.fingerprint}, are not to be found" in said
            why = r"no store" if name == "gone" else r"other episodes, \w{16}"
            assert re.search(rf"{re.escape(str(store.folder))} \({why}\)", said), said
            assert f"{folder / 'pong'} (no store)" in said
            assert f"Put the store, or a link to it, at {folder / 'store'}" in said
        shutil.rmtree(store.folder, ignore_errors=True)
        os.rename(tmp_path / "kept", store.folder)
    os.rename(store.folder, tmp_path / "kept")
    (folder / "store").symlink_to(tmp_path / "kept")
    assert main.run(["arena", "score", str(folder), "001"]) == 0


@pytest.mark.parametrize("gone", ["index.json", "manifest.json", "val-0000000.shard"])
def test_a_store_that_was_half_copied_hides_no_whole_one(tmp_path, store, gone):
    folder = made(tmp_path / "one", store)
    (shutil.copytree(store.folder, folder / "pong") / gone).unlink()
    facts = read_session(folder)
    assert find_store(folder, facts).folder == store.folder
    (folder / "where.json").unlink()
    with pytest.raises(
        ValueError, match=rf"looked at {folder}/pong \(.*{gone}.*store \(no store\)"
    ):
        find_store(folder, facts)


@pytest.mark.parametrize(
    "name", ["", "/etc", "../../../../../etc", "a\0b", "x" * 100_000, "\ud800", "a\n\x1b[31mb"]
)
def test_whatever_a_session_says_of_its_store_only_its_own_episodes_are_taken(
    tmp_path, store, name, small_store
):
    folder = made(tmp_path / "one", store)
    changed(folder, store=name)
    facts = read_session(folder)
    assert find_store(folder, facts).fingerprint == store.fingerprint
    write_json(folder / "where.json", {"store": name})
    with pytest.raises(ValueError, match="are not to be found") as told:
        find_store(folder, facts)
    assert len(str(told.value)) < 1500


@pytest.mark.parametrize("name", ["home", "task"])
def test_what_an_agent_lays_out_is_never_taken_for_the_store(tmp_path, store, name):
    from cosmolabe.data.store import open_store

    far = store.folder.rename(tmp_path / "far" / name)
    folder = made(tmp_path / "one", open_store(far))
    shutil.copytree(far, folder / name, dirs_exist_ok=True)  # were it ever so like it
    assert find_store(folder, read_session(folder)).folder == far
    (folder / "where.json").unlink()
    with pytest.raises(ValueError, match="are not to be found"):
        find_store(folder, read_session(folder))


@pytest.mark.parametrize("place", ["home/pong", "task/data/pong", "task"])
def test_no_session_is_made_from_a_store_where_its_agent_may_write(tmp_path, store, place):
    from cosmolabe.data.store import open_store

    inside = tmp_path / "one" / place
    inside.parent.mkdir(parents=True, exist_ok=True)
    inside = open_store(shutil.copytree(store.folder, inside))
    with pytest.raises(ValueError, match="no place for a store"):
        made(tmp_path / "one", inside)
    assert open_store(inside.folder).verify() == 16, "nothing of it was removed"


def test_a_session_made_before_with_a_whole_path_is_read_and_gone_on_with(tmp_path, store):
    folder = made(tmp_path / "one", store)
    (folder / "where.json").unlink()
    path = tmp_path / "my-agent.sh"
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    whole = {"agent": "command", "harness": str(path), "llm": "none"}
    changed(folder, store=str(store.folder), **whole, settings={"command": str(path)}, level="x")
    facts = read_session(folder)
    with Ledger(folder / "ledger.jsonl") as ledger:
        ledger.append("begin", session=fingerprint(facts), **whole, settings=facts["settings"])
    found, chosen = run_session(folder, "command", {"command": str(path)})
    assert (found, chosen) == ([], "")
    assert [line["kind"] for line in ledger_of(folder)] == ["begin", "resume", "end"]
    assert read_session(folder) == facts, "what was agreed is never written again"


@pytest.mark.parametrize("text", ["[]", '{"store": 3}', "{", '{"stores": "x"}'])
def test_a_note_of_places_that_says_nothing_is_refused_in_words(tmp_path, store, text):
    folder = made(tmp_path / "one", store)
    (folder / "where.json").write_text(text)
    with pytest.raises(ValueError, match=r"where\.json"):
        find_store(folder, read_session(folder))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("sh ./a.sh", "sh ./a.sh"),
        ("my-agent --auto {prompt}", "my-agent --auto {prompt}"),
        ("/usr/bin/python /home/jo/x.py --f=/home/jo/y z", "python x.py --f=y z"),
        ("'/home/my dir/a b.sh' --x", "'a b.sh' --x"),
        ("sh -c 'cat /home/jo/s.json; echo a/b'", "sh -c 'cat s.json; echo a/b'"),
        ("cc -I/home/jo/include", "cc -Iinclude"),
        ("ask http://host/a/b", "ask http://host/a/b"),
        ("file:///home/jo/x", "file:x"),
        ("--at=FILE://host/home/jo/x", "--at=FILE:x"),
        ("it's in /home/jo", "'it'\"'\"'s' in jo"),
        ("A / B", "A / B"),
    ],
)
def test_of_an_absolute_path_a_record_has_the_last_name(text, left):
    assert short(text) == left
    assert short(left) == left
    assert "/home" not in left


@pytest.mark.parametrize(
    ("command", "name"),
    [("sh -c x", "sh"), ("'/a b/my agent.sh' --x", "my agent.sh"), ("./a.sh", "a.sh"), ("", "")],
)
def test_a_harness_is_named_by_its_program(command, name):
    assert program(command) == name


def test_a_script_is_told_by_its_name_and_what_it_holds_and_a_recording_by_its_ledger(tmp_path):
    write_json(tmp_path / "script.json", [{"name": "one"}])
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "ledger.jsonl").write_text("{}\n")
    for agent, setting, path, file in (
        ("scripted", "script", "script.json", "script.json"),
        ("replay", "recording", "old", "old/ledger.jsonl"),
    ):
        wanted = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
        found = recorded(agent, {setting: str(tmp_path / path)})
        assert found == {setting: {"name": path, "sha256": wanted}}
        assert recorded(agent, found) == found
    assert recorded("scripted", {"script": str(tmp_path / "gone.json")}) == {"script": "gone.json"}
    mine = {"where": str(tmp_path / "x"), "runs": 3, "more": [{"at": str(tmp_path)}], "no": None}
    less = {"where": "x", "runs": 3, "more": [{"at": tmp_path.name}], "no": None}
    assert recorded("an-agent-of-mine", mine) == less


def test_a_grid_holds_no_path_of_the_machine_and_goes_on_where_it_was_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("COSMOLABE_ARENA_HOME", str(tmp_path / "home"))
    script = tmp_path / "mine" / "script.json"
    write_json(script, [{"name": "as it is"}])

    def plan(seeds):
        return GridPlan(
            ("pong",), ("linear",), (Entrant("scripted", {"script": str(script)}),), seeds=seeds,
            budget="2steps", steps=1, run_seconds=60.0, episodes=16, max_ticks=90, windows=8,
            test_episodes=6, scenarios=0, replicas=0, starters=False,
        )  # fmt: skip

    grid = tmp_path / "grid"
    rows = run_grid(grid, plan(1))
    assert [row["status"] for row in rows] == ["verified: ok"], rows
    (grid / "sessions" / "pong-linear-scripted-0" / "verdict.json").unlink()  # cut short there
    said = told(grid)
    assert "../../stores/pong" in said
    assert str(tmp_path) not in said
    assert not re.search(r'"/|/tmp/', said)
    away = tmp_path / "away" / "grid"
    away.parent.mkdir()
    grid.rename(away)
    script = script.parent.rename(tmp_path / "yours") / "script.json"
    rows = run_grid(away, plan(2))
    assert [row["status"] for row in rows] == ["verified: ok"] * 2, rows
    write_json(script, [{"name": "other"}])
    with pytest.raises(ValueError, match=r"planned otherwise: \['entrants'\]"):
        run_grid(away, plan(2))


def test_a_grid_planned_before_with_a_whole_path_is_the_same_grid(tmp_path):
    script = tmp_path / "script.json"
    write_json(script, [{"name": "as it is"}])
    hooks = {"pixels": "arena.grid_hooks:pixels"}
    plan = GridPlan(
        ("pong",), ("pixels",), (Entrant("scripted", {"script": str(script)}),), seeds=1,
        hooks=hooks,
    )  # fmt: skip
    run_grid(tmp_path / "grid", plan)
    path = tmp_path / "grid" / "grid.json"
    was = read_json(path)
    was["entrants"][0]["settings"]["script"] = str(script)
    path.write_text(json.dumps(was))
    assert [row["status"] for row in run_grid(tmp_path / "grid", plan)] == ["verified: ok"]
