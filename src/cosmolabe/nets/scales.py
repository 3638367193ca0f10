"""Typical sizes of a game's numbers, measured once on training windows and kept in the model."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY
from cosmolabe.nets.features import wrapped


@dataclass(frozen=True)
class Scales:
    """What a network divides by on its way in and multiplies with on its way out."""

    speed: Float[np.ndarray, "2"]
    """Mean size of a displacement that is not zero, per axis, shares of the world per tick."""
    reach: Float[np.ndarray, ""]
    """Mean of |dx| + |dy| over ten ticks of living mutable slots: the error of standing still."""
    field_mean: Float[np.ndarray, " field"]
    field_scale: Float[np.ndarray, " field"]
    field_whole: Bool[np.ndarray, " field"]
    """Fields that only ever hold whole numbers: rollouts round them."""
    global_mean: Float[np.ndarray, " global"]
    global_scale: Float[np.ndarray, " global"]
    global_step: Float[np.ndarray, " global"]
    """Mean size of a change from one tick to the next that is not zero."""
    global_whole: Bool[np.ndarray, " global"]


def measure(windows: Windows) -> Scales:
    """The scales of a batch of windows; what never changes has scale 1."""
    masks, states = windows.masks, windows.states
    chosen = masks.mutable & masks.valid
    alive = (states[..., ALIVE] > 0.5) & np.broadcast_to(
        chosen if chosen.ndim == 1 else chosen[:, None], states.shape[:3]
    )
    steps_taken = states[..., -NUM_HISTORY : 2 - NUM_HISTORY][alive]
    lag = min(10, states.shape[1] - 1)
    far = wrapped(states[:, lag:, :, :2] - states[:, :-lag, :, :2], masks.wrap)
    far = np.abs(far[alive[:, lag:] & alive[:, :-lag]]).sum(-1)
    fields = states[..., FIELDS_START:-NUM_HISTORY][alive]
    numbers = np.nan_to_num(windows.globals)
    steps = np.diff(numbers, axis=1).reshape(-1, numbers.shape[-1])
    numbers = numbers.reshape(-1, numbers.shape[-1])
    return Scales(
        speed=_mean_size(steps_taken, 0.01),
        reach=np.asarray(max(far.mean() if len(far) else 0, 1e-3), np.float32),
        field_mean=_mean(fields),
        field_scale=_spread(fields),
        field_whole=np.all(fields == np.round(fields), axis=0),
        global_mean=_mean(numbers),
        global_scale=_spread(numbers),
        global_step=_mean_size(steps, 1.0),
        global_whole=np.all(numbers == np.round(numbers), axis=0),
    )


def unmeasured(num_fields: int, num_globals: int) -> Scales:
    """Scales of an untrained model: all 1, nothing rounded."""
    field, number = np.ones(num_fields, np.float32), np.ones(num_globals, np.float32)
    return Scales(
        speed=np.full(2, 0.01, np.float32),
        reach=np.asarray(0.1, np.float32),
        field_mean=field * 0,
        field_scale=field,
        field_whole=np.zeros(num_fields, bool),
        global_mean=number * 0,
        global_scale=number,
        global_step=number,
        global_whole=np.zeros(num_globals, bool),
    )


def _mean(rows: np.ndarray) -> np.ndarray:
    return rows.mean(0, dtype=np.float64).astype(np.float32) if len(rows) else rows.sum(0)


def _spread(rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.ones(rows.shape[1], np.float32)
    spread = rows.std(0, dtype=np.float64).astype(np.float32)
    return np.where(spread > 1e-4, spread, 1).astype(np.float32)


def _mean_size(rows: np.ndarray, otherwise: float) -> np.ndarray:
    size, moves = np.abs(rows).astype(np.float64), np.abs(rows) > 1e-6
    mean = (size * moves).sum(0) / np.maximum(moves.sum(0), 1)
    return np.where(moves.any(0), mean, otherwise).astype(np.float32)
