"""Transformer over entity-frames: every entity of every frame is a token, the future is unseen.

The base model `transformer` in one file: yours to change, all of it. It is
cosmolabe's own source, so that training it unchanged gives the package's numbers.
Read it from the end: `main` is called first.
"""

import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from safetensors import SafetensorError
from safetensors.numpy import load as numpy_load
from safetensors.numpy import save
from torch import Tensor, nn
from torch.nn import functional as F

from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import ALIVE, CONTROLLABLE, FIELDS_START, NUM_HISTORY, VX
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import read_json, written_whole
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.store import Store, open_store
from cosmolabe.data.windows import training_batches

# ==================================================================================================
# nets/features: The next state row from what a model predicted: one rebuild for every model.


MARGIN = 0.05
"""How far beyond the world's edge a predicted entity may stand, shares of the world (our choice):
balls and rocks leave the screen by their radius before they are gone."""


def library(array: Any) -> Any:  # noqa: ANN401 - numpy or torch, whichever the array is of
    """The module an array belongs to, `numpy` or `torch`."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def wrapped(
    delta: Float[Any, "*shape 2"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*shape 2"]:
    """The shortest way on axes that wrap, -0.5..0.5 there."""
    xp = library(delta)
    return xp.where(wrap, delta - xp.floor(delta + 0.5), delta)


def place(
    positions: Float[Any, "*shape 2"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*shape 2"]:
    """Positions inside the world: modulo 1 on axes that wrap, else clamped with `MARGIN`."""
    xp = library(positions)
    inside = xp.clip(positions, -MARGIN, 1 + MARGIN)
    return xp.where(wrap, positions - xp.floor(positions), inside)


def predicted_columns(states: Float[Any, "*shape state"]) -> Float[Any, "*shape predicted"]:
    """The columns x, y, alive and game fields of state rows."""
    xp = library(states)
    fields = states[..., FIELDS_START:-NUM_HISTORY]
    return xp.concatenate([states[..., : ALIVE + 1], fields], axis=-1)


def next_state(
    last: Float[Any, "*batch slot state"],
    predicted: Float[Any, "*batch slot predicted"],
    mutable: Bool[Any, "*batches slot"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*batch slot state"]:
    """The state row that a predicted row makes after `last`.

    Alive is thresholded at 0.5. A delta is 0 where the entity is dead at either end, so that being
    born is no motion; the new velocity is the new delta. The second delta of `last` is forgotten,
    the first becomes the second. Immutable slots keep x, y, alive and fields and rest.
    """
    xp = library(last)
    kept = predicted_columns(last)
    predicted = xp.where(mutable[..., None], predicted, kept)
    positions = xp.where(mutable[..., None], place(predicted[..., :2], wrap), last[..., :2])
    alive = predicted[..., ALIVE : ALIVE + 1] > 0.5
    moved = alive & (last[..., ALIVE : ALIVE + 1] > 0.5)
    delta = wrapped(positions - last[..., :2], wrap)
    delta = xp.where(moved, delta, xp.zeros_like(delta))
    older = last[..., -NUM_HISTORY : 2 - NUM_HISTORY]
    alive = xp.where(alive, xp.ones_like(delta[..., :1]), xp.zeros_like(delta[..., :1]))
    return xp.concatenate(
        [positions, alive, delta, predicted[..., ALIVE + 1 :], delta, older], axis=-1
    )


# ==================================================================================================
# nets/scales:
# Typical sizes of a game's numbers, measured once on training windows and kept in the model.


@dataclass(frozen=True)
class Scales:
    """What a network divides by on its way in and multiplies with on its way out."""

    speed: Float[np.ndarray, "2"]
    """Mean size of a displacement that is not zero, per axis, shares of the world per tick."""
    reach: Float[np.ndarray, ""]
    """Mean of |dx| + |dy| over ten ticks of living mutable slots: the error of standing still."""
    field_mean: Float[np.ndarray, " field"]
    field_scale: Float[np.ndarray, " field"]
    field_whole: Bool[np.ndarray, " field"]
    """Fields that only ever hold whole numbers: rollouts round them."""
    global_mean: Float[np.ndarray, " global"]
    global_scale: Float[np.ndarray, " global"]
    global_step: Float[np.ndarray, " global"]
    """Mean size of a change from one tick to the next that is not zero."""
    global_whole: Bool[np.ndarray, " global"]


def measure(windows: Windows) -> Scales:
    """The scales of a batch of windows; what never changes has scale 1."""
    masks, states = windows.masks, windows.states
    chosen = masks.mutable & masks.valid
    alive = (states[..., ALIVE] > 0.5) & np.broadcast_to(
        chosen if chosen.ndim == 1 else chosen[:, None], states.shape[:3]
    )
    steps_taken = states[..., -NUM_HISTORY : 2 - NUM_HISTORY][alive]
    lag = min(10, states.shape[1] - 1)
    far = wrapped(states[:, lag:, :, :2] - states[:, :-lag, :, :2], masks.wrap)
    far = np.abs(far[alive[:, lag:] & alive[:, :-lag]]).sum(-1)
    fields = states[..., FIELDS_START:-NUM_HISTORY][alive]
    numbers = np.nan_to_num(windows.globals)
    steps = np.diff(numbers, axis=1).reshape(-1, numbers.shape[-1])
    numbers = numbers.reshape(-1, numbers.shape[-1])
    return Scales(
        speed=_mean_size(steps_taken, 0.01),
        reach=np.asarray(max(far.mean() if len(far) else 0, 1e-3), np.float32),
        field_mean=_mean(fields),
        field_scale=_spread(fields),
        field_whole=np.all(fields == np.round(fields), axis=0),
        global_mean=_mean(numbers),
        global_scale=_spread(numbers),
        global_step=_mean_size(steps, 1.0),
        global_whole=np.all(numbers == np.round(numbers), axis=0),
    )


def unmeasured(num_fields: int, num_globals: int) -> Scales:
    """Scales of an untrained model: all 1, nothing rounded."""
    field, number = np.ones(num_fields, np.float32), np.ones(num_globals, np.float32)
    return Scales(
        speed=np.full(2, 0.01, np.float32),
        reach=np.asarray(0.1, np.float32),
        field_mean=field * 0,
        field_scale=field,
        field_whole=np.zeros(num_fields, bool),
        global_mean=number * 0,
        global_scale=number,
        global_step=number,
        global_whole=np.zeros(num_globals, bool),
    )


def _mean(rows: np.ndarray) -> np.ndarray:
    return rows.mean(0, dtype=np.float64).astype(np.float32) if len(rows) else rows.sum(0)


def _spread(rows: np.ndarray) -> np.ndarray:
    if not len(rows):
        return np.ones(rows.shape[1], np.float32)
    spread = rows.std(0, dtype=np.float64).astype(np.float32)
    return np.where(spread > 1e-4, spread, 1).astype(np.float32)


def _mean_size(rows: np.ndarray, otherwise: float) -> np.ndarray:
    size, moves = np.abs(rows).astype(np.float64), np.abs(rows) > 1e-6
    mean = (size * moves).sum(0) / np.maximum(moves.sum(0), 1)
    return np.where(moves.any(0), mean, otherwise).astype(np.float32)


# ==================================================================================================
# nets/batches:
# Windows and contexts as torch tensors that hold only the slots a network has to think about.


@dataclass(frozen=True)
class Batch:
    """Moving slots (valid and mutable) over time and scenery (valid, immutable) once.

    Invalid slots are left out, so what they hold cannot matter. Scenery is taken from one state:
    the last of a context, the first of a training window.
    """

    registry: Float[Tensor, "batch moving registry"]
    states: Float[Tensor, "batch time moving state"]
    scenery_registry: Float[Tensor, "batch scenery registry"]
    scenery: Float[Tensor, "batch scenery state"]
    globals: Float[Tensor, "batch time global"]
    actions: Float[Tensor, "batch action_time action"]
    wrap: Bool[Tensor, "2"]
    terminal: Bool[Tensor, "batch time"] | None = None
    """Only in training."""

    def __len__(self) -> int:
        return len(self.states)


def moving_slots(source: Windows | Context) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the moving slots and of the scenery; masks must be alike in all rows."""
    valid, mutable = source.masks.valid, source.masks.mutable
    if valid.ndim > 1 or mutable.ndim > 1:
        rows = np.broadcast_to(
            np.stack(np.broadcast_arrays(valid, mutable), -1), valid.shape + (2,)
        )
        if not (rows == rows[:1]).all():
            raise ValueError(
                "these rows have different valid or mutable slots; batch windows of one layout"
            )
        valid, mutable = rows[0, :, 0], rows[0, :, 1]
    valid, mutable = valid.astype(bool), mutable.astype(bool)
    return np.flatnonzero(valid & mutable), np.flatnonzero(valid & ~mutable)


