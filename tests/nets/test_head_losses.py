"""Losses and labels of the physics head: numbers they must give, and where they come to rest."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cosmolabe.nets.head_labels import (
    broken_composite,
    broken_violation,
    broken_yield,
    floored,
    linear,
    linear_of_floored,
    normalised,
)
from cosmolabe.nets.head_losses import (
    anchor_loss,
    bounded_target,
    domain_loss,
    magnitude_loss,
    rank_loss,
    rank_target,
    smoothing_of,
    untempered_gap,
)
from cosmolabe.nets.head_training import decay_at

NAN = float("nan")


def at_rest(loss, start):
    """Where gradient descent on a few free scores ends."""
    scores = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([scores], max_iter=200, tolerance_grad=1e-12)

    def closure():
        descent.zero_grad()
        total = loss(scores)
        total.backward()
        return total

    for _ in range(5):
        descent.step(closure)
    return scores.detach().numpy()


def of(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_smoothing_runs_from_0_095_at_a_small_gap_to_0_05_at_the_largest():
    got = smoothing_of(of(0.0, 0.1, 0.5, 1.0))
    torch.testing.assert_close(got, of(0.095, 0.095, 0.075, 0.05))


def test_a_tie_is_not_smoothed_and_a_winner_keeps_one_minus_epsilon():
    got = rank_target(of(1.0, 0.0, 0.5), of(1.0, 1.0, 0.0))
    torch.testing.assert_close(got, of(0.95, 0.05, 0.5))


def test_order_alone_comes_to_rest_at_a_difference_of_2_944():
    assert untempered_gap(0.05) == pytest.approx(2.944, abs=5e-4)
    assert untempered_gap(0.095) == pytest.approx(2.254, abs=5e-4)
    target = rank_target(of(1.0), of(1.0))
    scores = at_rest(lambda s: rank_loss(s[:1], s[1:], target), [0.3, 0.1])
    assert scores[0] - scores[1] == pytest.approx(2.944, abs=1e-3)


def test_with_anchors_scores_rest_at_minus_0_002_and_1_002():
    """A lawful and a blatant clip, both pinned: anchors win, for they weigh a hundred."""
    target = rank_target(of(0.0), of(1.0))

    def loss(s):
        magnitude = magnitude_loss(s, of(NAN, NAN))
        return rank_loss(s[:1], s[1:], target) + 10 * magnitude + 100 * anchor_loss(s, of(0.0, 1.0))

    low, high = at_rest(loss, [0.4, 0.6])
    assert low == pytest.approx(-0.002, abs=1e-3)
    assert high == pytest.approx(1.002, abs=1e-3)


def test_without_anchors_order_stretches_the_scale_and_a_bounded_margin_does_not():
    gap, known = of(1.0), of(0.0, 1.0)

    def loss(target):
        return lambda s: rank_loss(s[:1], s[1:], target) + 10 * magnitude_loss(s, known)

    low, high = at_rest(loss(rank_target(of(0.0), gap)), [0.4, 0.6])
    assert low == pytest.approx(-0.041, abs=1e-3)
    assert high == pytest.approx(1.041, abs=1e-3)
    low, high = at_rest(loss(bounded_target(of(0.0), gap, of(-1.0))), [0.4, 0.6])
    assert low == pytest.approx(0.0, abs=1e-5)
    assert high == pytest.approx(1.0, abs=1e-5)


def test_a_small_gap_is_stretched_most():
    target, known = rank_target(of(0.0), of(0.25)), of(0.5, 2 / 3)
    low, high = at_rest(
        lambda s: rank_loss(s[:1], s[1:], target) + 10 * magnitude_loss(s, known), [0.5, 0.6]
    )
    assert low == pytest.approx(0.433, abs=2e-3)
    assert high == pytest.approx(0.734, abs=2e-3)


def test_a_bounded_target_falls_back_to_the_gap_where_a_label_is_missing():
    got = bounded_target(of(1.0, 0.0, 0.5), of(0.4, 0.4, 0.0), of(NAN, NAN, NAN))
    torch.testing.assert_close(got, torch.sigmoid(of(0.4, -0.4, 0.0)))


@given(d=st.floats(-3, 3))
def test_the_magnitude_term_is_square_up_to_one_half_and_straight_beyond(d):
    got = float(magnitude_loss(of(d), of(0.0)))
    assert got == pytest.approx(d * d / 2 if abs(d) <= 0.5 else 0.5 * (abs(d) - 0.25))


def test_each_term_is_the_mean_over_what_has_a_say_in_it():
    scores = of(0.2, 0.4, 9.0)
    assert float(anchor_loss(scores, of(0.0, 0.0, NAN))) == pytest.approx(0.1)
    assert float(magnitude_loss(scores, of(NAN, 0.0, NAN))) == pytest.approx(0.08)
    assert float(anchor_loss(scores, of(NAN, NAN, NAN))) == 0
    assert float(magnitude_loss(scores, of(NAN, NAN, NAN))) == 0


def test_a_missing_label_sends_back_no_slope():
    scores = of(0.2, 0.4).requires_grad_()
    (magnitude_loss(scores, of(NAN, 1.0)) + anchor_loss(scores, of(NAN, NAN))).backward()
    assert scores.grad[0] == 0
    assert scores.grad[1] != 0


def test_naming_a_pair_the_other_way_round_costs_the_same():
    a, b, p, gap = of(0.3), of(-0.8), of(1.0), of(0.7)
    one = rank_loss(a, b, rank_target(p, gap))
    torch.testing.assert_close(one, rank_loss(b, a, rank_target(1 - p, gap)))


def test_the_running_mean_forgets_its_start_only_with_a_warm_up():
    bare = math.prod(decay_at(t, warmup=False) for t in range(1, 10_001))
    warm = math.prod(decay_at(t) for t in range(1, 10_001))
    assert bare == pytest.approx(0.368, abs=5e-4)
    assert warm == pytest.approx(3.6e-30, rel=0.02)
    assert decay_at(10**9) == 0.9999


def test_ratings_floor_at_one_half():
    ratings = np.array([5.0, 4.0, 3.0, 2.0, 1.0, np.nan])
    np.testing.assert_allclose(floored(ratings), [0, 0.5, 2 / 3, 5 / 6, 1, np.nan])
    np.testing.assert_allclose(linear(ratings), [0, 0.25, 0.5, 0.75, 1, np.nan])
    np.testing.assert_allclose(floored(np.array([4.5])), [0.25])


@given(ratings=arrays(np.float64, 5, elements=st.floats(1, 5)))
def test_the_floor_can_be_undone_and_keeps_the_order(ratings):
    floor = floored(ratings)
    np.testing.assert_allclose(linear_of_floored(floor), linear(ratings), atol=1e-12)
    ranked = np.sort(ratings)
    assert (np.diff(floored(ranked)) <= 0).all()


@pytest.mark.parametrize("bad", [0.99, 5.01, np.inf])
def test_a_rating_outside_one_to_five_is_refused(bad):
    with pytest.raises(ValueError, match=r"1\.\.5"):
        floored(np.array([3.0, bad]))


def test_the_composite_of_a_mask_by_hand():
    """One quarter marked, in the corner, in half of the frames of a square picture."""
    mask = np.zeros((2, 4, 4), bool)
    mask[0, :2, :2] = True
    area, near, presence = 4 / 32, 1 - math.hypot(1, 1) / (math.hypot(4, 4) / 2), 0.5
    assert broken_composite(mask) == pytest.approx(0.6 * area + 0.3 * near + 0.1 * presence)


def test_a_mask_without_a_mark_is_zero_and_a_full_one_is_one():
    assert broken_composite(np.zeros((3, 4, 6), bool)) == 0
    assert broken_composite(np.ones((3, 4, 6), bool)) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="not empty"):
        broken_composite(np.zeros((0, 4, 4), bool))


@given(mask=arrays(bool, (3, 5, 7)))
def test_a_composite_lies_in_zero_to_one_and_no_mirror_changes_it(mask):
    whole = broken_composite(mask)
    assert 0 <= whole <= 1
    for turned in (mask[::-1], mask[:, ::-1], mask[:, :, ::-1]):
        assert broken_composite(turned) == pytest.approx(whole)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=12), gap=st.floats(0.05, 0.6))
def test_the_yield_counts_pairs_far_enough_apart(values, gap):
    wanted = sum(abs(a - b) >= gap - 1e-12 for i, a in enumerate(values) for b in values[:i])
    assert broken_yield(np.array(values), gap) == wanted


def test_normalising_spreads_crowded_composites():
    crowded = np.array([0.31, 0.32, 0.33, 0.36])
    assert broken_yield(normalised(crowded)) == 0
    assert broken_yield(normalised(crowded, "minmax")) == 4
    np.testing.assert_allclose(normalised(crowded, "rank"), [0, 1 / 3, 2 / 3, 1])
    assert (normalised(np.full(3, 0.4), "minmax") == 0).all()
    np.testing.assert_allclose(broken_violation(np.array([0.0, 1.0])), [0.5, 0.9])


def test_what_goes_with_the_domain_alone_is_found_and_what_goes_with_the_label_is_not():
    dice = torch.Generator().manual_seed(0)
    domain = torch.tensor([0, 1] * 40)
    noise = torch.randn(80, 3, generator=dice)
    label = torch.rand(80, generator=dice)
    marked = noise.clone()
    marked[:, 0] = 10 * domain
    assert float(domain_loss(marked, domain, label)) > 0.9
    assert float(domain_loss(noise, domain, label)) < 0.1
    assert float(domain_loss(marked, domain, domain.float())) < 0.01
    assert float(domain_loss(marked, torch.zeros_like(domain), label)) < 1e-6


def test_a_batch_of_one_domain_teaches_nothing_of_domains_and_spoils_no_weight():
    hidden = torch.randn(8, 3, generator=torch.Generator().manual_seed(1), requires_grad=True)
    lost = domain_loss(hidden, torch.zeros(8, dtype=torch.long), torch.rand(8))
    (gradient,) = torch.autograd.grad(lost, hidden)
    assert lost.item() == 0
    assert (gradient == 0).all()
