"""Pearson's r: whether scores lie on a straight line with what people or the damage say."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import correlation, weights_of


def pearson(
    scores: Float[np.ndarray, " clip"],
    violation: Float[np.ndarray, " clip"],
    weights: Float[np.ndarray, "*resample clip"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Linear correlation; NaN where either never varies.

    Clips without a score or a label are left out. Both run from lawful to violating, so a good
    scorer is positive.
    """
    known = np.isfinite(scores) & np.isfinite(violation)
    mine, theirs = (np.where(known, x, 0.0) for x in (scores, violation))
    return correlation(mine, theirs, weights_of(known, weights))


METRIC = Metric(
    name="pearson",
    summary="Linear correlation of scores with the violation people or the damage state.",
    unit="correlation",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=pearson,
)
