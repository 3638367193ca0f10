"""Rogan-Gladen: the true share behind what a judge that errs at known rates calls so."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric


def rogan_gladen(
    share: Float[np.ndarray, "*#any"],
    sensitivity: Float[np.ndarray, "*#any"],
    specificity: Float[np.ndarray, "*#any"],
    clip: bool = True,
) -> Float[np.ndarray, "*any"]:
    """(share + specificity − 1) / (sensitivity + specificity − 1), held in 0..1 unless told not to.

    `share` is what the judge says yes to; sensitivity and specificity are how often it is right
    where the truth is yes, and no. NaN where they sum to 1 or less: such a judge tells nothing.
    Rogan and Gladen 1978.
    """
    told = sensitivity + specificity - 1.0
    above = share + specificity - 1.0
    above, told = np.broadcast_arrays(above, told)
    true = np.divide(above, told, out=np.full(told.shape, np.nan), where=told > 1e-12)
    return np.asarray(np.clip(true, 0.0, 1.0) if clip else true)


METRIC = Metric(
    name="rogan_gladen",
    summary="Share corrected for the judge's own sensitivity and specificity.",
    unit="share",
    low=0.0,
    high=1.0,
    direction="none",
    function=rogan_gladen,
)
