"""Balanced accuracy: mean over the true labels of the share answered rightly."""

import numpy as np
from jaxtyping import Bool, Float, Int

from cosmolabe.core.metric import Metric


def balanced_accuracy(
    right: Bool[np.ndarray, " item"],
    truth: Int[np.ndarray, " item"],
    weights: Float[np.ndarray, "*resample item"] | None = None,
) -> Float[np.ndarray, "*resample"]:
    """Mean of the recalls; `truth` numbers each item's true label.

    A label without items (in a resample) is left out; NaN where there is no item at all. One
    constant answer scores 1 / labels.
    """
    counted = np.ones(len(right)) if weights is None else weights
    _, place = np.unique(truth, return_inverse=True)
    member = place.reshape(-1, 1) == np.arange(place.max(initial=-1) + 1)
    total = counted @ member.astype(np.float64)
    hits = (counted * right) @ member.astype(np.float64)
    recall = np.divide(hits, total, out=np.zeros(total.shape), where=total > 0)
    labels = (total > 0).sum(-1)
    return np.asarray(
        np.divide(recall.sum(-1), labels, out=np.full(labels.shape, np.nan), where=labels > 0)
    )


METRIC = Metric(
    name="balanced_accuracy",
    summary="Mean over the true labels of the share answered rightly.",
    unit="share of answers",
    low=0.0,
    high=1.0,
    direction="higher",
    function=balanced_accuracy,
)
