"""Strict exact match: whether a reply is the true answer letter by letter."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from cosmolabe.core.metric import Metric


def strict_exact_match(
    replies: Sequence[str | None], truth: Sequence[str]
) -> Float[np.ndarray, " item"]:
    """1 where the raw reply and the true answer are one string, else 0; None is wrong."""
    if len(replies) != len(truth):
        raise ValueError(f"as many replies as truths; got {len(replies)} and {len(truth)}")
    if not all(truth):
        raise ValueError(f"item {list(truth).index('')}: the true answer is empty")
    return np.array([reply == true for reply, true in zip(replies, truth, strict=True)], np.float64)


METRIC = Metric(
    name="strict_exact_match",
    summary="Share of raw replies that are the true answer, character by character.",
    unit="share of replies",
    low=0.0,
    high=1.0,
    direction="higher",
    function=strict_exact_match,
)
