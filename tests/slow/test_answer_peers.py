"""Measures of answers against the packages people know them from."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.metrics.balanced_accuracy import balanced_accuracy
from cosmolabe.metrics.cohens_kappa import cohens_kappa
from cosmolabe.metrics.krippendorff_alpha import krippendorff_alpha
from cosmolabe.metrics.rouge_n import rouge_n

krippendorff = pytest.importorskip("krippendorff")
scorer = pytest.importorskip("rouge_score.rouge_scorer")
tokenize = pytest.importorskip("rouge_score.tokenize")
peers = pytest.importorskip("sklearn.metrics")

text = st.lists(st.sampled_from(["The", "cat,", "sat", "on-it", "it's", "3", "mat."]), max_size=9)
grades = arrays(np.int64, 12, elements=st.integers(0, 3))


@given(said=text.map(" ".join), truth=text.map(" ".join), n=st.integers(1, 3))
def test_rouge_is_rouge_scores_where_no_side_is_too_short(said, truth, n):
    theirs = scorer.RougeScorer([f"rouge{n}"]).score(truth, said)[f"rouge{n}"].fmeasure
    assume(min(len(tokenize.tokenize(side, None)) for side in (said, truth)) >= n)
    assert rouge_n([said], [truth], n)[0] == pytest.approx(theirs)


@pytest.mark.filterwarnings("ignore")
@given(first=grades, second=grades)
def test_kappa_and_balanced_accuracy_are_scikit_learns(first, second):
    assert float(balanced_accuracy(first == second, first)) == pytest.approx(
        np.mean([np.mean(second[first == label] == label) for label in np.unique(first)])
    )
    if set(second) <= set(first):
        theirs = peers.balanced_accuracy_score(first, second)
        assert float(balanced_accuracy(first == second, first)) == pytest.approx(theirs)
    assume(len({*first, *second}) > 1)
    for scale, name in (("nominal", None), ("linear", "linear"), ("quadratic", "quadratic")):
        theirs = peers.cohen_kappa_score(first, second, weights=name, labels=range(4))
        assert float(cohens_kappa(first, second, scale=scale)) == pytest.approx(theirs)


@given(
    ratings=arrays(
        np.float64, (9, 3), elements=st.one_of(st.integers(0, 3).map(float), st.just(np.nan))
    )
)
def test_alpha_is_the_package_krippendorffs(ratings):
    paired = ratings[np.isfinite(ratings).sum(1) >= 2]
    assume(len(np.unique(paired[np.isfinite(paired)])) > 1)
    for scale in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(reliability_data=paired.T, level_of_measurement=scale)
        assert float(krippendorff_alpha(ratings, scale=scale)) == pytest.approx(theirs)
