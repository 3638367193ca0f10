import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.episode import rebuild_motion
from cosmolabe.engine import kernels
from cosmolabe.engine.game import SCORE, TERMINATED, TICK, layout_of

GAME = parts.load("games", "pong")
PARAMETERS = GAME.default_parameters()[None]


def played(actions, seeds=(1,), parameters=PARAMETERS):
    worlds = GAME.new_worlds(np.array(seeds))
    shape = (len(seeds), actions.shape[1] + 1, GAME.num_public)
    public, lengths = np.zeros(shape, np.float32), np.zeros(len(seeds), np.int64)
    kernels.simulate(GAME.step, worlds, actions, parameters, public, lengths)
    return worlds, public, lengths


def some_actions(num_worlds, num_ticks, seed=0):
    return np.random.default_rng(seed).integers(0, 3, (num_worlds, num_ticks)).astype(np.uint8)


def dense(public, skip=0):
    layout, rows = layout_of(GAME), len(public) - skip
    states = np.zeros((rows, 5, 23), np.float32)
    numbers, terminal = np.zeros((rows, 17), np.float32), np.zeros(rows, bool)
    kernels.expand(
        public, layout.target, layout.scale, layout.template, layout.wrap, skip, states, numbers,
        terminal,
    )  # fmt: skip
    return states, numbers, terminal


def test_the_first_state_is_the_world_before_any_action():
    _, public, lengths = played(some_actions(1, 5))
    assert lengths.tolist() == [6]
    assert np.array_equal(public[0, 0], GAME.new_world(1)[: GAME.num_public].astype(np.float32))
    assert public[0, :, TICK].tolist() == [0, 1, 2, 3, 4, 5]


@given(st.integers(1, 7), st.integers(0, 3))
def test_a_world_does_not_know_who_else_is_played(batch, place):
    actions = some_actions(batch, 90)
    place %= batch
    together, _, _ = played(actions, range(batch))
    alone, _, _ = played(actions[place : place + 1], [place])
    assert np.array_equal(together[place], alone[0])


def test_playing_on_from_a_snapshot_is_the_same_as_never_stopping():
    actions = some_actions(2, 200)
    whole, _, _ = played(actions, (3, 4))
    halves = GAME.new_worlds(np.array([3, 4]))
    kernels.advance(GAME.step, halves, np.ascontiguousarray(actions[:, :77]), PARAMETERS)
    kernels.advance(GAME.step, halves, np.ascontiguousarray(actions[:, 77:]), PARAMETERS)
    assert np.array_equal(whole, halves)


def test_a_world_stops_where_it_terminates():
    actions = np.zeros((1, 4000), np.uint8)
    worlds, public, lengths = played(actions)
    end = lengths[0] - 1
    assert worlds[0, TERMINATED] == 1
    assert public[0, end, TERMINATED] == 1
    assert not public[0, :end, TERMINATED].any()
    assert not public[0, end + 1 :].any()


def test_worlds_may_differ_in_their_physics():
    actions = some_actions(2, 300)
    parameters = np.stack([GAME.default_parameters(), GAME.default_parameters(gravity=1e-4)])
    worlds, _, _ = played(actions[[0, 0]], (5, 5), parameters)
    alone, _, _ = played(actions[:1], (5,), parameters[1:])
    assert not np.array_equal(worlds[0], worlds[1])
    assert np.array_equal(worlds[1], alone[0])


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match=r"pong has no parameter \['gravitas'\]"):
        GAME.default_parameters(gravitas=1.0)


def test_a_played_episode_replays_from_its_actions_and_from_any_keyframe():
    seeds, ticks, every = np.arange(3), 300, 64
    worlds = GAME.new_worlds(seeds)
    actions = np.zeros((3, ticks), np.uint8)
    per_world = -(-ticks // every)
    keyframes = np.zeros((3 * per_world, GAME.num_world))
    lengths = np.zeros(3, np.int64)
    keys = np.array([[7, 8], [9, 10], [11, 12]], np.uint64)
    kernels.play(
        GAME.step, GAME.decide, worlds, PARAMETERS, keys, 3, 0.3, 2, actions, keyframes, every,
        lengths,
    )  # fmt: skip
    replayed, _, again = played(actions, seeds)
    assert np.array_equal(worlds, replayed)
    assert np.array_equal(lengths, again)
    for episode in range(3):
        for k in range(per_world):
            world = keyframes[episode * per_world + k][None].copy()
            rest = np.ascontiguousarray(actions[episode : episode + 1, k * every :])
            kernels.advance(GAME.step, world, rest, PARAMETERS)
            assert np.array_equal(world[0], worlds[episode])


def test_a_random_player_tries_every_action_evenly():
    worlds = GAME.new_worlds(np.arange(40))
    actions, lengths = np.zeros((40, 300), np.uint8), np.zeros(40, np.int64)
    keyframes = np.zeros((40, GAME.num_world))
    keys = np.arange(80, dtype=np.uint64).reshape(40, 2)
    kernels.play(
        GAME.step, GAME.decide, worlds, PARAMETERS, keys, 3, 1.0, 1, actions, keyframes, 300,
        lengths,
    )  # fmt: skip
    counts = np.bincount(actions.ravel(), minlength=3)
    assert len(counts) == 3
    assert np.abs(counts / 12000 - 1 / 3).max() < 0.02


def test_dense_tensors_hold_what_the_compact_rows_say():
    _, public, _ = played(some_actions(1, 120))
    states, numbers, terminal = dense(public[0])
    ball_x = [c.slot == 2 and c.field == "x" for c in GAME.columns].index(True) + 7
    assert np.array_equal(states[:, 2, 0], public[0, :, ball_x])
    assert np.array_equal(numbers[:, 0], public[0, :, SCORE])
    assert np.allclose(numbers[:, 5], np.arange(121) / 3600)
    assert states[:, :, 2].all()
    assert not terminal.any()


def test_history_deltas_are_those_of_the_positions():
    _, public, _ = played(some_actions(1, 120))
    states, _, _ = dense(public[0])
    blank = states.copy()
    blank[..., 19:] = 0
    assert np.allclose(rebuild_motion(blank, GAME.manifest), states, atol=1e-7)
    assert np.allclose(states[2:, 2, 19], states[2:, 2, 0] - states[1:-1, 2, 0], atol=1e-7)
    assert np.allclose(states[2:, 2, 21], states[1:-1, 2, 0] - states[:-2, 2, 0], atol=1e-7)


@pytest.mark.parametrize("skip", [1, 2])
def test_leading_rows_only_feed_the_history(skip):
    _, public, _ = played(some_actions(1, 60))
    whole, part = dense(public[0])[0], dense(public[0], skip)[0]
    assert np.array_equal(whole[skip:], part)
