"""Somewhere a model has not been: held-out themes, every frame of a game, characters renamed.

The bundled model learns on themes that may be trained on, every fourth frame, and the characters'
own names. Here themes are held out, clips are `vqa/universe-1` (0.23 s), and each game's character
names are exchanged, so that there is something to learn for both of UNIVERSE's tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.building import PAPER_TASKS, questions_of
from cosmolabe.data.questions.playing import game_clips
from cosmolabe.data.questions.wording import (
    character_words,
    our_game,
    templates_hash,
    with_options,
)

SPLITS = ("train", "val", "test")
GAMES = ("asteroids", "breakout", "frogger", "kong", "platformer", "pong", "snake")
"""All but racer, whose actions cannot be told in 0.23 s."""
RENAMED = "character_recognition"


@dataclass(frozen=True)
class Domain:
    """Which clips are adapted to and tested on; nothing of it is in the base's training."""

    games: tuple[str, ...] = GAMES
    stride: int = 1
    """Ticks from frame to frame."""
    train: int = 100
    """Clips of each game."""
    val: int = 15
    """Of each game; choices (rates, mixes) are made on these alone."""
    test: int = 30
    """Of each game."""
    renamed: bool = True
    """Exchange each game's character names."""
    seed: int = 2_000_003

    @property
    def hash(self) -> str:
        """16 hex digits of every choice, wording and held-out list included."""
        return fingerprint(self, templates_hash(), held_out().fingerprint)


def draw(domain: Domain, split: str, size: str | int) -> tuple[list[AskedClip], list[Question]]:
    """Clips of a split and all six questions about each.

    `size` is a side in pixels, or WIDTHxHEIGHT, for which a square of the longer side is drawn and
    squeezed. The same moments are shown whatever the size.
    """
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; have {list(SPLITS)}")
    wide, tall = sides(size)
    seed = domain.seed + SPLITS.index(split)
    clips: list[AskedClip] = []
    for game in domain.games:
        mine = game_clips(
            game, getattr(domain, split), seed, size=max(wide, tall), stride=domain.stride,
            held_out=True,
        )  # fmt: skip
        clips += mine if wide == tall else [_squeezed(clip, wide, tall) for clip in mine]
    questions = questions_of(clips, seed, PAPER_TASKS, same=False)
    return clips, renamed(questions, domain.seed) if domain.renamed else questions


def sides(size: str | int) -> tuple[int, int]:
    """(width, height) of "300x180", "224" or 224."""
    parts = str(size).split("x")
    if len(parts) not in (1, 2) or not all(part.isdecimal() for part in parts):
        raise ValueError(f"a size is a number of pixels, or WIDTHxHEIGHT; got {size!r}")
    return int(parts[0]), int(parts[-1])


def _squeezed(clip: AskedClip, wide: int, tall: int) -> AskedClip:
    return replace(clip, frames=squeezed(clip.frames, wide, tall))


def squeezed(
    frames: UInt8[np.ndarray, "time height width 3"], wide: int, tall: int
) -> UInt8[np.ndarray, "time tall wide 3"]:
    """Bicubic, each picture by itself; the shape is not kept."""
    pictures = [Image.fromarray(one) for one in frames]
    return np.stack(
        [np.asarray(one.resize((wide, tall), Image.Resampling.BICUBIC)) for one in pictures]
    )


def renamed(questions: Sequence[Question], seed: int) -> list[Question]:
    """Character names exchanged within their answer space, none keeping its own; others as is."""
    return [_renamed(one, seed) if one.task == RENAMED else one for one in questions]


def _renamed(one: Question, seed: int) -> Question:
    space = one.options or one.labels if one.format != "binary" else ()
    names = exchange(space or _known(one), seed)
    text = one.text
    options = tuple(names[label] for label in one.options)
    if one.options:
        text = text.replace(with_options(one.options), with_options(options))
    if one.asked in names:
        text = text.replace(one.asked, names[one.asked])
    answer = one.answer if one.format == "binary" else names[one.answer]
    return replace(
        one, text=text, options=options, answer=answer, truth=names.get(one.truth, one.truth),
        asked=names.get(one.asked, one.asked),
    )  # fmt: skip


def _known(one: Question) -> tuple[str, ...]:
    """Names of the answer space that a yes-or-no question is of."""
    game = our_game(one.about["game"])
    assert game is not None
    return tuple(character_words(name) for name in held_out().trainable_characters(game))


def exchange(names: Sequence[str], seed: int) -> dict[str, str]:
    """Each name's new one: a cycle through all of them, by the seed and the names alone."""
    known = sorted(set(names))
    order = [known[k] for k in generator("renamed", seed, *known).permutation(len(known))]
    return dict(zip(order, [*order[1:], order[0]], strict=True))
