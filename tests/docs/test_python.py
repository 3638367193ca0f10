"""The Python on pages whose part has no test of its page runs, block after block."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def run_page(page):
    """Run every block of Python on a page; gives the names it has made."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    assert blocks
    space = {"__name__": "page"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number}", "exec"), space)
    return space


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_physics_head():
    pytest.importorskip("torch")
    assert run_page("judges/physics-head.md")["members"].shape == (2, 3)


def test_questions_about_clips():
    made = run_page("judges/vqa-questions.md")
    assert len(made["clips"]) == 200
    assert len(made["training"]) > 0


def test_the_sandbox():
    ended = run_page("arena/sandbox.md")["ended"]
    assert ended.code == 0
    assert not ended.killed
    assert Path("runs/box.log").read_text().strip() == "hello"


def test_an_agent_of_ones_own():
    from cosmolabe.core.agent import AgentPart, Proposal, SessionOver, Tried

    class Desk:
        starter, settings, tried, seed = Proposal("", {"recipe": {"noise": 0.0}}), {}, (), 0

        def run(self, proposal):
            if len(self.tried) == 3:
                raise SessionOver
            self.tried += (Tried(f"{len(self.tried) + 1:03d}", proposal, "ok", {}, 1.0),)
            return self.tried[-1]

    agent, desk = run_page("arena/sessions.md")["AGENT"], Desk()
    assert isinstance(agent, AgentPart)
    with pytest.raises(SessionOver):
        agent.drive(desk)
    assert [one.proposal.config["recipe"]["noise"] for one in desk.tried] == [0.0, 0.001, 0.002]
