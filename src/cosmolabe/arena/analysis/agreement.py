"""How far two raters of the same edits agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosmolabe.arena.analysis.categories import CATEGORIES, TRIVIAL
from cosmolabe.core.bootstrap import interval, resamples
from cosmolabe.metrics.cohens_kappa import cohens_kappa

NAMES = tuple(CATEGORIES)


@dataclass(frozen=True)
class Agreement:
    """Agreement on classes and on the question trivial or not, with intervals by session."""

    kappa: float
    low: float
    high: float
    raw: float
    """Share of edits with the same class."""
    binary_kappa: float
    binary_raw: float
    """Share with the same answer to: trivial or not?"""
    n: int
    unread: int
    """Edits that a rater gave no class; left out."""


def agreement(
    first: Sequence[str], second: Sequence[str], sessions: Sequence[str] | None = None
) -> Agreement:
    """Cohen's κ of two raters; edits of one session are drawn together, all apart without any.

    A class that is not in `CATEGORIES` counts as no answer.
    """
    if len(first) != len(second):
        raise ValueError(
            f"two raters of the same edits; got {len(first)} and {len(second)} classes"
        )
    clusters = np.array(sessions if sessions is not None else range(len(first)))
    one, two = (np.array([_number(name) for name in side], np.int64) for side in (first, second))
    known = (one >= 0) & (two >= 0)
    one, two, clusters = one[known], two[known], clusters[known]
    low, high = interval(cohens_kappa(one, two, resamples(clusters)))
    trivial = [
        np.isin(side, [NAMES.index(n) for n in TRIVIAL]).astype(np.int64) for side in (one, two)
    ]
    raw = [float(np.mean(a == b)) if len(one) else float("nan") for a, b in ((one, two), trivial)]
    return Agreement(
        float(cohens_kappa(one, two)), float(low), float(high), raw[0],
        float(cohens_kappa(trivial[0], trivial[1])), raw[1], int(known.sum()), int((~known).sum()),
    )  # fmt: skip


def confusion(first: Sequence[str], second: Sequence[str]) -> dict[str, dict[str, int]]:
    """How often the second says what where the first says what; only pairs that occur."""
    table: dict[str, dict[str, int]] = {}
    for one, two in zip(first, second, strict=True):
        row = table.setdefault(one, {})
        row[two] = row.get(two, 0) + 1
    return table


def _number(name: str) -> int:
    return NAMES.index(name) if name in NAMES else -1
