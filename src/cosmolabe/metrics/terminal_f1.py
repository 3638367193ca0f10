"""Terminal F1: does the model know when the game is over?"""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def terminal_f1(
    true: Bool[np.ndarray, "..."], logit: Float[np.ndarray, "..."]
) -> Float[np.ndarray, ""]:
    """Micro F1 over all given states, positive where the logit is above 0.

    It is 1 where neither side has positives, so read it beside the number of true endings.
    """
    imagined = logit > 0
    hits = 2.0 * (true & imagined).sum()
    total = hits + (true ^ imagined).sum()
    return np.asarray(hits / total if total else 1.0)


METRIC = Metric(
    name="terminal_f1",
    summary="Micro F1 of the episode being over.",
    unit="share",
    low=0.0,
    high=1.0,
    direction="higher",
    function=terminal_f1,
)
