"""Pairwise accuracy: how often the worse of two clips gets the higher score."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import weights_of


def pairwise_accuracy(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
    weights: Float[np.ndarray, "*resample pair"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Share of pairs with a winner that the scores order as people did; a higher score is worse.

    Pairs people call equal (0.5), and pairs without a score (NaN), are left out. Equal scores get
    half a point: see `num_equal`. NaN where no pair is left.
    """
    gap = first - second
    counted = weights_of(np.isfinite(gap) & (p_first_worse != 0.5), weights)
    with np.errstate(invalid="ignore"):
        credit = 0.5 + 0.5 * np.sign(gap) * np.sign(p_first_worse - 0.5)
    total = counted.sum(-1)
    right = (counted * np.nan_to_num(credit)).sum(-1)
    return np.divide(right, total, out=np.full(total.shape, np.nan), where=total > 0)


def num_equal(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
) -> int:
    """How many pairs with a winner got the very same score twice."""
    return int(((first == second) & (p_first_worse != 0.5)).sum())


METRIC = Metric(
    name="pairwise_accuracy",
    summary="Share of pairs whose worse clip gets the higher score; human ties left out.",
    unit="share of pairs",
    low=0.0,
    high=1.0,
    direction="higher",
    function=pairwise_accuracy,
)