def training_batch(windows: Windows) -> Batch:
    """A batch to learn from; scenery from the first state, so that nothing later leaks."""
    return _batch(windows, windows.terminal, scenery_at=0)


def context_batch(context: Context) -> Batch:
    """A batch to roll out from."""
    return _batch(context, None, scenery_at=-1)


def first_frames(batch: Batch, frames: int) -> Batch:
    """The batch cut to its first frames."""
    assert batch.terminal is not None
    return replace(
        batch,
        states=batch.states[:, :frames],
        globals=batch.globals[:, :frames],
        actions=batch.actions[:, :frames],
        terminal=batch.terminal[:, :frames],
    )


def _batch(source: Windows | Context, terminal: np.ndarray | None, scenery_at: int) -> Batch:
    moving, scenery = moving_slots(source)

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.nan_to_num(np.ascontiguousarray(array, np.float32)))

    return Batch(
        registry=tensor(source.registry[:, moving]),
        states=tensor(source.states[:, :, moving]),
        scenery_registry=tensor(source.registry[:, scenery]),
        scenery=tensor(source.states[:, scenery_at, scenery]),
        globals=tensor(source.globals),
        actions=tensor(source.actions),
        wrap=torch.from_numpy(np.asarray(source.masks.wrap)),
        terminal=None if terminal is None else torch.from_numpy(np.asarray(terminal)),
    )


# ==================================================================================================
# nets/imagination:
# Unrolls a network over its own predictions: the same lines in training and in a rollout.


