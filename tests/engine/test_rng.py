import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.engine.angles import sine_cosine
from cosmolabe.engine.rng import COUNTER, KEY_HIGH, KEY_LOW, integer, philox, uniform, uniform_at

words = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers_of_random123(counter, key, expected):
    assert philox(*map(np.uint64, (*counter, *key))) == expected


@given(words, words, st.integers(0, 2**40))
def test_numbers_lie_in_the_half_open_unit_interval(low, high, counter):
    value = uniform_at(np.uint64(low), np.uint64(high), np.uint64(counter), np.uint64(0))
    assert 0.0 <= value < 1.0


def test_a_world_s_stream_depends_on_key_and_counter_only():
    world = np.zeros(10)
    world[[KEY_LOW, KEY_HIGH, COUNTER]] = 11, 12, 0
    first = [uniform(world) for _ in range(5)]
    assert world[COUNTER] == 5
    world[COUNTER] = 3
    assert uniform(world) == first[3]
    assert len(set(first)) == 5


def test_numbers_are_even():
    world = np.zeros(3)
    world[KEY_LOW] = 5
    counts = np.bincount([integer(world, 10) for _ in range(20000)], minlength=10)
    assert len(counts) == 10
    assert ((counts - 2000) ** 2 / 2000).sum() < 30  # chi-squared, 9 degrees: p < 0.0005


@given(st.floats(-40, 40))
def test_sine_and_cosine_are_close_to_libm(turns):
    s, c = sine_cosine(turns)
    assert abs(s - math.sin(2 * math.pi * turns)) < 1e-8
    assert abs(c - math.cos(2 * math.pi * turns)) < 1e-8


def test_quarter_turns_are_exact():
    assert [sine_cosine(quarter / 4) for quarter in range(5)] == [
        (0, 1),
        (1, 0),
        (0, -1),
        (-1, 0),
        (0, 1),
    ]
