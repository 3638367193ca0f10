"""Damage inside the rules: the world itself goes on wrong from the onset."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cosmolabe.core.seeds import generator
from cosmolabe.data.damage import INVERSE, PACE, PARAMETERS, Damage, ghosts_of, parameters_of
from cosmolabe.engine.game import HEAD, TERMINATED, Game

LONGEST_DELAY = 16  # ticks, at size 1; held actions make a longer one look milder again
FARTHEST_TELEPORT = 0.5  # of the world, at size 1
NEW_GRAVITY = 0.0004  # screens per tick per tick, at size 1, where the game has none
STEEPEST_TURN = np.pi / 3  # of gravity, at size 1: half of it still pulls down
HEAVIEST = 2.0  # times gravity: a game may let a body fall faster than it rose
EDGE = 0.03  # a moved entity keeps this far from the world's edge
Hook = Callable[[np.ndarray, np.ndarray, int], None]
"""hook(before, world, tick) changes the world after a step."""


def damaged_play(
    game: Game, world: np.ndarray, log: np.ndarray, constants: np.ndarray, damage: Damage
) -> Float[np.ndarray, "time public"]:
    """Compact states of the damaged double; `world` stands at the start and is played on."""
    public = np.zeros((len(log) + 1, game.num_public), np.float32)
    public[0] = world[: game.num_public]
    draws = generator("damage", damage.kind, damage.seed).random(len(log) + 1)
    damaged = _damaged_constants(game, constants, damage)
    hook = _hook(game, damage, draws, damaged)
    length = 1
    for t in range(1, len(log) + 1):
        if world[TERMINATED] != 0:
            break
        on = t >= damage.onset
        action = _action(game, log, t - 1, damage, draws[t]) if on else int(log[t - 1])
        hurt = on and (damage.kind != "ghosting" or draws[t] < damage.size)
        before = world.copy()
        game.step(world, action, damaged if hurt else constants)
        if on and hook is not None and world[TERMINATED] == 0:
            hook(before, world, t)
        public[t] = world[: game.num_public]
        length = t + 1
    return public[:length]


def _damaged_constants(game: Game, constants: np.ndarray, damage: Damage) -> np.ndarray:
    changed = constants.copy()
    if damage.kind == "ghosting":
        changed[ghosts_of(game)] = 0.0
    if damage.kind == "gravity_turned" and damage.size > 0:
        changed[parameters_of(game, "gravity")] *= np.cos(STEEPEST_TURN * damage.size)
    if damage.kind in PARAMETERS:
        share = PARAMETERS[damage.kind][1] * damage.size
        for index in parameters_of(game, damage.kind):
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


def _hook(game: Game, damage: Damage, draws: np.ndarray, damaged: np.ndarray) -> Hook | None:
    """What changes the world after a step; None where the damage works otherwise."""
    if damage.size == 0:
        return None
    if damage.kind in PACE:
        return _change_pace(_axes(game, damage.entity), damage, draws)
    if damage.kind == "teleport":
        return _teleport(_axes(game, damage.entity), damage)
    if damage.kind == "gravity_turned":
        gravity = damaged[parameters_of(game, "gravity")][0]
        return _pull_aside(game, gravity, gravity * np.tan(STEEPEST_TURN * damage.size))
    return None


def _change_pace(axes: list[_Axis], damage: Damage, draws: np.ndarray) -> Hook:
    def hook(before: np.ndarray, world: np.ndarray, t: int) -> None:
        for axis in axes:
            moved = (world[axis.at] - before[axis.at]) * axis.scale
            moved -= np.round(moved) if axis.wraps else 0.0
            if moved == 0 or abs(moved) > 0.2:  # farther is no motion but a new place
                continue
            if axis.scale == 1.0:
                axis.move(world, moved * PACE[damage.kind] * damage.size)
            elif draws[t] < damage.size:  # a cell is gone or not gone, so size is a chance
                axis.move(world, moved * np.sign(PACE[damage.kind]))

    return hook


def _teleport(axes: list[_Axis], damage: Damage) -> Hook:
    def hook(_: np.ndarray, world: np.ndarray, t: int) -> None:
        if t == damage.onset:
            for axis in axes:
                away = 1.0 if world[axis.at] * axis.scale < 0.5 else -1.0
                axis.move(world, away * FARTHEST_TELEPORT * damage.size)

    return hook


def _pull_aside(game: Game, down: float, aside: float) -> Hook:
    """Whoever gravity pulled down in this tick is pulled to the right as well, until it rests."""
    columns = {(c.slot, c.field): HEAD + i for i, c in enumerate(game.columns)}
    fallers = [
        (columns[slot, "x"], columns[slot, "vy"])
        for slot in range(game.manifest.num_slots)
        if {(slot, "x"), (slot, "vy")} <= set(columns)
    ]
    pace = np.zeros(len(fallers))

    def hook(before: np.ndarray, world: np.ndarray, t: int) -> None:
        for who, (x, vy) in enumerate(fallers):
            gained = world[vy] - before[vy]
            if 0.0 < gained <= HEAVIEST * down:
                pace[who] += aside * gained / down
            elif world[vy] == 0.0:
                pace[who] = 0.0
            if pace[who]:
                _Axis(x, 1.0, game.manifest.wrap_x).move(world, pace[who])

    return hook
