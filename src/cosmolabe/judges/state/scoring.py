"""Scores of windows: what each window got at each step, and what they make together."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core import bootstrap
from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.manifest import Masks
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state.protocol import PROTOCOLS, StateProtocol
from cosmolabe.metrics.alive_f1 import alive_counts, f1_of_counts
from cosmolabe.metrics.composite import composite
from cosmolabe.metrics.final_score import final_score
from cosmolabe.metrics.position_l1 import distances


@dataclass(frozen=True)
class WindowScores:
    """What each window scored at each step, with the sums that pooled scores are made of."""

    composite: Float[np.ndarray, "window horizon"]
    position_l1: Float[np.ndarray, "window horizon"]
    alive_f1: Float[np.ndarray, "window horizon"]
    final: Float[np.ndarray, " window"]
    gap: Float[np.ndarray, "window horizon"]
    """Sum of distances over the counted entities."""
    count: Float[np.ndarray, "window horizon"]
    """Counted entities."""
    alive: Float[np.ndarray, "window horizon 3"]
    """Hits, false alarms, misses."""
    why: tuple[str, ...]
    """Why a window's prediction is invalid; empty where it is sound."""

    @property
    def num_invalid(self) -> int:
        """Windows that scored 0 because their prediction is missing or not finite."""
        return sum(bool(reason) for reason in self.why)

    @property
    def num_unmeasurable(self) -> int:
        """Windows with no entity alive in truth at a scored step, so without a final score."""
        return int(np.isnan(self.final).sum())


def sound(prediction: object, shape: tuple[int, int, int, int, int]) -> tuple[Prediction, str]:
    """The prediction as float32 arrays of the expected shape, and why it cannot be used.

    `shape` is (batch, horizon, slots, predicted columns, globals). Where it cannot be used the
    arrays are NaN and the reason is in the user's words.
    """
    batch, horizon, slots, columns, numbers = shape
    wanted = {
        "states": (batch, horizon, slots, columns),
        "globals": (batch, horizon, numbers),
        "terminal": (batch, horizon),
    }
    arrays, why = {}, ""
    for name, size in wanted.items():
        value = getattr(prediction, name, None)
        if value is None:
            problem = f"prediction has no {name}"
        elif not isinstance(value, np.ndarray):
            problem = f"{name} is a {type(value).__name__}, not a numpy array"
        elif value.dtype.kind != "f":
            problem = f"{name} has dtype {value.dtype}, expected float32"
        elif value.shape != size:
            problem = f"{name} has shape {value.shape}, expected {size}"
        else:
            with np.errstate(over="ignore"):
                arrays[name] = np.asarray(value, np.float32)
            continue
        why = why or problem
    if why:
        arrays = {name: np.full(size, np.nan, np.float32) for name, size in wanted.items()}
    return Prediction(**arrays), why


def digest_of(windows: Windows) -> str:
    """Hash of the true windows themselves: rules that changed unannounced change it too."""
    digest = hashlib.sha256()
    for array in (windows.registry, windows.states, windows.actions, windows.globals):
        digest.update(np.ascontiguousarray(array, np.float32).tobytes())
    return digest.hexdigest()[:16]


def scored_slots(masks: Masks) -> Bool[np.ndarray, "batch_or_1 slot"]:
    """Slots a model is judged on: mutable and valid."""
    return np.atleast_2d(masks.valid & masks.mutable)


def score(
    windows: Windows,
    prediction: Prediction,
    protocol: StateProtocol = PROTOCOLS["state/1"],
    why: Sequence[str] = (),
    first: Prediction | None = None,
) -> WindowScores:
    """Score every window at every imagined step, 1..H with H the prediction's.

    `why` names windows already known to be invalid. `first` holds the one-step predictions from
    true states that protocols with `teacher_forced_first` want: step k of it starts from the true
    states before step k.
    """
    slots = scored_slots(windows.masks)
    reasons = _reasons(prediction, slots, protocol, why)
    parts = _parts(windows, prediction, slots, protocol)
    if protocol.teacher_forced_first:
        if first is None:
            raise ValueError(f"{protocol.name} scores step 1 teacher-forced: give `first`")
        reasons = _reasons(first, slots, protocol, reasons)
        forced = _parts(windows, first, slots, protocol)
        for rollout, one_step in zip(parts, forced, strict=True):
            rollout[:, 0] = one_step[:, : protocol.horizon].sum(1)
    return _scores(*parts, reasons, _broken(prediction, slots), protocol)