@dataclass(frozen=True)
class Dreamt:
    """Frames a network looks at, true or imagined, with the action taken in each."""

    batch: Batch
    states: Float[Tensor, "batch time moving state"]
    globals: Float[Tensor, "batch time global"]
    actions: Float[Tensor, "batch time action"]
    imagined: int = 0
    """How many of the frames, at the end, the network imagined itself."""


@dataclass(frozen=True)
class Likely:
    """What a network says about the frame after each one it saw."""

    positions: Float[Tensor, "batch time moving 2"]
    alive: Float[Tensor, "batch time moving"]
    """Logit."""
    fields: Float[Tensor, "batch time moving field"]
    globals: Float[Tensor, "batch time global"]
    terminal: Float[Tensor, "batch time"]
    """Logit."""

    def last(self) -> "Likely":
        """Only what is said about the frame after the last."""
        return type(self)(**{f.name: getattr(self, f.name)[:, -1:] for f in fields(self)})


Story = list[tuple[Likely, Tensor, Tensor]]
"""Of each imagined step: what was likely, the state (batch, 1, moving, state), the globals."""


@dataclass(frozen=True)
class Weights:
    """Parts of the loss; positions count 1 (our choice, near the composite's 9 : 1)."""

    alive: float = 0.3
    fields: float = 0.1
    globals: float = 0.05
    terminal: float = 0.05


class Imagination(nn.Module):
    """What every network here can do once it can say what is `likely`."""

    window: int
    """Frames a network looks back, its own included."""
    weights = Weights()
    player_share = 0.0
    """Share of the loss on positions that is the controllable entities' alone.

    Where one of many moves by the actions, a mean over all hardly asks what the actions do.
    """
    field_used: Tensor
    field_turns: Tensor
    field_whole: Tensor
    field_scale: Tensor
    field_mean: Tensor
    global_used: Tensor
    global_whole: Tensor
    global_scale: Tensor
    global_mean: Tensor
    global_step: Tensor
    reach: Tensor
    speed: Tensor

    def __init__(self, manifest: Manifest) -> None:
        """Room for the game's scales and masks, saved with the weights."""
        super().__init__()
        masks = manifest.masks()
        self.register_buffer("field_used", torch.from_numpy(masks.fields))
        self.register_buffer("global_used", torch.from_numpy(masks.globals))
        rotation = [name == "rotation" for name in manifest.profile.game_fields]
        self.register_buffer("field_turns", torch.tensor(rotation))
        scales = unmeasured(len(masks.fields), len(masks.globals))
        for field in fields(Scales):
            value = getattr(scales, field.name)
            self.register_buffer(field.name, torch.as_tensor(value).clone())

    def likely(self, dreamt: Dreamt, memory: Any) -> tuple[Likely, Any]:  # noqa: ANN401
        """What is likely after each frame, and the next memory; a memory of None begins a story."""
        raise NotImplementedError

    def shuffle(self, seed: int) -> None:
        """Set what is random in the next story or loss; one without luck has nothing to set.

        What a network draws in a rollout is the same for every row of a batch, so that neither
        the order of rows nor their company changes a number.
        """

    def set_scales(self, scales: Scales) -> None:
        """Take over the scales measured on training windows."""
        for field in fields(Scales):
            getattr(self, field.name).copy_(torch.as_tensor(getattr(scales, field.name)))

    def settle(self, dreamt: Dreamt, likely: Likely) -> tuple[Tensor, Tensor]:
        """The next state and globals: whole numbers rounded (with straight gradients)."""
        states = dreamt.states[:, -1:]
        values = straight_round(likely.fields, self.field_whole)
        values = torch.where(self.field_turns, values - values.detach().floor(), values)
        values = torch.where(self.field_used, values, 0.0)
        alive = (likely.alive > 0).to(values.dtype)[..., None]
        predicted = torch.cat([likely.positions, alive, values], -1)
        everyone = torch.ones_like(states[..., 0], dtype=torch.bool)
        following = next_state(states, predicted, everyone, dreamt.batch.wrap)
        numbers = straight_round(likely.globals, self.global_whole)
        return following, torch.where(self.global_used, numbers, 0.0)

    def unroll(self, batch: Batch, seen: int, steps: int, cached: bool = True) -> Story:
        """Look at `seen` true frames, then imagine.

        The first entry's Likely speaks about every frame after a seen one, the others about one
        frame. Without `cached` every step looks at the whole story again; only for comparison.
        """
        dreamt = Dreamt(
            batch, batch.states[:, :seen], batch.globals[:, :seen], batch.actions[:, :seen]
        )
        story, memory = [], None
        for step in range(steps):
            likely, memory = self.likely(dreamt, memory)
            last = likely.last()
            states, numbers = self.settle(dreamt, last)
            story.append((likely if step == 0 else last, states, numbers))
            action = batch.actions[:, seen + step : seen + step + 1]
            if cached:
                dreamt = Dreamt(batch, states, numbers, action, imagined=1)
            else:
                memory = None
                dreamt = Dreamt(
                    batch,
                    torch.cat([dreamt.states, states], 1),
                    torch.cat([dreamt.globals, numbers], 1),
                    torch.cat([dreamt.actions, action], 1),
                    imagined=step + 1,
                )
        return story

    def miss(
        self, likely: Likely, truth: Float[Tensor, "batch time moving 2"], batch: Batch
    ) -> Float[Tensor, "batch time moving"]:
        """How far each entity's next position is from the truth, |dx| + |dy|."""
        return wrapped(likely.positions - truth, batch.wrap).abs().sum(-1)

    def loss(self, batch: Batch, seen: int) -> dict[str, Tensor]:
        """Parts of the loss, `total` among them, over all frames after the first of a window."""
        story = self.unroll(batch, seen, batch.states.shape[1] - seen)
        likely = joined([step[0] for step in story])
        before = torch.cat([batch.globals[:, :seen], *(told for _, _, told in story[:-1])], 1)
        return self.errors(batch, likely, before)

    def errors(self, batch: Batch, likely: Likely, before: Tensor) -> dict[str, Tensor]:
        """Parts of the loss of what was likely after each frame but the last of a window.

        `before` holds the globals it was said from.
        """
        assert batch.terminal is not None, "only training windows say when an episode was over"
        truth, numbers = batch.states[:, 1:], batch.globals[:, 1:]
        alive = truth[..., ALIVE]
        share = shares(alive)
        gap = self.miss(likely, truth[..., :2], batch)
        off = likely.fields - truth[..., FIELDS_START:-NUM_HISTORY]
        off = torch.where(self.field_turns, off - off.detach().round(), off).abs()
        off = (off / self.field_scale * self.field_used).sum(-1)
        drift = self.drift(likely.globals, before, numbers)
        parts = {
            "positions": (gap * self.concern(batch, alive)).sum(-1).mean() / self.reach,
            "alive": F.binary_cross_entropy_with_logits(likely.alive, alive),
            "fields": (off * share).sum(-1).mean(),
            "globals": (drift * self.global_used).sum(-1).mean() / self.global_used.sum(),
            "terminal": F.binary_cross_entropy_with_logits(
                likely.terminal, batch.terminal[:, 1:].to(gap.dtype)
            ),
        }
        w = self.weights
        parts["total"] = parts["positions"] + sum(
            getattr(w, f.name) * parts[f.name] for f in fields(w)
        )
        return parts

    def concern(self, batch: Batch, alive: Tensor) -> Tensor:
        """Share of each living entity in the loss on positions; sums to 1 over the entities."""
        acting = shares(alive * batch.registry[:, None, :, CONTROLLABLE])
        return (1 - self.player_share) * shares(alive) + self.player_share * acting

    def drift(self, said: Tensor, before: Tensor, truth: Tensor) -> Tensor:
        """How far off each global is, in steps of its usual size."""
        return ((said - truth) / self.global_step).abs().clamp(max=10)


