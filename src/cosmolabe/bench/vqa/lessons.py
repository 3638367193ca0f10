"""What the bundled model is asked in training: fresh clips of all games at every step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cosmolabe.bench.vqa.looks import dressed
from cosmolabe.bench.vqa.recipe import TinyRecipe
from cosmolabe.bench.vqa.sights import slots_of_roles
from cosmolabe.bench.vqa.vocabulary import PATH
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.question import FORMATS, AskedClip, Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.playing import TOGETHER, game_clips
from cosmolabe.data.questions.protocol import uniform
from cosmolabe.data.questions.wording import our_game, role_words
from cosmolabe.engine.render import draw_frames

GRID = 16
"""Rows and columns in which somebody is said to stand."""
OURS = "path"


class Lessons:
    """Clips and questions of a step; the same for the same step."""

    def __init__(
        self, recipe: TinyRecipe, seed: int | None = None, games: Sequence[str] = ()
    ) -> None:
        self.recipe, self.size, self.turned = recipe.words, recipe.image, recipe.turned
        self.frames, self.seed = recipe.frames, recipe.seed if seed is None else seed
        self.games = tuple(games) or parts.names("games")
        self._block = lru_cache(maxsize=2 * len(self.games))(self._drawn)

    def _drawn(self, game: str, number: int) -> list[AskedClip]:
        seed = self.seed * 100_003 + number
        clips = game_clips(
            game, TOGETHER, seed, size=self.size, held_out=False, swapped=self.recipe.swapped
        )
        dice = generator("turned", game, seed)
        return [self._dressed(clip, dice) for clip in clips]

    def _dressed(self, clip: AskedClip, dice: np.random.Generator) -> AskedClip:
        """In turned colours, or as it is; one in which somebody changes stays."""
        game = our_game(clip.about["game"])
        assert game is not None
        if clip.about["swapped_at"] or dice.random() >= self.turned:
            return clip
        worn = tuple(clip.about["characters"][role] for role in game.roles)
        look = dressed(game, worn, dice, turned=1.0)
        states, numbers = clip.about["states"], clip.about["globals"]
        return replace(
            clip, frames=draw_frames(look.game, states, numbers, look.appearance, self.size)
        )

    def clips(self, step: int) -> list[AskedClip]:
        """As many of each game as of any other."""
        each = max(1, self.recipe.clips // len(self.games))
        found = []
        for game in self.games:
            for place in range(step * each, (step + 1) * each):
                found.append(self._block(game, place // TOGETHER)[place % TOGETHER])
        return found

    def questions(self, step: int, clips: Sequence[AskedClip]) -> list[tuple[int, Question]]:
        """(number of the clip, question), so many as the recipe says."""
        dice = generator("lessons", self.seed, step)
        tasks = [name for name in self.recipe.shares if name != OURS]
        made: dict[tuple[str, str], list[Question]] = {}
        for one in questions_of(clips, int(dice.integers(1 << 31)), tasks):
            made.setdefault((one.clip, one.task), []).append(one)
        found = []
        for row in range(self.recipe.rows):
            number = row % len(clips)
            task = _drawn(self.recipe.shares, dice)
            known = made.get((clips[number].id, task), [])
            if task == OURS or not known:
                found.append((number, path(clips[number], self.frames, dice)))
            else:
                found.append((number, _one(known, self.recipe.formats, dice)))
        found = [(number, one) for number, one in found if one is not None]
        return sorted(found, key=lambda pair: len(pair[1].text))  # rows of a batch are as long


def _drawn(shares: Mapping[Any, float], dice: np.random.Generator) -> str:
    names = list(shares)
    weights = np.array([shares[name] for name in names])
    return names[int(dice.choice(len(names), p=weights / weights.sum()))]


def _one(
    questions: Sequence[Question], formats: Mapping[str, float], dice: np.random.Generator
) -> Question:
    there = {f: formats[f] for f in FORMATS if any(q.format == f for q in questions)}
    form = _drawn(there, dice)
    mine = [one for one in questions if one.format == form]
    return mine[int(dice.integers(len(mine)))]


def path(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """In which row and column somebody stands in each of the frames shown; None unless alive."""
    game = our_game(clip.about["game"])
    assert game is not None
    roles = [role for role in game.roles if role_words(game, role)]
    role = roles[int(dice.integers(len(roles)))]
    slot = slots_of_roles(game)[game.roles.index(role)]
    shown = clip.about["states"][list(uniform(frames, len(clip.frames))), slot]
    at = shown[:, [Y, X]]
    if not (shown[:, ALIVE] > 0.5).all() or not ((at >= 0) & (at < 1)).all():
        return None
    answer = " ".join(str(value) for value in (at * GRID).astype(int).flatten())
    text = PATH.format(who=role_words(game, role))
    return Question(
        f"{clip.id}/{OURS}", clip.id, OURS, "open_ended", text, answer, (answer,), truth=answer
    )
