"""Rolls a model out from windows of a store, to be judged, drawn or kept."""

from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.driving import CHUNK, imagine
from cosmolabe.core.episode import Windows
from cosmolabe.core.rollout import Prediction, WorldModel
from cosmolabe.data.rollout_folder import write_rollouts
from cosmolabe.data.rollouts import Rollout, rollouts_of
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
    windows, prediction, _, _ = draw_and_imagine(
        model, store, split, num_episodes, WINDOW + horizon, seed, chunk
    )
    told: dict[str, Any] = {
        "game": store.game,
        "model": model.name,
        "fps": store.manifest.fps,
        "seed": seed,
    }
    if folder is not None:
        write_rollouts(Path(folder), windows, prediction, **told)
    return rollouts_of(windows, prediction, **told)


def draw_and_imagine(
    model: WorldModel,
    store: Store,
    split: str,
    num_episodes: int,
    num_frames: int,
    seed: int = 0,
    chunk: int = CHUNK,
) -> tuple[Windows, Prediction, tuple[str, ...], np.ndarray]:
    """Windows of `num_frames` states, what the model imagines after the first 8, and what failed.

    That is, per window why it cannot be used (or ""), and the drawn episodes that are too short.
    """
    episodes, starts, skipped = evaluation_windows(
        store, split, num_frames, num_episodes, seed=seed
    )
    if not len(episodes):
        raise ValueError(
            f"all {len(skipped)} episodes drawn from split '{split}' of {store.game} are shorter "
            f"than {num_frames} states; ask for fewer frames, that is a shorter horizon"
        )
    windows = store.windows(episodes, starts, num_frames)
    prediction, why = imagine(model, windows.context(WINDOW), seed, chunk)
    return windows, prediction, why, skipped
