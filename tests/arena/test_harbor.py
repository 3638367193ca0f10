"""A Harbor task is whole without Harbor: its agent can work, its verifier can score."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cosmolabe
import cosmolabe.engine  # which says where compiled kernels are kept
from cosmolabe.arena.harbor import in_verifier
from cosmolabe.arena.harbor.export import HarborPlan, export_harbor
from cosmolabe.arena.verifier.held_out import secret_salt
from cosmolabe.data.collect import collect

PLAN = HarborPlan(
    "pong", "linear", 300.0, 60.0, None, test_episodes=6, scenarios=0, max_ticks=90,
    hosts=("api.example.com",),
)  # fmt: skip


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    room = tmp_path_factory.mktemp("harbor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSMOLABE_ARENA_HOME", str(room / "home"))
        store = collect("pong", room / "store", 16, max_ticks=90)
        folder = export_harbor(room / "tasks", PLAN, store)
        with pytest.raises(ValueError, match="there already"):
            export_harbor(room / "tasks", PLAN, store)
        (room / "salt").write_text(secret_salt())
    return folder


def files_of(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def python(*words, cwd):
    return subprocess.run(
        [sys.executable, "-B", *map(str, words)], cwd=cwd, capture_output=True, text=True,
        timeout=150, check=False,
    )  # fmt: skip


def test_the_verifier_is_apart_and_the_agent_is_not_root(task):
    told = tomllib.loads((task / "task.toml").read_text())
    assert told["schema_version"] == "1.4"
    assert told["artifacts"] == ["/app/submission"]
    assert told["verifier"]["environment_mode"] == "separate"
    assert told["verifier"]["network_mode"] == "no-network"
    assert told["agent"]["user"] == "agent"
    assert told["environment"]["network_mode"] == "allowlist"
    assert told["environment"]["allowed_hosts"] == ["api.example.com"]


def test_held_out_episodes_are_in_the_verifiers_image_alone(task):
    salt = (task.parents[1] / "salt").read_text().encode()
    held_out = {
        path.read_bytes()
        for path in files_of(task / "tests" / "held_out")
        if path.name != "manifest.json"
    }
    assert held_out
    for path in files_of(task):
        data = path.read_bytes()
        assert salt not in data
        if (task / "tests") not in path.parents:
            assert data not in held_out
    names = {
        p.relative_to(task / "environment" / "app").parts[:3]
        for p in files_of(task / "environment" / "app")
    }
    assert not [name for name in names if "games" in name or "engine" in name]
    assert not {"seeds", "salt"} & set(
        json.loads((task / "environment/app/config.json").read_text())
    )


def test_every_library_is_pinned(task):
    for folder in ("environment", "tests"):
        lines = (task / folder / "requirements.txt").read_text().splitlines()
        assert len(lines) > 10
        assert all(line.count("==") == 1 and "+" not in line for line in lines)


def test_an_agent_can_train_score_and_submit(task, tmp_path):
    app = shutil.copytree(task / "environment" / "app", tmp_path / "app")
    before = (app / "submission" / "weights.safetensors").read_bytes()
    config = json.loads((app / "config.json").read_text())
    done = python("run.py", "--note", "as it\tis", cwd=app)
    assert done.returncode == 0, done.stdout + done.stderr
    (app / "train.py").write_text("raise SystemExit(3)\n")
    assert python("run.py", "--note", "broken", cwd=app).returncode == 1
    rows = [line.split("\t") for line in (app / "experiments/summary.tsv").read_text().splitlines()]
    assert [row[:2] for row in rows[1:]] == [["001", "ok"], ["002", "failed"]]
    assert 0.5 < float(rows[1][2]) <= 1
    assert rows[1][7] == "as it is"
    assert json.loads((app / "submission" / "config.json").read_text()) == config
    assert (app / "submission" / "weights.safetensors").read_bytes() == before
    assert python("run.py", "--submit", "001", cwd=app).returncode == 0


def test_the_verifier_scores_what_was_submitted_and_gives_nothing_for_what_was_not(
    task, tmp_path, capsys
):
    good, held_out = task / "environment" / "app" / "submission", task / "tests" / "held_out"
    assert in_verifier.main(good, tmp_path / "logs", held_out) == 0
    reward = json.loads((tmp_path / "logs" / "reward.json").read_text())
    assert all(isinstance(value, float) for value in reward.values())
    assert 0.5 < reward["reward"] == reward["test_composite"] <= 1
    assert reward["isolated"] == 1
    bad = tmp_path / "bad"
    bad.mkdir()
    for name in ("config.json", "weights.safetensors"):
        (bad / name).write_bytes((good / name).read_bytes())
    (bad / "train.py").write_text("print('no model here')\n")
    assert in_verifier.main(bad, tmp_path / "none", held_out) == 1
    assert not (tmp_path / "none" / "reward.json").exists()
    assert "verifier_error" in capsys.readouterr().out


SPY = """
import os
for path in ('/held_out', '/logs', f'/proc/{os.getppid()}/mem', f'/proc/{os.getppid()}/environ'):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(1)
        raise SystemExit('it can read ' + path)
    except OSError:
        pass
"""


def contained(code, folders):
    """Run Python as the root of a container in which no namespaces can be made."""
    words = ["bwrap", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--unshare-pid"]
    words += ["--unshare-net", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    words += [
        "--cap-add",
        "CAP_KILL",
        "--clearenv",
        "--setenv",
        "OMP_NUM_THREADS",
        "1",
        "--setenv",
        "HOME",
        "/tmp",
    ]
    words += ["--perms", "1777", "--tmpfs", "/tmp"]  # before what may lie below it, a checkout say
    source, cache = Path(cosmolabe.__file__).parents[1], Path(os.environ["NUMBA_CACHE_DIR"])
    words += ["--setenv", "NUMBA_CACHE_DIR", "/cache", "--bind", str(cache), "/cache"]
    for path in (Path(sys.prefix), Path(sys.base_prefix).resolve(), source):
        for parent in reversed(path.parents[:-1]):
            words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", str(path), str(path)]
    for path in map(Path, ("/usr", "/bin", "/lib", "/lib64")):
        words += ["--symlink", os.readlink(path), str(path)] if path.is_symlink() else [
            "--ro-bind", str(path), str(path)]  # fmt: skip
    for inside, host in folders.items():
        host.chmod(0o700 if inside in ("/held_out", "/logs") else 0o755)
        words += ["--bind", str(host), inside]
    words += [sys.executable, "-B", "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=150, check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_where_no_sandbox_works_another_user_asks_and_knows_no_truth(task, tmp_path):
    """As in a plain container: the submission can read neither the truth nor who holds it."""
    source, held_out = task / "environment" / "app" / "submission", task / "tests" / "held_out"
    spy, logs = tmp_path / "spy", tmp_path / "logs"
    spy.mkdir()
    logs.mkdir()
    for name in ("config.json", "weights.safetensors"):
        (spy / name).write_bytes((source / name).read_bytes())
    (spy / "train.py").write_text(SPY + (source / "train.py").read_text())
    done = contained(
        "import sys; from pathlib import Path; from cosmolabe.arena.harbor import in_verifier as v;"
        "sys.exit(v.main(Path('/spy'), Path('/logs'), Path('/held_out')))",
        {"/spy": spy, "/logs": logs, "/held_out": held_out},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reward = json.loads((logs / "reward.json").read_text())
    assert reward["isolated"] == 1
    verdict = json.loads((logs / "verdict.json").read_text())
    assert verdict["enforced"]["user"] == "uid 65534"
