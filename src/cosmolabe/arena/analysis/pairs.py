"""Tests of paired differences: is there one, is there none to speak of, how often is one better?

Golden numbers and cross-checks stand in `tests/arena/test_statistics.py` and
`tests/slow/test_statistic_peers.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from scipy import stats

from cosmolabe.bench.significance import sign_flip_p
from cosmolabe.core.bootstrap import LEVEL
from cosmolabe.core.seeds import generator

POWER_RUNS = 2000
LEAST = 2
"""Pairs below which nothing is tested."""


@dataclass(frozen=True)
class Paired:
    """What is known of differences b − a of the same cells."""

    n: int
    mean: float
    sd: float
    low: float
    high: float
    """95 % interval of the mean: bias-corrected, accelerated bootstrap over cells."""
    median: float
    better: int
    worse: int
    sign_p: float
    """Two-sided binomial test of better against worse, ties left out."""
    wilcoxon_p: float
    """Signed ranks with Pratt's zeros."""
    flip_p: float
    """Sign-flip permutation of the mean."""
    d: float
    """Mean over standard deviation of the differences."""
    power: float
    """Of the signed-rank test at a true d of 0.5 for so many pairs; see `power`."""


def paired(
    differences: Sequence[float | int] | Float[np.ndarray, " pair"], seed: int = 0
) -> Paired:
    """Test differences of pairs; NaN are left out. Of fewer than two only the mean is known."""
    x = np.asarray(differences, np.float64)
    x = x[np.isfinite(x)]
    nan = math.nan
    if len(x) < LEAST:
        mean = float(x.mean()) if len(x) else nan
        return Paired(
            len(x), mean, nan, nan, nan, mean, int((x > 0).sum()), int((x < 0).sum()),
            nan, nan, nan, nan, nan,
        )  # fmt: skip
    better, worse, sd = int((x > 0).sum()), int((x < 0).sum()), float(x.std(ddof=1))
    low, high = bca(x, seed)
    return Paired(
        n=len(x),
        mean=float(x.mean()),
        sd=sd,
        low=low,
        high=high,
        median=float(np.median(x)),
        better=better,
        worse=worse,
        sign_p=sign_p(better, worse),
        wilcoxon_p=wilcoxon_p(x),
        flip_p=sign_flip_p(x, seed),
        d=float(x.mean()) / sd if sd else nan,
        power=power(len(x), 0.5),
    )


def sign_p(better: int, worse: int) -> float:
    """Two-sided binomial test; 19 against 13 gives 0.377."""
    return float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0


def wilcoxon_p(differences: Float[np.ndarray, " pair"]) -> float:
    """Two-sided signed ranks; zeros are ranked and then left out (Pratt 1959)."""
    if not np.any(differences):
        return 1.0
    return float(
        stats.wilcoxon(differences, zero_method="pratt", method=_method(differences)).pvalue
    )


def _method(x: np.ndarray) -> str:
    """Exact where no two sizes are equal and none is zero, else the normal approximation."""
    sizes = np.abs(x)
    plain = len(np.unique(sizes)) == len(sizes) and sizes.min() > 0
    return "exact" if plain and len(x) <= 50 else "approx"


def bca(
    values: Float[np.ndarray, " item"], seed: int = 0, resamples: int = 5000
) -> tuple[float, float]:
    """95 % interval of the mean by the bias-corrected, accelerated bootstrap; see scipy."""
    if len(values) < LEAST:
        return math.nan, math.nan
    if not np.ptp(values):
        return float(values[0]), float(values[0])
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=resamples, confidence_level=LEVEL, method="BCa",
        rng=generator("bca", seed),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided t tests that the mean difference lies within ± margin."""

    margin: float
    p: float
    """The larger of the two: below 0.05 the means are the same to within the margin."""
    low_p: float
    high_p: float
    n: int
    power: float
    """If the true difference were 0 and the spread as seen."""


def equivalence(
    differences: Sequence[float | int] | Float[np.ndarray, " pair"], margin: float
) -> Equivalence:
    """TOST of paired differences (Schuirmann 1987); `margin` is registered before the run."""
    if not margin > 0:
        raise ValueError(f"a margin of equivalence is above 0; got {margin}")
    x = np.asarray(differences, np.float64)
    x = x[np.isfinite(x)]
    if len(x) < LEAST:
        return Equivalence(margin, math.nan, math.nan, math.nan, len(x), math.nan)
    sd = float(x.std(ddof=1))
    if not sd:
        inside = float(abs(x.mean()) >= margin)
        return Equivalence(margin, inside, inside, inside, len(x), math.nan)
    low = float(stats.ttest_1samp(x, -margin, alternative="greater").pvalue)
    high = float(stats.ttest_1samp(x, margin, alternative="less").pvalue)
    return Equivalence(margin, max(low, high), low, high, len(x), tost_power(len(x), sd, margin))


def tost_power(n: int, sd: float, margin: float, level: float = 0.05) -> float:
    """Chance that TOST holds at a true difference of 0, exactly.

    Both tests hold where |mean| < margin − t·s/√n; the mean is normal and s² is χ² apart from it.
    """
    if n < LEAST or not sd > 0:
        return math.nan
    t = stats.t.ppf(1 - level, n - 1)
    widest = margin * math.sqrt(n) / t  # of s, beyond which no mean is near enough
    grid = np.linspace(0, widest, 2001)[1:]
    density = stats.chi.pdf(grid / sd * math.sqrt(n - 1), n - 1) * math.sqrt(n - 1) / sd
    reach = (margin - t * grid / math.sqrt(n)) / (sd / math.sqrt(n))
    return float(np.trapezoid(density * (2 * stats.norm.cdf(reach) - 1), grid))


@cache
def power(n: int, d: float, level: float = 0.05, seed: int = 0) -> float:
    """Chance that the signed-rank test sees a true mean of d standard deviations, simulated.

    At n = 32: about 0.2 for d = 0.2, 0.36 for 0.3, 0.75 for 0.5.
    """
    if n < LEAST:
        return math.nan
    draws = generator("power", n, str(d), seed).normal(d, 1.0, (POWER_RUNS, n))
    ranks = np.argsort(np.argsort(np.abs(draws), 1), 1) + 1.0
    total = (ranks * (draws > 0)).sum(1)
    mean, spread = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    p = 2 * stats.norm.sf(np.abs(total - mean) / spread)
    return float(np.mean(p < level))
