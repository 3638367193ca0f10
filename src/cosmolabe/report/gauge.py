"""The needle: where a reading stands between doing nothing and the real thing."""

import math
from dataclasses import dataclass

from cosmolabe.core.reading import Reading

RADIUS = 84.0  # pixels of the drawing, whose centre is (0, 0)
SWEEP = 0.75 * math.pi  # the scale runs from -SWEEP / 2 ... + SWEEP / 2 about straight up
MARGIN = 0.12  # share of the scale kept free at both ends


@dataclass(frozen=True)
class Gauge:
    """Geometry of one gauge, ready to be drawn as SVG; empty strings where nothing is known."""

    track: str
    """The whole scale, an arc."""
    span: str
    """From floor to ceiling."""
    interval: str
    """The 95 % interval."""
    needle: float
    """Degrees clockwise from straight up; NaN without a value."""
    marks: tuple[tuple[float, str], ...]
    """(degrees, 'floor' or 'ceiling')."""


def gauge_of(reading: Reading) -> Gauge:
    """The gauge of a reading; its scale holds floor, ceiling, value and interval."""
    known = [
        x
        for x in (reading.floor, reading.ceiling, reading.value, reading.low, reading.high)
        if math.isfinite(x)
    ]
    start, end = (min(known), max(known)) if known else (0.0, 1.0)
    if not math.isfinite(reading.floor) and not math.isfinite(reading.ceiling):
        start, end = min(start, 0.0), max(end, 1.0)
    room = (end - start or 1.0) * MARGIN
    start, end = start - room, end + room

    def angle(value: float) -> float:
        return ((value - start) / (end - start) - 0.5) * SWEEP

    def arc(low: float, high: float) -> str:
        return _arc(angle(low), angle(high)) if math.isfinite(low + high) else ""

    ends = (("floor", reading.floor), ("ceiling", reading.ceiling))
    return Gauge(
        track=_arc(-SWEEP / 2, SWEEP / 2),
        span=arc(min(reading.floor, reading.ceiling), max(reading.floor, reading.ceiling)),
        interval=arc(reading.low, reading.high),
        needle=math.degrees(angle(reading.value)),
        marks=tuple((math.degrees(angle(x)), name) for name, x in ends if math.isfinite(x)),
    )


def _arc(low: float, high: float) -> str:
    """An SVG path along the scale; angles in radians clockwise from straight up."""
    x0, y0 = RADIUS * math.sin(low), -RADIUS * math.cos(low)
    x1, y1 = RADIUS * math.sin(high), -RADIUS * math.cos(high)
    return f"M{x0:.2f} {y0:.2f}A{RADIUS:g} {RADIUS:g} 0 0 1 {x1:.2f} {y1:.2f}"