def shares(chosen: Float[Tensor, "*batch moving"]) -> Float[Tensor, "*batch moving"]:
    """An equal share for each of the chosen (1, others 0); none where nobody is chosen."""
    return chosen / chosen.sum(-1, keepdim=True).clamp(min=1)


def joined(parts: list[Likely]) -> Likely:
    """What was said step by step as one, over time."""
    kind = type(parts[0])
    return kind(
        **{f.name: torch.cat([getattr(part, f.name) for part in parts], 1) for f in fields(kind)}
    )


def straight_round(
    values: Float[Tensor, "*shape field"],
    whole: Bool[Tensor, " field"],
) -> Float[Tensor, "*shape field"]:
    """Rounded where `whole`; the gradient passes as if it were not."""
    return torch.where(whole, values + (values.round() - values).detach(), values)


# ==================================================================================================
# nets/worlds:
# A network as a world model: contexts in by chunks of one size, predictions out, checkpoints.


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


# ==================================================================================================
# nets/residual:
# How a network's heads are read: as changes of a constant velocity, of fields and of globals.


QUIET = 0.05  # corrections of motion below this are none, shares of the velocity or mean speed
MOTION = 8  # heads before the fields: gain 2, push 2, spot 2, jump, alive


def read_heads(network: Imagination, dreamt: Dreamt, entity: Tensor, frame: Tensor) -> Likely:
    """The heads' outputs, entities' (MOTION + fields) and frames' (globals + 1), as likelihoods."""
    states, num_fields = dreamt.states, entity.shape[-1] - MOTION
    gain, push, spot, jump, alive, fields = entity.split([2, 2, 2, 1, 1, num_fields], -1)
    gain, push = quiet(gain), quiet(push)
    was_alive = states[..., ALIVE : ALIVE + 1] > 0.5
    moved = states[..., :2] + states[..., VX : VX + 2] * (1 + gain) + push * network.speed
    # 8: a gate that leaks 2 % a frame would pull every brick towards the middle of the screen
    leap = (10 * jump - torch.where(was_alive, 8.0, 0.0)).sigmoid()
    return Likely(
        positions=moved + leap * (spot + 0.5 - moved),
        alive=10 * alive[..., 0] + torch.where(was_alive[..., 0], 4.0, -4.0),
        fields=states[..., FIELDS_START:-NUM_HISTORY] + fields * network.field_scale,
        globals=dreamt.globals + frame[..., :-1] * network.global_step,
        terminal=10 * frame[..., -1] - 6,
    )


