"""Whether an action can be seen: does the picture show another thing than with other actions?"""

from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core import parts
from cosmolabe.data.questions.wording import words_of
from cosmolabe.engine.game import HEAD, LEVEL, LIVES, LOST, OVER, PHASE, TERMINATED, WON, Game

FAR = 0.04  # of the world: nearly 3 pixels of 64; ours
TURNED = 0.06  # turns
FRAMES = 3  # that must show it
STILL = 0.01  # of the world, over a clip
MOVING = 0.12  # of the world a second
FASTER = 0.02  # of the world a second, beyond that
CHANGE = 0.15  # of the speed: less is no change of speed
SHOWN_KINDS = ("player", "projectile", "ball")
"""What an action moves by itself; what else changes follows from these."""


@cache
def _shown(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(columns, scale to the tensors' units, least difference that counts) of a game's public row.

    A negative least difference marks a column that wraps.
    """
    game = parts.load("games", name)
    manifest = game.manifest
    wraps = {"x": manifest.wrap_x, "y": manifest.wrap_y, "rotation": True}
    least = {"x": FAR, "y": FAR, "rotation": TURNED, "alive": 0.5}
    found = [
        (game.num_public - len(game.columns) + place, column.scale, column.field)
        for place, column in enumerate(game.columns)
        if column.slot is not None
        and column.field in least
        and manifest.slots[column.slot].kind in SHOWN_KINDS
        and (column.field != "rotation" or manifest.slots[column.slot].controllable)
    ]
    columns, scales, fields = zip(*found, strict=True)
    limits = [-least[field] if wraps.get(field) else least[field] for field in fields]
    return np.array(columns), np.array(scales), np.array(limits)


def told_apart(
    game: Game,
    one: Float[np.ndarray, "*batch time public"],
    other: Float[np.ndarray, "*batch time public"],
) -> Bool[np.ndarray, "*batch"]:
    """Whether two futures of one moment look different.

    In at least FRAMES frames the player, a ball or a shot must be FAR from where it is in the
    other, TURNED further, or there in one alone.
    """
    columns, scales, limits = _shown(game.name)
    gap = np.abs(one[..., columns] - other[..., columns]) * scales
    wraps = limits < 0
    gap = np.where(wraps, np.minimum(gap % 1.0, 1.0 - gap % 1.0), gap)
    return (gap >= np.abs(limits)).any(-1).sum(-1) >= FRAMES


def visible(
    game: Game, rows: Float[np.ndarray, "world action time public"]
) -> Bool[np.ndarray, "world action"]:
    """Which actions can be told from the pictures, given every action's future of each world.

    An action must be told apart from every other one; doing nothing (the first action) from at
    least one, for then something could have been done.
    """
    count = rows.shape[1]
    apart = np.ones((len(rows), count, count), bool)
    for a in range(count):
        for b in range(a + 1, count):
            apart[:, a, b] = apart[:, b, a] = told_apart(game, rows[:, a], rows[:, b])
    seen = np.asarray(apart.all(2))
    seen[:, 0] = apart[:, 0, 1:].any(1)
    return seen


def undisturbed(rows: Float[np.ndarray, "*batch time public"]) -> Bool[np.ndarray, "*batch"]:
    """Whether the player lives through it: no life lost, no level ended, the game not over."""
    ended = np.isin(rows[..., PHASE], (LOST, WON, OVER)) | (rows[..., TERMINATED] != 0)
    same = (rows[..., [LIVES, LEVEL]] == rows[..., :1, [LIVES, LEVEL]]).all((-2, -1))
    return ~ended.any(-1) & same


def moved(game: Game, rows: Float[np.ndarray, "time public"]) -> bool:
    """Whether the player, a ball or a shot leaves where it stood; what can be said of one future.

    Weaker than `visible`: what moves by itself counts too.
    """
    return bool(told_apart(game, rows[None], np.broadcast_to(rows[:1], rows.shape)[None])[0])


def words_hold(
    game: Game, action: int, rows: Float[np.ndarray, "*batch time public"], seconds: float
) -> Bool[np.ndarray, "*batch"]:
    """Whether the game's words for an action are true of how the player moves in these rows.

    `seconds` is the time from one row to the next. What must hold stands in `words.toml`; where
    nothing does, the words always hold.
    """
    wanted = words_of("true_when").get(game.name, {}).get(game.actions[action], "")
    if not wanted:
        return np.ones(rows.shape[:-2], bool)
    axis = wanted.partition(" ")[2]
    places = [place for field, place in _player(game.name) if not axis or field == axis]
    return claim_holds(wanted, np.diff(rows[..., places], axis=-2), seconds)


def claim_holds(
    wanted: str, steps: Float[np.ndarray, "*batch step axis"], seconds: float
) -> Bool[np.ndarray, "*batch"]:
    """Whether the player's steps, shares of the world, are as a claim of `true_when` says."""
    claim = wanted.partition(" ")[0]
    speed = np.linalg.norm(steps, axis=-1) / seconds
    third = max(speed.shape[-1] // 3, 1)
    before, after = speed[..., :third].mean(-1), speed[..., -third:].mean(-1)
    if claim == "still":
        return np.asarray(speed.sum(-1) * seconds < STILL)
    if claim == "moving":
        return np.asarray(before > MOVING)
    if claim == "faster":
        return np.asarray(after > before * (1 + CHANGE) + FASTER)
    onward = (steps[..., :third, :].sum(-2) * steps[..., -third:, :].sum(-2)).sum(-1) > -1e-4
    return np.asarray((before > MOVING) & (after < before * (1 - CHANGE)) & onward)


@cache
def _player(name: str) -> list[tuple[str, int]]:
    game = parts.load("games", name)
    return [
        (column.field, HEAD + place)
        for place, column in enumerate(game.columns)
        if column.slot is not None
        and column.field in ("x", "y")
        and game.manifest.slots[column.slot].controllable
    ]
