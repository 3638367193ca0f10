"""A difference of two runs in one measure: what a comparison records and its page shows."""

from dataclasses import dataclass
from typing import Literal, get_args

Verdict = Literal["better", "worse", "unclear", "same"]
"""`same`: no change that matters; `unclear`: not told apart."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Difference:
    """B (after) minus A (before) on the same windows, with its 95 % interval."""

    game: str
    metric: str
    horizon: int | None
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    """Sign-flip permutation test over episodes, two-sided."""
    p_holm: float
    """Corrected for all rows of the table (Holm)."""
    p_wilcoxon: float
    """Signed ranks of the episodes' differences, beside the test that decides."""
    n: int | None = None
    """Windows in both runs; None where a record does not say."""
    verdict: Verdict = "unclear"
