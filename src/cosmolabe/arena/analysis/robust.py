"""Aggregates over a grid of runs: IQM, probability of improvement, best of k, with intervals.

After Agarwal et al. 2021 (IQM, stratified bootstrap, probability of improvement); written anew,
for their package draws from numpy's global luck whatever seed it is given.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.bootstrap import interval
from cosmolabe.core.seeds import generator

RESAMPLES = 2000
Scores = Mapping[str, Sequence[float | int]]
"""Runs of each cell, by its name."""


def iqm(values: Sequence[float | int] | Float[np.ndarray, " run"]) -> float:
    """Mean of the middle half: a quarter of the runs, rounded down, goes at each end."""
    known = np.sort(_known(values))
    if not len(known):
        return math.nan
    cut = len(known) // 4
    return float(known[cut : len(known) - cut].mean())


def stratified(
    cells: Scores, statistic: Callable[[np.ndarray], float] = iqm, seed: int = 0
) -> tuple[float, float, float]:
    """(value, low, high): runs are drawn again within each cell, the statistic is of all runs.

    A cell of one run never varies: with one seed in some cells the interval is too narrow; say so.
    With one seed in each there is none.
    """
    groups = [g for g in (_known(values) for values in cells.values()) if len(g)]
    if not groups:
        return math.nan, math.nan, math.nan
    dice = generator("stratified", seed)
    drawn = np.concatenate(
        [group[dice.integers(0, len(group), (RESAMPLES, len(group)))] for group in groups], 1
    )
    value = statistic(np.concatenate(groups))
    if max(map(len, groups)) < 2:
        return value, math.nan, math.nan
    low, high = interval(np.array([statistic(row) for row in drawn]))
    return value, float(low), float(high)


def probability_of_improvement(a: Scores, b: Scores, seed: int = 0) -> tuple[float, float, float]:
    """(P, low, high) that a run of b beats a run of a in the same cell; ties count a half.

    The mean over cells that both have of the Mann-Whitney share, runs drawn again within cells.
    """
    shared = [
        (one, two)
        for name in a
        if name in b and len(one := _known(a[name])) and len(two := _known(b[name]))
    ]
    if not shared:
        return math.nan, math.nan, math.nan
    dice = generator("improvement", seed)
    draws = np.zeros(RESAMPLES)
    for one, two in shared:
        mine = one[dice.integers(0, len(one), (RESAMPLES, len(one)))]
        theirs = two[dice.integers(0, len(two), (RESAMPLES, len(two)))]
        draws += _beats(mine, theirs)
    value = np.mean([_beats(one[None], two[None])[0] for one, two in shared])
    if max(len(runs) for both in shared for runs in both) < 2:
        return float(value), math.nan, math.nan
    low, high = interval(draws / len(shared))
    return float(value), float(low), float(high)


def best_of(
    values: Sequence[float | int] | Float[np.ndarray, " run"], most: int | None = None
) -> Float[np.ndarray, " k"]:
    """Expected best of k runs for k = 1..n (or `most`), drawn without putting back: unbiased.

    Σᵢ x₍ᵢ₎ · C(i−1, k−1) / C(n, k) over the sorted runs. A run without a score counts as the worst.
    """
    runs = np.asarray(values, np.float64)
    if not len(_known(runs)):
        return np.full(min(len(runs), most or len(runs)), math.nan)
    runs = np.sort(np.where(np.isfinite(runs), runs, _known(runs).min()))
    n = len(runs)
    curve = np.zeros(min(n, most or n))
    for k in range(1, len(curve) + 1):
        weight = 1.0 * k / n  # of the largest: C(n−1, k−1) / C(n, k)
        for place in range(n, k - 1, -1):
            curve[k - 1] += weight * runs[place - 1]
            weight *= (place - k) / (place - 1) if place > 1 else 0.0
    return curve


def expected_gain_of_best(k: int, sd: float) -> float:
    """What the best of k equal Gaussian runs of this spread gains over their mean: luck alone.

    k = 18 at 0.049 gives 0.089, k = 24 gives 0.096.
    """
    from scipy import integrate, stats

    if k < 1:
        raise ValueError(f"best of k needs k ≥ 1; got {k}")

    def weighed(x: float) -> float:
        return x * k * stats.norm.pdf(x) * stats.norm.cdf(x) ** (k - 1)

    return sd * float(integrate.quad(weighed, -10, 10)[0])


def fixed_k(a: Scores, b: Scores, k: int) -> dict[str, float]:
    """B − a of the expected best of k in each cell both have k runs of: no one tries more often."""
    return {
        name: float(best_of(b[name], k)[-1] - best_of(a[name], k)[-1])
        for name in a
        if name in b and min(len(a[name]), len(b[name])) >= k
    }


def best_so_far(
    spent: Sequence[float | int], scores: Sequence[float | int]
) -> list[tuple[float, float]]:
    """(spent, best score until then), a step each time it rises; NaN never is the best."""
    steps: list[tuple[float, float]] = []
    best, total = -math.inf, 0.0
    for cost, score in zip(spent, scores, strict=True):
        total += cost if math.isfinite(cost) else 0.0
        if score > best:
            best = score
            steps.append((total, best))
    return steps


def _known(values: Sequence[float | int] | np.ndarray) -> np.ndarray:
    values = np.asarray(values, np.float64).ravel()
    return values[np.isfinite(values)]


def _beats(
    mine: Float[np.ndarray, "draw one"], theirs: Float[np.ndarray, "draw two"]
) -> Float[np.ndarray, " draw"]:
    apart = theirs[:, None, :] - mine[:, :, None]
    return ((apart > 0) + 0.5 * (apart == 0)).mean((1, 2))
