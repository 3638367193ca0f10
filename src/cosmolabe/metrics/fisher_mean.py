"""Fisher's mean: one correlation out of several sets'."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric

NEAREST = 1.0 - 1e-12  # to a perfect correlation, whose z is endless


def fisher_mean(
    correlations: Float[np.ndarray, "*resample set"],
    weights: Float[np.ndarray, " set"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Weighted mean on the scale of atanh r; sets without a correlation (NaN) are left out.

    Equal weights by default: PhyProbe's 0.458 of 0.596 and 0.293 comes out with those alone. For
    sets of different size n, weights of n − 3 are the usual choice.
    """
    if weights is None:
        weights = np.ones(correlations.shape[-1])
    if (weights < 0).any():
        raise ValueError(f"weights of a mean are not negative; got {weights.tolist()}")
    known = np.isfinite(correlations)
    z = np.arctanh(np.clip(np.where(known, correlations, 0.0), -NEAREST, NEAREST))
    counted = weights * known
    total = counted.sum(-1)
    mean = np.divide(
        (counted * z).sum(-1), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return np.asarray(np.tanh(mean))


METRIC = Metric(
    name="fisher_mean",
    summary="Mean of several sets' correlations on Fisher's z scale.",
    unit="correlation",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=fisher_mean,
)
