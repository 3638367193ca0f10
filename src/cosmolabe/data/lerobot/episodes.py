"""What meta/episodes of a LeRobot folder says: where each episode's rows and frames lie."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.data.envelopes import MAX_FRAMES
from cosmolabe.data.lerobot import layout
from cosmolabe.data.lerobot.info import MOST, Info, fill, inside

BATCH = 4096  # rows read at once
KEY = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
NEEDED = {"episode_index", "length", "dataset_from_index", "data/chunk_index", "data/file_index"}


@dataclass(frozen=True)
class Row:
    """One row of meta/episodes."""

    length: int
    first: int
    file: str
    """Where its rows lie, relative to the folder."""
    player: str
    name: str


def read_episodes(source: Path, info: Info) -> list[Row]:
    """Every episode in order, its files there, its numbers agreeing with the others'."""
    _check_videos(info)
    paths = sorted((source / layout.EPISODES).glob("*/*.parquet"))
    if not paths:
        raise ValueError(f"{source / layout.EPISODES} has no Parquet files; was it copied whole?")
    rows: list[Row] = []
    total = 0
    for path in paths:
        with open_parquet(
            inside(source, path.relative_to(source).as_posix(), layout.EPISODES)
        ) as file:
            have = set(file.schema_arrow.names)
            if NEEDED - have:
                raise ValueError(f"{path}: no column {sorted(NEEDED - have)}")
            for key in _video_keys(info):
                if f"videos/{key}/chunk_index" not in have:
                    raise ValueError(f"{path}: no column 'videos/{key}/chunk_index'")
            names = [name for name in file.schema_arrow.names if not name.startswith("stats/")]
            for batch in file.iter_batches(BATCH, columns=names):
                for row in batch.to_pylist():
                    rows.append(_row(path, row, len(rows), total, source, info))
                    total += rows[-1].length
                    if len(rows) > info.episodes or total > info.frames:
                        raise ValueError(
                            f"{path}: more than the {info.episodes} episodes of {info.frames} "
                            f"rows that {info.path} tells of"
                        )
    if (len(rows), total) != (info.episodes, info.frames):
        raise ValueError(
            f"{info.path} tells of {info.episodes} episodes and {info.frames} rows, "
            f"{layout.EPISODES} of {len(rows)} and {total}"
        )
    return rows


def _row(path: Path, row: dict[str, Any], number: int, total: int, source: Path, info: Info) -> Row:
    where = f"{path}, episode {number}"

    def whole(name: str, least: int = 0, most: int = MOST) -> int:
        value = row[name]
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{where}, {name}: {value!r}, expected a whole number from {least}")
        return value

    if whole("episode_index") != number:
        raise ValueError(f"{where}, episode_index: {row['episode_index']}, expected {number}")
    length = whole("length", 2, MAX_FRAMES)
    if whole("dataset_from_index") != total:
        raise ValueError(f"{where}, dataset_from_index: {row['dataset_from_index']}, the episodes "
                         f"before it have {total} rows")  # fmt: skip
    end = row.get("dataset_to_index")
    if end is not None and end != total + length:
        raise ValueError(f"{where}, dataset_to_index: {end}, expected {total + length}")
    file = fill(info.data_path, whole("data/chunk_index"), whole("data/file_index"))
    inside(source, file, where)
    for key in _video_keys(info):
        _check_video(source, info, where, key, row, length)
    player, name = row.get("cosmolabe/player"), row.get("cosmolabe/number")
    return Row(
        length=length,
        first=total,
        file=file,
        player=player if isinstance(player, str) else "",
        name=str(name) if type(name) is int else str(number),
    )


def _video_keys(info: Info) -> list[str]:
    return [name for name, what in info.features.items() if what["dtype"] == "video"]


def _check_videos(info: Info) -> None:
    if _video_keys(info) and info.video_path is None:
        raise ValueError(f"{info.path}, video_path: null, but {_video_keys(info)} are videos")


def _check_video(
    source: Path, info: Info, where: str, key: str, row: dict[str, Any], length: int
) -> None:
    """The video is inside the folder and as long as the rows; its frames are not imported."""
    if not KEY.fullmatch(key) or info.video_path is None:
        raise ValueError(f"{info.path}, features: {key[:80]!r} is no name of a video's folder")
    chunk, file = (row[f"videos/{key}/{name}_index"] for name in ("chunk", "file"))
    if not all(type(value) is int and 0 <= value <= MOST for value in (chunk, file)):
        raise ValueError(f"{where}, videos/{key}: chunk {chunk!r} and file {file!r} are no numbers")
    inside(source, fill(info.video_path, chunk, file, key), f"{where}, videos/{key}")
    first, end = (row.get(f"videos/{key}/{name}_timestamp") for name in ("from", "to"))
    seconds = length / info.fps
    fits = isinstance(first, float) and isinstance(end, float) and 0 <= first < end < MOST
    if not fits or abs(end - first - seconds) > 0.5 / info.fps:
        raise ValueError(
            f"{where}, videos/{key}: from {first} to {end} s, but {length} rows at {info.fps} a "
            f"second take {seconds:g} s"
        )


def open_parquet(path: Path) -> pq.ParquetFile:
    """A Parquet file, or what is wrong with it."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is no sound Parquet file ({error}); copy it again") from None
