"""Data no session ever saw: played here, under a salt that stays on this machine.

The salt is a file of this machine's user, outside any repository; whoever has it can play the test
episodes again. A session never gets it, nor the store, nor a seed; a record holds its hash alone.
"""

import hashlib
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

from cosmolabe.bench.bed import Bed, lay_out
from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.collect import collect
from cosmolabe.data.store import Store

BYTES = 32
MOST_SHOWN = 20


def home() -> Path:
    """Where this user's salt and held-out stores lie: $COSMOLABE_ARENA_HOME, else XDG's place."""
    named = os.environ.get("COSMOLABE_ARENA_HOME")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "cosmolabe" / "arena"


def secret_salt(folder: Path | None = None) -> str:
    """The salt of this machine, made on first use; readable by its user alone."""
    path = (folder or home()) / "salt"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(file, "w") as out:
            out.write(secrets.token_hex(BYTES))
    if path.is_symlink() or path.stat().st_mode & 0o077:
        raise ValueError(f"{path} can be read by others, or is a link; chmod 600 it, or delete it")
    salt = path.read_text().strip()
    if len(salt) < BYTES:
        raise ValueError(f"{path} holds no salt of {BYTES} characters or more; delete it")
    return salt


def hash_of(salt: str) -> str:
    """What a record may say of a salt."""
    return hashlib.sha256(b"cosmolabe salt " + salt.encode()).hexdigest()[:16]


def held_out_store(
    game: str,
    split: str,
    num_episodes: int,
    *,
    folder: Path | None = None,
    max_ticks: int | None = None,
) -> Store:
    """Episodes of one split under this machine's salt; played once, kept in `home()`."""
    top, salt = folder or home(), secret_salt(folder)
    name = f"{game}-{split}-{num_episodes}-{max_ticks or 'full'}-{hash_of(salt)[:8]}"
    stores = top / "stores"
    stores.mkdir(mode=0o700, parents=True, exist_ok=True)
    starts = ScenarioEpisodes(game) if split == "scenario" else None
    return collect(
        game, stores / name, num_episodes, split=split, salt=salt, starts=starts,
        max_ticks=None if starts else max_ticks,
    )  # fmt: skip


def held_out_bed(
    store: Store, split: str, protocol: str = "state/1", folder: Path | None = None
) -> Bed:
    """One window an episode, so no context holds another's future; the salt decides their order."""
    seed = seed_of("held-out windows", secret_salt(folder))
    return lay_out(store, split, protocol, num_episodes=len(store.split(split)), seed=seed)


@dataclass(frozen=True)
class Overlap:
    """What the test has in common with what a session may read."""

    windows: int
    """Of the test's windows, found whole (actions and future states) in the session's data."""
    rows: np.ndarray
    """Which; bool (window,)."""
    states: float
    """Share of the test's future states found anywhere in the session's data."""
    seen: int
    """States of the session's data that were looked at."""

    @property
    def told(self) -> dict[str, float | int]:
        """For the record."""
        return {"windows": self.windows, "states": self.states, "seen": self.seen}


def overlap(bed: Bed, stores: Iterable[tuple[Store, str]]) -> Overlap:
    """Compare the windows of a bed with every state of some splits of stores, by hash.

    A window is found where one of its scored futures (the states after the context, in order)
    stands somewhere in an episode. Single states may well recur: every rally begins alike.
    """
    futures = _hashes(bed.windows.states[:, bed.protocol.window :])
    length = futures.shape[1]
    known, runs, seen = [], [], 0
    for store, split in stores:
        for number in store.split(split):
            hashes = _hashes(store.episode(int(number)).states[None])[0]
            seen += len(hashes)
            known.append(hashes)
            runs.append(_runs(hashes, length))
    rows = np.isin(_runs(futures, length)[:, 0], np.concatenate(runs) if runs else [])
    here = np.isin(futures, np.concatenate(known) if known else [])
    return Overlap(int(rows.sum()), rows, float(here.mean()) if here.size else 0.0, seen)


def seeds_shared(first: Store, second: Store) -> int:
    """World seeds that two replay stores have in common; other stores have none to compare."""
    both = [_seeds(store) for store in (first, second)]
    return len(both[0] & both[1])


def _seeds(store: Store) -> set[int]:
    seed = getattr(store, "seed", None)
    return {seed(number) for number in range(len(store))} if seed else set()


def _hashes(states: np.ndarray) -> np.ndarray:
    """A 64-bit hash of every state: (batch, time, slot, column) to (batch, time)."""
    batch, time = states.shape[:2]
    flat = np.ascontiguousarray(states, np.float32).reshape(batch * time, -1)
    return np.array([xxhash.xxh3_64_intdigest(row.tobytes()) for row in flat], np.uint64).reshape(
        batch, time
    )


def _runs(hashes: np.ndarray, length: int) -> np.ndarray:
    """A hash of every run of `length` states: (..., time) to (..., time - length + 1)."""
    if hashes.shape[-1] < length:
        return np.empty((*hashes.shape[:-1], 0), np.uint64)
    total = np.zeros((*hashes.shape[:-1], hashes.shape[-1] - length + 1), np.uint64)
    for step in range(length):
        part = hashes[..., step : step + total.shape[-1]]
        total = total * np.uint64(0x9E3779B97F4A7C15) + part
    return total
