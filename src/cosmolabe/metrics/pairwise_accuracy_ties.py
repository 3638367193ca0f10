"""Pairwise accuracy with ties: better, worse or equal, where equal means nearly the same score."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import quantile, sums_by, weights_of

SHARE = 0.2
"""|difference| under this quantile of all is a tie (PhyProbe: the 20th percentile)."""
SWEEP = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
"""PhyProbe's sensitivity range."""


def pairwise_accuracy_ties(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
    share: float = SHARE,
    weights: Float[np.ndarray, "*resample pair"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Three-way accuracy where |difference| ≤ τ is a tie; a higher score is worse.

    τ is the `share` quantile of |difference| over the pairs themselves, so no label is used. All
    pairs of one |difference| fall on the same side of it. Pairs without a score are left out.
    """
    gap = first - second
    counted = weights_of(np.isfinite(gap), weights)
    far = np.nan_to_num(np.abs(gap))
    threshold = quantile(far, counted, share)
    told = np.where(far <= threshold[..., None], 0.0, np.sign(np.nan_to_num(gap)))
    right = (counted * (told == np.sign(p_first_worse - 0.5))).sum(-1)
    total = counted.sum(-1)
    return np.divide(right, total, out=np.full(total.shape, np.nan), where=total > 0)


def tie_rates(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
    share: float = SHARE,
) -> tuple[float, float, float]:
    """τ, the share of pairs it calls ties, and the share people do.

    Scores of few levels have many equal differences, and then the first share exceeds `share`.
    """
    known = np.isfinite(first - second)
    if not known.any():
        return (np.nan, np.nan, np.nan)
    far = np.abs(first - second)[known]
    threshold = float(np.quantile(far, share))
    return threshold, float((far <= threshold).mean()), float((p_first_worse[known] == 0.5).mean())


def tie_sweep(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
    shares: Sequence[float] = SWEEP,
) -> Float[np.ndarray, " share"]:
    """The accuracy at each share of ties."""
    every = [pairwise_accuracy_ties(first, second, p_first_worse, share) for share in shares]
    return np.array(every, np.float64)


def best_threshold(
    first: Float[np.ndarray, " pair"],
    second: Float[np.ndarray, " pair"],
    p_first_worse: Float[np.ndarray, " pair"],
) -> tuple[float, float]:
    """The threshold that knows the labels, and its accuracy (Deutsch et al., arXiv 2305.14324).

    Whole groups of equal |difference| change sides together; scored half-way through a group, a
    scorer of few levels looks better than any threshold can make it. The smallest of equally good
    thresholds is given; 0 calls only equal scores a tie.
    """
    gap = first - second
    known = np.isfinite(gap)
    gap, lean = gap[known], np.sign(p_first_worse[known] - 0.5)
    if not len(gap):
        return np.nan, np.nan
    levels, group = np.unique(np.append(np.abs(gap), 0.0), return_inverse=True)
    ones = np.append(np.ones(len(gap)), 0.0)  # the added 0 is a level, not a pair
    ties = np.cumsum(sums_by(group.reshape(-1), ones * np.append(lean == 0, False)))
    ordered = np.append((np.sign(gap) == lean) & (lean != 0), False)
    passed = np.cumsum(sums_by(group.reshape(-1), ones * ordered))
    right = ties + (passed[-1] - passed)
    best = int(np.argmax(right))
    return float(levels[best]), float(right[best] / len(gap))


METRIC = Metric(
    name="pairwise_accuracy_ties",
    summary="Share of pairs told better, worse or equal as people did.",
    unit="share of pairs",
    low=0.0,
    high=1.0,
    direction="higher",
    function=pairwise_accuracy_ties,
)
