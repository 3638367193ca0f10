"""Score error: points between the imagined and the true score."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric


def score_error(
    true: Float[np.ndarray, "*batch"], imagined: Float[np.ndarray, "*batch"]
) -> Float[np.ndarray, "*batch"]:
    """|Δ score| in points."""
    return np.abs(np.subtract(true, imagined, dtype=np.float64))


METRIC = Metric(
    name="score_error",
    summary="Absolute difference of the game's score.",
    unit="points",
    low=0.0,
    high=np.inf,
    direction="lower",
    function=score_error,
)
