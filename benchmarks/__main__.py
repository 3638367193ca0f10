"""`make bench`: every comparison, printed and written to benchmarks/out/results.json.

`python -m benchmarks NAME …` runs some files only. `--docs` also writes what was measured into
docs/tables/speed.json and the page docs/speed.md from it; what was not run stays as it was.
"""

import ast
import importlib
import math
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row, missing
from cosmolabe.core.markdown import markdown_table
from cosmolabe.core.record import read_json, versions, write_json

PARTS = (
    "simulation", "drawing", "windows", "regenerate", "models", "decoding", "eyes", "head_training",
    "questions", "vqa_adaptation", "exports", "arena_sandbox", "arena_verifier",
)  # fmt: skip
HERE = Path(__file__).parent
OUT = HERE / "out"
TABLE, DOCS = (HERE.parent / "docs" / name for name in ("tables/speed.json", "speed.md"))
INTRODUCTION = """# Speed

Written by `python -m benchmarks --docs` (`make bench` without it); `python -m benchmarks NAME`
measures one section. Ours and each peer take turns in one process on one core; unless a section
says otherwise, rates are per second of processor time, so that what others do on the machine does
not count. Each ratio is the median over rounds of ours over the peer's in the same round; of
seconds, bytes and shares the peer's over ours, so above 1 ours does better. Absolute numbers differ
between machines and between runs (by 30 % here); only the ratios mean something. A ✗ is a target
missed; a row without a target only informs.
"""
COLUMNS = ("what", "ours", "peer", "peer's", "ratio", "target", "unit", "note")
NUMBERS = ("ours", "peer", "ratio")
Section = dict[str, Any]  # machine, and rows as of `Row`


def main(chosen: list[str]) -> int:
    """Run the chosen files (all by default); 1 if anything could not be measured."""
    to_docs = "--docs" in chosen
    chosen = [part for part in chosen if part != "--docs"]
    unknown = sorted(set(chosen) - set(PARTS))
    if unknown:
        print(f"no benchmark named {unknown}; have {list(PARTS)}", file=sys.stderr)
        return 2
    found: dict[str, list[Row]] = {}
    for part in chosen or PARTS:
        rows = found[part] = []
        try:
            for row in importlib.import_module(f"benchmarks.{part}").rows():
                rows.append(row)
                print(f"{row.name} against {row.peer_name}: {row.ratio:.2f}", file=sys.stderr)
        except Exception as error:  # one broken peer must not hide the other results
            traceback.print_exc()
            rows.append(missing(part, "", "", f"{type(error).__name__}: {error}"))
        write_json(OUT / "results.json", found)
        write_json(OUT / "versions.json", versions())
    rows = [row for some in found.values() for row in some]
    _show(rows)
    if to_docs:
        _keep(found)
    not_run = [row.name for row in rows if row.note.startswith("NOT RUN")]
    if not_run:
        print(f"not measured: {not_run}", file=sys.stderr)
    return 1 if not_run else 0


def _keep(found: dict[str, list[Row]]) -> None:
    """Put the sections into the table, and write the page from it."""
    kept = read_json(TABLE) if TABLE.exists() else {}
    for part, rows in found.items():
        kept[part] = {"machine": _machine(), "rows": [asdict(row) for row in rows]}
    write_json(TABLE, {part: kept[part] for part in PARTS if part in kept})
    DOCS.write_text(page(read_json(TABLE)), encoding="utf-8")


def _machine() -> str:
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"{os.cpu_count()} cores, {named}"


def page(table: dict[str, Section]) -> str:
    """The page of all sections of the table."""
    sections = [INTRODUCTION]
    for part, section in table.items():
        told = ast.get_docstring(ast.parse((HERE / f"{part}.py").read_text(encoding="utf-8")))
        rows = markdown_table(COLUMNS, [_cells(_row(row)) for row in section["rows"]])
        sections.append(f"## {part}\n\n{told}\n\n{rows}\n")
        sections.append(f"Machine: {section['machine']}.\n")
    return "\n".join(sections)


def _row(kept: dict[str, Any]) -> Row:
    numbers = {name: kept[name] if kept[name] is not None else math.nan for name in NUMBERS}
    return Row(**kept | numbers)


def _cells(row: Row) -> tuple[str, ...]:
    met = (
        "" if row.target is None else f"{'✓' if row.ratio >= row.target else '✗'} {row.target:.2g}"
    )
    numbers = _short(row.ours), row.peer_name, _short(row.peer), f"{row.ratio:.2f}"
    return (row.name, *numbers, met, row.unit, row.note)


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _show(rows: list[Row]) -> None:
    table = Table("what", "ours", "peer", "peer's", "ratio", "target", "unit", "note")
    for row in rows:
        met = "" if row.target is None else ("✓ " if row.ratio >= row.target else "✗ ")
        table.add_row(
            row.name,
            _short(row.ours),
            row.peer_name,
            _short(row.peer),
            f"{row.ratio:.2f}",
            met + ("" if row.target is None else f"{row.target:g}"),
            row.unit,
            row.note,
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
