"""Labels on one scale of violation: 0 nothing violated, 1 blatant.

Nothing rated lies between 0 and 0.5: people see strong violations reliably and faint ones hardly,
so the paper gives the first doubt half of the scale. No torch here.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import rankdata

AREA, CENTRE, PRESENCE = 0.6, 0.3, 0.1  # PhyProbe, BrokenVideos
LOWEST, SPAN = 0.5, 0.4  # BrokenVideos' composite is mapped to 0.5..0.9
BROKEN_GAP = 0.4
"""Least difference of two composites that makes a pair (PhyProbe; read here as one of c, not y)."""
Normalise = Literal["none", "minmax", "rank"]


def floored(rating: Float[np.ndarray, "*clip"]) -> Float[np.ndarray, "*clip"]:
    """Violation of a plausibility rating of 1 (worst) to 5: 5 → 0, 4 → 0.5, then 1/6 a point.

    Between 4 and 5, where the paper says nothing, it is a straight line (ours). NaN stays NaN.
    """
    _check_rating(rating)
    return np.where(rating > 4, 0.5 * (5 - rating), 0.5 + (4 - rating) / 6)


def linear(rating: Float[np.ndarray, "*clip"]) -> Float[np.ndarray, "*clip"]:
    """Violation on an even scale, (5 − rating)/4: the paper's ablation."""
    _check_rating(rating)
    return (5 - rating) / 4


def linear_of_floored(violation: Float[np.ndarray, "*clip"]) -> Float[np.ndarray, "*clip"]:
    """The even scale's value of what `floored` gave."""
    return np.where(violation < 0.5, violation / 2, 1.5 * violation - 0.5)


def broken_composite(mask: Bool[np.ndarray, "time height width"]) -> float:
    """0.6 area + 0.3 nearness to the centre + 0.1 presence of a marked region, 0..1.

    The paper names the terms only; here area is the marked share of all pixels of all frames,
    presence the share of frames with a mark, and nearness 1 − distance of the mark's centroid from
    the picture's centre over half its diagonal, a mean over the frames with a mark.
    """
    if mask.ndim != 3 or not mask.size:
        raise ValueError(f"a mask is (time, height, width) and not empty; got {mask.shape}")
    marked = mask.reshape(len(mask), -1).any(1)
    if not marked.any():
        return 0.0
    height, width = mask.shape[1:]
    rows, columns = np.arange(height) + 0.5, np.arange(width) + 0.5
    near = []
    for frame in mask[marked]:
        total = frame.sum()
        y = float(frame.sum(1) @ rows / total) - height / 2
        x = float(frame.sum(0) @ columns / total) - width / 2
        near.append(1 - np.hypot(x, y) / (np.hypot(height, width) / 2))
    return AREA * float(mask.mean()) + CENTRE * float(np.mean(near)) + PRESENCE * marked.mean()


def normalised(
    composites: Sequence[float] | np.ndarray, how: Normalise = "none"
) -> Float[np.ndarray, " clip"]:
    """Composites as they are, stretched to 0..1, or as ranks in 0..1.

    Marked areas are small, so composites as they are seldom differ by 0.4; see how many pairs each
    choice gives with `broken_yield`. One composite alone, or all equal, become 0.
    """
    values = np.asarray(composites, np.float64)
    if how == "none" or not len(values):
        return values
    if how not in ("minmax", "rank"):
        raise ValueError(f"no way to normalise named '{how}'; have ['none', 'minmax', 'rank']")
    values = rankdata(values) if how == "rank" else values
    span = np.ptp(values)
    return (values - values.min()) / span if span > 0 else np.zeros(len(values))


def broken_violation(composites: Float[np.ndarray, "*clip"]) -> Float[np.ndarray, "*clip"]:
    """The violation a composite stands for: 0.5 to 0.9."""
    return LOWEST + SPAN * composites


def broken_yield(composites: Float[np.ndarray, " clip"], gap: float = BROKEN_GAP) -> int:
    """How many pairs of clips differ by `gap` or more."""
    ranked = np.sort(composites)
    return int((len(ranked) - np.searchsorted(ranked, ranked + gap - 1e-12)).sum())


def _check_rating(rating: np.ndarray) -> None:
    known = rating[np.isfinite(rating)]
    if np.isinf(rating).any() or ((known < 1) | (known > 5)).any():
        raise ValueError("a plausibility rating lies in 1..5 (5 is lawful); this one does not")
