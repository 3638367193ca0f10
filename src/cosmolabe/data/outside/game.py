"""What a game that nobody here wrote offers, so that its episodes become a store like any other.

An adapter names its entities in families (one player, thirty asteroids), gives a table of its own
actions in our action fields, and opens sessions. A session shows one moment at a time: where the
things are, the global numbers, and the frame that belongs to exactly this state.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.manifest import Manifest, Slot


@dataclass(frozen=True)
class Thing:
    """One living entity: its centre in shares of the world, and its game fields."""

    x: float
    y: float
    fields: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Moment:
    """What can be known of one tick."""

    things: Mapping[str, Sequence[Thing | None]]
    """By family. Of a tracked family in any order; else one place a slot, None where dead."""
    numbers: Mapping[str, float]
    """Every global the manifest names but `tick_share`, which follows from the clock."""
    terminated: bool = False
    truncated: bool = False


REACH = 0.1
"""World heights a tick (our choice): an entity that is further off is another one."""


@runtime_checkable
class Session(Protocol):
    """One running environment."""

    def reset(self, seed: int) -> Moment:
        """Start over; the same seed and actions give the same moments, whatever came before."""
        ...

    def step(self, action: int) -> Moment:
        """One tick under an action chosen after seeing the last moment."""
        ...

    def frame(self) -> UInt8[np.ndarray, "height width 3"]:
        """The picture of the last moment."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True)
class Family:
    """Entities of one kind: `count` slots of one size."""

    slot: Slot
    """What every slot of the family looks like; its name is the family's."""
    count: int = 1
    tracked: bool = True
    """Whether slots are kept by nearest matching; False where the adapter gives places itself."""

    def slots(self) -> tuple[Slot, ...]:
        """`ball`, or `brick_0`, `brick_1`, ..."""
        if self.count == 1:
            return (self.slot,)
        return tuple(
            replace(self.slot, name=f"{self.slot.name}_{place}") for place in range(self.count)
        )


@dataclass(frozen=True)
class OutsideGame:
    """A game by its name on the command line (`atari/Pong`), its manifest and its actions."""

    name: str
    manifest: Manifest
    families: tuple[Family, ...]
    actions: tuple[Mapping[str, float], ...]
    """What each of the game's own actions means in our action fields; number 0 does nothing."""
    action_names: tuple[str, ...]
    open: Callable[[], Session]
    reach: float = REACH
    world: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    """Where in a frame the world is: left, top, width and height in shares of the frame."""
    libraries: Mapping[str, str] = field(default_factory=dict)
    """Whose rules these are: distribution and version, recorded in the store."""

    def __post_init__(self) -> None:
        slots = tuple(slot for family in self.families for slot in family.slots())
        if slots != self.manifest.slots:
            raise ValueError(f"{self.name}: the manifest's slots are not those of its families")
        if len(self.actions) != len(self.action_names) or not self.actions:
            raise ValueError(f"{self.name}: {len(self.actions)} actions, as many names are wanted")
        known = set(self.manifest.actions)
        unknown = sorted({name for action in self.actions for name in action} - known)
        if unknown:
            raise ValueError(f"{self.name}: actions use {unknown}; the manifest has {known}")
