"""Choices made by training: the rate of a strategy, and the paper's three-stage search of the mix.

Each is told how to score a recipe (by clips that are not tested on) and gives every score.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cosmolabe.data.questions.mixing import Mix
from cosmolabe.nets.adaptation import Adaptation

AR, CR = "action_recognition", "character_recognition"
UNIFORM = {"binary": 1 / 3, "multiple_choice": 1 / 3, "open_ended": 1 / 3}
Score = Callable[[Adaptation], float]


@dataclass(frozen=True)
class Grids:
    """Points of the three one-dimensional searches; the paper names its winners, not its points."""

    action: Sequence[float] = (0.2, 0.35, 0.5, 0.65, 0.8)
    """Share of action recognition, formats alike."""
    open_ended: Sequence[float] = (1 / 3, 0.5, 0.65, 0.8)
    """Share of open-ended questions, the rest halved."""
    binary: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Share of binary questions in the rest; the paper's .15 and .05 are .75 of it."""


@dataclass(frozen=True)
class Tried:
    """One point and its score; the best one of its stage is marked."""

    stage: str
    value: float
    score: float
    best: bool = False
    mix: dict[str, Any] = field(default_factory=dict)


def mix_of(action: float, open_ended: float, binary: float) -> Mix:
    """Shares by the three numbers that are searched; what is not asked is left out."""
    rest = 1.0 - open_ended
    formats = {
        "binary": rest * binary, "multiple_choice": rest * (1 - binary), "open_ended": open_ended,
    }  # fmt: skip
    tasks = {AR: action, CR: 1.0 - action}
    return Mix(_some(tasks), _some(formats))


def _some(shares: dict[str, float]) -> dict[str, float]:
    return {name: share for name, share in shares.items() if share > 1e-9}


def search_mixture(
    score: Score, recipe: Adaptation, grids: Grids | None = None
) -> tuple[Mix, list[Tried]]:
    """UNIVERSE's search: the tasks' share with equal formats, the open-ended share, the rest's."""
    grids = grids or Grids()
    action, open_ended, binary = 0.5, 1 / 3, 0.5
    told: list[Tried] = []
    for stage, points in (
        ("action", grids.action), ("open_ended", grids.open_ended), ("binary", grids.binary),
    ):  # fmt: skip
        mine: list[tuple[float, Mix, float]] = []
        for value in points:
            numbers = {"action": action, "open_ended": open_ended, "binary": binary, stage: value}
            mix = mix_of(**numbers)
            mine.append((value, mix, score(replace(recipe, mix=mix))))
        best = max(mine, key=lambda one: one[2])
        told += [
            Tried(stage, value, found, value == best[0], asdict(mix)) for value, mix, found in mine
        ]
        if stage == "action":
            action = best[0]
        elif stage == "open_ended":
            open_ended = best[0]
        else:
            binary = best[0]
    return mix_of(action, open_ended, binary), told


def search_rate(
    score: Score, recipe: Adaptation, rates: Sequence[float]
) -> tuple[float, list[Tried]]:
    """The rate of the best score, and all of them; a strategy is not judged by one rate alone.

    A rate at which the loss is no number scores -1.
    """
    if not rates:
        raise ValueError("no rate to try")
    found = []
    for rate in rates:
        try:
            found.append((rate, score(replace(recipe, rate=rate))))
        except ValueError as error:
            if "lower rate" not in str(error):
                raise
            found.append((rate, -1.0))
    best = max(found, key=lambda one: one[1])
    return best[0], [Tried("rate", rate, told, rate == best[0]) for rate, told in found]
