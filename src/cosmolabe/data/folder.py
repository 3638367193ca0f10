"""The files every store's folder has, and what is checked before anything in them is believed."""

from pathlib import Path

import numpy as np

from cosmolabe.core.record import read_json
from cosmolabe.data.arrays import refuse_link

SPLITS = ("train", "val", "test", "scenario")
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
    return content["shards"]


def check_numbers(
    lengths: np.ndarray, episodes: np.ndarray, starts: np.ndarray, length: int
) -> None:
    """Refuse windows that lie outside their episodes."""
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
