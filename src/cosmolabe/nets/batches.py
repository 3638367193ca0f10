"""Windows and contexts as torch tensors that hold only the slots a network has to think about."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cosmolabe.core.episode import Windows
from cosmolabe.core.rollout import Context


@dataclass(frozen=True)
class Batch:
    """Moving slots (valid and mutable) over time and scenery (valid, immutable) once.

    Invalid slots are left out, so what they hold cannot matter. Scenery is taken from one state:
    the last of a context, the first of a training window.
    """

    registry: Float[Tensor, "batch moving registry"]
    states: Float[Tensor, "batch time moving state"]
    scenery_registry: Float[Tensor, "batch scenery registry"]
    scenery: Float[Tensor, "batch scenery state"]
    globals: Float[Tensor, "batch time global"]
    actions: Float[Tensor, "batch action_time action"]
    wrap: Bool[Tensor, "2"]
    terminal: Bool[Tensor, "batch time"] | None = None
    """Only in training."""

    def __len__(self) -> int:
        return len(self.states)


def moving_slots(source: Windows | Context) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the moving slots and of the scenery; masks must be alike in all rows."""
    valid, mutable = source.masks.valid, source.masks.mutable
    if valid.ndim > 1 or mutable.ndim > 1:
        rows = np.broadcast_to(
            np.stack(np.broadcast_arrays(valid, mutable), -1), valid.shape + (2,)
        )
        if not (rows == rows[:1]).all():
            raise ValueError(
                "these rows have different valid or mutable slots; batch windows of one layout"
            )
        valid, mutable = rows[0, :, 0], rows[0, :, 1]
    valid, mutable = valid.astype(bool), mutable.astype(bool)
    return np.flatnonzero(valid & mutable), np.flatnonzero(valid & ~mutable)


def training_batch(windows: Windows) -> Batch:
    """A batch to learn from; scenery from the first state, so that nothing later leaks."""
    return _batch(windows, windows.terminal, scenery_at=0)


def context_batch(context: Context) -> Batch:
    """A batch to roll out from."""
    return _batch(context, None, scenery_at=-1)


def first_frames(batch: Batch, frames: int) -> Batch:
    """The batch cut to its first frames."""
    assert batch.terminal is not None
    return replace(
        batch,
        states=batch.states[:, :frames],
        globals=batch.globals[:, :frames],
        actions=batch.actions[:, :frames],
        terminal=batch.terminal[:, :frames],
    )


def _batch(source: Windows | Context, terminal: np.ndarray | None, scenery_at: int) -> Batch:
    moving, scenery = moving_slots(source)

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.nan_to_num(np.ascontiguousarray(array, np.float32)))

    return Batch(
        registry=tensor(source.registry[:, moving]),
        states=tensor(source.states[:, :, moving]),
        scenery_registry=tensor(source.registry[:, scenery]),
        scenery=tensor(source.states[:, scenery_at, scenery]),
        globals=tensor(source.globals),
        actions=tensor(source.actions),
        wrap=torch.from_numpy(np.asarray(source.masks.wrap)),
        terminal=None if terminal is None else torch.from_numpy(np.asarray(terminal)),
    )
