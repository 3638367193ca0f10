"""The files every store's folder has, and what is checked before anything in them is believed."""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json
from cosmolabe.data.arrays import file_digest, refuse_link

SPLITS = ("train", "val", "test", "scenario")
SHARES = {"train": 10, "val": 3, "test": 3}
"""10 : 3 : 3 of the episodes (AutoWorldModel-Bench); its fourth split holds scenarios alone."""
RECORD, INDEX, MANIFEST = "record.json", "index.json", "manifest.json"
SCHEMA = 1

Number = int | np.integer
"""An episode's number in its store."""


def read_record(folder: Path) -> dict:
    """The store's record, its schema checked."""
    refuse_link(folder / RECORD)
    record = read_json(folder / RECORD)
    if not isinstance(record, dict):
        raise ValueError(f"{folder / RECORD} is no store record; is this the folder of a store?")
    if record.get("schema") != SCHEMA:
        raise ValueError(
            f"{folder / RECORD} has schema {record.get('schema')}, this version reads {SCHEMA}; "
            f"collect the store again or use the version that wrote it"
        )
    return record


def read_index(folder: Path, file: str = INDEX) -> list[dict]:
    """The store's rows, one a shard; missing means that the collection was cut short."""
    path = folder / file
    if not path.exists() and not path.is_symlink():
        raise ValueError(
            f"{folder} has no {file}: it was cut short. Run the same command again and it goes on "
            f"where it stopped"
        )
    refuse_link(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{path} is no index of schema {SCHEMA}; collect the store again")
    rows = content.get("shards")
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"{path} has no list of shards; collect or import the store again")
    for number, row in enumerate(rows):
        if not _is_row(row):
            raise ValueError(f"{path}, row {number}, is no row of an index: {str(row)[:80]}")
    return rows


def require(record: dict[str, Any], path: Path, **kinds: type) -> None:
    """Refuse a record whose entries are missing or of another kind."""
    for name, kind in kinds.items():
        value = record.get(name)
        if type(value) is not kind:
            raise ValueError(
                f"{path}: {name} is {value!r}, expected {kind.__name__}; collect or import again"
            )


def _is_row(row: Any) -> bool:  # noqa: ANN401 - any JSON
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in ("file", "xxh3"))
        and row.get("split") in SPLITS
        and all(type(row.get(name)) is int for name in ("first", "bytes"))
        and isinstance(row.get("lengths"), list)
        and all(type(length) is int and length >= 1 for length in row["lengths"])
    )


def check_numbers(
    lengths: np.ndarray, episodes: np.ndarray, starts: np.ndarray, length: int
) -> None:
    """Refuse windows that lie outside their episodes."""
    for what, numbers in (("episodes", episodes), ("starts", starts)):
        whole = isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu"
        if not whole or numbers.ndim != 1:
            raise ValueError(
                f"{what} must be an int64 array of one axis; got {type(numbers).__name__} "
                f"{getattr(numbers, 'dtype', '')} {np.shape(numbers)}"
            )
    if length < 1 or len(episodes) != len(starts):
        raise ValueError(
            f"windows need a length of at least 1 and one start for each episode; got length "
            f"{length}, {len(episodes)} episodes, {len(starts)} starts"
        )
    if len(episodes) and (episodes.min() < 0 or episodes.max() >= len(lengths)):
        bad = episodes[(episodes < 0) | (episodes >= len(lengths))][0]
        raise ValueError(f"no episode {bad}; the store has {len(lengths)}")
    outside = (starts < 0) | (starts + length > lengths[episodes])
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(
            f"a window of {length} states from tick {starts[first]} does not fit episode "
            f"{episodes[first]}, which has {lengths[episodes[first]]} states"
        )


def check_files(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Every shard of the index is there, a plain file, of its size; nothing is read yet."""
    for row in rows:
        path = folder / row["file"]
        if Path(row["file"]).name != row["file"]:
            raise ValueError(f"{folder / INDEX} names a file outside the folder: {row['file']}")
        refuse_link(path)
        if path.stat().st_size != row["bytes"]:
            raise ValueError(
                f"{path} has {path.stat().st_size} bytes, the index says {row['bytes']}; "
                f"{remedy(folder, path)}"
            )


def check_shard(folder: Path, row: dict[str, Any]) -> Path:
    """The shard's path, once its bytes are those the index speaks of."""
    path = folder / row["file"]
    if file_digest(path) != row["xxh3"]:
        raise ValueError(
            f"{path} is not the file the index speaks of (checksum); {remedy(folder, path)}"
        )
    return path


def fingerprint_of(record: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Hash of a store: how it was made, the library versions apart, and what every shard holds."""
    made = {name: value for name, value in record.items() if name != "versions"}
    return fingerprint(plain(made), [row["xxh3"] for row in rows])


def remedy(folder: Path, path: Path) -> str:
    """What would do about a damaged shard."""
    return (
        f"copy it again, or delete {path.name} and {INDEX} in {folder} and run the same collect "
        f"or import again"
    )


class Numbering:
    """Which shard an episode lies in, and which episodes make a split."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        none = np.empty(0, np.int64)
        self.lengths = np.concatenate([none, *(np.array(r["lengths"], np.int64) for r in rows)])
        self.firsts = np.concatenate([[0], np.cumsum([len(row["lengths"]) for row in rows])])
        self.firsts = self.firsts.astype(np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def place(self, number: Number) -> tuple[int, int]:
        """The shard of an episode and its row there."""
        if not 0 <= number < len(self):
            raise ValueError(f"no episode {number}; the store has {len(self)}")
        place = int(np.searchsorted(self.firsts, number, side="right")) - 1
        return place, int(number) - int(self.firsts[place])

    def places(self, numbers: Int64[np.ndarray, " batch"]) -> Int64[np.ndarray, " batch"]:
        """The shard of each episode."""
        return np.searchsorted(self.firsts, numbers, side="right") - 1

    def split(self, name: str) -> Int64[np.ndarray, " episode"]:
        """Episode numbers of one split; empty where there are none."""
        if name not in SPLITS:
            raise ValueError(f"no split '{name}'; have {list(SPLITS)}")
        mine = [
            np.arange(first, first + len(row["lengths"]))
            for row, first in zip(self.rows, self.firsts, strict=False)
            if row["split"] == name
        ]
        return np.concatenate([np.empty(0, np.int64), *mine])
