"""The labelled edits, applied to the programs they start from."""

from dataclasses import dataclass
from pathlib import Path

from arena.edits import held_out, shown

from cosmolabe.arena.analysis import categories

HERE = Path(__file__).parent / "edits"
CLASSES = {
    "architecture": categories.ARCHITECTURE,
    "objective": categories.OBJECTIVE,
    "rollout": categories.ROLLOUT,
    "state": categories.STATE,
    "inference": categories.INFERENCE,
    "augmentation": categories.AUGMENTATION,
    "schedule": categories.SCHEDULE,
    "hyper": categories.HYPER,
    "bugfix": categories.BUG_FIX,
    "none": categories.NONE,
}


@dataclass(frozen=True)
class Labelled:
    name: str
    category: str
    analytic: bool
    before: str
    after: str
    config: dict


def starter(name):
    return (HERE / f"{name}.txt").read_text()


def applied(row):
    name, category, analytic, start, replacements, config = row
    before = after = starter(start)
    for old, new in replacements:
        assert after.count(old) == 1, (name, old)
        after = after.replace(old, new)
    return Labelled(name, CLASSES[category], analytic, before, after, config)


SHOWN = [applied(row) for row in shown.EDITS]
HELD_OUT = [applied(row) for row in held_out.EDITS]
