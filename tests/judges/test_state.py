"""What the state judge makes of right, wrong and degenerate predictions, worked out by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.episode import Windows
from cosmolabe.core.manifest import Masks
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import JUDGE, PROTOCOLS, aggregate, all_once, score, sound

OURS, PAPER = PROTOCOLS["state/1"], PROTOCOLS["state/awm-1"]
W, H, N = 8, 20, 4
MUTABLE = np.array([True, True, True, False])


def world(batch=2, seed=0, alive=(1, 1, 0, 1), wrap=(False, False), valid=None):
    """Windows of four slots, the last immutable; slot 2 dead unless asked otherwise."""
    random = np.random.default_rng(seed)
    states = np.zeros((batch, W + H, N, 23), np.float32)
    states[..., :2] = random.uniform(0.2, 0.8, (batch, W + H, N, 2))
    states[..., 2] = alive
    masks = Masks(
        valid=np.ones(N, bool) if valid is None else np.array(valid),
        mutable=MUTABLE,
        fields=np.zeros(14, bool),
        globals=np.ones(17, bool),
        actions=np.ones(7, bool),
        wrap=np.array(wrap),
    )
    return Windows(
        registry=np.zeros((batch, N, 34), np.float32),
        states=states,
        actions=np.zeros((batch, W + H, 7), np.float32),
        globals=np.zeros((batch, W + H, 17), np.float32),
        terminal=np.zeros((batch, W + H), bool),
        masks=masks,
        episodes=np.arange(batch),
        starts=np.zeros(batch, np.int64),
    )


def truth_of(windows):
    """The perfect prediction."""
    future = windows.states[:, W:]
    states = np.concatenate([future[..., :3], future[..., 5:19]], -1)
    return Prediction(
        states.copy(), windows.globals[:, W:].copy(), np.full(states.shape[:2], -9.0, np.float32)
    )


def final_of(windows, prediction, protocol=OURS, **more):
    scores = score(windows, prediction, protocol, **more)
    return aggregate(scores, all_once(scores), protocol).final[0]


def test_the_truth_scores_one():
    windows = world()
    truth = truth_of(windows)
    assert final_of(windows, truth) == pytest.approx(1.0)
    assert final_of(windows, truth, PAPER, first=truth) == pytest.approx(1.0)


def test_all_alive_loses_what_alive_f1_says():
    windows, all_alive = world(), truth_of(world())
    all_alive.states[..., 2] = 1.0
    # Two of the three mutable slots live: F1 = 2·2 / (2·2 + 1) = 0.8.
    assert final_of(windows, all_alive) == pytest.approx(0.9 + 0.1 * 0.8)


def test_parked_dead_loses_the_alive_part_and_keeps_what_its_positions_earn():
    windows, dead = world(), truth_of(world())
    dead.states[..., 2] = 0.0
    assert final_of(windows, dead) == pytest.approx(0.9)
    # Parked out of sight as well: the living count where they truly are, so nothing is left.
    dead.states[..., :2] = -9.0
    assert final_of(windows, dead) == 0.0


def test_a_mean_position_scores_its_mean_distance():
    windows, middle = world(batch=3, seed=1), truth_of(world(batch=3, seed=1))
    middle.states[..., :2] = 0.5
    l1 = np.abs(windows.states[:, W:, :2, :2] - 0.5).sum(-1).mean(-1)  # the two living slots
    c = 0.9 * (1 - l1) + 0.1
    by_hand = (0.1 * c[:, 0] + 0.2 * c[:, 9] + 0.7 * c[:, 19]).mean()
    assert final_of(windows, middle) == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_costs_the_whole_window_and_is_named(bad):
    windows, prediction = world(batch=4), truth_of(world(batch=4))
    prediction.states[1, 5, 0, 0] = bad
    scores = score(windows, prediction)
    assert scores.why == ("", "not finite at step 6", "", "")
    assert np.all(scores.composite[1] == 0.0)
    assert np.isnan(scores.position_l1[1]).all()
    # Never dropped from the denominator: three of four windows are perfect.
    assert final_of(windows, prediction) == pytest.approx(0.75)
    # The paper pools entities: a quarter of them is one world off, a quarter of the living missed.
    paper = final_of(windows, prediction, PAPER, first=truth_of(windows))
    assert paper == pytest.approx(0.9 * 0.75 + 0.1 * (2 * 3) / (2 * 3 + 1))


def test_nan_in_a_masked_slot_poisons_nothing():
    windows, prediction = world(valid=[True, True, False, True]), truth_of(world())
    prediction.states[:, :, 2:] = np.nan  # slot 2 is padding, slot 3 immutable
    scores = score(windows, prediction)
    assert scores.num_invalid == 0
    assert final_of(windows, prediction) == pytest.approx(1.0)


def test_huge_finite_values_score_only_what_their_alive_flags_earn():
    windows, huge = world(wrap=(True, True)), truth_of(world())
    huge.states[..., :2] = 3e38
    scores = score(windows, huge)
    assert scores.num_invalid == 0
    assert final_of(windows, huge) == pytest.approx(0.1)


def test_no_slot_alive_in_truth_is_missing_and_counted_and_never_zero():
    windows = world(batch=2)
    windows.states[0, :, :3, 2] = 0.0
    scores = score(windows, truth_of(windows))
    assert np.isnan(scores.position_l1[0]).all()
    assert np.isnan(scores.final[0])
    assert scores.num_unmeasurable == 1
    assert aggregate(scores, all_once(scores)).final[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (None, "no states"),
        ({"states": "text"}, "states is a str, not a numpy array"),
        ({"states": np.zeros((2, H, N, 16), np.float32)}, "has shape (2, 20, 4, 16), expected"),
        ({"states": np.zeros((2, H, N, 17), np.int64)}, "dtype int64, expected float32"),
        ({"states": np.zeros((2, H, N, 17), object)}, "dtype object"),
        ({"states": np.zeros((2, H, N, 17), complex)}, "dtype complex128"),
        ({"states": np.zeros((2, H, N, 17), np.float32)}, "no globals"),
    ],
)
def test_a_prediction_of_the_wrong_make_is_unusable_and_says_why(prediction, words):
    class Thing:
        pass

    thing = Thing()
    for name, value in (prediction or {}).items():
        setattr(thing, name, value)
    usable, why = sound(thing, (2, H, N, 17, 17))
    assert words in why
    assert np.isnan(usable.states).all()
    assert final_of(world(), usable, why=(why, why)) == 0.0


def test_double_precision_is_taken_and_what_overflows_is_not_finite():
    class Thing:
        states = np.full((2, H, N, 17), 1e300)
        globals = np.zeros((2, H, 17))
        terminal = np.zeros((2, H))

    usable, why = sound(Thing(), (2, H, N, 17, 17))
    assert why == ""
    assert score(world(), usable).num_invalid == 2


@given(seed=st.integers(0, 50))
def test_the_order_of_slots_and_windows_changes_no_score(seed):
    random = np.random.default_rng(seed)
    windows, prediction = world(3, seed), truth_of(world(3, seed))
    prediction.states[..., :3] += random.normal(0, 0.2, prediction.states[..., :3].shape)
    before = score(windows, prediction)
    slots, rows = random.permutation(N), random.permutation(3)
    masks = dataclasses.replace(windows.masks, mutable=MUTABLE[slots])
    moved = dataclasses.replace(windows, states=windows.states[rows][:, :, slots], masks=masks)
    shuffled = dataclasses.replace(prediction, states=prediction.states[rows][:, :, slots])
    after = score(moved, shuffled)
    np.testing.assert_allclose(after.composite, before.composite[rows], atol=1e-12)


@given(seed=st.integers(0, 50))
def test_every_composite_lies_between_nought_and_one(seed):
    random = np.random.default_rng(seed)
    windows, prediction = world(2, seed), truth_of(world(2, seed))
    prediction.states[:] = random.normal(0, 3, prediction.states.shape)
    values = score(windows, prediction).composite
    assert np.all((values >= 0) & (values <= 1))


def test_the_paper_counts_dead_slots_and_ours_does_not():
    windows, prediction = world(), truth_of(world())
    prediction.states[:, :, 2, 0] = windows.states[:, W:, 2, 0] + 0.3  # slot 2 is dead in truth
    assert final_of(windows, prediction) == pytest.approx(1.0)
    # 0.3 over three mutable slots is 0.1 of distance.
    paper = final_of(windows, prediction, PAPER, first=truth_of(windows))
    assert paper == pytest.approx(1.0 - 0.9 * 0.9 * 0.1, rel=1e-5)


def test_ours_goes_the_short_way_round_and_the_paper_does_not():
    windows = world(wrap=(True, False))
    windows.states[..., 0] = 0.05
    prediction = truth_of(windows)
    prediction.states[..., 0] = 0.95
    assert final_of(windows, prediction) == pytest.approx(1.0 - 0.9 * 0.1, rel=1e-5)
    paper = final_of(windows, prediction, PAPER, first=prediction)
    assert paper == pytest.approx(1.0 - 0.9 * 0.9, rel=1e-5)


def test_the_paper_takes_step_one_from_true_states_at_every_step():
    windows, truth = world(), truth_of(world())
    first = truth_of(windows)
    first.states[:, 10:, :3, 0] += 0.2  # half of the single steps are off by 0.2
    assert final_of(windows, truth, PAPER, first=first) == pytest.approx(1 - 0.1 * 0.9 * 0.1)
    with pytest.raises(ValueError, match="teacher-forced"):
        score(windows, truth, PAPER)


def test_the_paper_pools_entities_where_ours_averages_windows():
    windows = world(batch=2)
    windows.states[1, :, 2, 2] = 1.0  # three living slots in window 1, two in window 0
    prediction = truth_of(windows)
    prediction.states[0, :, :3, 0] += 0.5
    ours = final_of(windows, prediction)
    pooled = dataclasses.replace(OURS, pooled=True)
    assert ours == pytest.approx(1 - 0.9 * (0.5 + 0) / 2, rel=1e-5)
    assert final_of(windows, prediction, pooled) == pytest.approx(1 - 0.9 * (2 * 0.5) / 5, rel=1e-5)


def test_every_choice_of_a_protocol_moves_its_fingerprint():
    changed = {
        "name": "x",
        "window": 4,
        "horizon": 30,
        "weights": ((1, 1.0),),
        "position_weight": 0.8,
        "alive_weight": 0.2,
        "wrap_aware": False,
        "alive_in_truth": False,
        "teacher_forced_first": True,
        "pooled": True,
        "alive_threshold": 0.4,
        "invalid_scores": 0.1,
    }
    assert set(changed) == {field.name for field in dataclasses.fields(OURS)}
    prints = {dataclasses.replace(OURS, **{k: v}).fingerprint for k, v in changed.items()}
    assert len(prints | {OURS.fingerprint}) == len(changed) + 1


def test_an_unknown_protocol_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no protocol 'state/9'; have"):
        JUDGE.protocol("state/9")


def test_windows_shorter_than_the_prediction_are_refused():
    whole = world()
    cut = {
        name: getattr(whole, name)[:, : W + 5]
        for name in ("states", "actions", "globals", "terminal")
    }
    short = dataclasses.replace(whole, **cut)
    with pytest.raises(ValueError, match="want 28"):
        score(short, truth_of(world()))
