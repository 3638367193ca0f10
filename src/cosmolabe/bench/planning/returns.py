"""What a stretch of play is worth, read from dense states alone: imagined and true count alike.

The terms are those that players practise with (`nets.shaping`), and two that steer within the few
ticks a plan looks ahead. Each pays for the gain of one quantity over a decision.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.fields import PREDICTED
from cosmolabe.engine.game import LEVEL, LIVES, SCORE, Game
from cosmolabe.nets.shaping import SHAPING, Term, View

PARTS = ("score", "lives", "progress")
"""Parts of a return, so that a failure can be told to one of them."""
PART_OF = {"points": 0, "points against": 0, "level": 0, "lives": 1}
"""Place of a term's part by its name; all others are progress."""
HEADS = {SCORE: "score", LIVES: "lives", LEVEL: "level"}
WORST = -1e6
"""Return of a future that cannot be read, so that no planner picks it."""


def _off(axis: str, player: str) -> Callable[[View], np.ndarray]:
    return lambda view: -np.abs(view.of("ball", axis) - view.of(player, axis))


STEERING: dict[str, tuple[Term, ...]] = {
    "breakout": (Term("under the ball", 0.5, _off("x", "paddle"), most=0.3),),
    "pong": (Term("beside the ball", 0.5, _off("y", "player"), most=0.3),),
}
"""Terms of our own: what a plan of half a second can do about a ball that comes later."""


@dataclass(frozen=True)
class Frames:
    """States and globals of the ends of successive decisions, the start first."""

    states: Float[np.ndarray, "row time slot predicted"]
    globals: Float[np.ndarray, "row time global"]
    over: Bool[np.ndarray, "row time"]
    """Whether the game is over in that frame; nothing counts afterwards."""


class DenseView(View):
    """Frames read by name, as `View` reads compact rows."""

    def __init__(self, game: Game, frames: Frames) -> None:
        self.game = game
        states, numbers = frames.states, frames.globals
        self._states = states.reshape(-1, *states.shape[2:]).astype(np.float64)
        self.rows = numbers.reshape(-1, numbers.shape[-1]).astype(np.float64)
        profile = game.manifest.profile
        self._column = {profile.state_columns[c]: k for k, c in enumerate(PREDICTED)}
        self._slot = {slot.name: k for k, slot in enumerate(game.manifest.slots)}
        self._global = {name: k for k, name in enumerate(profile.global_fields)}

    def head(self, column: int) -> Float[np.ndarray, " batch"]:
        """Score, lives or level."""
        return self.rows[:, self._global[HEADS[column]]]

    def of(self, slot: str | None, field: str) -> Float[np.ndarray, " batch"]:
        """A field of a slot, or a global (slot None)."""
        if slot is None:
            return self.rows[:, self._global[field]]
        return self._states[:, self._slot[slot], self._column[field]]


def terms_of(game: Game) -> tuple[Term, ...]:
    """All terms of a game; one without any is refused."""
    if game.name not in SHAPING:
        raise ValueError(f"no return is defined for plans in '{game.name}'; have {sorted(SHAPING)}")
    return SHAPING[game.name] + STEERING.get(game.name, ())


def gains(game: Game, frames: Frames, discount: float = 1.0) -> Float[np.ndarray, "row part"]:
    """Worth of each row by `PARTS`; a later decision counts `discount` as much as the one before.

    Rows that hold a number that is none are worth `WORST` in every part.
    """
    rows, length = frames.globals.shape[:2]
    broken = ~(np.isfinite(frames.states).all((1, 2, 3)) & np.isfinite(frames.globals).all((1, 2)))
    if broken.any():
        frames = Frames(
            np.where(broken.reshape(-1, 1, 1, 1), 0, frames.states),
            np.where(broken.reshape(-1, 1, 1), 0, frames.globals),
            frames.over,
        )
    view = DenseView(game, frames)
    before = np.logical_or.accumulate(frames.over, 1)[:, :-1]
    weights = np.where(before, 0.0, discount ** np.arange(length - 1))
    worth = np.zeros((rows, len(PARTS)))
    for term in terms_of(game):
        with np.errstate(all="ignore"):  # a model may imagine any number
            gain = np.diff(term.quantity(view).reshape(rows, length), axis=1)
        gain = np.where(np.abs(gain) <= term.most, gain, 0.0)
        gain = np.maximum(gain, 0.0) if term.gains_only else gain
        worth[:, PART_OF.get(term.name, 2)] += term.weight * (gain * weights).sum(1)
    worth[broken] = WORST
    return worth
