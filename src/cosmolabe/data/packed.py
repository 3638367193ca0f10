"""The packed store: imported episodes that no engine here can play again, lossless by default."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from jaxtyping import Int64

from cosmolabe.core.episode import Episode, Windows
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.arrays import read_arrays, require_arrays
from cosmolabe.data.folder import (
    MANIFEST,
    RECORD,
    Number,
    Numbering,
    check_files,
    check_numbers,
    check_shard,
    fingerprint_of,
    read_index,
    remedy,
    require,
)
from cosmolabe.data.manifests import read_manifest
from cosmolabe.data.packing import CHUNK, columns_of, unpack_chunk, write_windows
from cosmolabe.engine.game import Appearance

CACHE_BYTES = 1 << 29  # of unpacked chunks kept at hand
ARRAYS = {
    "lengths": ("int64", 1),
    "truncated": ("uint8", 1),
    "hashes": ("uint64", 1),
    "offsets": ("int64", 1),
    "chunks": ("uint8", 1),
}
"""What every shard holds: dtype and number of axes."""
STEPS = {"low": ("float64", 2), "step": ("float64", 2)}
"""What a quantised shard holds besides."""
TOGETHER = 16  # windows assembled at once: few enough to stay in the processor's cache


@dataclass(frozen=True)
class Shard:
    """One shard in memory, still packed."""

    path: Path
    meta: dict[str, Any]
    arrays: dict[str, np.ndarray]
    chunk_starts: np.ndarray
    """First chunk of each episode."""


class PackedStore:
    """Episodes kept as packed tables."""

    def __init__(
        self, folder: Path, record: dict[str, Any], rows: list[dict[str, Any]], manifest: Manifest
    ) -> None:
        self.folder = folder
        self.record = record
        self.rows = rows
        self.manifest = manifest
        self.game: str = record["game"]
        self.columns = columns_of(manifest)
        self.dtype = "uint16" if record["quantised"] else "float32"
        self._numbering = Numbering(rows)
        self.lengths = self._numbering.lengths
        self._registry = manifest.registry()
        self._shards: dict[int, Shard] = {}
        self._chunks: OrderedDict[tuple[int, int, int], np.ndarray] = OrderedDict()
        size = 4 * CHUNK * self.columns.width
        self._room = max(1, CACHE_BYTES // size)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of what every shard holds, in order."""
        return fingerprint_of(self.record, self.rows)

    @property
    def max_error(self) -> float:
        """The largest error of any number in the store; 0 unless it is quantised."""
        return max((row["max_error"] for row in self.rows), default=0.0)

    def __len__(self) -> int:
        return len(self.lengths)

    def split(self, name: str) -> Int64[np.ndarray, " episode"]:
        """Episode numbers of one split; empty where the store has none."""
        return self._numbering.split(name)

    def player(self, number: Number) -> str:
        """Who played the episode, as the import was told."""
        shard, row = self._shard_of(number)
        return shard.meta["players"][row]

    def name(self, number: Number) -> str:
        """What the episode was called where it came from."""
        shard, row = self._shard_of(number)
        return shard.meta["names"][row]

    def appearance(self, number: Number) -> Appearance:
        """How the episode looks; the game's first look where the import said nothing."""
        shard, row = self._shard_of(number)
        look = shard.meta["appearances"][row]
        if look is None:
            return Appearance()
        return Appearance(tuple(look["characters"]), look["theme"], look["seed"])

    def episode(self, number: Number) -> Episode:
        """One whole episode."""
        shard, row = self._shard_of(number)
        length = int(self.lengths[number])
        whole = self.windows(np.array([number], np.int64), np.zeros(1, np.int64), length)
        return Episode(
            registry=self._registry.copy(),
            states=whole.states[0],
            actions=whole.actions[0],
            globals=whole.globals[0],
            terminal=whole.terminal[0],
            truncated=bool(shard.arrays["truncated"][row]),
        )

    def windows(
        self,
        episodes: Int64[np.ndarray, " batch"],
        starts: Int64[np.ndarray, " batch"],
        length: int,
        out: Windows | None = None,
    ) -> Windows:
        """States starts[b] .. starts[b] + length - 1 of episode episodes[b].

        `out`, a batch of the same shape got before from this store, is written over.
        """
        check_numbers(self.lengths, episodes, starts, length)
        out = replace(out or self._empty(len(episodes), length), episodes=episodes, starts=starts)
        for first in range(0, len(episodes), TOGETHER):
            some = slice(first, first + TOGETHER)
            part = out.states[some], out.globals[some], out.actions[some], out.terminal[some]
            self._cut(episodes[some], starts[some], part)
        return out

    def _empty(self, batch: int, length: int) -> Windows:
        profile, slots = self.manifest.profile, self.manifest.num_slots
        return Windows(
            registry=np.tile(self._registry, (batch, 1, 1)),
            states=np.zeros((batch, length, slots, profile.num_state), np.float32),
            actions=np.zeros((batch, length, len(profile.action_fields)), np.float32),
            globals=np.zeros((batch, length, len(profile.global_fields)), np.float32),
            terminal=np.zeros((batch, length), bool),
            masks=self.manifest.masks(),
            episodes=np.empty(0, np.int64),
            starts=np.empty(0, np.int64),
        )

    def _cut(
        self,
        episodes: np.ndarray,
        starts: np.ndarray,
        out: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        rows = np.zeros((len(episodes), out[0].shape[1] + 2, self.columns.width), np.float32)
        for row, number, start in zip(rows, episodes.tolist(), starts.tolist(), strict=True):
            first = max(start - 2, 0)
            self._read(number, first, row[first - (start - 2) :])
        missing = starts[:, None] - np.array([2, 1]) < 0
        write_windows(rows, missing, self.columns, self.manifest, out)

    def verify(self) -> int:
        """Unpack every episode and compare hashes; gives their number or names what is damaged."""
        for place, row in enumerate(self.rows):
            path = check_shard(self.folder, row)
            shard, first = self._load(place), int(self._numbering.firsts[place])
            wrong = []
            for local, length in enumerate(row["lengths"]):
                table = np.empty((length, self.columns.width), np.float32)
                self._read(first + local, 0, table)
                digest = xxhash.xxh3_64_intdigest(table.tobytes())
                if digest != int(shard.arrays["hashes"][local]):
                    wrong.append(first + local)
            if wrong:
                raise ValueError(
                    f"{path}: episodes {wrong[:20]} do not unpack to what was packed; "
                    f"{remedy(self.folder, path)}"
                )
        return len(self)

    def _read(self, number: int, first: int, out: np.ndarray) -> None:
        """Rows first .. first + len(out) - 1 of an episode's table."""
        place, row = self._numbering.place(number)
        at, end = first, first + len(out)
        while at < end:
            index = at // CHUNK
            chunk = self._chunk(place, row, index)
            stop = min(end, (index + 1) * CHUNK)
            out[at - first : stop - first] = chunk[:, at - index * CHUNK : stop - index * CHUNK].T
            at = stop

    def _chunk(self, place: int, row: int, index: int) -> np.ndarray:
        key = (place, row, index)
        if key in self._chunks:
            self._chunks.move_to_end(key)
            return self._chunks[key]
        shard = self._load(place)
        arrays = shard.arrays
        number = int(shard.chunk_starts[row]) + index
        begin, end = arrays["offsets"][number : number + 2]
        num_rows = min(CHUNK, int(arrays["lengths"][row]) - index * CHUNK)
        where = f"{shard.path}: episode {row}, frames from {index * CHUNK}"
        blob = arrays["chunks"][begin:end].tobytes()
        table = unpack_chunk(blob, num_rows, self.columns.width, self.dtype, where)
        if self.dtype == "uint16":
            low, step = arrays["low"][row], arrays["step"][row]
            table = (low[:, None] + step[:, None] * table).astype(np.float32)
        self._chunks[key] = table
        if len(self._chunks) > self._room:
            self._chunks.popitem(last=False)
        return table

    def _shard_of(self, number: Number) -> tuple[Shard, int]:
        place, row = self._numbering.place(number)
        return self._load(place), row

    def _load(self, place: int) -> Shard:
        if place not in self._shards:
            self._shards[place] = _read_shard(
                self.folder, self.rows[place], self.columns.width, self.dtype == "uint16"
            )
        return self._shards[place]


def open_packed(folder: Path, record: dict[str, Any]) -> PackedStore:
    """The packed store of a folder, its files there and of their size."""
    rows = read_index(folder)
    require(record, folder / RECORD, game=str, version=int, quantised=bool, num_episodes=int)
    manifest = read_manifest(folder / MANIFEST)
    if (manifest.game, manifest.version) != (record["game"], record["version"]):
        raise ValueError(
            f"{folder / MANIFEST} is of {manifest.game} version {manifest.version}, the store of "
            f"{record['game']} version {record['version']}; put the right manifest back"
        )
    check_files(folder, rows)
    have = sum(len(row["lengths"]) for row in rows)
    if have != record["num_episodes"]:
        raise ValueError(
            f"{folder}: the index has rows for {have} episodes, the record says "
            f"{record['num_episodes']}; import again"
        )
    return PackedStore(folder, record, rows, manifest)


def _read_shard(folder: Path, row: dict[str, Any], width: int, quantised: bool) -> Shard:
    path = check_shard(folder, row)
    meta, arrays = read_arrays(path)
    require_arrays(path, arrays, {**ARRAYS, **(STEPS if quantised else {})})
    chunks = -(-arrays["lengths"] // CHUNK)
    starts = np.concatenate([[0], np.cumsum(chunks)])
    offsets, count = arrays["offsets"], len(row["lengths"])
    fits = (
        arrays["lengths"].tolist() == row["lengths"]
        and meta.get("width") == width
        and _describes(meta, count)
        and all(len(arrays[name]) == count for name in ("truncated", "hashes"))
        and all(arrays[name].shape == (count, width) for name in STEPS if quantised)
        and len(offsets) == starts[-1] + 1
        and offsets[0] == 0
        and (np.diff(offsets) > 0).all()
        and offsets[-1] == len(arrays["chunks"])
    )
    if not fits:
        raise ValueError(f"{path} does not belong here; {remedy(folder, path)}")
    return Shard(path, meta, arrays, starts)


def _describes(meta: dict[str, Any], count: int) -> bool:
    """Whether a shard's header names each episode, its player and its look."""
    kinds = {"names": str, "players": str, "appearances": (dict, type(None))}
    return all(
        isinstance(meta.get(name), list)
        and len(meta[name]) == count
        and all(isinstance(item, kind) for item in meta[name])
        for name, kind in kinds.items()
    ) and all(look is None or _is_look(look) for look in meta["appearances"])


def _is_look(look: dict[str, Any]) -> bool:
    characters = look.get("characters")
    return (
        isinstance(characters, list)
        and all(isinstance(name, str) for name in characters)
        and isinstance(look.get("theme"), str)
        and type(look.get("seed")) is int
    )