def _broken(
    prediction: Prediction, slots: Bool[np.ndarray, "batch_or_1 slot"]
) -> Bool[np.ndarray, "batch horizon"]:
    """Whether x, y or alive of a scored slot is not finite; other slots are never read."""
    finite = np.isfinite(prediction.states[..., : ALIVE + 1]).all(-1)
    return (~finite & slots[:, None]).any(-1)


def _reasons(
    prediction: Prediction, slots: np.ndarray, protocol: StateProtocol, why: Sequence[str]
) -> tuple[str, ...]:
    broken = _broken(prediction, slots)[:, : protocol.horizon]
    known = tuple(why) or ("",) * len(broken)
    return tuple(
        reason or (f"not finite at step {1 + int(row.argmax())}" if row.any() else "")
        for reason, row in zip(known, broken, strict=True)
    )


def _parts(
    windows: Windows, prediction: Prediction, slots: np.ndarray, protocol: StateProtocol
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of distances, counted entities and alive counts per window and step."""
    steps = prediction.states.shape[1]
    truth = windows.states[:, protocol.window : protocol.window + steps, :, : ALIVE + 1]
    if truth.shape[1] != steps:
        raise ValueError(
            f"windows hold {windows.states.shape[1]} states; {protocol.window} of context and "
            f"{steps} imagined steps want {protocol.window + steps}"
        )
    alive = truth[..., ALIVE] > 0.5
    counted = np.broadcast_to(slots[:, None], alive.shape)
    here = counted & alive if protocol.alive_in_truth else counted
    imagined = prediction.states
    with np.errstate(invalid="ignore"):
        gap = distances(
            truth[..., :2], imagined[..., :2], windows.masks.wrap if protocol.wrap_aware else None
        )
        lives = imagined[..., ALIVE] > protocol.alive_threshold
    counts = np.stack(alive_counts(alive, lives, counted), -1).astype(np.float64)
    return np.where(here, gap, 0.0).sum(-1), here.sum(-1).astype(np.float64), counts


def _scores(
    gap: np.ndarray,
    count: np.ndarray,
    alive: np.ndarray,
    why: tuple[str, ...],
    broken: np.ndarray,
    protocol: StateProtocol,
) -> WindowScores:
    invalid = np.logical_or.accumulate(broken, axis=1)
    invalid |= np.array([bool(reason) for reason in why], bool)[:, None]
    # A pooled mean takes an invalid window as one whole world off and nobody known alive.
    gap = np.where(invalid, count, gap)
    lost = np.stack([np.zeros_like(count), np.zeros_like(count), alive[..., 0] + alive[..., 2]], -1)
    alive = np.where(invalid[..., None], lost, alive)
    l1 = np.divide(gap, count, out=np.full(gap.shape, np.nan), where=count > 0)
    f1 = f1_of_counts(alive[..., 0], alive[..., 1], alive[..., 2])
    values = composite(l1, f1, protocol.position_weight, protocol.alive_weight)
    values = np.where(invalid, protocol.invalid_scores, values)
    return WindowScores(
        composite=values,
        position_l1=np.where(invalid, np.nan, l1),
        alive_f1=np.where(invalid, np.nan, f1),
        final=final_score(values, protocol.weights),
        gap=gap,
        count=count,
        alive=alive,
        why=why,
    )


@dataclass(frozen=True)
class Totals:
    """Scores of whole resamples (the first row may be the data themselves)."""

    composite: Float[np.ndarray, "resample horizon"]
    position_l1: Float[np.ndarray, "resample horizon"]
    alive_f1: Float[np.ndarray, "resample horizon"]
    final: Float[np.ndarray, " resample"]


def aggregate(
    scores: WindowScores,
    weights: Float[np.ndarray, "resample window"],
    protocol: StateProtocol = PROTOCOLS["state/1"],
) -> Totals:
    """Scores of all windows together, once per row of `weights` (how often each window counts)."""
    if protocol.pooled:
        gap, count = weights @ scores.gap, weights @ scores.count
        alive = np.tensordot(weights, scores.alive, 1)
        l1 = np.divide(gap, count, out=np.full(gap.shape, np.nan), where=count > 0)
        f1 = f1_of_counts(alive[..., 0], alive[..., 1], alive[..., 2])
        values = composite(l1, f1, protocol.position_weight, protocol.alive_weight)
    else:
        values = bootstrap.weighted_mean(scores.composite, weights)
        l1 = bootstrap.weighted_mean(scores.position_l1, weights)
        f1 = bootstrap.weighted_mean(scores.alive_f1, weights)
    return Totals(values, l1, f1, final_score(values, protocol.weights))


def all_once(scores: WindowScores) -> Float[np.ndarray, "1 window"]:
    """The weights of the data themselves."""
    return np.ones((1, len(scores.why)))
