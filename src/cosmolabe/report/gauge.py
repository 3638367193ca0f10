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
    start, end = scale_of(reading)

    def angle(value: float) -> float:
        return ((min(max(value, start), end) - start) / (end - start) - 0.5) * SWEEP

    def arc(low: float, high: float) -> str:
        return _arc(angle(low), angle(high)) if math.isfinite(low + high) else ""

    ends = (("floor", reading.floor), ("ceiling", reading.ceiling))
    return Gauge(
        track=_arc(-SWEEP / 2, SWEEP / 2),
        span=arc(min(reading.floor, reading.ceiling), max(reading.floor, reading.ceiling)),
        interval=arc(reading.low, reading.high),
        needle=math.degrees(angle(reading.value)) if math.isfinite(reading.value) else math.nan,
        marks=tuple((math.degrees(angle(x)), name) for name, x in ends if math.isfinite(x)),
    )


def scale_of(reading: Reading) -> tuple[float, float]:
    """Ends of the scale: floor, ceiling and value, and of the interval what is not far out."""
    marks = [x for x in (reading.floor, reading.ceiling) if math.isfinite(x)] or [0.0, 1.0]
    if math.isfinite(reading.value):
        marks.append(reading.value)
    start, end = min(marks), max(marks)
    reach = end - start or 1.0
    if math.isfinite(reading.low + reading.high):
        start = min(start, max(reading.low, start - reach))
        end = max(end, min(reading.high, end + reach))
    room = (end - start or 1.0) * MARGIN
    return start - room, end + room


def _arc(low: float, high: float) -> str:
    """An SVG path along the scale; angles in radians clockwise from straight up."""
    x0, y0 = RADIUS * math.sin(low), -RADIUS * math.cos(low)
    x1, y1 = RADIUS * math.sin(high), -RADIUS * math.cos(high)
    return f"M{x0:.2f} {y0:.2f}A{RADIUS:g} {RADIUS:g} 0 0 1 {x1:.2f} {y1:.2f}"
