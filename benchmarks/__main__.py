"""`make bench`: every comparison, printed and written to benchmarks/out/results.json."""

import importlib
import os
import sys
import traceback
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row, missing
from cosmolabe.core.record import versions, write_json

PARTS = ("simulation", "drawing", "windows", "regenerate", "models")
OUT = Path(__file__).parent / "out"


def main(chosen: list[str]) -> int:
    """Run the chosen files (all by default); 1 if anything could not be measured."""
    unknown = sorted(set(chosen) - set(PARTS))
    if unknown:
        print(f"no benchmark named {unknown}; have {list(PARTS)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for part in chosen or PARTS:
        try:
            for row in importlib.import_module(f"benchmarks.{part}").rows():
                rows.append(row)
                print(f"{row.name} against {row.peer_name}: {row.ratio:.2f}", file=sys.stderr)
        except Exception as error:  # one broken peer must not hide the other results
            traceback.print_exc()
            rows.append(missing(part, "", "", f"{type(error).__name__}: {error}"))
        write_json(OUT / "results.json", rows)
        write_json(OUT / "versions.json", versions())
    _show(rows)
    not_run = [row.name for row in rows if row.note.startswith("NOT RUN")]
    if not_run:
        print(f"not measured: {not_run}", file=sys.stderr)
    return 1 if not_run else 0


def _show(rows: list[Row]) -> None:
    table = Table("what", "ours", "peer", "peer's", "ratio", "target", "unit", "note")
    for row in rows:
        met = "" if row.target is None else ("✓ " if row.ratio >= row.target else "✗ ")
        table.add_row(
            row.name,
            f"{row.ours:,.0f}",
            row.peer_name,
            f"{row.peer:,.0f}",
            f"{row.ratio:.2f}",
            met + ("" if row.target is None else f"{row.target:g}"),
            row.unit,
            row.note,
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
