"""Intervals of a share, and how much less items tell that come in clusters."""

import math
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from cosmolabe.core.bootstrap import LEVEL


def quantile_of_normal(level: float = LEVEL) -> float:
    """How many standard deviations a two-sided interval of this level reaches."""
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(hits: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval of hits ÷ n; NaN where n is 0. Takes items to be independent."""
    if n <= 0:
        return math.nan, math.nan
    z = quantile_of_normal(level)
    share, spread = hits / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def effective_number(values: Float[np.ndarray, " item"], clusters: np.ndarray) -> float:
    """As how many independent items these 0s and 1s count: n ÷ design effect.

    The design effect is the variance of the mean by clusters over that by items, 1 at least.
    Where all values are equal nothing can be measured, and clusters count as one item each.
    """
    n, share = len(values), float(np.mean(values)) if len(values) else math.nan
    names, place = np.unique(clusters, return_inverse=True)
    if len(names) < 2 or share in (0.0, 1.0):
        return float(min(n, len(names)))
    sums = np.bincount(place.reshape(-1), values - share, len(names))
    by_cluster = float(np.square(sums).sum()) / n**2 * len(names) / (len(names) - 1)
    effect = by_cluster / (share * (1 - share) / (n - 1))
    return n / max(1.0, effect)
