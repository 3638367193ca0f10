"""Episodes hurt on purpose: ground truth for judges of physics, actions and identity.

A damaged episode replays a recorded one, the same seed, actions, look and luck, and from its
onset one thing is wrong, by a size in [0, 1]. Its undamaged twin is the recorded episode itself,
so the two are equal bit for bit before the onset and differ in that one thing after.

Two families. `DYNAMICS` change the world or what is shown of it, as a broken simulator would
(`damage_world`, `damage_shown`). `ROLLOUT` change the states of a finished episode or of a model's
prediction, as world models go wrong (`damage_rollout`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.core.seeds import generator
from cosmolabe.engine.game import Game

PARAMETERS: dict[str, tuple[tuple[str, ...], float]] = {
    "gravity": (("gravity",), -1.0),
    "restitution": (("restitution", "bounce"), -0.8),
    "friction": (("friction", "drag", "grip"), -1.0),
    "speed": (("speed", "power", "thrust"), 1.0),
}
"""Which parameters a kind changes, by a word in their names, and by what share at size 1."""
INVERSE = ("period",)
"""Words of parameters that are times for a step: a damage of `speed` divides them."""
PACE = {"freeze": -1.0, "speed_jump": 1.5}
"""How much of its motion an entity gains or loses at size 1."""
PICTURES = ("size_change", "identity_swap")
"""Kinds that show in pictures alone: neither how large nor who somebody looks is state."""
DYNAMICS = (
    *PARAMETERS, "gravity_turned", "ghosting", "wrong_action", "action_delay", *PACE, "teleport",
    "vanish", "appear", "duplicate", "reversed_time", *PICTURES,
)  # fmt: skip
ROLLOUT = ("drift", "jitter", "smooth_noise", "lag", "mean_collapse")
KINDS = (*DYNAMICS, *ROLLOUT)
WORLD = ""
"""The entity of a damage that concerns the whole world."""


@dataclass(frozen=True)
class Damage:
    """What is wrong, how much, from which state on, and to whom."""

    kind: str
    size: float
    """0 changes nothing, 1 is plain to see."""
    onset: int
    """The first state that may differ."""
    entity: str = WORLD
    """A slot's name; empty means the whole world where the kind can hit it, else lets `seed` choose
    one that is alive at the onset."""
    seed: int = 0
    schema: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no damage '{self.kind}'; have {list(KINDS)}")
        if not 0 <= self.size <= 1:
            raise ValueError(f"the size of a damage is in [0, 1]; got {self.size}")
        if self.onset < 1:
            raise ValueError(f"the first state cannot be damaged; onset must be 1 or more, got "
                             f"{self.onset}")  # fmt: skip

    @property
    def family(self) -> str:
        """`dynamics` or `rollout`."""
        return "rollout" if self.kind in ROLLOUT else "dynamics"


def applicable(game: Game) -> dict[str, tuple[str, ...]]:
    """For each kind the entities it can hit in this game, `WORLD` for all at once; or none."""
    columns: dict[int, set[str]] = {}
    for column in game.columns:
        if column.slot is not None:
            columns.setdefault(column.slot, set()).add(column.field)
    slots = game.manifest.slots
    moving = sorted(s for s, f in columns.items() if {"vx", "x"} <= f or {"vy", "y"} <= f)
    placed = {slot for slot, fields in columns.items() if fields & {"x", "y"}}
    mortal = {slot for slot, fields in columns.items() if "alive" in fields}
    everyone: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, (WORLD,))
    for kind in PARAMETERS:
        everyone[kind] = (WORLD,) if parameters_of(game, kind) else ()
    if not turns_gravity(game):
        everyone["gravity_turned"] = ()
    everyone["ghosting"] = (WORLD,) if ghosts_of(game) else ()
    everyone["identity_swap"] = tuple(game.roles)
    everyone["teleport"] = _names(slots, (s for s in moving if {"x", "y"} <= columns[s]))
    everyone["vanish"] = everyone["size_change"] = _names(slots, moving)
    everyone |= dict.fromkeys(PACE, _names(slots, moving))
    everyone["appear"] = _names(slots, mortal)
    several = Counter(_looks(slots[slot]) for slot in mortal & placed)
    doubles = (slot for slot in mortal & placed if several[_looks(slots[slot])] > 1)
    everyone["duplicate"] = _names(slots, doubles)
    return everyone | in_rollouts(game.manifest)


def in_rollouts(manifest: Manifest) -> dict[str, tuple[str, ...]]:
    """The same of the kinds that need no game, only states: every prediction target."""
    targets = tuple(slot.name for slot in manifest.slots if slot.mutable)
    return dict.fromkeys(ROLLOUT, (WORLD, *targets))


def with_entity(game: Game, true: Episode, damage: Damage) -> Damage:
    """The damage with its entity: the one asked for, or one that lives at the onset."""
    choices = applicable(game)[damage.kind]
    if not choices:
        able = [kind for kind, entities in applicable(game).items() if entities]
        raise ValueError(f"{game.name} cannot be damaged by '{damage.kind}'; it can by {able}")
    if damage.entity and damage.entity not in choices:
        raise ValueError(
            f"'{damage.kind}' cannot hit '{damage.entity}' in {game.name}; it can hit "
            f"{list(choices)}"
        )
    if damage.entity or WORLD in choices:
        return damage
    slots = {slot.name: row for row, slot in enumerate(game.manifest.slots)}
    alive = true.states[damage.onset, :, ALIVE] > 0.5
    fits = {name: _fits(game, alive, slots[name], damage.kind) for name in choices if name in slots}
    able = [name for name in choices if fits.get(name, True)] or list(choices)
    pick = generator("damaged entity", damage.kind, damage.seed).integers(len(able))
    return replace(damage, entity=able[pick])


def _fits(game: Game, alive: np.ndarray, slot: int, kind: str) -> bool:
    """Whether a kind has something to do to a slot: the living can vanish, the dead appear."""
    if kind == "appear":
        return not alive[slot]
    if kind == "duplicate":
        return bool(alive[slot]) and any(not alive[spare] for spare in alike(game.manifest, slot))
    return bool(alive[slot])


def alike(manifest: Manifest, slot: int) -> list[int]:
    """Other slots that hold the same thing: a rock of the same size, another barrel."""
    mine = _looks(manifest.slots[slot])
    return [
        other for other, row in enumerate(manifest.slots) if other != slot and _looks(row) == mine
    ]


def _looks(slot: Slot) -> tuple:
    return slot.kind, slot.shape, slot.radius, slot.half_width, slot.half_height


def _names(slots: tuple[Slot, ...], chosen: Iterable[int]) -> tuple[str, ...]:
    return tuple(slots[slot].name for slot in sorted(chosen))


def parameters_of(game: Game, kind: str) -> list[int]:
    """Places of the parameters that a kind changes."""
    words = PARAMETERS[kind][0]
    return [
        index
        for index, name in enumerate(game.parameters)
        if any(word in name.split("_") for word in (words if kind != "speed" else words + INVERSE))
    ]


def ghosts_of(game: Game) -> list[int]:
    """Places of the parameters that make things solid."""
    return [i for i, p in enumerate(game.parameters.values()) if p.unit.startswith("1 solid")]


def turns_gravity(game: Game) -> bool:
    """Whether something falls in this game: what does not fall has no direction to fall in."""
    return any(
        game.parameters[name].default != 0.0
        for name in game.parameters
        if "gravity" in name.split("_")
    )
