"""A session from its submission to its verdict."""

import json
import shutil
from dataclasses import replace

import pytest

from cosmolabe.arena.analysis.gains import gain_of, starts_of
from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.session import Session, ledger_of
from cosmolabe.arena.verdicts import Asked, admitting, verify_session
from cosmolabe.arena.verifier.copying import copy_submission
from cosmolabe.arena.verifier.replicating import Retraining, replicated_of, stands_out
from cosmolabe.arena.verifier.verdict import Score
from cosmolabe.cli.main import run


@pytest.fixture(scope="module")
def ended(tmp_path_factory, made_sessions):
    """A session in which the base model was trained once and submitted."""
    folder = tmp_path_factory.mktemp("verdicts") / "session"
    shutil.copytree(made_sessions("linear"), folder)
    run_session(folder, "null", {"runs": 1})
    return folder


@pytest.fixture
def session(ended, tmp_path):
    return shutil.copytree(ended, tmp_path / "session")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return Asked(episodes=16, scenarios=10, seeds=0, home=tmp_path_factory.mktemp("home"))


def test_a_session_gets_a_verdict_on_what_it_never_saw(session, asked):
    verdict = verify_session(session, replace(asked, seeds=3))
    assert verdict.status == "ok", verdict.why
    assert set(verdict.scores) == {"test", "scenario", "val"}
    assert verdict.flags == ()
    assert verdict.valid
    assert verdict.ledger == ledger_of(session)[-1]["hash"]
    assert {name: one["seeds"] for name, one in verdict.overlap.items()} == {
        "test": 0,
        "scenario": 0,
    }
    again = verdict.replicated
    assert len(again.scores) == len(set(again.seeds)) == 3
    assert again.failed == ()
    assert abs(again.mean - verdict.scores["test"].composite) < 0.1
    written = json.loads((session / "verdict.json").read_text())
    assert written["scores"]["test"]["composite"] == verdict.scores["test"].composite
    assert (asked.home / "salt").read_text() not in (session / "verdict.json").read_text()


def test_val_of_the_verdict_is_val_of_the_session(session, asked):
    verdict = verify_session(session, replace(asked, scenarios=0))
    line = next(line for line in ledger_of(session) if line["kind"] == "score")
    assert verdict.scores["val"].composite == line["val"]["composite"]


def test_a_test_is_looked_at_once(session, asked):
    verify_session(session, replace(asked, scenarios=0))
    with pytest.raises(ValueError, match="a test that is looked at twice is no test"):
        verify_session(session, asked)


def test_code_weights_and_config_are_admitted_together_or_not_at_all(session, tmp_path):
    admit = admitting(session)
    submission = session / "submission"
    assert admit(copy_submission(submission, tmp_path / "a")) == ""
    train = submission / "train.py"
    text = train.read_text()
    train.write_text(text + "\n")
    assert "no run in the ledger had this code" in admit(
        copy_submission(submission, tmp_path / "b")
    )
    train.write_text(text)
    config = json.loads((submission / "config.json").read_text())
    (submission / "config.json").write_text(json.dumps({**config, "size": "paper"}))
    assert "with this code and config" in admit(copy_submission(submission, tmp_path / "c"))


def test_a_submission_that_was_exchanged_is_inadmissible(session, asked):
    (session / "submission" / "train.py").write_text("MODEL = None\n")
    verdict = verify_session(session, replace(asked, scenarios=0))
    assert verdict.status == "inadmissible"
    assert verdict.scores == {}


def test_a_session_that_goes_on_has_no_verdict(new, asked):
    with pytest.raises(ValueError, match="has not ended"):
        verify_session(new("linear"), asked)


def test_the_command_line_says_what_the_verdict_says(session, asked, capsys):
    words = [str(session), "--episodes", "16", "--scenarios", "0", "--seeds", "0", "--json"]
    code = run(["arena", "verify", *words, "--home", str(asked.home)])
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["status"] == "ok"
    assert told["scores"]["test"]["windows"] > 0


def test_verify_scores_the_starter_beside_the_submission_on_the_same_windows(new, asked, capsys):
    folder = new("linear")
    with Session(folder, agent="null") as work:
        work.run(work.starter)
        train = work.starter.train.replace("RIDGE = 1e-3", "RIDGE = 3e-2")
        work.submit(work.run(replace(work.starter, train=train)).experiment)
        work.finish()
    words = [str(folder), "--episodes", "16", "--scenarios", "0", "--seeds", "0"]
    assert run(["arena", "verify", *words, "--home", str(asked.home)]) == 0
    said = capsys.readouterr().out
    mine = json.loads((folder / "verdict.json").read_text())
    starter = json.loads((folder / "starter" / "verdict.json").read_text())
    assert starter["files"]["weights.safetensors"] == ledger_of(folder)[1]["weights_hash"]
    assert mine["files"]["weights.safetensors"] == ledger_of(folder)[3]["weights_hash"]
    test, before = mine["scores"]["test"], starter["scores"]["test"]
    assert (test["data"], test["windows"]) == (before["data"], before["windows"])
    gain = test["composite"] - before["composite"]
    assert gain != 0
    assert f"a gain of {gain:+.4f}" in said
    read = read_session(folder)
    assert gain_of(read, starts_of([read])["pong / linear"]).delta_test == pytest.approx(gain)


def test_a_session_that_never_ran_its_starter_has_no_gain(new, asked, capsys):
    folder = new("linear")
    with Session(folder, agent="null") as work:
        work.run(replace(work.starter, train=work.starter.train + "\n# mine\n"))
        work.finish()
    words = [str(folder), "--episodes", "16", "--scenarios", "0", "--seeds", "0"]
    assert run(["arena", "verify", *words, "--home", str(asked.home)]) == 0
    assert "no gain over it is known" in capsys.readouterr().out
    assert not (folder / "starter" / "verdict.json").exists()


def test_luck_stands_out_and_noise_does_not():
    score = Score(composite=0.95, se=0.01)
    even = replicated_of((1, 2, 3), {1: 0.93, 2: 0.94, 3: 0.935}, ())
    poor = replicated_of((1, 2, 3), {1: 0.80, 2: 0.81, 3: 0.805}, ())
    assert not stands_out(score, even)
    assert stands_out(score, poor)
    assert stands_out(score, replicated_of((1, 2, 3), {1: 0.95, 2: 0.95}, ("it failed",)))
    assert stands_out(score, replicated_of((1, 2, 3), {}, ("it failed",) * 3))


def test_fewer_than_three_seeds_replicate_nothing(tmp_path):
    with pytest.raises(ValueError, match="needs 3 seeds or more"):
        Retraining(tmp_path, 10.0, seeds=2)
