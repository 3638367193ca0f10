"""Which inputs a person means by paths, folders, patterns, tables and folders of rollouts."""

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosmolabe.data.tables import read_rows, said
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
RUN, MEDIA = "readings.json", "media"
"""What a run folder holds, and where it keeps pictures."""
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
    folder: Path | None = None
    """The table's folder, from which the paths in its row count."""
    closed: bool = False
    """Whether no path of the row may lead out of that folder."""

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
    return told_apart(found)


def _of(text: str) -> list[Input]:
    path = Path(text)
    if text == STDIN:
        return [Input("stdin", path)]
    kind, why = what_is(path)
    if kind == FOLDER:
        return _of_folder(path)
    if path.suffix.lower() in TABLES and kind == FILE:
        return list(_of_table(path))
    if kind or os.path.lexists(path):
        return [Input(text, path, why=f"{text} {why}" if why else "")]
    if glob.has_magic(text):
        matches = sorted(glob.glob(text, recursive=True), key=natural)
        if not matches:
            return [Input(text, path, why=f"no file matches {text}")]
        return [item for match in matches for item in _of(match)]
    if "://" in text:
        return [Input(text, path, why=f"{text} is an address; download it and give the file")]
    return [Input(text, path, why=f"no file {text}" if why == ABSENT else f"{text[:200]} {why}")]


FILE, FOLDER, OTHER, ABSENT = "file", "folder", "other", "is not there"


def what_is(path: Path) -> tuple[str, str]:
    """`file`, `folder`, `other` or "" where it cannot be told, and why it cannot be read."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "", "is a link that leads nowhere" if os.path.islink(path) else ABSENT
    except OSError as error:  # a loop of links, a name too long, no right to look
        return "", f"cannot be read ({error.strerror})"
    except ValueError as error:
        return "", f"is no path ({error})"
    if stat.S_ISDIR(mode):
        return FOLDER, ""
    if stat.S_ISREG(mode):
        return FILE, ""
    return OTHER, "is not a plain file; put the file itself there"


def _of_folder(folder: Path) -> list[Input]:
    if what_is(folder / INDEX)[0] == FILE:
        return list(_of_table(folder / INDEX, inside=folder))
    found = list(_below(folder, folder))
    if not found:
        return [Input(str(folder), folder, why=f"{folder} holds no videos")]
    return found


def _below(folder: Path, top: Path) -> Iterator[Input]:
    """Videos of a folder and of those in it; one that holds pictures only is itself a video.

    What has the name of a video and is no plain file (a broken link, a pipe) is named, not opened;
    the pictures that a run folder keeps for its report are nobody's videos.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: natural(entry.name))
    except OSError as error:
        name = str(folder.relative_to(top)) if folder != top else str(folder)
        yield Input(name, folder, why=f"{folder} cannot be read ({error.strerror})")
        return
    entries = [entry for entry in entries if not entry.name.startswith(".")]
    told = {Path(entry.path): what_is(Path(entry.path)) for entry in entries}
    files = {path: why for path, (kind, why) in told.items() if kind != FOLDER}
    pictures = {
        path for path, why in files.items()
        if not why and path.suffix.lower() in PICTURES and not moves(path)
    }  # fmt: skip
    videos = [path for path in files if path.suffix.lower() in VIDEOS and path not in pictures]
    if not videos and len(pictures) > (folder != top):  # one picture in some folder is no video
        name = str(folder.relative_to(top)) if folder != top else folder.name or str(folder)
        yield Input(name, folder)
    else:
        for path in videos:
            why = f"{path} {files[path]}" if files[path] else ""
            yield Input(str(path.relative_to(top)), path, why=why)
    ours = any(entry.name == RUN for entry in entries)
    for entry in entries:
        if _is_own_folder(entry) and not (ours and entry.name == MEDIA):
            yield from _below(Path(entry.path), top)


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


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
    column = next(
        (name for name in COLUMNS if isinstance(row.get(name), str) and row[name].strip()), None
    )
    name = next(
        (str(row[n]) for n in IDS if isinstance(row.get(n), (str, int)) and row[n] != ""), ""
    )
    if column is None:
        have = f"no path in {list(COLUMNS)}; the row has {sorted(map(str, row))[:20]}"
        return Input(name or where, folder, row, f"{where}: {have}")
    text = row[column].strip()
    path, reason = located(text, folder, inside is not None)
    why = f"{where}: {reason}" if reason else ""
    return Input(name or text, path, row, why, folder, inside is not None)


def located(text: str, folder: Path, closed: bool) -> tuple[Path, str]:
    """The file or folder that a row of a table in `folder` names, and why it cannot be opened.

    `closed`: it may not lie outside the folder.
    """
    path, name = folder / text, said(text)
    if "://" in text:
        return path, f"{name} is an address; download it first"
    if "\0" in text:
        return folder, "a path with a zero byte"
    if closed and not is_inside(path, folder):
        return path, f"{name} lies outside the folder"
    kind, why = what_is(path)
    if not kind and why == ABSENT:
        return path, f"no file {name} in {folder}"
    return path, f"{name} {why}" if why else ""


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, all links followed, lies in the folder; a loop of links lies nowhere."""
    real = os.path.realpath(path)
    return Path(real).is_relative_to(os.path.realpath(folder))


def told_apart(found: list[Input]) -> list[Input]:
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
        result.append(replace(item, name=name))
    return result
