"""The ladder: twins that differ in physics alone, rung by rung, and controls of quality.

Every rung says how far the score moves from the true twin's, and how often it moves up. A judge of
physics climbs the ladder, stands still below the threshold, and does not answer to quality.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosmolabe.bench.physics.twin_scores import Scored
from cosmolabe.core import bootstrap
from cosmolabe.data.twin_rows import TwinRow

RESAMPLES = 1000
BELOW = "below threshold"


def ladder(
    rows: Sequence[TwinRow], scores: Mapping[str, Scored], *, num: int = RESAMPLES, seed: int = 0
) -> list[dict[str, Any]]:
    """One row for every kind and all together, and in it for every size; then one a control.

    `moved` is the mean of score minus the true twin's, `up` the share of pairs in which it is
    higher. Intervals draw groups again.
    """
    damage = [row for row in rows if row.role == "damage" and row.damaged]
    found = []
    for kind in ["", *sorted({row.kind for row in damage})]:
        mine = [row for row in damage if not kind or row.kind == kind]
        for rung in sorted({rung_of(row) for row in mine}):
            some = [row for row in mine if rung_of(row) == rung]
            size = float(np.mean([row.size for row in some]))
            found.append(
                {
                    "what": "damage",
                    "kind": kind or "all",
                    "rung": rung,
                    "size": size,
                    **_moves(some, scores, num, seed),
                }
            )
    quality = [row for row in rows if row.role == "quality"]
    for kind in ["", *sorted({row.kind for row in quality})]:
        some = [row for row in quality if not kind or row.kind == kind]
        if some:
            size = float(np.mean([row.size for row in some]))
            told = {"what": "quality", "kind": kind or "all", "rung": "", "size": size}
            found.append({**told, **_moves(some, scores, num, seed)})
    return found


def rung_of(row: TwinRow) -> str:
    """Which rung of the ladder a double stands on."""
    return BELOW if row.sub_threshold else f"{row.size:.2f}"


def _moves(
    rows: Sequence[TwinRow], scores: Mapping[str, Scored], num: int, seed: int
) -> dict[str, Any]:
    moved = np.array([scores[row.damaged].raw - scores[row.true].raw for row in rows])
    up = (np.sign(moved) + 1) / 2
    weights = bootstrap.resamples(np.array([row.group for row in rows]), num, seed)
    low, high = bootstrap.interval(bootstrap.weighted_mean(moved, weights))
    return {
        "moved": float(moved.mean()),
        "low": float(low),
        "high": float(high),
        "absolute": float(np.abs(moved).mean()),
        "up": float(up.mean()),
        "raw": float(np.mean([scores[row.damaged].raw for row in rows])),
        "n": len(rows),
        "groups": len({row.group for row in rows}),
    }
