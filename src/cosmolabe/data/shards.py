"""Plays one shard of a replay store and writes it: seeds, actions, keyframes and hashes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from cosmolabe.core import parts, seeds
from cosmolabe.core.record import plain
from cosmolabe.data.appearances import seeded_appearance
from cosmolabe.data.arrays import read_arrays, write_arrays
from cosmolabe.data.dense import simulated
from cosmolabe.data.players import PLAYERS, let_play, player_key, turns
from cosmolabe.data.starts import Starts
from cosmolabe.engine import kernels, windows
from cosmolabe.engine.game import TERMINATED, Game

KEYFRAME_EVERY = 64  # ticks
NO_ACTION = 255  # in the log, after an episode's last state
CHUNK = 16  # episodes re-simulated at once for their hashes
SCHEMA = 1
ARRAYS = {
    "seeds": ("uint64", 1),
    "lengths": ("int64", 1),
    "hashes": ("uint64", 1),
    "late": ("int64", 1),
    "terminated": ("uint8", 1),
    "players": ("uint8", 1),
    "actions": ("uint8", 1),
    "keyframes": ("float64", 2),
    "characters": ("uint8", 2),
    "themes": ("uint8", 1),
    "decorations": ("uint32", 1),
}
"""What every shard holds: dtype and number of axes."""
PER_EPISODE = tuple(name for name in ARRAYS if name not in ("actions", "keyframes"))


@dataclass(frozen=True)
class Plan:
    """All that decides the bytes of a replay store."""

    game: str
    version: int
    episodes: Mapping[str, int]
    """Episodes of each split."""
    players: Mapping[str, float | int]
    """Each player's share."""
    salt: str = "public"
    max_ticks: int = 3600
    level: int = 1
    parameters: Mapping[str, float | int] = field(default_factory=dict)
    """Physics constants that differ from the game's own."""
    shard_size: int = 256
    keyframe_every: int = KEYFRAME_EVERY
    policy: str = ""
    """Fingerprint of the trained policy, where a player needs one."""
    scenarios: tuple[str, ...] = ()
    """What the scenario split is made of, in turn."""
    starts: str = ""
    """Fingerprint of the scenarios' starts and scripts."""
    kind: str = "replay"
    schema: int = SCHEMA

    @property
    def told(self) -> dict[str, Any]:
        """As the record has it: what only some stores need is left out where it is empty."""
        optional = ("policy", "scenarios", "starts")
        return {k: v for k, v in plain(asdict(self)).items() if v or k not in optional}


@dataclass(frozen=True)
class ShardPlan:
    """Episodes first .. first + count - 1 of one split."""

    split: str
    first: int
    count: int

    @property
    def file(self) -> str:
        """Name of the shard's file."""
        return f"{self.split}-{self.first:07d}.shard"


def shard_plans(plan: Plan) -> list[ShardPlan]:
    """All shards of a plan in the order of the store's episode numbers."""
    return [
        ShardPlan(split, first, min(plan.shard_size, total - first))
        for split, total in plan.episodes.items()
        for first in range(0, total, plan.shard_size)
    ]


def meta_of(plan: Plan, shard: ShardPlan) -> dict[str, Any]:
    """What a shard's header says of how it was made."""
    made = {k: v for k, v in plan.told.items() if k not in ("episodes", "shard_size")}
    return {**made, "shard": asdict(shard)}


def collect_shard(folder: Path, plan: Plan, shard: ShardPlan, starts: Starts | None = None) -> None:
    """Play and write one shard; what it holds depends on the plan and the shard alone.

    `starts` gives what the scenario split of a plan with scenarios is made of.
    """
    game: Game = parts.load("games", plan.game)
    if follows_scripts(plan.scenarios, shard.split):
        assert starts is not None, "a plan with scenarios comes with their starts"
        arrays = _follow(game, plan, shard, starts)
    else:
        arrays = _play(game, plan, shard)
    numbers = range(shard.first, shard.first + shard.count)
    looks = [seeded_appearance(game, plan.salt, shard.split, index) for index in numbers]
    themes = [theme.name for theme in game.themes]
    arrays |= {
        "characters": np.array(
            [[game.characters.index(name) for name in look.characters] for look in looks], np.uint8
        ),
        "themes": np.array([themes.index(look.theme) for look in looks], np.uint8),
        "decorations": np.array([look.seed for look in looks], np.uint32),
    }
    write_arrays(folder / shard.file, meta_of(plan, shard), arrays, {"keyframes": "columns"})


def follows_scripts(scenarios: Sequence[str], split: str) -> bool:
    """Whether a split's episodes are scenarios, which start where they say and have no player."""
    return split == "scenario" and bool(scenarios)


def _follow(game: Game, plan: Plan, shard: ShardPlan, starts: Starts) -> dict[str, np.ndarray]:
    """Episodes of given starts and actions; what a world does after its end is cut off."""
    constants = game.default_parameters(**plan.parameters)
    numbers = range(shard.first, shard.first + shard.count)
    worlds, scripts = zip(*(starts.episode(plan.salt, index) for index in numbers), strict=True)
    begun = np.stack(worlds)
    ticks = [min(len(script), plan.max_ticks) for script in scripts]
    actions = np.zeros((shard.count, max(ticks)), np.uint8)
    for row, script, count in zip(actions, scripts, ticks, strict=True):
        row[:count] = script[:count]
    public, lengths = simulated(game, begun.copy(), actions, constants)
    lengths = np.minimum(lengths, np.array(ticks) + 1)
    over = public[np.arange(shard.count), lengths - 1, TERMINATED] != 0
    logs = [
        np.append(script[: length - 1], np.uint8(NO_ACTION))
        for script, length in zip(scripts, lengths, strict=True)
    ]
    frames = keyframes_of(game, begun.copy(), logs, constants, plan.keyframe_every)
    hashes, late = replay(game, begun, logs, constants)
    keys = [seeds.episode_seed(plan.salt, game.name, shard.split, index) for index in numbers]
    return {
        "seeds": np.array(keys, np.uint64),
        "lengths": lengths,
        "hashes": hashes,
        "late": late,
        "terminated": over.astype(np.uint8),
        "players": np.zeros(shard.count, np.uint8),
        "actions": np.concatenate(logs),
        "keyframes": np.concatenate(frames),
    }


