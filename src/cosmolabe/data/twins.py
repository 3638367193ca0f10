"""An episode and its damaged double, as tensors and as pictures."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.episode import Episode
from cosmolabe.core.record import write_jsonl
from cosmolabe.core.seeds import generator
from cosmolabe.data.damage import KINDS, Damage, applicable, with_entity
from cosmolabe.data.damage_rollout import hurt_episode
from cosmolabe.data.damage_shown import SHOWN, resized, shown
from cosmolabe.data.damage_world import damaged_play
from cosmolabe.data.dense import dense
from cosmolabe.data.folder import Number
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.replay import ReplayStore
from cosmolabe.engine.game import Appearance, Game
from cosmolabe.engine.render import characters_of, draw_frames


@dataclass(frozen=True)
class Twins:
    """The recorded episode and its damaged double."""

    true: Episode
    damaged: Episode
    damage: Damage
    """With the entity that was chosen."""
    appearance: Appearance
    swapped: Appearance | None = None
    """What the double looks like for `swapped_frames` from the onset on."""
    swapped_frames: int = 0

    def __len__(self) -> int:
        """States that both have."""
        return min(len(self.true), len(self.damaged))

    @property
    def resizes(self) -> bool:
        """Whether the double is drawn with one entity larger."""
        return self.damage.kind == "size_change" and self.damage.size > 0

    @property
    def first_difference(self) -> int | None:
        """The first state in which the double differs, or None where the damage met nothing.

        Ghosting through a wall shows only once something meets a wall.
        """
        if self.swapped_frames or self.resizes:
            return self.damage.onset
        length = len(self)
        differs = (self.true.states[:length] != self.damaged.states[:length]).any((1, 2))
        if differs.any():
            return int(np.argmax(differs))
        return length if len(self.true) != len(self.damaged) else None


def twins(store: ReplayStore, number: Number, damage: Damage) -> Twins:
    """A stored episode and its damaged double."""
    game, true = store.part, store.episode(number)
    if damage.onset >= len(true):
        raise ValueError(
            f"episode {number} has {len(true)} states; a damage cannot begin at {damage.onset}"
        )
    look = store.appearance(number)
    damage = with_entity(game, true, damage)
    log = store.actions(number)
    if damage.kind == "identity_swap":
        swapped = _swap(game, look, damage)
        frames = round(damage.size * (len(true) - damage.onset))
        return Twins(true, true, damage, look, swapped, frames)
    if damage.kind == "size_change":
        return Twins(true, true, damage, look)
    if damage.kind in SHOWN:
        return Twins(true, shown(true, game.manifest, damage), damage, look)
    if damage.family == "rollout":
        return Twins(true, hurt_episode(true, game.manifest, damage), damage, look)
    world = store.worlds(np.array([number]), np.zeros(1, np.int64))[0]
    public = damaged_play(game, world, log, store.constants, damage)
    damaged = _double(game, public, true)
    return Twins(true, damaged, damage, look)


def draw_twins(
    game: Game, pair: Twins, frames: slice, size: int = 224
) -> tuple[UInt8[np.ndarray, "time height width 3"], UInt8[np.ndarray, "time height width 3"]]:
    """Pictures of both, the same theme and camera, for a slice of the states that both have."""
    chosen = range(*frames.indices(len(pair)))
    part = slice(chosen.start, chosen.stop, chosen.step)
    true, damaged = (
        draw_frames(game, e.states[part], e.globals[part], pair.appearance, size)
        for e in (pair.true, pair.damaged)
    )
    if pair.swapped is not None:
        begin = pair.damage.onset
        rows = [i for i, t in enumerate(chosen) if begin <= t < begin + pair.swapped_frames]
        states, numbers = pair.damaged.states[part][rows], pair.damaged.globals[part][rows]
        damaged[rows] = draw_frames(game, states, numbers, pair.swapped, size)
    if pair.resizes:
        rows = [i for i, t in enumerate(chosen) if t >= pair.damage.onset]
        slot = [s.name for s in game.manifest.slots].index(pair.damage.entity)
        wrap = game.manifest.wrap_y, game.manifest.wrap_x
        states, numbers = pair.damaged.states[part][rows], pair.damaged.globals[part][rows]

        def draw(some: np.ndarray) -> np.ndarray:
            return draw_frames(game, some, numbers, pair.appearance, size)

        damaged[rows] = resized(draw, states, slot, pair.damage.size, wrap)
    return true, damaged


@dataclass(frozen=True)
class Effect:
    """How often, and how far, one kind of damage of one size shows in one game."""

    game: str
    kind: str
    size: float
    shown: float
    """Share of episodes in which a state differs within `frames` of the onset."""
    l1: float
    """Mean distance of positions and alive flags over those frames."""
    episodes: int
    frames: int
    schema: int = 1


def effects(
    store: ReplayStore,
    numbers: Sequence[int],
    kinds: Sequence[str] = KINDS,
    sizes: Sequence[float] = (0.25, 0.5, 1.0),
    frames: int = 120,
) -> list[Effect]:
    """One row for each kind that the game knows and each size, onset in the middle."""
    rows = []
    able = applicable(store.part)
    for kind in kinds:
        for size in sizes if able[kind] else ():
            far, seen = [], []
            for number in numbers:
                onset = max(1, (int(store.lengths[number]) - frames) // 2)
                pair = twins(store, number, Damage(kind, size, onset, seed=int(number)))
                end = min(len(pair), onset + frames)
                one, other = pair.true.states[onset:end], pair.damaged.states[onset:end]
                far.append(float(np.abs(one[..., :3] - other[..., :3]).mean()))
                first = pair.first_difference
                seen.append(first is not None and first < onset + frames)
            rows.append(
                Effect(store.game, kind, size, float(np.mean(seen)), float(np.mean(far)),
                       len(numbers), frames)
            )  # fmt: skip
    return rows


def _double(game: Game, public: np.ndarray, true: Episode) -> Episode:
    states, numbers, terminal = dense(game, public)
    actions = true.actions[: len(public)].copy()
    actions[-1] = 0
    return Episode(true.registry, states, actions, numbers, terminal, truncated=not terminal[-1])


def _swap(game: Game, look: Appearance, damage: Damage) -> Appearance:
    characters = list(characters_of(game, look))
    role = game.roles.index(damage.entity)
    others = [name for name in game.characters if name not in characters]
    pick = generator("swapped character", damage.seed).integers(len(others))
    characters[role] = others[pick]
    return replace(look, characters=tuple(characters))


def write_twins(
    store: ReplayStore, folder: Path | str, damages: Sequence[tuple[int, Damage]]
) -> list[dict[str, Any]]:
    """Packed stores `true` and `damaged` of the same length, and one row a pair in twins.jsonl.

    Each of `damages` is an episode's number and what to do to it. Episode k of both stores and
    row k belong together; both twins are cut to the length they share.
    """
    folder = Path(folder)
    writers = [PackedWriter(folder / name, store.manifest) for name in ("true", "damaged")]
    rows = []
    for index, (number, damage) in enumerate(damages):
        pair = twins(store, number, damage)
        for writer, episode in zip(writers, (pair.true, pair.damaged), strict=True):
            writer.add(
                cut(episode, len(pair)), "test", str(index), store.player(number), pair.appearance
            )
        rows.append(
            {
                "index": index,
                "episode": int(number),
                "seed": store.seed(number),
                "states": len(pair),
                "first_difference": pair.first_difference,
                "swapped": pair.swapped,
                "swapped_frames": pair.swapped_frames,
                "damage": pair.damage,
                "schema": 1,
            }
        )
    for writer in writers:
        writer.finish(source=store.fingerprint)
    write_jsonl(folder / "twins.jsonl", rows)
    return rows


def cut(episode: Episode, length: int) -> Episode:
    """The first `length` states."""
    if length == len(episode):
        return episode
    actions = episode.actions[:length].copy()
    actions[-1] = 0
    return Episode(
        episode.registry,
        episode.states[:length],
        actions,
        episode.globals[:length],
        episode.terminal[:length],
        truncated=not episode.terminal[length - 1],
    )
