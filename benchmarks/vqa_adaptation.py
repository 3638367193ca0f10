"""A training step of F_P on cached features against what no such training can do without.

`at hand` has the batch ready and does the loss and its gradient, nothing else; the whole step looks
features up, makes the batch, clips and moves the weights. `alone` leaves the projector out as well:
the small model's is a tenth of its language model's work.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.timing import Row, versus
from cosmolabe.bench.vqa.recipe import TinyRecipe
from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.data.questions import game_clips, questions_of
from cosmolabe.nets.adaptation import Adaptation, order_of
from cosmolabe.nets.adaptation_lessons import Answering, Lessons
from cosmolabe.nets.adapted import trained
from cosmolabe.nets.adapting import adapt
from cosmolabe.nets.steps import Steps
from cosmolabe.nets.strategies import apply
from cosmolabe.nets.vlm_features import Features
from cosmolabe.vlms.tiny import TinyVlm, build_tiny

CLIPS, STEPS, ROUNDS = 64, 6, 7
LONG, ROUNDS_WHOLE = 40, 3
TARGET = 1 / 1.05


def rows() -> Iterator[Row]:
    """Steps per processor second: F_P against language alone; the Trainer against a plain loop."""
    torch.set_num_threads(1)
    clips = game_clips("pong", CLIPS, 1, size=TinyRecipe().image, held_out=True)
    questions = questions_of(clips, 1)
    with tempfile.TemporaryDirectory() as folder:
        yield from _step(clips, questions, Path(folder))
        yield _trainer(clips, questions, Path(folder))


def _vlm() -> TinyVlm:
    made = TinyRecipe()
    return build_tiny(
        vocabulary(), image=made.image, patch=made.patch, fold=made.fold,
        vision=dict(made.vision), language=dict(made.language),
    )  # fmt: skip


def _lessons(vlm: TinyVlm, clips: list, questions: list, folder: Path) -> Lessons:
    apply("P", vlm)
    recipe = Adaptation(steps=STEPS * 2)
    features = Features(vlm, folder / "features")
    by_name = {clip.id: clip for clip in clips}
    order = order_of(questions, recipe)
    lessons = Lessons(vlm, by_name, questions, order, recipe.frames, features)
    lessons.look_ahead()
    return lessons


def _step(clips: list, questions: list, folder: Path) -> Iterator[Row]:
    vlm = _vlm()
    lessons = _lessons(vlm, clips, questions, folder)
    answering, looked = Answering(vlm), lessons.features.looked
    batches = [[lessons[32 * k + row] for row in range(32)] for k in range(STEPS)]
    ready = [lessons.collate(batch) for batch in batches]
    with torch.no_grad():
        tokens = [[vlm.project(one).detach() for one in batch["seen"]] for batch in ready]

    steps = Steps(
        trained(vlm.module),
        lambda step: (answering(**lessons.collate(batches[step % STEPS]))["loss"], {}),
        steps=10**6, rate=1e-4,
    )  # fmt: skip

    def whole() -> int:
        for _ in range(STEPS):
            steps.learn()
        return STEPS

    project = type(vlm).project

    def alone() -> int:
        for batch, mine in zip(ready, tokens, strict=True):
            flat = [one.requires_grad_() for one in mine]
            given = iter([torch.cat(_distinct(batch["seen"], flat))])
            vlm.project = lambda features, given=given: next(given)
            vlm.loss(batch["seen"], batch["prompts"], batch["answers"]).backward()
            for one in flat:
                one.grad = None
        vlm.project = project.__get__(vlm)
        return STEPS

    def at_hand() -> int:
        for batch in ready:
            vlm.module.zero_grad(set_to_none=True)
            vlm.loss(batch["seen"], batch["prompts"], batch["answers"]).backward()
        return STEPS

    looks = lessons.features.looked - looked
    note = f"tiny, 32 questions, uniform:8, the tower looked {looks} times"
    name = "F_P step, cached"
    peers = {"language and projector, features at hand": at_hand}
    yield from versus(name, "step", whole, peers, target=TARGET, rounds=ROUNDS, note=note)
    yield from versus(name, "step", whole, {"language alone": alone}, rounds=ROUNDS, note=note)


def _distinct(seen: list, tokens: list) -> list:
    """Of each clip of a batch its tokens once, in the order in which `loss` projects them."""
    known = {}
    for one, mine in zip(seen, tokens, strict=True):
        known.setdefault(one.data_ptr(), mine)
    return list(known.values())


def _trainer(clips: list, questions: list, folder: Path) -> Row:
    rates = {}
    for number, loop in enumerate(("trainer", "steps") * ROUNDS_WHOLE):
        recipe = Adaptation(steps=LONG, rate=1e-3, mix=None, seed=number)
        vlm = _vlm()
        features = Features(vlm, folder / "features")
        start = time.process_time()
        adapt(vlm, clips, questions, recipe, folder / str(number), features=features, loop=loop)
        rates.setdefault(loop, []).append(LONG / (time.process_time() - start))
    ours, peer = (max(rates[loop]) for loop in ("trainer", "steps"))
    return Row(
        "Trainer's steps", ours, peer, "plain loop", ours / peer, "step", 0.9,
        f"best of 3, {LONG} steps each, setting up included",
    )  # fmt: skip
