"""Evaluation measures against plain loops, known numbers and lists written out in full."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.core import weighted
from cosmolabe.metrics.auc import auc
from cosmolabe.metrics.cohens_d import cohens_d
from cosmolabe.metrics.fisher_mean import fisher_mean
from cosmolabe.metrics.fleiss_kappa import fleiss_kappa
from cosmolabe.metrics.level_distribution import SHARES, level_distribution
from cosmolabe.metrics.pairwise_accuracy import num_equal, pairwise_accuracy
from cosmolabe.metrics.pairwise_accuracy_ties import (
    best_threshold,
    pairwise_accuracy_ties,
    tie_rates,
    tie_sweep,
)
from cosmolabe.metrics.pearson import pearson
from cosmolabe.metrics.spearman import spearman

NUM = 9
few = arrays(np.float64, NUM, elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
many = arrays(np.float64, NUM, elements=st.floats(-3, 3, width=16))
scores = st.one_of(few, many)
worse = arrays(np.float64, NUM, elements=st.sampled_from([0.0, 0.5, 1.0]))
sides = arrays(bool, NUM)
counts = arrays(np.float64, (3, NUM), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]))


def written_out(values, row):
    return np.repeat(values, row.astype(int), axis=-1)


@given(first=scores, second=scores, p=worse)
def test_pairwise_accuracy_equals_a_plain_loop(first, second, p):
    points = []
    for a, b, said in zip(first, second, p, strict=True):
        if said != 0.5:
            points.append(0.5 if a == b else float((a > b) == (said == 1.0)))
    got = float(pairwise_accuracy(first, second, p))
    assert got == pytest.approx(np.mean(points)) if points else np.isnan(got)


@given(first=scores, second=scores, p=worse)
def test_naming_the_clips_of_a_pair_the_other_way_round_changes_nothing(first, second, p):
    for measure in (pairwise_accuracy, pairwise_accuracy_ties, best_threshold):
        np.testing.assert_equal(measure(first, second, p), measure(second, first, 1 - p))


def test_equal_scores_of_a_pair_with_a_winner_are_half_right_and_counted():
    p = np.array([1.0, 0.0, 0.5, 1.0])
    first, second = np.array([0.2, 0.2, 0.2, 0.9]), np.full(4, 0.2)
    assert float(pairwise_accuracy(first, second, p)) == pytest.approx(2 / 3)
    assert num_equal(first, second, p) == 2


@given(first=scores, second=scores, p=worse)
def test_the_best_threshold_is_what_trying_every_one_finds(first, second, p):
    gap = first - second
    lean = np.sign(p - 0.5)

    def accuracy(threshold):
        told = np.where(np.abs(gap) <= threshold, 0, np.sign(gap))
        return np.mean(told == lean)

    threshold, best = best_threshold(first, second, p)
    tried = {t: accuracy(t) for t in [0.0, *np.abs(gap)]}
    assert best == pytest.approx(max(tried.values()))
    assert accuracy(threshold) == pytest.approx(best)


@given(first=few, second=few, p=worse, share=st.floats(0, 1))
def test_pairs_of_one_difference_are_ties_together(first, second, p, share):
    """Half-way through a group of equal differences there is no threshold."""
    gap = np.abs(first - second)
    limit = np.quantile(gap, share)
    told = np.where(gap <= limit, 0, np.sign(first - second))
    got = float(pairwise_accuracy_ties(first, second, p, share))
    assert got == pytest.approx(np.mean(told == np.sign(p - 0.5)))
    assert tie_rates(first, second, p, share)[1] == pytest.approx(np.mean(told == 0))
    assert got <= best_threshold(first, second, p)[1] + 1e-12


@given(first=few, second=few, p=worse)
def test_the_sweep_holds_the_accuracy_of_each_share(first, second, p):
    got = tie_sweep(first, second, p, (0.05, 0.2))
    assert got[1] == pairwise_accuracy_ties(first, second, p)
    assert got[0] == pairwise_accuracy_ties(first, second, p, 0.05)


@given(values=scores, bad=sides)
def test_auc_equals_counting_all_couples(values, bad):
    wins = [(a > b) + 0.5 * (a == b) for a in values[bad] for b in values[~bad]]
    got = float(auc(values, bad))
    assert got == pytest.approx(np.mean(wins)) if wins else np.isnan(got)


@given(x=scores, y=scores)
def test_correlations_are_scipys(x, y):
    assume(np.ptp(x) > 1e-3)
    assume(np.ptp(y) > 1e-3)
    assert float(spearman(x, y)) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert float(pearson(x, y)) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)


@pytest.mark.parametrize("level", [0.0, 0.3, 1e6])
def test_a_constant_has_no_correlation(level):
    flat, rising = np.full(7, level), np.arange(7.0)
    for measure in (spearman, pearson):
        assert np.isnan(measure(flat, rising))
        assert np.isnan(measure(rising, flat))


@given(values=scores, bad=sides)
def test_cohens_d_is_the_gap_over_the_pooled_spread(values, bad):
    got = float(cohens_d(values, bad))
    one, two = values[bad], values[~bad]
    if min(len(one), len(two)) < 2 or max(np.ptp(one), np.ptp(two)) < 1e-6:
        assert np.isnan(got)
        return
    squares = one.var() * len(one) + two.var() * len(two)
    wanted = (one.mean() - two.mean()) / np.sqrt(squares / (NUM - 2))
    assert got == pytest.approx(wanted, abs=1e-9)


@given(x=scores, y=scores, p=worse, bad=sides, rows=counts)
def test_counting_an_item_twice_is_writing_it_down_twice(x, y, p, bad, rows):
    for row_number, row in enumerate(rows):
        a, b, q, c = (written_out(v, row) for v in (x, y, p, bad))
        for measure, whole, written in (
            (pairwise_accuracy, (x, y, p), (a, b, q)),
            (pairwise_accuracy_ties, (x, y, p), (a, b, q)),
            (spearman, (x, y), (a, b)),
            (pearson, (x, y), (a, b)),
            (auc, (x, bad), (a, c)),
            (cohens_d, (x, bad), (a, c)),
        ):
            together = measure(*whole, weights=rows)[row_number]
            alone = float(measure(*written)) if len(a) else np.nan
            np.testing.assert_allclose(together, alone, atol=1e-9, err_msg=measure.__name__)


@given(x=scores, rows=counts, share=st.floats(0, 1))
def test_a_weighted_quantile_is_numpys_of_the_list_written_out(x, rows, share):
    got = weighted.quantile(x, rows, share)
    for value, row in zip(got, rows, strict=True):
        full = written_out(x, row)
        assert value == pytest.approx(np.quantile(full, share)) if len(full) else np.isnan(value)


@given(x=many, y=many, p=worse, bad=sides, lost=sides)
def test_a_clip_without_a_score_is_left_out(x, y, p, bad, lost):
    gone = np.where(lost, np.nan, x)
    kept = ~lost
    for measure, whole, some in (
        (pairwise_accuracy, (gone, y, p), (x[kept], y[kept], p[kept])),
        (pairwise_accuracy_ties, (gone, y, p), (x[kept], y[kept], p[kept])),
        (spearman, (gone, y), (x[kept], y[kept])),
        (pearson, (gone, y), (x[kept], y[kept])),
        (auc, (gone, bad), (x[kept], bad[kept])),
        (cohens_d, (gone, bad), (x[kept], bad[kept])),
    ):
        wanted = measure(*some) if kept.any() else np.nan
        np.testing.assert_allclose(measure(*whole), wanted, atol=1e-9, err_msg=measure.__name__)


def test_fishers_mean_of_the_papers_two_correlations_is_the_papers():
    assert float(fisher_mean(np.array([0.596, 0.293]))) == pytest.approx(0.458, abs=5e-4)
    by_size = fisher_mean(np.array([0.596, 0.293]), np.array([497.0, 3394.0]))
    assert float(by_size) == pytest.approx(0.337, abs=2e-3)


def test_fishers_mean_leaves_out_what_is_missing_and_survives_a_perfect_one():
    assert float(fisher_mean(np.array([0.4, np.nan]))) == pytest.approx(0.4)
    assert 0.99 < float(fisher_mean(np.array([1.0, 0.0]))) < 1
    assert np.isnan(fisher_mean(np.array([np.nan])))
    with pytest.raises(ValueError, match="not negative"):
        fisher_mean(np.array([0.1]), np.array([-1.0]))


def test_fleiss_kappa_of_his_own_example():
    """Fourteen raters, ten subjects, five categories (Fleiss 1971): 0.210."""
    votes = np.array(
        [
            [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
        ]
    )  # fmt: skip
    assert float(fleiss_kappa(votes)) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_is_one_for_agreement_and_missing_where_chance_agrees_too():
    assert float(fleiss_kappa(np.array([[4, 0], [0, 4]]))) == pytest.approx(1.0)
    assert np.isnan(fleiss_kappa(np.array([[4, 0], [4, 0]])))
    with pytest.raises(ValueError, match="same number of votes"):
        fleiss_kappa(np.array([[4, 0], [2, 1]]))


def test_the_scores_of_each_rating_are_told_apart():
    values, level = np.array([0.1, 0.3, 0.9, np.nan]), np.array([0.0, 0.0, 1.0, 1.0])
    table = level_distribution(values, level, np.array([0.0, 0.5, 1.0]))
    assert table.shape == (3, 1 + len(SHARES))
    np.testing.assert_allclose(table[0, [0, 1, 4, -1]], [0.2, 0.1, 0.2, 0.3])
    assert np.isnan(table[1]).all()
    assert (table[2] == 0.9).all()
