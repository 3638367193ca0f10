"""Interleaved timing: ours and the peer's take turns, in seconds of our own processor time.

All runs are single-threaded, and machines are shared: the wall clock would also count what others
do in between. A slow memory still slows both.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison. `ratio` is ours over the peer's, so above 1 means ours does more."""

    name: str
    ours: float
    peer: float
    peer_name: str
    ratio: float
    unit: str
    target: float | None = None
    """The ratio we mean to reach; None where the row only informs."""
    note: str = ""


def rates(runs: dict[str, Callable[[], int]], rounds: int = 7) -> dict[str, list[float]]:
    """Units per processor second of each run, in turn; a run returns the units it did."""
    for run in runs.values():
        run()  # warm-up: compile, fault pages in
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            units = run()
            seen[name].append(units / (time.process_time() - start))
    return seen


def versus(
    name: str,
    unit: str,
    ours: Callable[[], int],
    peers: dict[str, Callable[[], int]],
    *,
    target: float | None = None,
    rounds: int = 7,
    note: str = "",
) -> list[Row]:
    """One row a peer: median rates, and the median over rounds of the ratio within a round."""
    seen = rates({"ours": ours, **peers}, rounds)
    rows = []
    for peer in peers:
        pairs = zip(seen["ours"], seen[peer], strict=True)
        ratio = statistics.median(a / b for a, b in pairs)
        rows.append(
            Row(
                name,
                statistics.median(seen["ours"]),
                statistics.median(seen[peer]),
                peer,
                ratio,
                unit,
                target,
                note,
            )
        )
    return rows


def missing(name: str, unit: str, peer: str, why: str) -> Row:
    """A comparison that could not be made, said loudly and counted as a failure to measure."""
    return Row(name, float("nan"), float("nan"), peer, float("nan"), unit, None, f"NOT RUN: {why}")
