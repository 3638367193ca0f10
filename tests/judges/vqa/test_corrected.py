import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core.proportion import effective_number, wilson
from cosmolabe.judges.vqa.corrected import Rate, corrected, rate, rates_of


@settings(max_examples=12)
@given(
    true=st.sampled_from([0.1, 0.5, 0.8, 0.95]),
    errors=st.sampled_from([(0.95, 0.9), (0.8, 0.7), (0.9, 0.99)]),
    sizes=st.sampled_from([(60, 60), (300, 120), (2000, 400)]),
)
def test_the_interval_holds_the_true_share_about_95_times_in_100(true, errors, sizes):
    """Simulated judges; 1,500 draws say the rate to ±1.1 points (two standard errors)."""
    (se, sp), (n, measured), times = errors, sizes, 1500
    draw = np.random.default_rng(5)
    said = draw.binomial(n, true * se + (1 - true) * (1 - sp), times) / n
    sensitivity, specificity = (draw.binomial(measured, p, times) / measured for p in (se, sp))
    held = 0
    for shares in zip(said, sensitivity, specificity, strict=True):
        found = corrected(*map(Rate, shares, map(float, (n, measured, measured))))
        held += found.low <= true <= found.high
    assert 0.93 <= held / times <= 0.99


@given(said=st.floats(0, 1), se=st.floats(0, 1), sp=st.floats(0, 1), n=st.floats(1, 1e4))
def test_a_corrected_share_lies_within_its_interval_and_both_in_0_to_1(said, se, sp, n):
    found = corrected(Rate(said, n), Rate(se, 50.0), Rate(sp, 50.0))
    if se + sp > 1 + 1e-9:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert not found.why
    elif se + sp <= 1:
        assert np.isnan([found.value, found.low, found.high]).all()
        assert "as often to the wrong" in found.why
    assert found.raw == said


def test_more_items_of_either_kind_narrow_the_interval():
    def width(n, measured):
        found = corrected(Rate(0.7, n), Rate(0.9, measured), Rate(0.85, measured))
        return found.high - found.low

    assert width(1000.0, 100.0) < width(100.0, 100.0)
    assert width(1000.0, 1000.0) < width(1000.0, 100.0)
    assert width(1e9, 100.0) > 0.05  # the judge's own rates are still not known


def test_a_value_past_the_end_is_held_there_and_says_so():
    found = corrected(Rate(0.05, 100.0), Rate(0.9, 100.0), Rate(0.8, 100.0))
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.note.startswith("-0.214 by the formula")


def test_what_was_not_measured_is_missing_and_says_which():
    known, unknown = Rate(0.9, 100.0), rate(np.zeros(0, bool))
    assert "where the answer is true" in corrected(known, unknown, known).why
    assert "where the answer is false" in corrected(known, known, unknown).why
    assert corrected(unknown, known, known).why == "nothing was judged"
    with pytest.raises(ValueError, match=r"0\.\.1"):
        Rate(1.2, 5.0)


def test_questions_of_one_clip_count_as_the_fewer_they_are_worth():
    clips = np.repeat(np.arange(40), 6)
    same = np.repeat(np.arange(40) % 2, 6).astype(float)  # six equal answers to a clip
    apart = np.tile([0.0, 1.0], 120)
    assert effective_number(same, clips) == pytest.approx(40, rel=0.05)
    assert effective_number(apart, clips) == pytest.approx(240)
    assert effective_number(np.ones(240), clips) == 40
    assert effective_number(np.array([1.0, 0.0]), np.array(["a", "b"])) == 2


def test_sensitivity_and_specificity_are_counted_where_they_belong():
    said = np.array([True, True, False, False, True])
    truth = np.array([True, True, True, False, False])
    sensitivity, specificity = rates_of(said, truth)
    assert (sensitivity.share, sensitivity.n) == (pytest.approx(2 / 3), 3)
    assert (specificity.share, specificity.n) == (0.5, 2)
    together = rates_of(said, truth, np.array(["a", "a", "a", "b", "c"]))
    assert [r.n for r in together] == [1, 2]


def test_wilsons_interval_of_the_textbook():
    assert wilson(81.0, 263.0) == pytest.approx((0.2553, 0.3662), abs=5e-5)  # Newcombe 1998
    assert wilson(0.0, 10.0)[0] == pytest.approx(0)
    assert np.isnan(wilson(0.0, 0.0)).all()
