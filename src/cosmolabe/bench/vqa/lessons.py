"""What the bundled model is asked in training: fresh clips of all games at every step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cosmolabe.bench.vqa.looks import dressed
from cosmolabe.bench.vqa.recipe import TinyRecipe, WordsRecipe
from cosmolabe.bench.vqa.sights import slots_of_roles
from cosmolabe.bench.vqa.vocabulary import (
    ACTION,
    IS_ACTION,
    IS_WHO,
    MOVES,
    PATH,
    STAYS,
    STAYS_WHO,
    WHO,
)
from cosmolabe.core import parts
from cosmolabe.core.episode import shortest_way
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.question import FORMATS, NO, YES, AskedClip, Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.building import questions_of
from cosmolabe.data.questions.playing import TOGETHER, game_clips
from cosmolabe.data.questions.protocol import uniform
from cosmolabe.data.questions.wording import our_game, role_words
from cosmolabe.engine.render import draw_frames
from cosmolabe.nets.vlm_sight import ROTATION

GRID = 16
"""Rows and columns in which somebody is said to stand."""
NEAR, TURN = 0.004, 0.01
"""Of the world, and of a turn: less is no move."""
OURS = "drill"


class Lessons:
    """Clips and questions of a step; the same for the same step."""

    def __init__(
        self, recipe: TinyRecipe, leg: WordsRecipe, seed: int, games: Sequence[str] = ()
    ) -> None:
        self.recipe, self.size, self.turned = leg, recipe.image, recipe.turned
        self.frames, self.seed = recipe.frames, seed
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
                drill = DRILLS[_drawn(self.recipe.drills, dice)]
                found.append((number, drill(clips[number], self.frames, dice)))
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
    who, slot = _somebody(clip, dice)
    shown = clip.about["states"][list(uniform(frames, len(clip.frames))), slot]
    at = shown[:, [Y, X]]
    if not (shown[:, ALIVE] > 0.5).all() or not ((at >= 0) & (at < 1)).all():
        return None
    answer = " ".join(str(value) for value in (at * GRID).astype(int).flatten())
    return _ours(clip, PATH.format(who=who), answer)


def moves(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """Which way somebody moves, and turns where the game knows turns, from frame to frame."""
    who, slot = _somebody(clip, dice)
    game = our_game(clip.about["game"])
    assert game is not None
    shown = clip.about["states"][list(uniform(frames, len(clip.frames))), slot]
    if not (shown[:, ALIVE] > 0.5).all():
        return None
    steps = np.diff(shown[:, [Y, X]], axis=0)
    wraps = np.array([game.manifest.wrap_y, game.manifest.wrap_x])
    steps = shortest_way(steps, wraps)
    said = [_way(steps[:, 0], NEAR, "up", "down"), _way(steps[:, 1], NEAR, "left", "right")]
    if "rotation" in game.manifest.fields:
        turns = shortest_way(np.diff(shown[:, ROTATION]), np.array(True))
        said.append(_way(turns, TURN, "counter-clockwise", "clockwise"))
    answer = " ".join(word for step in zip(*said, strict=True) for word in step)
    return _ours(clip, MOVES.format(who=who), answer)


def _way(steps: np.ndarray, least: float, back: str, on: str) -> list[str]:
    return [on if step > least else back if step < -least else STAYS for step in steps]


def _somebody(clip: AskedClip, dice: np.random.Generator) -> tuple[str, int]:
    """Who is asked about, in words, and their slot."""
    game = our_game(clip.about["game"])
    assert game is not None
    role = _role(clip, dice)
    return role_words(game, role), slots_of_roles(game)[game.roles.index(role)]


def _role(clip: AskedClip, dice: np.random.Generator) -> str:
    game = our_game(clip.about["game"])
    assert game is not None
    roles = [role for role in game.roles if role_words(game, role)]
    return roles[int(dice.integers(len(roles)))]


def _ours(clip: AskedClip, text: str, answer: str) -> Question:
    return Question(
        f"{clip.id}/{OURS}", clip.id, OURS, "open_ended", text, answer, (answer,), truth=answer
    )


def action(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """The action by its number in the game's list: it must be known before any word is said."""
    game = our_game(clip.about["game"])
    assert game is not None
    if not clip.about["label"] or clip.about.get("visible_effect") is False:
        return None
    text = ACTION.format(who=game.words["player"])
    return _ours(clip, text, str(game.actions.index(clip.about["action"])))


def who(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """The character in each frame shown, by number: in some clips it changes midway."""
    game = our_game(clip.about["game"])
    assert game is not None
    role = clip.about["swapped_role"] if clip.about["swapped_at"] else _role(clip, dice)
    at, worn = clip.about["swapped_at"], [clip.about["characters"][role]]
    if at:
        worn.append(clip.about["swapped_to"])
    known = held_out().trainable_characters(game)
    if not role_words(game, role) or any(name not in known for name in worn):
        return None
    shown = uniform(frames, len(clip.frames))
    numbers = [known.index(worn[int(bool(at) and frame >= at)]) for frame in shown]
    text = WHO.format(who=role_words(game, role))
    return _ours(clip, text, " ".join(str(number) for number in numbers))


def stays(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """Whether somebody is still who they were in the first frame, frame by frame."""
    game, at = our_game(clip.about["game"]), clip.about["swapped_at"]
    assert game is not None
    words = role_words(game, clip.about["swapped_role"] if at else _role(clip, dice))
    if not words:
        return None
    shown = uniform(frames, len(clip.frames))
    answer = " ".join(NO if at and frame >= at else YES for frame in shown)
    return _ours(clip, STAYS_WHO.format(who=words), answer)


def is_action(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """Is it this action? By number, one word to compare where a label has seven."""
    game = our_game(clip.about["game"])
    assert game is not None
    found = action(clip, frames, dice)
    if found is None:
        return None
    text = IS_ACTION.format(who=game.words["player"], number="{number}")
    return _is_it(clip, text, int(found.answer), len(game.actions), dice)


def is_who(clip: AskedClip, frames: int, dice: np.random.Generator) -> Question | None:
    """Is it this character? Of clips in which nobody changes."""
    game = our_game(clip.about["game"])
    assert game is not None
    role, known = _role(clip, dice), held_out().trainable_characters(game)
    name = clip.about["characters"][role]
    if clip.about["swapped_at"] or name not in known:
        return None
    text = IS_WHO.format(who=role_words(game, role), number="{number}")
    return _is_it(clip, text, known.index(name), len(known), dice)


def _is_it(
    clip: AskedClip, text: str, true: int, count: int, dice: np.random.Generator
) -> Question:
    right = dice.random() < 0.5
    asked = true if right else (true + 1 + int(dice.integers(count - 1))) % count
    return replace(
        _ours(clip, text.format(number=asked), YES if right else NO),
        format="binary", labels=(YES, NO),
    )  # fmt: skip


DRILLS = {
    "path": path, "moves": moves, "action": action, "who": who, "is_action": is_action,
    "is_who": is_who, "stays": stays,
}  # fmt: skip
"""What is asked for training's sake alone; None where the clip does not decide it."""
LONG = 6
"""Tokens from which on an answer is long."""
