"""The report's numbers as Parquet: `readings.parquet` alone, `report.parquet` with everything."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.core.record import escaped, written_whole
from cosmolabe.report.folder import Row, Run, number, whole

NUMBERS = ("value", "low", "high", "floor", "ceiling", "still", "constant_velocity")
COUNTS = ("horizon", "n", "skipped", "episode", "start")
TEXTS = (
    "game", "model", "judge", "metric", "kind", "id", "status", "why",
    "unit", "direction", "protocol", "data",
)  # fmt: skip
SCHEMA = pa.schema(
    [("section", pa.string())]
    + [(name, pa.string()) for name in TEXTS]
    + [(name, pa.int64()) for name in COUNTS]
    + [(name, pa.float64()) for name in NUMBERS]
)
"""One long table: `section` is reading, curve, kind, window or video."""


def write_tables(run: Run, folder: Path) -> None:
    """Write both tables beside the report."""
    readings = [_row("reading", asdict(r)) for r in run.readings]
    _write(folder / "readings.parquet", readings)
    _write(
        folder / "report.parquet",
        readings
        + [_row("curve", row) for row in run.curves]
        + [
            _row("kind", row | {"metric": metric, "value": row.get(metric)})
            for row in run.kinds
            for metric in ("position_l1", "alive_f1")
        ]
        + [
            _row("window", row | {"metric": "final", "value": row.get("final")})
            for row in run.windows
        ]
        + [
            _row("video", row | {"judge": "physics", "metric": "violation", "id": row.get("input")})
            for row in run.videos
        ],
    )


def _row(section: str, row: Row) -> Row:
    return (
        {"section": section}
        | {name: None if row.get(name) is None else escaped(str(row[name])) for name in TEXTS}
        | {name: _count(row.get(name)) for name in COUNTS}
        | {name: number(row.get(name)) for name in NUMBERS}
    )


def _count(value: Any) -> int | None:  # noqa: ANN401 - whatever a record holds
    return whole(value) if number(value) == value else None


def _write(path: Path, rows: list[Row]) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    with written_whole(path) as part:
        pq.write_table(table, part, compression="zstd")
