"""Compact rows of a game, and the dense tensors that everybody else reads."""

import numpy as np
from jaxtyping import Bool, Float, Float32, Int, UInt8

from cosmolabe.engine import kernels
from cosmolabe.engine.game import Game, layout_of


def simulated(
    game: Game,
    worlds: Float[np.ndarray, "row world"],
    actions: UInt8[np.ndarray, "row tick"],
    constants: Float[np.ndarray, " parameter"],
) -> tuple[Float32[np.ndarray, "row time public"], Int[np.ndarray, " row"]]:
    """Compact rows of every state, the present first, and how many each game lived through.

    `worlds` change in place; rows after a game's end are 0.
    """
    public = np.zeros((len(worlds), actions.shape[1] + 1, game.num_public), np.float32)
    lengths = np.zeros(len(worlds), np.int64)
    kernels.simulate(
        game.step, worlds, np.ascontiguousarray(actions), constants[None], public, lengths
    )
    return public, lengths


def dense(
    game: Game, rows: Float[np.ndarray, "row public"], skip: int = 0
) -> tuple[
    Float[np.ndarray, "time slot state"],
    Float[np.ndarray, "time global"],
    Bool[np.ndarray, " time"],
]:
    """States, globals and terminal flags of consecutive rows of one episode.

    The first `skip` rows (0, 1 or 2) only feed the history deltas of those after them.
    """
    layout, manifest, length = layout_of(game), game.manifest, len(rows) - skip
    states = np.zeros((length, manifest.num_slots, manifest.profile.num_state), np.float32)
    numbers = np.zeros((length, len(manifest.profile.global_fields)), np.float32)
    terminal = np.zeros(length, bool)
    kernels.expand(
        np.ascontiguousarray(rows), layout.target, layout.scale, layout.template, layout.wrap,
        skip, states, numbers, terminal,
    )  # fmt: skip
    return states, numbers, terminal
