"""Level distribution: where the scores of the clips of each human rating lie."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric

SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""The quantiles given for each level, after its mean."""


def level_distribution(
    scores: Float[np.ndarray, " clip"],
    level: Float[np.ndarray, " clip"],
    levels: Float[np.ndarray, " level"],
) -> Float[np.ndarray, "level statistic"]:
    """Mean and quantiles (`SHARES`) of the scores at each level; NaN where a level has none."""
    out = np.full((len(levels), 1 + len(SHARES)), np.nan)
    for place, one in enumerate(levels):
        mine = scores[(level == one) & np.isfinite(scores)]
        if len(mine):
            out[place] = [mine.mean(), *np.quantile(mine, SHARES)]
    return out


METRIC = Metric(
    name="level_distribution",
    summary="Mean and quantiles of the scores of the clips of each human rating.",
    unit="score",
    low=-1e9,  # raw scores have no bounds; what is past these is a fault
    high=1e9,
    direction="none",
    function=level_distribution,
)
