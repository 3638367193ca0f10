"""Rolls a model out from windows of a store, to be judged, drawn or kept."""

from pathlib import Path
from typing import Any

from cosmolabe.bench.driving import CHUNK, imagine
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.rollouts import Rollout, rollouts_of, write_rollouts
from cosmolabe.data.store import Store
from cosmolabe.data.windows import evaluation_windows

WINDOW = 8  # true states given (AutoWorldModel-Bench)


def roll(
    model: WorldModel,
    store: Store,
    split: str = "test",
    num_episodes: int = 64,
    horizon: int = 20,
    seed: int = 0,
    folder: Path | str | None = None,
    chunk: int = CHUNK,
) -> list[Rollout]:
    """One rollout from each of `num_episodes` drawn episodes; kept in `folder` where given.

    The windows are the judge's own for the same seed. Where the model fails, what it imagined is
    NaN, which the judge scores 0 and names.
    """
    length = WINDOW + horizon
    episodes, starts, _ = evaluation_windows(store, split, length, num_episodes, seed=seed)
    if not len(episodes):
        raise ValueError(
            f"no episode of split '{split}' has {length} states; ask for a shorter horizon"
        )
    windows = store.windows(episodes, starts, length)
    prediction, _ = imagine(model, windows.context(WINDOW), seed, chunk)
    told: dict[str, Any] = {
        "game": store.game,
        "model": model.name,
        "fps": store.manifest.fps,
        "seed": seed,
    }
    if folder is not None:
        write_rollouts(Path(folder), windows, prediction, **told)
    return rollouts_of(windows, prediction, **told)
