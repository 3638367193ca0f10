"""Stores as Minari datasets (extra `minari`), written by Minari itself, one dataset a split.

A dataset's id is `GAME/SPLIT-vVERSION`, below the folder, which Minari calls its root:
`MINARI_DATASETS_PATH=FOLDER`, then `minari.load_dataset("pong/train-v1")`. Observations are
dictionaries of `states` (slot, state) and `globals`, one more than there are steps; a step's reward
and its end are those of the state it led to.
"""

import os
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces

from cosmolabe.core.record import plain, write_json
from cosmolabe.data.exporting import action_names, library, sizes_of, whole_folder
from cosmolabe.data.folder import MANIFEST
from cosmolabe.data.packing import columns_of
from cosmolabe.data.replay import ReplayStore
from cosmolabe.data.store import Store

ROOT = "MINARI_DATASETS_PATH"
TOGETHER = 8  # episodes handed to Minari at once


def export_minari(
    store: Store,
    folder: Path | str,
    split: str | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Minari datasets of a store's splits; gives the steps written.

    Actions of a store of our own games are discrete, `description` tells their names; those of an
    imported one are the action fields its manifest names.
    """
    if "reward" not in store.manifest.globals:
        raise ValueError(f"{store.folder}: its manifest names no global 'reward'; Minari needs one")
    minari = library("minari", "minari")
    library("h5py", "minari")
    sizes = sizes_of(store, split, limit)
    total, done, steps = sum(sizes.values()), 0, 0
    with whole_folder(Path(folder)) as part, _root(part):
        for name in sizes:
            numbers = store.split(name)[:limit]
            dataset = None
            for first in range(0, len(numbers), TOGETHER):
                if progress:
                    progress(done, total)
                batch = [_buffer(minari, store, number) for number in numbers[first:][:TOGETHER]]
                steps += sum(len(one.rewards) for one in batch)
                done += len(batch)
                if dataset is None:
                    dataset = _create(minari, store, name, batch)
                else:
                    dataset.update_dataset_from_buffer(batch)
        write_json(part / MANIFEST, store.manifest)
    return steps


def dataset_id(store: Store, split: str) -> str:
    """What Minari calls one split of a store."""
    allowed = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in store.game)
    return f"{allowed}/{split}-v{store.manifest.version}"


@contextmanager
def _root(folder: Path) -> Generator[None]:
    """Let Minari write below a folder of ours, not into the user's own collection."""
    before = os.environ.get(ROOT)
    os.environ[ROOT] = str(folder)
    try:
        yield
    finally:
        os.environ.pop(ROOT)
        if before is not None:
            os.environ[ROOT] = before


def _create(minari: ModuleType, store: Store, split: str, batch: list) -> Any:  # noqa: ANN401 - Minari's own
    profile, slots = store.manifest.profile, store.manifest.num_slots
    told = {
        "game": store.game,
        "store": store.fingerprint,
        "split": split,
        "players": sorted({store.player(number) for number in store.split(split)}),
        "slots": [slot.name for slot in store.manifest.slots],
        "state_columns": profile.state_columns,
        "global_fields": profile.global_fields,
        "actions": _names(store),
    }
    text = "; ".join(f"{name}: {_line(value)}" for name, value in plain(told).items())
    seen: dict[str, spaces.Space] = {
        "states": _box((slots, profile.num_state)),
        "globals": _box((len(profile.global_fields),)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it misses an author, whom only the user could name
        return minari.create_dataset_from_buffers(
            dataset_id(store, split),
            batch,
            observation_space=spaces.Dict(seen),
            action_space=_action_space(store),
            algorithm_name=", ".join(told["players"]),
            description=text,
            jpeg_encoding=False,
            data_format="hdf5",
        )


def _box(shape: tuple[int, ...]) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def _line(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _names(store: Store) -> tuple[str, ...]:
    return store.part.actions if isinstance(store, ReplayStore) else action_names(store.manifest)


def _action_space(store: Store) -> spaces.Space:
    if isinstance(store, ReplayStore):
        return spaces.Discrete(len(store.part.actions))
    return _box((len(action_names(store.manifest)),))


def _buffer(minari: ModuleType, store: Store, number: np.integer) -> Any:  # noqa: ANN401 - Minari's own
    episode, profile = store.episode(number), store.manifest.profile
    replayed = isinstance(store, ReplayStore)
    taken = columns_of(store.manifest).actions
    actions = store.actions(number) if replayed else episode.actions[:-1, taken]
    truncations = np.zeros(len(episode) - 1, bool)
    truncations[-1] = episode.truncated
    return minari.data_collector.EpisodeBuffer(
        seed=store.seed(number) if replayed else None,
        options={"player": store.player(number), "number": int(number)},
        observations={"states": episode.states, "globals": episode.globals},
        actions=actions.astype(np.int64) if replayed else actions,
        rewards=episode.globals[1:, profile.global_fields.index("reward")],
        terminations=episode.terminal[1:],
        truncations=truncations,
    )
