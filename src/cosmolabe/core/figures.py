"""Numbers and their 95 % intervals as a reader sees them; what is missing is a dash, or not there.

Missing is NaN, or None as JSON has it.
"""

from typing import Any

NOTHING = "–"


def figure(value: Any, form: str = ".3f") -> str:  # noqa: ANN401 - a number or None
    """One number in a format of Python's."""
    return NOTHING if value is None or value != value else format(value, form)


def span(low: Any, high: Any, form: str = ".3f") -> str:  # noqa: ANN401 - numbers or None
    """Both ends of an interval."""
    ends = figure(low, form), figure(high, form)
    return NOTHING if NOTHING in ends else " to ".join(ends)


def with_span(value: Any, low: Any, high: Any, form: str = ".3f") -> str:  # noqa: ANN401
    """A number with its interval in brackets; alone where nothing tells how far it may vary."""
    between = span(low, high, form)
    number = figure(value, form)
    return number if NOTHING in (number, between) else f"{number} ({between})"
