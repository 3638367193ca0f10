"""Measures of answers against plain loops, worked examples and lists written out in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.metrics.balanced_accuracy import balanced_accuracy
from cosmolabe.metrics.cohens_kappa import cohens_kappa
from cosmolabe.metrics.exact_match import exact_match
from cosmolabe.metrics.expected_calibration_error import expected_calibration_error, reliability
from cosmolabe.metrics.krippendorff_alpha import krippendorff_alpha
from cosmolabe.metrics.rogan_gladen import rogan_gladen
from cosmolabe.metrics.rouge_n import rouge_n, used_n
from cosmolabe.metrics.strict_exact_match import strict_exact_match
from cosmolabe.metrics.vote_agreement import vote_agreement
from cosmolabe.metrics.yes_rate import yes_rate

NUM = 8
truths = arrays(np.int64, NUM, elements=st.integers(0, 2))
sides = arrays(bool, NUM)
grades = arrays(np.int64, NUM, elements=st.integers(0, 3))
chances = arrays(np.float64, NUM, elements=st.floats(0, 1, width=16))
counts = arrays(np.float64, (3, NUM), elements=st.sampled_from([0.0, 1.0, 2.0]))
sentence = st.lists(st.sampled_from(["the", "a", "cat", "sat", "mat", "on"]), max_size=6).map(
    " ".join
)


def written_out(values, row):
    return np.repeat(values, row.astype(int), axis=0)


def test_an_answer_is_right_in_any_casing_and_wrong_where_nothing_was_read():
    said = ["Jumping.", "“jumping”", None, "", "a jumping"]
    assert list(exact_match(said, ["jumping"] * 5)) == [1, 1, 0, 0, 0]
    assert list(strict_exact_match(["jumping", "Jumping", None], ["jumping"] * 3)) == [1, 0, 0]


@pytest.mark.parametrize("measure", [exact_match, strict_exact_match])
def test_an_empty_truth_is_refused_for_it_would_match_every_empty_reply(measure):
    """UltraRAG #509: a gold answer that became empty matched everything."""
    with pytest.raises(ValueError, match="item 1"):
        measure(["a", ""], ["a", ""])
    with pytest.raises(ValueError, match="as many"):
        measure(["a"], ["a", "b"])


def test_rouge_counts_runs_as_often_as_both_have_them():
    assert rouge_n(["the cat the cat"], ["the cat"], 1)[0] == pytest.approx(4 / 6)
    assert rouge_n(["on the mat it sat"], ["on the mat it lay"], 2)[0] == pytest.approx(3 / 4)
    assert rouge_n(["a b c"], ["c b a"], 2)[0] == 0


def test_short_answers_use_the_longest_run_there_is():
    said, truth = ["yes", "evading right", "no", ""], ["yes", "evading right", "yes", "jumping"]
    assert list(used_n(said, truth, [2, 3, 2, 3])) == [1, 2, 1, 1]
    assert list(rouge_n(said, truth, [2, 3, 2, 3])) == [1, 1, 0, 0]


def test_as_the_paper_writes_it_short_answers_have_no_score():
    score = rouge_n(["yes", "a b c c c", None], ["yes", "a b c", "a b c"], [2, 2, 2], True)
    assert np.isnan(score[[0, 2]]).all()
    assert score[1] == pytest.approx(4 / 5)  # {ab, bc, cc} against {ab, bc}


@given(said=sentence, truth=sentence.filter(bool), n=st.integers(1, 4))
def test_rouge_is_the_same_both_ways_and_one_for_the_same_text(said, truth, n):
    assert rouge_n([truth], [truth], n)[0] == 1
    score = rouge_n([said], [truth], n)[0]
    assert 0 <= score <= 1
    if said:
        assert rouge_n([truth], [said], n)[0] == score
    else:
        assert score == 0


def test_rouge_refuses_what_it_cannot_count():
    with pytest.raises(ValueError, match="no word"):
        rouge_n(["a"], ["..."], 1)
    with pytest.raises(ValueError, match="one word or more"):
        rouge_n(["a"], ["a"], 0)


@given(right=sides, truth=truths)
def test_balanced_accuracy_is_the_mean_of_each_labels_share(right, truth):
    shares = [right[truth == label].mean() for label in np.unique(truth)]
    assert float(balanced_accuracy(right, truth)) == pytest.approx(np.mean(shares))


def test_a_constant_answer_scores_one_over_labels():
    truth = np.array([0, 0, 0, 0, 1, 2])
    assert float(balanced_accuracy(truth == 0, truth)) == pytest.approx(1 / 3)
    assert np.isnan(balanced_accuracy(np.zeros(0, bool), np.zeros(0, np.int64)))


def test_the_yes_rate_is_of_what_said_yes_or_no():
    yes, read = np.array([True, False, False, True]), np.array([True, True, False, True])
    assert float(yes_rate(yes, read)) == pytest.approx(2 / 3)
    assert np.isnan(yes_rate(yes, np.zeros(4, bool)))


