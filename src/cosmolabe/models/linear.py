"""The honest baseline: one ridge regression per kind of entity, fitted in closed form.

Next displacement minus velocity, next alive and next fields are linear in the entity's own state,
its size, the action and the globals; the next globals are linear in globals and action. Entities do
not see each other. In a rollout, whatever leaves the range seen in training is clipped to it.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from cosmolabe.core.fields import ALIVE, SHAPES, SIZES, VX, VY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.data.store import Store
from cosmolabe.data.windows import training_batches
from cosmolabe.nets.checkpoints import config_of, read_checkpoint, write_checkpoint
from cosmolabe.nets.features import next_state, predicted_columns, wrapped
from cosmolabe.nets.recipe import TrainConfig

WINDOWS, LENGTH = 2048, 8
"""Training windows and their states; each gives LENGTH - 1 transitions."""
RIDGE = 1e-3
"""Penalty per transition, on features scaled to spread 1 (our choice)."""
TERMINAL_GAIN = 8.0
"""A fitted chance of the end of 0..1 becomes a logit of -4..4."""


class Linear:
    """Weights per kind of entity (kind, feature, predicted) and for the globals."""

    name = "linear"
    window = 1

    def __init__(self, manifest: Manifest, size: str = "laptop", seed: int = 0) -> None:
        self.manifest, self.size, self.seed, self.steps = manifest, size, seed, 0
        profile = manifest.profile
        num_frame = len(profile.action_fields) + len(profile.global_fields)
        num_entity = 1 + profile.num_state + len(SIZES) + num_frame
        start = len(profile.kinds) + len(SHAPES)
        self.sizes = slice(start, start + len(SIZES))  # radius and half sizes in a registry row
        self.numbers = {
            "entity": np.zeros((len(profile.kinds), num_entity, profile.num_predicted), np.float32),
            "frame": np.zeros((1 + num_frame, len(profile.global_fields) + 1), np.float32),
            "lowest": np.zeros(profile.num_predicted, np.float32),
            "highest": np.ones(profile.num_predicted, np.float32),
            "fastest": np.ones(2, np.float32),
            "global_lowest": np.full(len(profile.global_fields), -1e6, np.float32),
            "global_highest": np.full(len(profile.global_fields), 1e6, np.float32),
        }

    def rollout(self, context: Context, seed: int = 0) -> Prediction:
        """Apply the fitted step `context.horizon` times."""
        state = np.nan_to_num(context.states[:, -1])
        numbers = np.nan_to_num(context.globals[:, -1])
        registry = np.nan_to_num(context.registry)
        mutable = np.broadcast_to(context.masks.mutable & context.masks.valid, state.shape[:2])
        frames, counts, ends = [], [], []
        for step in range(context.horizon):
            action = np.nan_to_num(context.actions[:, context.window - 1 + step])
            frame = frame_features(numbers, action)
            guess = self._step(state, registry, frame, context.masks.wrap)
            state = next_state(state, guess, mutable, context.masks.wrap)
            out = frame @ self.numbers["frame"]
            limits = self.numbers["global_lowest"], self.numbers["global_highest"]
            numbers = np.clip(numbers + out[:, :-1], *limits)
            frames.append(predicted_columns(state))
            counts.append(numbers)
            ends.append(TERMINAL_GAIN * (np.clip(out[:, -1], 0, 1) - 0.5))
        return Prediction(np.stack(frames, 1), np.stack(counts, 1), np.stack(ends, 1))

    def _step(
        self, state: np.ndarray, registry: np.ndarray, frame: np.ndarray, wrap: np.ndarray
    ) -> np.ndarray:
        """Predicted columns after one state, clipped to what training has seen."""
        features = entity_features(state, registry[..., self.sizes], frame)
        kind = registry[..., : len(self.numbers["entity"])].argmax(-1)
        out = np.zeros((*state.shape[:2], self.manifest.profile.num_predicted), np.float32)
        for k in np.unique(kind):
            out[kind == k] = features[kind == k] @ self.numbers["entity"][k]
        now = predicted_columns(state)
        fastest = self.numbers["fastest"]
        moved = np.clip(state[..., [VX, VY]] + out[..., :2], -fastest, fastest)
        guess = now + out
        guess[..., :2] = now[..., :2] + moved
        inside = np.clip(guess, self.numbers["lowest"], self.numbers["highest"])
        inside[..., :2] = np.where(wrap, guess[..., :2], inside[..., :2])
        return inside

    def fit(self, store: Store, config: TrainConfig) -> float:
        """Fit on training windows drawn by the config's seed; gives the mean position error."""
        windows = next(training_batches(store, config.split, LENGTH, WINDOWS, config.seed))
        masks = windows.masks
        now, after = windows.states[:, :-1], windows.states[:, 1:]
        numbers, count_after = windows.globals[:, :-1], windows.globals[:, 1:]
        shape = now.shape[:3]
        frame = frame_features(numbers, windows.actions[:, :-1])
        registry = np.broadcast_to(windows.registry[:, None], (*shape, windows.registry.shape[-1]))
        features = entity_features(now, registry[..., self.sizes], frame)
        target = predicted_columns(after) - predicted_columns(now)
        step = wrapped(after[..., :2] - now[..., :2], masks.wrap)
        target[..., :2] = step - now[..., [VX, VY]]
        chosen = np.broadcast_to((masks.mutable & masks.valid).reshape(-1, 1, shape[2]), shape)
        both = chosen & (now[..., ALIVE] > 0.5) & (after[..., ALIVE] > 0.5)
        weight = np.repeat(chosen[..., None], target.shape[-1], -1).astype(np.float32)
        weight[..., :2] = both[..., None]  # being born is no motion
        kind = registry[..., : len(self.numbers["entity"])].argmax(-1)
        for k in np.unique(kind[chosen]):
            rows = chosen & (kind == k)
            self.numbers["entity"][k] = np.concatenate(
                [
                    ridge(features[rows & both], target[rows & both][:, :2]),
                    ridge(features[rows], target[rows][:, 2:]),
                ],
                axis=1,
            )
        over = windows.terminal[:, 1:, None].astype(np.float32)
        frame_target = np.concatenate([count_after - numbers, over], -1)
        self.numbers["frame"] = ridge(
            frame.reshape(-1, frame.shape[-1]), frame_target.reshape(-1, frame_target.shape[-1])
        )
        self._set_ranges(predicted_columns(windows.states), step[both], windows.globals)
        self.steps = 1
        wrong = np.abs(self._miss(features, target, kind, both)).sum(-1)
        return float(wrong.mean()) if len(wrong) else 0.0

    def _miss(
        self, features: np.ndarray, target: np.ndarray, kind: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        weights = self.numbers["entity"][kind[rows]][..., :2]
        return np.einsum("rf,rfp->rp", features[rows], weights) - target[rows][:, :2]

    def _set_ranges(self, rows: np.ndarray, steps: np.ndarray, numbers: np.ndarray) -> None:
        self.numbers["lowest"] = rows.min((0, 1, 2))
        self.numbers["highest"] = rows.max((0, 1, 2))
        if len(steps):
            self.numbers["fastest"] = np.abs(steps).max(0)
        self.numbers["global_lowest"] = numbers.min((0, 1))
        self.numbers["global_highest"] = numbers.max((0, 1))

    def save(self, folder: Path, data: str = "", recipe: dict | None = None) -> None:
        """Write a checkpoint folder."""
        config = config_of(self, self.window, data, recipe)
        write_checkpoint(Path(folder), config, self.numbers)


def frame_features(
    numbers: Float[np.ndarray, "*batch global"],
    action: Float[np.ndarray, "*batch action"],
) -> Float[np.ndarray, "*batch feature"]:
    """1, the globals and the action."""
    return np.concatenate([np.ones_like(numbers[..., :1]), numbers, action], axis=-1)


def entity_features(
    state: Float[np.ndarray, "*batch slot state"],
    sizes: Float[np.ndarray, "*batch slot size"],
    frame: Float[np.ndarray, "*batch frame"],
) -> Float[np.ndarray, "*batch slot feature"]:
    """State, sizes and the frame's features of every slot."""
    shared = np.broadcast_to(frame[..., None, :], (*state.shape[:-1], frame.shape[-1]))
    return np.concatenate([state, sizes, shared], axis=-1)


def ridge(
    features: Float[np.ndarray, "row feature"],
    targets: Float[np.ndarray, "row target"],
) -> Float[np.ndarray, "feature target"]:
    """Least squares with a small penalty on features scaled to size 1, solved exactly."""
    if not len(features):
        return np.zeros((features.shape[1], targets.shape[1]), np.float32)
    x, y = features.astype(np.float64), targets.astype(np.float64)
    size = np.sqrt((x * x).mean(0))
    size = np.where(size > 1e-9, size, 1.0)
    x = x / size
    gram = x.T @ x / len(x) + RIDGE * np.eye(x.shape[1])
    return (np.linalg.solve(gram, x.T @ y / len(x)) / size[:, None]).astype(np.float32)


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> Linear:
    """Unfitted: a constant velocity inside the screen."""
    return Linear(manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> Linear:
    """The fitted model of a checkpoint folder."""
    model = Linear(manifest)
    config, model.numbers = read_checkpoint(Path(folder), "linear", manifest, model.numbers)
    model.size, model.seed, model.steps = config.size, config.seed, config.steps
    return model


MODEL = ModelPart(
    "linear",
    "One ridge regression per kind of entity, on its own state, the action and the globals.",
    create,
    load,
    trainable=True,
)
