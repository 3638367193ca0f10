"""What the sealed verifier costs beyond the time a model takes.

`python benchmarks/arena_verifier.py`

Times are this machine's; each is the least of the repeats, for whatever else runs only adds. The
target (ours): 3 s a scoring, and 5 % of a run of 10 minutes together with the sandbox.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from cosmolabe.arena.attacks.honest import CONSTANT_VELOCITY
from cosmolabe.arena.sandbox import Limits, python_root, run
from cosmolabe.arena.sandbox.box import Box
from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.bench.bed import lay_out, play
from cosmolabe.data.collect import collect
from cosmolabe.models.constant_velocity import ConstantVelocity

GAMES, WINDOWS, REPEATS = ("pong", "breakout"), (256, 1024), 3
TEN_MINUTES = 600.0


def main() -> None:
    """One row a game and number of windows."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = write_slim(folder / "package")
        submission = folder / "submission"
        submission.mkdir()
        (submission / "train.py").write_text(CONSTANT_VELOCITY)
        (submission / "config.json").write_text("{}")
        start = min(_start() for _ in range(REPEATS))
        for game in GAMES:
            store = collect(game, folder / game, max(WINDOWS), split="test", max_ticks=120)
            for count in WINDOWS:
                rows.append(_row(game, store, count, submission, package, start))
    print(json.dumps({"start": start, "rows": rows}, indent=1))


def _row(game, store, count, submission, package, start) -> dict:
    bed = lay_out(store, "test", num_episodes=count)
    verifier, found = Verifier(package), []
    for _ in range(REPEATS):
        began, busy = time.perf_counter(), time.process_time()
        verdict = verifier.verify(submission, {"test": bed})
        whole = time.perf_counter() - began
        assert verdict.status == "ok", verdict.why
        busy = time.process_time() - busy
        found.append((whole - verdict.seconds["model"], verdict.seconds["model"], busy))
    began = time.perf_counter()
    play(ConstantVelocity(), bed.windows, bed.protocol)
    judged = time.perf_counter() - began
    outside, waited, busy = (min(column) for column in zip(*found, strict=True))
    return {
        "game": game,
        "slots": store.manifest.num_slots,
        "windows": len(bed.windows),
        "outside_seconds": round(outside, 3),
        "outside_cpu_seconds": round(busy, 3),
        "waited_seconds": round(waited, 3),
        "judge_seconds": round(judged, 3),
        "share_of_ten_minutes": round((outside + 2 * start) / TEN_MINUTES, 5),
    }


def _start() -> float:
    """Seconds that a sandbox adds to a program that does nothing."""
    box = Box(readable=python_root(), limits=Limits())
    began = time.perf_counter()
    ended = run(box, [sys.executable, "-I", "-c", "pass"])
    assert ended.code == 0
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
