"""Whether an action can be seen: does the picture show another thing than with other actions?"""

from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core import parts
from cosmolabe.engine.game import LEVEL, LIVES, LOST, OVER, PHASE, TERMINATED, WON, Game

FAR = 0.04  # of the world: nearly 3 pixels of 64; ours
TURNED = 0.06  # turns
FRAMES = 3  # that must show it
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
