"""Readings made of window scores: value, interval, floor, ceiling, and what went wrong."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cosmolabe.core import bootstrap
from cosmolabe.core.reading import Reading
from cosmolabe.judges.state.protocol import StateProtocol
from cosmolabe.judges.state.scoring import Totals, WindowScores, aggregate, all_once


def readings_of(
    scores: WindowScores,
    clusters: np.ndarray,
    protocol: StateProtocol,
    shared: dict,
    floors: Sequence[WindowScores] = (),
    ceiling: WindowScores | None = None,
) -> list[Reading]:
    """The main readings of one model on one game: interval, the best of the floors, the ceiling."""
    point = aggregate(scores, all_once(scores), protocol)
    spread = aggregate(scores, bootstrap.resamples(clusters), protocol)
    below = [aggregate(one, all_once(one), protocol) for one in floors]
    above = None if ceiling is None else aggregate(ceiling, all_once(ceiling), protocol)
    readings = []
    for metric, horizon, unit, direction in _measures(protocol):

        def of(totals: Totals, metric: str = metric, horizon: int | None = horizon) -> np.ndarray:
            values = getattr(totals, metric)
            return values if horizon is None else values[:, horizon - 1]

        low, high = bootstrap.interval(of(spread))
        best = np.nanmin if direction == "lower" else np.nanmax
        known = [float(of(one)[0]) for one in below if np.isfinite(of(one)[0])]
        readings.append(
            Reading(
                metric=metric,
                horizon=horizon,
                value=float(of(point)[0]),
                low=float(low),
                high=float(high),
                floor=float(best(known)) if known else np.nan,
                ceiling=np.nan if above is None else float(of(above)[0]),
                unit=unit,
                direction=direction,
                why=_failures(scores) if metric == "final" else "",
                **shared,
            )
        )
    return readings


def _measures(
    protocol: StateProtocol,
) -> list[tuple[str, int | None, str, Literal["higher", "lower"]]]:
    rows: list[tuple[str, int | None, str, Literal["higher", "lower"]]] = [
        ("final", None, "score", "higher")
    ]
    for horizon, _ in protocol.weights:
        rows += [
            ("composite", horizon, "score", "higher"),
            ("position_l1", horizon, "world sizes", "lower"),
            ("alive_f1", horizon, "share", "higher"),
        ]
    return rows


def _failures(scores: WindowScores) -> str:
    notes = []
    if scores.num_invalid:
        first = next(reason for reason in scores.why if reason)
        notes.append(f"{scores.num_invalid} window(s) invalid, scored 0 (first: {first})")
    if scores.num_unmeasurable:
        notes.append(f"{scores.num_unmeasurable} window(s) with nobody alive in truth left out")
    return "; ".join(notes)
