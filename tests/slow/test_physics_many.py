"""A thousand videos, fifty of them broken, killed at random, on processes and on a Ray cluster."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from moving_squares import random_heads, square

from cosmolabe.bench.physics import many
from cosmolabe.core import parts
from cosmolabe.core.record import read_json
from cosmolabe.data.video import find_inputs, write_video
from cosmolabe.judges.physics import Bundle, save_bundle

PROGRAM = "from cosmolabe.cli.main import main; main()"
VIDEOS, EVERY = 1000, 20


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    eye = parts.load("encoders", "efficientnet_lite").load(size="128")
    bundle = Bundle("random", random_heads(eye, members=2), "efficientnet_lite", "128")
    return save_bundle(bundle, tmp_path_factory.mktemp("heads") / "random")


def make_videos(folder, number):
    broken = []
    for n in range(number):
        path = folder / f"{n:04d}.mp4"
        write_video(path, iter([square(8, size=32, speed=2.0, seed=n)]), 16.0)
        if n % EVERY == EVERY - 1:
            whole = path.read_bytes()
            path.write_bytes((b"", whole[:200], b"no video " * 50, bytes(2000))[n // EVERY % 4])
            broken.append(path.name)
    return broken


def test_all_950_are_scored_and_50_named_though_it_is_killed_at_random(head, tmp_path):
    broken = make_videos(tmp_path / "videos", VIDEOS)
    assert len(broken) == 50
    words = ["judge", "--judges", "physics", str(tmp_path / "videos"), "--head", str(head)]
    words += ["--no-report", "--json", "--out"]
    command = [sys.executable, "-c", PROGRAM, *words, str(tmp_path / "out")]
    path = tmp_path / "out" / "clips.jsonl"
    dice, before = random.Random(0), b""
    for _ in range(4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        wanted = before.count(b"\n") + dice.randint(20, 180)
        until = time.monotonic() + 600
        while process.poll() is None and time.monotonic() < until:
            if path.exists() and path.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(dice.uniform(0.001, 0.05))
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = path.read_bytes()
        found = found[: found.rfind(b"\n") + 1]
        assert found.startswith(before), "what was done was done again"
        assert len(found) > len(before)
        before = found
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["counts"] == {"videos": 1000, "scored": 950, "abstained": 0, "failed": 50}
    assert told["kept_from_before"] == before.count(b"\n")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["input"] for row in rows] == [f"{n:04d}.mp4" for n in range(VIDEOS)]
    assert [row["input"] for row in rows if row["status"] == "failed"] == broken
    assert all(row["why"] for row in rows if row["status"] == "failed")


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_several_workers_write_what_one_writes(head, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray", reason="pip install 'cosmolabe[ray]'")
    make_videos(tmp_path / "videos", 40)
    inputs = find_inputs([tmp_path / "videos"])
    settings = many.Settings(head=str(head))
    one = many.judge_many(inputs, tmp_path / "one", settings, shown=0)
    two = many.judge_many(inputs, tmp_path / "two", settings, workers=2, engine=engine, shown=0)
    assert repr(one) == repr(two)
    assert (tmp_path / "one/clips.jsonl").read_bytes() == (
        tmp_path / "two/clips.jsonl"
    ).read_bytes()
    assert read_json(tmp_path / "two/record.json")["config"]["failed"] == 2
