"""What the physics judge said of videos: how scores lie, the worst of them playing, the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosmolabe.report.folder import Row, Run, Window, number, text
from cosmolabe.report.strips import MOST_FRAMES, TALLEST, data_url, grid_of

MOST_VIOLATING = 20
"""Rows of the table; clips.jsonl holds all."""
MOST_NAMED = 100
"""Videos without a score named one by one in the page; report.json names all."""
BINS = 20
WIDTH, HEIGHT = 340, 96  # of a drawing, in its own units
LEFT, BELOW = 30, 16  # margins for the numbers
MOST_POINTS = 1500  # of one drawing
COLUMNS = (
    "value", "raw", "low", "high", "motion", "seconds", "worst_start", "worst_end", "worst_raw",
)  # fmt: skip


@dataclass(frozen=True)
class Card:
    """A violating video: its curve over time and the pictures of its worst window."""

    input: str
    row: Row
    svg: str
    picture: str
    """Data URL of a grid of frames, row by row; empty where there are none."""
    frames: int
    columns: int
    width: int
    height: int
    fps: float
    before: int
    """Frames before the worst window."""
    inside: int
    """Frames of the worst window."""


@dataclass(frozen=True)
class Link:
    """How the judge's readings on one model's rollouts go with their true state error."""

    game: str
    model: str
    numbers: Row
    svg: str


def rows_of(run: Run) -> list[Row]:
    """The videos as the report says them; what does not fit is missing."""
    return [_row(row) for row in run.videos]


def _row(row: Row) -> Row:
    names = ("input", "status", "why", "model", "game", "id", "role")
    return (
        {name: text(row.get(name)) for name in names}
        | {name: number(row.get(name)) for name in COLUMNS}
        | {"state_error": number(row.get("state_error")), "curve": curve_of(row)}
    )


def curve_of(row: Row) -> list[tuple[float, float, float]]:
    """(start, end, raw) of each window that is all numbers."""
    found = row.get("curve")
    found = found if isinstance(found, list) else []
    windows = [w for w in found if isinstance(w, list) and len(w) == 3]
    curve = [(number(w[0]), number(w[1]), number(w[2])) for w in windows]
    return [window for window in curve if all(map(math.isfinite, window))]


def scored(rows: Sequence[Row]) -> list[Row]:
    """Those with a score, the most violating first."""
    known = [row for row in rows if row["status"] == "scored" and math.isfinite(row["raw"])]
    return sorted(known, key=lambda row: -row["raw"])


def unscored(rows: Sequence[Row]) -> list[Row]:
    """Those without one, failures first."""
    left = [row for row in rows if row["status"] != "scored"]
    return sorted(left, key=lambda row: row["status"] != "failed")


def counts(rows: Sequence[Row]) -> list[Row]:
    """How many there are of each status and reason, most first."""
    found: dict[tuple[str, str], int] = {}
    for row in unscored(rows):
        why = row["why"].split(":")[0] if row["status"] == "abstained" else row["why"]
        key = row["status"], why.replace(row["input"], "…") or "no reason given"
        found[key] = found.get(key, 0) + 1
    ranked = sorted(found.items(), key=lambda item: -item[1])
    return [{"status": status, "why": why, "count": n} for (status, why), n in ranked]


def content(run: Run) -> Row:
    """The section as plain values, for report.json."""
    rows = rows_of(run)
    known = scored(rows)
    return {
        "videos": len(rows),
        "scored": len(known),
        "distribution": distribution([row["raw"] for row in known]),
        "most_violating": known[:MOST_VIOLATING],
        "shown": [window.input for window in run.worst],
        "reasons": counts(rows),
        "unscored": [
            {name: row[name] for name in ("input", "status", "why", "motion")}
            for row in unscored(rows)
        ],
        "links": [{"game": link.game, "model": link.model} | link.numbers for link in links(run)],
    }


def distribution(values: Sequence[float]) -> list[Row]:
    """How many videos have a score in each of 20 steps from 0 to 1, those beyond at the ends."""
    if not values:
        return []
    places = np.clip((np.asarray(values) * BINS).astype(int), 0, BINS - 1)
    found = np.bincount(places, minlength=BINS)
    return [{"from": n / BINS, "to": (n + 1) / BINS, "videos": int(found[n])} for n in range(BINS)]


def draw_distribution(bins: Sequence[Row]) -> str:
    """Bars over 0..1 as SVG."""
    most = max((row["videos"] for row in bins), default=0)
    if not most:
        return ""
    wide, high = WIDTH - LEFT, HEIGHT - BELOW
    bars = []
    for place, row in enumerate(bins):
        tall = high * row["videos"] / most
        x = LEFT + wide * place / len(bins)
        bars.append(
            f'<rect x="{x + 0.7:.2f}" y="{high - tall:.2f}" width="{wide / len(bins) - 1.4:.2f}" '
            f'height="{tall:.2f}" style="fill:var(--accent)"><title>{row["from"]:.2f} to '
            f"{row['to']:.2f}: {row['videos']}</title></rect>"
        )
    ticks = [_text(LEFT + wide * x, HEIGHT - 3, f"{x:g}") for x in (0.0, 0.25, 0.5, 0.75)]
    ticks.append(_text(WIDTH, HEIGHT - 3, "1", "end"))
    body = [*bars, *ticks, _line(LEFT, high, WIDTH, high), _text(LEFT - 4, 9, str(most), "end")]
    return _svg(f"violation of {sum(row['videos'] for row in bins)} videos", body)


def draw_curve(row: Row) -> str:
    """The score of each short window over time, the worst one shaded, as SVG."""
    curve = row["curve"]
    if not curve:
        return ""
    curve = curve[:: math.ceil(len(curve) / MOST_POINTS)]
    ends = [window[1] for window in curve]
    raws = [window[2] for window in curve]
    low, high = min(0.0, *raws), max(1.0, *raws)
    span, until = high - low, max(ends) or 1.0
    wide, tall = WIDTH - LEFT, HEIGHT - BELOW

    def x(seconds: float) -> float:
        return LEFT + wide * seconds / until

    def y(raw: float) -> float:
        return 4 + (tall - 8) * (high - raw) / span

    points = " ".join(f"{x((a + b) / 2):.2f},{y(raw):.2f}" for a, b, raw in curve)
    body = [
        f'<rect x="{x(row["worst_start"]):.2f}" y="0" width="'
        f'{x(row["worst_end"]) - x(row["worst_start"]):.2f}" height="{tall}" '
        'style="fill:var(--band)"/>'
        if math.isfinite(row["worst_start"]) and math.isfinite(row["worst_end"])
        else "",
        *(_line(LEFT, y(level), WIDTH, y(level)) for level in (0.0, 1.0)),
        f'<polyline points="{points}" style="fill:none;stroke:var(--accent);stroke-width:2"/>',
        *(
            f'<circle cx="{x((a + b) / 2):.2f}" cy="{y(raw):.2f}" r="2" style="fill:var(--accent)">'
            f"<title>{a:.2f} to {b:.2f} s: {raw:.3f}</title></circle>"
            for a, b, raw in curve[:200]
        ),
        _text(LEFT - 4, y(0.0) + 3, "0", "end"),
        _text(LEFT - 4, y(1.0) + 3, "1", "end"),
        _text(LEFT, HEIGHT - 3, "0 s", "start"),
        _text(WIDTH, HEIGHT - 3, f"{until:.1f} s", "end"),
    ]
    return _svg("violation over time", body)


def draw_points(points: Sequence[Sequence[float]]) -> str:
    """Raw score over true state error, a dot a rollout, as SVG."""
    points = points[:: max(1, math.ceil(len(points) / MOST_POINTS))]
    if not points:
        return ""
    errors, raws = [p[0] for p in points], [p[1] for p in points]
    right = max(max(errors), 1e-9)
    low, high = min(0.0, *raws), max(1.0, *raws)
    wide, tall = WIDTH - LEFT, HEIGHT - BELOW
    dots = [
        f'<circle cx="{LEFT + 3 + (wide - 6) * error / right:.2f}" '
        f'cy="{4 + (tall - 8) * (high - raw) / (high - low):.2f}" r="2.4" '
        'style="fill:var(--accent);opacity:.65"/>'
        for error, raw in points
    ]
    body = [
        *dots,
        _line(LEFT, tall, WIDTH, tall),
        _text(LEFT - 4, 9, f"{high:.2g}", "end"),
        _text(LEFT - 4, tall - 2, f"{low:.2g}", "end"),
        _text(LEFT, HEIGHT - 3, "state error 0", "start"),
        _text(WIDTH, HEIGHT - 3, f"{right:.3g}", "end"),
    ]
    return _svg("raw score over true state error", body)


def cards(run: Run) -> list[Card]:
    """The videos whose worst window was kept, in that order."""
    rows = {row["input"]: row for row in rows_of(run)}
    return [_card(window, rows[window.input]) for window in run.worst if window.input in rows]


def _card(window: Window, row: Row) -> Card:
    shrink = max(1, math.ceil(window.frames.shape[1] / TALLEST))
    frames = window.frames[:MOST_FRAMES, ::shrink, ::shrink]
    times = window.first + np.arange(len(frames)) / window.fps
    columns = max(1, math.ceil(math.sqrt(len(frames))))
    return Card(
        input=window.input,
        row=row,
        svg=draw_curve(row),
        picture=data_url(grid_of(frames, columns)),
        frames=len(frames),
        columns=columns,
        width=frames.shape[2],
        height=frames.shape[1],
        fps=window.fps,
        before=int((times < window.start - 1e-6).sum()),
        inside=int(((times >= window.start - 1e-6) & (times < window.end - 1e-6)).sum()),
    )


NUMBERS = (
    "n", "abstained", "failed", "violation", "true", "beaten", "rank", "rank_low", "rank_high",
)  # fmt: skip


def links(run: Run) -> list[Link]:
    """The rows of imagined.json."""
    return [
        Link(
            text(row.get("game")),
            text(row.get("model")),
            {name: number(row.get(name)) for name in NUMBERS} | {"floors": _floors(row)},
            draw_points(_points(row)),
        )
        for row in run.links
    ]


def _floors(row: Row) -> Row:
    found = row.get("floors")
    return {str(k): number(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _points(row: Row) -> list[list[float]]:
    found = row.get("points")
    found = found if isinstance(found, list) else []
    pairs = [p for p in found if isinstance(p, list) and len(p) == 2]
    numbers = [[number(a), number(b)] for a, b in pairs]
    return [pair for pair in numbers if all(map(math.isfinite, pair))]


def _svg(label: str, body: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(body)}</svg>'
    )


def _line(x: float, y: float, to: float, to_y: float) -> str:
    return (
        f'<path d="M{x:.2f} {y:.2f}L{to:.2f} {to_y:.2f}" '
        'style="stroke:var(--hair);stroke-width:1"/>'
    )


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" '
        f'style="fill:var(--faint);font-size:9.5px">{words}</text>'
    )


def section(run: Run) -> dict[str, Any]:
    """What the template needs."""
    rows = rows_of(run)
    known = scored(rows)
    left = unscored(rows)
    return {
        "rows": rows,
        "known": known,
        "worst": known[:MOST_VIOLATING],
        "distribution": draw_distribution(distribution([row["raw"] for row in known])),
        "cards": cards(run),
        "reasons": counts(rows),
        "named": left[:MOST_NAMED],
        "left": left,
        "links": links(run),
    }
