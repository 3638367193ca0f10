"""Rule consistency: the share of a scenario's rules that hold in what was imagined."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def rule_consistency(
    kept: Bool[np.ndarray, "*batch rule"] | Float[np.ndarray, "*batch rule"],
) -> Float[np.ndarray, "*batch"]:
    """Share of the rules that hold in each rollout."""
    return kept.astype(np.float64).mean(-1)


METRIC = Metric(
    name="rule_consistency",
    summary="Share of the scenarios' rules that hold in the imagined continuations.",
    unit="share of rules",
    low=0.0,
    high=1.0,
    direction="higher",
    function=rule_consistency,
)
