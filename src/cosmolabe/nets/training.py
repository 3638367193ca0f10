"""Training of any learnt model: progress as it goes, resume to the byte.

This file needs no torch; `nets/descent.py` holds the gradient loop and is imported when a network
is trained. A model that is fitted in closed form offers `fit(store, config)` and `save(folder)`.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cosmolabe.core.record import Record, write_json
from cosmolabe.data.store import Store
from cosmolabe.nets.progress import OnEvaluate, OnProgress, Progress
from cosmolabe.nets.recipe import TrainConfig

RECORD = "record.json"


def training(
    model: Any,  # noqa: ANN401 - any model of `models/` that learns
    store: Store,
    config: TrainConfig,
    folder: Path,
    *,
    on_evaluate: OnEvaluate | None = None,
    resume: bool = False,
) -> Iterator[Progress]:
    """Train step by step; the last Progress is `finished`, or `interrupted` after Ctrl-C.

    The checkpoint in `folder` is written at the end, and after Ctrl-C, together with a state that
    `resume=True` goes on from.
    """
    if model.manifest != store.manifest:
        raise ValueError(
            f"the model is for '{model.manifest.game}' version {model.manifest.version}, the store "
            f"holds '{store.manifest.game}' version {store.manifest.version}"
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(
        folder / RECORD,
        Record(
            "train", config.seed, {"model": model.name, **asdict(config)}, "", store.fingerprint
        ),
    )
    if hasattr(model, "fit"):
        yield _fit(model, store, config, folder)
        return
    from cosmolabe.nets.descent import descend  # torch only where a network learns

    yield from descend(model, store, config, folder, on_evaluate, resume)


def _fit(model: Any, store: Store, config: TrainConfig, folder: Path) -> Progress:  # noqa: ANN401
    began = time.monotonic()
    loss = model.fit(store, config)
    model.save(folder, store.fingerprint, asdict(config))
    took = time.monotonic() - began
    return Progress(1, took, loss, {"total": loss}, 0.0, 1.0, 0.0, finished=True)


def train(
    model: Any,  # noqa: ANN401 - any model of `models/` that learns
    store: Store,
    config: TrainConfig,
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
    on_evaluate: OnEvaluate | None = None,
    resume: bool = False,
) -> Progress:
    """Train to the end and give the last Progress; the model holds what was learnt."""
    progress = None
    for progress in training(model, store, config, folder, on_evaluate=on_evaluate, resume=resume):
        if on_progress is not None:
            on_progress(progress)
    assert progress is not None
    return progress
