"""Fleiss' κ: how far people agree beyond chance; the ceiling any judge of theirs can be held to."""

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.metric import Metric


def fleiss_kappa(
    votes: Int[np.ndarray, "*resample item category"],
) -> Float[np.ndarray, "*resample"]:
    """(observed − chance) / (1 − chance) agreement; `votes` counts each item's by category.

    Every item needs the same number of votes, at least two. NaN where all votes are of one
    category: chance then agrees as well as anybody.
    """
    counts = votes.sum(-1)
    each = int(counts.flat[0]) if counts.size else 0
    if each < 2 or (counts != each).any():
        raise ValueError(
            f"every item needs the same number of votes, at least 2; got "
            f"{sorted({int(c) for c in counts.flat})[:5]}"
        )
    agreed = ((votes * (votes - 1)).sum(-1) / (each * (each - 1))).mean(-1)
    chance = np.square(votes.mean(-2) / each).sum(-1)
    room = 1 - chance
    return np.divide(agreed - chance, room, out=np.full(room.shape, np.nan), where=room > 1e-12)


METRIC = Metric(
    name="fleiss_kappa",
    summary="Agreement of several people beyond chance.",
    unit="agreement",
    low=-1.0,
    high=1.0,
    direction="higher",
    function=fleiss_kappa,
)
