"""Has the judge, or what it judges, drifted? Dated runs over the same videos, told apart from luck.

Two questions. *From run to run*: the same anchors judged again must give the same scores; anything
else means that a decoder, a library or the hardware has changed. *Over time*: a generator's videos
for the same prompts, run after run; the place where the cumulative sum of the runs' means strays
farthest from 0 says when the level changed, and permutations of the runs say whether chance would
have done as much (cumulative sums: E. S. Page 1954, Biometrika 41).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from cosmolabe.bench.significance import sign_flip_p
from cosmolabe.core.record import read_json, read_jsonl
from cosmolabe.core.seeds import generator
from cosmolabe.judges.physics.readings import column_of

RESAMPLES = 9999
"""Permutations, beyond the one that happened (ours)."""
ALPHA = 0.05
SAME = 1e-4
"""Scores of one video by one protocol that differ by more are not the same judge (ours)."""
ANCHORS = ("hash", "input")
"""What makes two videos the same, by `kind`: their bytes, or their names."""


@dataclass(frozen=True)
class DatedRun:
    """One run over the anchors."""

    folder: str
    date: str
    """ISO; from record.json's note or the folder's time."""
    protocol: str
    scores: Mapping[str, float]
    """Raw score by anchor; NaN where it was not scored."""


@dataclass(frozen=True)
class Drift:
    """What changed over dated runs."""

    runs: tuple[str, ...]
    dates: tuple[str, ...]
    means: tuple[float, ...]
    """Of each run over the anchors that all runs scored."""
    anchors: int
    """Scored in all runs."""
    lost: tuple[str, ...]
    """Anchors that some run lacks or did not score."""
    first_to_last: float
    low: float
    high: float
    p_pairs: float
    """Sign-flip test over anchors, first against last run."""
    change_at: int | None
    """Number of the first run of the new level; None where too few runs or no change."""
    swing: float
    """How far the cumulative sum strays from 0, in standard deviations of the runs' means."""
    p_change: float
    """Share of permutations of the runs with a swing as large; NaN for fewer than four runs."""
    largest: float
    """The largest difference of one anchor between two runs that follow each other."""
    verdict: str
    """`unchanged`, `same level`, `drifted`, or `too few runs`."""


def read_run(folder: Path | str, anchor: str = "input") -> DatedRun:
    """A run folder of the physics judge as one point in time."""
    folder = Path(folder)
    record = read_json(folder / "record.json")
    if not isinstance(record, dict) or not isinstance(record.get("protocol"), str):
        raise ValueError(f"{folder / 'record.json'}: no record of a run; judge again")
    if anchor not in ANCHORS:
        raise ValueError(f"anchors are told by {list(ANCHORS)}; got '{anchor}'")
    if not (folder / "physics.json").is_file():
        raise ValueError(f"{folder} is no run of the physics judge over videos")
    scores: dict[str, float] = {}
    for where, row in read_jsonl(folder / "clips.jsonl"):
        name = row.get(anchor)
        if not isinstance(name, str) or not name:
            if row.get("status") == "failed":
                continue
            raise ValueError(f"{where}: no '{anchor}' to tell the video by")
        scores[name] = float(column_of([row], "raw")[0])
    return DatedRun(str(folder), _date_of(record, folder), record["protocol"], scores)


def drift(runs: Sequence[DatedRun], seed: int = 0) -> Drift:
    """What changed; runs are put in the order of their dates.

    Raises:
        ValueError: Fewer than two runs, unlike protocols, or no anchor that all of them scored.
    """
    if len(runs) < 2:
        raise ValueError(f"drift needs two runs or more; got {len(runs)}")
    protocols = sorted({run.protocol for run in runs})
    if len(protocols) > 1:
        raise ValueError(
            f"the runs were judged under different protocols ({', '.join(protocols)}), so a "
            "difference says nothing; judge all with the same head, eye and protocol"
        )
    runs = sorted(runs, key=lambda run: run.date)
    every = list(dict.fromkeys(name for run in runs for name in run.scores))
    table = np.array([[run.scores.get(name, math.nan) for name in every] for run in runs])
    known = np.isfinite(table).all(0)
    if not known.any():
        raise ValueError("no video was scored in all runs; are they of the same anchors?")
    scores = table[:, known]
    gaps = scores[-1] - scores[0]
    means = scores.mean(1)
    at, swing = change_of(means)
    dice = generator("drift", seed)
    p_pairs = sign_flip_p(gaps, seed)
    p_change = permuted(means, swing, dice) if len(runs) >= 4 else math.nan
    low, high = _interval(gaps, dice)
    largest = float(np.abs(np.diff(scores, axis=0)).max())
    return Drift(
        runs=tuple(run.folder for run in runs),
        dates=tuple(run.date for run in runs),
        means=tuple(means.tolist()),
        anchors=int(known.sum()),
        lost=tuple(every[place] for place in np.flatnonzero(~known).tolist()),
        first_to_last=float(gaps.mean()),
        low=low,
        high=high,
        p_pairs=p_pairs,
        change_at=at if p_change < ALPHA else None,
        swing=swing,
        p_change=p_change,
        largest=largest,
        verdict=_verdict(largest, p_pairs, p_change),
    )


def _verdict(largest: float, p_pairs: float, p_change: float) -> str:
    if largest <= SAME:
        return "unchanged"
    if p_pairs < ALPHA / 2 or p_change < ALPHA / 2:  # two tests share the error (Bonferroni)
        return "drifted"
    return "same level"


def change_of(means: Float[np.ndarray, " run"]) -> tuple[int | None, float]:
    """First run of the new level and the farthest cumulative sum, in standard deviations."""
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    if spread <= 0:
        return None, 0.0
    sums = np.concatenate([[0.0], np.cumsum(means - means.mean())])
    return int(np.argmax(np.abs(sums))), float(np.abs(sums).max() / spread)


def permuted(means: Float[np.ndarray, " run"], swing: float, dice: np.random.Generator) -> float:
    """Share of orders of the runs whose cumulative sum strays as far."""
    spread = float(means.std(ddof=1))
    if spread <= 0:
        return 1.0
    orders = dice.permuted(np.tile(means - means.mean(), (RESAMPLES, 1)), axis=1)
    sums = np.concatenate([np.zeros((RESAMPLES, 1)), np.cumsum(orders, 1)], 1)
    as_far = (np.abs(sums).max(1) / spread >= swing - 1e-12).sum()
    return float((1 + as_far) / (1 + RESAMPLES))


def _interval(gaps: Float[np.ndarray, " anchor"], dice: np.random.Generator) -> tuple[float, float]:
    if len(gaps) < 2:
        return np.nan, np.nan
    means = [gaps[dice.integers(0, len(gaps), len(gaps))].mean() for _ in range(2000)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def _date_of(record: Mapping[str, Any], folder: Path) -> str:
    config = record.get("config")
    told = config.get("date") if isinstance(config, dict) else None
    if isinstance(told, str) and told:
        return told
    moment = (folder / "record.json").stat().st_mtime
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
