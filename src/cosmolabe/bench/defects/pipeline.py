"""Defects of what all models share (data, unrolling, judging), planted under the transformer."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cosmolabe.bench.defects.defect import Defect, swapped
from cosmolabe.bench.defects.telling import retold
from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import ALIVE, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.rollout import Prediction
from cosmolabe.core.seeds import generator
from cosmolabe.data.store import Store
from cosmolabe.judges.state import StateProtocol, scoring
from cosmolabe.metrics.position_l1 import distances
from cosmolabe.models import transformer
from cosmolabe.nets import descent, worlds
from cosmolabe.nets.batches import Batch
from cosmolabe.nets.imagination import Dreamt, Imagination, Likely


def globals_of_the_answer() -> Generator[None]:
    """Training rollouts are told the true globals of the frame they are to predict."""

    def told(dreamt: Dreamt, first: int) -> Dreamt:
        if dreamt.batch.terminal is None:  # a rollout has no later globals to be told
            return dreamt
        later = dreamt.batch.globals[:, first + 1 :][:, : dreamt.globals.shape[1]]
        return replace(dreamt, globals=later)

    with retold(told):
        yield


def motion_zeroed() -> Generator[None]:
    """Every imagined frame has velocity and history 0."""
    settle = Imagination.settle

    def resting(network: Imagination, dreamt: Dreamt, likely: Likely) -> tuple[Tensor, Tensor]:
        states, numbers = settle(network, dreamt, likely)
        states = states.clone()
        states[..., VX : VX + 2] = 0
        states[..., -NUM_HISTORY:] = 0
        return states, numbers

    with swapped(Imagination, "settle", resting):
        yield


def action_off_by_one() -> Generator[None]:
    """Training pairs each frame with the action that led to it, not the one that follows."""
    make = descent.training_batch

    def late(windows: Windows) -> Batch:
        batch = make(windows)
        actions = torch.cat([torch.zeros_like(batch.actions[:, :1]), batch.actions[:, :-1]], 1)
        return replace(batch, actions=actions)

    with swapped(descent, "training_batch", late):
        yield


def windows_cross_episodes() -> Generator[None]:
    """Episodes are one long tape: a window may hold the end of one and the start of another."""

    def batches(
        store: Store, split: str, length: int, batch_size: int, seed: int, start: int = 0
    ) -> Iterator[Windows]:
        members = _long_enough(store, split, length)
        ends = np.cumsum(store.lengths[members])
        batch = start
        while True:
            draws = generator("batch", seed, batch).integers(ends[-1], size=batch_size)
            place = np.searchsorted(ends, draws, side="right")
            left = np.minimum(ends[place] - draws, length)  # states before the episode is over
            last = store.lengths[members[place]] - length
            begun = np.minimum(draws - (ends[place] - store.lengths[members[place]]), last)
            before = store.windows(members[place], begun.astype(np.int64), length)
            following = members[(place + 1) % len(members)]
            after = store.windows(following, np.zeros(batch_size, np.int64), length)
            yield _joined(before, after, left)
            batch += 1

    with swapped(descent, "training_batches", batches):
        yield


def _long_enough(store: Store, split: str, length: int) -> np.ndarray:
    members = store.split(split)
    return members[store.lengths[members] >= length]


def _joined(before: Windows, after: Windows, left: np.ndarray) -> Windows:
    """The last `left` states of each window before, then the first of the one after."""
    pieces = {}
    for name in ("states", "globals", "actions", "terminal"):
        one, other = getattr(before, name).copy(), getattr(after, name)
        for row, keep in enumerate(left):
            if keep < one.shape[1]:
                one[row, :keep] = one[row, one.shape[1] - keep :].copy()
                one[row, keep:] = other[row, : one.shape[1] - keep]
        pieces[name] = one
    return replace(before, **pieces)


def first_frame_dropped() -> Generator[None]:
    """The frame a reset gives is never seen in training."""

    def batches(
        store: Store, split: str, length: int, batch_size: int, seed: int, start: int = 0
    ) -> Iterator[Windows]:
        members = _long_enough(store, split, length + 1)
        room = store.lengths[members] - length
        ends, batch = np.cumsum(room), start
        while True:
            draws = generator("batch", seed, batch).integers(ends[-1], size=batch_size)
            place = np.searchsorted(ends, draws, side="right")
            starts = 1 + draws - (ends[place] - room[place])
            yield store.windows(members[place], starts.astype(np.int64), length)
            batch += 1

    with swapped(descent, "training_batches", batches):
        yield


def nan_hidden() -> Generator[None]:
    """Unscored slots are multiplied by 0, so their NaN spreads; max(0, NaN) then says 0."""
    parts = scoring._parts

    def poisoned(
        windows: Windows, prediction: Prediction, slots: np.ndarray, protocol: StateProtocol
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, count, counts = parts(windows, prediction, slots, protocol)
        steps = prediction.states.shape[1]
        truth = windows.states[:, protocol.window : protocol.window + steps]
        gap = distances(truth[..., :2], prediction.states[..., :2], windows.masks.wrap)
        here = (truth[..., ALIVE] > 0.5) & slots[:, None]
        return (gap * here).sum(-1), count, counts

    def composite(
        position_l1: np.ndarray, alive_f1: np.ndarray, position: float, alive: float
    ) -> np.ndarray:
        return position * np.fmax(0.0, 1.0 - position_l1) + alive * alive_f1

    with swapped(scoring, "_parts", poisoned), swapped(scoring, "composite", composite):
        yield


def seed_unused() -> Generator[None]:
    """The weights come from whatever state the global generator is in."""

    def unseeded(
        name: str,
        build: Callable[[Manifest, str], Imagination],
        manifest: Manifest,
        size: str,
        seed: int,
    ) -> worlds.NetworkWorld:
        return worlds.NetworkWorld(name, build(manifest, size), manifest, size, seed)

    with swapped(transformer, "create_world", unseeded):
        yield


def loose_loading() -> Generator[None]:
    """What a checkpoint lacks stays as initialised, what it has too much is passed over."""
    load = nn.Module.load_state_dict

    def loosely(
        network: nn.Module,
        tensors: Mapping[str, Any],
        strict: bool = True,
        assign: bool = False,
    ) -> Any:  # noqa: ANN401 - as torch
        return load(network, tensors, strict=False, assign=assign)

    with (
        swapped(worlds, "check_tensors", lambda *_: None),
        swapped(nn.Module, "load_state_dict", loosely),
    ):
        yield


DEFECTS = (
    Defect(
        "globals-of-the-answer",
        "transformer",
        "Training rollouts are told the true globals of the frame to predict; rollouts are not.",
        "AutoWorldModel-Bench, globals of evaluation and training rollouts",
        contextmanager(globals_of_the_answer),
    ),
    Defect(
        "motion-zeroed",
        "transformer",
        "Velocity and history are 0 in every imagined frame, though training had them.",
        "AutoWorldModel-Bench, columns 3:5 and 19:23 of predicted frames",
        contextmanager(motion_zeroed),
        in_training=False,
    ),
    Defect(
        "action-off-by-one",
        "transformer",
        "Training pairs a frame with the action that led to it instead of the one that follows.",
        "galilai-group/stable-worldmodel#293; epignatelli/navix#152",
        contextmanager(action_off_by_one),
    ),
    Defect(
        "windows-cross-episodes",
        "transformer",
        "Training windows are cut from one long tape, across the ends of episodes.",
        "epignatelli/navix#152; om-ai-lab/OmTrackVLA#28 (history kept over a reset)",
        contextmanager(windows_cross_episodes),
    ),
    Defect(
        "first-frame-dropped",
        "transformer",
        "The frame after a reset is left out of the training data.",
        "galilai-group/stable-worldmodel#293",
        contextmanager(first_frame_dropped),
    ),
    Defect(
        "nan-hidden",
        "transformer",
        "NaN of a slot that is not scored spreads to the mean, and max(0, NaN) scores it 0.",
        "AutoWorldModel-Bench, `lib/evaluator.py`",
        contextmanager(nan_hidden),
        measured=False,
    ),
    Defect(
        "seed-unused",
        "transformer",
        "The config has a seed that nothing reads.",
        "AutoWorldModel-Bench, keys of its config",
        contextmanager(seed_unused),
        measured=False,
    ),
    Defect(
        "loose-loading",
        "transformer",
        "Checkpoints are loaded whatever their names: half-initialised models are scored.",
        "AutoWorldModel-Bench, `load_state_dict(strict=False)`",
        contextmanager(loose_loading),
        measured=False,
    ),
)
