"""`make bench`: every comparison, printed and written to benchmarks/out/results.json.

`python -m benchmarks NAME …` runs some files only; `--docs` also writes docs/speed.md.
"""

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

PARTS = (
    "simulation", "drawing", "windows", "regenerate", "models", "decoding", "head_training",
    "vqa_adaptation",
)  # fmt: skip
OUT = Path(__file__).parent / "out"
DOCS = Path(__file__).parent.parent / "docs" / "speed.md"
PAGE = """# Speed

Written by `python -m benchmarks --docs` (`make bench` without it). Ours and each peer take turns
in one process on one core; rates are per second of processor time, so that what others do on the
machine does not count. Each ratio is the median over rounds of ours over the peer's in the same
round. Absolute numbers differ between machines and between runs
(by 30 % here); only the ratios mean something. A ✗ is a target missed; a row without a target
only informs.

| what | ours | peer | peer's | ratio | target | unit | note |
|---|---|---|---|---|---|---|---|
{rows}

Machine: {machine}.
"""


def main(chosen: list[str]) -> int:
    """Run the chosen files (all by default); 1 if anything could not be measured."""
    to_docs = "--docs" in chosen
    chosen = [part for part in chosen if part != "--docs"]
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
    if to_docs:
        DOCS.write_text(_page(rows), encoding="utf-8")
    not_run = [row.name for row in rows if row.note.startswith("NOT RUN")]
    if not_run:
        print(f"not measured: {not_run}", file=sys.stderr)
    return 1 if not_run else 0


def _page(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        met = (
            ""
            if row.target is None
            else f"{'✓' if row.ratio >= row.target else '✗'} {row.target:.2g}"
        )
        numbers = f"{_short(row.ours)} | {row.peer_name} | {_short(row.peer)} | {row.ratio:.2f}"
        lines.append(f"| {row.name} | {numbers} | {met} | {row.unit} | {row.note} |")
    machine = ", ".join(f"{name} {version}" for name, version in versions().items())
    return PAGE.format(rows="\n".join(lines), machine=f"{os.cpu_count()} cores, {machine}")


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
