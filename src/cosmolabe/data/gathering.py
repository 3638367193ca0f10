"""One outside set gathered from a folder: its tables found by their columns, its videos by name.

A table names a video by a path, a URL or a bare name, in the layout of whoever wrote it; the folder
may hold it elsewhere. So a video is looked up by the whole path first, then by ever fewer of its
last parts. No path leads out of the folder, by dots, from the root or by a link.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from cosmolabe.core.corpus import ClipRow, Corpus, PairRow
from cosmolabe.data.tables import SUFFIXES, has_columns, read_rows, said

VIDEOS = (".mp4", ".mov", ".webm", ".mkv", ".avi", ".m4v", ".gif", ".webp")
FRAMES = (".npz", ".npy", ".png")  # what also holds frames: arrays, and stills by the folder
MOST_FILES = 5_000_000  # of one folder; our choice
MOST_NOTED = 10_000  # bad rows that are told one by one; our choice


class Gathering:
    """What has been found of one set so far."""

    def __init__(self, name: str, folder: Path | str) -> None:
        self.name = name
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ValueError(f"no folder {self.folder}; give the one that holds {name}")
        self.bad: list[str] = []
        self._num_bad = 0
        self._stills: set[str] = set()
        self._clips: dict[str, ClipRow] = {}
        self._owners: dict[str, tuple[str, int]] = {}
        self._pairs: dict[tuple[str, str], PairRow] = {}
        self._files: set[str] = set()
        self._tails: dict[str, list[str]] = {}
        self._out: set[str] = set()
        self._index()

    def tables(
        self, *patterns: str, needs: Collection[str] = (), lacks: Collection[str] = ()
    ) -> Iterator[str]:
        """Tables whose name fits a pattern and whose columns hold all of `needs`, none of `lacks`.

        Where no columns are asked for, the name decides.
        """
        for name in sorted(self._files):
            suffix = PurePosixPath(name).suffix.lower()
            if suffix not in SUFFIXES or not any(
                fnmatch(PurePosixPath(name).name.lower(), pattern) for pattern in patterns or ("*",)
            ):
                continue
            if not (needs or lacks) or has_columns(self.folder / name, needs, lacks):
                yield name

    def rows(self, table: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Place and content of every row of a table; those that hold nothing are noted."""
        for row in read_rows(self.folder / table, name=table):
            if row.why:
                self.note(row.where, row.why)
            else:
                yield row.where, row.values

    def note(self, where: str, why: str) -> None:
        """A row that could not be understood."""
        self._num_bad += 1
        if self._num_bad <= MOST_NOTED:
            self.bad.append(f"{where}: {why}")

    def files(self, *suffixes: str) -> list[str]:
        """Every file of the folder with one of these suffixes, in order."""
        return sorted(f for f in self._files if PurePosixPath(f).suffix.lower() in suffixes)

    def locate(self, named: str) -> str:
        """The file of this folder that a table's path, URL or name means; "" where there is none.

        Raises:
            ValueError: It leads out of the folder, or several files answer to it.
        """
        return self._locate(named)[0]

    def add(self, where: str, clip: ClipRow, *names: str) -> bool:
        """Take a clip whose video answers to one of `names`; True where it is taken or stood there.

        A clip without a video is taken too and listed as missing. A row that says the same again is
        passed over; one that says something else of the same clip is a bad one, as is a path that
        leads out of the folder. Where two clips answer to one file, the one that names more of its
        path has it, and the other is missing.
        """
        if not clip.id:
            self.note(where, "names no video")
            return False
        if clip.id in self._clips:
            if _said_of(self._clips[clip.id]) == _said_of(clip):
                return True
            self.note(where, f"'{said(clip.id)}' stood there with another label; the first is kept")
            return False
        try:
            path, depth = self._best([name for name in names if name])
            mask = self.locate(clip.mask) if clip.mask else ""
        except ValueError as error:
            self.note(where, str(error))
            return False
        if path and path in self._owners:
            owner, its_depth = self._owners[path]
            if its_depth == depth:
                self.note(
                    where, f"'{said(clip.id)}' and '{said(owner)}' are one file, {said(path)}"
                )
                return False
            if its_depth > depth:
                path = ""
            else:
                self._clips[owner] = replace(self._clips[owner], path="")
        if path:
            self._owners[path] = (clip.id, depth)
        else:
            path = _as_named(names)
        self._clips[clip.id] = replace(clip, dataset=self.name, path=path, mask=mask)
        return True

    def __contains__(self, clip: str) -> bool:
        return clip in self._clips

    def pair(self, where: str, pair: PairRow) -> None:
        """A pair that the set itself states, once however often it says the same of it."""
        key = (pair.first, pair.second)
        if pair.first == pair.second:
            self.note(where, f"'{said(pair.first)}' is paired with itself")
        elif not (pair.first in self and pair.second in self):
            return  # one of its clips was a bad row, and named as such
        elif key[::-1] in self._pairs:
            known = self._pairs[key[::-1]]
            if known.p_first_worse != 1 - pair.p_first_worse:
                self.note(where, f"{said(key)} stood there the other way; the first is kept")
        elif self._pairs.setdefault(key, pair).p_first_worse != pair.p_first_worse:
            self.note(where, f"{said(key)} stood there with another answer; the first is kept")

    def corpus(self, schema: str) -> Corpus:
        """All of it; a folder without any row says what was looked for."""
        if not self._clips and not self.bad:
            self.note(str(self.folder), f"nothing of {self.name} is here; it has {schema}")
        if self._num_bad > len(self.bad):
            more = self._num_bad - len(self.bad)
            self.bad.append(f"{self.folder}: {more} more rows could not be understood")
        return Corpus(
            self.name,
            tuple(self._clips.values()),
            tuple(clip.id for clip in self._clips.values() if clip.path not in self._owners),
            tuple(self.bad),
            tuple(self._pairs.values()),
        )

    def _best(self, names: list[str]) -> tuple[str, int]:
        """The first of the names that a file answers to; an error only where none does."""
        errors = []
        for name in names:
            try:
                path, depth = self._locate(name)
            except ValueError as error:
                errors.append(error)
                continue
            if path:
                return path, depth
        if errors:
            raise errors[0]
        return "", 0

    def _locate(self, named: str) -> tuple[str, int]:
        """The file, and how many of the last parts of its path the name tells."""
        parts = parts_of(named)
        for start in range(len(parts)):
            tail = "/".join(parts[start:])
            if start == 0 and (tail in self._files or tail in self._stills):
                return tail, len(parts)
            found = self._tails.get(tail) or self._tails.get(plain_name(tail)) or []
            if len(found) == 1:
                return found[0], len(parts) - start
            if len(found) > 1:
                shortest = min(found, key=lambda f: (f.count("/"), f))
                if sum(f.count("/") == shortest.count("/") for f in found) == 1:
                    return shortest, len(parts) - start
                raise ValueError(f"{said(named)} could be any of {said(sorted(found)[:3])}")
        if any("/".join(parts[: n + 1]) in self._out for n in range(len(parts))):
            raise ValueError(
                f"{said(named)} lies behind a link that leads out of the folder; "
                "give the folder it leads to"
            )
        return "", 0

    def _index(self) -> None:
        root = self.folder.resolve()
        seen = 0
        for here, folders, files in os.walk(root):
            inside = Path(here).relative_to(root)
            for name in sorted(files) + [f for f in folders if Path(here, f).is_symlink()]:
                seen += 1
                if seen > MOST_FILES:
                    raise ValueError(f"{self.folder} holds more than {MOST_FILES} files")
                path = Path(here, name)
                place = (inside / name).as_posix()
                if path.is_symlink() and not path.resolve().is_relative_to(root):
                    self._out.add(place)
                elif path.is_file():
                    self._files.add(place)
            folders.sort()
            if any(name.lower().endswith(".png") for name in files):
                self._stills.add(inside.as_posix())
        for place in sorted(self._files):
            if PurePosixPath(place).suffix.lower() not in (*VIDEOS, *FRAMES):
                continue
            parts = place.split("/")
            for start in range(len(parts)):
                tail = "/".join(parts[start:])
                for key in {tail, plain_name(tail)}:
                    self._tails.setdefault(key, []).append(place)


