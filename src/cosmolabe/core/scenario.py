"""A scenario: one mechanism of one game from a chosen start, with the rules that must hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, UInt8

from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.manifest import Manifest

LEAD = 7
"""Ticks of a script that only lead to the last context state (W = 8 states of context)."""


@dataclass(frozen=True)
class Trace:
    """A batch of rollouts, read by name. Step 0 is the last true state, steps 1..H what came."""

    manifest: Manifest
    states: Float[np.ndarray, "batch step slot predicted"]
    """Columns x, y, alive and the game fields, as a prediction has them."""
    globals: Float[np.ndarray, "batch step global"]
    terminal: Bool[np.ndarray, "batch step"]
    actions: UInt8[np.ndarray, "batch step"]
    """Discrete action taken in each step; that of the last step leads nowhere."""

    def __len__(self) -> int:
        return len(self.states)

    def slot(self, name: str) -> int:
        """Number of the slot of that name."""
        return [slot.name for slot in self.manifest.slots].index(name)

    def x(self, slot: str) -> Float[np.ndarray, "batch step"]:
        """Horizontal place, shares of the world."""
        return self.states[:, :, self.slot(slot), X]

    def y(self, slot: str) -> Float[np.ndarray, "batch step"]:
        """Vertical place, shares of the world, down."""
        return self.states[:, :, self.slot(slot), Y]

    def alive(self, slot: str) -> Bool[np.ndarray, "batch step"]:
        """Whether it lives."""
        return self.states[:, :, self.slot(slot), ALIVE] > 0.5

    def field(self, slot: str, name: str) -> Float[np.ndarray, "batch step"]:
        """A game field of a slot."""
        column = ALIVE + 1 + self.manifest.profile.game_fields.index(name)
        return self.states[:, :, self.slot(slot), column]

    def number(self, name: str) -> Float[np.ndarray, "batch step"]:
        """A global: score, lives, phase ..."""
        return self.globals[:, :, self.manifest.profile.global_fields.index(name)]

    def dx(self, slot: str) -> Float[np.ndarray, "batch move"]:
        """Horizontal move of each step, the short way where the axis wraps; one less than steps."""
        return _moves(self.x(slot), self.manifest.wrap_x)

    def dy(self, slot: str) -> Float[np.ndarray, "batch move"]:
        """Vertical move of each step, the short way where the axis wraps; one less than steps."""
        return _moves(self.y(slot), self.manifest.wrap_y)

    def with_states(self, states: np.ndarray) -> "Trace":
        """The same with other states, for planted changes."""
        return replace(self, states=states)

    def with_globals(self, numbers: np.ndarray) -> "Trace":
        """The same with other globals, for planted changes."""
        return replace(self, globals=numbers)


def _moves(places: np.ndarray, wraps: bool) -> np.ndarray:
    moves = np.diff(places, axis=1)
    return moves - np.round(moves) if wraps else moves


@dataclass(frozen=True)
class Change:
    """A planted change: another physics, or another trace made from the true one."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Physics constants of the game that differ."""
    edit: Callable[[Trace], Trace] | None = None
    """Gives the changed trace; must not write into the one it gets."""

    def __post_init__(self) -> None:
        assert bool(self.parameters) != (self.edit is not None), f"{self.name}: one or the other"


@dataclass(frozen=True)
class Predicate:
    """A rule that every true continuation of a scenario keeps."""

    name: str
    says: str
    """One sentence for people."""
    holds: Callable[[Trace], Bool[np.ndarray, " batch"] | np.bool]
    """Whether each rollout keeps the rule; forgiving of what a good model is off by."""
    catches: Change
    """A change under which it must fail."""
    survives: Change
    """A change of something else, under which it must still hold."""


@dataclass(frozen=True)
class Scenario:
    """One mechanism: start, actions, horizon, rules."""

    name: str
    summary: str
    """The mechanism, one sentence."""
    script: str
    """Action words like `stay*7,up*20`; the first LEAD ticks lead to the last context state."""
    twin: str
    """The counterfactual: the same start and luck, one decision after LEAD is different."""
    reacts: str
    """Slot whose place or life, or global whose value, differs between the two in truth."""
    horizon: int
    """h_end, the last step scored; 20 or more."""
    predicates: tuple[Predicate, ...]
    set_up: Callable[[np.ndarray, np.random.Generator], None] | None = None
    """Turns a fresh world vector into the start, in place; draws vary it from seed to seed."""
    level: int = 1
    needs_memory: bool = False
    """What decides the outcome shows in the context, but not in its last state."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Physics constants of the scenario itself, where the mechanism is off by default."""
