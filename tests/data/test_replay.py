"""What a replay store gives back is what was played."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.episode import rebuild_motion
from cosmolabe.data.collect import collect
from cosmolabe.data.store import open_store
from cosmolabe.engine import kernels
from cosmolabe.engine.game import layout_of
from cosmolabe.engine.windows import plan_windows

GAMES = parts.names("games")


@pytest.fixture(scope="module", params=GAMES)
def store(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "store"
    return collect(request.param, folder, 20, max_ticks=300, shard_size=5)


def play_again(store, number):
    """The dense states of an episode by the plain route: from its seed, without keyframes."""
    game = parts.load("games", store.game)
    layout = layout_of(game)
    world = game.new_world(store.seed(number))[None]
    actions = store.actions(number)[None]
    public = np.zeros((1, actions.shape[1] + 1, game.num_public), np.float32)
    kernels.simulate(
        game.step, world, actions, game.default_parameters()[None], public, np.zeros(1, np.int64)
    )
    length, profile = public.shape[1], game.manifest.profile
    states = np.zeros((length, game.manifest.num_slots, profile.num_state), np.float32)
    numbers = np.zeros((length, len(profile.global_fields)), np.float32)
    terminal = np.zeros(length, bool)
    kernels.expand(
        public[0], layout.target, layout.scale, layout.template, layout.wrap, 0,
        states, numbers, terminal,
    )  # fmt: skip
    return states, numbers, terminal


def test_an_episode_is_what_its_seed_and_actions_play(store):
    for number in (0, 7, len(store) - 1):
        states, numbers, terminal = play_again(store, number)
        episode = store.episode(number)
        np.testing.assert_array_equal(episode.states, states)
        np.testing.assert_array_equal(episode.globals, numbers)
        np.testing.assert_array_equal(episode.terminal, terminal)
        assert len(episode) == store.lengths[number]
        assert episode.truncated == (not terminal[-1])


def test_motion_follows_from_positions(store):
    episode = store.episode(1)
    again = rebuild_motion(episode.states, store.manifest)
    np.testing.assert_allclose(episode.states, again, atol=1e-6)


def test_the_last_state_has_no_action_and_all_others_the_action_taken(store):
    game = parts.load("games", store.game)
    episode = store.episode(2)
    table = np.array(game.action_table, np.float32)
    np.testing.assert_array_equal(episode.actions[:-1], table[store.actions(2)])
    assert not episode.actions[-1].any()


@given(data=st.data())
def test_a_window_is_a_piece_of_its_episode(data, store):
    number = data.draw(st.integers(0, len(store) - 1))
    length = data.draw(st.integers(1, min(100, int(store.lengths[number]))))
    start = data.draw(st.integers(0, int(store.lengths[number]) - length))
    window = store.windows(np.array([number, 0]), np.array([start, 0]), length=length)
    episode = store.episode(number)
    for name in ("states", "actions", "globals", "terminal"):
        whole = getattr(episode, name)[start : start + length]
        np.testing.assert_array_equal(getattr(window, name)[0], whole)
    np.testing.assert_array_equal(window.registry[0], episode.registry)


def test_splits_are_disjoint_and_cover_the_store(store):
    numbers = np.concatenate([store.split(name) for name in ("train", "val", "test", "scenario")])
    assert sorted(numbers.tolist()) == list(range(len(store)))
    assert [len(store.split(name)) for name in ("train", "val", "test")] == [12, 4, 4]
    assert len(store.split("scenario")) == 0
    seeds = {store.seed(number) for number in range(len(store))}
    assert len(seeds) == len(store)


def test_players_take_turns_and_looks_differ(store):
    players = [store.player(number) for number in store.split("train")]
    assert players == ["heuristic", "random"] * 6
    looks = {store.appearance(number) for number in range(len(store))}
    assert len(looks) == len(store)


def test_a_store_verifies_and_opens_again_the_same(store):
    assert store.verify() == len(store)
    again = open_store(store.folder)
    assert again.fingerprint == store.fingerprint
    np.testing.assert_array_equal(again.lengths, store.lengths)


@pytest.mark.parametrize(("number", "start", "length"), [(0, -1, 8), (99, 0, 8), (0, 0, 10_000)])
def test_a_window_outside_its_episode_is_refused(store, number, start, length):
    with pytest.raises(ValueError, match="episode"):
        store.windows(np.array([number]), np.array([start]), length)


def test_shards_that_do_not_fit_in_memory_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("cosmolabe.data.replay.HELD_BYTES", 1)
    store = collect("pong", tmp_path / "store", 8, max_ticks=80, shard_size=2)
    numbers = np.arange(8)
    one = store.windows(numbers, numbers * 0, 20)
    for number in (7, 0, 3):
        np.testing.assert_array_equal(one.states[number], store.episode(number).states[:20])
    assert len(store._shards) == 1


def test_a_window_plan_keeps_every_public_column():
    for name in GAMES:
        layout = layout_of(parts.load("games", name))
        plan = plan_windows(layout, 23)
        shown = np.sort(np.concatenate([plan.states[0], plan.globals[0]]))
        hidden = np.setdiff1d(np.arange(len(layout.target)), shown)
        assert hidden.tolist() == [6], "all but the terminal flag are shown in a tensor"
        positions = plan.states[0][plan.states[1] % 23 < 2]
        np.testing.assert_array_equal(plan.moving[0], positions)
