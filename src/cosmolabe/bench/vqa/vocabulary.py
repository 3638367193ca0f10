"""Every word the bundled model may meet: of templates, names, games, options, places, numbers."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.question import NO, TASKS, YES
from cosmolabe.data.damage import KINDS
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.playing import game_clips
from cosmolabe.data.questions.tasks.event import NOTHING
from cosmolabe.data.questions.wording import HERE, letter
from cosmolabe.nets.vlm_tokens import words_of

MOST_OPTIONS = 26
NUMBERS = 41
"""Counts from 0, and places along a side."""
SAMPLED = 64
"""Clips of each game whose questions are read for words that stand in no list."""
PATH = "In which row and column is {who} in each frame?"
ACTION, WHO = "Which is {who} doing?", "Which character is {who} in each frame?"
IS_ACTION = "Is {who} doing {number}? Answer yes or no"
IS_WHO = "Is the character of {who} {number}? Answer yes or no"
STAYS_WHO = "Is {who} in each frame the same as in the first frame?"
MOVES, STAYS = "What is {who} doing in each frame?", "stays"
WRONG = "What goes wrong in this clip?"


@cache
def vocabulary() -> tuple[str, ...]:
    """The words, each once, always in the same order."""
    files = sorted(HERE.glob("*.toml"))
    texts = [text for file in files for text in _texts(tomllib.loads(file.read_text()))]
    for game in parts.names("games"):
        texts += list(parts.load("games", game).words.values())
        asked = questions_of(game_clips(game, SAMPLED, 0, size=16), 0, TASKS)
        texts += [text for one in asked for text in (one.text, *one.labels)]
    texts += [letter(number) for number in range(MOST_OPTIONS)]
    texts += [str(number) for number in range(NUMBERS)]
    texts += [NOTHING, WRONG, *(kind.replace("_", " ") for kind in KINDS)]
    texts += [YES, NO, "A) B)", PATH, MOVES, STAYS, ACTION, WHO, IS_ACTION, IS_WHO, STAYS_WHO]
    return tuple(words_of(re.sub(r"\{\w+\}", " ", text) for text in texts))


def _texts(tree: Any) -> Iterator[str]:  # noqa: ANN401 - a TOML tree
    if isinstance(tree, Mapping):
        for value in tree.values():
            yield from _texts(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts(value)
    elif isinstance(tree, str):
        yield tree
