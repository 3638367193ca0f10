"""Cohen's κ: how far two raters agree beyond chance."""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.metric import Metric

Scale = Literal["nominal", "linear", "quadratic"]


def cohens_kappa(
    first: Int[np.ndarray, " item"],
    second: Int[np.ndarray, " item"],
    weights: Float[np.ndarray, "*resample item"] | None = None,
    scale: Scale = "nominal",
) -> Float[np.ndarray, "*resample"]:
    """1 − disagreement seen ÷ disagreement expected of two who do not look.

    Ratings number ordered grades from 0; an item with one below 0 is left out. `scale` says how
    much a disagreement weighs: 1, |i − j| or its square (Cohen 1960, 1968). NaN where both only
    ever give one and the same grade: chance then agrees as well; say the raw agreement beside it.
    """
    known = (first >= 0) & (second >= 0)
    counted = known.astype(np.float64) if weights is None else weights * known
    grades = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    mine, theirs = (
        (side[:, None] == np.arange(grades)).astype(np.float64) for side in (first, second)
    )
    cost = _cost(grades, scale)
    each = np.einsum("ic,cd,id->i", mine, cost, theirs)
    total = counted.sum(-1)
    seen = (counted * each).sum(-1) * total
    expected = np.einsum("...c,cd,...d->...", counted @ mine, cost, counted @ theirs)
    kappa = np.divide(seen, expected, out=np.full(expected.shape, np.nan), where=expected > 1e-12)
    return np.asarray(1.0 - kappa)


def _cost(grades: int, scale: Scale) -> Float[np.ndarray, "grade grade"]:
    apart = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(np.float64)
    return {"nominal": np.minimum(apart, 1.0), "linear": apart, "quadratic": apart**2}[scale]


METRIC = Metric(
    name="cohens_kappa",
    summary="Agreement of two raters beyond chance, by grade or weighted by distance.",
    unit="agreement",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=cohens_kappa,
)
