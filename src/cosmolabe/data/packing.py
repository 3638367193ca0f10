"""Episodes as tables of the columns a manifest uses, and tables as small chunks of bytes."""

from dataclasses import dataclass

import numpy as np
import zstandard
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Episode
from cosmolabe.core.fields import ALIVE, FIELDS_START
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.arrays import LEVEL, unpack_zstd

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


def write_windows(
    rows: Float[np.ndarray, "batch time_and_two column"],
    missing: Bool[np.ndarray, "batch two"],
    columns: Columns,
    manifest: Manifest,
    out: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Dense states, globals, actions and terminal of windows given with their two rows before.

    `missing` marks rows before that do not exist: an episode begins without motion. `out` is zero
    where no column goes.
    """
    states, numbers, moves, terminal = out
    at = np.cumsum([len(columns.states), len(columns.globals), len(columns.actions)])
    packed = rows[:, :, : at[0]].reshape(*rows.shape[:2], manifest.num_slots, -1)
    states[..., :FIELDS_START] = packed[:, 2:, :, :FIELDS_START]
    for place in range(FIELDS_START, packed.shape[-1]):
        states[..., columns.states[place]] = packed[:, 2:, :, place]
    alive = packed[..., ALIVE] > 0.5
    alive[:, :2][missing] = False
    for axis, wraps in enumerate(manifest.masks().wrap):
        place = packed[..., axis]
        delta = place[:, 1:] - place[:, :-1]
        if wraps:
            delta -= np.floor(delta + np.float32(0.5))
        delta *= alive[:, 1:] & alive[:, :-1]
        states[..., axis - 4] = delta[:, 1:]
        states[..., axis - 2] = delta[:, :-1]
    numbers[:, :, columns.globals] = rows[:, 2:, at[0] : at[1]]
    moves[:, :, columns.actions] = rows[:, 2:, at[1] : at[2]]
    terminal[:] = rows[:, 2:, -1] > 0.5


def pack_chunk(table: np.ndarray) -> bytes:
    """A few rows of float32 or uint16: each column by its cheapest forecast, then zstd.

    A column is constant, or forecast as what it was, or as going on at its pace; what is kept is
    the forecast's error in units of the last place. In that count even a float32 that moves
    evenly is off by one or two, and decoding is whole-number sums, exact on any machine.
    """
    width = table.dtype.itemsize
    words = np.ascontiguousarray(table.T).view(f"u{width}")
    first, pace = words[:, :1], np.diff(words, axis=1)
    change = np.diff(pace, axis=1, prepend=np.zeros_like(first)[:, : pace.shape[1]])
    still, moving = _zigzag(pace), _zigzag(change)
    constant = (pace == 0).all(1)
    even = _bits(moving) < _bits(still)
    errors = np.where(even[:, None], moving, still)[~constant]
    planes = errors.view(np.uint8).reshape(*errors.shape, width).transpose(2, 0, 1)
    data = b"".join(
        (
            np.packbits(constant).tobytes(),
            np.packbits(even[~constant]).tobytes(),
            first.tobytes(),
            planes.tobytes(),
        )
    )
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def unpack_chunk(blob: bytes, num_rows: int, width: int, dtype: str, where: str) -> np.ndarray:
    """The rows that `pack_chunk` packed, as columns: (column, time)."""
    size, head = np.dtype(dtype).itemsize, (width + 7) // 8
    data = np.frombuffer(
        unpack_zstd(blob, None, where, 2 * head + width * num_rows * size), np.uint8
    )
    constant = np.unpackbits(data[:head], count=width).astype(bool)
    moving = width - int(constant.sum())
    at = head + (moving + 7) // 8
    if len(data) != at + size * (width + moving * (num_rows - 1)):
        raise ValueError(f"{where} does not hold {num_rows} rows of {width} columns; copy it again")
    even = np.unpackbits(data[head:at], count=moving).astype(bool)
    table = np.empty((width, num_rows), f"u{size}")
    table[:] = data[at : at + size * width].view(table.dtype)[:, None]
    if moving and num_rows > 1:
        planes = data[at + size * width :].reshape(size, moving, num_rows - 1)
        errors = np.empty((moving, num_rows - 1, size), np.uint8)
        for plane in range(size):
            errors[:, :, plane] = planes[plane]
        pace = _unzigzag(errors.view(table.dtype)[:, :, 0])
        pace[even] = np.cumsum(pace[even], axis=1, dtype=table.dtype)
        np.cumsum(pace, axis=1, out=pace, dtype=table.dtype)
        table[~constant, 1:] += pace
    return table.view(dtype)


def _zigzag(words: np.ndarray) -> np.ndarray:
    """Whole numbers around zero as small ones: 0, -1, 1, -2 become 0, 1, 2, 3."""
    signed = words.view(f"i{words.dtype.itemsize}")
    return ((signed << 1) ^ (signed >> (8 * words.dtype.itemsize - 1))).view(words.dtype)


def _unzigzag(words: np.ndarray) -> np.ndarray:
    return (words >> 1) ^ (~(words & 1) + words.dtype.type(1))


def _bits(errors: np.ndarray) -> np.ndarray:
    """About how much room each column's errors take."""
    return np.log2(errors.astype(np.float64) + 1).sum(1)


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
