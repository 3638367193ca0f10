"""The honest baseline: one ridge regression per kind of entity, fitted in closed form.

The base model `linear` in one file: yours to change, all of it. It is
cosmolabe's own source, so that training it unchanged gives the package's numbers.
Read it from the end: `main` is called first.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from safetensors import SafetensorError
from safetensors.numpy import load as numpy_load
from safetensors.numpy import save

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY, SHAPES, SIZES, VX, VY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import read_json, written_whole
from cosmolabe.core.rollout import Context, Prediction
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
# models/linear:
# The honest baseline: one ridge regression per kind of entity, fitted in closed form.


WINDOWS, LENGTH = 2048, 8
"""Training windows and their states; each gives LENGTH - 1 transitions."""
RIDGE = 2.962
"""Penalty per transition, on features scaled to spread 1 (our choice)."""
TERMINAL_GAIN = 10.75
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
# arena/tasks/starters/fitted: How this file is fitted and loaded in a session.


WEIGHTS = "weights.safetensors"


def read_config(folder: Path) -> dict[str, Any]:
    """The config that stands beside train.py: `size`, and dials of `TrainConfig` as `recipe`."""
    return read_json(folder / "config.json")


def loaded(model: Any, folder: Path) -> Any:  # noqa: ANN401 - a model with `numbers`
    """The model with the numbers of a folder in it."""
    tensors = read_tensors(folder / WEIGHTS)
    check_tensors(folder / WEIGHTS, tensors, model.numbers)
    model.numbers = tensors
    return model


def main(part: ModelPart, folder: Path, data: Path, seed: int, limit: float) -> None:
    """Fit by the folder's config.json and leave the numbers there; takes far less than `limit`."""
    config, store = read_config(folder), open_store(data)
    model: Any = part.create(store.manifest, config["size"], seed)
    error = model.fit(store, TrainConfig(**config["recipe"], seed=seed))
    print(f"fitted; mean position error {error:.5f}", flush=True)
    write_tensors(folder / WEIGHTS, model.numbers)


# ==================================================================================================
# models/linear: what the session asks for


def load(folder: Path, manifest: Manifest) -> Linear:
    """What was trained in a folder: its config.json says what, weights.safetensors how."""
    return loaded(create(manifest, read_config(folder)["size"]), folder)


MODEL = ModelPart(
    "linear",
    "One ridge regression per kind of entity, on its own state, the action and the globals.",
    create,
    load,
    trainable=True,
)

if __name__ == "__main__":
    main(MODEL, Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
