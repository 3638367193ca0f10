"""Numbers of the statistics: by hand, against scipy, and against those that are published."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cosmolabe.arena.analysis.margins import read_margins, register
from cosmolabe.arena.analysis.pairs import (
    equivalence,
    paired,
    power,
    sign_p,
    tost_power,
    wilcoxon_p,
)
from cosmolabe.arena.analysis.robust import (
    best_of,
    best_so_far,
    expected_gain_of_best,
    fixed_k,
    iqm,
    probability_of_improvement,
    stratified,
)
from cosmolabe.bench.significance import holm

scores = st.floats(-1, 1).map(lambda x: round(x, 3))
runs = st.lists(scores, min_size=1, max_size=9)


# -- published numbers ---------------------------------------------------------------------------


def test_nineteen_wins_against_thirteen_are_no_proof():
    assert sign_p(19, 13) == pytest.approx(0.377, abs=5e-4)


@pytest.mark.parametrize(("d", "published"), [(0.2, 0.20), (0.3, 0.36), (0.5, 0.75)])
def test_thirty_two_cells_see_only_large_effects(d, published):
    assert power(32, d) == pytest.approx(published, abs=0.035)


@pytest.mark.parametrize(
    ("n", "sd", "published"),
    [
        (32, 0.10, 0.74), (32, 0.15, 0.17), (32, 0.20, 0.01),
        (96, 0.10, 1.00), (96, 0.15, 0.90), (96, 0.20, 0.54),
    ],
)  # fmt: skip
def test_equivalence_within_five_points_needs_the_grid_of_three_seeds(n, sd, published):
    assert tost_power(n, sd, 0.05) == pytest.approx(published, abs=0.03)  # published: simulated


def test_the_power_of_equivalence_is_what_simulation_finds():
    dice, hits = np.random.default_rng(0), 0
    for _ in range(400):
        hits += equivalence(dice.normal(0, 0.12, 32), 0.05).p < 0.05
    assert hits / 400 == pytest.approx(tost_power(32, 0.12, 0.05), abs=0.07)


@pytest.mark.parametrize(("k", "published"), [(18, 0.089), (24, 0.096)])
def test_what_the_best_of_many_equal_runs_gains(k, published):
    assert expected_gain_of_best(k, 0.049) == pytest.approx(published, abs=1e-3)
    assert expected_gain_of_best(1, 0.049) == pytest.approx(0, abs=1e-12)


# -- pairs ---------------------------------------------------------------------------------------


def test_signed_ranks_by_hand():
    """Of the 2³ signs of ranks 1, 2, 3 only two reach a sum as far out as 6: p = 2/8."""
    assert wilcoxon_p(np.array([0.1, 0.2, 0.3])) == pytest.approx(0.25)
    assert wilcoxon_p(np.zeros(5)) == 1.0


@given(st.lists(scores, min_size=2, max_size=20))
def test_turning_every_pair_around_turns_the_mean_and_no_p(x):
    one, two = paired(x), paired([-v for v in x])
    assert one.mean == pytest.approx(-two.mean)
    assert (one.better, one.worse) == (two.worse, two.better)
    for name in ("sign_p", "wilcoxon_p", "flip_p"):
        p = getattr(one, name)
        assert 0 < p <= 1
        assert p == pytest.approx(getattr(two, name), abs=1e-9)
    assert one.low <= one.mean + 1e-9
    assert one.mean <= one.high + 1e-9


def test_all_three_tests_see_a_large_difference_and_none_sees_noise():
    dice = np.random.default_rng(1)
    large, none = paired(dice.normal(0.2, 0.1, 32)), paired(dice.normal(0, 0.1, 32))
    assert max(large.sign_p, large.wilcoxon_p, large.flip_p) < 1e-3
    assert min(none.sign_p, none.wilcoxon_p, none.flip_p) > 0.05
    assert large.low > 0
    assert none.low < 0 < none.high


def test_a_missing_pair_is_left_out_and_one_pair_proves_nothing():
    assert paired([0.1, math.nan, 0.3]).n == 2
    lonely = paired([0.1, math.nan])
    assert lonely.mean == 0.1
    assert math.isnan(lonely.wilcoxon_p)
    assert math.isnan(paired([]).mean)


def test_equivalence_is_two_one_sided_t_tests():
    x = np.array([0.01, -0.02, 0.0, 0.015, -0.01, 0.005])
    told = equivalence(x, 0.05)
    t = (x.mean() + 0.05) / (x.std(ddof=1) / math.sqrt(6))
    assert told.low_p == pytest.approx(stats.t.sf(t, 5))
    assert told.p == max(told.low_p, told.high_p) < 0.05
    assert equivalence(x, 0.001).p > 0.05
    assert equivalence(x + 0.2, 0.05).p > 0.99
    with pytest.raises(ValueError, match="above 0"):
        equivalence(x, 0.0)


def test_a_margin_is_registered_once_and_its_hash_is_known(tmp_path):
    path = tmp_path / "margins.json"
    told = register(path, {"test": 0.02}, "half of what seeds move", "2026-11-30")
    assert read_margins(path) == told
    assert len(told.hash) == 64
    with pytest.raises(ValueError, match="registered already"):
        register(path, {"test": 0.05}, "", "")
    path.write_text(path.read_text().replace("0.02", "0.03"))
    assert read_margins(path).hash != told.hash
    with pytest.raises(ValueError, match="above 0"):
        register(tmp_path / "other.json", {"test": -1.0}, "", "")
    path.write_text('{"schema": 1}')
    with pytest.raises(ValueError, match="no 'margins'"):
        read_margins(path)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])


# -- grids ---------------------------------------------------------------------------------------


def test_the_middle_half_by_hand():
    assert iqm([0, 1, 2, 3, 4, 5, 6, 100]) == pytest.approx((2 + 3 + 4 + 5) / 4)
    assert iqm([5.0]) == 5.0
    assert math.isnan(iqm([math.nan]))


@given(st.lists(scores, min_size=1, max_size=20).filter(lambda x: len(x) % 4 == 0))
def test_the_middle_half_is_scipys_trimmed_mean(x):
    assert iqm(x) == pytest.approx(float(stats.trim_mean(x, 0.25)))


def test_intervals_draw_within_cells():
    """Cells far apart, without spread inside them, have no uncertainty at all."""
    cells = {"a": [0.1] * 3, "b": [0.9] * 3}
    assert stratified(cells, np.mean) == pytest.approx((0.5, 0.5, 0.5))
    value, *ends = stratified({"a": [0.2], "b": [0.8]}, np.mean)
    assert value == pytest.approx(0.5)
    assert all(map(math.isnan, ends)), "one run a cell varies nowhere, which is no interval"
    value, low, high = stratified({"a": [0.1, 0.2, 0.3], "b": [0.7, 0.9, 0.8]}, np.mean)
    assert low < value < high


@given(a=runs, b=runs)
def test_who_improves_whom(a, b):
    one, two = {"cell": a}, {"cell": b}
    there, low, high = probability_of_improvement(one, two)
    back, *_ = probability_of_improvement(two, one)
    assert there + back == pytest.approx(1)
    if len(a) == len(b) == 1:  # one run against one: nobody can tell how far it varies
        assert math.isnan(low)
        assert math.isnan(high)
    else:
        assert 0 <= low <= high <= 1
    u = stats.mannwhitneyu(b, a).statistic / (len(a) * len(b)) if len(a) * len(b) else 0
    assert there == pytest.approx(u)


def test_without_a_shared_cell_nothing_is_said():
    assert all(map(math.isnan, probability_of_improvement({"a": [1.0]}, {"b": [1.0]})))


@given(st.lists(scores, min_size=1, max_size=7))
def test_the_best_of_k_is_the_mean_over_all_ways_to_draw_k(x):
    curve = best_of(x)
    for k in range(1, len(x) + 1):
        every = [max(chosen) for chosen in itertools.combinations(x, k)]
        assert curve[k - 1] == pytest.approx(np.mean(every), abs=1e-9)
    assert curve[0] == pytest.approx(np.mean(x), abs=1e-9)
    assert curve[-1] == max(x)


def test_a_run_without_a_score_counts_as_the_worst():
    assert best_of([0.2, math.nan, 0.8]).tolist() == best_of([0.2, 0.2, 0.8]).tolist()
    assert np.isnan(best_of([math.nan, math.nan])).all()


def test_whoever_tries_more_often_gains_nothing_at_a_fixed_k():
    few = {"cell": [0.1, 0.2, 0.3]}
    many = {"cell": [0.1, 0.2, 0.3] * 8}
    assert fixed_k(few, few, 2)["cell"] == 0
    assert fixed_k(few, many, 2)["cell"] < 0.03
    assert best_of(many["cell"])[-1] == best_of(few["cell"])[-1]
    assert fixed_k(few, many, 4) == {}


def test_the_best_so_far_never_is_a_number_that_is_missing():
    assert best_so_far([10, 10, 10, 10], [0.5, math.nan, 0.4, 0.6]) == [(10, 0.5), (40, 0.6)]
    assert best_so_far([], []) == []
