"""Several answers to one question: what they agree on, and how far."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cosmolabe.core.answers import Parsed

SOURCES = ("frame_offsets", "option_orders", "paraphrases")
Tie = Literal["abstain", "first", "logprob"]


@dataclass(frozen=True)
class Votes:
    """How often a question is asked, and what differs between the times.

    Greedy decodings of one input are all equal, so more than one vote needs a named source of
    variation (reference/universe §1.9).
    """

    num: int = 1
    source: str = ""
    """One of SOURCES; empty for a single vote."""
    tie: Tie = "abstain"
    """Whom a tie goes to: nobody, the label said first, or the one of higher log-probability."""

    def __post_init__(self) -> None:
        if self.num < 1:
            raise ValueError(f"a question is asked once or more; got votes = {self.num}")
        if self.num > 1 and self.source not in SOURCES:
            raise ValueError(
                f"{self.num} votes on one input are {self.num} times the same answer; name what "
                f"varies: one of {list(SOURCES)}, got {self.source!r}"
            )


@dataclass(frozen=True)
class Tally:
    """What the votes on one question came to."""

    parsed: Parsed
    agreement: float
    """Votes for the commonest label ÷ all votes; those that said nothing count as well."""
    entropy: float
    """Of the votes by what they said, in bits; 0 where all said the same."""
    n: int


def tally(
    votes: Sequence[Parsed], tie: Tie = "abstain", logprobs: Sequence[float] | None = None
) -> Tally:
    """The commonest label; `logprobs` are of each vote's own answer and break ties if asked to.

    Votes that could not be read elect nobody; where all are such, the commonest status stands.
    """
    if not votes:
        raise ValueError("no votes to count")
    n = len(votes)
    said = Counter(vote.label or f"\x00{vote.status}" for vote in votes)
    entropy = -sum(k / n * math.log2(k / n) for k in said.values()) + 0.0
    if n == 1:
        return Tally(votes[0], float(votes[0].status == "ok"), entropy, n)
    labels = Counter(vote.label for vote in votes if vote.label is not None)
    if not labels:
        status = Counter(vote.status for vote in votes).most_common(1)[0][0]
        return Tally(Parsed(status, None, "vote"), 0.0, entropy, n)
    most = max(labels.values())
    tied = [label for label, k in labels.items() if k == most]
    parsed = (
        Parsed("ok", tied[0], "vote") if len(tied) == 1 else _broken(tied, votes, tie, logprobs)
    )
    return Tally(parsed, most / n, entropy, n)


def _broken(
    tied: list[str], votes: Sequence[Parsed], tie: Tie, logprobs: Sequence[float] | None
) -> Parsed:
    if tie == "abstain":
        return Parsed("tie", None, "tie")
    if tie == "first":
        return Parsed("ok", tied[0], "tie_first")  # a Counter keeps the order of first sight
    if logprobs is None or len(logprobs) != len(votes):
        raise ValueError("a tie is to go by log-probability, and not every vote has one")
    weight = {
        label: sum(p for vote, p in zip(votes, logprobs, strict=True) if vote.label == label)
        for label in tied
    }
    return Parsed("ok", max(tied, key=lambda label: weight[label]), "tie_logprob")
