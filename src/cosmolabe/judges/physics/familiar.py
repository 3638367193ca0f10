"""What a head was trained on, so that it can say when it is shown something else.

The pooled features of the training clips are told by their mean and their main directions; a clip
is held against them by its Mahalanobis distance, where every direction that is not kept has one
spread in common (probabilistic PCA: Tipping & Bishop 1999). `edge` is the distance that nearly all
clips held back from the fit lie within.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

KEPT = 32
"""Directions kept, at most (our choice)."""
QUANTILE = 0.99
"""Of the clips held back lie within the edge (our choice)."""
MARGIN = 1.25
"""The edge is so many times that quantile: an alarm is for what is clearly foreign (our choice)."""
LEAST = 8
"""Clips from which this can be learnt."""


@dataclass(frozen=True)
class Familiar:
    """The training clips, as far as telling them from others needs them."""

    mean: Float[np.ndarray, " column"]
    scale: Float[np.ndarray, " column"]
    """Standard deviation of each column, by which it is divided."""
    directions: Float[np.ndarray, "kept column"]
    spread: Float[np.ndarray, " kept"]
    """Standard deviation along each direction."""
    rest: float
    """Standard deviation along any other direction."""
    edge: float

    def distance(self, rows: Float[np.ndarray, "clip column"]) -> Float[np.ndarray, " clip"]:
        """Mahalanobis distance over the root of the number of columns: about 1 for a usual clip."""
        gap = (np.asarray(rows, np.float64) - self.mean) / self.scale
        along = gap @ self.directions.T
        inside = (along / self.spread) ** 2
        outside = np.maximum((gap**2).sum(1) - (along**2).sum(1), 0.0) / self.rest**2
        return np.sqrt((inside.sum(1) + outside) / gap.shape[1])

    def tensors(self) -> dict[str, np.ndarray]:
        """Plain arrays by name."""
        return {
            "familiar.mean": self.mean.astype(np.float32),
            "familiar.scale": self.scale.astype(np.float32),
            "familiar.directions": self.directions.astype(np.float32),
            "familiar.spread": self.spread.astype(np.float32),
            "familiar.numbers": np.array([self.rest, self.edge], np.float32),
        }


def learn(
    rows: Float[np.ndarray, "clip column"],
    kept: int = KEPT,
    quantile: float = QUANTILE,
    margin: float = MARGIN,
    groups: np.ndarray | None = None,
) -> Familiar:
    """Fit on every second group of clips, set the edge by the others, then fit on all.

    `groups` names what belongs together (a scene, an episode): clips of one group must not stand
    on both sides. Without it, each clip is a group of its own.
    """
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2 or len(rows) < LEAST or not np.isfinite(rows).all():
        raise ValueError(
            f"what is familiar is learnt from {LEAST} finite rows (clip, column) or more; got "
            f"{rows.shape}"
        )
    _, place = np.unique(np.arange(len(rows)) if groups is None else groups, return_inverse=True)
    back = place.reshape(-1) % 2 == 1
    if not back.any() or back.all():
        raise ValueError("all clips are of one group; nothing can be held back to set the edge")
    edge = float(np.quantile(_fit(rows[~back], kept).distance(rows[back]), quantile)) * margin
    whole = replace(_fit(rows, kept), edge=max(edge, 1e-6))
    kept_alike = of_tensors(whole.tensors())  # in the 32 bits that are written, so that it says
    assert kept_alike is not None  # the same before and after
    return kept_alike


def of_tensors(tensors: dict[str, Any]) -> Familiar | None:
    """What `tensors` gave; None where a head brings nothing of the kind."""
    if "familiar.mean" not in tensors:
        return None
    names = ("mean", "scale", "directions", "spread", "numbers")
    lacking = [name for name in names if f"familiar.{name}" not in tensors]
    if lacking:
        raise ValueError(f"what is familiar lacks {lacking}")
    mean, scale, directions, spread, numbers = (
        np.asarray(tensors[f"familiar.{name}"], np.float64) for name in names
    )
    if mean.ndim != 1 or spread.ndim != 1:
        raise ValueError("what is familiar does not fit together; is the file whole?")
    fits = directions.shape == (len(spread), len(mean)) and scale.shape == mean.shape
    positive = all((array > 0).all() for array in (scale, spread, numbers))
    if not fits or numbers.shape != (2,) or not positive:
        raise ValueError("what is familiar does not fit together; is the file whole?")
    return Familiar(mean, scale, directions, spread, float(numbers[0]), float(numbers[1]))


def _fit(rows: Float[np.ndarray, "clip column"], kept: int) -> Familiar:
    mean = rows.mean(0)
    scale = rows.std(0)
    scale = np.maximum(scale, max(1e-3 * float(np.median(scale)), 1e-6))
    gap = (rows - mean) / scale
    _, singular, directions = np.linalg.svd(gap, full_matrices=False)
    variance = singular**2 / max(len(rows) - 1, 1)
    kept = max(1, min(kept, len(rows) // 4, rows.shape[1] - 1))
    rest = variance[kept:].sum() / (rows.shape[1] - kept)
    rest = float(np.sqrt(max(rest, 1e-12)))
    spread = np.sqrt(np.maximum(variance[:kept], rest**2))
    return Familiar(mean, scale, directions[:kept], spread, rest, np.inf)
