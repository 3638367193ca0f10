"""Count: how many of a thing there are, or how often something happens."""

from collections.abc import Mapping, Sequence

import numpy as np

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import Truth, truth_of

MOST = 9
"""More than that is not asked."""


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """A digit as text; None beyond nine."""
    truth = truth_of(clip)
    if truth is None:
        return None
    count = counted(truth)
    if not 0 <= count <= MOST:
        return None
    labels = tuple(str(number) for number in range(MOST + 1))
    return Found("count.plain", str(count), labels, {"text": truth.facts["count"]["text"]})


def counted(truth: Truth) -> int:
    """How many there are in the last frame, or are gone since the first; -1 where none can say."""
    what = truth.facts["count"]
    if "global" in what:
        return round(float(truth.number(what["global"])[-1]))
    there = truth.alive(truth.of_kind(what.get("alive") or what["dies"]))
    if "alive" in what:
        return int(there[-1].sum())
    if (np.diff(truth.number("level")) != 0).any() or (~there[:-1] & there[1:]).any():
        return -1
    return int((there[0] & ~there[-1]).sum())


TASK = Task("count", "how many there are", find)
