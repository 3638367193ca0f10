"""Rewards that a player can learn from in minutes: one small table of terms a game.

Each term pays for the gain of one quantity over a decision (points, lives, a shorter way to the
next coin), times its weight. Points alone come too seldom to be found by chance; the terms steer,
and what a player is worth is still measured in points.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32

from cosmolabe.data.sight import can_cross
from cosmolabe.engine.game import HEAD, LEVEL, LIVES, SCORE, Game


class View:
    """A batch of compact public rows, read by name."""

    def __init__(self, game: Game, rows: Float32[np.ndarray, "batch public"]) -> None:
        self.game = game
        self.rows = rows.astype(np.float64)

    def head(self, column: int) -> Float[np.ndarray, " batch"]:
        """One of the columns that every world begins with."""
        return self.rows[:, column]

    def of(self, slot: str | None, field: str) -> Float[np.ndarray, " batch"]:
        """A field of a slot, or a global (slot None), in the tensors' units."""
        slots = [entity.name for entity in self.game.manifest.slots]
        number = None if slot is None else slots.index(slot)
        for place, column in enumerate(self.game.columns):
            if (column.slot, column.field) == (number, field):
                return self.rows[:, HEAD + place] * column.scale
        raise ValueError(f"{self.game.name} has no column {field} of {slot}")

    def gap(self, a: str, b: str) -> Float[np.ndarray, " batch"]:
        """Distance of two entities, the short way where one may cross, sum over both axes."""
        total = np.zeros(len(self.rows))
        for field, wraps in zip("xy", can_cross(self.game), strict=True):
            gap = self.of(a, field) - self.of(b, field)
            total += np.abs(gap - np.round(gap) if wraps else gap)
        return total


@dataclass(frozen=True)
class Term:
    """`weight` times the gain of a quantity."""

    name: str
    weight: float
    quantity: Callable[[View], Float[np.ndarray, " batch"]]
    gains_only: bool = False
    """A loss costs nothing (a rally that ends, say)."""
    most: float = float("inf")
    """A larger change is a new scene (a new life, the next level) and counts for nothing."""


def _head(column: int) -> Callable[[View], np.ndarray]:
    return lambda view: view.head(column)


def _global(field: str) -> Callable[[View], np.ndarray]:
    return lambda view: view.of(None, field)


def _points(weight: float) -> Term:
    return Term("points", weight, _head(SCORE))


LIFE = Term("lives", 1.0, _head(LIVES))
COINS = tuple(f"coin_{number}" for number in range(1, 7))


def _way_to_the_next_goal(view: View) -> np.ndarray:
    """Of the platformer's player: minus the way to the nearest coin, or to the raised flag."""
    far = np.full(len(view.rows), np.inf)
    for coin in COINS:
        there = view.of(coin, "alive") > 0.5
        far = np.where(there, np.minimum(far, view.gap("player", coin)), far)
    return -np.where(view.of(None, "remaining") > 0, far, view.gap("player", "flag"))


SHAPING: dict[str, tuple[Term, ...]] = {
    "asteroids": (_points(0.02), LIFE),
    "breakout": (_points(0.2), LIFE, Term("returns", 0.3, _global("combo"), gains_only=True)),
    # A whole life for a hop's risk teaches the frog to stay where it is.
    "frogger": (_points(0.05), Term("lives", 0.3, _head(LIVES))),
    "kong": (
        _points(0.005),
        LIFE,
        Term("level", 3.0, _head(LEVEL)),
        Term("height", 5.0, lambda view: -view.of("player", "y"), most=0.1),
    ),
    "platformer": (
        _points(0.1),
        LIFE,
        Term("way to the next coin or the flag", 2.0, _way_to_the_next_goal, most=0.1),
    ),
    "pong": (
        _points(1.0),
        Term("points against", -1.0, _global("opponent_score")),
        Term("returns", 0.1, _global("combo"), gains_only=True),
    ),
    "racer": (
        _points(0.1),
        Term("level", 3.0, _head(LEVEL)),
        Term("progress", 30.0, _global("progress"), most=0.1),
    ),
    "snake": (
        _points(1.0),
        LIFE,
        Term("way to the food", 3.0, lambda view: -view.gap("head", "food"), most=0.11),
    ),
}


def shaped(game: Game, before: np.ndarray, after: np.ndarray) -> Float[np.ndarray, " batch"]:
    """The reward of a decision, from the public rows before and after it."""
    if game.name not in SHAPING:
        raise ValueError(f"no reward terms for '{game.name}'; have {sorted(SHAPING)}")
    old, new = View(game, before), View(game, after)
    total = np.zeros(len(before))
    for term in SHAPING[game.name]:
        gain = term.quantity(new) - term.quantity(old)
        gain = np.where(np.abs(gain) <= term.most, gain, 0.0)
        total += term.weight * (np.maximum(gain, 0.0) if term.gains_only else gain)
    return total
