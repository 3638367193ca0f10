"""A network as a world model: contexts in by chunks of one size, predictions out, checkpoints."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.nets.batches import Batch, context_batch, moving_slots
from cosmolabe.nets.checkpoints import (
    check_tensors,
    config_of,
    read_checkpoint,
    write_checkpoint,
)
from cosmolabe.nets.features import predicted_columns
from cosmolabe.nets.imagination import Imagination

CHUNK = 64
"""Rows of every forward pass of a rollout; fewer are filled up, so that neither how many windows
come nor in which company changes a number."""


class NetworkWorld:
    """A world model that is a network for one game."""

    def __init__(
        self,
        name: str,
        network: Imagination,
        manifest: Manifest,
        size: str,
        seed: int,
        steps: int = 0,
    ) -> None:
        self.name, self.network, self.manifest = name, network, manifest
        self.size, self.seed, self.steps = size, seed, steps

    def rollout(self, context: Context, seed: int = 0, cached: bool = True) -> Prediction:
        """Imagine the steps after the context. `cached=False` is for comparison: same, slower."""
        self._check(context)
        horizon = context.horizon
        last = np.nan_to_num(predicted_columns(context.states[:, -1:]))
        states = np.repeat(last, horizon, axis=1)
        numbers = np.zeros((len(context), horizon, context.globals.shape[-1]), np.float32)
        terminal = np.zeros((len(context), horizon), np.float32)
        self.network.eval()
        for rows in rows_of_one_layout(context):
            for start in range(0, len(rows), CHUNK):
                chosen = rows[start : start + CHUNK]
                filled = np.concatenate([chosen, np.repeat(chosen[:1], CHUNK - len(chosen))])
                part = context.take(filled)
                moving, _ = moving_slots(part)
                self.network.shuffle(seed)
                found = self._imagine(context_batch(part), context.window, horizon, cached)
                imagined, numbers_, terminal_ = (a[: len(chosen)] for a in found)
                states[chosen[:, None, None], np.arange(horizon)[:, None], moving] = imagined
                numbers[chosen], terminal[chosen] = numbers_, terminal_
        return Prediction(states=states, globals=numbers, terminal=terminal)

    @torch.inference_mode()
    def _imagine(
        self, batch: Batch, window: int, horizon: int, cached: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        story = self.network.unroll(batch, window, horizon, cached)
        rows = [predicted_columns(state[:, 0]) for _, state, _ in story]
        for row, (likely, _, _) in zip(rows, story, strict=True):
            row[..., ALIVE] = likely.alive[:, -1].sigmoid()
        numbers = torch.stack([number[:, 0] for _, _, number in story], 1)
        terminal = torch.stack([likely.terminal[:, -1] for likely, _, _ in story], 1)
        return torch.stack(rows, 1).numpy(), numbers.numpy(), terminal.numpy()

    def _check(self, context: Context) -> None:
        profile = self.manifest.profile
        got = (
            context.registry.shape[-1],
            context.states.shape[-1],
            context.globals.shape[-1],
            context.actions.shape[-1],
        )
        want = (
            profile.num_registry,
            profile.num_state,
            len(profile.global_fields),
            len(profile.action_fields),
        )
        if got != want:
            raise ValueError(
                f"'{self.name}' for '{self.manifest.game}' takes registry, state, global and "
                f"action rows {want} wide; got {got}"
            )
        if context.window < 1 or context.horizon < 1:
            raise ValueError(
                f"a rollout needs at least one context state and one step to predict; got "
                f"{context.window} and {context.horizon}"
            )

    def tensors(self) -> dict[str, np.ndarray]:
        """Weights and scales by name."""
        return {k: v.detach().numpy() for k, v in self.network.state_dict().items()}

    def save(self, folder: Path, data: str = "", recipe: dict | None = None) -> None:
        """Write a checkpoint folder."""
        config = config_of(self, self.network.window, data, recipe)
        write_checkpoint(Path(folder), config, self.tensors())


def rows_of_one_layout(context: Context) -> list[np.ndarray]:
    """Row numbers of the batch, grouped by which slots are valid and mutable."""
    masks = context.masks
    if masks.valid.ndim == 1 and masks.mutable.ndim == 1:
        return [np.arange(len(context))]
    both = np.concatenate(np.broadcast_arrays(masks.valid, masks.mutable), -1)
    _, group = np.unique(both, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == g) for g in range(group.max() + 1)]


def create_world(
    name: str,
    build: Callable[[Manifest, str], Imagination],
    manifest: Manifest,
    size: str,
    seed: int,
) -> NetworkWorld:
    """An untrained world whose weights follow from the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build(manifest, size)
    return NetworkWorld(name, network, manifest, size, seed)


def load_world(
    name: str, build: Callable[[Manifest, str], Imagination], folder: Path, manifest: Manifest
) -> NetworkWorld:
    """The world of a checkpoint folder."""
    config, tensors = read_checkpoint(Path(folder), name, manifest)
    world = create_world(name, build, manifest, config.size, config.seed)
    world.steps = config.steps
    check_tensors(Path(folder), tensors, world.tensors())
    world.network.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in tensors.items()})
    if config.window != world.network.window:
        raise ValueError(
            f"{folder}: trained with a window of {config.window} frames, this version has "
            f"{world.network.window}; train again"
        )
    return world
