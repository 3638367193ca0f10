"""How the true rules go on from given worlds, with their own luck or with other."""

import numpy as np
from jaxtyping import Float, Float32, UInt8

from cosmolabe.data.dense import simulated
from cosmolabe.engine.game import Game
from cosmolabe.engine.rng import COUNTER, KEY_HIGH, KEY_LOW


def played_on(
    game: Game,
    worlds: Float[np.ndarray, "row world"],
    actions: UInt8[np.ndarray, "row tick"],
    constants: Float[np.ndarray, " parameter"],
) -> Float32[np.ndarray, "row time public"]:
    """Compact rows of every state, the present first; `worlds` change in place.

    A game that is over keeps its last state.
    """
    public, lengths = simulated(game, worlds, actions, constants)
    for rows, length in zip(public, lengths, strict=True):
        rows[length:] = rows[length - 1]
    return public


def give_luck(world: Float[np.ndarray, " world"], key: int) -> None:
    """Put other random numbers in place of those to come: what has been decided stays."""
    world[KEY_LOW], world[KEY_HIGH] = key & 0xFFFFFFFF, key >> 32
    world[COUNTER] = 0.0
