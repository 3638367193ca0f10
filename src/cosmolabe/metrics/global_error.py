"""Global error: how far the imagined score, lives, clock ... are off."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def global_error(
    true: Float[np.ndarray, "*batch global"],
    imagined: Float[np.ndarray, "*batch global"],
    counted: Bool[np.ndarray, " global"],
) -> Float[np.ndarray, "*batch"]:
    """Mean over the counted globals of min(1, |Δ| / max(1, |true|)); NaN where none is counted.

    Shares count as they are, points relative to how many there are, and one wild number costs
    at most its part.
    """
    true = true[..., counted].astype(np.float64)
    if true.shape[-1] == 0:
        return np.full(true.shape[:-1], np.nan)
    gap = np.abs(true - imagined[..., counted]) / np.maximum(1.0, np.abs(true))
    return np.minimum(1.0, gap).mean(-1)


METRIC = Metric(
    name="global_error",
    summary="Mean over the game's globals of min(1, |Δ| / max(1, |true|)).",
    unit="share",
    low=0.0,
    high=1.0,
    direction="lower",
    function=global_error,
)
