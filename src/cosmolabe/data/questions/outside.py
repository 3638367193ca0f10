"""Clips of games nobody here wrote: a whim is held for a clip, what the player does is its label.

The label is read from the objects' states, never from what was commanded: a paddle at the edge of
the screen stays where it is, whatever is pressed. What the states do not decide is dropped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xxhash
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Episode, shortest_way
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.question import AskedClip
from cosmolabe.core.seeds import episode_seed, generator
from cosmolabe.data.outside.game import OutsideGame, Session
from cosmolabe.data.outside.playing import play_episode
from cosmolabe.data.questions.effects import FAR, FRAMES, STILL
from cosmolabe.data.questions.protocol import LENGTH

UP, DOWN, LEFT, RIGHT = (0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)
Way = tuple[float, float]


@dataclass(frozen=True)
class Words:
    """What the player of a game is called, and what it can be seen to do."""

    who: str
    ways: Mapping[str, Way]
    still: str = "staying still"

    @property
    def labels(self) -> tuple[str, ...]:
        """Standing still, then the ways."""
        return (self.still, *self.ways)


VERTICAL = {"moving up": UP, "moving down": DOWN}
SIDEWAYS = {"moving left": LEFT, "moving right": RIGHT}
WORDS = {
    "atari/Pong": Words("the right paddle", VERTICAL),
    "atari/Breakout": Words("the paddle", SIDEWAYS),
    "atari/Freeway": Words("the left chicken", VERTICAL),
    "atari/Frogger": Words("the frog", {**VERTICAL, **SIDEWAYS}),
}
"""By the game's name; ours."""


def seen_doing(
    places: Float[np.ndarray, "time 2"],
    there: Bool[np.ndarray, " time"],
    words: Words,
    wrap: Bool[np.ndarray, " 2"] | None = None,
) -> tuple[str, str]:
    """(label, "") of a player's places in a clip, shares of the world; ("", why) where none holds.

    Still: its whole way is shorter than STILL. A way: at least FRAMES frames show it FAR or further
    along it from where it began, and all else it moves is shorter than STILL.
    """
    if not there.all():
        return "", "the player is not there all the time"
    around = np.zeros(2, bool) if wrap is None else wrap
    steps = shortest_way(np.diff(places.astype(np.float64), axis=0), around)
    whole = np.hypot(*steps.T).sum()
    if whole < STILL:
        return words.still, ""
    far = False
    for label, way in words.ways.items():
        along = steps @ np.array(way)
        shown = int((along.cumsum() >= FAR).sum()) >= FRAMES
        if shown and whole - along.clip(0).sum() < STILL:
            return label, ""
        far |= shown
    return "", "it moves more than one way" if far else "it moves too little to be seen"


@dataclass
class Wanted:
    """How many clips of each label are still wanted, and which pictures are taken already."""

    each: int
    """Clips of each label."""
    taken: Counter[str] = field(default_factory=Counter)
    pictures: set[str] = field(default_factory=set)
    """Digests; whoever shares this set over splits has no clip in two of them."""

    def full(self, words: Words) -> bool:
        """Whether nothing is wanted any more."""
        return all(self.taken[label] >= self.each for label in words.labels)


@dataclass(frozen=True)
class Cutting:
    """How episodes are played and cut."""

    ticks: int = 240
    """Of an episode."""
    per_episode: int = 4
    """Clips of one episode at most: those of one game look alike."""
    most_episodes: int = 2000
    salt: str = "public"
    length: int = LENGTH
    """Frames of a clip, and ticks for which its whim is held."""
    between: int = 9
    """Ticks of another whim between two clips at most; without them few pictures ever differ, for
    an Atari game has no luck of its own."""


