"""Learning curves of sessions as inline SVG: best score on val against what was spent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 380, 190, 44, 26, 10, 12  # pixels
COLOURS = (
    "var(--accent)", "var(--floor-2)", "var(--good)", "var(--bad)", "var(--floor)", "var(--ink)",
)  # fmt: skip
DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Line:
    """One session's best so far."""

    name: str
    colour: str
    dash: str
    steps: tuple[tuple[float, float], ...]
    """(spent, best score), rising."""
    end: float
    """Where its spending ends."""


def colours(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and dash of each agent, in order; after six, the same colours in dashes."""
    return {
        name: (COLOURS[n % len(COLOURS)], DASHES[n // len(COLOURS) % len(DASHES)])
        for n, name in enumerate(dict.fromkeys(names))
    }


def draw(lines: Sequence[Line], unit: str) -> str:
    """The lines as steps; "" where nothing is known."""
    lines = [line for line in lines if line.steps]
    if not lines:
        return ""
    values = [score for line in lines for _, score in line.steps]
    low, high = min(values), max(values)
    room = (high - low or 0.1) * 0.08
    low, high = low - room, high + room
    reach = max(line.end for line in lines) or 1.0

    def x(spent: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(spent / reach, 1.0)

    def y(score: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - score) / (high - low)

    parts = [_axis(low, high, reach, unit)]
    for line in lines:
        (spent, score), *rest = line.steps
        path = f"M{x(spent):.1f} {y(score):.1f}"
        for spent, score in rest:
            path += f"H{x(spent):.1f}V{y(score):.1f}"
        path += f"H{x(line.end):.1f}"
        dots = "".join(
            f'<circle cx="{x(s):.1f}" cy="{y(v):.1f}" r="2.4" fill="{line.colour}"/>'
            for s, v in line.steps
        )
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        parts.append(
            f'<path d="{path}" fill="none" stroke="{line.colour}" stroke-width="1.8"{dash}>'
            f"<title>{escape(line.name)}</title></path>{dots}"
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="best score on val against '
        f'{escape(unit)}">{"".join(parts)}</svg>'
    )


def draw_best_of(curves: Sequence[tuple[str, str, str, Sequence[float]]]) -> str:
    """Expected best of k against k: (name, colour, dash, curve) of each."""
    lines = [
        Line(name, colour, dash, tuple((k, v) for k, v in enumerate(curve, 1)), float(len(curve)))
        for name, colour, dash, curve in curves
        if curve and all(map(math.isfinite, curve))
    ]
    return draw(lines, "runs")


def _axis(low: float, high: float, reach: float, unit: str) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="var(--hair)"/>',
        _label(right, HEIGHT - 8, "end", f"{_short(reach)} {unit}"),
        _label(LEFT, HEIGHT - 8, "start", "0"),
    ]
    for share in (0.0, 0.5, 1.0):
        value = low + (high - low) * share
        height = bottom - (bottom - TOP) * share
        parts.append(_label(LEFT - 6, height + 4, "end", f"{value:.3f}"))
    return "".join(parts)


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="10.5" '
        f'fill="var(--faint)">{escape(text)}</text>'
    )


def _short(value: float) -> str:
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if mark == 'k' else size):.3g}{mark}"
    return f"{value:.3g}"
