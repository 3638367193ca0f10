"""What outside labels mean on our scale: 0 nothing violated, 1 blatant."""

import math

import numpy as np
from jaxtyping import Bool, Float

BEST, WORST = 5.0, 1.0  # of physical commonsense on a Likert scale
BROKEN_LOW, BROKEN_SPAN = 0.5, 0.4  # reference 4.3: composites land in 0.5 .. 0.9
AREA, CENTRE, PRESENCE = 0.6, 0.3, 0.1  # weights of the composite (reference 4.3)


def violation_of_likert(rating: float, linear: bool = False) -> float:
    """Violation of a 1..5 rating of physical commonsense; NaN stays NaN (reference 4.2).

    5, 4, 3, 2, 1 give 0, 1/2, 2/3, 5/6, 1: whatever is not perfect stands at least half-way.
    Ratings between 4 and 5 (means of several people) lie on the straight line between.
    `linear` is the ablation (5 - rating) / 4.

    Raises:
        ValueError: The rating is outside 1..5.
    """
    if math.isnan(rating):
        return rating
    if not WORST <= rating <= BEST:
        raise ValueError(f"a rating of physics is in 1..5; got {rating}")
    if linear:
        return (BEST - rating) / (BEST - WORST)
    return 0.5 * (BEST - rating) if rating > 4 else 0.5 + (4 - rating) / 6


def mask_composite(masks: Bool[np.ndarray, "time height width"]) -> dict[str, float]:
    """How broken the masks of one video say it is: area, centre, presence, composite (in 0..1).

    area: mean over all frames of the masked share of pixels. presence: share of frames with any
    mask. centre: over frames with a mask, mean of 1 - (distance of the mask's centroid from the
    picture's centre) / (half the diagonal). composite = 0.6 area + 0.3 centre + 0.1 presence.
    Videos without a masked pixel are 0 throughout (reference 4.3: the paper leaves these open).
    """
    counts = masks.sum((1, 2))
    shown = counts > 0
    if not shown.any():
        return dict.fromkeys(("area", "centre", "presence", "composite"), 0.0)
    area = float(masks.mean((1, 2)).mean())
    centre = float(_centredness(masks[shown], counts[shown]).mean())
    presence = float(shown.mean())
    composite = AREA * area + CENTRE * centre + PRESENCE * presence
    return {"area": area, "centre": centre, "presence": presence, "composite": composite}


def violation_of_composite(composite: float) -> float:
    """0.5 .. 0.9 (reference 4.3)."""
    return BROKEN_LOW + BROKEN_SPAN * composite


def _centredness(
    masks: Bool[np.ndarray, "time height width"], counts: np.ndarray
) -> Float[np.ndarray, " time"]:
    _, height, width = masks.shape
    y = (masks.sum(2) * np.arange(height)).sum(1) / counts - (height - 1) / 2
    x = (masks.sum(1) * np.arange(width)).sum(1) / counts - (width - 1) / 2
    return 1 - np.hypot(x, y) / (np.hypot(height, width) / 2)
