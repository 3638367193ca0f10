"""The transformer's rollouts, scoring and training against the same layers without our wrapping."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import Row, versus
from cosmolabe.bench.bed import lay_out, play
from cosmolabe.core import parts
from cosmolabe.data.collect import collect
from cosmolabe.data.store import Store
from cosmolabe.data.windows import evaluation_windows, training_batches
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import training
from cosmolabe.nets.worlds import NetworkWorld

HORIZON, UNROLL, STEPS = 20, 8, 8


def rows() -> Iterator[Row]:
    """KV cache, cost of scoring, training speed and the loader's share, on two games."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as room:
        for game in ("pong", "breakout"):
            store = collect(game, Path(room) / game, 300, max_ticks=600)
            model = parts.load("models", "transformer").create(store.manifest, "laptop", 0)
            config = TrainConfig(steps=40, unroll=UNROLL, seed=0)  # trained enough to move things
            for _ in training(model, store, config, Path(room) / f"{game}-first"):
                pass
            yield from _cache(game, model, store)
            yield from _scoring(game, model, store)
            yield from _training(game, store, Path(room) / f"{game}-model")


def _cache(game: str, model: NetworkWorld, store: Store) -> Iterator[Row]:
    episodes, starts, _ = evaluation_windows(store, "train", 8 + HORIZON, 16)
    context = store.windows(episodes, starts, 8 + HORIZON).context(8)
    with_cache, without = (model.rollout(context, cached=cached) for cached in (True, False))
    gap = np.abs(with_cache.states - without.states).max()

    def rolling(cached: bool) -> Callable[[], int]:
        def run() -> int:
            model.rollout(context, cached=cached)
            return len(context)

        return run

    peers = {"the same without a KV cache": rolling(False)}
    note = f"largest difference of the predicted states {gap:.1e}"
    name = f"transformer rollouts of {HORIZON} frames, {game}"
    yield from versus(name, "rollouts/s", rolling(True), peers, target=4.0, rounds=3, note=note)


def _scoring(game: str, model: NetworkWorld, store: Store) -> Iterator[Row]:
    bed = lay_out(store, "train", num_episodes=128, per_episode=1)
    context = bed.windows.context(8)

    def judged() -> int:
        play(model, bed.windows, bed.protocol)
        return len(bed.windows)

    def imagined() -> int:
        model.rollout(context)
        return len(bed.windows)

    name = f"windows imagined and scored, {game}"
    peers = {"the model's own rollout": imagined}
    yield from versus(name, "windows/s", judged, peers, target=1 / 1.1, rounds=5)


def _training(game: str, store: Store, folder: Path) -> Iterator[Row]:
    config = TrainConfig(steps=100_000, batch_size=32, unroll=UNROLL, first_unroll=UNROLL)
    part = parts.load("models", "transformer")
    steps = training(part.create(store.manifest, "laptop", 0), store, config, folder)
    waiting = []

    def ours() -> int:
        for _ in range(STEPS):
            waiting.append(next(steps).waiting)
        return STEPS

    batch = training_batch(next(training_batches(store, "train", config.length, 32, seed=0)))
    network = part.create(store.manifest, "laptop", 0).network
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)

    def bare() -> int:
        for _ in range(STEPS):
            optimizer.zero_grad(set_to_none=True)
            network.loss(batch, config.seen)["total"].backward()
            optimizer.step()
        return STEPS

    peers = {"bare loop over one batch in memory": bare}
    name = f"training steps, {game}, transformer laptop"
    yield from versus(name, "steps/s", ours, peers, target=0.9, rounds=3)
    share = max(waiting[-1], 1e-9)
    yield Row(
        f"share of training spent waiting for data, {game}", share, 0.02, "2 %", 0.02 / share,
        "share", 1.0,
    )  # fmt: skip
