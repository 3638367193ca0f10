"""Asks a process that is not trusted for predictions: exact bytes, by the clock, in secret order.

Truth is not here: nothing that this file holds or sends says anything about what comes after the
context but the actions.
"""

import contextlib
import secrets
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from cosmolabe.arena.verifier.wire import answer_size, frame_of, prediction_of
from cosmolabe.bench.driving import CHUNK
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.core.seeds import seed_of


class Broken(ValueError):
    """The process did not do what the protocol asks; there is no score then."""


@runtime_checkable
class Answering(Protocol):
    """A running process to put questions to; `sandbox.Child` is one."""

    def exchange(self, data: bytes | memoryview, size: int, seconds: int | float) -> bytearray:
        """Write `data` and read exactly `size` bytes; TimeoutError or EOFError where it fails."""
        ...

    def close_stdin(self) -> None:
        """There are no more questions."""
        ...

    def more_than_asked(self, seconds: int | float) -> bool:
        """Whether it goes on writing; TimeoutError where it neither writes nor ends."""
        ...


@dataclass(frozen=True)
class Patience:
    """How long is waited, seconds of the host's monotonic clock."""

    first: int | float = 120.0
    """For the first answer; it includes starting up and loading the weights."""
    each: int | float = 60.0
    """For every other answer."""
    whole: int | float = 900.0
    """For everything together."""


@dataclass(frozen=True)
class Asked:
    """What came back, in the order of the windows."""

    predictions: dict[str, Prediction]
    """One for each context, by its name."""
    waited: float
    """Seconds between a question and the end of its answer, all chunks; starting up included."""


def ask(
    process: Answering,
    contexts: Mapping[str, Context],
    seed: int,
    chunk: int = CHUNK,
    patience: Patience = Patience(),
) -> Asked:
    """The predictions for every window of every context, or `Broken`: all of them or nothing.

    Chunks hold the windows, and carry the seeds, that `bench.driving.imagine` gives them, so that a
    model answers to the bit what it answers there (a sum of floats may depend on where in a batch a
    row stands). Which chunk comes when is drawn anew each time and told nobody; the order of the
    windows themselves is as secret as the seed of the bed (`held_out.held_out_bed`).
    """
    end = time.monotonic() + patience.whole
    rows: dict[str, list[Prediction | None]] = {k: [None] * len(c) for k, c in contexts.items()}
    waited, limit = 0.0, patience.first
    for name, first, chosen in in_secret_order(contexts, chunk):
        part = contexts[name].take(chosen)
        number = seed_of("roll", seed, first) & 0x7FFFFFFF
        frame, size = frame_of(part, number), answer_size(part)
        began = time.monotonic()
        with _told():
            data = process.exchange(frame, size, max(0.0, min(end - began, limit)))
        waited += time.monotonic() - began
        found = prediction_of(part, data)
        for place, row in enumerate(chosen):
            rows[name][row] = _row(found, place)
        limit = patience.each
    with _told():
        process.close_stdin()
        if process.more_than_asked(max(0.0, min(end - time.monotonic(), patience.each))):
            raise Broken("the submission wrote more bytes than its predictions have")
    return Asked({name: _joined(parts) for name, parts in rows.items()}, waited)


def in_secret_order(
    contexts: Mapping[str, Context], chunk: int
) -> Iterator[tuple[str, int, np.ndarray]]:
    """Name, first row and rows of every chunk; the last of a context is filled up."""
    dice = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
    every = [(name, first) for name, one in contexts.items() for first in range(0, len(one), chunk)]
    for place in dice.permutation(len(every)):
        name, first = every[place]
        yield name, first, np.minimum(np.arange(first, first + chunk), len(contexts[name]) - 1)


def _row(found: Prediction, place: int) -> Prediction:
    part = slice(place, place + 1)
    return Prediction(found.states[part], found.globals[part], found.terminal[part])


def _joined(parts: list[Prediction | None]) -> Prediction:
    whole = [part for part in parts if part is not None]
    assert len(whole) == len(parts)
    names = ("states", "globals", "terminal")
    return Prediction(*(np.concatenate([getattr(p, name) for p in whole]) for name in names))


@contextlib.contextmanager
def _told() -> Generator[None]:
    """What goes wrong on the pipe is the submission's doing, and said so."""
    try:
        yield
    except TimeoutError as error:
        raise Broken(f"the submission was too slow: {error}") from None
    except EOFError as error:
        raise Broken(f"the submission ended before it had answered everything: {error}") from None
