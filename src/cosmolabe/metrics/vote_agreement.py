"""Agreement of votes: which share of the votes on a question fell to the most frequent answer."""

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.metric import Metric


def vote_agreement(votes: Int[np.ndarray, "item vote"]) -> Float[np.ndarray, " item"]:
    """Votes for the commonest label ÷ all votes; a vote below 0 said nothing and still counts.

    0 where no vote said anything; 1 for a single vote that did.
    """
    if votes.shape[1] < 1:
        raise ValueError("agreement needs a vote at least")
    same = votes[:, :, None] == votes[:, None, :]
    support = (same & (votes >= 0)[:, :, None]).sum(-1)
    return support.max(-1, initial=0) / votes.shape[1]


METRIC = Metric(
    name="vote_agreement",
    summary="Share of the votes on a question that fell to its most frequent answer.",
    unit="share of votes",
    low=0.0,
    high=1.0,
    direction="none",
    function=vote_agreement,
)
