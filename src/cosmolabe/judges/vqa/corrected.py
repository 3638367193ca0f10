"""A judge's share corrected for the judge's own errors, with an interval that carries them."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.bootstrap import LEVEL
from cosmolabe.core.proportion import effective_number, quantile_of_normal
from cosmolabe.metrics.rogan_gladen import rogan_gladen

NAN = math.nan


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


def corrected(
    judged: Rate, sensitivity: Rate, specificity: Rate, level: float = LEVEL
) -> Corrected:
    """Rogan-Gladen's estimate with the interval of Lang and Reiczigel.

    The interval adds the variances of all three shares by the delta method, on shares drawn a
    little towards the middle, and shifts by the skew that errors of sensitivity and specificity
    bring (Lang and Reiczigel 2014, Prev. Vet. Med. 113).
    """
    raw, se, sp = judged.share, sensitivity.share, specificity.share
    why = _why_not(judged, sensitivity, specificity)
    if why:
        return Corrected(raw, NAN, NAN, NAN, se, sp, judged.n, why=why)
    value = float(rogan_gladen(*(np.array(x) for x in (raw, se, sp)), clip=False))
    low, high = _interval(judged, sensitivity, specificity, level)
    note = "" if 0 <= value <= 1 else f"{value:.3f} by the formula, held at the end of 0..1"
    held = min(max(value, 0.0), 1.0)
    return Corrected(raw, held, min(low, held), max(high, held), se, sp, judged.n, note)


def _why_not(judged: Rate, sensitivity: Rate, specificity: Rate) -> str:
    if judged.n <= 0:
        return "nothing was judged"
    if sensitivity.n <= 0 or specificity.n <= 0:
        lacking = "true" if sensitivity.n <= 0 else "false"
        return f"the judge was never measured where the answer is {lacking}"
    told = sensitivity.share + specificity.share
    if told <= 1:
        return (
            f"sensitivity {sensitivity.share:.3f} and specificity {specificity.share:.3f} sum to "
            "1 or less: the judge says yes as often to the wrong as to the right"
        )
    return ""


def _interval(
    judged: Rate, sensitivity: Rate, specificity: Rate, level: float
) -> tuple[float, float]:
    z = quantile_of_normal(level)
    n = judged.n + z * z
    p = (judged.n * judged.share + z * z / 2) / n
    n_se, n_sp = sensitivity.n + 2, specificity.n + 2
    se = (sensitivity.n * sensitivity.share + 1) / n_se
    sp = (specificity.n * specificity.share + 1) / n_sp
    told = se + sp - 1
    if told <= 0:
        return 0.0, 1.0
    true = (p + sp - 1) / told
    v_p, v_se, v_sp = p * (1 - p) / n, se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (true * v_se - (1 - true) * v_sp)
    half = z * math.sqrt(v_p + true**2 * v_se + (1 - true) ** 2 * v_sp) / told
    middle = true + shift
    return min(max(middle - half, 0.0), 1.0), min(max(middle + half, 0.0), 1.0)
