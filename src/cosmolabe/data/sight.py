"""What a trained player sees of a game: features of its compact public columns, by one rule.

Others are seen from the agent (the first controllable slot), the short way where an axis wraps,
and in the frame of its heading where it has one; what is dead shows zeros. A body of many segments
is seen as the cells it fills around the head. Levels, phases and rows are told apart one by one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int64

from cosmolabe.engine import policy
from cosmolabe.engine.game import HEAD, LEVEL, PHASE, Column, Game, layout_of
from cosmolabe.engine.windows import alive_columns

LEVELS, PHASES, ROWS = range(1, 5), range(4), range(13)
REACH = 2  # cells around the head in which a body is seen


@dataclass(frozen=True)
class Sight:
    """Which features; `engine.policy` says what a row of the table means."""

    names: tuple[str, ...]
    table: Int64[np.ndarray, "feature 4"]
    agent: Int64[np.ndarray, "3"]
    """Public columns of the agent's x, y and rotation; -1 where it has none."""
    period: Float64[np.ndarray, "2"]
    """Length of each axis in the columns' own unit where it wraps, else 0."""
    crowd: Int64[np.ndarray, "body 3"]
    """Public columns x, y, alive of every body that OCCUPIED looks for."""

    def __len__(self) -> int:
        return len(self.table)

    def features(
        self, rows: Float32[np.ndarray, "batch public"], norm: Float32[np.ndarray, "2 feature"]
    ) -> Float32[np.ndarray, "batch feature"]:
        """What is seen of public rows, as (value - norm[0]) * norm[1], cut to +-5."""
        out = np.zeros((len(rows), len(self)), np.float32)
        policy.see_all(
            np.ascontiguousarray(rows), self.table, self.agent, self.period, self.crowd, norm, out
        )
        return out

    def fitted(self, rows: Float32[np.ndarray, "row public"]) -> Float32[np.ndarray, "2 feature"]:
        """The norm that gives these rows' features mean 0 and spread 1; what never varied stays."""
        values = self._unscaled(rows)
        spread = values.std(0)
        return np.stack([values.mean(0), 1 / np.where(spread > 1e-6, spread, 1)]).astype(np.float32)

    def _unscaled(self, rows: np.ndarray) -> np.ndarray:
        """Features before scaling: seen so small that nothing is cut."""
        shrink = np.float32(2.0**-20)
        norm = np.stack([np.zeros(len(self)), np.full(len(self), shrink)]).astype(np.float32)
        return self.features(rows, norm).astype(np.float64) / shrink


def can_cross(game: Game) -> tuple[bool, bool]:
    """Whether the short way over the edge, in x and y, is one that the game's own physics allows.

    Snake's axes wrap, but by default its walls kill.
    """
    walls = game.parameters.get("walls_kill")
    open_edges = walls is None or walls.default == 0
    return game.manifest.wrap_x and open_edges, game.manifest.wrap_y and open_edges


def sight_of(game: Game) -> Sight:
    """All features of a game, in the order of its columns."""
    return _Reader(game).sight()


class _Reader:
    """Goes through a game's columns and names what is seen of each."""

    def __init__(self, game: Game) -> None:
        self.game = game
        slots = game.manifest.slots
        layout = layout_of(game)
        self.alive = alive_columns(layout, game.manifest.profile.num_state)
        self.at = {(c.slot, c.field): HEAD + k for k, c in enumerate(game.columns)}
        self.me = next((k for k, slot in enumerate(slots) if slot.controllable), None)
        self.agent = [self.at.get((self.me, name), -1) for name in ("x", "y", "rotation")]
        self.turns = min(self.agent) >= 0
        self.crowd = [
            k for k, slot in enumerate(slots)
            if slot.kind == "segment" and all((k, f) in self.at for f in ("x", "y", "alive"))
        ]  # fmt: skip
        self.names: list[str] = []
        self.table: list[tuple[int, int, int, int]] = []

    def sight(self) -> Sight:
        for number in LEVELS:
            self._add(f"level is {number}", policy.EQUAL, LEVEL, number)
        for number in PHASES:
            self._add(f"phase is {number}", policy.EQUAL, PHASE, number)
        for column in self.game.columns:
            if column.slot not in self.crowd:
                self._read(column)
        if self.crowd:
            around = range(-REACH, REACH + 1)
            for dx, dy in ((x, y) for y in around for x in around if (x, y) != (0, 0)):
                self._add(f"body at {dx} {dy}", policy.OCCUPIED, dx, dy)
        places = [[self.at[k, f] for f in ("x", "y", "alive")] for k in self.crowd]
        return Sight(
            names=tuple(self.names),
            table=np.array(self.table, np.int64),
            agent=np.array(self.agent, np.int64),
            period=np.array([self._period(axis) for axis in ("x", "y")]),
            crowd=np.array(places, np.int64).reshape(-1, 3),
        )

    def _period(self, axis: str) -> float:
        scales = [c.scale for c in self.game.columns if c.field == axis]
        return 1.0 / scales[0] if can_cross(self.game)["xy".index(axis)] else 0.0

    def _add(self, name: str, kind: int, first: int, second: int = 0, alive: int = -1) -> None:
        self.names.append(name)
        self.table.append((kind, first, second, alive))

    def _read(self, column: Column) -> None:
        slot, field = column.slot, column.field
        place = self.at[slot, field]
        if slot is None:
            self._add(field, policy.PLAIN, place)
            return
        name = f"{self.game.manifest.slots[slot].name} {field}"
        alive = int(self.alive[place]) if field != "alive" else -1
        mine = slot == self.me
        if field == "rotation":
            if self.turns:
                self._add(f"{name} sine", policy.SINE, place, 1, alive)
                self._add(f"{name} cosine", policy.COSINE, place, 1, alive)
        elif field == "direction":
            self._add(f"{name} sine", policy.SINE, place, 4, alive)
            self._add(f"{name} cosine", policy.COSINE, place, 4, alive)
        elif field == "row":
            for number in ROWS:
                self._add(f"{name} is {number}", policy.EQUAL, place, number, alive)
        elif field in ("x", "y") and not mine:
            self._read_place(slot, field, place, alive, name)
        elif field in ("vx", "vy") and self.turns and (slot, "vx") in self.at:
            kind = policy.FORWARD if field == "vx" else policy.SIDEWAYS
            pair = self.at[slot, "vx"], self.at[slot, "vy"]
            self._add(
                f"{name.split()[0]} {('forward', 'sideways')[field == 'vy']}", kind, *pair, alive
            )
        else:
            self._add(name, policy.PLAIN, place, 0, alive)

    def _read_place(self, slot: int, field: str, place: int, alive: int, name: str) -> None:
        if self.turns and (slot, "x") in self.at and (slot, "y") in self.at:
            kind, word = (policy.AHEAD, "ahead") if field == "x" else (policy.ACROSS, "across")
            pair = self.at[slot, "x"], self.at[slot, "y"]
            self._add(f"{name.split()[0]} {word}", kind, *pair, alive)
            return
        self._add(
            f"{name} from agent", policy.GAP_X if field == "x" else policy.GAP_Y, place, 0, alive
        )
