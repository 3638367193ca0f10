"""Adapts any vision-language model to questions, by any strategy; stops and goes on.

    adapt(vlm, clips, questions, Adaptation(strategy="P", rate=1e-3), folder)

`folder` holds recipe.json (written first), checkpoints while it trains, then adapter.safetensors
and adapter.json. Where the tower stands still its features are computed once, beforehand.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.record import plain, read_json, versions, write_json
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.clip_folder import by_name
from cosmolabe.nets.adaptation import Adaptation, drawn, order_of
from cosmolabe.nets.adaptation_lessons import Answering, Lessons
from cosmolabe.nets.adapted import is_adapted, put_adapted, trained, write_adapted
from cosmolabe.nets.steps import Steps
from cosmolabe.nets.strategies import apply, parse_strategy
from cosmolabe.nets.vlm_features import Features

RECIPE, TRAINING = "recipe.json", "training"
SAVED_EVERY = 30.0  # seconds
Loop = Literal["trainer", "steps"]
Tell = Callable[[str, int, int, float], None]
"""(what is done, done, all, loss or NaN)."""


@dataclass(frozen=True)
class Adapted:
    """What became of an adaptation; stands in adapter.json."""

    strategy: str
    base: str
    """The key of the model it began with."""
    recipe: str
    data: str
    """Fingerprint of the questions, in their order, and of the pictures."""
    seed: int
    steps: int
    samples: int
    """Questions asked, each time counted."""
    questions: int
    clips: int
    trains: int
    """Numbers that trained."""
    feature_seconds: float
    """Processor seconds of looking at clips beforehand, in the last sitting."""
    cpu_seconds: float
    """Processor seconds of training, in the last sitting."""
    looks: int
    """Clips the tower looked at for features, in the last sitting; -1 where the tower trains."""
    losses: Sequence[tuple[int, float]] = field(default_factory=tuple)
    """(step, loss), minus log p a token."""
    loop: str = "trainer"
    versions: Mapping[str, str] = field(default_factory=versions)
    schema: int = 1


def adapt(
    vlm: Vlm,
    clips: Iterable[AskedClip] | Mapping[str, AskedClip],
    questions: Iterable[Question],
    recipe: Adaptation,
    folder: str | Path,
    *,
    features: Features | None = None,
    loop: Loop = "trainer",
    tell: Tell | None = None,
    saved_every: float = SAVED_EVERY,
) -> Adapted:
    """Train `vlm` in place and leave what was learnt in `folder`.

    `clips` may know them by name and read them when asked (`data.clip_folder`): each is read once
    beforehand, and again only where the tower trains.

    A finished folder is put into the model without training; an interrupted one goes on. The same
    recipe gives the same weights, interrupted or not. `features` of this model's tower may be
    shared by several adaptations; kept in memory where none are given. `loop` "trainer" is
    transformers' Trainer, "steps" a plain loop on one device with the same losses.

    Raises:
        ValueError: The folder belongs to another recipe, other questions or another base; nothing
            to train; the loss is no number.
    """
    folder, by_id, base = Path(folder), by_name(clips), vlm.key
    asked = drawn(questions, len(by_id), recipe)
    still = "vision" not in parse_strategy(recipe.strategy).touches
    features = (features or Features(vlm)) if still else None
    lessons = Lessons(vlm, by_id, asked, order_of(asked, recipe), recipe.frames, features)
    facts = plain({"recipe": recipe, "base": base, "data": lessons.data})
    _agree(folder, facts)
    if is_adapted(folder):
        return _read(put_adapted(vlm, folder))
    names = apply(recipe.strategy, vlm, recipe.seed)
    if not names:
        raise ValueError(f"strategy {recipe.strategy} trains nothing; evaluate the model as it is")
    looked = features.looked if features is not None else 0
    said = tell or (lambda what, done, total, loss: None)
    start = time.process_time()
    lessons.look_ahead(lambda done, total: said("features", done, total, float("nan")))
    began = time.process_time()
    told = _train(loop, vlm, lessons, recipe, folder / TRAINING, facts, said, saved_every)
    vlm.module.eval()
    found = Adapted(
        strategy=recipe.strategy,
        base=base,
        recipe=recipe.hash,
        data=lessons.data,
        seed=recipe.seed,
        steps=len(lessons) // recipe.batch,
        samples=len(lessons),
        questions=len(asked),
        clips=len({q.clip for q in asked}),
        trains=sum(p.numel() for p in trained(vlm.module).values()),
        feature_seconds=round(began - start, 2),
        cpu_seconds=round(time.process_time() - began, 2),
        looks=-1 if features is None else features.looked - looked,
        losses=tuple(told),
        loop=loop,
    )
    if _first():
        write_adapted(vlm, folder, plain(found))
        shutil.rmtree(folder / TRAINING, ignore_errors=True)
    return found


def _train(
    loop: Loop,
    vlm: Vlm,
    lessons: Lessons,
    recipe: Adaptation,
    folder: Path,
    facts: Mapping[str, Any],
    tell: Tell,
    saved: float,
) -> list[tuple[int, float]]:
    answering = Answering(vlm)
    if loop == "trainer":
        from cosmolabe.nets.adaptation_trainer import train

        return train(
            answering, lessons, recipe, folder, saved,
            lambda step, steps, loss: tell("training", step, steps, loss),
        )  # fmt: skip
    if loop != "steps":
        raise ValueError(f"loop is trainer or steps; got {loop!r}")
    if recipe.at_once != recipe.batch or recipe.precision != "float32":
        raise ValueError("the loop 'steps' takes whole batches in float32; use 'trainer'")
    return _steps(answering, lessons, recipe, folder, facts, tell)


def _steps(
    answering: Answering,
    lessons: Lessons,
    recipe: Adaptation,
    folder: Path,
    facts: Mapping[str, Any],
    tell: Tell,
) -> list[tuple[int, float]]:
    def loss(step: int) -> tuple[Any, dict[str, float]]:
        places = range(step * recipe.batch, (step + 1) * recipe.batch)
        batch = lessons.collate([lessons[place] for place in places])
        return answering(**batch)["loss"], {}

    loops = Steps(
        trained(answering.module),
        loss,
        steps=len(lessons) // recipe.batch,
        rate=recipe.rate,
        warmup=recipe.warmup,
        weight_decay=recipe.weight_decay,
        clip=recipe.clip,
        betas=recipe.betas,
        facts=facts,
    )
    found = []
    for told in loops.run(folder, every=1):
        found.append((int(told["step"]), told["loss"]))
        tell("training", int(told["step"]), loops.steps, told["loss"])
    return found


def _agree(folder: Path, facts: Mapping[str, Any]) -> None:
    """The recipe stands in the folder before anything is trained, and never changes."""
    path = folder / RECIPE
    if not path.exists() and _first():
        write_json(path, {"schema": 1, **facts})
    if not path.exists():
        return  # another process of this launch writes it
    found = read_json(path)
    for what, said in facts.items():
        if not isinstance(found, dict) or found.get(what) != said:
            raise ValueError(
                f"{folder}: an adaptation with another {what} was begun here; use another folder"
            )


def _first() -> bool:
    """Of the processes of one launch the one that writes."""
    return os.environ.get("RANK", "0") == "0"


def _read(about: Mapping[str, Any]) -> Adapted:
    known: dict[str, Any] = {n: about[n] for n in Adapted.__dataclass_fields__ if n in about}
    known["losses"] = tuple((int(step), float(loss)) for step, loss in known.get("losses", ()))
    return Adapted(**known)
