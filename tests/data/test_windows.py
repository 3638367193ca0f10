"""Which windows are judged and trained on follows from the seed."""

from itertools import islice

import numpy as np
import pytest

from cosmolabe.data.collect import collect
from cosmolabe.data.windows import evaluation_windows, training_batches


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("pong", tmp_path_factory.mktemp("pong") / "store", 16, max_ticks=120)


def test_training_goes_on_where_it_stopped(store):
    straight = list(islice(training_batches(store, "train", 16, 8, seed=3), 5))
    later = next(training_batches(store, "train", 16, 8, seed=3, start=4))
    np.testing.assert_array_equal(straight[4].states, later.states)
    np.testing.assert_array_equal(straight[4].actions, later.actions)


def test_seeds_choose_different_batches(store):
    one, two = (next(training_batches(store, "train", 16, 8, seed=s)) for s in (0, 1))
    assert not np.array_equal(one.starts, two.starts)


def test_training_sees_its_split_alone(store):
    members = set(store.split("val").tolist())
    for batch in islice(training_batches(store, "val", 8, 32, seed=0), 4):
        assert set(batch.episodes.tolist()) <= members


def test_every_window_is_as_likely_as_any_other(store):
    starts = [b.starts for b in islice(training_batches(store, "train", 110, 64, seed=0), 20)]
    counts = np.bincount(np.concatenate(starts), minlength=12)
    assert counts.min() > 60, "1280 draws over 12 starts"


def test_evaluation_draws_each_episode_once_and_repeats_itself(store):
    episodes, starts, skipped = evaluation_windows(store, "test", 28)
    assert sorted(episodes.tolist()) == store.split("test").tolist()
    assert not len(skipped)
    again = evaluation_windows(store, "test", 28)
    np.testing.assert_array_equal(starts, again[1])
    fewer = evaluation_windows(store, "test", 28, num_episodes=2)
    np.testing.assert_array_equal(fewer[1], starts[:2])


def test_episodes_too_short_for_a_window_are_named(store):
    episodes, _, skipped = evaluation_windows(store, "test", 500)
    assert not len(episodes)
    assert sorted(skipped.tolist()) == store.split("test").tolist()


def test_an_empty_split_is_refused_with_what_would_do(store):
    with pytest.raises(ValueError, match="no episodes in split scenario"):
        evaluation_windows(store, "scenario", 28)
