"""Sessions from beginning to end, without a language model."""

import json
import math
import re
import shutil
import tempfile
import time

import pytest

from cosmolabe.arena import session as arena_session
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.session import Session, best, history, ledger_of
from cosmolabe.core.agent import Proposal, SessionOver, Tried
from cosmolabe.core.record import read_json

BROKEN = "raise RuntimeError('this never trains')\n"
IDLE = "import time\ntime.sleep(600)\n"


def kinds(folder):
    return [line["kind"] for line in ledger_of(folder)]


def tried(name, status="ok", composite=0.5):
    proposal = Proposal("", {"recipe": {}}, "")
    val = {"composite": composite, "c1": 1.0, "c10": 1.0, "c20": 1.0, "skill": 0.0}
    return Tried(name, proposal, status, val, 1.0)


def test_a_whole_session_on_pong_and_transformer_trains_scores_and_submits_by_the_clock(new):
    folder = new("transformer", seconds=60.0 * 3)
    facts = read_json(folder / "session.json")
    starter = read_json(folder / "starter" / "config.json")
    starter["recipe"]["seconds"] = 3.0
    (folder / "starter" / "config.json").write_text(json.dumps(starter))
    found, chosen = run_session(folder, "null", {"runs": 3})
    assert [one.status for one in found] == ["ok"] * 3
    assert kinds(folder) == ["begin", *["experiment", "score"] * 3, "end"]
    values = [one.val["composite"] for one in found]
    assert chosen == found[values.index(max(values))].experiment
    assert len(set(values)) > 1, "other seeds give other models"
    assert facts["game"] == "pong"
    names = sorted(path.name for path in (folder / "submission").iterdir())
    assert names == ["config.json", "train.py", "weights.safetensors"]
    rows = (folder / "task" / "experiments" / "summary.tsv").read_text().splitlines()
    assert [row.split("\t")[0] for row in rows] == ["experiment", "001", "002", "003"]
    assert rows[1].split("\t")[2] == f"{values[0]:.5f}"


