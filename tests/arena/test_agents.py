"""What agents do, told by a desk that trains nothing; and the command agent, in its sandbox."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.arena.agents import command
from cosmolabe.arena.dials import LINEAR, NETWORK, changed, dials_of
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.grid import entrants_of
from cosmolabe.arena.named import agent_named, shown
from cosmolabe.arena.presets import PRESETS, Usage, preset_named
from cosmolabe.arena.scripts import read_script
from cosmolabe.arena.service import Service
from cosmolabe.arena.session import Session, ledger_of
from cosmolabe.arena.tasks.folder import TaskPlan, starter_config
from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.core import parts
from cosmolabe.core.agent import AgentPart, Proposal, SessionOver, Tried
from cosmolabe.core.record import write_json
from cosmolabe.nets.recipe import TrainConfig

STARTER = Proposal("WIDTH = 3\n", starter_config(TaskPlan("pong", "transformer", 90, 18)))


class Desk:
    """Scores a proposal by how near its rate is to 0.004; no sandbox, no time."""

    model = "transformer"

    def __init__(self, most=6, seed=3, starter=STARTER, **settings):
        self.most, self.seed, self.starter, self.settings = most, seed, starter, settings
        self.done, self.submitted = [], ""

    @property
    def tried(self):
        return tuple(self.done)

    @property
    def seconds_left(self):
        return 10.0

    def run(self, proposal):
        if len(self.done) >= self.most:
            raise SessionOver("over")
        rate = proposal.config["recipe"].get("rate", 1e-3)
        value = 1 - abs(math.log(rate / 0.004))
        val = dict.fromkeys(("c1", "c10", "c20", "composite", "skill"), value)
        self.done.append(Tried(f"{len(self.done) + 1:03d}", proposal, "ok", val, 1.0))
        return self.done[-1]

    def submit(self, experiment):
        self.submitted = experiment


def driven(agent, desk):
    with pytest.raises(SessionOver):
        agent_named(agent).drive(desk)
    return [one.proposal for one in desk.tried]


def test_every_agent_is_a_part_with_a_sentence():
    for name in parts.names("agents"):
        part = parts.load("agents", name)
        assert part.name == name
        assert part.summary.endswith(".")


@pytest.fixture
def offered(monkeypatch):
    """Agents of other packages, by the names of their entry points."""

    def offer(*names):
        class Point:
            def __init__(self, name):
                self.name = name

            def load(self):
                return AgentPart(self.name.replace("-", "_"), f"Of {self.name}.", id)

        points = [Point(name) for name in names]
        monkeypatch.setattr(parts, "_entry_points", lambda kind: points)
        parts.names.cache_clear()

    yield offer
    parts.names.cache_clear()


def test_an_agent_is_found_with_dashes_or_underscores_and_never_taken_for_another(offered):
    assert agent_named("random-search").name == agent_named("random_search").name
    assert [shown("random_search"), shown("tpe")] == ["random-search", "tpe"]
    offered("more-noise", "two_words", "two-words", "a_b-c", "a-b_c")
    for name in ("more-noise", "more_noise"):
        assert agent_named(name).summary == "Of more-noise."
    for name in ("two_words", "two-words", "a_b-c", "a-b_c"):
        assert agent_named(name).summary == f"Of {name}."
        assert agent_named(name).name == name, "the name that its sessions record"
    for name in ("a-b-c", "a_b_c"):
        with pytest.raises(ValueError, match=r"may be any of \['a-b_c', 'a_b-c'\]"):
            agent_named(name)
    with pytest.raises(ValueError, match="no agent named 'a-c'; have"):
        agent_named("a-c")
    assert [one.agent for one in entrants_of(["two-words", "two_words"], {})] == [
        "two-words",
        "two_words",
    ]


def test_a_list_of_agents_writes_each_so_that_it_is_found_again(offered):
    offered("more-noise", "two_words", "two-words", "a_b-c", "a-b_c", "less_noise")
    names = parts.names("agents")
    assert [agent_named(shown(name)).name for name in names] == list(names)
    assert shown("less_noise") == "less-noise"


@pytest.mark.parametrize("agent", ["null", "random-search", "tpe"])
def test_a_search_begins_with_the_starter_and_goes_on_as_if_never_interrupted(agent):
    if agent == "tpe":
        pytest.importorskip("optuna")
    whole = driven(agent, Desk(most=7))
    assert whole[0] == replace(STARTER, note="the starter")
    desk = Desk(most=3)
    driven(agent, desk)
    desk.most = 7
    assert driven(agent, desk) == whole


def test_the_null_agent_changes_nothing_but_the_seed():
    found = driven("null", Desk(most=5))
    assert {(one.train, json.dumps(one.config)) for one in found} == {
        (STARTER.train, json.dumps(STARTER.config))
    }
    assert len({one.seed for one in found}) == 5


def test_random_search_draws_by_its_seed_and_all_draws_are_recipes():
    one, other = driven("random-search", Desk(seed=1)), driven("random-search", Desk(seed=2))
    assert one[1:] != other[1:]
    for proposal in one:
        TrainConfig(**proposal.config["recipe"], seed=0)


def test_tpe_finds_a_better_rate_than_it_began_with():
    pytest.importorskip("optuna")
    desk = Desk(most=30)
    driven("tpe", desk)
    late = [one.val["composite"] for one in desk.tried[-8:]]
    early = [one.val["composite"] for one in desk.tried[1:6]]
    assert sum(late) / 8 > sum(early) / 5
    assert max(late) > desk.tried[0].val["composite"]


@pytest.mark.parametrize(("status", "hint"), [("failed", False), ("timeout", True)])
def test_a_search_refuses_a_starter_that_is_broken_and_says_what_a_slow_one_needs(status, hint):
    class Broken(Desk):
        def run(self, proposal):
            found = replace(super().run(proposal), status=status)
            self.done[-1] = found
            return found

    with pytest.raises(ValueError, match="the starter itself came to nothing") as told:
        agent_named("random-search").drive(Broken())
    assert ("--per-run" in str(told.value)) == hint


@given(share=st.floats(0, 1), dial=st.sampled_from([*NETWORK, *LINEAR]))
def test_a_dial_stays_in_its_range_and_is_found_again(share, dial):
    value = dial.at(share)
    slack = 1e-3 * abs(dial.high)
    assert dial.low - slack <= value <= dial.high + slack
    train = "RIDGE = 1e-3\nTERMINAL_GAIN = 8.0\n" if dial.constant else "x = 1\n"
    starter = replace(STARTER, train=train)
    turned = changed(starter, {dial.name: value}, "")
    assert dial.value_in(turned) == pytest.approx(value)
    assert 0 <= dial.share_of(turned) <= 1


def test_the_dials_of_the_linear_model_are_constants_of_its_file():
    starter = Proposal(one_file("linear"), STARTER.config)
    assert set(dials_of(starter)) == {"RIDGE", "TERMINAL_GAIN"}
    turned = changed(starter, {"RIDGE": 0.25}, "")
    assert "\nRIDGE = 0.25\n" in turned.train
    assert "\nRIDGE = 0.25\n" not in starter.train


def test_a_script_makes_its_edits_and_builds_on_what_it_says(tmp_path):
    script = [
        {"name": "wider", "edits": [{"find": "WIDTH = 3", "replace": "WIDTH = 4"}]},
        {"name": "faster", "on": "wider", "recipe": {"rate": 0.004}, "note": "a higher rate"},
        {"name": "on", "on": "best", "edits": [{"find": "WIDTH = 4", "replace": "WIDTH = 5"}]},
    ]
    write_json(tmp_path / "script.json", script)
    desk = Desk(script=str(tmp_path / "script.json"))
    agent_named("scripted").drive(desk)
    found = [one.proposal for one in desk.tried]
    assert [one.train for one in found] == ["WIDTH = 4\n", "WIDTH = 4\n", "WIDTH = 5\n"]
    assert [one.config["recipe"]["rate"] for one in found] == [0.002, 0.004, 0.004]
    assert [one.note for one in found] == ["wider", "a higher rate", "on"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ({}, "a script is a list"),
        ([{"note": "x"}], "needs a name"),
        ([{"name": "a", "on": "later"}, {"name": "later"}], "no step before it"),
        ([{"name": "a", "edit": []}], "unknown"),
    ],
)
def test_a_script_that_says_nothing_clear_is_refused(tmp_path, script, why):
    write_json(tmp_path / "script.json", script)
    with pytest.raises(ValueError, match=why):
        read_script(tmp_path / "script.json")


def test_an_edit_that_does_not_fit_is_refused_by_its_name(tmp_path):
    write_json(tmp_path / "s.json", [{"name": "odd", "edits": [{"find": "Z", "replace": ""}]}])
    with pytest.raises(ValueError, match="step 'odd': its edit fits 0 places"):
        agent_named("scripted").drive(Desk(script=str(tmp_path / "s.json")))


# What an agent in a sandbox may ask for.


@pytest.fixture
def service(tmp_path):
    return Service(Desk(), tmp_path)


def ask(service, question, name="0" * 32):
    text = question if isinstance(question, (str, bytes)) else json.dumps(question)
    path = service.task / "asked" / f"{name}.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert service.serve() == 1
    return json.loads((service.task / "answers" / f"{name}.json").read_text())


def test_a_question_is_answered_once(service):
    answer = ask(service, {"kind": "experiment", "train": "x", "config": STARTER.config})
    assert answer["ok"]
    assert answer["text"].startswith("001: ok")
    assert service.serve() == 0
    assert Service(service.desk, service.task).serve() == 0, "nor by a later harness"


@pytest.mark.parametrize(
    "question",
    [
        "no json",
        "[" * 100_000,
        b"\xff\xfe",
        "[]",
        {"kind": "verdict"},
        {"kind": "experiment", "train": 3, "config": {}},
        {"kind": "experiment", "train": "x", "config": {}, "seed": -1},
        {"kind": "experiment", "train": "x", "config": {}, "seed": True},
    ],
)
def test_a_question_that_makes_no_sense_is_refused_and_runs_nothing(service, question):
    answer = ask(service, question)
    assert not answer["ok"]
    assert answer["text"].startswith("refused: ")
    assert not service.desk.tried


def test_a_question_that_is_a_link_or_a_pipe_or_endless_is_refused(service, tmp_path):
    import os

    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"kind": "submit", "experiment": "001"}))
    (service.task / "asked" / f"{'1' * 32}.json").symlink_to(secret)
    os.mkfifo(service.task / "asked" / f"{'2' * 32}.json")
    with (service.task / "asked" / f"{'3' * 32}.json").open("wb") as file:
        file.truncate(1 << 33)
    (service.task / "asked" / "..json").write_text("{}")
    assert service.serve() == 3
    for digit in "123":
        told = json.loads((service.task / "answers" / f"{digit * 32}.json").read_text())
        assert told["text"].startswith("refused: ")
    assert service.desk.submitted == ""


# Command-line tools.


def test_every_preset_says_what_to_do_and_which_model_to_use():
    for name, preset in PRESETS.items():
        words = preset.command("some-model", 2.5)
        assert any("instruction.md" in word and "time_left" in word for word in words), name
        assert "some-model" in words
        assert not [word for word in words if "{" in word]
    assert "2.5" in preset_named("claude-code").command("", 2.5)
    with pytest.raises(ValueError, match="no preset 'cloud-code'; have"):
        preset_named("cloud-code")


def test_usage_is_read_from_what_each_tool_prints():
    usage = Usage()
    read = preset_named("claude-code").reads
    assert read is not None
    used = {"input_tokens": 5, "cache_read_input_tokens": 95, "output_tokens": 3}
    for tokens in (1, 3):  # the same message grows
        told = {"id": "m1", "usage": {**used, "output_tokens": tokens}}
        read(json.dumps({"type": "assistant", "message": told}), usage)
    read(json.dumps({"type": "assistant", "message": {"id": "m2", "usage": used}}), usage)
    assert usage.tokens == {"input": 200, "output": 6}
    assert usage.cost is None
    read(json.dumps({"type": "result", "total_cost_usd": 0.25}), usage)
    assert usage.cost == 0.25

    usage, read = Usage(), preset_named("codex").reads
    assert read is not None
    for _ in range(2):
        event = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 4}}
        read(json.dumps(event), usage)
    assert usage.tokens == {"input": 20, "output": 8}

    usage, read = Usage(), preset_named("aider").reads
    assert read is not None
    read("Tokens: 2.5k sent, 1,024 received. Cost: $0.02 message, $0.05 session.", usage)
    assert usage.tokens == {"input": 2500, "output": 1024}
    assert usage.cost == 0.02


@given(line=st.one_of(st.text(max_size=60), st.sampled_from(['{"type":"result"}', "{" * 9, "[1]"])))
def test_no_line_of_a_transcript_can_break_the_reading(line):
    for preset in PRESETS.values():
        assert preset.reads is not None
        preset.reads(line, Usage())


def test_the_command_agent_needs_a_preset_or_a_command_and_a_key():
    with pytest.raises(ValueError, match="needs --preset NAME or --command"):
        command.preset_of({})
    with pytest.raises(ValueError, match="one of them"):
        command.preset_of({"preset": "codex", "command": "sh"})


def test_a_tool_in_its_sandbox_asks_for_experiments_and_chooses_one(new):
    folder = new("linear")
    inside = (
        "set -e; echo scribble >> scratch; "
        "python run.py --note 'as it is'; "
        "sed -i 's/^RIDGE = .*/RIDGE = 0.5/' train.py; python run.py --note 'more ridge'; "
        "python run.py --submit 001; python score.py; cat time_left; "
        "(echo x >> run.py) 2>/dev/null || echo run.py is safe; "
        "(echo x >> experiments/summary.tsv) 2>/dev/null || echo the table is safe; "
        f"cat {folder}/session.json 2>/dev/null || echo nothing else is here; "
        "python -c 'import cosmolabe' 2>/dev/null || echo no simulator"
    )
    found, chosen = run_session(folder, "command", {"command": f'sh -c "{inside}"'})
    log = (folder / "transcript" / "00.log").read_text()
    assert [one.proposal.note for one in found] == ["as it is", "more ridge"], log
    assert "\nRIDGE = 0.5\n" in found[1].proposal.train
    assert chosen == "001"
    for said in ("run.py is safe", "the table is safe", "nothing else is here", "no simulator"):
        assert said in log, log
    begin = ledger_of(folder)[0]
    assert (begin["agent"], begin["harness"], begin["llm"]) == ("command", "sh", "none")


FAKE = """#!/bin/sh
python run.py --note "by a script of my own"
"""


def script_of_mine(folder, text=FAKE):
    path = folder / "my agent.sh"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_script_of_ones_own_is_named_by_its_path_and_laid_in(new, tmp_path, monkeypatch):
    path = script_of_mine(tmp_path)
    found, chosen = run_session(new("linear"), "command", {"command": f"'{path}'"})
    assert [one.proposal.note for one in found] == ["by a script of my own"]
    monkeypatch.chdir(tmp_path)
    again, _ = run_session(new("linear"), "command", {"command": "sh './my agent.sh'"})
    assert [one.proposal.note for one in again] == ["by a script of my own"]
    assert chosen == "001"


def test_what_the_box_shows_or_the_task_folder_holds_is_named_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("here.sh", "both.sh", "task/both.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    words = ["/bin/sh", "./both.sh", "./here.sh", "plain", "a/b: no path", "./nothing"]
    told, own = command.laid_in(words, tmp_path / "task", (("/bin", "/bin"),))
    assert told == ["/bin/sh", "./both.sh", "/own/2/here.sh", *words[3:]]
    assert own == (((tmp_path / "here.sh").resolve(), "/own/2/here.sh"),)


def test_a_tool_that_fails_before_it_asks_for_anything_does_not_end_the_session(new, tmp_path):
    folder = new("linear")
    path = script_of_mine(tmp_path, "#!/bin/sh\necho no such key >&2\nexit 3\n")
    with pytest.raises(ValueError, match=r"ended with 3 and asked for nothing; .*'no such key'"):
        run_session(folder, "command", {"command": f"'{path}'"})
    assert [line["kind"] for line in ledger_of(folder)] == ["begin"]
    script_of_mine(tmp_path)
    found, chosen = run_session(folder, "command", {"command": f"'{path}'"})
    assert (len(found), chosen) == (1, "001")
    assert [line["kind"] for line in ledger_of(folder)][:2] == ["begin", "resume"]


@pytest.mark.parametrize(
    ("agent", "settings", "why"),
    [
        ("command", {"command": "no-such-agent --auto"}, "no 'no-such-agent' on this machine's"),
        ("command", {"command": "./no-such-agent"}, "no file ./no-such-agent here, nor in the"),
        ("command", {"command": "home-tool"}, "which its sandbox does not show"),
        ("command", {"command": "sh", "keys": "NO_SUCH_KEY"}, r"needs one of \['NO_SUCH_KEY'\]"),
        ("command", {"command": "sh", "hosts": "a/b"}, "a/b"),
        ("command", {"preset": "cloud-code"}, "no preset 'cloud-code'"),
        ("replay", {}, "needs --recording"),
        ("replay", {"recording": "nowhere"}, "nowhere: no experiment"),
        ("scripted", {}, "needs --script"),
        ("scripted", {"script": "nowhere.json"}, "nowhere.json"),
    ],
)
def test_an_agent_that_cannot_act_is_refused_before_anything_is_begun(
    new, tmp_path, monkeypatch, agent, settings, why
):
    tool = tmp_path / "bin" / "home-tool"
    tool.parent.mkdir()
    tool.write_text(FAKE)
    tool.chmod(0o755)
    monkeypatch.setattr(command, "PROGRAMS", (str(tool.parent), *command.PROGRAMS))
    folder = new("linear")
    with pytest.raises(ValueError, match=why):
        run_session(folder, agent, settings)
    assert not (folder / "ledger.jsonl").exists()
    found, _ = run_session(folder, "null", {"runs": 1})
    assert len(found) == 1, "so that another may begin"


def test_one_session_has_one_tool_and_one_language_model(new):
    folder = new("linear")
    with Session(folder, agent="command", settings={"command": "sh a", "llm": "m"}):
        pass
    for settings, why in (({"command": "python a", "llm": "m"}, "harness 'sh', not 'python'"),
                          ({"command": "sh a", "llm": "n"}, "llm 'm', not 'n'")):  # fmt: skip
        with pytest.raises(ValueError, match=why):
            Session(folder, agent="command", settings=settings)
    with Session(folder, agent="command", settings={"command": "sh b", "llm": "m"}):
        pass


def test_a_tool_is_stopped_when_it_has_spent_what_it_may(new, monkeypatch):
    from cosmolabe.arena import presets

    told = '{"type":"result","total_cost_usd":3.5}'
    preset = presets.Preset(
        "spender",
        ("sh", "-c", f"echo '{told}'; sleep 600"),
        reads=presets.read_claude,
    )
    monkeypatch.setitem(presets.PRESETS, "spender", preset)
    folder = new("linear")
    run_session(folder, "command", {"preset": "spender", "llm": "m", "spend": 3.0})
    end = ledger_of(folder)[-1]
    assert end["cost"] == 3.5
    assert end["wall"] < 300
    assert ledger_of(folder)[0]["llm"] == "m"
