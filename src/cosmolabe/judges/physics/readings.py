"""From rows to readings: means with intervals, by model, truth beside them where it is known."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosmolabe.core import bootstrap
from cosmolabe.core.reading import Reading
from cosmolabe.judges.physics.protocol import PhysicsProtocol

VIOLATING = 0.5
"""A value above it is called a violation (ours; the middle of the scale)."""
TRUE = "true"
"""Role of a video that shows what truly happened."""
MEASURES = (
    ("violation", "value", "violation, 0..1", "lower"),
    ("violation_raw", "raw", "violation", "lower"),
    ("worst_window", "worst_raw", "violation", "lower"),
    ("motion", "motion", "share of full brightness a second", "none"),
)
"""Reading, column of a row, unit, which way is better."""


def readings_of(
    rows: Sequence[Mapping[str, Any]], protocol: PhysicsProtocol, data: str
) -> list[Reading]:
    """Readings of each game and model; rows of the role `true` give the ceiling."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.get("role") != TRUE:
            key = (str(row.get("game") or ""), str(row.get("model") or ""))
            groups.setdefault(key, []).append(row)
    readings = []
    for (game, model), group in groups.items():
        truth = [
            row for row in rows if row.get("role") == TRUE and str(row.get("game") or "") == game
        ]
        shared = {"protocol": protocol.fingerprint, "data": data, "game": game, "model": model}
        readings += _of_group(group, truth, shared)
    return readings


def _of_group(
    rows: Sequence[Mapping[str, Any]], truth: Sequence[Mapping[str, Any]], shared: dict[str, Any]
) -> list[Reading]:
    scored = [row for row in rows if row.get("status") == "scored"]
    counts = {"n": len(scored), "skipped": len(rows) - len(scored)}
    weights = bootstrap.resamples(np.array([cluster_of(row) for row in scored]))
    why = "" if scored else "no video was scored; clips.jsonl says why of each"
    readings = []
    for metric, column, unit, direction in MEASURES:
        values = column_of(scored, column)
        readings.append(
            _reading(metric, values, weights, unit, direction, why, counts | shared)
            if metric != "violation"
            else _with_ceiling(values, weights, unit, why, truth, counts | shared)
        )
    over = np.where(np.isfinite(column_of(scored, "value")), 0.0, np.nan)
    over += column_of(scored, "value") > VIOLATING
    readings.append(
        _reading("share_violating", over, weights, "share of videos", "lower", why, counts | shared)
    )
    return readings


def column_of(rows: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    """A column as floats; what is no number is NaN."""
    values = [row.get(name) for row in rows]
    return np.array(
        [
            float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else np.nan
            for v in values
        ],
        np.float64,
    )


def _with_ceiling(
    values: np.ndarray,
    weights: np.ndarray,
    unit: str,
    why: str,
    truth: Sequence[Mapping[str, Any]],
    more: dict[str, Any],
) -> Reading:
    known = column_of([row for row in truth if row.get("status") == "scored"], "value")
    ceiling = float(known.mean()) if len(known) else float("nan")
    return _reading("violation", values, weights, unit, "lower", why, more, ceiling)


def _reading(
    metric: str,
    values: np.ndarray,
    weights: np.ndarray,
    unit: str,
    direction: Any,  # noqa: ANN401 - a Reading's literal
    why: str,
    more: dict[str, Any],
    ceiling: float = float("nan"),
) -> Reading:
    value = bootstrap.mean_of_known(values) if len(values) else float("nan")
    low, high = (float("nan"), float("nan"))
    if len(values) > 1:
        low, high = (
            float(end) for end in bootstrap.interval(bootstrap.weighted_mean(values, weights))
        )
    missing = "" if value == value else why or "no video has it"
    return Reading(
        "physics", metric, value, unit, direction, low, high, ceiling=ceiling, why=missing, **more
    )


def cluster_of(row: Mapping[str, Any]) -> str:
    """Videos of one group or prompt are not independent."""
    return str(row.get("group") or row.get("prompt") or row.get("input"))
