"""Field error: are the game's own fields (heading, hits left, lane ...) right?"""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def field_error(
    true: Float[np.ndarray, "*batch slot field"],
    imagined: Float[np.ndarray, "*batch slot field"],
    counted: Bool[np.ndarray, "*#batch slot"],
    fields: Bool[np.ndarray, " field"],
) -> Float[np.ndarray, "*batch"]:
    """Mean over counted slots and used fields of min(1, |Δ| / max(1, |true|)); NaN where none."""
    true = true[..., fields].astype(np.float64)
    if true.shape[-1] == 0:
        return np.full(true.shape[:-2], np.nan)
    gap = np.abs(true - imagined[..., fields]) / np.maximum(1.0, np.abs(true))
    gap = np.where(counted, np.minimum(1.0, gap).mean(-1), 0.0).sum(-1)
    count = np.broadcast_to(counted, true.shape[:-1]).sum(-1)
    return np.divide(gap, count, out=np.full(gap.shape, np.nan), where=count > 0)


METRIC = Metric(
    name="field_error",
    summary="Mean over entities and used fields of min(1, |Δ| / max(1, |true|)).",
    unit="share",
    low=0.0,
    high=1.0,
    direction="lower",
    function=field_error,
)