@given(chance=chances, right=sides, bins=st.integers(1, 5))
def test_the_calibration_error_equals_a_plain_loop(chance, right, bins):
    gap = 0.0
    for k in range(bins):
        inside = (chance > k / bins) & (chance <= (k + 1) / bins) | ((k == 0) & (chance == 0))
        if inside.any():
            gap += inside.mean() * abs(right[inside].mean() - chance[inside].mean())
    got = float(expected_calibration_error(chance, right, bins=bins))
    assert got == pytest.approx(gap, abs=1e-9)


def test_what_is_always_half_right_and_says_so_is_calibrated():
    right = np.array([True, False] * 10)
    assert float(expected_calibration_error(np.full(20, 0.5), right)) == pytest.approx(0)
    assert float(expected_calibration_error(np.ones(20), right)) == pytest.approx(0.5)
    assert np.isnan(expected_calibration_error(np.full(20, np.nan), right))
    table = reliability(np.full(20, 0.5), right, bins=2)
    assert list(table[0]) == [20, 0.5, 0.5]
    assert np.isnan(table[1, 1:]).all()
    with pytest.raises(ValueError, match="probabilities lie"):
        expected_calibration_error(np.full(20, 1.2), right)


def test_agreement_counts_votes_that_said_nothing():
    votes = np.array([[0, 0, 0, 1], [0, 1, 2, 3], [-1, -1, -1, 2], [-1, -1, -1, -1]])
    assert list(vote_agreement(votes)) == [0.75, 0.25, 0.25, 0.0]


def test_kappa_of_the_textbook_table():
    """45 + 15 agreed, 25 and 15 not: p_o = 0.6, p_e = 0.54, κ = 0.1304."""
    first = np.repeat([0, 0, 1, 1], [45, 15, 25, 15])
    second = np.repeat([0, 1, 0, 1], [45, 15, 25, 15])
    assert float(cohens_kappa(first, second)) == pytest.approx(0.06 / 0.46)


@given(first=grades, second=grades)
def test_kappa_reads_the_same_both_ways_and_linear_is_nominal_for_two_grades(first, second):
    for scale in ("nominal", "linear", "quadratic"):
        np.testing.assert_allclose(
            cohens_kappa(first, second, scale=scale), cohens_kappa(second, first, scale=scale)
        )
    two = first % 2, second % 2
    np.testing.assert_allclose(cohens_kappa(*two), cohens_kappa(*two, scale="linear"))


def test_kappa_is_missing_where_both_only_ever_say_one_thing():
    """scikit-learn #9624, nltk #2940: a division by zero, or a number made of it."""
    same = np.zeros(5, np.int64)
    assert np.isnan(cohens_kappa(same, same))
    assert np.isnan(cohens_kappa(np.full(5, -1), same))
    assert float(cohens_kappa(np.array([0, 1, -1]), np.array([0, 1, 1]))) == pytest.approx(1)


KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
).T


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_own_example(scale, alpha):
    """Krippendorff 2011, example D: four observers, twelve units, missing data."""
    assert float(krippendorff_alpha(KRIPPENDORFF, scale=scale)) == pytest.approx(alpha, abs=5e-4)


def test_alpha_is_missing_where_nothing_varies_or_nothing_pairs():
    assert np.isnan(krippendorff_alpha(np.ones((4, 2))))
    assert np.isnan(krippendorff_alpha(np.array([[1.0, np.nan], [np.nan, 2.0]])))


@given(row=counts, right=sides, truth=truths, chance=chances, second=grades, first=grades)
def test_an_item_that_counts_twice_is_the_item_written_twice(
    row, right, truth, chance, second, first
):
    pairs = np.stack([first, second], 1).astype(float)
    measures = (
        (balanced_accuracy, (right, truth)),
        (yes_rate, (right, truth > 0)),
        (expected_calibration_error, (chance, right)),
        (cohens_kappa, (first, second)),
        (krippendorff_alpha, (pairs,)),
    )
    for measure, inputs in measures:
        together = measure(*inputs, weights=row)
        for resample, got in zip(row, together, strict=True):
            alone = measure(*(written_out(side, resample) for side in inputs))
            np.testing.assert_allclose(got, alone, atol=1e-9)


@given(
    true=st.floats(0, 1),
    sensitivity=st.floats(0.55, 1),
    specificity=st.floats(0.55, 1),
)
def test_the_correction_finds_the_share_behind_known_errors(true, sensitivity, specificity):
    said = true * sensitivity + (1 - true) * (1 - specificity)
    got = rogan_gladen(*(np.array([x]) for x in (said, sensitivity, specificity)))
    assert float(got[0]) == pytest.approx(true, abs=1e-9)


def test_a_judge_that_tells_nothing_corrects_nothing():
    share = np.array([0.5, 0.5, 0.1])
    got = rogan_gladen(share, np.array([0.5, 0.3, 0.9]), np.array([0.5, 0.4, 0.8]))
    assert np.isnan(got[:2]).all()
    assert got[2] == 0
    raw = rogan_gladen(share, np.array([0.5, 0.3, 0.9]), np.array([0.5, 0.4, 0.8]), clip=False)
    assert raw[2] == pytest.approx(-1 / 7)
