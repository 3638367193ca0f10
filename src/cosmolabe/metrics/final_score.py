"""The final score: composites of three horizons, weighted towards the long one."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric

WEIGHTS = ((1, 0.1), (10, 0.2), (20, 0.7))
"""(horizon, weight), as in AutoWorldModel-Bench."""


def final_score(
    composites: Float[np.ndarray, "*batch horizon"],
    weights: Sequence[tuple[int, float]] = WEIGHTS,
) -> Float[np.ndarray, "*batch"]:
    """0.1 c₁ + 0.2 c₁₀ + 0.7 c₂₀; column h - 1 holds step h. NaN where a part is missing."""
    longest = max(horizon for horizon, _ in weights)
    if composites.shape[-1] < longest:
        raise ValueError(
            f"the final score reads step {longest}; got composites of {composites.shape[-1]} steps"
        )
    total = np.zeros(composites.shape[:-1])
    for horizon, weight in weights:
        total = total + weight * composites[..., horizon - 1]
    return total


METRIC = Metric(
    name="final_score",
    summary="0.1 c₁ + 0.2 c₁₀ + 0.7 c₂₀.",
    unit="score",
    low=0.0,
    high=1.0,
    direction="higher",
    function=final_score,
)
