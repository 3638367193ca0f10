"""All that is said of some sessions, as one record: `arena.json`, which the report draws."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cosmolabe.arena.analysis import comparing
from cosmolabe.arena.analysis.agreement import agreement, confusion
from cosmolabe.arena.analysis.audit import audit
from cosmolabe.arena.analysis.endpoint import Recorded
from cosmolabe.arena.analysis.gains import Gain, bands, gain_of, plain_gain, starts_of
from cosmolabe.arena.analysis.lineage import Edit, edits_of, whole_edit
from cosmolabe.arena.analysis.margins import Registered
from cosmolabe.arena.analysis.sessions import Session
from cosmolabe.core.record import versions

SCHEMA = 1
MOST_LINES = 400
"""Lines of a diff that the record keeps."""


def arena_record(
    sessions: Sequence[Session],
    margins: Registered | None = None,
    asked: Recorded | None = None,
) -> dict[str, Any]:
    """Everything of some sessions: gains, edits, agents side by side, audits, ledgers."""
    starts = starts_of(sessions)
    names = _names(sessions)
    gains = [gain_of(session, starts[session.cell]) for session in sessions]
    edits = {name: edits_of(s, asked) for name, s in zip(names, sessions, strict=True)}
    curves: dict[str, dict[str, list[float]]] = {}
    for session in sessions:
        cell = curves.setdefault(session.who, {}).setdefault(session.cell, [])
        cell += [one.score for one in session.experiments if math.isfinite(one.score)]
    rows = [
        _session_row(name, session, gain, edits[name])
        for name, session, gain in zip(names, sessions, gains, strict=True)
    ]
    return {
        "schema": SCHEMA,
        "sessions": rows,
        "starts": {cell: asdict(start) for cell, start in starts.items()},
        "agents": comparing.agents_table(gains),
        "pairs": comparing.compare_agents(gains, curves, margins),
        "cells": comparing.cells_table(gains),
        "edits": comparing.edits_table(edits),
        "winners": _winners(rows),
        "bands": bands(gains),
        "horizons": comparing.horizons(gains),
        "scenario": comparing.scenario_agreement(gains),
        "raters": _raters(edits, asked),
        "margins": asdict(margins) if margins else None,
        "notes": _notes(gains, margins),
        "versions": versions(),
    }


def _names(sessions: Sequence[Session]) -> list[str]:
    """Folder names, told apart by the folders above where two are equal."""
    short = [session.folder.name for session in sessions]
    if len(set(short)) == len(short):
        return short
    return [str(Path(*session.folder.resolve().parts[1:][-3:])) for session in sessions]


def _session_row(name: str, session: Session, gain: Gain, edits: Sequence[Edit]) -> dict[str, Any]:
    found, whole = whole_edit(session)
    return {
        **plain_gain(gain),
        "session": name,
        "budget": dict(session.budget),
        "harness": session.harness,
        "ended": session.ended,
        "level": str(session.facts.get("level", "")),
        "enforced": session.verdict.get("enforced") or _enforced(session),
        "whole": {**asdict(whole), "diff": _lines(found)},
        "runs": [_run(edit) for edit in edits],
        "audit": [asdict(one) for one in audit(session)],
        "ledger": [_short(line) for line in session.ledger],
    }


def _run(edit: Edit) -> dict[str, Any]:
    one = edit.experiment
    return {
        "experiment": one.name, "status": one.status, "note": one.note[:2000], "seed": one.seed,
        "val": dict(one.val), "wall": one.wall, "cpu": one.cpu, "tokens": one.tokens,
        "cost": one.cost, "parent": edit.parent, "over_starter": edit.over_starter,
        "over_parent": edit.over_parent, **asdict(edit.sorted), "judged": edit.judged,
        "judged_with_words": edit.judged_with_words, "diff": _lines(edit.found),
    }  # fmt: skip


def _lines(found: Any) -> list[list[str]]:  # noqa: ANN401 - a Difference or None
    lines = [[sign, text] for sign, text in found.lines] if found is not None else []
    more = [["@", f"{len(lines) - MOST_LINES} more lines"]] if len(lines) > MOST_LINES else []
    return lines[:MOST_LINES] + more


def _enforced(session: Session) -> dict[str, Any]:
    """What held the newest experiment, where nothing was verified."""
    told = [line["enforced"] for line in session.ledger if isinstance(line.get("enforced"), dict)]
    return told[-1] if told else {}


def _short(line: Any) -> dict[str, Any]:  # noqa: ANN401 - a line of a ledger
    kept = ("n", "kind", "time", "experiment", "status", "seed", "wall", "cpu", "exit")
    told = {key: line[key] for key in kept if key in line}
    for key in ("hash", "code_hash", "weights_hash"):
        if line.get(key):
            told[key] = str(line[key])[:12]
    if isinstance(line.get("val"), dict):
        told["composite"] = line["val"].get("composite")
    return told


def _winners(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Classes of what was submitted, against the starter as a whole."""
    counts: dict[str, int] = {}
    for row in rows:
        if row["winner"]:
            name = row["whole"]["category"] or "unreadable"
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _raters(edits: dict[str, list[Edit]], asked: Recorded | None) -> dict[str, Any] | None:
    """Rules against the language model, and the model with words against itself without."""
    flat = [(name, edit) for name, group in edits.items() for edit in group if edit.judged]
    if asked is None or not flat:
        return None
    sessions = [name for name, _ in flat]
    rules = [edit.sorted.category for _, edit in flat]
    alone = [edit.judged for _, edit in flat]
    words = [edit.judged_with_words for _, edit in flat]
    return {
        "model": asked.model,
        "rules_and_model": asdict(agreement(rules, alone, sessions)),
        "rules_and_model_with_words": asdict(agreement(rules, words, sessions)),
        "model_without_and_with_words": asdict(agreement(alone, words, sessions)),
        "confusion": confusion(rules, alone),
    }


def _notes(gains: Sequence[Gain], margins: Registered | None) -> list[str]:
    """What a reader must know before believing a number of this record."""
    notes = []
    unverified = sum(gain.status != "ok" for gain in gains)
    if unverified:
        notes.append(f"{unverified} of {len(gains)} sessions have no verified score on test.")
    unknown = [gain.cell for gain in gains if not math.isfinite(gain.start_test)]
    if unknown:
        cells = ", ".join(sorted(set(unknown))[:6])
        notes.append(f"No verified starter, so no gain on test, in: {cells}.")
    counts: dict[tuple[str, str], int] = {}
    for gain in gains:
        counts[gain.cell, gain.who] = counts.get((gain.cell, gain.who), 0) + 1
    if counts and min(counts.values()) < 3:
        notes.append(
            "Some cells have fewer than three seeds: intervals within cells are then too narrow, "
            "and one session says little (AutoWorldModel-Bench: a seed moves a score by 0.049)."
        )
    cells = {gain.cell for gain in gains}
    if 1 < len(cells) <= 32:
        notes.append(
            f"With {len(cells)} cells only large effects are seen: at 32 signed ranks find "
            "a true difference of half a standard deviation three times in four."
        )
    if margins is None:
        notes.append("No margin was registered, so nothing here says that two agents are equal.")
    gaps = [gain.gap for gain in gains if math.isfinite(gain.gap)]
    if gaps:
        notes.append(
            f"Val minus test of what was submitted: median {statistics.median(gaps):+.4f}."
        )
    return notes
