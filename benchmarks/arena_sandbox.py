"""What a box costs: to start, while it computes, and to feed; the same program with and without.

Run as `python -m benchmarks.arena_sandbox`. Wall clock, the levels taking turns, the median; on a
shared machine the least is printed too, for what others do in between counts as ours.
"""

import contextlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from cosmolabe.arena.sandbox import Box, Limits, open_child, python_root, run, why_not

ROUNDS = 9
WINDOWS_IN, PREDICTIONS_OUT = 48 << 20, 74 << 20  # bytes of 1,024 windows of 52 entities, 20 steps
WORK = """
import time
start = time.process_time()
x = 1.0
for n in range(6_000_000):
    x = x * 1.0000001
print(time.process_time() - start)
"""
ANSWER = f"""
import sys
for _ in range({WINDOWS_IN >> 20}): sys.stdin.buffer.read(1 << 20)
for _ in range({PREDICTIONS_OUT >> 20}): sys.stdout.buffer.write(bytes(1 << 20))
"""


def main() -> None:
    """Print one row a figure."""
    levels = [level for level in ("bwrap+cgroup", "bwrap+rlimits", "docker") if not why_not(level)]
    levels.append("unsafe-local")
    with tempfile.TemporaryDirectory() as folder:
        box = Box(python_root(), ((folder, "/work"),), Limits(wall=300))
        python = [sys.executable, "-I", "-S", "-B", "-c"]
        timed("start and end of /bin/true, s", levels, lambda at: run(box, ["/bin/true"], level=at))
        timed("processor s of a fixed loop", levels, lambda at: own(box, [*python, WORK], at))
        timed("48 MB in, 74 MB out, s", levels, lambda at: feed(box, [*python, ANSWER], at), 3)


def own(box: Box, argv: list[str], level: str) -> float:
    """The seconds that the program itself says it took."""
    log = io.BytesIO()
    run(box, argv, level=level, log=log)
    return float(log.getvalue())


def feed(box: Box, argv: list[str], level: str) -> None:
    """As the verifier does: all windows in, all predictions out."""
    with open_child(box, argv, level) as child:
        child.exchange(bytes(WINDOWS_IN), PREDICTIONS_OUT, 240)


def timed(name: str, levels: list[str], act: Callable[[str], object], rounds: int = ROUNDS) -> None:
    """Median and least of each level, taking turns."""
    seen: dict[str, list[float]] = {level: [] for level in levels}
    for _ in range(rounds):
        for level in levels:
            start = time.perf_counter()
            with contextlib.suppress(EOFError):
                took = act(level)
            wall = time.perf_counter() - start
            seen[level].append(took if isinstance(took, float) else wall)
    for level, values in seen.items():
        middle, least = statistics.median(values), float(np.min(values))
        print(f"{name:<34} {level:<14} median {middle:7.3f}  least {least:7.3f}", flush=True)


if __name__ == "__main__":
    main()
