"""A data set of 158M frames regenerated from its log and hash-checked.

A sample of each game is collected, then played again and compared by one process for each core; the
times are scaled to AutoWorldModel-Bench's 158M frames. (Ours has longer episodes: the note says how
many frames 19,000 episodes a game would be.)
"""

import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.timing import Row
from cosmolabe.core import parts
from cosmolabe.data.collect import collect
from cosmolabe.data.store import open_store

SAMPLE, EPISODES, FRAMES = 512, 19_000, 158e6
SECONDS, BYTES = 600.0, 0.5e9


def rows() -> Iterator[Row]:
    """Regeneration time and log size, each against its goal."""
    names = parts.names("games")
    with tempfile.TemporaryDirectory() as room:
        folders = [Path(room) / name for name in names]
        for name, folder in zip(names, folders, strict=True):
            collect(name, folder, SAMPLE, workers=2)
        frames = sum(int(open_store(folder).lengths.sum()) for folder in folders)
        size = sum(p.stat().st_size for folder in folders for p in folder.rglob("*") if p.is_file())
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(verify, folders))  # compile in every process
            start = time.perf_counter()
            list(pool.map(verify, folders))
            seconds = time.perf_counter() - start
    scale = FRAMES / frames
    note = (
        f"sample of {SAMPLE} episodes a game, {frames:,} frames; {EPISODES:,} episodes a game "
        f"would be {frames * EPISODES / SAMPLE / 1e6:.0f}M frames"
    )
    yield Row(
        "regenerate and check 158M frames", seconds * scale, SECONDS, "10 minutes on 2 cores",
        SECONDS / (seconds * scale), "s", 1.0, note,
    )  # fmt: skip
    yield Row(
        "size of the log of 158M frames", size * scale, BYTES, "0.5 GB", BYTES / (size * scale),
        "bytes", 1.0, note,
    )  # fmt: skip


def verify(folder: Path) -> int:
    """Play a store's episodes again and compare them."""
    return open_store(folder).verify()
