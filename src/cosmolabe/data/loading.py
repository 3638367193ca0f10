"""Shards of a replay store in memory; one that does not belong is refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.data import shards
from cosmolabe.data.arrays import read_arrays, require_arrays
from cosmolabe.data.folder import check_shard
from cosmolabe.engine.game import Game


@dataclass(frozen=True)
class Shard:
    """One shard in memory, ready to be played again."""

    first: int
    """Store number of its first episode."""
    arrays: dict[str, np.ndarray]
    log_starts: np.ndarray
    key_starts: np.ndarray

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(array.nbytes for array in self.arrays.values())


def read_shard(
    folder: Path, row: dict[str, Any], record: dict[str, Any], first: int, game: Game
) -> Shard:
    """The shard, once it holds what the index and the record say."""
    path = check_shard(folder, row)
    meta, arrays = read_arrays(path)
    require_arrays(path, arrays, shards.ARRAYS)
    lengths = arrays["lengths"]
    every = max(record["keyframe_every"], 1)
    keys = np.array([shards.num_keyframes(int(n), every) for n in lengths], np.int64)
    log_starts = np.concatenate([[0], np.cumsum(lengths)])
    key_starts = np.concatenate([[0], np.cumsum(keys)])
    made = meta.get("shard")
    fits = (
        (meta.get("game"), meta.get("version")) == (record["game"], record["version"])
        and (made.get("split") if isinstance(made, dict) else None) == row["split"]
        and all(len(arrays[name]) == len(lengths) for name in shards.PER_EPISODE)
        and lengths.tolist() == row["lengths"]
        and lengths.min(initial=2) >= 2
        and len(arrays["actions"]) == log_starts[-1]
        and arrays["keyframes"].shape == (key_starts[-1], game.num_world)
        and bool(np.isfinite(arrays["keyframes"]).all())
        and arrays["characters"].shape == (len(lengths), len(game.roles))
        and _below(arrays["characters"], len(game.characters))
        and _below(arrays["themes"], len(game.themes))
        and _below(arrays["players"], len(record["players"]))
        and _below(arrays["actions"][arrays["actions"] != shards.NO_ACTION], len(game.actions))
    )
    if not fits:
        raise ValueError(
            f"{path} does not belong here: it holds {len(lengths)} episodes of {meta.get('game')} "
            f"version {meta.get('version')}, {made}; put the right shard back"
        )
    return Shard(first, arrays, log_starts, key_starts)


def _below(numbers: np.ndarray, end: int) -> bool:
    return bool((numbers < end).all())
