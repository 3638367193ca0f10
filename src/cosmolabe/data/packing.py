"""Episodes as tables of the columns a manifest uses, and tables as small chunks of bytes."""

from dataclasses import dataclass

import numpy as np
import zstandard
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import FIELDS_START
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.arrays import LEVEL, shuffle_columns, unpack_zstd, unshuffle_columns

CHUNK = 64  # frames
STEPS = 65535  # of an int16 column


@dataclass(frozen=True)
class Columns:
    """Where each column of a table stands in the dense tensors."""

    states: np.ndarray
    """Flat places in (slot, state), int64; the history is left out, it follows from positions."""
    globals: np.ndarray
    actions: np.ndarray

    @property
    def width(self) -> int:
        """Columns of a table: states, globals, actions and the terminal flag."""
        return len(self.states) + len(self.globals) + len(self.actions) + 1


def columns_of(manifest: Manifest) -> Columns:
    """The columns that a game's frames can fill; all others are zero by its own manifest."""
    profile, masks = manifest.profile, manifest.masks()
    used = [*range(FIELDS_START), *(FIELDS_START + np.flatnonzero(masks.fields))]
    slots = np.arange(manifest.num_slots)[:, None] * profile.num_state
    return Columns(
        states=(slots + np.array(used)).reshape(-1),
        globals=np.flatnonzero(masks.globals),
        actions=np.flatnonzero(masks.actions),
    )


def to_table(episode: Episode, columns: Columns) -> Float[np.ndarray, "time column"]:
    """An episode as one float32 table."""
    flat = episode.states.reshape(len(episode), -1)
    parts = (
        flat[:, columns.states],
        episode.globals[:, columns.globals],
        episode.actions[:, columns.actions],
        episode.terminal[:, None].astype(np.float32),
    )
    return np.concatenate(parts, axis=1)


def from_rows(
    rows: Float[np.ndarray, "batch time_and_two column"],
    missing: Bool[np.ndarray, "batch two"],
    columns: Columns,
    manifest: Manifest,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Dense states, globals, actions and terminal of windows given with their two rows before.

    `missing` marks rows before that do not exist: an episode begins without motion.
    """
    profile = manifest.profile
    batch, length = len(rows), rows.shape[1] - 2
    at = np.cumsum([len(columns.states), len(columns.globals), len(columns.actions)])
    shape = (batch, length + 2, manifest.num_slots, profile.num_state)
    dense = np.zeros((batch, length + 2, shape[2] * shape[3]), np.float32)
    dense[:, :, columns.states] = rows[:, :, : at[0]]
    dense = dense.reshape(shape)
    dense[:, :2, :, 2][missing] = 0
    _fill_history(dense, manifest)
    numbers = np.zeros((batch, length, len(profile.global_fields)), np.float32)
    numbers[:, :, columns.globals] = rows[:, 2:, at[0] : at[1]]
    moves = np.zeros((batch, length, len(profile.action_fields)), np.float32)
    moves[:, :, columns.actions] = rows[:, 2:, at[1] : at[2]]
    return np.ascontiguousarray(dense[:, 2:]), numbers, moves, rows[:, 2:, -1] > 0.5


def _fill_history(dense: np.ndarray, manifest: Manifest) -> None:
    place, alive = dense[..., :2], dense[..., 2] > 0.5
    delta = place[:, 1:] - place[:, :-1]
    for axis, wraps in enumerate(manifest.masks().wrap):
        if wraps:
            delta[..., axis] -= np.floor(delta[..., axis] + np.float32(0.5))
    delta *= (alive[:, 1:] & alive[:, :-1])[..., None]
    history = dense.shape[-1] - 4
    dense[:, 2:, :, history : history + 2] = delta[:, 1:]
    dense[:, 2:, :, history + 2 :] = delta[:, :-1]


def pack_chunk(table: np.ndarray) -> bytes:
    """A few rows of float32 or uint16: constant columns once, the others shuffled, then zstd."""
    words = table.view(f"u{table.dtype.itemsize}")
    constant = (words == words[:1]).all(0)
    data = b"".join(
        (
            np.packbits(constant).tobytes(),
            table[0, constant].tobytes(),
            shuffle_columns(np.ascontiguousarray(table[:, ~constant])),
        )
    )
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def unpack_chunk(blob: bytes, num_rows: int, width: int, dtype: str, where: str) -> np.ndarray:
    """The rows that `pack_chunk` packed."""
    most = (width + 7) // 8 + width * (num_rows + 1) * np.dtype(dtype).itemsize
    data = unpack_zstd(blob, None, where, most)
    size, head = np.dtype(dtype).itemsize, (width + 7) // 8
    constant = np.unpackbits(np.frombuffer(data, np.uint8, head), count=width).astype(bool)
    kept = int(constant.sum())
    if len(data) != head + size * (kept + num_rows * (width - kept)):
        raise ValueError(f"{where} does not hold {num_rows} rows of {width} columns; copy it again")
    table = np.empty((num_rows, width), dtype)
    table[:, constant] = np.frombuffer(data, dtype, kept, head)
    if kept < width:
        rest = data[head + size * kept :]
        table[:, ~constant] = unshuffle_columns(rest, num_rows, width - kept, dtype)
    return table


def quantise(
    table: Float[np.ndarray, "time column"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """uint16 codes, and each column's lowest value and step (float64): value = low + step x code.

    Columns of small whole numbers stay exact; any other column loses at most half a step, which
    is its range divided by 131070.
    """
    wide = table.astype(np.float64)
    low, high = wide.min(0), wide.max(0)
    whole = (wide == np.round(wide)).all(0) & (high - low <= STEPS)
    step = np.where(whole, 1.0, (high - low) / STEPS)
    step[step == 0] = 1.0
    return np.round((wide - low) / step).astype(np.uint16), low, step
