"""The replay store: an episode is its seed, actions and keyframes; windows are played again."""

from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from cosmolabe.core import parts
from cosmolabe.core.episode import Episode, Windows
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import plain, read_json
from cosmolabe.data import shards
from cosmolabe.data.arrays import refuse_link
from cosmolabe.data.folder import (
    INDEX,
    MANIFEST,
    RECORD,
    Number,
    Numbering,
    check_files,
    check_numbers,
    check_shard,
    fingerprint_of,
    read_index,
    remedy,
    require,
)
from cosmolabe.data.loading import Shard, read_shard
from cosmolabe.engine import kernels, windows
from cosmolabe.engine.game import Appearance, Game, layout_of

SCRIPT = "script"
"""Stands for the player of a scenario."""
HELD_BYTES = 6 << 30  # of unpacked shards; 17 bytes a frame for breakout


class ReplayStore:
    """Episodes of one of our games, regenerated on demand, bit for bit."""

    def __init__(self, folder: Path, record: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        self.folder = folder
        self.record = record
        self.rows = rows
        self.part: Game = parts.load("games", record["game"])
        self.manifest: Manifest = self.part.manifest
        self.game: str = record["game"]
        self._numbering = Numbering(rows)
        self.lengths = self._numbering.lengths
        self._shards: OrderedDict[int, Shard] = OrderedDict()
        self._constants = self.part.default_parameters(**record["parameters"])
        self._plan = windows.plan_windows(layout_of(self.part), self.manifest.profile.num_state)
        self._table = np.ascontiguousarray(self.part.action_table, np.float32)
        self._registry = self.manifest.registry()
        self._registries = self._registry[None]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of what every shard holds, in order."""
        return fingerprint_of(self.record, self.rows)

    def __len__(self) -> int:
        return len(self.lengths)

    def split(self, name: str) -> Int64[np.ndarray, " episode"]:
        """Episode numbers of one split; empty where the store has none."""
        return self._numbering.split(name)

    def split_of(self, number: Number) -> str:
        """The split an episode belongs to."""
        return self.rows[self._numbering.place(number)[0]]["split"]

    def player(self, number: Number) -> str:
        """Who played the episode; a scenario is played by its `script`."""
        if self.scenario(number):
            return SCRIPT
        shard, row = self._shard_of(number)
        return list(self.record["players"])[shard.arrays["players"][row]]

    def scenario(self, number: Number) -> str:
        """The scenario that the episode belongs to; empty for those that a player played."""
        names, row = self.record.get("scenarios", ()), self.rows[self._numbering.place(number)[0]]
        if not shards.follows_scripts(names, row["split"]):
            return ""
        index = row["first"] + self._numbering.place(number)[1]
        return names[index % len(names)]

    def seed(self, number: Number) -> int:
        """The seed of the episode's world; that of a scenario starts from `worlds` at tick 0."""
        shard, row = self._shard_of(number)
        return int(shard.arrays["seeds"][row])

    def actions(self, number: Number) -> np.ndarray:
        """The discrete actions of one episode, uint8 (T - 1,)."""
        shard, row = self._shard_of(number)
        start = shard.log_starts[row]
        return shard.arrays["actions"][start : start + self.lengths[number] - 1].copy()

    @property
    def constants(self) -> np.ndarray:
        """Physics constants of every episode, as the rules take them."""
        return self._constants.copy()

    def appearance(self, number: Number) -> Appearance:
        """How the episode looks."""
        shard, row = self._shard_of(number)
        arrays, game = shard.arrays, self.part
        return Appearance(
            tuple(game.characters[index] for index in arrays["characters"][row]),
            game.themes[arrays["themes"][row]].name,
            int(arrays["decorations"][row]),
        )

    def late(self, number: Number) -> int:
        """How many states of the episode belong to the late game."""
        shard, row = self._shard_of(number)
        return int(shard.arrays["late"][row])

    def terminated(self, number: Number) -> bool:
        """Whether the rules, not the clock of the collection, ended the episode."""
        shard, row = self._shard_of(number)
        return bool(shard.arrays["terminated"][row])

    def episode(self, number: Number) -> Episode:
        """One whole episode."""
        self._numbering.place(number)
        whole = self.windows(np.array([number]), np.zeros(1, np.int64), int(self.lengths[number]))
        return Episode(
            registry=self._registry.copy(),
            states=whole.states[0],
            actions=whole.actions[0],
            globals=whole.globals[0],
            terminal=whole.terminal[0],
            truncated=not whole.terminal[0, -1],
        )

    def windows(
        self,
        episodes: Int64[np.ndarray, " batch"],
        starts: Int64[np.ndarray, " batch"],
        length: int,
        out: Windows | None = None,
    ) -> Windows:
        """States starts[b] .. starts[b] + length - 1 of episode episodes[b].

        `out`, a batch of the same shape got before, is written over instead of asking the system
        for fresh memory (about twice as fast for large batches). The registry is shared by all
        batches: do not write into it.
        """
        check_numbers(self.lengths, episodes, starts, length)
        out = self._empty(len(episodes), length) if out is None else out
        out = Windows(
            out.registry, out.states, out.actions, out.globals, out.terminal, out.masks,
            episodes, starts,
        )  # fmt: skip
        places = self._numbering.places(episodes)
        for place in np.unique(places):
            self._cut(self._load(int(place)), np.flatnonzero(places == place), out)
        return out

    def worlds(
        self, episodes: Int64[np.ndarray, " batch"], ticks: Int64[np.ndarray, " batch"]
    ) -> np.ndarray:
        """The whole world at ticks[b] of episode episodes[b], private columns and luck included.

        float64 (batch, world). What a true simulator needs to go on from a moment.
        """
        check_numbers(self.lengths, episodes, ticks, 1)
        every = self.record["keyframe_every"]
        worlds = np.empty((len(episodes), self.part.num_world))
        for world, episode, tick in zip(worlds, episodes, ticks, strict=True):
            shard, row = self._shard_of(int(episode))
            first, last = shard.key_starts[row], shard.key_starts[row + 1]
            frame = min(int(tick) // every, int(last - first) - 1)
            world[:] = shard.arrays["keyframes"][first + frame]
            log = shard.log_starts[row]
            piece = shard.arrays["actions"][log + frame * every : log + tick]
            kernels.advance(
                self.part.step,
                world[None],
                np.ascontiguousarray(piece)[None],
                self._constants[None],
            )
        return worlds

    def verify(self) -> int:
        """Play every episode again and compare; gives their number or names what is damaged."""
        for place, row in enumerate(self.rows):
            path = check_shard(self.folder, row)
            scripted = shards.follows_scripts(self.record.get("scenarios", ()), row["split"])
            self._verify_states(self._load(place), path, scripted)
        return len(self)

    def _verify_states(self, shard: Shard, path: Path, scripted: bool) -> None:
        arrays, every = shard.arrays, self.record["keyframe_every"]
        logs = [
            arrays["actions"][start : start + length]
            for start, length in zip(shard.log_starts, arrays["lengths"], strict=False)
        ]
        level = self.record["level"]
        if scripted:  # nothing but the first keyframe says where a scenario starts
            worlds = arrays["keyframes"][shard.key_starts[:-1]].copy()
        else:
            worlds = self.part.new_worlds(arrays["seeds"], level, self._constants)
        frames = shards.keyframes_of(self.part, worlds.copy(), logs, self._constants, every)
        hashes, _ = shards.replay(self.part, worlds, logs, self._constants)
        wrong = set((np.flatnonzero(hashes != arrays["hashes"]) + shard.first).tolist())
        for row, own in enumerate(frames):
            first, last = shard.key_starts[row], shard.key_starts[row + 1]
            if not np.array_equal(own, arrays["keyframes"][first:last], equal_nan=True):
                wrong.add(shard.first + row)
        if wrong:
            raise ValueError(
                f"{path}: episodes {sorted(wrong)[:20]} do not play again as they were recorded; "
                f"{remedy(self.folder, path)}"
            )

    def _shard_of(self, number: Number) -> tuple[Shard, int]:
        place, row = self._numbering.place(number)
        return self._load(place), row

    def _load(self, place: int) -> Shard:
        if place in self._shards:
            self._shards.move_to_end(place)
            return self._shards[place]
        row, first = self.rows[place], int(self._numbering.firsts[place])
        shard = read_shard(self.folder, row, self.record, first, self.part)
        self._shards[place] = shard
        while len(self._shards) > 1 and sum(s.size for s in self._shards.values()) > HELD_BYTES:
            self._shards.popitem(last=False)
        return shard

    def _empty(self, batch: int, length: int) -> Windows:
        profile, slots = self.manifest.profile, self.manifest.num_slots
        if len(self._registries) < batch:
            self._registries = np.tile(self._registry, (batch, 1, 1))
        return Windows(
            registry=self._registries[:batch],
            states=np.empty((batch, length, slots, profile.num_state), np.float32),
            actions=np.empty((batch, length, len(profile.action_fields)), np.float32),
            globals=np.empty((batch, length, len(profile.global_fields)), np.float32),
            terminal=np.empty((batch, length), bool),
            masks=self.manifest.masks(),
            episodes=np.empty(0, np.int64),
            starts=np.empty(0, np.int64),
        )

    def _cut(self, shard: Shard, rows: np.ndarray, out: Windows) -> None:
        local = out.episodes[rows] - shard.first
        starts = np.ascontiguousarray(out.starts[rows], np.int64)
        every = self.record["keyframe_every"]
        frame = np.maximum(starts - 2, 0) // every
        frame = np.minimum(frame, np.diff(shard.key_starts)[local] - 1)
        batch, length = out.states.shape[:2]
        plan = self._plan
        windows.cut_windows(
            self.part.step,
            shard.arrays["keyframes"],
            shard.key_starts[local] + frame,
            frame * every,
            starts,
            shard.arrays["actions"],
            shard.log_starts[local],
            rows,
            self._constants,
            self._table,
            plan.template,
            plan.states,
            plan.globals,
            plan.moving,
            plan.scale,
            np.empty(self.part.num_world),
            np.empty((length + 2, self.part.num_public), np.float32),
            out.states.reshape(batch, length, -1),
            out.globals,
            out.actions,
            out.terminal,
        )


def open_replay(folder: Path, record: dict[str, Any]) -> ReplayStore:
    """The replay store of a folder: every file there, of its size, and of this game's version."""
    rows = read_index(folder)
    require(
        record, folder / RECORD, game=str, version=int, episodes=dict, players=dict, salt=str,
        parameters=dict, level=int, keyframe_every=int,
    )  # fmt: skip
    game: Game = parts.load("games", record["game"])
    if record["version"] != game.manifest.version:
        raise ValueError(
            f"{folder / RECORD}: {game.name} version {record['version']}, but its rules here are "
            f"version {game.manifest.version}; collect again, or install the version that wrote it"
        )
    refuse_link(folder / MANIFEST)
    if read_json(folder / MANIFEST) != plain(game.manifest):
        raise ValueError(
            f"{folder / MANIFEST} differs from the manifest of {game.name}; collect again"
        )
    names = record.get("scenarios", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{folder / RECORD}: scenarios is {names!r}, expected names")
    for split, wanted in record["episodes"].items():
        have = sum(len(row["lengths"]) for row in rows if row["split"] == split)
        if have != wanted:
            raise ValueError(
                f"{folder / INDEX}: rows for {have} episodes of split {split}, the record "
                f"says {wanted}; delete the index and run the same collect again"
            )
    check_files(folder, rows)
    return ReplayStore(folder, record, rows)
