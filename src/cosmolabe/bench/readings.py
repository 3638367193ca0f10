"""A model's readings beside its floors and ceiling, all on the same windows and resamples."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from cosmolabe.bench.bed import FLOORS, Bed
from cosmolabe.core import bootstrap
from cosmolabe.core.fields import ALIVE, FIELDS_START
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import (
    StateProtocol,
    Totals,
    WindowScores,
    aggregate,
    all_once,
    readings_of,
    score,
    scored_slots,
)
from cosmolabe.metrics.field_error import field_error
from cosmolabe.metrics.global_error import global_error
from cosmolabe.metrics.score_error import score_error
from cosmolabe.metrics.terminal_f1 import terminal_f1

LEAST_HEADROOM = 0.03
"""A game with less between floor and ceiling counts for no skill."""
PER_STEP = ("composite", "position_l1", "alive_f1")


def main_readings(scores: WindowScores, bed: Bed, shared: dict[str, Any]) -> list[Reading]:
    """Final score, composites and their parts, each with floor and ceiling."""
    floors = [bed.floors[name] for name in FLOORS]
    clusters = bed.windows.episodes
    return readings_of(scores, clusters, bed.protocol, shared, floors, bed.ceiling)


def shared_by(scores: WindowScores, bed: Bed, model: str) -> dict[str, Any]:
    """What all readings of one model on one bed have in common."""
    return {
        "judge": "state",
        "protocol": bed.protocol.fingerprint,
        "data": bed.data,
        "game": bed.game,
        "model": model,
        "n": len(bed.windows) - scores.num_unmeasurable,
        "skipped": len(bed.skipped) + scores.num_unmeasurable,
    }


def relative_readings(scores: WindowScores, bed: Bed, shared: dict[str, Any]) -> list[Reading]:
    """Skill, headroom, and what floors and ceiling score themselves."""
    weights = bootstrap.resamples(bed.windows.episodes)

    def finals(one: WindowScores) -> np.ndarray:
        return finals_of(one, weights, bed.protocol)

    floors = {name: finals(bed.floors[name]) for name in FLOORS}
    mine, best = finals(scores), np.maximum(*floors.values())
    rows = [_final_of(name, values, shared) for name, values in floors.items()]
    if bed.ceiling is None:
        why = "this store cannot replay its worlds, so there is no stochastic ceiling"
        return [*rows, *(_missing(name, why, shared) for name in ("headroom", "skill"))]
    top = finals(bed.ceiling)
    headroom = top - best
    rows.append(_final_of("stochastic_ceiling", top, shared))
    rows.append(reading_of("headroom", headroom, "score", "none", shared))
    if headroom[0] < LEAST_HEADROOM:
        why = f"headroom {headroom[0]:.3f} is below {LEAST_HEADROOM}: this game counts for no skill"
        return [*rows, _missing("skill", why, shared)]
    room = np.where(headroom > 0, headroom, np.nan)
    skill = reading_of("skill", (mine - best) / room, "share of headroom", "higher", shared)
    return [*rows, replace(skill, floor=0.0, ceiling=1.0)]


def side_readings(prediction: Prediction, bed: Bed, shared: dict[str, Any]) -> list[Reading]:
    """What no score counts but a reader wants to know: globals, score, fields, endings."""
    windows, protocol = bed.windows, bed.protocol
    masks, weights = windows.masks, bootstrap.resamples(windows.episodes)
    slots = scored_slots(masks)
    names = bed.store.manifest.profile.global_fields
    points = names.index("score") if "score" in names else None
    rows = []
    for horizon, _ in protocol.weights:
        at, step = protocol.window + horizon - 1, horizon - 1
        truth, numbers = windows.states[:, at], windows.globals[:, at]
        imagined = prediction.globals[:, step]
        here = slots & (truth[..., ALIVE] > 0.5)
        fields = prediction.states[:, step, :, ALIVE + 1 :]
        true_fields = truth[..., FIELDS_START : FIELDS_START + fields.shape[-1]]
        with np.errstate(invalid="ignore", over="ignore"):
            values = {
                "global_error": (global_error(numbers, imagined, masks.globals), "share"),
                "field_error": (field_error(true_fields, fields, here, masks.fields), "share"),
            }
            if points is not None:
                gaps = score_error(numbers[:, points], imagined[:, points])
                values["score_error"] = (gaps, "points")
        if not masks.fields.any():
            del values["field_error"]  # a game without fields of its own
        for metric, (each, unit) in values.items():
            rows.append(mean_reading(metric, each, unit, "lower", weights, shared, horizon))
    true_end = windows.terminal[:, protocol.window : protocol.window + protocol.horizon]
    logit = prediction.terminal[:, : protocol.horizon]
    value = float(terminal_f1(true_end, np.nan_to_num(logit, nan=-np.inf)))
    why = f"{int(true_end.sum())} true endings in these windows"
    once = np.array([value])
    return [*rows, replace(reading_of("terminal_f1", once, "share", "higher", shared), why=why)]


def curves_of(scores: WindowScores, bed: Bed, model: str, suffix: str = "") -> list[dict[str, Any]]:
    """One row per measure and step, with floors and ceiling beside it."""
    point = _point(bed, scores)
    spread = aggregate(scores, bootstrap.resamples(bed.windows.episodes), bed.protocol)
    beside = {name: _point(bed, bed.floors[name]) for name in FLOORS}
    if bed.ceiling is not None:
        beside["ceiling"] = _point(bed, bed.ceiling)
    rows = []
    for metric in PER_STEP:
        values = getattr(point, metric)[0]
        low, high = bootstrap.interval(getattr(spread, metric))
        for step, value in enumerate(values):
            row = {
                "game": bed.game,
                "model": model,
                "metric": metric + suffix,
                "horizon": step + 1,
                "value": value,
                "low": low[step],
                "high": high[step],
                "still": np.nan,
                "constant_velocity": np.nan,
                "ceiling": np.nan,
            }
            row |= {name: getattr(one, metric)[0, step] for name, one in beside.items()}
            rows.append(row)
    return rows


def kinds_of(prediction: Prediction, bed: Bed, model: str) -> list[dict[str, Any]]:
    """Position L1 and alive F1 per kind of entity, pooled over windows, at the scored steps."""
    names = bed.store.manifest.profile.kinds
    kind = bed.windows.registry[..., : len(names)].argmax(-1)
    slots = np.broadcast_to(scored_slots(bed.windows.masks), kind.shape)
    pooled = replace(bed.protocol, pooled=True, teacher_forced_first=False)
    rows = []
    for number, name in enumerate(names):
        mine = slots & (kind == number)
        if not mine.any():
            continue
        masks = replace(bed.windows.masks, mutable=mine, valid=mine)
        one = score(replace(bed.windows, masks=masks), prediction, pooled)
        total = aggregate(one, all_once(one), pooled)
        for horizon, _ in bed.protocol.weights:
            rows.append(
                {
                    "game": bed.game,
                    "model": model,
                    "kind": name,
                    "horizon": horizon,
                    "position_l1": total.position_l1[0, horizon - 1],
                    "alive_f1": total.alive_f1[0, horizon - 1],
                    "n": int(one.count[:, horizon - 1].sum()),
                }
            )
    return rows


def finals_of(
    scores: WindowScores, weights: Float[np.ndarray, "resample window"], protocol: StateProtocol
) -> Float[np.ndarray, " one_and_resamples"]:
    """The final score: the data's own first, then the resamples'."""
    both = (aggregate(scores, w, protocol).final for w in (all_once(scores), weights))
    return np.concatenate(list(both))


def _point(bed: Bed, scores: WindowScores) -> Totals:
    return aggregate(scores, all_once(scores), bed.protocol)


def reading_of(
    metric: str,
    values: np.ndarray,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    shared: dict[str, Any],
    horizon: int | None = None,
) -> Reading:
    """A reading and its interval; `values` holds the data's own first, then the resamples'."""
    low, high = bootstrap.interval(values[1:])
    return Reading(
        metric=metric,
        value=float(values[0]),
        low=float(low),
        high=float(high),
        unit=unit,
        direction=direction,
        horizon=horizon,
        **shared,
    )


def mean_reading(
    metric: str,
    each: np.ndarray,
    unit: str,
    direction: Literal["higher", "lower", "none"],
    weights: np.ndarray,
    shared: dict[str, Any],
    horizon: int | None = None,
) -> Reading:
    """Mean over windows; those without a finite value are left out, and said so."""
    each = np.where(np.isfinite(each), each, np.nan)
    once = bootstrap.weighted_mean(each, np.ones((1, len(each))))
    values = np.concatenate([once, bootstrap.weighted_mean(each, weights)])
    row = reading_of(metric, values, unit, direction, shared, horizon)
    lost = int(np.isnan(each).sum())
    if not lost:
        return row
    return replace(row, why=f"{lost} of {len(each)} windows have no finite value")


def _final_of(name: str, values: np.ndarray, shared: dict[str, Any]) -> Reading:
    return reading_of(f"final_{name}", values, "score", "none", shared)


def _missing(metric: str, why: str, shared: dict[str, Any]) -> Reading:
    direction = "higher" if metric == "skill" else "none"
    return Reading(
        metric=metric,
        value=np.nan,
        unit="share of headroom",
        direction=direction,
        why=why,
        **shared,
    )
