"""Which inputs a person means by paths, folders, patterns, tables and folders of rollouts."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe.data.tables import read_rows
from cosmolabe.data.video.clips import STDIN
from cosmolabe.data.video.stills import SUFFIXES as PICTURES
from cosmolabe.data.video.stills import moves, natural

VIDEOS = (
    ".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".gif", ".apng", ".webp", ".mpg", ".mpeg",
    ".ts", ".m2ts", ".mts", ".flv", ".wmv", ".asf", ".ogv", ".3gp", ".mxf", ".ivf", ".y4m", ".nut",
    ".h264", ".h265", ".hevc", ".av1", ".obu", ".npy", ".npz",
)  # fmt: skip
"""What is taken from a folder; a file named by itself may have any name."""
TABLES = (".csv", ".tsv", ".jsonl", ".parquet")
INDEX = "rollouts.jsonl"
COLUMNS = ("video", "path", "video_path", "videopath", "file", "filename", "file_name", "clip")
"""Columns of a table that may name the file, in this order."""
IDS = ("id", "name", "video_id", "clip_id")


@dataclass(frozen=True)
class Input:
    """One thing to judge, or why it cannot be."""

    name: str
    """Stable and different from every other: the path as given or below the folder, or an id."""
    path: Path
    row: Mapping[str, Any] = field(default_factory=dict)
    """What the table says of it."""
    why: str = ""
    """Says why it cannot be opened; empty where it may be tried."""

    @property
    def fps(self) -> float | None:
        """The rate that the table states, for pictures and arrays without one."""
        value = self.row.get("fps")
        try:
            return float(value) if value is not None and 0 < float(value) < 10_000 else None
        except (TypeError, ValueError):
            return None


def find_inputs(paths: Iterable[Path | str]) -> list[Input]:
    """Every input that these name, in order; what names none becomes one input with its reason.

    A path is a video, "-" (stdin), a folder (of videos, of numbered pictures, of rollouts), a
    pattern with *, or a table (CSV, TSV, JSON lines, Parquet) with a column of paths, which count
    from the table's folder. Links to folders are not followed.
    """
    found: list[Input] = []
    for path in paths:
        found.extend(_of(str(path)))
    if not found:
        raise ValueError("no inputs: give videos, folders, patterns or tables")
    return _told_apart(found)


def _of(text: str) -> list[Input]:
    path = Path(text)
    if text == STDIN:
        return [Input("stdin", path)]
    if path.is_dir():
        return _of_folder(path)
    if path.suffix.lower() in TABLES and path.is_file():
        return list(_of_table(path))
    if os.path.lexists(path):
        return [Input(text, path)]
    if glob.has_magic(text):
        matches = sorted(glob.glob(text, recursive=True), key=natural)
        if not matches:
            return [Input(text, path, why=f"no file matches {text}")]
        return [item for match in matches for item in _of(match)]
    if "://" in text:
        return [Input(text, path, why=f"{text} is an address; download it and give the file")]
    return [Input(text, path, why=f"no file {text}")]


def _of_folder(folder: Path) -> list[Input]:
    if (folder / INDEX).is_file():
        return list(_of_table(folder / INDEX, inside=folder))
    found = list(_below(folder, folder))
    if not found:
        return [Input(str(folder), folder, why=f"{folder} holds no videos")]
    return found


def _below(folder: Path, top: Path) -> Iterator[Input]:
    """Videos of a folder and of those in it; one that holds pictures only is itself a video."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: natural(entry.name))
    except OSError as error:
        name = str(folder.relative_to(top)) if folder != top else str(folder)
        yield Input(name, folder, why=f"{folder} cannot be read ({error.strerror})")
        return
    entries = [entry for entry in entries if not entry.name.startswith(".")]
    files = [Path(entry.path) for entry in entries if entry.is_file()]
    pictures = [file for file in files if file.suffix.lower() in PICTURES and not moves(file)]
    videos = [file for file in files if file.suffix.lower() in VIDEOS and file not in set(pictures)]
    if not videos and len(pictures) > (folder != top):  # one picture in some folder is no video
        name = str(folder.relative_to(top)) if folder != top else folder.name or str(folder)
        yield Input(name, folder)
    else:
        for path in videos:
            yield Input(str(path.relative_to(top)), path)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), top)


def _of_table(table: Path, inside: Path | None = None) -> Iterator[Input]:
    count = 0
    for row in read_rows(table, name=str(table)):
        count += 1
        yield _of_row(table.parent, row.where, row.values, row.why, inside)
    if not count:
        yield Input(str(table), table, why=f"{table} names no videos")


def _of_row(
    folder: Path, where: str, row: Mapping[str, Any], why: str, inside: Path | None
) -> Input:
    if why:
        return Input(where, folder, why=f"{where}: {why}")
    column = next((name for name in COLUMNS if isinstance(row.get(name), str) and row[name]), None)
    name = next(
        (str(row[n]) for n in IDS if isinstance(row.get(n), (str, int)) and row[n] != ""), ""
    )
    if column is None:
        have = f"no path in {list(COLUMNS)}; the row has {sorted(map(str, row))[:20]}"
        return Input(name or where, folder, row, f"{where}: {have}")
    text = row[column].strip()
    path = folder / text
    name = name or text
    if "://" in text:
        return Input(name, path, row, f"{where}: {text} is an address; download it first")
    if "\0" in text:
        return Input(name, folder, row, f"{where}: a path with a zero byte")
    if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
        return Input(name, path, row, f"{where}: {text} lies outside the folder")
    if not path.exists():
        return Input(name, path, row, f"{where}: no file {text} in {folder}")
    return Input(name, path, row)


def _told_apart(found: list[Input]) -> list[Input]:
    """Names that stand twice get the path, then a number."""
    taken: dict[str, int] = {}
    result = []
    for item in found:
        name = item.name
        if name in taken and item.path != Path(STDIN):
            name = str(item.path)
        while name in taken:
            taken[item.name] += 1
            name = f"{item.name}#{taken[item.name]}"
        taken.setdefault(name, 1)
        result.append(Input(name, item.path, item.row, item.why))
    return result
