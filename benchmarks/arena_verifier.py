"""What the arena's sealed verifier costs beyond the time a submitted model takes.

Wall clock, the least of the repeats, for whatever else runs only adds. Two starts of a sandbox are
counted in. The peer is the same windows judged in this process, the model's time included; the
target (ours) is 5 % of a run of 10 minutes.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Row
from cosmolabe.arena.attacks.honest import CONSTANT_VELOCITY
from cosmolabe.arena.sandbox import Limits, python_root, run
from cosmolabe.arena.sandbox.box import Box
from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.bench.bed import Bed, lay_out, play
from cosmolabe.data.collect import collect
from cosmolabe.models.constant_velocity import ConstantVelocity

GAMES, WINDOWS, REPEATS = ("pong", "breakout"), (256, 1024), 3
ALLOWED = 0.05 * 600.0  # seconds


def rows() -> Iterator[Row]:
    """Two rows a game and number of windows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = write_slim(folder / "package")
        submission = folder / "submission"
        submission.mkdir()
        (submission / "train.py").write_text(CONSTANT_VELOCITY)
        (submission / "config.json").write_text("{}")
        starts = 2 * min(_start() for _ in range(REPEATS))
        for game in GAMES:
            store = collect(game, folder / game, max(WINDOWS), split="test", max_ticks=120)
            for count in WINDOWS:
                bed = lay_out(store, "test", num_episodes=count)
                took, judged = _seconds(bed, submission, package)
                name, took = f"verify {game}, {len(bed.windows)} windows", took + starts
                yield Row(name, took, ALLOWED, "5 % of 10 minutes", ALLOWED / took, "s", 1.0,
                          "against a fixed number, so it depends on the machine")  # fmt: skip
                yield Row(name, took, judged, "judged here", judged / took, "s")


def _seconds(bed: Bed, submission: Path, package: Path) -> tuple[float, float]:
    """(verifying less what the model took, judging here), each the least of the repeats."""
    verifier, outside, here = Verifier(package), [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        verdict = verifier.verify(submission, {"test": bed})
        outside.append(time.perf_counter() - began - verdict.seconds["model"])
        assert verdict.status == "ok", verdict.why
        began = time.perf_counter()
        play(ConstantVelocity(), bed.windows, bed.protocol)
        here.append(time.perf_counter() - began)
    return min(outside), min(here)


def _start() -> float:
    """Seconds that a sandbox adds to a program that does nothing."""
    box = Box(readable=python_root(), limits=Limits())
    began = time.perf_counter()
    ended = run(box, [sys.executable, "-I", "-c", "pass"])
    assert ended.code == 0
    return time.perf_counter() - began
