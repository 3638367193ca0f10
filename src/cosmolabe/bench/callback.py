"""A 30-second look at a model from inside anybody's training loop."""

from time import perf_counter
from typing import Any

from cosmolabe.bench.bed import NUM_EPISODES, Bed, lay_out, play
from cosmolabe.bench.driving import CHUNK, imagine
from cosmolabe.bench.readings import main_readings, shared_by
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.store import Store

FEWEST = 16  # windows: fewer say nothing


class QuickCheck:
    """Takes a model, gives its final score; see `quick_check`."""

    def __init__(self, store: Store, seconds: float, split: str, seed: int) -> None:
        self.store, self.seconds, self.split, self.seed = store, seconds, split, seed
        self.history: list[Reading] = []
        self._bed: Bed | None = None

    def __call__(self, model: WorldModel, *_: Any) -> Reading:  # noqa: ANN401 - a trainer's own
        """The final score on the windows settled by the first call."""
        if self._bed is None:
            fits = _windows_that_fit(model, self.store, self.split, self.seconds, self.seed)
            self._bed = lay_out(self.store, self.split, num_episodes=fits, seed=self.seed)
        bed = self._bed
        scores = play(model, bed.windows, bed.protocol, self.seed)[0]
        shared = shared_by(scores, bed, model.name)
        self.history.append(main_readings(scores, bed, shared)[0])
        return self.history[-1]


def quick_check(
    store: Store, seconds: float = 30.0, split: str = "val", seed: int = 0
) -> QuickCheck:
    """A function that takes a model and gives its final score, within about `seconds`.

    The first call times the model on one chunk and settles how many windows fit (16 to 256);
    every later call judges the same ones, so its readings compare with each other. The function
    takes and ignores further arguments, so it can be handed to a trainer as it is, and keeps its
    readings in `.history`. Floor and ceiling stand in each reading.
    """
    if not seconds > 0:
        raise ValueError(f"seconds is the time a check may take, above 0; got {seconds}")
    return QuickCheck(store, seconds, split, seed)


def _windows_that_fit(
    model: WorldModel, store: Store, split: str, seconds: float, seed: int
) -> int:
    small = lay_out(store, split, num_episodes=FEWEST, seed=seed)
    began = perf_counter()
    imagine(model, small.windows.context(small.protocol.window), seed, FEWEST)
    took = perf_counter() - began  # of 16 windows; a full chunk of 64 takes up to 4 times that
    chunks = seconds / max(took * CHUNK / FEWEST, 1e-9)
    if chunks < 1:
        return FEWEST
    return int(min(NUM_EPISODES, int(chunks) * CHUNK))
