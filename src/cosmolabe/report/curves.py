"""Curves over the horizon as inline SVG, drawn by Altair (the extra `report`)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cosmolabe.report.folder import Row, number

WIDTH, HEIGHT = 330, 180  # pixels

LINES = {"ceiling": "the real thing", "constant_velocity": "constant velocity", "still": "still"}
"""Reference lines of a curve, as the record names them and as the legend says them."""

PAINT = {
    "#010101": "var(--ink)",
    "#020202": "var(--faint)",
    "#030303": "var(--hair)",
    "#040404": "var(--accent)",
    "#050505": "var(--good)",
    "#060606": "var(--floor)",
    "#070707": "var(--floor-2)",
}
"""Altair wants colours, the page wants its theme: stand-ins, replaced in the finished SVG."""
INK, FAINT, HAIR, ACCENT, GOOD, FLOOR, FLOOR_2 = PAINT
COLOURS = {"ceiling": GOOD, "constant_velocity": FLOOR_2, "still": FLOOR}
DASHES = {"ceiling": [6, 3], "constant_velocity": [2, 3], "still": [5, 2, 1, 2]}


@dataclass(frozen=True)
class Curve:
    """One metric of one model in one game, over the horizon."""

    game: str
    model: str
    metric: str
    svg: str


def draw_curves(rows: Iterable[Row]) -> list[Curve]:
    """One drawing per game, model and metric, in order of first appearance."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        key = (str(row.get("game")), str(row.get("model")), str(row.get("metric")))
        groups.setdefault(key, []).append(row)
    return [Curve(*key, draw_curve(group)) for key, group in groups.items()]


def draw_curve(rows: list[Row]) -> str:
    """The value with its band, and the reference lines that are known, as SVG text."""
    alt = _altair()
    rows = [
        {key: number(row.get(key)) for key in ("horizon", "value", "low", "high", *LINES)}
        for row in rows
    ]
    rows = [
        {key: (value if math.isfinite(value) else None) for key, value in row.items()}
        for row in sorted(rows, key=lambda row: row["horizon"])
        if math.isfinite(row["horizon"])
    ]
    known = [v for row in rows for k, v in row.items() if k != "horizon" and v is not None]
    flat = bool(known) and max(known) == min(known)
    span = [known[0] - 0.05, known[0] + 0.05] if flat else alt.Undefined
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("horizon:Q", title="steps ahead", scale=alt.Scale(nice=False), axis=_ticks(alt, rows))

    def y(name: str) -> Any:  # noqa: ANN401 - an Altair channel
        return alt.Y(f"{name}:Q", title=None, scale=alt.Scale(zero=False, domain=span))

    layers = []
    if any(row["low"] is not None for row in rows):
        band = base.mark_area(opacity=0.22, color=ACCENT, interpolate="monotone")
        layers.append(band.encode(x=x, y=y("low"), y2="high:Q"))
    for name in LINES:
        if any(row[name] is not None for row in rows):
            mark = base.mark_line(
                color=COLOURS[name],
                strokeWidth=1.6,
                strokeDash=DASHES[name],
                interpolate="monotone",
            )
            layers.append(mark.encode(x=x, y=y(name)))
    line = base.mark_line(color=ACCENT, strokeWidth=2.6, interpolate="monotone")
    dots = base.mark_point(color=ACCENT, filled=True, size=22, opacity=1)
    layers += [mark.encode(x=x, y=y("value")) for mark in (line, dots)]
    return _svg(alt, alt.layer(*layers))


def _ticks(alt: Any, rows: list[Row]) -> Any:  # noqa: ANN401 - the Altair module and an axis
    steps = [row["horizon"] for row in rows]
    last = max(steps, default=1)
    stride = next(s for s in (1, 2, 5, 10, 20, 50, 100, 1000, 10**9) if last / s <= 6)
    values = sorted({min(steps, default=1), *(s for s in steps if s % stride == 0)})
    return alt.Axis(values=values, format="d", grid=False)


def _svg(alt: Any, chart: Any) -> str:  # noqa: ANN401 - the Altair module and a chart
    import vl_convert

    chart = chart.properties(width=WIDTH, height=HEIGHT, background="transparent")
    chart = chart.configure_view(stroke=None).configure_axis(
        labelColor=FAINT,
        titleColor=FAINT,
        domainColor=HAIR,
        tickColor=HAIR,
        gridColor=HAIR,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        labelFont="sans-serif",
        titleFont="sans-serif",
        tickCount=5,
    )
    text = vl_convert.vegalite_to_svg(chart.to_json())
    for stand_in, colour in PAINT.items():
        text = text.replace(stand_in, colour)
    return text.replace("sans-serif", "inherit")


def _altair() -> Any:  # noqa: ANN401 - the Altair module
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise ValueError(
            "drawing curves needs the extra `report` (Altair); pip install 'cosmolabe[report]'"
        ) from None
    return altair
