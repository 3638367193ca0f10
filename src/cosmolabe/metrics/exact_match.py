"""Exact match on canonical answers: whether a reply's reading is the true answer."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.answers import canonical
from cosmolabe.core.metric import Metric


def exact_match(said: Sequence[str | None], truth: Sequence[str]) -> Float[np.ndarray, " item"]:
    """1 where both have one canonical form, else 0; None (nothing could be read) is wrong.

    A true answer without a canonical form is refused, for it would match every empty reply.
    """
    if len(said) != len(truth):
        raise ValueError(f"as many answers as truths; got {len(said)} and {len(truth)}")
    right = np.zeros(len(said))
    for index, (mine, true) in enumerate(zip(said, truth, strict=True)):
        wanted = canonical(true)
        if not wanted:
            raise ValueError(f"item {index}: the true answer {true!r} is empty")
        right[index] = mine is not None and canonical(mine) == wanted
    return right


METRIC = Metric(
    name="exact_match",
    summary="Share of answers that are the true one, both in canonical form.",
    unit="share of answers",
    low=0.0,
    high=1.0,
    direction="higher",
    function=exact_match,
)
