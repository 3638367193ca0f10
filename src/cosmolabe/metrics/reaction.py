"""Reaction: does one different decision change the imagined future as it changes the true one?"""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric


def reaction(
    true: Float[np.ndarray, "batch step channel"], imagined: Float[np.ndarray, "batch step channel"]
) -> Float[np.ndarray, " batch"]:
    """⟨t, m⟩ ÷ max(‖t‖², ‖m‖²) of the true difference t and the imagined difference m.

    Each is scenario minus twin, over all steps. 1 where both are equal, a where m = a·t or t = a·m
    with 0 < a < 1, 0 where nothing reacts, negative where it reacts the wrong way. NaN where the
    truth does not react.
    """
    t = true.reshape(len(true), -1).astype(np.float64)
    m = imagined.reshape(len(imagined), -1).astype(np.float64)
    truth, size = (t * t).sum(1), (m * m).sum(1)
    most = np.maximum(truth, size)
    likeness = np.divide((t * m).sum(1), most, out=np.full(len(t), np.nan), where=most > 0)
    return np.where(truth > 0, likeness, np.nan)


METRIC = Metric(
    name="reaction",
    summary="Likeness of the imagined and the true difference that one other decision makes.",
    unit="likeness",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=reaction,
)
