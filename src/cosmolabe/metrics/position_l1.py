"""Position L1: how far imagined entities stand from the true ones, |Δx| + |Δy|."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.metric import Metric


def distances(
    true: Float[np.ndarray, "*batch slot 2"],
    imagined: Float[np.ndarray, "*batch slot 2"],
    wrap: Bool[np.ndarray, "2"] | None = None,
) -> Float[np.ndarray, "*batch slot"]:
    """|Δx| + |Δy| per entity, float64.

    On an axis that wraps the shorter way round counts, min(|d|, |1 - |d||): one lap at most, so a
    position laps away from the world is far and not near.
    """
    total = np.zeros(np.broadcast_shapes(true.shape, imagined.shape)[:-1])
    for axis in range(2):
        gap = np.abs(np.subtract(true[..., axis], imagined[..., axis], dtype=np.float64))
        if wrap is not None and wrap[axis]:
            gap = np.minimum(gap, np.abs(1.0 - gap))
        total += gap
    return total


def position_l1(
    true: Float[np.ndarray, "*batch slot 2"],
    imagined: Float[np.ndarray, "*batch slot 2"],
    counted: Bool[np.ndarray, "*#batch slot"],
    wrap: Bool[np.ndarray, "2"] | None = None,
) -> Float[np.ndarray, "*batch"]:
    """Mean distance over the counted slots; NaN where none is counted.

    `counted` says which slots matter: mutable and valid ones, and in `state/1` only those alive in
    truth. What stands in the other slots, NaN included, is never read.
    """
    gap = np.where(counted, distances(true, imagined, wrap), 0.0).sum(-1)
    count = np.broadcast_to(counted, true.shape[:-1]).sum(-1)
    return np.divide(gap, count, out=np.full(gap.shape, np.nan), where=count > 0)


METRIC = Metric(
    name="position_l1",
    summary="Mean |Δx| + |Δy| over the counted entities, in shares of the world.",
    unit="world sizes",
    low=0.0,
    high=np.inf,
    direction="lower",
    function=position_l1,
)
