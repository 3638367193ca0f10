from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.nets.scales import measure, unmeasured


def test_what_stays_the_same_has_scale_one(windows):
    still = replace(
        windows,
        states=np.repeat(windows.states[:, :1], 28, 1),
        globals=np.repeat(windows.globals[:1, :1], 28, 1).repeat(len(windows), 0),
    )
    scales = measure(still)
    np.testing.assert_array_equal(scales.global_step, 1)
    np.testing.assert_array_equal(scales.global_scale, 1)
    assert scales.reach == pytest.approx(1e-3)


def test_whole_numbers_are_recognised(windows):
    scales = measure(windows)
    score, tick_share = 0, 5
    assert scales.global_whole[score]
    assert not scales.global_whole[tick_share]


def test_speed_is_the_size_of_a_step_that_is_taken(windows):
    states = windows.states.copy()
    states[..., -4] = 0.0
    states[:, ::2, :, -4] = 0.05  # rests every other tick
    assert measure(replace(windows, states=states)).speed[0] == pytest.approx(0.05)


def test_unmeasured_scales_fit_where_measured_ones_go(windows):
    before, after = unmeasured(14, 17), measure(windows)
    for name in vars(before):
        one, other = getattr(before, name), getattr(after, name)
        assert (one.shape, one.dtype) == (other.shape, other.dtype), name
