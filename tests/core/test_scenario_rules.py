"""Rules that scenarios share break on what they forbid; planted changes leave the truth alone."""

import itertools

import numpy as np
import pytest

from cosmolabe.core import scenario_rules as rules
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.core.scenario import Trace

STEPS = 21
MANIFEST = Manifest(
    game="made_up",
    version=1,
    slots=(Slot("ball", "ball"), Slot("wall", "platform", mutable=False)),
    fields=("tagged_count",),
)
PROFILE = MANIFEST.profile
COUNT = 3 + PROFILE.game_fields.index("tagged_count")


def a_trace():
    """Three balls go right by 0.01 a step; they die and pay a point at step 10."""
    states = np.zeros((3, STEPS, 2, PROFILE.num_predicted), np.float32)
    states[..., 2] = 1
    states[:, :, 0, 0] = 0.1 + 0.01 * np.arange(STEPS)
    states[:, :, 0, 1] = 0.5
    states[:, 10:, 0, 2] = 0
    states[:, 10:, 0, COUNT] = 1
    numbers = np.zeros((3, STEPS, len(PROFILE.global_fields)), np.float32)
    numbers[:, 10:, PROFILE.global_fields.index("score")] = 1
    nothing = np.zeros((3, STEPS))
    return Trace(MANIFEST, states, numbers, nothing.astype(bool), nothing.astype(np.uint8))


def holds(rule, change=None):
    trace = a_trace()
    return rule(trace if change is None else change.edit(trace)).tolist()


YES, NO = [True] * 3, [False] * 3


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (rules.gains("score", 1), rules.counted("score", 2)),
        (rules.gains("score", 1), rules.counted("score", 0)),
        (rules.keeps("lives", 0.4), rules.given("lives", -1.0)),
        (rules.lives("wall"), rules.vanished("wall", 3)),
        (rules.dies_once("ball", 8, 12), rules.undead("ball")),
        (rules.dies_once("ball", 8, 12), rules.vanished("ball", 2)),
        (rules.dies_once("ball", 8, 12), rules.delayed(4)),
        (rules.stays_dead("ball"), rules.risen("ball")),
        (rules.comes("ball", 20, 0.2, 0.0), rules.frozen("ball")),
        (rules.comes("ball", 20, 0.2, 0.0), rules.mirrored("ball", 10)),
        (rules.comes("ball", 20, 0.2, 0.0), rules.adrift("ball", 0.0, 0.002)),
        (rules.stays("wall"), rules.adrift("wall", 0.001)),
        (rules.keeps_x("wall"), rules.adrift("wall", 0.001)),
        (
            lambda trace: np.all(np.abs(trace.y("ball") - 0.5) < 0.01, axis=1),
            rules.hopping("ball", 0.01, 0.001),
        ),
        (
            lambda trace: np.all(trace.field("ball", "tagged_count") < 1.5, axis=1),
            rules.field_counted("ball", "tagged_count", 2),
        ),
    ],
    ids=itertools.count(),
)
def test_a_rule_holds_in_truth_and_breaks_under_what_it_forbids(rule, change):
    assert holds(rule) == YES
    assert holds(rule, change) == NO


def test_rules_about_places_forgive_trembling():
    steady = rules.both(rules.comes("ball", 20, 0.2, 0.0), rules.stays("wall"))
    assert holds(steady, rules.trembling(0.003)) == YES


def test_what_goes_straight_on_repeats_its_move_and_never_dies():
    changed = rules.straight_on("ball", 5).edit(rules.mirrored("ball", 8).edit(a_trace()))
    np.testing.assert_allclose(changed.x("ball")[:, -1], 0.3, atol=1e-6)
    assert changed.alive("ball").all()


@pytest.mark.parametrize(
    "change",
    [
        rules.trembling(),
        rules.shifted("ball", 0.1),
        rules.adrift("ball", 0.01),
        rules.frozen("ball"),
        rules.straight_on("ball", 2),
        rules.hopping("ball", 0.02, 0.001),
        rules.mirrored("ball", 4),
        rules.undead("ball"),
        rules.vanished("ball"),
        rules.risen("ball"),
        rules.counted("score", 2),
        rules.given("score", 1.0),
        rules.field_counted("ball", "tagged_count", 2),
    ],
    ids=lambda change: change.name,
)
def test_a_change_keeps_the_last_true_state_and_does_not_write_into_its_trace(change):
    trace, untouched = a_trace(), a_trace()
    changed = change.edit(trace)
    np.testing.assert_array_equal(trace.states, untouched.states)
    np.testing.assert_array_equal(trace.globals, untouched.globals)
    np.testing.assert_array_equal(changed.states[:, 0], untouched.states[:, 0])
    np.testing.assert_array_equal(changed.globals[:, 0], untouched.globals[:, 0])
    differs = (changed.states != untouched.states).any() | (
        changed.globals != untouched.globals
    ).any()
    assert differs


@pytest.mark.parametrize(
    "rule",
    [
        rules.gains("score", 1),
        rules.keeps("score", 0.5),
        rules.lives("ball"),
        rules.dies_once("ball", 1, 12),
        rules.stays_dead("ball"),
        rules.comes("ball", 20, 0.2, 0.0),
        rules.stays("wall"),
        rules.keeps_x("wall"),
    ],
    ids=("gains", "keeps", "lives", "dies_once", "stays_dead", "comes", "stays", "keeps_x"),
)
def test_a_rollout_that_is_no_number_keeps_no_rule(rule):
    trace = a_trace()
    states, numbers = trace.states.copy(), trace.globals.copy()
    states[:, 1:], numbers[:, 1:] = np.nan, np.nan
    assert rule(trace.with_states(states).with_globals(numbers)).tolist() == NO
