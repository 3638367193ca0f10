"""Event: what happens in the clip."""

from collections.abc import Mapping, Sequence

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import events_of, truth_of

NOTHING = "nothing special happens"


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """The one kind of event that happens, or that none does; None where there are several."""
    truth = truth_of(clip)
    if truth is None:
        return None
    events = events_of(truth)
    happened = [words for words, frames in events.items() if frames]
    if len(happened) > 1:
        return None
    return Found("event.plain", happened[0] if happened else NOTHING, (*events, NOTHING))


TASK = Task("event", "what happens", find)
