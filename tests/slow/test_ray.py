"""A Ray cluster gives what one process gives, byte for byte, though its workers die.

Needs the extra `ray`. The cluster is this machine's, with two workers.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="pip install 'cosmolabe[ray]'")

from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.bench.tables import GridRecipe, fill
from cosmolabe.cli import main
from cosmolabe.core.record import read_json, read_readings
from cosmolabe.core.spread import RETRIES, spread
from cosmolabe.data.collect import collect

PLAN = {"num_episodes": 48, "shard_size": 4, "max_ticks": 300}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers lack the tests
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def files_of(folder, suffixes=(".shard", ".json")):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in suffixes}


def test_collect_writes_the_same_bytes(tmp_path):
    local = collect("pong", tmp_path / "local", **PLAN)
    spread_ = collect("pong", tmp_path / "ray", **PLAN, workers=2, engine="ray")
    assert files_of(local.folder) == files_of(spread_.folder)
    assert len(files_of(local.folder)) == 8 + 3 + 3 + 3  # shards of three splits, three JSON files
    assert spread_.verify() == 48


def test_scenarios_are_collected_the_same(tmp_path):
    wanted = {"num_episodes": 8, "shard_size": 4, "split": "scenario", "max_ticks": 60}
    starts = ScenarioEpisodes("pong")
    local = collect("pong", tmp_path / "local", starts=starts, **wanted)
    collect("pong", tmp_path / "ray", starts=starts, engine="ray", **wanted)
    assert files_of(local.folder) == files_of(tmp_path / "ray")


def busy_workers(job):
    """Processes below this one that Ray has named after a job of ours."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            names[int(folder.name)] = (folder / "cmdline").read_bytes().decode(errors="replace")
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")")[1].split()[1])
        except OSError:
            continue  # it has ended

    def is_below(process):
        while process in parents:
            if process == os.getpid():
                return True
            process = parents[process]
        return False

    return [n for n, name in names.items() if name.startswith(f"ray::{job}") and is_below(n)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds workers in /proc")
def test_a_killed_worker_costs_its_shard_alone(tmp_path):
    plan = {**PLAN, "max_ticks": 3000}
    folder, killed, kept = tmp_path / "ray", [], {}

    def kill_one(done, total):
        if not 0 < done < total or killed:
            return
        end = time.monotonic() + 20
        while not killed and time.monotonic() < end:
            for process in busy_workers("collect_shard")[:1]:
                kept.update({p.name: p.stat().st_mtime_ns for p in folder.glob("*.shard")})
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    collect("kong", folder, **plan, workers=2, engine="ray", progress=kill_one)
    assert killed
    assert kept
    assert {name: (folder / name).stat().st_mtime_ns for name in kept} == kept
    local = collect("kong", tmp_path / "local", **plan)
    assert files_of(local.folder) == files_of(folder)
    assert not list(folder.glob("*.part"))


def die(marks, name, times):
    """Die so many times, then give the number of deaths."""
    before = len(list(Path(marks).glob(f"{name}-*")))
    Path(marks, f"{name}-{before}").touch()
    if before < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return before


def test_a_job_whose_worker_dies_is_done_again_and_no_other(tmp_path):
    jobs = [(str(tmp_path), name, name == "b") for name in "abcd"]
    assert dict(spread(die, jobs, 2, "ray")) == {0: 0, 1: 1, 2: 0, 3: 0}
    assert len(list(tmp_path.iterdir())) == 5


def test_a_job_that_kills_every_worker_is_told_in_words(tmp_path):
    with pytest.raises(ValueError, match="died 4 times at the same job"):
        list(spread(die, [(str(tmp_path), "a", 99)], 2, "ray"))
    assert len(list(tmp_path.iterdir())) == RETRIES + 1


def test_what_a_job_raises_is_raised_as_it_was(tmp_path):
    def refuse(name):
        raise ValueError(f"no game named '{name}'")

    with pytest.raises(ValueError, match=r"^no game named 'pang'$"):
        list(spread(refuse, [("pang",)], 2, "ray"))


def test_the_table_of_models_is_the_same(tmp_path):
    recipe = GridRecipe(
        "tiny", games=("pong", "snake"), models=("still", "linear"), steps=2, seconds=None,
        train_episodes=4, test_episodes=6,
    )  # fmt: skip

    def rows_of(where, **how):
        rows = fill(recipe, tmp_path / where, tmp_path / where / "models.json", **how)
        return {
            (row["game"], row["model"]): {k: v for k, v in row.items() if k != "seconds"}
            for row in rows
        }

    assert rows_of("local") == rows_of("ray", engine="ray", workers=2)
    assert len(read_json(tmp_path / "ray" / "models.json")) == 4


def test_judge_reads_the_same(tmp_path):
    stores = [str(tmp_path / game) for game in ("pong", "snake")]
    for game, store in zip(("pong", "snake"), stores, strict=True):
        collect(game, store, 8, split="test", max_ticks=120)
    words = ["--model", "still", "--model", "constant_velocity", "--scenarios", "1", "--no-report"]
    for engine in ("local", "ray"):
        out = str(tmp_path / engine)
        assert main.run(["judge", *stores, *words, "--engine", engine, "--out", out]) == 0
    local, there = tmp_path / "local", tmp_path / "ray"
    assert read_readings(local / "readings.json")
    for path in local.glob("*.json*"):
        if path.name != "record.json":  # which says how long the model took
            assert path.read_bytes() == (there / path.name).read_bytes(), path.name
    media = sorted(path.name for path in (local / "media").iterdir())
    assert media == sorted(path.name for path in (there / "media").iterdir())


def test_the_command_line_starts_a_cluster_of_its_own(tmp_path):
    """In a process apart, for here a cluster runs already; then once more, which adds nothing."""
    words = ["collect", "pong", "--episodes", "16", "--max-ticks", "90", "--json"]
    words += ["--engine", "ray", "--workers", "2", "--out", str(tmp_path / "ray")]
    start = "import sys; from cosmolabe.cli.main import main; main()"
    environment = {k: v for k, v in os.environ.items() if k != "RAY_ADDRESS"}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", start, *words],
            capture_output=True, text=True, env=environment, timeout=180,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["episodes"] == 16
    local = collect("pong", tmp_path / "local", 16, max_ticks=90)
    assert files_of(local.folder) == files_of(tmp_path / "ray")
