"""Ranks, quantiles and correlations of items that count several times, as in a bootstrap.

Weights are how often an item stands in the sample: whole numbers, 0 leaves it out. Each function
gives what it would on the list written out in full; leading axes of the weights are resamples.
"""

import numpy as np
from jaxtyping import Bool, Float

ROUNDING = 1e-24
"""Share of the squares that is no variation but what rounding leaves of a constant."""


def weights_of(
    known: Bool[np.ndarray, " item"], weights: Float[np.ndarray, "*resample item"] | None
) -> Float[np.ndarray, "*resample item"]:
    """Each item once where none are given; items that are not known not at all."""
    return known.astype(np.float64) if weights is None else weights * known


def midranks(
    values: Float[np.ndarray, " item"], weights: Float[np.ndarray, "*resample item"]
) -> Float[np.ndarray, "*resample item"]:
    """Rank from 1 of each item's value; equal values share the mean of their ranks."""
    _, group = np.unique(values, return_inverse=True)
    per_group = sums_by(group.reshape(-1), weights)
    before = np.cumsum(per_group, -1) - per_group
    return (before + (per_group + 1) / 2)[..., group.reshape(-1)]


def sums_by(
    group: np.ndarray, weights: Float[np.ndarray, "*resample item"]
) -> Float[np.ndarray, "*resample group"]:
    """Sum of the weights of each group; groups are numbered from 0 without gaps."""
    if not len(group):
        return np.zeros((*weights.shape[:-1], 0))
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.add.reduceat(weights[..., order], starts, axis=-1)


def quantile(
    values: Float[np.ndarray, " item"], weights: Float[np.ndarray, "*resample item"], share: float
) -> Float[np.ndarray, "*resample"]:
    """Linearly interpolated quantile, numpy's default; NaN where nothing counts."""
    order = np.argsort(values, kind="stable")
    ranked, reach = values[order], np.cumsum(weights[..., order], -1)
    total = reach[..., -1] if len(order) else np.zeros(weights.shape[:-1])
    place = np.asarray(share * (total - 1))
    below = np.asarray(np.floor(place))
    low, high = _at(ranked, reach, below), _at(ranked, reach, np.asarray(np.ceil(place)))
    return np.where(total > 0, low + (high - low) * (place - below), np.nan)


def correlation(
    x: Float[np.ndarray, "*#resample item"],
    y: Float[np.ndarray, "*#resample item"],
    weights: Float[np.ndarray, "*resample item"],
) -> Float[np.ndarray, "*resample"]:
    """Pearson's r; NaN where either does not vary."""
    total = weights.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        dx = x - (weights * x).sum(-1, keepdims=True) / total
        dy = y - (weights * y).sum(-1, keepdims=True) / total
        both, xx, yy = ((weights * p).sum(-1) for p in (dx * dy, dx * dx, dy * dy))
        flat = (xx <= ROUNDING * (weights * x * x).sum(-1)) | (
            yy <= ROUNDING * (weights * y * y).sum(-1)
        )
        r = both / np.sqrt(xx * yy)
    return np.where(flat, np.nan, np.clip(r, -1, 1))


def _at(
    ranked: Float[np.ndarray, " item"],
    reach: Float[np.ndarray, "*resample item"],
    place: Float[np.ndarray, "*resample"],
) -> Float[np.ndarray, "*resample"]:
    """The value at a place (from 0) of the list written out."""
    if not len(ranked):
        return np.full(place.shape, np.nan)
    index = (reach <= np.maximum(place, 0)[..., None]).sum(-1)
    return np.asarray(ranked[np.minimum(index, len(ranked) - 1)])
