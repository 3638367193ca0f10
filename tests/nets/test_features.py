import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.fields import ALIVE, HISTORY_START, VX, VY, X, Y
from cosmolabe.nets.features import MARGIN, next_state, place, predicted_columns, wrapped

TORUS, FLAT = np.array([True, True]), np.array([False, False])
coordinates = st.floats(-2, 2, width=32)


def row(x=0.5, y=0.5, alive=1.0):
    state = np.zeros((1, 1, 23), np.float32)
    state[0, 0, : ALIVE + 1] = x, y, alive
    return state


def moved(state, x, y, alive=1.0, wrap=FLAT, mutable=True):
    predicted = predicted_columns(state)
    predicted[..., :3] = x, y, alive
    return next_state(state, predicted, np.array([mutable]), wrap)[0, 0]


def test_rebuilding_from_true_positions_gives_the_true_history(windows):
    state = windows.states[:, 7]
    everyone = np.ones(state.shape[1], bool)
    for t in range(8, windows.states.shape[1]):
        truth = windows.states[:, t]
        state = next_state(state, predicted_columns(truth), everyone, windows.masks.wrap)
        rebuilt, true = state[..., HISTORY_START:], truth[..., HISTORY_START:]
        np.testing.assert_allclose(rebuilt, true, atol=1e-6)
        np.testing.assert_array_equal(predicted_columns(state), predicted_columns(truth))


def test_velocity_is_the_last_displacement_and_the_older_delta_is_kept():
    first = moved(row(), 0.52, 0.47)
    second = moved(first[None, None], 0.55, 0.47)
    np.testing.assert_allclose(first[[VX, VY]], [0.02, -0.03], atol=1e-6)
    np.testing.assert_allclose(second[[VX, VY]], [0.03, 0.0], atol=1e-6)
    np.testing.assert_allclose(second[HISTORY_START:], [0.03, 0, 0.02, -0.03], atol=1e-6)


def test_being_born_and_dying_are_no_motion():
    born = moved(row(0.1, 0.1, alive=0.0), 0.9, 0.9)
    died = moved(row(0.1, 0.1), 0.12, 0.1, alive=0.2)
    assert born[ALIVE] == 1
    assert died[ALIVE] == 0
    assert not born[[VX, VY, HISTORY_START, HISTORY_START + 1]].any()
    assert not died[[VX, VY, HISTORY_START, HISTORY_START + 1]].any()


def test_crossing_the_seam_of_a_torus_is_a_short_step():
    over = moved(row(0.99, 0.01), 1.01, -0.01, wrap=TORUS)
    np.testing.assert_allclose(over[[X, Y]], [0.01, 0.99], atol=1e-6)
    np.testing.assert_allclose(over[[VX, VY]], [0.02, -0.02], atol=1e-6)


def test_an_immutable_slot_stays_whatever_is_predicted():
    before = row(1.3, 0.2)  # outside the world: pinned, not clamped
    after = moved(before, 0.5, 0.5, alive=0.0, mutable=False)
    np.testing.assert_array_equal(after, before[0, 0])


@given(x=coordinates, y=coordinates)
def test_places_lie_in_the_world(x, y):
    there = np.array([x, y], np.float32)
    on_torus, on_screen = place(there, TORUS), place(there, FLAT)
    assert ((on_torus >= 0) & (on_torus <= 1)).all()
    assert ((on_screen >= np.float32(-MARGIN)) & (on_screen <= np.float32(1 + MARGIN))).all()


@given(x=coordinates, y=coordinates)
def test_numpy_and_torch_give_the_same_way(x, y):
    gap = np.array([x, y], np.float32)
    way = wrapped(gap, TORUS)
    assert np.abs(way).max() <= 0.5
    same = wrapped(torch.from_numpy(gap), torch.from_numpy(TORUS)).numpy()
    np.testing.assert_array_equal(same, way)


@pytest.mark.parametrize("wrap", [TORUS, FLAT])
def test_numpy_and_torch_rebuild_alike(wrap):
    dice = np.random.default_rng(0)
    last = dice.random((4, 3, 23), np.float32)
    predicted = dice.random((4, 3, 17), np.float32) * 1.4 - 0.2
    mutable = np.array([True, False, True])
    expected = next_state(last, predicted, mutable, wrap)
    found = next_state(*map(torch.from_numpy, (last, predicted, mutable, wrap)))
    np.testing.assert_array_equal(found.numpy(), expected)
