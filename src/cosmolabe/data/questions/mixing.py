"""The training mix: how many questions of each task and format, and which."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from cosmolabe.core.question import Format, Question
from cosmolabe.core.seeds import generator

Cells = dict[tuple[str, Format], int]
PAPER = (
    {"action_recognition": 0.8, "character_recognition": 0.2},
    {"binary": 0.15, "multiple_choice": 0.05, "open_ended": 0.8},
)
"""UNIVERSE's optimised mix: shares of tasks, shares of formats."""


@dataclass(frozen=True)
class Mix:
    """Shares of tasks and of formats; a cell's share is their product."""

    tasks: Mapping[str, float] = field(default_factory=lambda: dict(PAPER[0]))
    formats: Mapping[str, float] = field(default_factory=lambda: dict(PAPER[1]))

    def cells(self, total: int) -> Cells:
        """See `mixture`."""
        return mixture(total, self.tasks, self.formats)


def mixture(total: int, tasks: Mapping[str, float], formats: Mapping[str, float]) -> Cells:
    """Questions of each cell: floor(total x share of the task x share of the format).

    With UNIVERSE's shares and its 32,453 clips: 3894, 1298, 20769, 973, 324, 5192 (fewer than the
    total by what flooring loses).
    """
    for what, shares in (("tasks", tasks), ("formats", formats)):
        if not shares or min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-6:
            raise ValueError(f"shares of {what} are 0 or more and sum to 1; got {dict(shares)}")
    if total < 0:
        raise ValueError(f"total must be 0 or more; got {total}")
    # A product such as 0.8 x 0.05 lies a hair beside the number meant.
    return {
        (task, cast(Format, form)): int(total * a * b + 1e-9 * total)
        for task, a in tasks.items()
        for form, b in formats.items()
    }


def sample_mix(questions: Iterable[Question], cells: Cells, seed: int) -> list[Question]:
    """Questions of these counts, no two of one clip, in an order of the seed's.

    Raises:
        ValueError: A cell has not enough clips left; says which and how many it has.
    """
    by_cell: dict[tuple[str, Format], list[Question]] = {cell: [] for cell in cells}
    for each in questions:
        if (each.task, each.format) in by_cell:
            by_cell[each.task, each.format].append(each)
    used: set[str] = set()
    taken: list[Question] = []
    scarce_first = sorted(cells, key=lambda cell: (len(by_cell[cell]) - cells[cell], cell))
    for cell in scarce_first:
        draw = generator("mix", seed, *cell)
        chosen = []
        for k in draw.permutation(len(by_cell[cell])):
            if len(chosen) == cells[cell]:
                break
            each = by_cell[cell][k]
            if each.clip not in used:
                used.add(each.clip)
                chosen.append(each)
        if len(chosen) < cells[cell]:
            there = f"{len(chosen)} left: draw more clips" if by_cell[cell] else "none in the set"
            raise ValueError(
                f"the mix wants {cells[cell]} {cell[1]} questions of {cell[0]}, each of another "
                f"clip; there are {there}, or take every question there is (--mix all)"
            )
        taken += chosen
    return [taken[k] for k in generator("mix order", seed).permutation(len(taken))]
