"""Alive F1: does the model know which entities live?"""

import numpy as np
from jaxtyping import Bool, Float, Num

from cosmolabe.core.metric import Metric


def alive_counts(
    true: Bool[np.ndarray, "*batch slot"],
    imagined: Bool[np.ndarray, "*batch slot"],
    counted: Bool[np.ndarray, "*#batch slot"],
) -> tuple[Num[np.ndarray, "*batch"], Num[np.ndarray, "*batch"], Num[np.ndarray, "*batch"]]:
    """Hits, false alarms and misses among the counted slots; the positive class is alive."""
    hits = (true & imagined & counted).sum(-1)
    false_alarms = (~true & imagined & counted).sum(-1)
    misses = (true & ~imagined & counted).sum(-1)
    return hits, false_alarms, misses


def f1_of_counts(
    hits: Num[np.ndarray, "*batch"],
    false_alarms: Num[np.ndarray, "*batch"],
    misses: Num[np.ndarray, "*batch"],
) -> Float[np.ndarray, "*batch"]:
    """2 hits / (2 hits + false alarms + misses); 1 where neither side has positives."""
    double = 2.0 * np.asarray(hits, np.float64)
    total = double + false_alarms + misses
    return np.divide(double, total, out=np.ones(total.shape), where=total > 0)


def alive_f1(
    true: Bool[np.ndarray, "*batch slot"],
    imagined: Bool[np.ndarray, "*batch slot"],
    counted: Bool[np.ndarray, "*#batch slot"],
) -> Float[np.ndarray, "*batch"]:
    """Micro F1 over the counted slots of each item of the batch."""
    return f1_of_counts(*alive_counts(true, imagined, counted))


METRIC = Metric(
    name="alive_f1",
    summary="Micro F1 of being alive over the counted entities.",
    unit="share",
    low=0.0,
    high=1.0,
    direction="higher",
    function=alive_f1,
)