def _play(game: Game, plan: Plan, shard: ShardPlan) -> dict[str, np.ndarray]:
    constants = game.default_parameters(**plan.parameters)
    numbers = range(shard.first, shard.first + shard.count)
    keys = [seeds.episode_seed(plan.salt, game.name, shard.split, index) for index in numbers]
    names = turns(plan.players, shard.first + shard.count)[shard.first :]
    logs: list[np.ndarray] = [np.empty(0)] * shard.count
    frames: list[np.ndarray] = [np.empty(0)] * shard.count
    over = np.zeros(shard.count, np.uint8)
    per_world = -(-plan.max_ticks // plan.keyframe_every)
    for name in dict.fromkeys(names):
        mine = [row for row, other in enumerate(names) if other == name]
        player = PLAYERS[name]
        luck = [player_key(plan.salt, game.name, shard.split, shard.first + row) for row in mine]
        worlds = game.new_worlds(np.array([keys[row] for row in mine]), plan.level, constants)
        actions = np.full((len(mine), plan.max_ticks), NO_ACTION, np.uint8)
        keyframes = np.zeros((len(mine) * per_world, game.num_world))
        lengths = np.zeros(len(mine), np.int64)
        let_play(
            player, game, worlds, constants, np.array(luck, np.uint64), actions, keyframes,
            plan.keyframe_every, lengths,
        )  # fmt: skip
        for place, row in enumerate(mine):
            ticks = int(lengths[place]) - 1
            logs[row] = np.append(actions[place, :ticks], np.uint8(NO_ACTION))
            used = num_keyframes(ticks + 1, plan.keyframe_every)
            frames[row] = keyframes[place * per_world : place * per_world + used]
            over[row] = worlds[place, TERMINATED] != 0
    starts = game.new_worlds(np.array(keys), plan.level, constants)
    hashes, late = replay(game, starts, logs, constants)
    return {
        "seeds": np.array(keys, np.uint64),
        "lengths": np.array([len(log) for log in logs], np.int64),
        "hashes": hashes,
        "late": late,
        "terminated": over,
        "players": np.array([list(plan.players).index(name) for name in names], np.uint8),
        "actions": np.concatenate(logs),
        "keyframes": np.concatenate(frames),
    }


def num_keyframes(length: int, every: int) -> int:
    """Keyframes of an episode of `length` states: at ticks 0, every, 2 every, ..."""
    return max(1, -(-(length - 1) // every))


def replay(
    game: Game, worlds: np.ndarray, logs: list[np.ndarray], constants: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """xxh3 of each episode's compact states, uint64, and how many of them are late game, int64."""
    hashes, late = np.zeros(len(logs), np.uint64), np.zeros(len(logs), np.int64)
    for first in range(0, len(logs), CHUNK):
        batch = logs[first : first + CHUNK]
        longest = max(len(log) for log in batch)
        actions = np.zeros((len(batch), longest - 1), np.uint8)
        for row, log in zip(actions, batch, strict=True):
            row[: len(log) - 1] = log[:-1]
        public, lengths = simulated(game, worlds[first : first + CHUNK], actions, constants)
        lengths = np.minimum(lengths, [len(log) for log in batch])
        for row, length in enumerate(lengths):
            hashes[first + row] = xxhash.xxh3_64_intdigest(public[row, :length].data)
        if game.late is not None:
            counts = np.zeros(len(batch), np.int64)
            windows.count_late(game.late, public, lengths, counts)
            late[first : first + CHUNK] = counts
    return hashes, late


def is_whole(folder: Path, plan: Plan, shard: ShardPlan) -> bool:
    """Whether the shard is there, made by this plan, and undamaged."""
    path = folder / shard.file
    if not path.exists():
        return False
    try:
        meta, _ = read_arrays(path)
    except ValueError:
        return False
    return meta == meta_of(plan, shard)


def keyframes_of(
    game: Game, worlds: np.ndarray, logs: list[np.ndarray], constants: np.ndarray, every: int
) -> list[np.ndarray]:
    """Each episode's keyframes, float64 (keyframe, world), played again from fresh `worlds`.

    All worlds go on together, `every` ticks at a time; `worlds` change in place. What a shorter
    episode's world does after its end is not looked at.
    """
    counts = [num_keyframes(len(log), every) for log in logs]
    frames = np.empty((max(counts, default=0), len(logs), game.num_world))
    actions = np.zeros((len(logs), len(frames) * every), np.uint8)
    for row, log in zip(actions, logs, strict=True):
        row[: len(log) - 1] = log[:-1]
    for place, frame in enumerate(frames):
        frame[:] = worlds
        piece = np.ascontiguousarray(actions[:, place * every : (place + 1) * every])
        kernels.advance(game.step, worlds, piece, constants[None])
    return [frames[:count, row] for row, count in enumerate(counts)]
