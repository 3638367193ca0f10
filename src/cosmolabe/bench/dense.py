"""Imagined states as whole state rows, so that they are drawn by the same lines as true ones."""

import numpy as np
from jaxtyping import Float

from cosmolabe.core.episode import Windows
from cosmolabe.core.rollout import Prediction
from cosmolabe.engine.game import Appearance, Game
from cosmolabe.engine.render import draw_frames
from cosmolabe.nets.features import next_state

MOST = 1e6  # what a drawn number may be; a picture of a wild one is as wild


def dense_states(
    windows: Windows, prediction: Prediction, window: int
) -> Float[np.ndarray, "batch horizon slot state"]:
    """Velocity and history rebuilt from imagined positions, immutable slots kept as they were."""
    masks = windows.masks
    state = windows.states[:, window - 1]
    mutable = np.broadcast_to(masks.valid & masks.mutable, state.shape[:2])
    frames = []
    with np.errstate(invalid="ignore", over="ignore"):
        for step in range(prediction.states.shape[1]):
            state = next_state(state, prediction.states[:, step], mutable, masks.wrap)
            state = state.astype(np.float32)
            frames.append(state)
    return np.stack(frames, axis=1)


def draw_window(
    game: Game,
    windows: Windows,
    dense: np.ndarray,
    numbers: np.ndarray,
    row: int,
    appearance: Appearance,
    size: int,
) -> tuple[np.ndarray, np.ndarray]:
    """True and imagined frames of one window; both begin with the same context frames.

    `dense` (horizon, slot, state) and `numbers` (horizon, global) are what was imagined.
    """
    horizon = len(dense)
    given = windows.states.shape[1] - horizon
    true = draw_frames(game, windows.states[row], windows.globals[row], appearance, size)
    numbers = np.clip(np.nan_to_num(numbers, posinf=MOST, neginf=-MOST), -MOST, MOST)
    imagined = draw_frames(game, dense, numbers.astype(np.float32), appearance, size)
    return true, np.concatenate([true[:given], imagined])
