"""Episodes hurt on purpose: ground truth for judges of physics, actions and identity.

A damaged episode replays a recorded one, the same seed, actions, look and luck, and from its
onset one thing is wrong, by a size in [0, 1]. Its undamaged twin is the recorded episode itself,
so the two are equal bit for bit before the onset and differ in that one thing after.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.seeds import generator
from cosmolabe.engine.game import HEAD, TERMINATED, Game

LONGEST_VANISH = 120  # ticks, at size 1
LONGEST_DELAY = 30  # ticks, at size 1
FARTHEST_TELEPORT = 0.5  # of the world, at size 1
NEW_GRAVITY = 0.0004  # screens per tick per tick, at size 1, where the game has none
EDGE = 0.03  # a moved entity keeps this far from the world's edge
PACE = {"freeze": -1.0, "speed_jump": 1.5}
"""How much of its motion an entity gains or loses at size 1."""
PARAMETERS: dict[str, tuple[tuple[str, ...], float]] = {
    "gravity": (("gravity",), -1.0),
    "restitution": (("restitution", "bounce"), -0.8),
    "friction": (("friction", "drag", "grip"), -0.9),
    "speed": (("speed", "power", "thrust"), 1.0),
}
"""Which parameters a kind changes, by a word in their names, and by what share at size 1."""
INVERSE = ("period",)
"""Words of parameters that are times for a step: a damage of `speed` divides them."""
KINDS = (
    *PARAMETERS, "ghosting", "wrong_action", "action_delay", *PACE, "teleport", "vanish",
    "identity_swap",
)  # fmt: skip
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
    """A slot's name; empty lets `seed` choose one that is alive at the onset."""
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


def applicable(game: Game) -> dict[str, tuple[str, ...]]:
    """For each kind the entities it can hit in this game, `WORLD` for all at once; or none."""
    columns: dict[int, set[str]] = {}
    for column in game.columns:
        if column.slot is not None:
            columns.setdefault(column.slot, set()).add(column.field)
    names = [slot.name for slot in game.manifest.slots]
    moving = sorted(s for s, f in columns.items() if {"vx", "x"} <= f or {"vy", "y"} <= f)
    free = tuple(names[slot] for slot in moving if {"x", "y"} <= columns[slot])
    everyone: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, (WORLD,))
    for kind in PARAMETERS:
        everyone[kind] = (WORLD,) if _parameters(game, kind) else ()
    everyone["ghosting"] = (WORLD,) if _ghosts(game) else ()
    everyone["identity_swap"] = tuple(game.roles)
    everyone["teleport"] = free
    for kind in ("vanish", *PACE):
        everyone[kind] = tuple(names[slot] for slot in moving)
    return everyone


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
    if damage.entity or choices == (WORLD,):
        return damage
    slots = {slot.name: row for row, slot in enumerate(game.manifest.slots)}
    alive = true.states[damage.onset, :, ALIVE] > 0.5
    living = [name for name in choices if name not in slots or alive[slots[name]]] or list(choices)
    pick = generator("damaged entity", damage.kind, damage.seed).integers(len(living))
    return replace(damage, entity=living[pick])


def damaged_play(
    game: Game, world: np.ndarray, log: np.ndarray, constants: np.ndarray, damage: Damage
) -> Float[np.ndarray, "time public"]:
    """Compact states of the damaged double; `world` stands at the start and is played on."""
    public = np.zeros((len(log) + 1, game.num_public), np.float32)
    public[0] = world[: game.num_public]
    draws = generator("damage", damage.kind, damage.seed).random(len(log) + 1)
    damaged = _damaged_constants(game, constants, damage)
    hook = _hook(game, damage, draws)
    length = 1
    for t in range(1, len(log) + 1):
        if world[TERMINATED] != 0:
            break
        on = t >= damage.onset
        action = _action(game, log, t - 1, damage, draws[t]) if on else int(log[t - 1])
        hurt = on and (damage.kind in PARAMETERS or draws[t] < damage.size)
        before = world.copy()
        game.step(world, action, damaged if hurt else constants)
        if on and hook is not None and world[TERMINATED] == 0:
            hook(before, world, t)
        public[t] = world[: game.num_public]
        length = t + 1
    return public[:length]


