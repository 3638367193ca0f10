"""What one game file offers: manifest, world layout, compiled rules, drawing and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosmolabe.core.fields import CORE_STATE, HISTORY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.seeds import world_key
from cosmolabe.engine.rng import COUNTER, KEY_HIGH, KEY_LOW

SCORE, REWARD, LIVES, LEVEL, PHASE, TICK, TERMINATED = range(7)
HEAD = 7
"""Every world begins with these seven public columns; a game's own follow from HEAD on."""
TAIL = 3
"""Every world ends with the random key (two words) and counter."""

MAX_LEVEL = 1000
"""The last level a world may start in; no player gets anywhere near it."""

READY, PLAYING, LOST, WON, OVER = range(5)
"""Values of the phase column."""


@dataclass(frozen=True)
class Column:
    """One public number of the world vector and where the tensors show it."""

    slot: int | None
    """Entity slot, or None for a global."""
    field: str
    scale: float = 1.0
    """Tensor value = world value x scale (a tick count becomes a share, for example)."""


def entity(slot: int, *fields: str) -> tuple[Column, ...]:
    """Columns of one entity, in the order they stand in the world vector."""
    return tuple(Column(slot, name) for name in fields)


@dataclass(frozen=True)
class Parameter:
    """One physics constant that a counterfactual world may change."""

    default: float
    unit: str


@dataclass(frozen=True)
class Theme:
    """Colours and mood of the picture; nothing of it is state."""

    name: str
    palette: tuple[tuple[int, int, int], ...]
    """Colours by number, red green blue; what each number paints is the game's choice. Colour 0
    is the background, colour 1 its second shade."""
    pattern: str = "plain"
    """Background pattern: one of `canvas.PATTERNS`."""
    jitter: float = 0.0
    """Camera jitter, pixels of a 224-pixel picture."""


@dataclass(frozen=True)
class Appearance:
    """How an episode looks: one character per role, a theme, and a seed for its decorations."""

    characters: tuple[str, ...] = ()
    theme: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Game:
    """One world with true rules.

    The kernels take the flat world vector (float64): HEAD columns, the game's public `columns`,
    its `private` names, then the random key and counter.

    reset(world, level, parameters): write a fresh level; the key is already in place and the
      rest of the vector is zero on a first reset.
    step(world, action, parameters): one tick; writes REWARD, TICK and TERMINATED.
    decide(world, parameters, luck) -> action: the heuristic player; `luck` holds two numbers in
      [0, 1) of the player's own stream.
    draw(canvas, state, globals, palette, sprites, camera): paints one frame over a background,
      from one frame's dense state (N, 23) and globals (17); `sprites` starts with the roles'
      characters, then `art`; `camera` is the shift in pixels.
    scenery(canvas, state, globals, palette, sprites, camera): optional; paints, under all that
      `draw` paints, what seldom changes. It is called only when a value of `scenery_columns`
      changes, and sees zero in place of all others; the camera moves its picture afterwards.

    Each is plain `@rule`; the drivers in `kernels` and `render` fix their types.
    """

    manifest: Manifest
    columns: tuple[Column, ...]
    """All public columns after HEAD."""
    private: tuple[str, ...]
    """Names of the private columns before the random tail (timers, scripts, cooldowns)."""
    parameters: Mapping[str, Parameter]
    actions: tuple[str, ...]
    """Words for the discrete actions; index 0 does nothing."""
    action_table: tuple[tuple[float, ...], ...]
    """Each discrete action as the seven action fields."""
    action_keys: Mapping[str, str]
    """Keyboard: key name to action word."""
    characters: tuple[str, ...]
    """Sprites a role can wear, at least six."""
    themes: tuple[Theme, ...]
    reset: Callable[..., None]
    step: Callable[..., None]
    decide: Callable[..., int]
    draw: Callable[..., None]
    words: Mapping[str, str] = field(default_factory=dict)
    """Words for people and for questions: role, goal, what each action looks like."""
    roles: tuple[str, ...] = ("player",)
    art: tuple[str, ...] = ()
    """Fixed sprites handed to `draw` after the characters."""
    constants: Mapping[tuple[int, str], float] = field(default_factory=dict)
    """State values that never change: (slot, field) to value; alive is 1 where not a column."""
    scenery: Callable[..., None] | None = None
    scenery_columns: tuple[Column, ...] = ()
    """The values that the scenery shows: `entity(slot, "x", "alive")`, `Column(None, "score")`."""
    late: Callable[..., bool] | None = None
    """late(public row) says whether the moment belongs to the late game; for the coverage table."""

    def __post_init__(self) -> None:
        assert len(self.actions) == len(self.action_table)
        assert len(self.characters) >= 6, "every game has at least six characters"

    @property
    def name(self) -> str:
        """The game's name, that of its file."""
        return self.manifest.game

    @property
    def num_public(self) -> int:
        """Public columns: the first part of the world vector."""
        return HEAD + len(self.columns)

    @property
    def num_world(self) -> int:
        """Length of the world vector."""
        return self.num_public + len(self.private) + TAIL

    def default_parameters(self, **changes: float) -> np.ndarray:
        """Physics constants as the kernels take them; `changes` by name make another world."""
        unknown = sorted(set(changes) - set(self.parameters))
        if unknown:
            raise ValueError(
                f"{self.name} has no parameter {unknown}; have {sorted(self.parameters)}"
            )
        wrong = {name: value for name, value in changes.items() if not _is_finite(value)}
        if wrong:
            raise ValueError(f"{self.name}: parameters are finite numbers; got {wrong}")
        return np.array(
            [changes.get(name, p.default) for name, p in self.parameters.items()], np.float64
        )

    def new_world(
        self, seed: int, level: int = 1, parameters: np.ndarray | None = None
    ) -> np.ndarray:
        """A fresh world vector, float64; everything in it follows from game, version and seed."""
        if not isinstance(level, (int, np.integer)) or not 1 <= level <= MAX_LEVEL:
            raise ValueError(f"level is a whole number, 1 to {MAX_LEVEL}; got {level!r}")
        world = np.zeros(self.num_world)
        low, high = world_key(self.name, self.manifest.version, seed)
        world[KEY_LOW], world[KEY_HIGH], world[COUNTER] = low, high, 0
        self.reset(world, level, self.default_parameters() if parameters is None else parameters)
        return world

    def new_worlds(
        self, seeds: np.ndarray, level: int = 1, parameters: np.ndarray | None = None
    ) -> np.ndarray:
        """A batch of fresh worlds, float64 (batch, world)."""
        return np.stack([self.new_world(int(seed), level, parameters) for seed in seeds])


