"""Order: which of two events happens first."""

from collections.abc import Mapping, Sequence

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import events_of, truth_of


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """The earlier of exactly two kinds of event, all of one kind before all of the other."""
    truth = truth_of(clip)
    if truth is None:
        return None
    happened = {words: frames for words, frames in events_of(truth).items() if frames}
    if len(happened) != 2:
        return None
    (one, early), (other, late) = sorted(happened.items(), key=lambda item: min(item[1]))
    if max(early) >= min(late):
        return None
    labels = tuple(sorted((one, other)))
    return Found("order.plain", one, labels, {"pair": " or ".join(labels)})


TASK = Task("order", "which of two events happens first", find)
