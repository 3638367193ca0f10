"""Writes a store as a LeRobotDataset v3.0 folder, which LeRobot and its visualisers open.

An episode's T states are T rows. The action of row t was chosen after seeing state t; the last
row's is zero and belongs to nothing, for T states have T - 1 actions; `meta/cosmolabe.json` says
so.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.core.episode import Episode
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import versions, write_json
from cosmolabe.data.exporting import (
    action_names,
    chosen,
    flat_of,
    global_names,
    sizes_of,
    state_names,
    whole_folder,
)
from cosmolabe.data.lerobot import layout
from cosmolabe.data.lerobot.stats import Stats, of_pictures
from cosmolabe.data.replay import ReplayStore
from cosmolabe.data.store import Store
from cosmolabe.data.video import TOGETHER, write_video
from cosmolabe.engine.render import draw_frames

SCHEMA = 1
VIDEO_FRAMES = 20_000  # of one file, ours: a reader looks for a frame through the whole file
EPISODE_ROWS = 2048  # of one file of meta/episodes


def export_lerobot(
    store: Store,
    folder: Path | str,
    split: str | None = None,
    limit: int | None = None,
    *,
    pictures: bool = False,
    size: int = 224,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """One LeRobotDataset v3.0 folder, with `pictures` also drawn as video; gives the rows written.

    Splits become ranges of episodes, in their order.
    """
    fps = store.manifest.fps
    if fps != round(fps):
        raise ValueError(f"LeRobot counts whole frames a second; {store.game} has {fps:g}")
    names = state_names(store.manifest)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"columns of {store.game} would share a name, slot.field: {twice[:8]}")
    if pictures and not isinstance(store, ReplayStore):
        raise ValueError(f"{store.folder} holds imported episodes; we cannot draw that game")
    if pictures and (size < 16 or size % 2):
        raise ValueError(f"a video's size is an even number of pixels, 16 or more; got {size}")
    sizes = sizes_of(store, split, limit)
    with whole_folder(Path(folder)) as part:
        writer = _Writer(part, store, size if pictures else 0)
        total = sum(sizes.values())
        for done, batch in writer.files(chosen(store, split, limit)):
            writer.write(batch)
            if progress:
                progress(done, total)
        writer.finish(sizes)
    return writer.rows


def features_of(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """The columns of a game, but for its video, as info.json has them."""
    real = np.float32
    named = {
        layout.STATE: state_names(manifest),
        layout.GLOBALS: global_names(manifest),
        layout.ACTION: action_names(manifest),
    }
    features = {name: layout.feature(real, names) for name, names in named.items() if names}
    if "reward" in manifest.globals:
        features[layout.REWARD] = layout.feature(real)
    for name in (layout.TERMINATED, layout.TRUNCATED):
        features[name] = layout.feature(bool)
    return features | {name: layout.feature(dtype) for name, dtype in layout.CLOCK.items()}


class _Writer:
    """Writes files of episodes, and remembers what the folder's own description needs."""

    def __init__(self, folder: Path, store: Store, size: int) -> None:
        self.folder, self.store, self.size = folder, store, size
        self.features = features_of(store.manifest)
        self.schema = layout.schema_of(self.features)
        width = sum(what["shape"][0] for what in self.features.values())
        self.most = (layout.DATA_MEGABYTES << 20) // (4 * width)
        if size:
            self.most = min(self.most, VIDEO_FRAMES)
        self.stats: dict[str, Stats] = {}
        self.rows = self.episodes = self.count = 0
        self.told: list[dict[str, Any]] = []  # rows of meta/episodes not written yet
        self.described = 0

    def files(
        self, episodes: Iterator[tuple[str, int]]
    ) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        """Episodes, as many as one file takes, with how many there were so far."""
        batch, rows, done = [], 0, 0
        for split, number in episodes:
            length = int(self.store.lengths[number])
            if batch and rows + length > self.most:
                yield done, batch
                batch, rows = [], 0
            batch.append((split, number))
            rows, done = rows + length, done + 1
        yield done, batch

    def write(self, batch: list[tuple[str, int]]) -> None:
        """One file of rows, and one of frames."""
        chunk, file = layout.place(self.count)
        told, first = [], self.rows
        path = self.folder / layout.DATA_PATH.format(chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(path, self.schema, compression="zstd") as writer:
            for split, number in batch:
                columns = self._columns(self.store.episode(number))
                writer.write_table(layout.table_of(columns, self.schema))
                stats = {name: Stats.of(values) for name, values in columns.items()}
                told.append((split, number, self.rows, len(columns["index"]), stats))
                self.rows += len(columns["index"])
                self.episodes += 1
        if self.size:
            self._write_video(chunk, file, told)
        for split, number, at, length, stats in told:
            for name, one in stats.items():
                self.stats[name] = self.stats[name] + one if name in self.stats else one
            self._tell(split, number, (at, length, at - first), (chunk, file), stats)
        self.count += 1

    def _columns(self, episode: Episode) -> dict[str, np.ndarray]:
        manifest, length = self.store.manifest, len(episode)
        clock = np.arange(length)
        states, numbers, actions = flat_of(episode, manifest)
        truncated = np.zeros(length, bool)
        truncated[-1] = episode.truncated
        columns: dict[str, np.ndarray] = {
            layout.STATE: states,
            layout.GLOBALS: numbers,
            layout.ACTION: actions,
            layout.TERMINATED: episode.terminal,
            layout.TRUNCATED: truncated,
            "timestamp": (clock / manifest.fps).astype(np.float32),
            "frame_index": clock,
            "episode_index": np.full(length, self.episodes),
            "index": self.rows + clock,
            "task_index": np.zeros(length, np.int64),
        }
        if layout.REWARD in self.features:
            place = manifest.profile.global_fields.index("reward")
            columns[layout.REWARD] = np.append(episode.globals[1:, place], np.float32(0))
        return {name: columns[name] for name in self.features if name != layout.SCREEN}

    def _write_video(self, chunk: int, file: int, told: list[tuple]) -> None:
        store, name = self.store, layout.SCREEN
        assert isinstance(store, ReplayStore)

        def pictures() -> Iterator[np.ndarray]:
            for _, number, _, length, stats in told:
                episode, look = store.episode(number), store.appearance(number)
                for first in range(0, length, TOGETHER):
                    rows = slice(first, first + TOGETHER)
                    frames = draw_frames(
                        store.part, episode.states[rows], episode.globals[rows], look, self.size
                    )
                    seen = of_pictures(frames)
                    stats[name] = stats[name] + seen if name in stats else seen
                    yield frames

        path = layout.VIDEO_PATH.format(video_key=name, chunk_index=chunk, file_index=file)
        height, width = write_video(self.folder / path, pictures(), store.manifest.fps)
        self.features[name] = _video_feature(height, width - width % 2, store.manifest.fps)

    def _tell(
        self,
        split: str,
        number: int,
        rows: tuple[int, int, int],
        file: tuple[int, int],
        stats: dict[str, Stats],
    ) -> None:
        """One row of meta/episodes; `rows`: its first row, their number, its first in the file."""
        at, length, first = rows
        chunk, place = layout.place(self.described // EPISODE_ROWS)
        row: dict[str, Any] = {
            "episode_index": self.described,
            "tasks": [task_of(self.store)],
            "length": length,
            "dataset_from_index": at,
            "dataset_to_index": at + length,
            "data/chunk_index": file[0],
            "data/file_index": file[1],
            "meta/episodes/chunk_index": chunk,
            "meta/episodes/file_index": place,
            "cosmolabe/player": self.store.player(number),
            "cosmolabe/number": number,
            "cosmolabe/split": split,
        }
        if self.size:
            key, fps = f"videos/{layout.SCREEN}", self.store.manifest.fps
            row |= {
                f"{key}/chunk_index": file[0],
                f"{key}/file_index": file[1],
                f"{key}/from_timestamp": first / fps,
                f"{key}/to_timestamp": (first + length) / fps,
            }
        for name, one in stats.items():
            row |= {f"stats/{name}/{what}": value for what, value in one.told().items()}
        self.told.append(row)
        self.described += 1
        if len(self.told) == EPISODE_ROWS:
            self._write_episodes()

    def _write_episodes(self) -> None:
        chunk, file = layout.place((self.described - 1) // EPISODE_ROWS)
        path = self.folder / layout.EPISODES_PATH.format(chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(self.told), path, compression="zstd")
        self.told = []

    def finish(self, sizes: dict[str, int]) -> None:
        """What describes the whole."""
        if self.told:
            self._write_episodes()
        ends = np.cumsum([0, *sizes.values()]).tolist()
        splits = {
            name: f"{first}:{end}"
            for name, first, end in zip(sizes, ends[:-1], ends[1:], strict=True)
        }
        manifest = self.store.manifest
        info = {
            "codebase_version": layout.VERSION,
            "robot_type": None,
            "total_episodes": self.episodes,
            "total_frames": self.rows,
            "total_tasks": 1,
            "chunks_size": layout.FILES_A_CHUNK,
            "data_files_size_in_mb": layout.DATA_MEGABYTES,
            "video_files_size_in_mb": layout.VIDEO_MEGABYTES,
            "fps": round(manifest.fps),
            "splits": splits,
            "data_path": layout.DATA_PATH,
            "video_path": layout.VIDEO_PATH if self.size else None,
            "features": self.features,
        }
        ours = {
            "schema": SCHEMA,
            "actions": layout.FOLLOW,
            "store": self.store.fingerprint,
            "versions": versions(),
        }
        write_json(self.folder / layout.INFO, info)
        write_json(self.folder / layout.MANIFEST, manifest)
        write_json(self.folder / layout.OURS, ours)
        told = {name: one.told() for name, one in self.stats.items()}
        write_json(self.folder / layout.STATS, told)
        _write_tasks(self.folder / layout.TASKS, task_of(self.store))


def task_of(store: Store) -> str:
    """LeRobot's one sentence about what is done."""
    return f"play {store.game}"


def _video_feature(height: int, width: int, fps: float) -> dict[str, Any]:
    return {
        "dtype": "video",
        "shape": [height, width, 3],
        "names": ["height", "width", "channels"],
        "info": {
            "video.height": height,
            "video.width": width,
            "video.channels": 3,
            "video.codec": "h264",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "video.fps": round(fps),
            "has_audio": False,
        },
    }


def _write_tasks(path: Path, task: str) -> None:
    """A table that pandas, with which LeRobot reads it, sees as indexed by the task's text."""
    index = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64",
             "numpy_type": "int64", "metadata": None},
            {"name": "task", "field_name": "task", "pandas_type": "unicode",
             "numpy_type": "object", "metadata": None},
        ],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }  # fmt: skip
    table = pa.table({"task_index": pa.array([0], pa.int64()), "task": [task]})
    pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(index).encode()}), path)
