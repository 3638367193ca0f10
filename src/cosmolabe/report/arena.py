"""The page of arena sessions: who gained what, by which edits, and what held them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmolabe.core.figures import with_span
from cosmolabe.core.record import read_json
from cosmolabe.report.arena_curves import Line, colours, draw, draw_best_of
from cosmolabe.report.content import flat
from cosmolabe.report.folder import number
from cosmolabe.report.page import render, write_page

ARENA = "arena.json"
SCHEMA = 1
MOST_LEDGER = 200
"""Lines of a ledger that are shown; arena.json and the session hold all."""
NO_SCENARIO = {"n": 0, "alike": 0, "r": None}
NO_START = {"test": None, "source": "", "runs": 0, "seed_sd": None}
SCALES = (("seconds", "over_time", "s"), ("tokens", "over_tokens", "tokens"),
          ("cost", "over_cost", "US dollars"))  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One game and base model: its sessions and their curves."""

    name: str
    start: Mapping[str, Any]
    sessions: Sequence[Mapping[str, Any]]
    drawings: Sequence[tuple[str, str]]
    """(what it is against, SVG)."""


def write_arena(folder: Path) -> Path:
    """Write arena.html from the arena.json of a folder."""
    record = read_json(folder / ARENA)
    if not isinstance(record, dict) or not isinstance(record.get("sessions"), list):
        raise ValueError(f"{folder / ARENA}: expected an arena record with `sessions`")
    if record.get("schema") != SCHEMA:
        raise ValueError(f"{folder / ARENA} has schema {record.get('schema')}, not {SCHEMA}")
    return write_page(folder / "arena.html", arena_page(record))


def arena_page(record: Mapping[str, Any]) -> str:
    """The page as text."""
    sessions = [row for row in record["sessions"] if isinstance(row, Mapping)]
    paint = colours([str(row.get("who")) for row in sessions])
    return render(
        "arena.html",
        {
            "title": _title(sessions),
            "cells": _cells(record, sessions, paint),
            "sessions": sessions,
            "agents": record.get("agents") or [],
            "pairs": record.get("pairs") or [],
            "tested": record.get("cells") or [],
            "edits": record.get("edits") or [],
            "winners": record.get("winners") or {},
            "bands": record.get("bands") or {},
            "horizons": record.get("horizons") or {},
            "scenario": NO_SCENARIO | dict(record.get("scenario") or {}),
            "raters": record.get("raters"),
            "margins": record.get("margins"),
            "notes": record.get("notes") or [],
            "versions": flat(record.get("versions") or {}),
            "paint": paint,
            "number": number,
            "signed": signed,
            "span": span,
            "most_ledger": MOST_LEDGER,
            "flat": flat,
        },
    )


def signed(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A difference with its sign; a dash where it is missing."""
    value = number(value)
    return "–" if value != value else f"{value:+.3f}".replace("-", "−")


def span(row: Mapping[str, Any], value: str = "iqm") -> str:
    """A value with its interval."""
    middle, low, high = (number(row.get(key)) for key in (value, "low", "high"))
    return with_span(middle, low, high).replace("-", "−")


def _title(sessions: Sequence[Mapping[str, Any]]) -> str:
    cells = {str(row.get("cell")) for row in sessions}
    count = f"{len(sessions)} session{'s' if len(sessions) != 1 else ''}"
    return f"{count} in {len(cells)} cells" if len(cells) > 1 else f"{count}: {''.join(cells)}"


def _cells(
    record: Mapping[str, Any],
    sessions: Sequence[Mapping[str, Any]],
    paint: Mapping[str, tuple[str, str]],
) -> list[Cell]:
    starts = record.get("starts")
    starts = starts if isinstance(starts, Mapping) else {}
    cells = []
    for name in dict.fromkeys(str(row.get("cell")) for row in sessions):
        mine = [row for row in sessions if str(row.get("cell")) == name]
        drawings = [(unit, _curve(mine, total, key, unit, paint)) for total, key, unit in SCALES]
        drawings.append(("best of k runs, expected", draw_best_of([
            (_name(row), *paint[str(row.get("who"))], [number(v) for v in row.get("best_of") or ()])
            for row in mine
        ])))  # fmt: skip
        cells.append(
            Cell(name, NO_START | dict(starts.get(name) or {}), mine, [d for d in drawings if d[1]])
        )
    return cells


def _curve(
    rows: Sequence[Mapping[str, Any]],
    total: str,
    key: str,
    unit: str,
    paint: Mapping[str, tuple[str, str]],
) -> str:
    lines = []
    for row in rows:
        steps = tuple((number(s), number(v)) for s, v in row.get(key) or ())
        end = max([number(row.get(total)), *(s for s, _ in steps)], default=0.0)
        end = end if end == end else max((s for s, _ in steps), default=0.0)
        lines.append(Line(_name(row), *paint[str(row.get("who"))], steps, end))
    return draw(lines, unit)


def _name(row: Mapping[str, Any]) -> str:
    return f"{row.get('who')}, seed {row.get('seed')}"
