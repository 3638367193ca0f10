"""Stage 1 of the bundled model: projector and language learn to answer, the tower held still."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from cosmolabe.bench.vqa.lessons import LONG, OURS, Lessons
from cosmolabe.bench.vqa.recipe import TinyRecipe, WordsRecipe
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.data.questions.protocol import uniform
from cosmolabe.nets.steps import Steps
from cosmolabe.nets.vlm_paligemma import FAMILY
from cosmolabe.vlms.tiny import TinyVlm

Tell = Callable[[str], None]


def seen_of(vlm: TinyVlm, clips: Sequence[AskedClip], frames: int) -> list[Tensor]:
    """What the tower makes of `frames` pictures of each clip, uniformly taken."""
    return vlm.see([clip.frames[list(uniform(frames, len(clip.frames)))] for clip in clips])


def seed_of_words(recipe: TinyRecipe, leg: WordsRecipe) -> int:
    """Another for each leg, as its drills are of another number: no leg sees the clips of one."""
    return recipe.seed + len(leg.drills) - 1


def teach_to_speak(
    vlm: TinyVlm, recipe: TinyRecipe, leg: WordsRecipe, folder: Path | None, tell: Tell
) -> None:
    """Train projector and language of `vlm` in place for one leg; goes on from `folder`."""
    lessons = Lessons(recipe, leg, seed_of_words(recipe, leg))
    mine = {}
    for name, weight in vlm.module.named_parameters():
        weight.requires_grad_(FAMILY.group(name) != "vision")
        if weight.requires_grad:
            mine[name] = weight

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        clips = lessons.clips(step)
        seen = seen_of(vlm, clips, recipe.frames)
        asked = lessons.questions(step, clips)
        questions = [one for _, one in asked]
        told = -vlm.log_likelihood(
            [seen[number] for number, _ in asked],
            [one.text for one in questions],
            [one.answer for one in questions],
        )
        weights = [_weight(one, leg) for one in questions]
        whole = (told * torch.tensor(weights)).mean()
        return whole, _by_kind(questions, told)

    steps = Steps(
        mine,
        loss,
        steps=leg.steps,
        rate=leg.rate,
        warmup=leg.warmup,
        weight_decay=leg.weight_decay,
        facts=recipe.told(leg),
    )
    for told in steps.run(folder):
        tell("words " + " ".join(f"{name} {value:.3f}" for name, value in told.items()))


def _weight(question: Question, leg: WordsRecipe) -> float:
    tokens = len(question.answer.split()) + 1
    if question.task == OURS and tokens > LONG:
        return leg.long_weight / tokens
    return leg.yes_weight if question.format == "binary" else 1.0


def _by_kind(questions: Sequence[Question], told: Tensor) -> dict[str, float]:
    kinds = [one.task.split("_")[0] + "-" + one.format[:2] for one in questions]
    values = told.detach()
    return {
        kind: float(values[[place for place, mine in enumerate(kinds) if mine == kind]].mean())
        for kind in sorted(set(kinds))
    }
