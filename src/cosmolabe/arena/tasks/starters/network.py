"""How this file is trained and loaded in a session.

`train.py` is run with a folder to work in, the data, a seed and a time limit; it has to leave
`weights.safetensors` in that folder. `MODEL.load` makes the model of such a folder again.
"""

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import read_json
from cosmolabe.data.store import Store, open_store
from cosmolabe.data.windows import training_batches
from cosmolabe.nets.batches import first_frames, training_batch
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.descent import SCALE_LENGTH, SCALE_WINDOWS, Descent
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.scales import measure
from cosmolabe.nets.schedule import share_of, unroll_at
from cosmolabe.nets.worlds import NetworkWorld

WEIGHTS = "weights.safetensors"
SPARE = 3.0  # seconds of the limit that training leaves for saving
TOLD_EVERY = 5.0  # seconds between lines of the log


def read_config(folder: Path) -> dict[str, Any]:
    """The config that stands beside train.py: `size`, and dials of `TrainConfig` as `recipe`."""
    return read_json(folder / "config.json")


def seconds_running() -> float:
    """How long this process has run: on a busy machine its imports alone take a while."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(ticks) / os.sysconf("SC_CLK_TCK")


def seconds_left(limit: float) -> float:
    """For training, of a limit that counts from the start of the process."""
    return limit - seconds_running() - SPARE


def in_time(recipe: TrainConfig, limit: float) -> TrainConfig:
    """The recipe; training by the clock ends before the limit (seconds) does."""
    if recipe.seconds is None:
        return recipe
    return replace(recipe, seconds=min(recipe.seconds, max(seconds_left(limit), 0.5)))


def learn(world: NetworkWorld, store: Store, recipe: TrainConfig, limit: float) -> None:
    """Train the world's network; it ends with the running mean of its weights."""
    windows = next(training_batches(store, recipe.split, SCALE_LENGTH, SCALE_WINDOWS, seed=0))
    world.network.set_scales(measure(windows))
    config = in_time(recipe, limit)
    descent = Descent(world, config)
    rows = config.rows_for(store.manifest.num_slots)
    batches = training_batches(store, config.split, config.length, rows, config.seed)
    world.network.train()
    by_clock, told, took = config.seconds is not None, 0.0, 0.0
    while share_of(config, descent.step, descent.seconds) < 1:
        if by_clock and seconds_left(limit) < took:  # the next step would not be done in time
            break
        began = time.monotonic()
        frames = config.seen + unroll_at(config, descent.step, descent.seconds)
        batch = first_frames(training_batch(next(batches)), frames)
        descent.losses.append(descent.learn(descent.noisy(batch)))
        descent.refuse_to_diverge()
        took = time.monotonic() - began
        descent.seconds += took
        if descent.seconds - told >= TOLD_EVERY:
            told = descent.seconds
            now = descent.progress()
            print(f"step {now.step}, {now.seconds:.0f} s: loss {now.loss:.4f}", flush=True)
    descent.put(descent.mean)
    now = descent.progress()
    print(f"{now.step} steps in {now.seconds:.1f} s, loss {now.loss:.4f}", flush=True)


def loaded(world: NetworkWorld, folder: Path) -> NetworkWorld:
    """The world with the weights of a folder in it."""
    tensors, own = read_tensors(folder / WEIGHTS), world.tensors()
    check_tensors(folder / WEIGHTS, tensors, own)
    for name, tensor in own.items():  # these share the network's memory
        tensor[...] = tensors[name]
    return world


def main(part: ModelPart, folder: Path, data: Path, seed: int, limit: float) -> None:
    """Train by the folder's config.json and leave the weights there."""
    config, store = read_config(folder), open_store(data)
    world = part.create(store.manifest, config["size"], seed)
    assert isinstance(world, NetworkWorld)
    learn(world, store, TrainConfig(**config["recipe"], seed=seed), limit)
    write_tensors(folder / WEIGHTS, world.tensors())