def _parameters(game: Game, kind: str) -> list[int]:
    words = PARAMETERS[kind][0]
    return [
        index
        for index, name in enumerate(game.parameters)
        if any(word in name.split("_") for word in (words if kind != "speed" else words + INVERSE))
    ]


def _ghosts(game: Game) -> list[int]:
    return [i for i, p in enumerate(game.parameters.values()) if p.unit.startswith("1 solid")]


def _damaged_constants(game: Game, constants: np.ndarray, damage: Damage) -> np.ndarray:
    changed = constants.copy()
    if damage.kind == "ghosting":
        changed[_ghosts(game)] = 0.0
    if damage.kind in PARAMETERS:
        share = PARAMETERS[damage.kind][1] * damage.size
        for index in _parameters(game, damage.kind):
            inverse = any(word in list(game.parameters)[index].split("_") for word in INVERSE)
            changed[index] *= 1.0 / (1.0 + share) if inverse else 1.0 + share
            if constants[index] == 0.0 and damage.kind == "gravity":
                changed[index] = NEW_GRAVITY * damage.size
    return changed


def _action(game: Game, log: np.ndarray, tick: int, damage: Damage, draw: float) -> int:
    if damage.kind == "action_delay":
        return int(log[max(tick - round(LONGEST_DELAY * damage.size), 0)])
    if damage.kind == "wrong_action" and draw < damage.size:
        return (int(log[tick]) + 1) % len(game.actions)
    return int(log[tick])


@dataclass(frozen=True)
class _Axis:
    """Where one coordinate of an entity stands in the world vector, and in what unit."""

    at: int
    scale: float
    """Share of the world = world value x scale; not 1 where the game counts cells."""
    wraps: bool

    def move(self, world: np.ndarray, by: float) -> None:
        """Move by a share of the world; whole cells where the game counts in cells."""
        place = world[self.at] * self.scale + by
        place = place % 1.0 if self.wraps else min(max(place, EDGE), 1.0 - EDGE)
        if self.scale == 1.0:
            world[self.at] = place
        else:
            world[self.at] += np.round((place - world[self.at] * self.scale) / self.scale)


def _axes(game: Game, entity: str) -> list[_Axis]:
    slot = [slot.name for slot in game.manifest.slots].index(entity)
    wraps = {"x": game.manifest.wrap_x, "y": game.manifest.wrap_y}
    return [
        _Axis(HEAD + i, c.scale, wraps[c.field])
        for i, c in enumerate(game.columns)
        if c.slot == slot and c.field in wraps
    ]


def _hook(
    game: Game, damage: Damage, draws: np.ndarray
) -> Callable[[np.ndarray, np.ndarray, int], None] | None:
    """What changes the world after a step; None where the damage works otherwise."""
    if damage.size == 0 or damage.kind not in (*PACE, "teleport"):
        return None
    axes = _axes(game, damage.entity)

    def change_pace(before: np.ndarray, world: np.ndarray, t: int) -> None:
        for axis in axes:
            moved = (world[axis.at] - before[axis.at]) * axis.scale
            moved -= np.round(moved) if axis.wraps else 0.0
            if moved == 0 or abs(moved) > 0.2:  # farther is no motion but a new place
                continue
            if axis.scale == 1.0:
                axis.move(world, moved * PACE[damage.kind] * damage.size)
            elif draws[t] < damage.size:  # a cell is gone or not gone, so size is a chance
                axis.move(world, moved * np.sign(PACE[damage.kind]))

    def teleport(_: np.ndarray, world: np.ndarray, t: int) -> None:
        if t == damage.onset:
            for axis in axes:
                away = 1.0 if world[axis.at] * axis.scale < 0.5 else -1.0
                axis.move(world, away * FARTHEST_TELEPORT * damage.size)

    return teleport if damage.kind == "teleport" else change_pace
