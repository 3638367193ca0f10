"""Direction and speed class: which way something moves across the picture, and how fast."""

from collections.abc import Mapping, Sequence

import numpy as np

from cosmolabe.core.question import AskedClip
from cosmolabe.core.seeds import generator
from cosmolabe.data.questions.asking import Found, Task
from cosmolabe.data.questions.truth import Truth, truth_of

WAYS = (
    "right", "down and right", "down", "down and left", "left", "up and left", "up", "up and right",
)  # fmt: skip
"""By eighths of a turn from the right, as y runs down."""
SURE = 0.35  # of an eighth of a turn: further from a way's middle, it could be the next one
FAR = 0.06  # of the world: shorter ways show no direction
CROOKED = 1.15  # way / straight line
SPEEDS = ("standing still", "slow", "fast")
STILL, SLOW, FAST = 0.02, (0.06, 0.3), 0.45  # of the world a second; between them none is asked


def find(clip: AskedClip, space: Mapping[str, Sequence[str]]) -> Found | None:
    """Direction or speed, whichever the clip decides; by the id where it decides both."""
    truth = truth_of(clip)
    if truth is None:
        return None
    slot = truth.slot(truth.facts["moving"]["slot"])
    if not truth.alive(slot).all():
        return None
    fill = {"who": truth.facts["moving"]["who"]}
    way, speed = way_of(truth, slot), speed_of(truth, slot)
    found = [Found("direction.way", way, WAYS, fill)] if way else []
    found += [Found("direction.speed", speed, SPEEDS, fill)] if speed else []
    return found[generator("direction", clip.id).integers(len(found))] if found else None


def way_of(truth: Truth, slot: int) -> str:
    """One of WAYS; empty for a way that is short, crooked or between two of them."""
    steps = truth.path(slot)
    whole = steps.sum(0)
    line = float(np.hypot(*whole))
    if line < FAR or np.hypot(*steps.T).sum() > CROOKED * line:
        return ""
    eighth = float(np.arctan2(whole[1], whole[0])) / (np.pi / 4)
    return WAYS[round(eighth) % 8] if abs(eighth - round(eighth)) <= SURE else ""


def speed_of(truth: Truth, slot: int) -> str:
    """One of SPEEDS, by the mean over the clip; empty between two of them."""
    steps = truth.path(slot)
    speed = float(np.hypot(*steps.T).mean()) * truth.fps
    if speed <= STILL:
        return SPEEDS[0]
    if SLOW[0] <= speed <= SLOW[1]:
        return SPEEDS[1]
    return SPEEDS[2] if speed >= FAST else ""


TASK = Task("direction", "which way something moves, or how fast", find)
