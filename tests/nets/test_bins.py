"""Words for the next state: what they say, they say exactly, and every number has one."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, HISTORY_START, VX
from cosmolabe.nets.bins import GRIDS, NUM_EXACT, OTHER_GRID, Dials, vocabulary_of

GAMES = ("pong", "snake", "asteroids", "kong")
shares = st.floats(0, 1, width=32)
speeds = st.floats(-0.0625, 0.0625, width=32)


def words_for(game, changes=14, places=32):
    return vocabulary_of(parts.load("games", game).manifest, changes, places)


def unit_of(vocabulary):
    return torch.tensor([0.01, 0.01, 1.0] + [0.05] * (len(vocabulary.columns) - 3))


def state(x=0.5, y=0.5, alive=1.0, vx=0.0, vy=0.0, before=(0.0, 0.0)):
    row = torch.zeros(1, 1, 23)
    row[..., :5] = torch.tensor([x, y, alive, vx, vy])
    row[..., HISTORY_START:] = torch.tensor([vx, vy, *before])
    return row


def said(vocabulary, now, after, wrap=(False, False), keep_offsets=True):
    wrap, unit = torch.tensor(wrap), unit_of(vocabulary)
    words, offsets = vocabulary.encode(now, after, wrap, unit)
    values = vocabulary.decode(words, offsets if keep_offsets else 0 * offsets, now, unit)
    return words, values


@given(x=shares, y=shares, vx=speeds, vy=speeds)
def test_a_constant_velocity_is_one_word_and_costs_nothing(x, y, vx, vy):
    vocabulary = words_for("pong")
    now = state(x, y, vx=vx, vy=vy)
    after = state(x + vx, y + vy)
    words, values = said(vocabulary, now, after, keep_offsets=False)
    assert words[..., :2].eq(0).all()
    assert torch.equal(values[..., :2], now[..., :2] + now[..., VX : VX + 2])


def test_resting_and_turning_round_are_exact_words_too():
    vocabulary = words_for("pong")
    now = state(0.5, 0.5, vx=0.03, vy=0.02, before=(0.01, 0.04))
    places = {(0.5, 0.5): (1, 1), (0.47, 0.48): (2, 2), (0.51, 0.54): (3, 3), (0.49, 0.46): (4, 4)}
    for (x, y), expected in places.items():
        words, values = said(vocabulary, now, state(x, y), keep_offsets=False)
        assert tuple(words[0, 0, :2].tolist()) == expected
        np.testing.assert_allclose(values[0, 0, :2], [x, y], atol=1e-6)


def test_falling_is_one_word():
    now = state(0.5, 0.5, vx=0.01, vy=0.02, before=(0.01, 0.017))
    words, values = said(words_for("kong"), now, state(0.51, 0.523), keep_offsets=False)
    assert tuple(words[0, 0, :2].tolist()) == (0, 5)
    np.testing.assert_allclose(values[0, 0, 1], 0.523, atol=1e-6)


@given(x=shares, dx=st.floats(-0.5, 0.5, width=32), vx=speeds)
def test_word_and_offset_give_every_displacement_back(x, dx, vx):
    after = float(np.clip(x + dx, 0, 1))
    vocabulary = words_for("pong")
    _, values = said(vocabulary, state(x, vx=vx), state(after))
    # an exact word is taken for whatever lies within a hundredth of the typical speed of it
    assert abs(float(values[0, 0, 0]) - after) <= 0.01 * 0.01 + 1e-6


@given(size=st.floats(0.0002, 0.07))
def test_bins_of_change_lie_the_same_way_to_both_sides(size):
    vocabulary = words_for("pong")
    up, _ = said(vocabulary, state(), state(0.5 + size))
    down, _ = said(vocabulary, state(), state(0.5 - size))
    assert int(up[0, 0, 0]) - int(down[0, 0, 0]) == vocabulary.changes


def test_the_middle_of_a_bin_is_never_farther_off_than_half_the_change():
    vocabulary = words_for("pong")
    for size in np.geomspace(0.0002, 0.07, 50):
        words, values = said(vocabulary, state(), state(0.5 + size), keep_offsets=False)
        assert NUM_EXACT <= int(words[0, 0, 0]) < NUM_EXACT + 2 * vocabulary.changes
        assert abs(float(values[0, 0, 0]) - 0.5 - size) <= 0.5 * size


def test_a_step_over_the_edge_of_a_world_that_wraps_is_a_small_one():
    vocabulary = words_for("asteroids")
    words, values = said(vocabulary, state(0.99, vx=0.02), state(0.01), wrap=(True, True))
    assert int(words[0, 0, 0]) == 0
    assert float(values[0, 0, 0]) == pytest.approx(1.01)
    words, _ = said(vocabulary, state(0.99, vx=0.02), state(0.01))
    assert int(words[0, 0, 0]) >= NUM_EXACT + 2 * vocabulary.changes


def test_dead_and_alive_are_the_first_two_words():
    vocabulary = words_for("asteroids")
    for alive in (0.0, 1.0):
        words, values = said(vocabulary, state(), state(alive=alive))
        assert int(words[0, 0, ALIVE]) == int(alive)
        assert float(values[0, 0, ALIVE]) == alive


def test_a_heading_goes_the_short_way_round():
    game = parts.load("games", "asteroids").manifest
    vocabulary = words_for("asteroids")
    column = game.profile.state_columns.index("rotation")
    at = vocabulary.columns.index(column)
    now, after = state(), state()
    now[..., column], after[..., column] = 0.99, 0.01
    words, values = said(vocabulary, now, after)
    assert NUM_EXACT <= int(words[0, 0, at]) < NUM_EXACT + 2 * vocabulary.changes
    assert float(values[0, 0, at]) % 1 == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize("game", GAMES)
def test_every_word_that_is_said_is_known(game):
    dice = torch.Generator().manual_seed(0)
    for changes in (0, 14):
        vocabulary = words_for(game, changes, 256 if changes == 0 else 32)
        now = torch.rand((40, 6, 23), generator=dice) - 0.2
        after = now + torch.randn(now.shape, generator=dice) * 0.02
        words, offsets = vocabulary.encode(
            now, after, torch.tensor([True, False]), unit_of(vocabulary)
        )
        assert vocabulary.known().expand(*words.shape, -1).gather(-1, words[..., None]).all()
        assert (offsets.abs() <= 0.5).all()


def test_paper_words_are_the_bins_of_the_paper():
    for game, grid in GRIDS.items():
        assert words_for(game, changes=0, places=256).known().sum(-1)[:3].tolist() == [*grid, 2]


def test_a_game_the_paper_does_not_have_gets_160_by_160():
    from dataclasses import replace

    other = replace(parts.load("games", "pong").manifest, game="studio")
    known = vocabulary_of(other, changes=0, places=256).known()
    assert known.sum(-1)[:2].tolist() == list(OTHER_GRID)


def test_in_paper_words_the_middle_of_a_bin_is_what_is_said():
    vocabulary = words_for("pong", changes=0, places=256)
    _, values = said(vocabulary, state(), state(0.4999, 0.5001), keep_offsets=False)
    assert float(values[0, 0, 0]) == pytest.approx(79.5 / 160)
    assert float(values[0, 0, 1]) == pytest.approx(60.5 / 120)


def dialled(before, after, unit=0.05, mean=0.3, spread=0.2, keep_offsets=True):
    dials = Dials()
    now, later, unit, mean, spread = (
        torch.tensor([v]) for v in (before, after, unit, mean, spread)
    )
    words, offsets = dials.encode(now, later, unit, mean, spread)
    values = dials.decode(words, offsets if keep_offsets else 0 * offsets, now, unit, mean, spread)
    assert 0 <= int(words) < dials.size
    return int(words), float(values)


@given(before=shares, after=shares)
def test_a_global_within_reach_is_said_to_a_fiftieth_of_its_usual_change(before, after):
    _, value = dialled(before, after)
    assert abs(value - after) <= 0.02 * 0.05 + 1e-6


def test_a_clock_that_stays_runs_out_or_is_wound_up_is_exact_without_offsets():
    for before, after, word in ((0.4, 0.4, 0), (0.02, 0.0, 1), (0.0, 1.0, 2), (1.0, 1.0, 0)):
        assert dialled(before, after, keep_offsets=False) == (word, pytest.approx(after, abs=1e-7))


def test_up_and_down_are_other_words_and_a_jump_forgets_where_it_began():
    assert dialled(0.3, 0.26)[0] != dialled(0.3, 0.34)[0]
    words = {dialled(before, 0.8)[0] for before in (0.1, 0.2, 0.3)}
    assert len(words) == 1


def test_a_direction_is_said_by_its_name_and_not_by_how_far_it_turned():
    vocabulary = words_for("snake")
    direction = vocabulary.columns[3]
    words = set()
    for before in (0.0, 1.0, 3.0):
        now, after = state(), state()
        now[..., direction], after[..., direction] = before, 2.0
        word, values = said(vocabulary, now, after, keep_offsets=False)
        words.add(int(word[0, 0, 3]))
        assert values[0, 0, 3] == 2.0
    assert len(words) == 1
    assert not vocabulary.known()[3, NUM_EXACT : NUM_EXACT + 2 * vocabulary.changes].any()
