"""Our statistics against statsmodels' (pip install statsmodels)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.arena.analysis.pairs import equivalence, tost_power
from cosmolabe.bench.significance import holm

weightstats = pytest.importorskip("statsmodels.stats.weightstats")
multitest = pytest.importorskip("statsmodels.stats.multitest")

pairs = st.lists(st.floats(-0.2, 0.2).map(lambda x: round(x, 4)), min_size=3, max_size=30)


@given(x=pairs.filter(lambda x: np.std(x) > 1e-3), margin=st.floats(0.01, 0.3))
def test_two_one_sided_tests_are_statsmodels(x, margin):
    p, low, high = weightstats.ttost_paired(np.array(x), np.zeros(len(x)), -margin, margin)
    told = equivalence(x, margin)
    assert told.p == pytest.approx(p, abs=1e-9)
    assert (told.low_p, told.high_p) == pytest.approx((low[1], high[1]), abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels(p):
    assert holm(p).tolist() == pytest.approx(multitest.multipletests(p, method="holm")[1].tolist())


@pytest.mark.parametrize(("n", "sd"), [(12, 0.05), (32, 0.12), (96, 0.2)])
def test_the_power_of_equivalence_is_what_many_draws_find(n, sd):
    dice = np.random.default_rng(3)
    x = dice.normal(0, sd, (20_000, n))
    mean, error = x.mean(1), x.std(1, ddof=1) / np.sqrt(n)
    from scipy import stats

    t = stats.t.ppf(0.95, n - 1)
    share = np.mean(np.abs(mean) + t * error < 0.05)
    assert tost_power(n, sd, 0.05) == pytest.approx(share, abs=0.01)