def outside_clips(
    game: OutsideGame, split: str, wanted: Wanted, cutting: Cutting
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    """Clips of a split's episodes until there are enough; None for what is dropped, and why.

    Raises:
        ValueError: Nobody here has words for the game, or its episodes do not show a label often.
    """
    if game.name not in WORDS:
        raise ValueError(f"no words for '{game.name}'; have {sorted(WORDS)}")
    words = WORDS[game.name]
    with closing(game.open()) as session:
        for number in range(cutting.most_episodes):
            if wanted.full(words):
                return
            yield from _of_episode(game, session, (split, number), wanted, cutting)
    if not wanted.full(words):
        short = {label: wanted.taken[label] for label in words.labels}
        raise ValueError(
            f"{game.name}, {split}: {cutting.most_episodes} episodes show {short} clips, and "
            f"{wanted.each} of each label are wanted; ask for fewer"
        )


def _of_episode(
    game: OutsideGame, session: Session, which: tuple[str, int], wanted: Wanted, cutting: Cutting
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    split, number = which
    names = (cutting.salt, game.name, split, number)
    whims, starts = held_whims(len(game.actions), cutting, *names)
    episode, frames = play_episode(game, session, episode_seed(*names), whims, True)
    kept = 0
    for place in starts:
        part = slice(place, place + cutting.length)
        if kept >= cutting.per_episode or part.stop > len(episode):
            continue
        label, why = _label(game, episode, part)
        shown = np.stack(frames[part])
        why = why or _unwanted(wanted, label, shown)
        told = {"what": f"{game.name}, {split} {number}, tick {place}", "why": why}
        if why:
            yield None, told
            continue
        kept += 1
        wanted.taken[label] += 1
        yield _clip(game, episode, shown, label, (*which, place, whims[place])), told


def held_whims(
    num_actions: int, cutting: Cutting, *names: str | int
) -> tuple[list[int], list[int]]:
    """An episode's actions, and the ticks at which a clip's whim begins, in no order of time."""
    luck = generator("held whims", *names)
    actions: list[int] = []
    starts: list[int] = []
    while True:
        actions += [int(luck.integers(num_actions))] * int(luck.integers(cutting.between + 1))
        if len(actions) + cutting.length > cutting.ticks:
            order = luck.permutation(len(starts))
            return actions[: cutting.ticks], [starts[k] for k in order]
        starts.append(len(actions))
        actions += [int(luck.integers(num_actions))] * cutting.length


def _label(game: OutsideGame, episode: Episode, part: slice) -> tuple[str, str]:
    slot = next(k for k, one in enumerate(game.manifest.slots) if one.controllable)
    states = episode.states[part, slot]
    there = states[:, ALIVE] > 0.5
    wrap = np.array([game.manifest.wrap_x, game.manifest.wrap_y])
    return seen_doing(states[:, [X, Y]], there, WORDS[game.name], wrap)


def _unwanted(wanted: Wanted, label: str, frames: np.ndarray) -> str:
    """Why a clip is not taken; remembers its pictures where it is."""
    if wanted.taken[label] >= wanted.each:
        return "enough of its label"
    digest = xxhash.xxh3_128_hexdigest(np.ascontiguousarray(frames).data)
    if digest in wanted.pictures:
        return "the same pictures as another clip"
    wanted.pictures.add(digest)
    return ""


def _clip(
    game: OutsideGame,
    episode: Episode,
    frames: np.ndarray,
    label: str,
    which: tuple[str, int, int, int],
) -> AskedClip:
    split, number, first, action = which
    name = game.name.replace("/", "-").lower()
    part = slice(first, first + len(frames))
    about = {
        "game": game.name,
        "label": label,
        "who": WORDS[game.name].who,
        "action": game.action_names[action],
        "visible_effect": True,
        "source": game.name,
        "session": f"{name}-{split}-{number}",
        "first_tick": first,
    }
    return AskedClip(
        f"{name}-{split}-{number:05d}-{first:05d}", frames, game.manifest.fps,
        episode.actions[part].copy(), about,
    )  # fmt: skip
