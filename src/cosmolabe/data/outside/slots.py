"""Keeps every entity in one slot for as long as it lives, by nearest matching from tick to tick.

A foreign environment may list its objects in any order, swap two of them, or let one object leave
on the right and come back on the left under the same name. Here an object is the one that was
nearest a tick ago and no further than the game's `reach`; what is matched to nobody is born into a
slot that was dead. Where no such slot is left it takes one whose entity is gone, which reads dead
for that one tick, so that nobody's speed is ever that of a teleport.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from cosmolabe.core.episode import shortest_way
from cosmolabe.core.fields import ALIVE, VX, X, Y
from cosmolabe.data.outside.game import Family, Moment, OutsideGame, Thing

FAR = 1e6  # cost of what must not be matched


class SlotKeeper:
    """State rows (slot, state) of consecutive moments of one episode."""

    def __init__(self, game: OutsideGame) -> None:
        self.game, self.manifest = game, game.manifest
        self.rows = np.zeros((game.manifest.num_slots, game.manifest.profile.num_state), np.float32)
        columns = game.manifest.profile.state_columns
        self.wrap = game.manifest.masks().wrap
        self.columns = {name: columns.index(name) for name in game.manifest.fields}
        self.known = np.zeros(game.manifest.num_slots, bool)
        """Slots whose last place is that of an entity still there, alive or arriving."""

    def row_of(self, moment: Moment) -> np.ndarray:
        """The states of the next moment."""
        before, rows = self.rows, self.rows.copy()
        rows[:, ALIVE], known = 0, np.zeros_like(self.known)
        unknown = sorted(set(moment.things) - {family.slot.name for family in self.game.families})
        if unknown:
            raise ValueError(f"{self.game.name} shows things of no family: {unknown}")
        first = 0
        for family in self.game.families:
            places = np.arange(first, first + family.count)
            first += family.count
            things = moment.things.get(family.slot.name, ())
            if family.tracked:
                chosen = self._match(family, things, places)
            else:
                _check_count(self.game.name, family, things, len(things) != family.count)
                chosen = [
                    (int(place), thing, bool(before[place, ALIVE] > 0.5), True)
                    for place, thing in zip(places, things, strict=True)
                    if thing is not None
                ]
            for place, thing, moved, alive in chosen:
                self._write(rows[place], before[place], thing, moved, alive)
                known[place] = True
        self.rows, self.known = rows, known
        return rows

    def _write(
        self, row: np.ndarray, before: np.ndarray, thing: Thing, moved: bool, alive: bool
    ) -> None:
        row[:] = 0
        row[X], row[Y], row[ALIVE] = thing.x, thing.y, alive
        for name, value in thing.fields.items():
            row[self.columns[name]] = value
        if moved and alive and before[ALIVE] > 0.5:
            row[VX : VX + 2] = shortest_way(row[:2] - before[:2], self.wrap)

    def _match(
        self, family: Family, things: Sequence[Thing | None], places: np.ndarray
    ) -> list[tuple[int, Thing, bool, bool]]:
        """(slot, thing, whether it was there a tick ago, whether it reads alive)."""
        reach = self.game.reach
        living = [thing for thing in things if thing is not None]
        _check_count(self.game.name, family, living, len(living) > family.count)
        there = places[self.known[places]]
        now = np.array([(thing.x, thing.y) for thing in living], np.float64).reshape(-1, 2)
        gap = shortest_way(now[None] - self.rows[there, None, :2].astype(np.float64), self.wrap)
        cost = np.hypot(gap[..., 0] * self.manifest.aspect, gap[..., 1])
        pairs = zip(*linear_sum_assignment(np.where(cost > reach, FAR, cost)), strict=True)
        pairs = [(row, thing) for row, thing in pairs if cost[row, thing] <= reach]
        chosen = [(int(there[row]), living[thing], True, True) for row, thing in pairs]
        taken = {place for place, *_ in chosen}
        free = [int(p) for p in places if not self.known[p]]
        gone = [int(p) for p in there if int(p) not in taken]
        matched = {thing for _, thing in pairs}
        for number, thing in enumerate(living):
            if number not in matched:
                chosen.append(
                    (free.pop(0), thing, False, True)
                    if free
                    else (gone.pop(0), thing, False, False)
                )
        return chosen


def _check_count(name: str, family: Family, things: Sequence[Thing | None], wrong: bool) -> None:
    if wrong:
        raise ValueError(
            f"{name}: {len(things)} things of family '{family.slot.name}', which has "
            f"{family.count} slots; give the family more slots"
        )
