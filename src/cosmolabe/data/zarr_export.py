"""Stores as one Zarr v3 group (extra `zarr`): whole arrays, chunked over time.

All episodes stand one after another along the first axis: rows offsets[k] .. offsets[k + 1] - 1 of
`states`, `actions`, `globals` and `terminated` are episode k. What is known of an episode is an
array of one number each; splits and players are numbers whose names stand in the attributes, since
Zarr v3 has no settled type for text.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.record import plain, versions
from cosmolabe.data.exporting import chosen, library, sizes_of, whole_folder
from cosmolabe.data.store import Store

SCHEMA = 1
CHUNK_BYTES = 1 << 22  # of a chunk of states, unpacked
MOST_ROWS = 1 << 16  # of a chunk


def export_zarr(
    store: Store,
    folder: Path | str,
    split: str | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """One Zarr v3 group; gives the frames written."""
    zarr = library("zarr", "zarr")
    sizes = sizes_of(store, split, limit)
    episodes = list(chosen(store, split, limit))
    numbers = np.array([number for _, number in episodes], np.int64)
    offsets = np.concatenate([[0], np.cumsum(store.lengths[numbers])]).astype(np.int64)
    players = [store.player(number) for number in numbers]
    named = sorted(set(players))
    with whole_folder(Path(folder)) as part:
        group = zarr.open_group(part, mode="w", zarr_format=3)
        group.attrs.update(_attributes(store, list(sizes), named))
        rows = _Rows(group, store, int(offsets[-1]))
        truncated = np.zeros(len(numbers), bool)
        for place, number in enumerate(numbers):
            if progress:
                progress(place, len(numbers))
            episode = store.episode(number)
            truncated[place] = episode.truncated
            rows.add(
                states=episode.states,
                actions=episode.actions,
                globals=episode.globals,
                terminated=episode.terminal,
            )
        rows.flush()
        splits = list(sizes)
        small = {
            "offsets": offsets,
            "truncated": truncated,
            "split": np.array([splits.index(name) for name, _ in episodes], np.uint8),
            "player": np.array([named.index(name) for name in players], np.uint32),
            "number": numbers,
            "registry": store.manifest.registry(),
        }
        for name, values in small.items():
            group.create_array(name, data=values)
    return int(offsets[-1])


def _attributes(store: Store, splits: list[str], players: list[str]) -> dict[str, Any]:
    profile = store.manifest.profile
    return {
        "cosmolabe": {
            "schema": SCHEMA,
            "manifest": json.loads(json.dumps(plain(store.manifest))),
            "store": store.fingerprint,
            "splits": splits,
            "players": players,
            "axes": {
                "states": ["time", "slot", "state"],
                "actions": ["time", "action"],
                "globals": ["time", "global"],
                "terminated": ["time"],
                "registry": ["slot", "registry"],
            },
            "slots": [slot.name for slot in store.manifest.slots],
            "state_columns": list(profile.state_columns),
            "action_fields": list(profile.action_fields),
            "global_fields": list(profile.global_fields),
            "actions": "row t: chosen after seeing state t; an episode's last row is padding",
            "versions": versions(),
        }
    }


class _Rows:
    """Gathers rows until chunks are full, for a chunk written twice costs twice."""

    def __init__(self, group: Any, store: Store, total: int) -> None:  # noqa: ANN401 - zarr's
        profile, slots = store.manifest.profile, store.manifest.num_slots
        shapes = {
            "states": ((slots, profile.num_state), np.float32),
            "actions": ((len(profile.action_fields),), np.float32),
            "globals": ((len(profile.global_fields),), np.float32),
            "terminated": ((), bool),
        }
        self.size = min(max(CHUNK_BYTES // (4 * slots * profile.num_state), 1), MOST_ROWS, total)
        self.arrays = {
            name: group.create_array(
                name, shape=(total, *shape), chunks=(self.size, *shape), dtype=dtype
            )
            for name, (shape, dtype) in shapes.items()
            if 0 not in shape
        }
        self.held: dict[str, list[np.ndarray]] = {name: [] for name in self.arrays}
        self.at, self.count = 0, 0

    def add(self, **rows: np.ndarray) -> None:
        for name, held in self.held.items():
            held.append(rows[name])
        self.count += len(rows["states"])
        if self.count >= self.size:
            self._write(self.count // self.size * self.size)

    def flush(self) -> None:
        if self.count:
            self._write(self.count)

    def _write(self, rows: int) -> None:
        for name, held in self.held.items():
            values = np.concatenate(held)
            self.arrays[name][self.at : self.at + rows] = values[:rows]
            self.held[name] = [values[rows:].copy()]
        self.at, self.count = self.at + rows, self.count - rows
