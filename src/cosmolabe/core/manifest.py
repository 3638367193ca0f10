"""What a game declares about itself: its slots, names, wrap axes and clock."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.fields import AWM, FLAGS, MATTER, SHAPES, SIZES, Profile

GAME_NAME = r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]{0,99}"
LARGEST = 1e9  # of a slot's sizes and matter


@dataclass(frozen=True)
class Slot:
    """One entity's place in the tensors; constant for an episode."""

    name: str
    kind: str
    shape: str = "box"
    layer: str = "decor"
    radius: float = 0.0  # world heights
    half_width: float = 0.0  # world heights
    half_height: float = 0.0  # world heights
    mutable: bool = True  # a prediction target; otherwise context
    controllable: bool = False
    solid: bool = False
    wraps: bool = False
    mass: float = 1.0
    restitution: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True)
class Manifest:
    """All a reader needs to turn a game's envelopes into tensors and back."""

    game: str
    version: int
    slots: tuple[Slot, ...]
    fields: tuple[str, ...] = ()
    """Game fields this game uses, of `profile.game_fields`."""
    globals: tuple[str, ...] = ("score", "reward", "lives", "level", "phase", "tick_share")
    actions: tuple[str, ...] = ()
    wrap_x: bool = False
    wrap_y: bool = False
    fps: float = 60.0
    aspect: float = 1.0
    """World width over world height."""
    max_ticks: int = 3600
    profile: Profile = field(default=AWM)
    schema: int = 1

    def __post_init__(self) -> None:
        if not re.fullmatch(GAME_NAME, self.game):
            raise ValueError(
                f"a game's name becomes part of file names: 1 to 100 characters, none of them a "
                f"slash or invisible, the first no dot; got {self.game[:120]!r}"
            )
        names = [slot.name for slot in self.slots]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"manifest of '{self.game}': slot names must differ; twice: {twice}")
        if not self.slots:
            raise ValueError(f"manifest of '{self.game}': needs at least one slot")
        in_range = (
            0 < self.fps < 10_000 and 0.01 <= self.aspect <= 100 and 1 <= self.max_ticks < 1 << 31
        )
        if not in_range:
            raise ValueError(
                f"manifest of '{self.game}': fps, aspect and max_ticks must be positive and "
                f"sensible (below 10000, 0.01 to 100, below 2^31); got {self.fps}, "
                f"{self.aspect}, {self.max_ticks}"
            )
        self._check_names("field", self.fields, self.profile.game_fields)
        self._check_names("global", self.globals, self.profile.global_fields)
        self._check_names("action", self.actions, self.profile.action_fields)
        for slot in self.slots:
            self._check_names(f"kind of slot '{slot.name}'", (slot.kind,), self.profile.kinds)
            self._check_names(f"shape of slot '{slot.name}'", (slot.shape,), SHAPES)
            self._check_names(f"layer of slot '{slot.name}'", (slot.layer,), self.profile.layers)
            wrong = {n: v for n in (*SIZES, *MATTER) if not 0 <= (v := getattr(slot, n)) < LARGEST}
            if wrong:
                raise ValueError(
                    f"manifest of '{self.game}': slot '{slot.name}': sizes and matter are 0 or "
                    f"more and below {LARGEST:g}; got {wrong}"
                )

    def _check_names(self, what: str, got: tuple[str, ...], known: tuple[str, ...]) -> None:
        unknown = [name for name in got if name not in known]
        if unknown:
            raise ValueError(
                f"manifest of '{self.game}': unknown {what} {unknown}; have {list(known)}"
            )

    @property
    def num_slots(self) -> int:
        """N, the number of entity slots."""
        return len(self.slots)

    def registry(self) -> Float[np.ndarray, "slot registry"]:
        """Constant columns of every slot, in the order of `core.fields.REGISTRY_COLUMNS`."""
        profile = self.profile
        table = np.zeros((self.num_slots, profile.num_registry), np.float32)
        for row, slot in zip(table, self.slots, strict=True):
            kind, shape = profile.kinds.index(slot.kind), SHAPES.index(slot.shape)
            layer = profile.layers.index(slot.layer)
            row[kind] = 1
            start = len(profile.kinds)
            row[start + shape] = 1
            start += len(SHAPES)
            row[start : start + len(SIZES)] = [getattr(slot, name) for name in SIZES]
            start += len(SIZES)
            row[start + layer] = 1
            start += len(profile.layers)
            row[start:] = [float(getattr(slot, name)) for name in (*FLAGS, *MATTER)]
        return table

    def masks(self) -> "Masks":
        """Which slots, fields, globals, actions and axes are in use."""
        profile = self.profile
        return Masks(
            valid=np.ones(self.num_slots, bool),
            mutable=np.array([slot.mutable for slot in self.slots], bool),
            fields=np.array([name in self.fields for name in profile.game_fields], bool),
            globals=np.array([name in self.globals for name in profile.global_fields], bool),
            actions=np.array([name in self.actions for name in profile.action_fields], bool),
            wrap=np.array([self.wrap_x, self.wrap_y], bool),
        )


@dataclass(frozen=True)
class Masks:
    """What a model may use and what it is judged on; `valid` and `mutable` may be batched."""

    valid: Bool[np.ndarray, "*batch slot"]
    mutable: Bool[np.ndarray, "*batch slot"]
    fields: Bool[np.ndarray, " field"]
    globals: Bool[np.ndarray, " global"]
    actions: Bool[np.ndarray, " action"]
    wrap: Bool[np.ndarray, "2"]

    def copy(self) -> "Masks":
        """Arrays of its own, for somebody who may write into them."""
        return Masks(**{name: mask.copy() for name, mask in vars(self).items()})

    def take(self, rows: slice | np.ndarray) -> "Masks":
        """The masks of some rows of the batch; those that all rows share stay as they are."""
        if self.valid.ndim == 1:
            return self
        return replace(self, valid=self.valid[rows], mutable=self.mutable[rows])
