"""Best of N: of several videos made for one prompt, the one that violates physics least."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from cosmolabe.core import bootstrap
from cosmolabe.judges.physics.readings import column_of

FOLDER = "folder"
"""Groups by the folder a video lies in, where no table says what belongs together."""


@dataclass(frozen=True)
class Choice:
    """The best of one group."""

    group: str
    best: str
    """Input; empty where none was scored."""
    value: float
    raw: float
    runner_up: float
    """Raw score of the next best; NaN where there is none."""
    told_apart: float
    """Share of the heads that put the best before the next best; NaN for one head or one video."""
    mean: float
    """Mean raw score of the group: what a random choice gives."""
    n: int
    unscored: int
    """Videos that were not scored and so could not win."""
    order: tuple[str, ...]
    """Scored inputs, the best first."""


def best_of(rows: Sequence[Mapping[str, Any]], by: str = "prompt") -> list[Choice]:
    """The best of each group of rows; groups in the order of their first video.

    A video without a score (frozen, too short, unreadable) cannot win; a row that could not be read
    and does not say where it belongs is left out. Rows of one raw score stand in the order of their
    names. `by` is `prompt`, `group`, another column of the rows, or `folder`.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.get("status") != "failed" or _names(row, by):  # a torn line is of no group
            groups.setdefault(group_of(row, by), []).append(row)
    return [_choice(name, group) for name, group in groups.items()]


def gain(choices: Sequence[Choice]) -> tuple[float, float, float]:
    """How much lower the raw score of the choices is than that of a random one: mean, low, high.

    The interval is over groups; a single one has none.
    """
    gaps = np.array([choice.mean - choice.raw for choice in choices], np.float64)
    if np.isfinite(gaps).sum() < 2:
        return bootstrap.mean_of_known(gaps), float("nan"), float("nan")
    weights = bootstrap.resamples(np.arange(len(gaps)))
    low, high = bootstrap.interval(bootstrap.weighted_mean(gaps, weights))
    return bootstrap.mean_of_known(gaps), float(low), float(high)


def _names(row: Mapping[str, Any], by: str) -> bool:
    return by == FOLDER or row.get(by) not in (None, "")


def group_of(row: Mapping[str, Any], by: str) -> str:
    """What a row belongs to; one that does not say is refused."""
    if by == FOLDER:
        return str(PurePath(str(row.get("input", ""))).parent)
    if not _names(row, by):
        raise ValueError(
            f"{row.get('input')} says no {by}; give a table (CSV, JSON lines) with that column, or "
            f"say --by {FOLDER}"
        )
    return str(row[by])


def _choice(name: str, rows: Sequence[Mapping[str, Any]]) -> Choice:
    raw = column_of(rows, "raw")
    scored = [n for n, row in enumerate(rows) if row.get("status") == "scored"]
    order = sorted(scored, key=lambda n: (raw[n], str(rows[n].get("input"))))
    nothing = float("nan")
    if not order:
        return Choice(name, "", *[nothing] * 5, len(rows), len(rows), ())
    best = order[0]
    second = order[1] if len(order) > 1 else None
    return Choice(
        group=name,
        best=str(rows[best].get("input")),
        value=float(column_of([rows[best]], "value")[0]),
        raw=float(raw[best]),
        runner_up=nothing if second is None else float(raw[second]),
        told_apart=nothing if second is None else _agreement(rows[best], rows[second]),
        mean=float(raw[order].mean()),
        n=len(rows),
        unscored=len(rows) - len(order),
        order=tuple(str(rows[n].get("input")) for n in order),
    )


def _agreement(best: Mapping[str, Any], second: Mapping[str, Any]) -> float:
    one, two = (np.asarray(row.get("members") or [], np.float64) for row in (best, second))
    if len(one) < 2 or len(one) != len(two):
        return float("nan")
    return float(np.mean((one < two) + 0.5 * (one == two)))
