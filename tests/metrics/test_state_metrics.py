"""State measures against loops written by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.metrics.alive_f1 import alive_f1
from cosmolabe.metrics.composite import composite
from cosmolabe.metrics.field_error import field_error
from cosmolabe.metrics.final_score import final_score
from cosmolabe.metrics.global_error import global_error
from cosmolabe.metrics.position_l1 import position_l1
from cosmolabe.metrics.score_error import score_error
from cosmolabe.metrics.terminal_f1 import terminal_f1

NO_WRAP, BOTH = np.array([False, False]), np.array([True, True])
positions = arrays(np.float32, (2, 3, 4, 2), elements=st.floats(0, 1, width=32))
slots = arrays(bool, (2, 3, 4))


def loop_l1(true, imagined, counted, wrap):
    out = np.full(true.shape[:2], np.nan)
    for b, h in np.ndindex(out.shape):
        gaps = []
        for n in range(true.shape[2]):
            if counted[b, h, n]:
                gap = 0.0
                for axis in range(2):
                    d = abs(float(true[b, h, n, axis]) - float(imagined[b, h, n, axis]))
                    gap += min(d, abs(1 - d)) if wrap[axis] else d
                gaps.append(gap)
        if gaps:
            out[b, h] = sum(gaps) / len(gaps)
    return out


@given(true=positions, imagined=positions, counted=slots, wraps=st.sampled_from([NO_WRAP, BOTH]))
def test_position_l1_equals_a_plain_loop(true, imagined, counted, wraps):
    got = position_l1(true, imagined, counted, wraps)
    np.testing.assert_allclose(got, loop_l1(true, imagined, counted, wraps), atol=1e-12)


@given(true=positions, counted=slots)
def test_the_truth_is_no_distance_from_itself(true, counted):
    got = position_l1(true, true, counted)
    assert np.all((got == 0) | ~counted.any(-1))


@given(true=positions, shift=st.integers(-1, 1))
def test_a_whole_lap_is_no_distance_on_an_axis_that_wraps(true, shift):
    counted = np.ones((2, 3, 4), bool)
    moved = true.astype(np.float64) + np.array([shift, 0.0])
    got = position_l1(true.astype(np.float64), moved, counted, np.array([True, False]))
    assert np.all(got < 1e-12)


def test_positions_laps_away_from_the_world_are_far():
    true = np.full((1, 1, 2), 0.3, np.float32)
    far = np.full((1, 1, 2), 2.0**30, np.float32)  # a whole number: rounding would call it near
    assert position_l1(true, far, np.ones((1, 1), bool), BOTH)[0] > 1e9


def test_what_stands_in_slots_that_do_not_count_is_never_read():
    true = np.zeros((1, 3, 2), np.float32)
    imagined = np.array([[[0.1, 0.2], [np.nan, np.inf], [-np.inf, np.nan]]], np.float32)
    got = position_l1(true, imagined, np.array([[True, False, False]]))
    np.testing.assert_allclose(got, [0.3], rtol=1e-6)


@given(true=slots, imagined=slots, counted=slots)
def test_alive_f1_equals_a_plain_loop(true, imagined, counted):
    got = alive_f1(true, imagined, counted)
    for b, h in np.ndindex(got.shape):
        pairs = list(zip(true[b, h][counted[b, h]], imagined[b, h][counted[b, h]], strict=True))
        hits = sum(t and i for t, i in pairs)
        wrong = sum(t != i for t, i in pairs)
        assert got[b, h] == (2 * hits / (2 * hits + wrong) if hits + wrong else 1.0)


def test_alive_f1_is_one_where_neither_side_has_anyone_alive():
    nobody = np.zeros((1, 4), bool)
    assert alive_f1(nobody, nobody, ~nobody)[0] == 1.0


def test_all_alive_is_paid_what_it_deserves():
    true = np.array([[True, False, False, False]])
    assert alive_f1(true, np.ones((1, 4), bool), np.ones((1, 4), bool))[0] == pytest.approx(0.4)


@given(
    l1=arrays(np.float64, 5, elements=st.floats(0, 2)),
    f1=arrays(np.float64, 5, elements=st.floats(0, 1)),
)
def test_the_composite_stays_in_its_range_and_falls_with_distance(l1, f1):
    got = composite(l1, f1)
    assert np.all((got >= 0) & (got <= 1.0 + 1e-12))
    assert np.all(composite(l1 + 0.1, f1) <= got)


def test_a_missing_distance_is_not_hidden_as_zero():
    assert np.isnan(composite(np.array([np.nan]), np.array([1.0])))[0]


def test_the_final_score_weighs_steps_one_ten_and_twenty():
    values = np.zeros((1, 20))
    values[0, [0, 9, 19]] = 1.0, 0.5, 0.25
    assert final_score(values)[0] == pytest.approx(0.1 + 0.1 + 0.175)
    with pytest.raises(ValueError, match="reads step 20"):
        final_score(np.zeros((1, 10)))


def test_global_error_caps_one_wild_number_and_skips_unused_ones():
    true = np.array([[10.0, 0.5, 3.0]], np.float32)
    wild = np.array([[1e9, 0.25, np.nan]], np.float32)
    used = np.array([True, True, False])
    assert global_error(true, wild, used)[0] == pytest.approx((1.0 + 0.25) / 2)
    assert np.isnan(global_error(true, wild, np.zeros(3, bool)))[0]


def test_field_error_reads_used_fields_of_counted_slots():
    true = np.zeros((1, 2, 3), np.float32)
    imagined = np.array([[[0.5, np.nan, 0.0], [np.nan, 1.0, 1.0]]], np.float32)
    counted, used = np.array([[True, False]]), np.array([True, False, True])
    assert field_error(true, imagined, counted, used)[0] == pytest.approx(0.25)


def test_score_error_counts_points():
    assert score_error(np.array([3.0], np.float32), np.array([5.5], np.float32))[0] == 2.5


def test_terminal_f1_reads_logits_and_is_one_without_endings():
    true = np.array([False, True, True])
    assert terminal_f1(true, np.array([-1.0, 2.0, -1.0])) == pytest.approx(2 / 3)
    assert terminal_f1(np.zeros(3, bool), np.full(3, -1.0)) == 1.0
