"""Cluster bootstrap: whole episodes are drawn, missing values are left out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import bootstrap


@given(clusters=st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_whole_clusters_are_drawn_and_always_as_many(clusters):
    weights = bootstrap.resamples(np.array(clusters), num=20)
    names = np.array(clusters)
    for name in set(clusters):
        mine = weights[:, names == name]
        assert np.all(mine == mine[:, :1])
    first = [clusters.index(name) for name in sorted(set(clusters))]
    assert np.all(weights[:, first].sum(1) == len(set(clusters)))


def test_the_same_seed_draws_the_same_resamples():
    clusters = np.arange(9)
    one, two = bootstrap.resamples(clusters, 10, 3), bootstrap.resamples(clusters, 10, 3)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, bootstrap.resamples(clusters, 10, 4))


def test_the_interval_of_a_mean_has_the_width_the_formula_says():
    values = np.random.default_rng(0).normal(0, 1, 400)
    means = bootstrap.weighted_mean(values, bootstrap.resamples(np.arange(400)))
    low, high = bootstrap.interval(means)
    assert abs((high - low) - 2 * 1.96 * values.std() / 20) < 0.02
    assert low < values.mean() < high


def test_windows_of_one_episode_widen_the_interval():
    episode_means = np.repeat(np.random.default_rng(0).normal(0, 1, 40), 10)
    clusters = np.repeat(np.arange(40), 10)
    right = bootstrap.weighted_mean(episode_means, bootstrap.resamples(clusters))
    wrong = bootstrap.weighted_mean(episode_means, bootstrap.resamples(np.arange(400)))
    width = [float(np.diff(bootstrap.interval(m))[0]) for m in (right, wrong)]
    assert width[0] > 2.5 * width[1]


def test_missing_values_are_left_out_and_all_missing_stays_missing():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    mean = bootstrap.weighted_mean(values, np.ones((1, 3)))
    assert mean[0, 0] == 2.0
    assert np.isnan(mean[0, 1])
    assert np.isnan(bootstrap.interval(np.full((5, 2), np.nan))).all()


@given(items=st.integers(1, 6), value=st.floats(-1e6, 1e6))
def test_one_cluster_alone_gives_no_interval(items, value):
    """However many windows it has: they are not independent."""
    weights = bootstrap.resamples(np.zeros(items))
    samples = bootstrap.weighted_mean(np.full(items, value), weights)
    assert np.isnan(bootstrap.interval(samples)).all()
    columns = bootstrap.weighted_mean(np.full((items, 3), value), weights)
    assert np.isnan(bootstrap.interval(columns)).all()
    assert bootstrap.interval(columns).shape == (2, 3)


@given(
    clusters=st.integers(2, 60), items=st.integers(1, 3), seed=st.integers(0, 99),
    value=st.floats(-1e6, 1e6),
)  # fmt: skip
def test_a_measure_known_of_one_cluster_of_many_has_no_interval(clusters, items, seed, value):
    names = np.repeat(np.arange(clusters), items)
    weights = bootstrap.resamples(names, seed=seed)
    values = np.full(len(names), np.nan)
    values[names == 0] = value
    assert np.isnan(bootstrap.interval(bootstrap.weighted_mean(values, weights))).all()
    values[names == 1] = value  # two that agree are no chance of one
    ends = bootstrap.interval(bootstrap.weighted_mean(values, weights))
    np.testing.assert_allclose(ends, value, rtol=1e-9)


def test_two_clusters_that_differ_have_an_interval_however_many_say_nothing():
    values = np.full(50, np.nan)
    values[:2] = 0.0, 1.0
    drawn = bootstrap.weighted_mean(values, bootstrap.resamples(np.arange(50)))
    np.testing.assert_array_equal(bootstrap.interval(drawn), [0.0, 1.0])
