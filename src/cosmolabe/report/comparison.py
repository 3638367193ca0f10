"""The page of a comparison: what became better and worse, where, and is it significant."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cosmolabe.core.difference import VERDICTS, Difference
from cosmolabe.core.record import read_json
from cosmolabe.report.content import flat
from cosmolabe.report.folder import number
from cosmolabe.report.page import render, write_page

COMPARISON = "comparison.json"
MOST_EPISODES = 10
"""Episodes shown at each end; comparison.json holds all."""


@dataclass(frozen=True)
class Bar:
    """Where a difference lies on the common scale of its metric, in percent."""

    zero: float
    at: float
    low: float
    high: float


def write_comparison(folder: Path) -> Path:
    """Write comparison.html from the comparison.json of a folder."""
    record = read_json(folder / COMPARISON)
    if not isinstance(record, dict) or not isinstance(record.get("rows"), list):
        raise ValueError(f"{folder / COMPARISON}: expected a comparison with `rows`")
    return write_page(folder / "comparison.html", comparison_page(record))


def comparison_page(record: Mapping[str, Any]) -> str:
    """The page as text."""
    rows = [difference_of(row) for row in record["rows"]]
    counts = Counter(row.verdict for row in rows)
    episodes = [e for e in record.get("episodes", ()) if math.isfinite(number(e.get("difference")))]
    episodes.sort(key=lambda e: e["difference"])
    shown = min(MOST_EPISODES, len(episodes) // 2)
    others = [row for row in record.get("readings", ()) if isinstance(row, Mapping)]
    shown_elsewhere = ("rows", "episodes", "notes", "readings")
    rest = {key: value for key, value in record.items() if key not in shown_elsewhere}
    return render(
        "comparison.html",
        {
            "a": str(record.get("a", "A")),
            "b": str(record.get("b", "B")),
            "counts": {verdict: counts[verdict] for verdict in VERDICTS},
            "groups": [(v, bars([r for r in rows if r.verdict == v])) for v in VERDICTS],
            "fallen": episodes[:shown],
            "risen": episodes[::-1][:shown],
            "others": others,
            "videos": record.get("of") == "videos",
            "margin": number(record.get("margin")),
            "notes": [str(note) for note in record.get("notes", ())],
            "record": flat(rest),
        },
    )


def difference_of(row: Mapping[str, Any]) -> Difference:
    """A row of the record; what is missing is NaN, what is unknown is left out."""
    values: dict[str, Any] = {}
    for field in fields(Difference):
        value = row.get(field.name)
        if field.type is float:
            values[field.name] = number(value)
        elif field.type is str or field.name == "verdict":
            values[field.name] = "" if value is None else str(value)
        else:
            known = math.isfinite(number(value))
            values[field.name] = int(value) if known and value is not None else None
    if values["verdict"] not in VERDICTS:
        values["verdict"] = "unclear"
    return Difference(**values)


def bars(rows: list[Difference]) -> list[tuple[Difference, Bar | None]]:
    """Each difference with its bar; rows of one metric share a scale that holds zero."""
    reach: dict[str, float] = {}
    for row in rows:
        ends = [abs(x) for x in (row.difference, row.low, row.high) if math.isfinite(x)]
        reach[row.metric] = max(reach.get(row.metric, 0.0), *ends, 0.0)
    return [(row, _bar(row, reach[row.metric])) for row in rows]


def _bar(row: Difference, reach: float) -> Bar | None:
    if not math.isfinite(row.difference) or not reach:
        return None

    def place(value: float) -> float:
        return 50 + 46 * (value if math.isfinite(value) else row.difference) / reach

    return Bar(50, place(row.difference), place(row.low), place(row.high))
