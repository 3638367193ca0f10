import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.reading import Reading
from cosmolabe.report import content
from cosmolabe.report.folder import Clip
from cosmolabe.report.gauge import SWEEP, gauge_of
from cosmolabe.report.strips import strip_of

finite = st.floats(-1e6, 1e6)
maybe = st.one_of(finite, st.just(math.nan))


def reading(value, floor=math.nan, ceiling=math.nan, low=math.nan, high=math.nan, **rest):
    return Reading(
        "state", "final", value, "share", "higher", low, high, floor, ceiling, **rest
    )  # fmt: skip


@given(value=maybe, floor=maybe, ceiling=maybe, half=st.floats(0, 10))
def test_nothing_ever_leaves_the_gauge(value, floor, ceiling, half):
    gauge = gauge_of(reading(value, floor, ceiling, value - half, value + half))
    angles = [gauge.needle, *(degrees for degrees, _ in gauge.marks)]
    assert all(abs(a) <= math.degrees(SWEEP / 2) + 1e-6 for a in angles if math.isfinite(a))
    assert math.isnan(gauge.needle) == math.isnan(value)


@given(low=finite, high=finite)
def test_the_needle_turns_clockwise_as_the_value_grows(low, high):
    low, high = sorted((low, high))
    ends = (min(low, -1e6), max(high, 1e6))
    assert gauge_of(reading(low, *ends)).needle <= gauge_of(reading(high, *ends)).needle


def test_the_verdict_claims_no_more_than_the_interval_shows():
    assert content.verdict(reading(0.95, 0.9, 1.0, 0.94, 0.96)).startswith("50%")
    assert "not told apart" in content.verdict(reading(0.91, 0.9, 1.0, 0.89, 0.93))
    assert "worse than" in content.verdict(reading(0.8, 0.9, 1.0, 0.79, 0.81))
    for value in (0.8, 0.95):  # one episode: no interval, so nothing is claimed either way
        assert "too few" in content.verdict(reading(value, 0.9, 1.0, math.nan, math.nan))
    assert content.verdict(reading(math.nan, why="too short")) == "too short"


def test_lower_can_be_better():
    error = Reading("physics", "x", 0.2, "share", "lower", 0.19, 0.21, 0.6, 0.1)
    assert content.verdict(error).startswith("80%")


def test_the_physics_judge_compares_films():
    def told(value, floor=0.6, ceiling=0.1):
        ends = (value - 0.01, value + 0.01, floor, ceiling)
        return content.verdict(Reading("physics", "violation", value, "share", "lower", *ends))

    assert told(0.2) == "80% of the way from the better trivial model's film to the true film"
    assert told(0.7) == "worse than the better trivial model's film"
    assert told(0.6) == "not told apart from the better trivial model's film"


@pytest.mark.parametrize("direction", ["lower", "higher"])
def test_a_scale_that_is_upside_down_is_no_scale(direction):
    floor, ceiling = (0.05, 0.09) if direction == "lower" else (0.9, 0.8)
    for value in (0.01, 0.07, 0.5, 0.85, 0.99):
        ends = (value - 0.001, value + 0.001, floor, ceiling)
        told = content.verdict(Reading("physics", "x", value, "share", direction, *ends))
        assert told.startswith("no scale here")


def test_readings_with_floor_and_ceiling_come_first():
    both, neither = reading(0.5, 0.0, 1.0), reading(0.4)
    assert content.headlines([neither, both]) == [both]
    assert content.headlines([neither]) == [neither]


@given(frames=st.integers(1, 20), context=st.integers(0, 20))
def test_a_strip_knows_how_long_the_model_was_shown_the_truth(frames, context):
    true = np.arange(frames * 8 * 8 * 3, dtype=np.uint8).reshape(frames, 8, 8, 3)
    imagined = true.copy()
    imagined[context:] += 1
    strip = strip_of(Clip("a", true, imagined, 60.0, "a"))
    assert strip.context == min(context, frames)
    assert strip.frames == frames
    assert strip.true.startswith("data:image/webp;base64,")
