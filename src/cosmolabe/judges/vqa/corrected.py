"""A judge's share corrected for the judge's own errors, with an interval that carries them."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.bootstrap import LEVEL
from cosmolabe.core.proportion import effective_number, quantile_of_normal
from cosmolabe.metrics.rogan_gladen import rogan_gladen

NAN = math.nan
REFUTED = 0.999
"""Level beyond which a share outside 0..1 says that the judge errs otherwise here (ours)."""


@dataclass(frozen=True)
class Rate:
    """A share and the number of independent items it rests on."""

    share: float
    n: float

    def __post_init__(self) -> None:
        if self.n > 0 and not 0 <= self.share <= 1:
            raise ValueError(f"a share lies in 0..1; got {self.share}")


@dataclass(frozen=True)
class Corrected:
    """Raw and corrected share; NaN where it cannot be had, and `why`."""

    raw: float
    value: float
    low: float
    high: float
    sensitivity: float
    specificity: float
    n: float
    note: str = ""
    """Where the value was outside 0..1 and is held at its end."""
    why: str = ""
    """Why there is none."""


def rate(values: Bool[np.ndarray, " item"], clusters: np.ndarray | None = None) -> Rate:
    """The share of true values; items of one cluster (clip) count as the fewer they are worth."""
    floats = values.astype(np.float64)
    if not len(floats):
        return Rate(NAN, 0.0)
    n = float(len(floats)) if clusters is None else effective_number(floats, clusters)
    return Rate(float(floats.mean()), n)


def rates_of(
    said: Bool[np.ndarray, " item"],
    truth: Bool[np.ndarray, " item"],
    clusters: np.ndarray | None = None,
) -> tuple[Rate, Rate]:
    """Sensitivity and specificity of a judge on items of known truth."""
    sides = ((truth, said), (~truth, ~said))
    sensitivity, specificity = (
        rate(right[side], None if clusters is None else clusters[side]) for side, right in sides
    )
    return sensitivity, specificity


def told_apart(
    sensitivity: Rate, specificity: Rate, level: float = LEVEL
) -> tuple[float, float, float]:
    """Sensitivity + specificity − 1 with its interval: 0 is chance, 1 is never wrong.

    NaN where either was never measured.
    """
    if sensitivity.n <= 0 or specificity.n <= 0:
        return NAN, NAN, NAN
    (se, v_se), (sp, v_sp) = _drawn_in(sensitivity), _drawn_in(specificity)
    half = quantile_of_normal(level) * math.sqrt(v_se + v_sp)
    value = sensitivity.share + specificity.share - 1
    low, high = se + sp - 1 - half, se + sp - 1 + half
    return value, min(value, max(low, -1.0)), max(value, min(high, 1.0))


def chance(sensitivity: Rate, specificity: Rate, level: float = LEVEL) -> str:
    """Why a judge tells right from wrong no better than chance would; empty where it does."""
    value, low, high = told_apart(sensitivity, specificity, level)
    if not (value <= 0 or low <= 0):
        return ""
    se, sp = sensitivity.share, specificity.share
    return (
        f"the judge is at chance: its sensitivity {se:.3f} and specificity {sp:.3f} sum to "
        f"{value + 1:.3f} ({low + 1:.3f} to {high + 1:.3f}), and 1 is what guessing brings"
    )


def corrected(
    judged: Rate, sensitivity: Rate, specificity: Rate, level: float = LEVEL
) -> Corrected:
    """Rogan-Gladen's estimate with Fieller's interval.

    The interval holds every true share that fits all three numbers (Fieller 1954), on shares
    drawn a little towards the middle. There is none, and no value, where the judge cannot be told
    from chance, or where no true share at all fits what it said.
    """
    raw, se, sp = judged.share, sensitivity.share, specificity.share
    why = _why_not(judged, sensitivity, specificity, level)
    if why:
        return Corrected(raw, NAN, NAN, NAN, se, sp, judged.n, why=why)
    value = float(rogan_gladen(*(np.array(x) for x in (raw, se, sp)), clip=False))
    low, high = _interval(judged, sensitivity, specificity, level)
    held, note = min(max(value, 0.0), 1.0), ""
    if held != value:
        note = f"{value:.3f} by the formula, held at the end of 0..1"
        there = Rate(1 - sp if value < 0 else se, judged.n)  # no surer than at the end itself
        at_end = _interval(there, sensitivity, specificity, level)
        low, high = min(low, at_end[0]), max(high, at_end[1])
    low, high = min(max(low, 0.0), held), max(min(high, 1.0), held)
    return Corrected(raw, held, low, high, se, sp, judged.n, note)


def _why_not(judged: Rate, sensitivity: Rate, specificity: Rate, level: float) -> str:
    if judged.n <= 0:
        return "nothing was judged"
    if sensitivity.n <= 0 or specificity.n <= 0:
        lacking = "true" if sensitivity.n <= 0 else "false"
        return f"the judge was never measured where the answer is {lacking}"
    if why := chance(sensitivity, specificity, level):
        return why
    low, high = _interval(judged, sensitivity, specificity, REFUTED)
    if high < 0 or low > 1:
        return (
            f"the judge said yes to {judged.share:.3f} of them, where its sensitivity "
            f"{sensitivity.share:.3f} and specificity {specificity.share:.3f} allow "
            f"{1 - specificity.share:.3f} to {sensitivity.share:.3f}: it errs otherwise on these "
            "than on what it was measured on"
        )
    return ""


def _drawn_in(rate: Rate) -> tuple[float, float]:
    """A rate with one hit and one miss added, and its variance."""
    n = rate.n + 2
    share = (rate.n * rate.share + 1) / n
    return share, share * (1 - share) / n


def _interval(
    judged: Rate, sensitivity: Rate, specificity: Rate, level: float
) -> tuple[float, float]:
    """The true shares x with |p + sp − 1 − x (se + sp − 1)| ≤ z times its spread; may leave 0..1.

    Without end where the judge cannot be told from chance at this level.
    """
    square = quantile_of_normal(level) ** 2
    n = judged.n + square
    p = (judged.n * judged.share + square / 2) / n
    (se, v_se), (sp, v_sp), v_p = _drawn_in(sensitivity), _drawn_in(specificity), p * (1 - p) / n
    told, above = se + sp - 1, p + sp - 1
    a = told**2 - square * (v_se + v_sp)
    if told <= 0 or a <= 0:
        return -math.inf, math.inf
    half_b = told * above - square * v_sp
    c = above**2 - square * (v_p + v_sp)
    root = math.sqrt(max(half_b**2 - a * c, 0.0))
    return (half_b - root) / a, (half_b + root) / a
