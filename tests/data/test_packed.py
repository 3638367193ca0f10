"""A packed store gives back what was put in, in less room."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cosmolabe.core import parts
from cosmolabe.core.episode import rebuild_motion
from cosmolabe.core.fields import ALIVE
from cosmolabe.data.collect import collect
from cosmolabe.data.pack import PackedWriter, pack_store
from cosmolabe.data.packing import pack_chunk, quantise, unpack_chunk
from cosmolabe.data.store import Store, open_store

GAMES = parts.names("games")


@pytest.fixture(scope="module", params=GAMES)
def pair(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    source = collect(request.param, folder / "replay", 4, max_ticks=200)
    return source, pack_store(source, folder / "packed")


def test_both_kinds_of_store_offer_the_same(pair):
    assert all(isinstance(store, Store) for store in pair)


def test_packed_episodes_are_the_originals(pair):
    source, packed = pair
    for number in range(len(source)):
        one, other = source.episode(number), packed.episode(number)
        for name in ("registry", "states", "actions", "globals", "terminal"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert one.truncated == other.truncated
        assert source.player(number) == packed.player(number)
        assert source.appearance(number) == packed.appearance(number)


@pytest.mark.parametrize("far", [np.inf, np.nan, 3e38])
def test_states_or_motion_that_are_not_finite_are_refused(pair, tmp_path, far):
    source, _ = pair
    episode = source.episode(0)
    states = episode.states.copy()
    states[::2, 0, :2], states[1::2, 0, :2], states[:, 0, ALIVE] = far, -far, 1.0
    states = rebuild_motion(states, source.manifest)
    writer = PackedWriter(tmp_path / "packed", source.manifest)
    with pytest.raises(ValueError, match="episode 'one': its states, or the motion"):
        writer.add(replace(episode, states=states), name="one")


def test_packed_windows_are_the_originals(pair):
    source, packed = pair
    episodes = np.array([0, 1, 2, 3, 0, 1])
    starts = np.array([0, 1, 2, 3, 60, 40])
    starts = np.minimum(starts, source.lengths[episodes] - 20)
    one, other = source.windows(episodes, starts, 20), packed.windows(episodes, starts, 20)
    for name in ("registry", "states", "actions", "globals", "terminal"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_a_packed_store_verifies_and_opens_again_the_same(pair):
    packed = pair[1]
    assert packed.verify() == len(packed)
    assert open_store(packed.folder).fingerprint == packed.fingerprint
    assert packed.max_error == 0


def test_a_quantised_store_says_how_far_it_is_off(tmp_path):
    source = collect("pong", tmp_path / "replay", 4, max_ticks=200)
    packed = pack_store(source, tmp_path / "packed", quantised=True)
    off = max(
        np.abs(source.episode(n).states[..., :19] - packed.episode(n).states[..., :19]).max()
        for n in range(4)
    )
    assert 0 < off <= packed.max_error < 1e-4
    for number in range(4):
        one, other = source.episode(number), packed.episode(number)
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.terminal, other.terminal)
    assert packed.verify() == 4


TABLES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 70), st.integers(1, 9)),
    elements=st.floats(width=32, allow_nan=False),
)


@given(table=TABLES)
def test_any_chunk_unpacks_to_its_bits(table):
    back = unpack_chunk(pack_chunk(table), *table.shape, "float32", "chunk")
    assert back.T.tobytes() == table.tobytes()


@given(
    table=hnp.arrays(np.float32, (12, 3), elements=st.floats(-1e6, 1e6, width=32, allow_nan=False))
)
def test_codes_lose_at_most_half_a_step(table):
    codes, low, step = quantise(table)
    assert (np.abs(low + step * codes - table) <= step / 2 * (1 + 1e-6) + 1e-9).all()


def test_small_whole_numbers_stay_exact():
    table = np.array([[0, 3], [60000, -2], [17, 1]], np.float32)
    codes, low, step = quantise(table)
    np.testing.assert_array_equal((low + step * codes).astype(np.float32), table)
