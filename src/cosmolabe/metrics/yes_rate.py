"""Yes-rate: how often the answer is yes where it is yes or no."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def yes_rate(
    yes: Bool[np.ndarray, " item"],
    read: Bool[np.ndarray, " item"],
    weights: Float[np.ndarray, "*resample item"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Share of yes among replies `read` as yes or no; NaN where none was.

    Unlike accuracy it leaves out what could not be read, which is neither; the share read stands
    beside it.
    """
    counted = read.astype(np.float64) if weights is None else weights * read
    total = np.asarray(counted.sum(-1))
    said = (counted * yes).sum(-1)
    return np.asarray(np.divide(said, total, out=np.full(total.shape, np.nan), where=total > 0))


METRIC = Metric(
    name="yes_rate",
    summary="Share of yes among the answers that are yes or no.",
    unit="share of answers",
    low=0.0,
    high=1.0,
    direction="none",
    function=yes_rate,
)
