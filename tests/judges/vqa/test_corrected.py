import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core.proportion import effective_number, wilson
from cosmolabe.judges.vqa.corrected import Rate, chance, corrected, rate, rates_of, told_apart


def judged(true, sensitivity, specificity, n, measured, times):
    """What simulated judges would be corrected to."""
    draw = np.random.default_rng(5)
    said = draw.binomial(n, true * sensitivity + (1 - true) * (1 - specificity), times) / n
    rates = (draw.binomial(measured, p, times) / measured for p in (sensitivity, specificity))
    sizes = (float(n), float(measured), float(measured))
    return [corrected(*map(Rate, shares, sizes)) for shares in zip(said, *rates, strict=True)]


@settings(max_examples=12)
@given(
    true=st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.95, 1.0]),
    errors=st.sampled_from([(0.95, 0.9), (0.8, 0.7), (0.9, 0.99), (0.55, 0.75)]),
    sizes=st.sampled_from([(60, 60), (300, 120), (2000, 400)]),
)
def test_the_interval_holds_the_true_share_about_95_times_in_100(true, errors, sizes):
    """Simulated judges; 1,500 draws say the rate to ±1.1 points (two standard errors)."""
    known = [one for one in judged(true, *errors, *sizes, 1500) if not one.why]
    assert len(known) > 1000
    held = np.mean([one.low <= true <= one.high for one in known])
    assert held >= 0.93
    assert held <= 0.99 or true in (0, 1)  # at an end it cannot lie on one side


@settings(max_examples=10)
@given(
    true=st.sampled_from([0.0, 0.3, 1.0]),
    errors=st.sampled_from([(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.05, 0.95), (0.9, 0.1)]),
    sizes=st.sampled_from([(60, 60), (300, 100), (5000, 1000)]),
)
def test_a_judge_at_chance_is_corrected_to_nothing_in_19_of_20(true, errors, sizes):
    found = judged(true, *errors, *sizes, 1500)
    missing = [one for one in found if "at chance" in one.why]
    assert len(missing) >= 0.955 * len(found)  # 97.5 % by design, for only one side is a judge
    for one in missing:
        assert np.isnan([one.value, one.low, one.high]).all()


@settings(max_examples=300)
@given(
    said=st.floats(0, 1),
    n=st.floats(1, 1e6),
    se=st.floats(0, 1),
    n_se=st.floats(1, 1e6),
    sp=st.floats(0, 1),
    n_sp=st.floats(1, 1e6),
)
def test_what_is_corrected_lies_in_its_interval_and_what_is_not_says_why(
    said, n, se, n_se, sp, n_sp
):
    judge = Rate(se, n_se), Rate(sp, n_sp)
    found = corrected(Rate(said, n), *judge)
    value, low, _ = told_apart(*judge)
    assert found.raw == said
    assert bool(chance(*judge)) == (value <= 0 or low <= 0)
    if found.why:
        assert np.isnan([found.value, found.low, found.high]).all()
        assert "at chance" in found.why or "errs otherwise" in found.why
        return
    assert low > 0
    assert 0 <= found.low <= found.value <= found.high <= 1
    if found.note:  # held at an end: no surer than a judge that has seen just that end
        end = 1 - sp if found.value == 0 else se
        there = corrected(Rate(end, n), *judge)
        assert found.low <= there.low + 1e-9
        assert found.high >= there.high - 1e-9


def test_hardly_better_than_guessing_is_guessing():
    """As the bundled model is with the ship of asteroids: 1.6 by the formula."""
    found = corrected(Rate(0.25, 48.0), Rate(0.229, 266.0), Rate(0.806, 285.0))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.why == (
        "the judge is at chance: its sensitivity 0.229 and specificity 0.806 sum to 1.035 "
        "(0.967 to 1.103), and 1 is what guessing brings"
    )


def test_a_share_that_no_truth_explains_refutes_the_rates():
    found = corrected(Rate(0.02, 400.0), Rate(0.9, 400.0), Rate(0.6, 400.0))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert "allow 0.400 to 0.900" in found.why


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
    assert found.high > 0.1  # how far a judge that says yes to 0.2 could be from 0
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
