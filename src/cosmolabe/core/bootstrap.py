"""Intervals by cluster bootstrap: episodes are drawn again, with all their windows."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.seeds import generator

LEVEL = 0.95
RESAMPLES = 2000  # ours: the ends of a 95 % interval then move by about 2 % of its width
ALONE = 0.2
"""A resample of k clusters misses a given one with chance (1 - 1/k)^k, at least 0.25; it misses two
of them with chance (1 - 2/k)^k, at most 0.14. Between these lies the share of resamples without a
value by which a measure is told that is known of one cluster alone."""


def resamples(
    clusters: np.ndarray, num: int = RESAMPLES, seed: int = 0
) -> Float[np.ndarray, "resample item"]:
    """How often each item stands in each resample: whole clusters are drawn with replacement.

    `clusters` names each item's cluster (windows of one episode are not independent). Fewer than
    two can be drawn in one way only, which tells nothing of how a value varies: no resample at all,
    so `interval` gives NaN.
    """
    _, place = np.unique(clusters, return_inverse=True)
    count = int(place.max(initial=-1)) + 1
    if count < 2:
        return np.zeros((0, len(clusters)))
    drawn = generator("bootstrap", seed).integers(0, count, (num, count))
    cell = drawn + count * np.arange(num)[:, None]
    times = np.bincount(cell.ravel(), minlength=num * count).reshape(num, count)
    return times[:, place.reshape(-1)].astype(np.float64)


def weighted_mean(
    values: Float[np.ndarray, "item ..."], weights: Float[np.ndarray, "resample item"]
) -> Float[np.ndarray, "resample ..."]:
    """Mean over items in each resample; missing (NaN) items are left out, NaN where all are."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat)
    total = weights @ np.where(known, flat, 0.0)
    count = weights @ known.astype(np.float64)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean.reshape(len(weights), *values.shape[1:])


def mean_of_known(values: Float[np.ndarray, " item"]) -> float:
    """Mean of the items that are not missing; NaN where all are."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def interval(samples: Float[np.ndarray, "resample ..."], level: float = LEVEL) -> np.ndarray:
    """Low and high percentile over the resamples, shape (2, *rest).

    NaN where no resample has a value, and where all that have one agree because it is known of one
    cluster alone: it takes two to tell how far a value may vary.
    """
    half = (1.0 - level) / 2.0
    known = np.isfinite(samples)
    ends = np.full((2, *samples.shape[1:]), np.nan)
    if samples.size == 0:
        return ends
    if known.all():
        return np.quantile(samples, (half, 1.0 - half), axis=0)
    for place in np.ndindex(samples.shape[1:]):
        column = samples[(slice(None), *place)]
        column = column[np.isfinite(column)]
        if len(column) and not _of_one_cluster(column, len(samples)):
            ends[(slice(None), *place)] = np.quantile(column, (half, 1.0 - half))
    return ends


def _of_one_cluster(column: Float[np.ndarray, " known"], drawn: int) -> bool:
    agree = np.ptp(column) <= 1e-12 * np.abs(column).max()
    return bool(agree) and len(column) <= (1 - ALONE) * drawn
