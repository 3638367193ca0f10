"""What the vqa judge said: obedience beside its controls, failures playing, how judges agree."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cosmolabe.core.reading import Reading
from cosmolabe.report.folder import Row, Run, number, text
from cosmolabe.report.strips import Strip, strip_of

BESIDE = ("obedience.blind", "obedience.shuffled", "obedience.single_frame")
COLUMNS = (
    "obedience", "obedience_corrected", "obedience.binary", "obedience.multiple_choice",
    "obedience.open_ended", *BESIDE, "same_when_options_turn", "identity", "identity_corrected",
    "motion", "frozen",
)  # fmt: skip
MOST_REASONS = 30


def table(readings: Sequence[Reading]) -> list[Row]:
    """One row a game and model: its vqa readings by name."""
    rows: dict[tuple[str, str], Row] = {}
    for one in readings:
        if one.judge == "vqa" and one.metric in COLUMNS:
            row = rows.setdefault(
                (one.game, one.model), {"game": one.game, "model": one.model, "cells": {}}
            )
            row["cells"][one.metric] = one
    for row in rows.values():
        row["why"] = _whys(row["cells"])
    return list(rows.values())


def _whys(cells: dict[str, Reading]) -> list[str]:
    names = ("obedience", "obedience_corrected", "identity")
    told = [(name, cells[name].why) for name in names if name in cells and cells[name].why]
    return [f"{name.replace('_', ' ')}: {why}" for name, why in told]


def agreement(run: Run) -> list[Row]:
    """Rank correlations as vqa.json has them; what is no number is missing."""
    found = run.vqa.get("agreement")
    found = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return [
        {name: text(row.get(name)) for name in ("game", "model", "of", "and", "why")}
        | {name: number(row.get(name)) for name in ("rank", "low", "high", "n", "of_all")}
        for row in found
    ]


def explained(run: Run) -> list[Row]:
    """What a model said went wrong in the worst windows, and what truly did where it is known."""
    found = run.vqa.get("explained")
    found = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return [{name: text(row.get(name)) for name in ("input", "said", "truth")} for row in found]


def reasons(run: Run) -> list[Row]:
    """How often clips and films were not asked about, by why, most often first."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in run.asked:
        pieces = row.get("pieces")
        pieces = [p for p in pieces if isinstance(p, dict)] if isinstance(pieces, list) else []
        if not pieces and row.get("status") != "scored":
            counts[text(row.get("status")), text(row.get("why"))] += 1
        for piece in pieces:
            if piece.get("status") != "asked":
                why = text(piece.get("why")).split(":")[0]
                counts[text(piece.get("status")), why] += 1
    return [{"status": s, "why": why, "count": n} for (s, why), n in counts.most_common()]


def failures(run: Run) -> list[Strip]:
    """Clips in which what was commanded was not seen."""
    return [strip_of(clip) for clip in run.failures]


def content(run: Run) -> Row:
    """The section as plain values, for report.json."""
    return {
        "films": len(run.asked),
        "failures": [{"name": clip.name, "caption": clip.caption} for clip in run.failures],
        "agreement": agreement(run),
        "explained": explained(run),
        "reasons": reasons(run),
    }


def section(run: Run) -> dict[str, Any]:
    """What the template needs."""
    return {
        "table": table(run.readings),
        "failures": failures(run),
        "agreement": agreement(run),
        "explained": explained(run),
        "reasons": reasons(run)[:MOST_REASONS],
        "certified": run.vqa.get("certified") is True,
        "vlm": text(run.vqa.get("vlm")),
    }
