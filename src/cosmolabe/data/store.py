"""A store of episodes: what every reader may rely on, whatever lies on disk."""

from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int64

from cosmolabe.core.episode import Episode, Windows
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.folder import RECORD, Number, read_record
from cosmolabe.data.packed import open_packed
from cosmolabe.data.replay import open_replay
from cosmolabe.engine.game import Appearance

OPENERS = {"replay": open_replay, "packed": open_packed}
"""What opens a store, by the kind that its record states."""


@runtime_checkable
class Store(Protocol):
    """Episodes of one game, by number; windows are cut on demand."""

    folder: Path
    manifest: Manifest
    game: str
    lengths: np.ndarray
    """States of each episode, int64 (episode,)."""
    fingerprint: str
    """Changes when any item changes: a seed, a player, a look, a state."""

    def __len__(self) -> int:
        """Number of episodes."""
        ...

    def split(self, name: str) -> Int64[np.ndarray, " episode"]:
        """Episode numbers of train, val, test or scenario; may be empty."""
        ...

    def episode(self, number: Number) -> Episode:
        """One whole episode."""
        ...

    def windows(
        self,
        episodes: Int64[np.ndarray, " batch"],
        starts: Int64[np.ndarray, " batch"],
        length: int,
        out: Windows | None = None,
    ) -> Windows:
        """Window b holds states starts[b] .. starts[b] + length - 1 of episode episodes[b].

        `out`, a batch of the same shape got before, is written over.
        """
        ...

    def player(self, number: Number) -> str:
        """Who played the episode."""
        ...

    def appearance(self, number: Number) -> Appearance:
        """How the episode looks."""
        ...

    def verify(self) -> int:
        """Check every byte and every state; gives the number of episodes, or says what is wrong."""
        ...


def open_store(path: Path | str) -> Store:
    """The store in a folder: a replay store of one of our games, or a packed one."""
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"no store at {folder}; make one with `cosmolabe collect`")
    record = read_record(folder)
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in OPENERS:
        raise ValueError(f"{folder / RECORD}: unknown kind of store {kind!r}; have {list(OPENERS)}")
    return OPENERS[kind](folder, record)


def is_store(path: Path | str) -> bool:
    """Whether this is the folder of a store, by its record alone."""
    try:
        return read_record(Path(path)).get("kind") in list(OPENERS)
    except (OSError, ValueError):
        return False