def quiet(values: Tensor) -> Tensor:
    """Exactly zero below `QUIET`, less by it above; the gradient passes as if it were not."""
    return values + (F.softshrink(values, QUIET) - values).detach()


# ==================================================================================================
# models/transformer:
# Transformer over entity-frames: every entity of every frame is a token, the future is unseen.


WINDOW = 8  # frames a token sees, its own included
WAVES = (1, 2, 4, 8)  # waves per world of the position features
FAR = -1e9  # attention score of what must not be seen

KeysValues = tuple[Tensor, Tensor]
"""Keys and values, (batch, time, token, head, channel)."""


@dataclass(frozen=True)
class Memory:
    """What later frames of a rollout need of earlier ones."""

    registry: Float[Tensor, "batch 1 moving width"]
    """What each moving slot is, as a part of its tokens."""
    scenery: tuple[KeysValues, ...]
    """Per layer, (batch, scenery, head, channel); the same in every frame."""
    past: tuple[KeysValues | None, ...]
    """Per layer, at most the last W - 1 frames."""


@dataclass(frozen=True)
class Size:
    """How big the network is."""

    width: int
    layers: int
    heads: int
    expansion: int
    """Width of the hidden layer of a block's perceptron, in widths."""


SIZES = {
    "laptop": Size(width=64, layers=2, heads=4, expansion=2),
    # Width and layers as in AutoWorldModel-Bench; heads and expansion are our choice.
    "paper": Size(width=256, layers=3, heads=8, expansion=4),
}


class Block(nn.Module):
    """Attention over own frame, scenery and own past, then a perceptron on each token."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, self.heads = size.width, size.heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.lag_bias = nn.Parameter(torch.zeros(size.heads, WINDOW))
        self.reach = nn.Parameter(torch.linspace(0, 6, size.heads))  # how much distance costs
        self.before_perceptron = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, size.expansion * width),
            nn.GELU(),
            nn.Linear(size.expansion * width, width),
        )

    def split(self, tokens: Tensor) -> Tensor:
        """Queries, keys and values (3, batch, ..., head, channel)."""
        both = self.query_key_value(self.before_attention(tokens))
        return both.unflatten(-1, (3, self.heads, -1)).movedim(-3, 0)

    def scenery(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scenery attends nothing; gives its keys, values and its next tokens."""
        _, keys, values = self.split(tokens)
        return keys, values, tokens + self.perceptron(self.before_perceptron(tokens))

    def forward(
        self,
        tokens: Float[Tensor, "batch time token width"],
        scenery: KeysValues,
        distance: Float[Tensor, "batch time token seen"],
        hidden: Float[Tensor, "batch time token seen"],
        past: KeysValues | None,
    ) -> tuple[Tensor, KeysValues]:
        """The next tokens, and the keys and values of all frames that later ones may see."""
        query, key, value = self.split(tokens)
        query = query * query.shape[-1] ** -0.5
        all_keys = key if past is None else torch.cat([past[0], key], 1)
        all_values = value if past is None else torch.cat([past[1], value], 1)
        here_keys = self.with_scenery(key, scenery[0])
        here_values = self.with_scenery(value, scenery[1])

        here = torch.einsum("btihc,btjhc->btihj", query, here_keys)
        cost = F.softplus(self.reach)[:, None]
        here = here - distance[:, :, :, None] * cost + hidden[:, :, :, None]
        back = (query[:, :, None] * all_keys[:, None]).sum(-1)  # as a matmul these are too small
        back = back + self.banded(query.shape[1], all_keys.shape[1])[:, :, None]

        weights = torch.cat([here, back.movedim(2, -1)], -1).softmax(-1)
        here, back = weights.split([here.shape[-1], back.shape[2]], -1)
        seen = torch.einsum("btihj,btjhc->btihc", here, here_values)
        back = back.movedim(-1, 2)[..., None]
        seen = seen + (back * all_values[:, None]).sum(2)
        tokens = tokens + self.mix(seen.flatten(-2))
        tokens = tokens + self.perceptron(self.before_perceptron(tokens))
        return tokens, (all_keys[:, 1 - WINDOW :], all_values[:, 1 - WINDOW :])

    @staticmethod
    def with_scenery(mine: Tensor, scenery: Tensor) -> Tensor:
        """Tokens of the frame, then the scenery, which is the same in every frame."""
        shared = scenery[:, None].expand(-1, mine.shape[1], -1, -1, -1)
        return torch.cat([mine, shared], 2)

    def banded(self, queries: int, keys: int) -> Float[Tensor, "query key head"]:
        """Bias of a token's own past: lags 1 .. W - 1 are seen, all else is not."""
        now = torch.arange(keys - queries, keys)
        lag = now[:, None] - torch.arange(keys)
        bias = self.lag_bias[:, lag.clamp(0, WINDOW - 1)].movedim(0, -1)
        seen = (lag >= 1) & (lag < WINDOW)
        return torch.where(seen[..., None], bias, FAR)


