"""The composite of one horizon: 0.9 times closeness plus 0.1 times alive F1."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric


def composite(
    position_l1: Float[np.ndarray, "*batch"],
    alive_f1: Float[np.ndarray, "*batch"],
    position_weight: float = 0.9,
    alive_weight: float = 0.1,
) -> Float[np.ndarray, "*batch"]:
    """0.9 · max(0, 1 − L1) + 0.1 · F1 (AutoWorldModel-Bench); NaN stays NaN.

    np.maximum hands NaN on, where Python's max(0.0, nan) would turn it into a silent 0.
    """
    return position_weight * np.maximum(0.0, 1.0 - position_l1) + alive_weight * alive_f1


METRIC = Metric(
    name="composite",
    summary="0.9 · max(0, 1 − position L1) + 0.1 · alive F1 at one horizon.",
    unit="score",
    low=0.0,
    high=1.0,
    direction="higher",
    function=composite,
)
