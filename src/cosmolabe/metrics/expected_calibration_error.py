"""Expected calibration error: how far stated probabilities are from how often they are right."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric

BINS = 15  # of equal width (Guo et al. 2017, section 2)


def expected_calibration_error(
    probability: Float[np.ndarray, " item"],
    right: Bool[np.ndarray, " item"],
    weights: Float[np.ndarray, "*resample item"] | None = None,
    bins: int = BINS,
) -> Float[np.ndarray, "*resample"]:
    """Σ share of bin · |share right − mean probability|, over bins of equal width.

    A bin holds (k/bins, (k+1)/bins], the first 0 too. `probability` is that of the answer given.
    NaN ones are left out; NaN where all are.
    """
    count, told, hits = _by_bin(probability, right, weights, bins)
    total = count.sum(-1)
    gap = np.abs(hits - told).sum(-1)
    return np.asarray(np.divide(gap, total, out=np.full(total.shape, np.nan), where=total > 0))


def reliability(
    probability: Float[np.ndarray, " item"],
    right: Bool[np.ndarray, " item"],
    bins: int = BINS,
) -> Float[np.ndarray, "bin 3"]:
    """Of each bin: items, mean probability, share right; NaN where it has no item."""
    count, told, hits = _by_bin(probability, right, None, bins)
    mean, share = (
        np.divide(side, count, out=np.full(count.shape, np.nan), where=count > 0)
        for side in (told, hits)
    )
    return np.stack([count, mean, share], -1)


def _by_bin(
    probability: Float[np.ndarray, " item"],
    right: Bool[np.ndarray, " item"],
    weights: Float[np.ndarray, "*resample item"] | None,
    bins: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums by bin of items, probability and right answers."""
    known = np.isfinite(probability)
    told = np.where(known, probability, 0.0)
    if ((told < 0) | (told > 1)).any():
        raise ValueError(f"probabilities lie in 0..1; got {told.min()} to {told.max()}")
    if bins < 1:
        raise ValueError(f"at least one bin; got {bins}")
    counted = known.astype(np.float64) if weights is None else weights * known
    place = np.clip(np.ceil(told * bins) - 1, 0, bins - 1)
    member = (place[:, None] == np.arange(bins)).astype(np.float64)
    return counted @ member, (counted * told) @ member, (counted * right) @ member


METRIC = Metric(
    name="expected_calibration_error",
    summary="Mean distance of stated probability and share right, over bins of probability.",
    unit="probability",
    low=0.0,
    high=1.0,
    direction="lower",
    function=expected_calibration_error,
)