class Transformer(Imagination):
    """The network: sees frames, says what is likely in the next one."""

    window = WINDOW

    def __init__(self, manifest: Manifest, size: str) -> None:
        super().__init__(manifest)
        if size not in SIZES:
            raise ValueError(f"the transformer has no size '{size}'; have {list(SIZES)}")
        shape, profile = SIZES[size], manifest.profile
        self.num_fields, self.num_globals = len(profile.game_fields), len(profile.global_fields)
        num_state = 3 + 4 * len(WAVES) + 6 + 3 * self.num_fields
        width = shape.width
        self.state_in = nn.Linear(num_state, width)
        self.registry_in = nn.Linear(profile.num_registry, width, bias=False)
        self.frame_in = nn.Linear(len(profile.action_fields) + self.num_globals, width)
        self.frame_token = nn.Linear(len(profile.action_fields) + self.num_globals, width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.last_norm = nn.LayerNorm(width)
        self.entity_out = nn.Linear(width, MOTION + self.num_fields)
        self.frame_out = nn.Linear(width, self.num_globals + 1)
        for head in (self.entity_out, self.frame_out):
            nn.init.normal_(head.weight, std=0.002)
            nn.init.zeros_(head.bias)

    def describe(self, states: Tensor) -> Tensor:
        """Tokens of entities (batch, ..., width) before registry, time and action are added."""
        alive = states[..., ALIVE : ALIVE + 1]
        place = states[..., :2]
        waves = torch.cat([place * (2 * torch.pi * k) for k in WAVES], -1)
        moves = torch.cat([states[..., VX : VX + 2], states[..., -NUM_HISTORY:]], -1)
        moves = (moves / self.speed.repeat(3)).clamp(-8, 8)
        fields = states[..., FIELDS_START:-NUM_HISTORY]
        quarters = fields * (torch.pi / 2)  # tells directions and other small numbers apart
        fields = (fields - self.field_mean) / self.field_scale
        fields = torch.cat([fields, quarters.sin(), quarters.cos()], -1)
        features = [2 * place - 1, alive, waves.sin(), waves.cos(), moves]
        return self.state_in(torch.cat([*features, fields], -1))

    def begin(self, batch: Batch) -> Memory:
        """The memory before the first frame: registry and scenery, which never change."""
        tokens = self.describe(batch.scenery) + self.registry_in(batch.scenery_registry)
        scenery = []
        for block in self.blocks:
            assert isinstance(block, Block)
            keys, values, tokens = block.scenery(tokens)
            scenery.append((keys, values))
        return Memory(
            registry=self.registry_in(batch.registry)[:, None],
            scenery=tuple(scenery),
            past=(None,) * len(self.blocks),
        )

    def likely(self, dreamt: Dreamt, memory: Memory | None) -> tuple[Likely, Memory]:
        """What the frames of `dreamt` make likely for the frame after each of them."""
        memory = memory or self.begin(dreamt.batch)
        num_moving = dreamt.states.shape[2]
        numbers = (dreamt.globals - self.global_mean) / self.global_scale
        frame = torch.cat([numbers.clamp(-8, 8), dreamt.actions], -1)
        tokens = self.describe(dreamt.states) + memory.registry + self.frame_in(frame)[:, :, None]
        tokens = torch.cat([tokens, self.frame_token(frame)[:, :, None]], 2)
        distance, hidden = self.surroundings(dreamt.states, dreamt.batch)
        kept = []
        for block, scenery, past in zip(self.blocks, memory.scenery, memory.past, strict=True):
            tokens, seen = block(tokens, scenery, distance, hidden, past)
            kept.append(seen)
        tokens = self.last_norm(tokens)
        entity = self.entity_out(tokens[:, :, :num_moving])
        likely = read_heads(self, dreamt, entity, self.frame_out(tokens[:, :, num_moving]))
        return likely, replace(memory, past=tuple(kept))

    def surroundings(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """How far every token is from those it sees, and which are dead (never oneself)."""
        num_frames, num_moving = states.shape[1], states.shape[2]
        scenery = batch.scenery[:, None].expand(-1, num_frames, -1, -1)
        seen = torch.cat([states[..., :3], scenery[..., :3]], 2)
        gap = wrapped(states[:, :, :, None, :2] - seen[:, :, None, :, :2], batch.wrap)
        distance = gap.abs().sum(-1)
        dead = (seen[:, :, None, :, ALIVE] < 0.5).expand_as(distance)
        own = torch.eye(num_moving, seen.shape[2], dtype=torch.bool)
        hidden = torch.where(dead & ~own, FAR, 0.0)
        return frame_between(distance, num_moving), frame_between(hidden, num_moving)


def frame_between(seen: Tensor, num_moving: int) -> Tensor:
    """Room for the frame token, which is near everything, after the moving slots, both ways."""
    seen = torch.cat(
        [seen[..., :num_moving], seen.new_zeros(*seen.shape[:-1], 1), seen[..., num_moving:]], -1
    )
    return torch.cat([seen, torch.zeros_like(seen[:, :, :1])], 2)


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained transformer."""
    return create_world("transformer", Transformer, manifest, size, seed)


# ==================================================================================================
# nets/checkpoints:
# Trained models on disk: `config.json` says what it is, a safetensors file holds the numbers.


CONFIG, TENSORS = "config.json", "model.safetensors"
LARGEST = 4 << 30  # bytes of a tensor file; more is refused unread


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write whole or not at all."""
    with written_whole(path) as part:
        part.write_bytes(save({k: np.asarray(tensors[k], order="C") for k in sorted(tensors)}))


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file, all finite."""
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"no plain file {path}; a checkpoint holds {CONFIG} and {TENSORS}")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: {path.stat().st_size} bytes; more than {LARGEST} are not read")
    content = path.read_bytes()
    try:
        tensors = numpy_load(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        # Asked only now: a sound file begins with its header's length, which may look like these.
        if content[:1] == b"\x80" or content[:2] == b"PK":
            raise ValueError(
                f"{path}: is a pickle or a zip of pickles, which are never opened here"
            ) from None
        raise ValueError(f"{path}: not a whole safetensors file ({error})") from None
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise ValueError(f"{path}: tensor '{name}' holds NaN or infinity; train again")
    return tensors


def check_tensors(
    path: Path, tensors: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]
) -> None:
    """Names, shapes and types must be those of `expected`, no more and no less."""
    missing = sorted(set(expected) - set(tensors))
    extra = sorted(set(tensors) - set(expected))
    if missing or extra:
        raise ValueError(f"{path}: tensors missing {missing[:5]}, not known {extra[:5]}")
    for name, like in expected.items():
        got = tensors[name]
        if got.shape != like.shape or got.dtype != like.dtype:
            raise ValueError(
                f"{path}: tensor '{name}' is {got.dtype} {got.shape}, should be {like.dtype} "
                f"{like.shape}"
            )


# ==================================================================================================
# nets/recipe: How a model is trained: every dial of it, and the recipe of the paper.


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; numbers without a source are our choices.

    Bytes are equal where `seconds` is None: steps alone then decide.
    """

    steps: int | None = 1000
    """Gradient steps; None trains until `seconds` are over."""
    seconds: float | None = None
    """Seconds of training, evaluations not counted; None trains until `steps` are done."""
    batch_size: int | None = None
    """Windows of a step; None: fewer for games of many slots, see `rows_for`."""
    rate: float = 2e-3
    """Learning rate at the top."""
    warmup: int = 50  # steps
    weight_decay: float = 1e-5  # AutoWorldModel-Bench
    seen: int = 2
    """True frames at the start of a training window; predictions after each of them count."""
    unroll: int = 16
    """Frames imagined after them, through the model's own predictions."""
    first_unroll: int = 2
    """Frames imagined at the beginning of training; they grow to `unroll` over `growth`."""
    growth: float = 0.7
    """Share of the budget after which `unroll` is reached."""
    noise: float = 0.0
    """Standard deviation added to the positions of seen frames, shares of the world."""
    ema: float = 0.99
    """Decay of the running mean of the weights, which is what is judged and saved."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    seed: int = 42
    split: str = "train"
    evaluate_every: float = 30.0
    """Seconds between calls of `on_evaluate`."""
    save_every: float = 60.0
    """Seconds between saved states to resume from."""

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None:
            raise ValueError("training needs an end: give steps, seconds, or both")
        for name in ("steps", "seconds", "batch_size", "rate", "clip", "evaluate_every"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be above 0; got {value}")
        if self.seen < 1 or self.unroll < 1:
            raise ValueError(
                f"seen and unroll must be at least 1; got {self.seen} and {self.unroll}"
            )
        if not 1 <= self.first_unroll <= self.unroll or not 0 <= self.growth <= 1:
            raise ValueError(
                f"first_unroll lies in 1..unroll and growth in 0..1; got {self.first_unroll} of "
                f"{self.unroll} and {self.growth}"
            )
        if not 0 <= self.ema < 1 or self.noise < 0 or self.warmup < 0:
            raise ValueError(
                f"ema lies in [0, 1), noise and warmup are not negative; got {self.ema}, "
                f"{self.noise}, {self.warmup}"
            )

    def rows_for(self, num_slots: int) -> int:
        """Windows of a step for a game of so many slots.

        Many slots already make many examples of one window, and a step's time goes with both (our
        choice: about 160 to 400 slots a step).
        """
        if self.batch_size is not None:
            return self.batch_size
        return 32 if num_slots <= 8 else 16 if num_slots <= 32 else 8

    @property
    def length(self) -> int:
        """States of a training window."""
        return self.seen + self.unroll


# ==================================================================================================
# nets/schedule: What changes over the budget: the learning rate, and how far training imagines.


LOWEST = 0.02
"""The rate at the end, as a share of that at the top."""


def share_of(config: TrainConfig, step: int, seconds: float) -> float:
    """Share of the budget used, whichever of steps and seconds is nearer its end; may pass 1."""
    shares = [0.0]
    if config.steps is not None:
        shares.append(step / config.steps)
    if config.seconds is not None:
        shares.append(seconds / config.seconds)
    return max(shares)


def rate_at(config: TrainConfig, step: int, seconds: float) -> float:
    """Learning rate of the next step: linear warm-up, then cosine to a fiftieth."""
    warm = min(1.0, (step + 1) / (config.warmup + 1))
    share = min(1.0, share_of(config, step, seconds))
    return config.rate * warm * (LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * share)) / 2)


def unroll_at(config: TrainConfig, step: int, seconds: float) -> int:
    """Frames to imagine in the next step: few at first, which is quick, then all."""
    share = share_of(config, step, seconds)
    grown = 1.0 if config.growth == 0 else min(1.0, share / config.growth)
    return config.first_unroll + int(grown * (config.unroll - config.first_unroll))


# ==================================================================================================
# nets/progress: Where a training stands, and who wants to hear of it.


@dataclass(frozen=True)
class Progress:
    """Where training stands."""

    step: int
    seconds: float
    """Of training, evaluations not counted, earlier sittings included."""
    loss: float
    """Mean total loss of the last steps (up to 20)."""
    parts: dict[str, float]
    rate: float
    share: float
    """Share of the budget used, 0..1."""
    waiting: float
    """Share of the time spent waiting for data."""
    finished: bool = False
    interrupted: bool = False


# ==================================================================================================
# nets/descent:
# The gradient loop: AdamW, warm-up and cosine, a running mean of the weights, resume to the byte.


SCALE_WINDOWS, SCALE_LENGTH = 256, 16
"""Windows the game's scales are measured on; their seed is fixed, so scales follow from data."""


@dataclass
class Descent:
    """Everything that changes while a network learns."""

    world: NetworkWorld
    config: TrainConfig
    step: int = 0
    seconds: float = 0.0
    waited: float = 0.0
    losses: deque = field(default_factory=lambda: deque(maxlen=20))

    def __post_init__(self) -> None:
        config, network = self.config, self.world.network
        self.weights = [p for p in network.parameters() if p.requires_grad]
        self.names = [n for n, p in network.named_parameters() if p.requires_grad]
        self.mean = [p.detach().clone() for p in self.weights]
        self.optimizer = torch.optim.AdamW(
            self.weights,
            lr=config.rate,
            betas=(0.9, 0.99),
            weight_decay=config.weight_decay,
            fused=True,
        )

    def learn(self, batch: Batch) -> dict[str, torch.Tensor]:
        """One step on one batch; gives the parts of the loss."""
        config = self.config
        rate = rate_at(config, self.step, self.seconds)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.world.network.shuffle(seed_of("luck", config.seed, self.step))
        parts = self.world.network.loss(batch, config.seen)
        self.optimizer.zero_grad(set_to_none=True)
        parts["total"].backward()
        norm = torch.nn.utils.clip_grad_norm_(self.weights, config.clip)
        if torch.isfinite(norm):
            self.optimizer.step()
        self.step += 1
        decay = min(config.ema, self.step / (self.step + 9))
        with torch.no_grad():
            for mean, weight in zip(self.mean, self.weights, strict=True):
                mean.lerp_(weight, 1 - decay)
        return {name: part.detach() for name, part in parts.items()}

    def refuse_to_diverge(self) -> None:
        """Stop where no loss of the last steps was a number: what follows learns nothing."""
        if len(self.losses) == self.losses.maxlen and not any(
            torch.isfinite(parts["total"]) for parts in self.losses
        ):
            raise ValueError(
                f"training diverged: the last {len(self.losses)} losses up to step {self.step} are "
                f"not numbers; try a rate below {self.config.rate:g} in another folder"
            )

    def noisy(self, batch: Batch) -> Batch:
        """The batch with noise on the positions of seen frames, in place."""
        if self.config.noise:
            dice = torch.Generator().manual_seed(seed_of("noise", self.config.seed, self.step))
            seen = batch.states[:, : self.config.seen, :, :2]
            seen += torch.randn(seen.shape, generator=dice) * self.config.noise
        return batch

    @contextmanager
    def averaged(self) -> Generator[None]:
        """The network holds the running mean of its weights for a while."""
        own = [w.detach().clone() for w in self.weights]
        self.put(self.mean)
        try:
            yield
        finally:
            self.put(own)

    def put(self, values: list[torch.Tensor]) -> None:
        """Copy values into the network's weights."""
        with torch.no_grad():
            for weight, value in zip(self.weights, values, strict=True):
                weight.copy_(value)

    def progress(self, **flags: bool) -> Progress:
        """Where training stands now."""
        recent = [{k: float(v) for k, v in parts.items()} for parts in self.losses]
        parts = {k: float(np.mean([row[k] for row in recent])) for k in (recent or [{}])[0]}
        return Progress(
            step=self.step,
            seconds=self.seconds,
            loss=parts.get("total", float("nan")),
            parts=parts,
            rate=rate_at(self.config, self.step, self.seconds),
            share=share_of(self.config, self.step, self.seconds),
            waiting=self.waited / self.seconds if self.seconds else 0.0,
            **flags,
        )


# ==================================================================================================
# arena/tasks/starters/network: How this file is trained and loaded in a session.


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


# ==================================================================================================
# models/transformer: what the session asks for


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """What was trained in a folder: its config.json says what, weights.safetensors how."""
    return loaded(create(manifest, read_config(folder)["size"]), folder)


MODEL = ModelPart(
    "transformer",
    "Block-causal attention over entity-frames; learns what a constant velocity gets wrong.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
)

if __name__ == "__main__":
    main(MODEL, Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
