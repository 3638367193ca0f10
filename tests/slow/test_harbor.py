"""Harbor itself takes an exported task: lint, the oracle, and an agent that does nothing.

Harbor needs Python 3.12, so it stands in an environment of its own:
    python3.12 -m venv /tmp/harbor && /tmp/harbor/bin/pip install harbor==0.26.0
    COSMOLABE_HARBOR=/tmp/harbor/bin/harbor pytest tests/slow/test_harbor.py
Docker is not needed: `harbor_bwrap.py` beside runs the images' steps in bubblewrap.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosmolabe.arena.harbor.export import HarborPlan, export_harbor
from cosmolabe.data.collect import collect

HARBOR = os.environ.get("COSMOLABE_HARBOR") or shutil.which("harbor")
if not HARBOR:
    pytest.skip("no Harbor: it needs Python 3.12; see above", allow_module_level=True)
if not shutil.which("bwrap"):
    pytest.skip("no bubblewrap; apt-get install bubblewrap", allow_module_level=True)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    room = tmp_path_factory.mktemp("harbor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSMOLABE_ARENA_HOME", str(room / "home"))
        store = collect("pong", room / "store", 16, max_ticks=90)
        plan = HarborPlan("pong", "linear", 300.0, 60.0, test_episodes=6, scenarios=0, max_ticks=90)
        return export_harbor(room / "tasks", plan, store)


def harbor(*words, cwd):
    prefixes = dict.fromkeys([sys.prefix, str(Path(sys.base_prefix).resolve())])
    known = {
        "HARBOR_TELEMETRY": "off",
        "PYTHONPATH": str(Path(__file__).parent),
        "COSMOLABE_PREFIXES": ":".join(prefixes),
    }
    return subprocess.run(
        [HARBOR, *map(str, words)], cwd=cwd, env={**os.environ, **known},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip


def test_harbor_lint_has_nothing_to_say(task, tmp_path):
    done = harbor("lint", "--select", "ALL", "--json", task, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == []


def test_lint_would_say_something(task, tmp_path):
    other = shutil.copytree(task, tmp_path / "task")
    text = (other / "task.toml").read_text()
    (other / "task.toml").write_text(text.replace('"separate"', '"shared"'))
    assert "shared-verifier" in harbor("lint", other, cwd=tmp_path).stdout


def test_the_oracle_is_nearly_right_and_doing_nothing_is_the_starter(task, tmp_path):
    rewards = {}
    for agent in ("oracle", "nop"):
        words = ["run", "-p", task, "-a", agent, "-e", "harbor_bwrap:BwrapEnvironment"]
        done = harbor(*words, "-n", "1", "-y", "-o", tmp_path / agent, cwd=tmp_path)
        (found,) = (tmp_path / agent).glob("**/verifier/reward.json")
        rewards[agent] = json.loads(found.read_text())
        assert done.returncode == 0, done.stdout
    assert rewards["oracle"]["reward"] > 0.9
    assert rewards["nop"]["reward"] == rewards["oracle"]["reward"]
    if os.geteuid() == 0:
        assert rewards["nop"]["isolated"] == 1