def _is_finite(value: Any) -> bool:  # noqa: ANN401 - whatever was given
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(float(value)))


@dataclass(frozen=True)
class Layout:
    """Where each public column lands in the dense tensors; derived once from a game."""

    template: np.ndarray
    """Values of what never changes, float32 (slot, state)."""
    target: np.ndarray
    """Per public column: slot * num_state + column, or -1 - global, or SKIP; int64."""
    scale: np.ndarray
    """Per public column; float64."""
    wrap: np.ndarray
    """Whether x and y wrap, bool (2,)."""


SKIP = -(1 << 40)
"""A public column that is shown in no tensor (the terminal flag has its own array)."""


def layout_of(game: Game) -> Layout:
    """The map from a game's public columns to its dense tensors."""
    manifest, profile = game.manifest, game.manifest.profile
    columns_of = {name: index for index, name in enumerate(profile.state_columns)}
    template = np.zeros((manifest.num_slots, profile.num_state), np.float32)
    template[:, columns_of["alive"]] = 1
    for (slot, name), value in game.constants.items():
        template[slot, columns_of[name]] = value
    head = (
        Column(None, "score"),
        Column(None, "reward"),
        Column(None, "lives"),
        Column(None, "level"),
        Column(None, "phase"),
        Column(None, "tick_share", 1.0 / manifest.max_ticks),
    )
    target, scale = [], []
    for column in (*head, None, *game.columns):
        if column is None:
            target.append(SKIP)
            scale.append(1.0)
            continue
        if column.slot is None:
            assert column.field in manifest.globals, f"{game.name}: undeclared {column.field}"
            target.append(-1 - profile.global_fields.index(column.field))
        else:
            used = (*CORE_STATE, *HISTORY, *manifest.fields)
            assert column.field in used, f"{game.name}: undeclared {column.field}"
            target.append(column.slot * profile.num_state + columns_of[column.field])
        scale.append(column.scale)
    return Layout(
        template=template,
        target=np.array(target, np.int64),
        scale=np.array(scale, np.float64),
        wrap=np.array([manifest.wrap_x, manifest.wrap_y]),
    )
