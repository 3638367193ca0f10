"""AUC: how often a violating clip scores above a lawful one, of all such couples."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import sums_by, weights_of


def auc(
    scores: Float[np.ndarray, " clip"],
    violates: Bool[np.ndarray, " clip"],
    weights: Float[np.ndarray, "*resample clip"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """P(violating > lawful) + ½ P(equal); NaN where one side is empty. NaN scores are left out."""
    known = np.isfinite(scores)
    counted = weights_of(known, weights)
    _, group = np.unique(np.where(known, scores, 0.0), return_inverse=True)
    bad, good = (sums_by(group.reshape(-1), counted * side) for side in (violates, ~violates))
    below = np.cumsum(good, -1) - good
    wins = (bad * (below + good / 2)).sum(-1)
    couples = bad.sum(-1) * good.sum(-1)
    return np.divide(wins, couples, out=np.full(couples.shape, np.nan), where=couples > 0)


METRIC = Metric(
    name="auc",
    summary="Share of couples of a violating and a lawful clip that the scores order rightly.",
    unit="share of couples",
    low=0.0,
    high=1.0,
    direction="higher",
    function=auc,
)
