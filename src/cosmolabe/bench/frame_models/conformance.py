"""Does a frame model keep its promises? Shapes, types, rows apart from each other, no luck."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosmolabe.core.errors import in_words
from cosmolabe.core.frame_model import FrameModel, facts_of
from cosmolabe.core.seeds import generator

BATCH = 3
LEVELS = 1  # of 255 by which a frame may differ where a library forbids better


@dataclass(frozen=True)
class Promise:
    """One thing that was tried."""

    name: str
    ok: bool
    detail: str = ""


def check_frames(model: Any, actions: int = 7, seed: int = 0) -> list[Promise]:  # noqa: ANN401
    """All promises; where `step` fails, the rest is not tried."""
    named = isinstance(getattr(model, "name", None), str) and model.name.isprintable()
    made = [Promise("it has a printable name", bool(named), str(getattr(model, "name", "none")))]
    try:
        facts = facts_of(model)
    except ValueError as error:
        return [*made, Promise("context, every and size are whole numbers", False, str(error))]
    made.append(Promise("context, every and size are whole numbers", True, str(facts)))
    draw = generator("frame conformance", seed)
    shape = (BATCH, facts.context, facts.size, facts.size, 3)
    frames = draw.integers(0, 256, shape, dtype=np.uint8)
    pressed = draw.integers(-1, 2, (BATCH, facts.context, actions)).astype(np.float32)
    try:
        whole = model.step(frames.copy(), pressed.copy())
    except Exception as error:
        return [*made, Promise("step gives a frame", False, in_words(error))]
    return [*made, *_of_step(model, frames, pressed, whole)]


def _of_step(
    model: FrameModel,
    frames: np.ndarray,
    pressed: np.ndarray,
    whole: Any,  # noqa: ANN401
) -> list[Promise]:
    wanted = (len(frames), *frames.shape[2:])
    kind = f"{whole.dtype} {whole.shape}" if isinstance(whole, np.ndarray) else str(type(whole))
    fits = isinstance(whole, np.ndarray) and whole.dtype == np.uint8 and whole.shape == wanted
    made = [Promise(f"step gives uint8 {wanted}", fits, kind)]
    if not fits:
        return made
    given, held = frames.copy(), pressed.copy()
    tries: tuple[tuple[str, int, Callable[[], np.ndarray]], ...] = (
        ("the same rows give the same frames", 0, lambda: model.step(given, held)),
        (
            "a row alone gives what it gives in a batch", LEVELS,
            lambda: np.concatenate([
                model.step(frames[k : k + 1].copy(), pressed[k : k + 1].copy())
                for k in range(BATCH)
            ]),
        ),
        (
            "the order of rows changes nothing", LEVELS,
            lambda: model.step(frames[::-1].copy(), pressed[::-1].copy())[::-1],
        ),
    )  # fmt: skip
    for name, most, again in tries:
        try:
            made.append(_alike(name, whole, np.asarray(again()), most))
        except Exception as error:  # a user's own model may fail in any way
            made.append(Promise(name, False, in_words(error)))
    untouched = np.array_equal(given, frames) and np.array_equal(held, pressed)
    made.append(Promise("it leaves what it is given as it was", untouched))
    return made


def _alike(name: str, one: np.ndarray, other: np.ndarray, most: int) -> Promise:
    if one.shape != other.shape or one.dtype != other.dtype:
        kinds = f"{one.dtype} {one.shape} and {other.dtype} {other.shape}"
        return Promise(name, False, kinds)
    gap = int(np.abs(one.astype(np.int64) - other.astype(np.int64)).max(initial=0))
    return Promise(name, gap <= most, f"largest difference {gap} of 255 levels, {most} allowed")
