"""Rollouts as films, and the clips in them that can be asked about."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core import parts
from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.questions.wording import our_game

Role = Literal["imagined", "true", "floor"]
Pictures = Callable[[np.ndarray], UInt8[np.ndarray, "time height width 3"]]
"""pictures(numbers of frames) -> those frames."""
NO_SPAN = "no action word covers a clip"
NO_ACTIONS = "no actions: nothing was commanded"
DRAWN = (
    "not measurable: states are drawn with the characters they began with; frame models can "
    "change them"
)


@dataclass(frozen=True)
class Span:
    """Ticks during which one action was commanded."""

    first: int
    """Frame of the film at which it begins."""
    label: str
    """The game's words for the action."""
    why: str = ""
    """Why it cannot be asked about although it was commanded: its effect cannot be seen, say."""


@dataclass(frozen=True)
class Film:
    """What there is to be seen of one rollout."""

    id: str
    pictures: Pictures
    length: int
    """Frames."""
    fps: float = GAME_FPS
    actions: Float[np.ndarray, "time action"] | None = None
    """Chosen after each frame."""
    game: str = ""
    model: str = ""
    role: Role = "imagined"
    context: int = 1
    """Frames given at the start; clips begin with the last of them."""
    spans: tuple[Span, ...] | None = None
    """Where actions last, if whoever made the film knows; None: to be found in `actions`."""
    own_characters: bool = False
    """Does the model paint characters itself? Else their identity says nothing of it."""
    why: str = ""
    """Why it cannot be judged at all."""


@dataclass(frozen=True)
class Piece:
    """One clip of a film and what was commanded in it."""

    film: Film
    first: int
    label: str
    why: str = ""
    """Why it is not asked about."""

    @property
    def id(self) -> str:
        """Unique among all films of a run."""
        return f"{self.film.id}/{self.film.model or self.film.role}/{self.first}"


def held(frames: UInt8[np.ndarray, "time height width 3"]) -> Pictures:
    """Pictures that lie in memory."""
    return lambda numbers: frames[numbers]


def stride_of(film: Film, protocol: ClipProtocol) -> int:
    """Frames of the film from one frame of a clip to the next, 1 at least."""
    return max(1, round(protocol.stride * film.fps / GAME_FPS))


def pieces_of(film: Film, protocol: ClipProtocol) -> tuple[list[Piece], str]:
    """Clips that do not overlap, in order, and why there are none."""
    if film.why:
        return [], film.why
    reach = (protocol.length - 1) * stride_of(film, protocol)
    if film.length - (film.context - 1) <= reach:
        return [], (
            f"too short: {film.length} frames, {film.context} of them given; a clip of "
            f"{film.fps:g} fps takes {reach + 1}"
        )
    if film.spans is not None:
        known = [span for span in film.spans if span.first + reach < film.length]
        return [Piece(film, s.first, s.label, s.why) for s in known], "" if known else NO_SPAN
    if film.actions is None:
        return [], NO_ACTIONS
    found = _spans(film, protocol, reach)
    return [Piece(film, first, label) for first, label in found], "" if found else NO_SPAN


def _spans(film: Film, protocol: ClipProtocol, reach: int) -> list[tuple[int, str]]:
    """Earliest clips, one after another, that one action word covers in frames and in ticks."""
    assert film.actions is not None
    words = words_of_actions(film.game, film.actions)
    stride, share = stride_of(film, protocol), protocol.covered / protocol.length
    found, first = [], max(film.context - 1, 0)
    while first + reach < min(film.length, len(words)):
        ticks = words[first : first + reach + 1]
        names, counts = np.unique(ticks[::stride], return_counts=True)
        word = names[counts.argmax()]
        if word and counts.max() >= protocol.covered and (ticks == word).mean() >= share:
            found.append((first, str(word)))
            first += reach + 1
        else:
            first += 1
    return found


def words_of_actions(game: str, actions: Float[np.ndarray, "time action"]) -> np.ndarray:
    """The words for each row of actions, empty where a game of ours has none for it.

    Raises:
        ValueError: The game is none of ours, so nobody knows what its actions are called.
    """
    ours = our_game(game)
    if ours is None:
        raise ValueError(
            f"'{game}' is no game whose actions have words here; have {list(parts.names('games'))}"
        )
    table = np.array(ours.action_table, np.float32)
    if actions.shape[1] != table.shape[1]:
        raise ValueError(f"actions of {game} have {table.shape[1]} columns; got {actions.shape[1]}")
    same = np.isclose(actions[:, None], table[None], atol=1e-3).all(-1)
    words = np.array([*(ours.words[word] for word in ours.actions), ""], object)
    return words[np.where(same.any(axis=-1), same.argmax(axis=-1), len(table))]


def clip_of(piece: Piece, protocol: ClipProtocol, from_start: bool = False) -> AskedClip:
    """The pictures of a piece.

    `from_start` puts the film's own first frame in the place of the clip's: what was shown first.
    """
    film, stride = piece.film, stride_of(piece.film, protocol)
    numbers = piece.first + stride * np.arange(protocol.length)
    if from_start:
        numbers[0] = 0
    about = {"game": film.game, "label": piece.label, "swapped_at": 0}
    return AskedClip(piece.id, film.pictures(numbers), film.fps / stride, None, about)