def test_the_score_of_the_starter_is_the_judges_own_on_the_same_windows(new, small_store):
    from cosmolabe.bench.evaluate import judge_model
    from cosmolabe.core import parts
    from cosmolabe.nets.recipe import TrainConfig

    folder = new("linear")
    found, _ = run_session(folder, "null", {"runs": 1})
    seed = ledger_of(folder)[1]["seed"]
    model = parts.load("models", "linear").create(small_store.manifest, "laptop", seed)
    model.fit(small_store, TrainConfig(seed=seed))
    episodes = len(small_store.split("val"))
    judged = judge_model(
        model,
        small_store,
        "val",
        num_episodes=episodes,
        per_episode=-(-16 // episodes),
        num_pictures=0,
        num_clips=0,
    )
    assert found[0].val["composite"] == judged.final
    assert found[0].val["c20"] == judged.reading("composite", 20).value


def test_an_agent_that_breaks_its_code_learns_so_and_the_session_goes_on(new):
    folder = new("linear")
    with Session(folder, agent="null") as session:
        broken = session.run(Proposal(BROKEN, session.starter.config, "does not work"))
        good = session.run(session.starter)
        with pytest.raises(ValueError, match="no experiment '001' with a score; have"):
            session.submit(broken.experiment)
        assert session.finish() == good.experiment
    assert (broken.status, good.status) == ("failed", "ok")
    assert math.isnan(broken.val["composite"])
    log = (folder / "task" / "experiments" / "001" / "log.txt").read_text()
    assert "this never trains" in log
    assert not (folder / "experiments" / "001" / "weights.safetensors").exists()


def test_an_experiment_that_runs_too_long_is_ended_and_leaves_nothing(new):
    folder = new("linear")
    facts = read_json(folder / "session.json")
    facts["budget"]["run_seconds"] = 1.0
    (folder / "session.json").write_text(json.dumps(facts))
    with Session(folder, agent="null") as session:
        found = session.run(Proposal(IDLE, session.starter.config, "sleeps"))
        assert session.finish() == ""
    assert found.status == "timeout"
    line = ledger_of(folder)[1]
    assert line["killed"] == "wall"
    assert 1.0 <= line["wall"] < 60.0


def test_code_that_cannot_be_loaded_again_trains_but_gets_no_score(new):
    folder = new("linear")
    with Session(folder, agent="null") as session:
        train = session.starter.train.replace("return loaded(", "return _lost(")
        assert train != session.starter.train
        found = session.run(Proposal(train, session.starter.config, "cannot be loaded"))
    assert found.status == "invalid"
    assert math.isnan(found.val["composite"])
    assert "_lost" in read_json(folder / "experiments" / "001" / "val.json")["why"]


DEEP = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
os.chmod(sys.argv[1], 0)
"""


def test_folders_of_any_depth_and_mode_are_cleared_away_and_the_session_goes_on(
    new, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Session(new("linear"), agent="null") as session:
        deep = session.run(Proposal(DEEP, session.starter.config, "deep"))
        assert deep.status in ("no_weights", "failed"), "failed where the watch met it in the act"
        assert session.run(session.starter).status == "ok"
    assert not list(tmp_path.glob("cosmolabe-*"))


def test_no_experiment_begins_once_the_budget_is_used(new):
    folder = new("linear", all_steps=10, steps=4)
    with Session(folder, agent="null") as session:
        for _ in range(2):
            assert session.run(session.starter).status == "ok"
        with pytest.raises(SessionOver, match="2 steps left"):
            session.run(session.starter)


def test_a_replayed_session_gives_the_recorded_bytes_and_scores(new):
    recording, again = new("linear"), new("linear")
    run_session(recording, "null", {"runs": 2})
    found, _ = run_session(again, "replay", {"recording": str(recording)})

    def trained(folder):
        lines = [line for line in ledger_of(folder) if line["kind"] == "experiment"]
        return [(line["code_hash"], line["seed"], line["weights_hash"]) for line in lines]

    assert trained(again) == trained(recording)
    assert [one.val for one in found] == [
        one.val for one in history(recording, ledger_of(recording))
    ]


def test_an_interrupted_session_goes_on_with_the_time_it_had_left(new):
    folder = new("linear")
    with Session(folder, agent="null", settings={"runs": 2}) as session:
        session.run(session.starter)
        left = session.seconds_left
    (folder / "experiments" / "002").mkdir()  # what a killed harness leaves
    found, chosen = run_session(folder, "null", {"runs": 2})
    assert len(found) == 2
    assert chosen
    assert kinds(folder) == [
        "begin",
        *["experiment", "score"],
        "resume",
        "experiment",
        "score",
        "end",
    ]
    spent = ledger_of(folder)[-1]["wall"]
    assert spent >= 600.0 - left
    with pytest.raises(ValueError, match="has ended"):
        run_session(folder, "null", {"runs": 3})


def test_what_is_tidied_and_laid_out_after_a_kill_costs_the_session_no_time(new, monkeypatch):
    folder, running = new("linear"), []
    with Session(folder, agent="null") as session, monkeypatch.context() as killed:
        killed.setattr(Session, "_score", lambda *_: None)
        session.run(session.starter)
    again = Session(folder, agent="null")
    for name in ("sweep", "val_bed"):
        does = getattr(arena_session, name)

        def watched(*words, does=does):
            before = again.clock.seconds_spent
            time.sleep(0.01)
            running.append(again.clock.seconds_spent > before)
            return does(*words)

        monkeypatch.setattr(arena_session, name, watched)
    with again:
        assert [one.status for one in again.tried] == ["ok"]
    assert kinds(folder) == ["begin", "experiment", "resume", "score"]
    assert running == [False, False]


@pytest.mark.parametrize("change", ["taken away", "put back"])
def test_a_clock_that_was_taken_away_or_put_back_gives_no_time_back(new, change):
    folder = new("linear")
    with Session(folder, agent="null") as session:
        session.run(session.starter)
    (folder / "clock.json").unlink()
    if change == "put back":
        zero = {"seconds": 0.1, "steps": 0, "running": 0, "beat": 1.0}
        (folder / "clock.json").write_text(json.dumps(zero))
    with pytest.raises(ValueError, match=r"clock\.json tells of 0 s .* no time is given back"):
        Session(folder)
    assert kinds(folder) == ["begin", "experiment", "score"]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("store", 3, "'store' is '3', expected str"),
        ("budget", {"seconds": 5, "steps": 3, "run_seconds": 1}, "either in seconds or in steps"),
        ("budget", {"seconds": "5", "steps": None, "run_seconds": 1}, "expected numbers for"),
        ("budget", {"hours": 5}, r"expected numbers for \['seconds', 'steps', 'run_seconds'\]"),
        ("budget", [], "'budget' is '\\[\\]', expected dict"),
        ("task", None, "'task' is 'None'"),
        ("memory", -1, "have to be above 0"),
        ("windows", "many", "'windows' is 'many'"),
        ("seed", True, "'seed' is 'True'"),
        ("schema", 2, "no session of schema 1"),
        ("model", None, "'model' is 'None'"),
    ],
)
def test_a_session_json_of_another_kind_is_refused_in_words(new, name, value, why, capsys):
    from cosmolabe.cli.main import run

    folder = new("linear")
    facts = read_json(folder / "session.json")
    (folder / "session.json").write_text(json.dumps({**facts, name: value}))
    for verb in ("run", "score", "verify"):
        assert run(["arena", verb, str(folder)]) == 2
        said = capsys.readouterr().err
        assert re.search(why, said), said
        assert "unexpected" not in said


def test_a_folder_that_is_no_session_has_no_scores(tmp_path, capsys):
    from cosmolabe.cli.main import run

    assert run(["arena", "score", str(tmp_path)]) == 2
    assert "no session at" in capsys.readouterr().err


def test_what_is_submitted_alone_has_a_star_and_progress_is_told_on_a_terminal(
    new, capsys, monkeypatch
):
    from cosmolabe.cli.main import run

    folder = new("linear")
    with Session(folder, agent="null") as session:
        session.run(session.starter)
    assert run(["arena", "score", str(folder)]) == 0
    assert "*" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert run(["arena", "run", str(folder), "--agent", "null", "--runs", "2"]) == 0
    said = capsys.readouterr()
    assert re.search(r"^002 ok 0\.\d+, \d+ s left  the starter, run 2$", said.err, re.M), said.err
    assert run(["arena", "score", str(folder)]) == 0
    assert capsys.readouterr().out.count("*") == 1
    for option in ("--runs", "--spend"):
        assert run(["arena", "run", str(folder), "--agent", "null", option, "0"]) == 2
        assert f"{option} has to be above 0" in capsys.readouterr().err


def test_one_session_has_one_agent(new):
    folder = new("linear")
    with Session(folder, agent="null"):
        pass
    with pytest.raises(ValueError, match="begun by the agent 'null', not 'tpe'"):
        run_session(folder, "tpe")


def test_a_task_folder_that_was_tampered_with_is_refused(new):
    folder = new("linear")
    with (folder / "task" / "package" / "begin.py").open("a") as file:
        file.write("# mine now\n")
    with pytest.raises(ValueError, match=r"\['package'\] are not what the session was made with"):
        run_session(folder, "null", {"runs": 1})


def test_what_is_no_number_is_never_the_best():
    some = [
        tried("001", composite=math.nan),
        tried("002", composite=0.3),
        tried("003", "failed", 0.9),
    ]
    assert best(some) == "002"
    assert best(some[:1]) == ""


def test_the_salt_and_the_store_are_nowhere_in_the_task_folder(tmp_path):
    from cosmolabe.arena.budget import Budget
    from cosmolabe.arena.session import Agreement, new_session
    from cosmolabe.data.collect import collect

    salt = "salt-of-one-session"
    store = collect("pong", tmp_path / "store", 16, max_ticks=60, salt=salt)
    new_session(tmp_path / "s", Agreement("pong", "linear", Budget(seconds=60.0)), store)
    assert salt in (tmp_path / "store" / "record.json").read_text()
    for path in (tmp_path / "s" / "task").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert salt.encode() not in data, path
            assert str(tmp_path).encode() not in data, path
            assert store.fingerprint.encode() not in data, path


def test_a_session_is_never_made_over_another(new, small_store):
    from cosmolabe.arena.budget import Budget
    from cosmolabe.arena.session import Agreement, new_session

    folder = new("linear")
    with pytest.raises(ValueError, match="is a session already"):
        new_session(folder, Agreement("pong", "linear", Budget(seconds=60.0)), small_store)
    shutil.rmtree(folder)
    with pytest.raises(ValueError, match="no session at"):
        Session(folder)