def _as_named(names: Collection[str]) -> str:
    """Where a missing video would lie, in the table's own words; "" where it names a URL only."""
    named = next((name for name in names if name and "://" not in name), "")
    return "/".join(parts_of(named))


def _said_of(clip: ClipRow) -> tuple:
    """What a second row of the same clip must not contradict."""
    return clip.violation, clip.anchor, clip.kind


def parts_of(named: str) -> list[str]:
    """The parts of a path or of the path of a URL.

    Raises:
        ValueError: It is no path inside a folder.
    """
    text = named.strip()
    if "\x00" in text or len(text) > 4096:
        raise ValueError(f"{said(text)} is no path")
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", text):
        try:
            text = unquote(urlsplit(text).path).lstrip("/")
        except ValueError:
            raise ValueError(f"{said(text)} is no URL") from None
    text = text.replace("\\", "/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts or text.startswith(("/", "~")) or re.match(r"[a-zA-Z]:", text):
        raise ValueError(f"{said(named)} leads out of the folder; paths are relative to it")
    if "\x00" in text:
        raise ValueError(f"{said(named)} is no path")
    return parts


def plain_name(path: str) -> str:
    """A path as tools that dislike commas, quotes and blanks rename it."""
    return re.sub(r"[^\w./-]", "_", path)


def stem_of(named: str) -> str:
    """The bare name of a path or URL, without folders and suffix; "" where it has none."""
    try:
        parts = parts_of(named)
    except ValueError:
        return ""
    if not parts:
        return ""
    name = PurePosixPath(parts[-1])
    return name.stem if name.suffix.lower() in (*VIDEOS, *FRAMES) else name.name
