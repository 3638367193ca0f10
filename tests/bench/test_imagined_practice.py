"""Practice in what a model imagines, beside practice in the true game."""

import numpy as np
import pytest

from cosmolabe.bench.planning.futures import frames_of
from cosmolabe.bench.planning.practice import ImaginedMoments, Moments, TrueMoments, compact
from cosmolabe.core import parts
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.data.collect import collect
from cosmolabe.data.dense import dense
from cosmolabe.data.sight import sight_of
from cosmolabe.nets.practice import HOLD, first_look


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("racer", tmp_path_factory.mktemp("racer"), 8, split="train", max_ticks=200)


def room_of(store, kind, *first, lasts=12):
    sight = sight_of(store.part)
    return kind(*first, store, sight, first_look(store.part, sight), 4, 3, lasts)


class Notes:
    """Still, but says that the game ends where told to, and keeps what it was shown."""

    name = "notes"

    def __init__(self, manifest, ends=False):
        self.still, self.ends, self.seen = parts.load("models", "still").create(manifest), ends, []

    def rollout(self, context, seed=0):
        self.seen.append(context)
        found = self.still.rollout(context, seed)
        sure = np.full_like(found.terminal, SURE if self.ends else -SURE)
        return Prediction(found.states, found.globals, sure)


@pytest.mark.parametrize("name", parts.names("games"))
def test_compact_rows_come_back_from_dense_ones(name):
    game = parts.load("games", name)
    worlds = game.new_worlds(np.arange(5))
    rows = worlds[:, : game.num_public].astype(np.float32)
    states, numbers, _ = dense(game, rows)
    back = compact(game, states, numbers)
    shown = np.arange(game.num_public) != 6  # the terminal flag stands in no tensor
    assert np.allclose(back[:, shown], rows[:, shown], rtol=1e-5, atol=1e-6)
    assert np.array_equal(
        frames_of(game, back[None]).states[0], frames_of(game, rows[None]).states[0]
    )


def test_both_rooms_begin_at_the_same_moments(store):
    true = room_of(store, TrueMoments).reset()
    imagined = room_of(store, ImaginedMoments, Notes(store.manifest)).reset()
    assert np.allclose(true, imagined, atol=1e-4)


def test_a_model_is_told_the_past_and_the_decision_in_order(store):
    notes = Notes(store.manifest)
    room = room_of(store, ImaginedMoments, notes)
    room.reset()
    table = np.array(store.part.action_table, np.float32)
    room.step(np.array([1, 2, 3, 4]))
    room.step(np.array([5, 6, 7, 8]))
    first, second = notes.seen[0], notes.seen[1]
    assert first.horizon == HOLD
    assert np.array_equal(first.actions[1, 7:11], table[[2] * HOLD])
    # The second time the four newest states are its own, each with the action taken in it.
    assert np.array_equal(second.states[1, :4], first.states[1, 4:])
    assert np.array_equal(second.actions[1, 3:7], table[[2] * HOLD])
    assert np.array_equal(second.actions[1, 7:11], table[[6] * HOLD])


def test_in_a_world_that_stands_still_nothing_is_earned(store):
    room = room_of(store, ImaginedMoments, Notes(store.manifest))
    room.reset()
    assert (room.step(np.ones(4, np.int64)).rewards == 0).all()


def test_episodes_end_by_the_clock_or_when_the_model_says_so(store):
    room = room_of(store, ImaginedMoments, Notes(store.manifest), lasts=3)
    room.reset()  # ages 0, 1, 2, 0
    assert room.step(np.zeros(4, np.int64)).by_clock.tolist() == [False, False, True, False]
    assert room.step(np.zeros(4, np.int64)).by_clock.tolist() == [False, True, False, False]
    over = room_of(store, ImaginedMoments, Notes(store.manifest, ends=True))
    over.reset()
    outcome = over.step(np.zeros(4, np.int64))
    assert outcome.ended.all()
    assert not outcome.by_clock.any()


def test_the_true_room_pays_what_the_true_game_brings(store):
    room = room_of(store, TrueMoments)
    room.reset()
    total = sum(room.step(np.full(4, 1)).rewards for _ in range(6))
    assert np.ptp(total) > 0


def test_the_plain_kind_is_no_room_of_its_own(store):
    with pytest.raises(NotImplementedError):
        room_of(store, Moments).reset()
