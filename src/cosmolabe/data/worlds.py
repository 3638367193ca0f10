"""Many worlds of one game played side by side, and what an agent sees of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from jaxtyping import Bool, Float, Int64

from cosmolabe.core.episode import shortest_way
from cosmolabe.engine import kernels
from cosmolabe.engine.game import (
    LEVEL,
    LIVES,
    PHASE,
    REWARD,
    SCORE,
    TERMINATED,
    TICK,
    WON,
    Appearance,
    Game,
    layout_of,
)
from cosmolabe.engine.render import draw_frames
from cosmolabe.engine.windows import alive_columns

OBSERVATIONS = ("state", "flat", "rgb")
LARGEST = 1e6
"""Bound of every state value in the observation spaces; a game's numbers stay far below."""


@dataclass(frozen=True)
class Rules:
    """Which game, under which constants, seen how."""

    game: Game
    observation: str = "state"
    """state: a dict of `states` (slot, state) and `globals`; flat: the game's public columns in its
    own order and units; rgb: the picture."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    appearance: Appearance = field(default_factory=Appearance)
    size: int = 224
    """Height of pictures in pixels."""

    def __post_init__(self) -> None:
        if self.observation not in OBSERVATIONS:
            raise ValueError(
                f"no observation '{self.observation}' of {self.game.name}; have {OBSERVATIONS}"
            )
        if self.size < 16:
            raise ValueError(f"pictures need a size of at least 16 pixels; got {self.size}")

    def observation_space(self) -> spaces.Space:
        """What one world shows."""
        manifest = self.game.manifest
        if self.observation == "rgb":
            shape = (self.size, round(self.size * manifest.aspect), 3)
            return spaces.Box(0, 255, shape, np.uint8)
        if self.observation == "flat":
            return _box((self.game.num_public,))
        profile = manifest.profile
        return spaces.Dict(
            states=_box((manifest.num_slots, profile.num_state)),
            globals=_box((len(profile.global_fields),)),
        )


def _box(shape: tuple[int, ...]) -> spaces.Box:
    return spaces.Box(-LARGEST, LARGEST, shape, np.float32)


class Worlds:
    """A batch of worlds with the rows its history deltas need."""

    def __init__(self, rules: Rules, num_worlds: int) -> None:
        self.rules = rules
        self.game = rules.game
        self.constants = self.game.default_parameters(**rules.parameters)[None]
        self.vectors = np.zeros((num_worlds, self.game.num_world))
        self.seeds = np.zeros(num_worlds, np.int64)
        self._recent = np.zeros((3, num_worlds, self.game.num_public), np.float32)
        self._age = np.zeros(num_worlds, np.int64)
        self._layout = layout_of(self.game)
        num_state = self.game.manifest.profile.num_state
        target = self._layout.target
        self._entity = np.flatnonzero(target >= 0)
        self._global = np.flatnonzero((target < 0) & (target > -1000))
        self._moving = np.flatnonzero((target >= 0) & (target % num_state < 2))
        self._alive = alive_columns(self._layout, num_state)

    def __len__(self) -> int:
        return len(self.vectors)

    def reset(self, which: Int64[np.ndarray, " some"], seeds: list[int], level: int = 1) -> None:
        """Fresh worlds in the given places."""
        for place, seed in zip(which, seeds, strict=True):
            self.vectors[place] = self.game.new_world(seed, level, self.constants[0])
            self.seeds[place] = seed
        self._recent[:, which] = self.vectors[which, : self.game.num_public]
        self._age[which] = 0

    def step(self, actions: np.ndarray, moving: Bool[np.ndarray, " batch"] | None = None) -> None:
        """One tick of all worlds, or of those that are `moving`."""
        if moving is None or moving.all():
            kernels.advance(self.game.step, self.vectors, _moves(actions), self.constants)
        else:
            some = self.vectors[moving]
            kernels.advance(self.game.step, some, _moves(actions[moving]), self.constants)
            self.vectors[moving] = some
        self._recent[2], self._recent[1] = self._recent[1], self._recent[0]
        self._recent[0] = self.vectors[:, : self.game.num_public]
        self._age += 1

    def rewards(self) -> Float[np.ndarray, " batch"]:
        """Points of the last tick, in full precision."""
        return self.vectors[:, REWARD].copy()

    def ended(self) -> tuple[Bool[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        """(terminated, truncated): the clock's end, lives left and nothing won, truncates.

        A world that loses its last life or wins in its very last tick has terminated.
        """
        over = self.vectors[:, TERMINATED] != 0
        by_clock = (
            (self.vectors[:, TICK] >= self.game.manifest.max_ticks)
            & (self.vectors[:, PHASE] != WON)
            & (self.vectors[:, LIVES] > 0)
        )
        return over & ~by_clock, over & by_clock

    def dense(
        self,
    ) -> tuple[Float[np.ndarray, "batch slot state"], Float[np.ndarray, "batch global"]]:
        """States and globals as any envelope holds them, history deltas included."""
        layout, profile = self._layout, self.game.manifest.profile
        flat = np.repeat(layout.template.reshape(1, -1), len(self), 0)
        rows = (self._recent * layout.scale).astype(np.float32)
        flat[:, layout.target[self._entity]] = rows[0][:, self._entity]
        numbers = np.zeros((len(self), len(profile.global_fields)), np.float32)
        numbers[:, -1 - layout.target[self._global]] = rows[0][:, self._global]
        for lag in (1, 2):
            self._write_motion(flat, rows[lag - 1], rows[lag], lag)
        shape = (len(self), self.game.manifest.num_slots, profile.num_state)
        return flat.reshape(shape), numbers

    def _write_motion(
        self, flat: np.ndarray, newer: np.ndarray, older: np.ndarray, lag: int
    ) -> None:
        columns, num_state = self._moving, self.game.manifest.profile.num_state
        places = self._layout.target[columns]
        delta = newer[:, columns] - older[:, columns]
        wraps = self._layout.wrap[places % num_state]
        delta = shortest_way(delta, wraps)
        alive = self._alive[columns]
        living = (newer[:, alive] >= 0.5) & (older[:, alive] >= 0.5) | (alive < 0)
        known = (self._age >= lag)[:, None]
        history = num_state - 6 + 2 * lag + places % num_state
        flat[:, places - places % num_state + history] = np.where(living & known, delta, 0)

    def observe(self) -> Any:  # noqa: ANN401 - three kinds of observation
        """What the agents see, batched and fresh."""
        if self.rules.observation == "flat":
            return self._recent[0].copy()
        states, numbers = self.dense()
        if self.rules.observation == "rgb":
            return self.draw(states, numbers)
        return {"states": states, "globals": numbers}

    def draw(self, states: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Pictures of dense states, uint8 (batch, height, width, 3)."""
        return draw_frames(self.game, states, numbers, self.rules.appearance, self.rules.size)

    def facts(self) -> dict[str, np.ndarray]:
        """What `info` says of every world."""
        columns = {"lives": LIVES, "level": LEVEL, "phase": PHASE, "tick": TICK}
        counts = {name: self.vectors[:, at].astype(np.int64) for name, at in columns.items()}
        return {"score": self.vectors[:, SCORE].copy(), **counts, "seed": self.seeds.copy()}


def _moves(actions: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(actions.reshape(-1, 1), np.uint8)
