"""Random windows of 8 dense frames a second on one core, out of each kind of store."""

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import zstandard

from benchmarks.timing import Row, versus
from cosmolabe.data.collect import collect
from cosmolabe.data.store import Store

EPISODES, WINDOW, BATCH, CHUNK = 192, 8, 256, 65


def rows() -> Iterator[Row]:
    """Replay and packed stores of breakout against a float32 memory map and LMDB + zstd."""
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        store = collect("breakout", folder / "replay", EPISODES, split="train")
        frames = int(store.lengths.sum())
        table = _table(store)
        memory_map = _memory_map(table, folder / "dense.f32", store)
        yield from versus(
            "windows of breakout from the replay store",
            "windows/s",
            _from_store(store),
            {
                "float32 memory map": memory_map,
                "LMDB + zstd-3": _lmdb(table, folder / "lmdb", store),
            },
            target=2.0,
        )
        yield _size("bytes a frame in the replay store", folder / "replay", frames, 5.0)
        packed = _packed(store, folder / "packed")
        yield from versus(
            "windows of breakout from the packed store",
            "windows/s",
            _from_store(packed),
            {"LMDB + zstd-3": _lmdb(table, folder / "lmdb2", store)},
            target=1.0,
        )
        yield _size("bytes a frame in the packed store", folder / "packed", frames, 25.0)


def _draws(store: Store) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    long_enough = np.flatnonzero(store.lengths >= WINDOW)
    episodes = random.choice(long_enough, (16, BATCH))
    starts = (random.random((16, BATCH)) * (store.lengths[episodes] - WINDOW + 1)).astype(np.int64)
    return episodes, starts


def _from_store(store: Store) -> Callable[[], int]:
    episodes, starts = _draws(store)

    out = store.windows(episodes[0], starts[0], WINDOW)  # both sides write into memory they keep

    def run() -> int:
        for chosen, begins in zip(episodes, starts, strict=True):
            store.windows(chosen, begins, WINDOW, out=out)
        return episodes.size

    return run


def _table(store: Store) -> np.ndarray:
    """Every frame as one dense row: states, globals, actions; episodes one after another."""
    parts = []
    for number in range(len(store)):
        episode = store.episode(number)
        rows_of = (episode.states.reshape(len(episode), -1), episode.globals, episode.actions)
        parts.append(np.concatenate(rows_of, axis=1))
    return np.concatenate(parts)


def _memory_map(table: np.ndarray, path: Path, store: Store) -> Callable[[], int]:
    table.tofile(path)
    mapped = np.memmap(path, np.float32, "r", shape=table.shape)
    begins = np.concatenate([[0], np.cumsum(store.lengths)])
    episodes, starts = _draws(store)

    out = np.empty((BATCH, WINDOW, table.shape[1]), np.float32)

    def run() -> int:
        for chosen, first in zip(episodes, starts, strict=True):
            rows_of = (begins[chosen] + first)[:, None] + np.arange(WINDOW)
            np.take(mapped, rows_of, axis=0, out=out, mode="clip")
        return episodes.size

    return run


def _lmdb(table: np.ndarray, path: Path, store: Store) -> Callable[[], int]:
    """Chunks of 65 rows, zstd level 3, one key a chunk; a window decodes one or two chunks."""
    import lmdb

    begins = np.concatenate([[0], np.cumsum(store.lengths)])
    packer, unpacker = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()
    base = lmdb.open(str(path), map_size=1 << 32)
    with base.begin(write=True) as writer:
        for number, (first, end) in enumerate(itertools.pairwise(begins)):
            for chunk, at in enumerate(range(first, end, CHUNK)):
                piece = table[at : min(at + CHUNK, end)]
                writer.put(f"{number}/{chunk}".encode(), packer.compress(piece.tobytes()))
    episodes, starts = _draws(store)
    width = table.shape[1]

    def window(reader: "lmdb.Transaction", number: int, start: int) -> np.ndarray:
        pieces = []
        for chunk in range(start // CHUNK, (start + WINDOW - 1) // CHUNK + 1):
            raw = unpacker.decompress(reader.get(f"{number}/{chunk}".encode()))
            pieces.append(np.frombuffer(raw, np.float32).reshape(-1, width))
        rows_of = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        return rows_of[start % CHUNK : start % CHUNK + WINDOW]

    def run() -> int:
        with base.begin() as reader:
            for chosen, first in zip(episodes, starts, strict=True):
                np.stack(
                    [window(reader, int(n), int(s)) for n, s in zip(chosen, first, strict=True)]
                )
        return episodes.size

    return run


def _packed(store: Store, folder: Path) -> Store:
    from cosmolabe.data.pack import pack_store

    return pack_store(store, folder)


def _size(name: str, folder: Path, frames: int, goal: float) -> Row:
    """Bytes on disk against a goal; fewer are better, so the ratio is goal over ours."""
    ours = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / frames
    return Row(name, ours, goal, "goal", goal / ours, "bytes/frame", 1.0, f"{frames:,} frames")
