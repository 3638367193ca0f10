"""Is a difference more than luck? A permutation test over episodes, corrected for many tests."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.seeds import generator

FLIPS = 10_000  # sign flips of the permutation test (ours): the smallest p is 1e-4
MOST_AT_ONCE = 1 << 22  # signs held at once
WORD = 4  # signs the generator draws from one word: whole words make pieces equal to the whole


def holm(p: Sequence[float]) -> Float[np.ndarray, " row"]:
    """Holm's step-down correction; NaN stays NaN and counts for nothing."""
    values = np.array(p, np.float64)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    out = np.full(len(values), np.nan)
    out[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return out


def sign_flip_p(sums: Float[np.ndarray, " cluster"], seed: int = 0) -> float:
    """Two-sided p of the sum of differences when each cluster's sign were a coin's."""
    if not len(sums) or not np.any(sums):
        return 1.0
    dice, hits = generator("sign flips", seed), 0
    step = max(1, MOST_AT_ONCE // len(sums) // WORD) * WORD
    for first in range(0, FLIPS, step):
        signs = dice.integers(0, 2, (min(step, FLIPS - first), len(sums)), np.int8)
        flipped = np.abs((2.0 * signs - 1.0) @ sums)
        hits += int(np.count_nonzero(flipped >= abs(sums.sum()) * (1 - 1e-12)))
    return (1 + hits) / (1 + FLIPS)
