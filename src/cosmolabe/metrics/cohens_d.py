"""Cohen's d: how many spreads lie between the scores of violating and of lawful clips."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric
from cosmolabe.core.weighted import weights_of


def cohens_d(
    scores: Float[np.ndarray, " clip"],
    violates: Bool[np.ndarray, " clip"],
    weights: Float[np.ndarray, "*resample clip"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """(mean violating − mean lawful) / pooled standard deviation, each with n − 1.

    NaN where a side has fewer than two clips or nothing varies. NaN scores are left out.
    """
    known = np.isfinite(scores)
    counted = weights_of(known, weights)
    values = np.where(known, scores, 0.0)
    means, squares, counts = [], [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for side in (violates, ~violates):
            mine = counted * side
            count = mine.sum(-1)
            mean = (mine * values).sum(-1) / count
            squares.append((mine * (values - mean[..., None]) ** 2).sum(-1))
            means.append(mean)
            counts.append(count)
        pooled = np.sqrt((squares[0] + squares[1]) / (counts[0] + counts[1] - 2))
        d = (means[0] - means[1]) / pooled
    enough = (np.minimum(*counts) >= 2) & (pooled > 1e-12)
    return np.where(enough, d, np.nan)


METRIC = Metric(
    name="cohens_d",
    summary="Gap of the mean scores of violating and lawful clips, in pooled standard deviations.",
    unit="standard deviations",
    low=-1e9,  # it has no bounds; what is past these is a fault
    high=1e9,
    direction="higher",
    function=cohens_d,
)
