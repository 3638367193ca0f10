"""Shows a network something else than the frames of its story, for planted defects."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from cosmolabe.bench.defects.defect import swapped
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely, Story


@contextmanager
def retold(change: Callable[[Dreamt, int], Dreamt]) -> Generator[None]:
    """While entered, every network sees `change(dreamt, first)` instead of `dreamt`.

    `first` is the place of the first frame of `dreamt` in its story, counted from 0.
    """
    unroll = Imagination.unroll

    def changed(
        network: Imagination, batch: Batch, seen: int, steps: int, cached: bool = True
    ) -> Story:
        likely, told = network.likely, 0

        def tell(dreamt: Dreamt, memory: Any) -> tuple[Likely, Any]:  # noqa: ANN401
            nonlocal told
            first = 0 if memory is None else told
            told = first + dreamt.states.shape[1]
            return likely(change(dreamt, first), memory)

        network.likely = tell
        try:
            return unroll(network, batch, seen, steps, cached)
        finally:
            del network.likely

    with swapped(Imagination, "unroll", changed):
        yield
