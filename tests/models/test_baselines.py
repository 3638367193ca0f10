from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, VX
from cosmolabe.core.manifest import Masks
from cosmolabe.core.rollout import Context
from cosmolabe.nets.features import predicted_columns
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train


def one_entity(position, velocity, alive=1.0, wrap=(False, False), mutable=True, horizon=5):
    states = np.zeros((1, 2, 1, 23), np.float32)
    states[..., :2], states[..., ALIVE], states[..., VX : VX + 2] = position, alive, velocity
    masks = Masks(
        valid=np.ones(1, bool),
        mutable=np.array([mutable]),
        fields=np.zeros(14, bool),
        globals=np.ones(17, bool),
        actions=np.ones(7, bool),
        wrap=np.array(wrap),
    )
    return Context(
        registry=np.zeros((1, 1, 34), np.float32),
        states=states,
        globals=np.full((1, 2, 17), 3, np.float32),
        actions=np.zeros((1, 2 + horizon, 7), np.float32),
        masks=masks,
    )


def build(name, store):
    return parts.load("models", name).create(store.manifest, "laptop", 0)


def path(model, context):
    return model.rollout(context).states[0, :, 0, :2]


def test_still_copies_the_last_state(store, windows):
    found = build("still", store).rollout(windows.context(8))
    last = predicted_columns(windows.states[:, 7])
    np.testing.assert_array_equal(found.states, np.repeat(last[:, None], 20, 1))
    np.testing.assert_array_equal(found.globals[:, -1], windows.globals[:, 7])


def test_constant_velocity_moves_by_the_velocity_of_the_game(store):
    model = build("constant_velocity", store)
    found = path(model, one_entity((0.2, 0.8), (0.02, -0.1)))
    expected = np.stack([0.2 + 0.02 * np.arange(1, 6), 0.8 - 0.1 * np.arange(1, 6)], 1)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_constant_velocity_wraps_on_a_torus_and_stops_at_a_screen_edge(store):
    model = build("constant_velocity", store)
    torus = path(model, one_entity((0.9, 0.05), (0.1, -0.1), wrap=(True, True)))
    np.testing.assert_allclose(torus[:, 0], [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-6)
    screen = path(model, one_entity((0.9, 0.05), (0.1, -0.1)))
    assert screen.min() >= -0.0501
    assert screen.max() <= 1.0501


@pytest.mark.parametrize("name", ["constant_velocity", "linear"])
@pytest.mark.parametrize("how", [{"alive": 0.0}, {"mutable": False}])
def test_the_dead_and_the_immutable_stay(name, how, store):
    found = path(build(name, store), one_entity((0.3, 0.3), (0.1, 0.1), **how))
    if "mutable" in how or name == "constant_velocity":
        np.testing.assert_allclose(found, 0.3)


def test_linear_finds_a_linear_law(store, tmp_path):
    """A paddle moves by 0.016 with the action; no constant velocity can know that."""
    model = build("linear", store)
    last = train(model, store, TrainConfig(steps=1, seed=0), tmp_path)
    assert last.finished
    episodes, starts = np.zeros(1, np.int64), np.full(1, 100, np.int64)
    context = store.windows(episodes, starts, 10).context(8)
    context.states[:, :, 0, 1] = 0.5
    moves = {}
    for push in (-1.0, 0.0, 1.0):
        actions = context.actions.copy()
        actions[:, 7:, 1] = push
        moves[push] = model.rollout(replace(context, actions=actions)).states[0, 0, 0, 1] - 0.5
    assert moves[-1.0] < moves[0.0] < moves[1.0]
    assert moves[1.0] - moves[-1.0] == pytest.approx(0.032, abs=0.008)


def test_linear_is_the_same_after_saving(store, tmp_path, windows):
    model = build("linear", store)
    train(model, store, TrainConfig(steps=1, seed=0), tmp_path)
    again = parts.load("models", "linear").load(tmp_path, store.manifest)
    expected, found = (m.rollout(windows.context(8)) for m in (model, again))
    np.testing.assert_array_equal(found.states, expected.states)
    np.testing.assert_array_equal(found.terminal, expected.terminal)


def test_linear_stays_bounded_over_long_rollouts(store, tmp_path, windows):
    model = build("linear", store)
    train(model, store, TrainConfig(steps=1, seed=0), tmp_path)
    context = windows.context(8)
    long = replace(context, actions=np.repeat(context.actions, 20, axis=1))
    found = model.rollout(long)
    assert np.abs(found.states[..., :2] - 0.5).max() <= 0.6
    assert np.isfinite(found.globals).all()
