"""Contact: what somebody touches in the clip."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.fields import ALIVE, VX, VY
from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import Truth, truth_of

NOTHING = "nothing"
TOUCHES = -0.004  # world heights: bodies overlap by so much where they touch for sure
MARGIN = 0.01  # world heights beyond the longest step: further apart they cannot have touched


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """The one kind of thing touched, or nothing; None where frames leave it open, or for several.

    Between two frames nobody looks: a thing that was within one step's reach and was not seen to
    overlap may have been touched. What bounces tells by its turn.
    """
    truth = truth_of(clip)
    if truth is None or not truth.alive(truth.slot(truth.facts["contact"]["slot"])).all():
        return None
    what = truth.facts["contact"]
    verdicts = {thing["words"]: touched(truth, thing) for thing in what["things"]}
    if None in verdicts.values() or sum(map(bool, verdicts.values())) > 1:
        return None
    label = next((words for words, touch in verdicts.items() if touch), NOTHING)
    return Found("contact.plain", label, (*verdicts, NOTHING), {"who": what["who"]})


def touched(truth: Truth, thing: Mapping[str, str]) -> bool | None:
    """Whether the game's body touches a thing of `games.toml`; None where frames leave it open."""
    if "rises" in thing:
        return bool((np.diff(truth.number(thing["rises"])) > 1e-6).any())
    if "changed" in thing:
        return changed(truth, thing["kind"], thing["changed"])
    slot = truth.slot(truth.facts["contact"]["slot"])
    steps = np.hypot(*truth.path(slot).T)
    verdict: bool | None = False
    for other in truth.of_kind(thing["kind"]):
        gap = truth.gap(slot, other)
        if np.isnan(gap).all():
            continue
        reach = steps.max(initial=0) + np.hypot(*truth.path(other).T).max(initial=0) + MARGIN
        if "axis" in thing:
            close = np.fmin(gap[:-1], gap[1:]) <= reach
            verdict = verdict or bool((close & turns(truth, slot, thing["axis"])).any())
        elif np.nanmin(gap) <= TOUCHES:
            return True
        elif np.nanmin(gap) <= reach:
            verdict = None
    return verdict


def changed(truth: Truth, kind: str, field: str) -> bool | None:
    """Whether a field of any such thing changes; None where a level or a life begins anew."""
    if any((np.diff(truth.number(name)) != 0).any() for name in ("level", "lives")):
        return None
    column = truth.manifest.profile.state_columns.index(field)
    there = truth.states[:, truth.of_kind(kind)]
    return bool((np.diff(there[..., [ALIVE, column]], axis=0) != 0).any())


def turns(truth: Truth, slot: int, axis: str) -> Bool[np.ndarray, " step"]:
    """Between which frames the body turns round along x or y."""
    speed = np.sign(truth.states[:, slot, VX if axis == "x" else VY])
    return speed[1:] * speed[:-1] < 0


TASK = Task("contact", "what somebody touches", find)
