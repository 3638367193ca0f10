"""Spearman's ρ: whether scores rank clips as people or the true damage do."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import correlation, midranks, weights_of


def spearman(
    scores: Float[np.ndarray, " clip"],
    violation: Float[np.ndarray, " clip"],
    weights: Float[np.ndarray, "*resample clip"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Correlation of the ranks, equal values sharing theirs; NaN where either never varies.

    Clips without a score or a label are left out. Both run from lawful to violating, so a good
    scorer is positive.
    """
    known = np.isfinite(scores) & np.isfinite(violation)
    counted = weights_of(known, weights)
    ranks = (midranks(np.where(known, x, 0.0), counted) for x in (scores, violation))
    return correlation(*ranks, counted)


METRIC = Metric(
    name="spearman",
    summary="Rank correlation of scores with the violation people or the damage state.",
    unit="correlation",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=spearman,
)
