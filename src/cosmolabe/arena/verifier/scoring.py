"""Scores predictions on the host, with the state judge's own functions."""

from dataclasses import replace

import numpy as np

from cosmolabe.arena.verifier.signs import spoilt
from cosmolabe.arena.verifier.verdict import Score
from cosmolabe.bench.bed import FLOORS, Bed, play
from cosmolabe.bench.readings import finals_of, main_readings, relative_readings, shared_by
from cosmolabe.core import bootstrap
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import FLOORS as TRIVIAL
from cosmolabe.judges.state import WindowScores, aggregate, all_once, score


def score_on(bed: Bed, prediction: Prediction) -> tuple[Score, WindowScores]:
    """The score of predictions for all windows of a bed, and what each window got.

    The same functions in the same order as `judge`: an unchanged model has the same bits here.
    """
    scores = score(bed.windows, prediction, bed.protocol, spoilt(prediction, bed.windows))
    shared = shared_by(scores, bed, "submission")
    main = {(r.metric, r.horizon): r for r in main_readings(scores, bed, shared)}
    beside = {r.metric: r for r in relative_readings(scores, bed, shared)}
    final = main["final", None]
    return Score(
        c1=main["composite", 1].value,
        c10=main["composite", 10].value,
        c20=main["composite", 20].value,
        composite=final.value,
        low=final.low,
        high=final.high,
        se=error_of(scores, bed),
        skill=beside["skill"].value,
        floor=final.floor,
        ceiling=final.ceiling,
        windows=final.n,
        invalid=scores.num_invalid,
        protocol=final.protocol,
        data=final.data,
    ), scores


def error_of(scores: WindowScores, bed: Bed) -> float:
    """Standard error of the final score, by resampling episodes."""
    return _spread(_resampled(scores, bed))


def better_by(scores: WindowScores, other: WindowScores, bed: Bed) -> tuple[float, float]:
    """How much better one is than another on the same windows, and the standard error of that."""
    weights = bootstrap.resamples(bed.windows.episodes)
    gaps = finals_of(scores, weights, bed.protocol) - finals_of(other, weights, bed.protocol)
    return float(gaps[0]), _spread(gaps[1:])


def score_of(bed: Bed, floor: str) -> float:
    """Composite of a trivial model, by name."""
    scores = bed.floors[floor]
    return float(aggregate(scores, all_once(scores), bed.protocol).final[0])


def best_floor(bed: Bed) -> WindowScores:
    """The better trivial model's scores."""
    return max(
        (bed.floors[name] for name in FLOORS),
        key=lambda one: float(np.nan_to_num(np.nanmean(one.final), nan=-1)),
    )


def bed_of(bed: Bed, episodes: np.ndarray, starts: np.ndarray) -> Bed:
    """A bed of other windows of the same store, without a ceiling."""
    length = bed.windows.states.shape[1]
    windows = bed.store.windows(episodes, starts.astype(np.int64), length)
    floors = {model.name: play(model, windows, bed.protocol)[0] for model in TRIVIAL}
    data = fingerprint(bed.store.fingerprint, episodes.tolist(), starts.tolist())
    return replace(bed, windows=windows, floors=floors, ceiling=None, data=data)


def without(bed: Bed, rows: np.ndarray) -> Bed:
    """The bed without some windows (True: leave out); its floors and ceiling without them, too."""
    keep = np.flatnonzero(~rows)
    windows = replace(
        bed.windows,
        **{
            name: getattr(bed.windows, name)[keep]
            for name in (
                "registry", "states", "actions", "globals", "terminal", "episodes", "starts"
            )
        },
        masks=bed.windows.masks.take(keep),
    )  # fmt: skip
    return replace(
        bed,
        windows=windows,
        floors={name: _part(one, keep) for name, one in bed.floors.items()},
        ceiling=None if bed.ceiling is None else _part(bed.ceiling, keep),
        data=f"{bed.data}-{len(keep)}",
    )


def _part(scores: WindowScores, keep: np.ndarray) -> WindowScores:
    arrays = {name: value[keep] for name, value in vars(scores).items() if name != "why"}
    return WindowScores(**arrays, why=tuple(scores.why[row] for row in keep if scores.why))


def _spread(drawn: np.ndarray) -> float:
    """Standard deviation over resamples; NaN where one episode gives none."""
    return float(np.nanstd(drawn, ddof=1)) if np.isfinite(drawn).sum() > 1 else np.nan


def _resampled(scores: WindowScores, bed: Bed) -> np.ndarray:
    return finals_of(scores, bootstrap.resamples(bed.windows.episodes), bed.protocol)[1:]
