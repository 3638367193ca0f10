"""What a box of the arena costs: to start, while it computes, and to feed.

The same program in each box that this machine can make and without one (`unsafe-local`), taking
turns. Wall clock, for the kernel's work counts, but for the fixed loop, which says itself how many
processor seconds it took; medians, and what else runs on the machine counts too.
"""

import contextlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.timing import Row
from cosmolabe.arena.sandbox import Box, Limits, open_child, python_root, run, why_not

BARE, BOXES = "unsafe-local", ("bwrap+cgroup", "bwrap+rlimits", "docker")
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


def rows() -> Iterator[Row]:
    """A row for each figure and each box that can be made here."""
    levels = [*(level for level in BOXES if not why_not(level)), BARE]
    with tempfile.TemporaryDirectory() as folder:
        box = Box(python_root(), ((folder, "/work"),), Limits(wall=300))
        python = [sys.executable, "-I", "-S", "-B", "-c"]
        acts: dict[str, tuple[Callable[[str], object], str, float | None]] = {
            "start and end of /bin/true": (
                lambda at: run(box, ["/bin/true"], level=at), "s", None,
            ),
            "a fixed loop": (lambda at: own(box, [*python, WORK], at), "processor s", 0.95),
            "48 MB in, 74 MB out": (lambda at: feed(box, [*python, ANSWER], at), "s", None),
        }  # fmt: skip
        for name, (act, unit, target) in acts.items():
            seen = timed(levels, act)
            for level in levels[:-1]:
                ratio = statistics.median(
                    b / a for a, b in zip(seen[level], seen[BARE], strict=True)
                )
                ours, peer = (statistics.median(seen[at]) for at in (level, BARE))
                yield Row(f"{name}, {level}", ours, peer, "no box", ratio, unit, target)


def own(box: Box, argv: list[str], level: str) -> float:
    """The seconds that the program itself says it took."""
    log = io.BytesIO()
    run(box, argv, level=level, log=log)
    return float(log.getvalue())


def feed(box: Box, argv: list[str], level: str) -> None:
    """As the verifier does: all windows in, all predictions out."""
    with open_child(box, argv, level) as child:
        child.exchange(bytes(WINDOWS_IN), PREDICTIONS_OUT, 240)


def timed(levels: list[str], act: Callable[[str], object]) -> dict[str, list[float]]:
    """What each level took in each round, taking turns; of `act`, what it says of itself."""
    seen: dict[str, list[float]] = {level: [] for level in levels}
    for _ in range(ROUNDS):
        for level in levels:
            start = time.perf_counter()
            with contextlib.suppress(EOFError):
                took = act(level)
            wall = time.perf_counter() - start
            seen[level].append(took if isinstance(took, float) else wall)
    return seen
