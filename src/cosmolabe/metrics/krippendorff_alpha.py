"""Krippendorff's α: how far any number of raters agree beyond chance, gaps allowed."""

from typing import Literal

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric

Scale = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    ratings: Float[np.ndarray, "item rater"],
    weights: Float[np.ndarray, "*resample item"] | None = None,
    scale: Scale = "nominal",
) -> Float[np.ndarray, "*resample"]:
    """1 − disagreement seen ÷ disagreement expected; NaN ratings are missing.

    Items with fewer than two ratings cannot disagree and are left out. NaN where all ratings are
    one value, or there are none. Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability".
    """
    values = np.unique(ratings[np.isfinite(ratings)])
    votes = (ratings[:, :, None] == values).sum(1).astype(np.float64)
    each = votes.sum(-1)
    paired = each >= 2
    counted = paired.astype(np.float64) if weights is None else weights * paired
    couples = votes[:, :, None] * votes[:, None, :] - votes[:, :, None] * np.eye(len(values))
    couples /= np.maximum(each - 1, 1)[:, None, None]
    together = np.einsum("...i,icd->...cd", counted, couples)
    totals = together.sum(-1)
    apart = _apart(values, totals, scale)
    number = totals.sum(-1)
    seen = (together * apart).sum((-1, -2)) * (number - 1)
    expected = (totals[..., :, None] * totals[..., None, :] * apart).sum((-1, -2))
    share = np.divide(seen, expected, out=np.full(number.shape, np.nan), where=expected > 1e-12)
    return np.asarray(1.0 - share)


def _apart(
    values: Float[np.ndarray, " value"], totals: Float[np.ndarray, "*resample value"], scale: Scale
) -> Float[np.ndarray, "*#resample value value"]:
    """Squared distance of any two values."""
    if scale == "nominal":
        return 1.0 - np.eye(len(values))
    if scale == "interval":
        return np.subtract.outer(values, values) ** 2
    middle = np.cumsum(totals, -1) - totals / 2  # how many ratings lie below a value, ties halved
    return (middle[..., :, None] - middle[..., None, :]) ** 2


METRIC = Metric(
    name="krippendorff_alpha",
    summary="Agreement of several raters beyond chance, with ratings missing.",
    unit="agreement",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=krippendorff_alpha,
)
