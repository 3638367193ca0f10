"""Compact rows of a game as the dense tensors that everybody else reads."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.engine import kernels
from cosmolabe.engine.game import Game, layout_of


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
