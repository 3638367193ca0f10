"""Persistence: whether a thing stays, goes, or comes while the clip lasts."""

from collections.abc import Mapping, Sequence

import numpy as np

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import truth_of

STAYS, GOES, COMES = "it stays to the end", "it disappears", "it comes into the picture"
ABSENT = "it is not there at all"
LABELS = (STAYS, GOES, COMES, ABSENT)


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """One of LABELS; None for a thing that comes and goes."""
    truth = truth_of(clip)
    if truth is None:
        return None
    there = truth.alive(truth.slot(truth.facts["staying"]["slot"]))
    changes = int((np.diff(there.astype(int)) != 0).sum())
    if changes > 1:
        return None
    label = (GOES if there[0] else COMES) if changes else (STAYS if there[0] else ABSENT)
    return Found("persistence.plain", label, LABELS, {"who": truth.facts["staying"]["who"]})


TASK = Task("persistence", "whether a thing stays, goes or comes", find)
