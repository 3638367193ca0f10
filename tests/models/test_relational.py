"""What the relational network must never do, and what its three ways to move are for."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from wiring import changed_from, padded, permuted, stir

from cosmolabe.core import parts
from cosmolabe.data.collect import collect
from cosmolabe.data.windows import training_batches
from cosmolabe.models import relational
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.entities import free_first, queue
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.scales import measure
from cosmolabe.nets.training import train

W = relational.WINDOW


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def stirred_world(store, windows, amount=0.02):
    """An untrained world with heads that say something."""
    world = parts.load("models", "relational").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    stir(world.network, amount)
    return world


@pytest.fixture(scope="module")
def world(store, windows):
    return stirred_world(store, windows)


@pytest.fixture
def context(windows):
    return windows.context(W, 8)


def seen(network, windows):
    """What is said about the frame after each true frame, all frames in one pass."""
    batch = training_batch(windows)
    with torch.no_grad():
        likely, _ = network.likely(Dreamt(batch, batch.states, batch.globals, batch.actions), None)
    return likely


def test_changing_only_the_future_changes_nothing(world, windows):
    before, after = (seen(world.network, w) for w in (windows, changed_from(windows, 10)))
    for name in ("positions", "alive", "fields", "globals", "terminal"):
        one, other = getattr(before, name), getattr(after, name)
        assert torch.equal(one[:, :10], other[:, :10])
    assert not torch.equal(before.positions[:, 10:], after.positions[:, 10:])


def test_one_step_of_a_rollout_is_the_teacher_forced_step(world, windows):
    short = {n: getattr(windows, n)[:, :W] for n in ("states", "globals", "actions", "terminal")}
    found = world.rollout(windows.context(W, 1))
    moving = np.flatnonzero(windows.masks.mutable)
    said = seen(world.network, replace(windows, **short)).positions[:, -1].numpy()
    inside = np.clip(said, -0.05, 1.05)
    np.testing.assert_allclose(found.states[:, 0, moving, :2], inside, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_prediction_k_uses_the_action_two_before_window_plus_k(world, context, k):
    actions = context.actions.copy()
    actions[:, W - 2 + k] = 1 - actions[:, W - 2 + k]
    before, after = world.rollout(context), world.rollout(replace(context, actions=actions))
    differs = np.abs(before.states - after.states).max((0, 2, 3))
    differs += np.abs(before.globals - after.globals).max((0, 2))
    assert differs.astype(bool).argmax() + 1 == k


def test_permuting_slots_permutes_predictions(world, context):
    order = np.array([3, 2, 0, 4, 1])
    expected, found = world.rollout(context), world.rollout(permuted(context, order))
    np.testing.assert_allclose(found.states, expected.states[:, :, order], atol=1e-5)
    np.testing.assert_allclose(found.globals, expected.globals, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fill", [0.0, 0.5, np.nan])
def test_padding_slots_change_nothing_whatever_they_hold(world, context, fill):
    expected, found = world.rollout(context), world.rollout(padded(context, 3, fill))
    np.testing.assert_array_equal(found.states[:, :, :5], expected.states)
    np.testing.assert_array_equal(found.globals, expected.globals)


def test_remembering_and_looking_again_give_the_same_rollout(world, context):
    long = replace(context, actions=np.tile(context.actions, (1, 3, 1)))
    expected, found = world.rollout(long, cached=False), world.rollout(long)
    assert long.horizon == 40
    for name in ("states", "globals", "terminal"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_memory_lost_between_frames_is_caught(world, context, monkeypatch):
    expected = world.rollout(context, cached=False)
    likely = relational.Relational.likely

    def forgetful(self, dreamt, memory):
        said, memory = likely(self, dreamt, memory)
        return said, replace(memory, kept=torch.zeros_like(memory.kept))

    monkeypatch.setattr(relational.Relational, "likely", forgetful)
    assert np.abs(world.rollout(context).states - expected.states).max() > 1e-5


def test_batch_size_and_order_change_nothing(world, context):
    rows = np.arange(70) % len(context)
    whole, backwards = world.rollout(context.take(rows)), world.rollout(context.take(rows[::-1]))
    np.testing.assert_allclose(backwards.states[::-1], whole.states, atol=1e-6)
    for row in range(len(context)):
        alone = world.rollout(context.take(slice(row, row + 1)))
        np.testing.assert_allclose(alone.states[0], whole.states[row], atol=1e-6)


def test_a_position_is_one_of_the_ways_and_never_a_blend(world, windows):
    likely = seen(world.network, windows)
    nearest = (likely.ways - likely.positions[..., None, :]).abs().sum(-1).amin(-1)
    assert torch.all(nearest == 0)
    chosen = likely.ways.gather(
        -2, likely.chance.argmax(-1)[..., None, None].expand(*nearest.shape, 1, 2)
    )
    assert torch.equal(chosen[..., 0, :], likely.positions)


def test_it_begins_as_constant_velocity(store, windows):
    fresh = parts.load("models", "relational").create(store.manifest, "laptop", 0)
    fresh.network.set_scales(measure(windows))
    plain = parts.load("models", "constant_velocity").create(store.manifest, "laptop", 0)
    one, other = (model.rollout(windows.context(W, 1)).states[..., :2] for model in (fresh, plain))
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_every_way_learns_and_not_choosing_a_good_one_costs(world, windows):
    batch, network = training_batch(windows), world.network
    likely = seen(network, windows)
    truth = likely.ways[..., 2, :]
    gaps = (likely.ways - truth[..., None, :]).abs().sum(-1)

    def missed(way):
        chance = torch.eye(relational.NUM_WAYS)[way].expand_as(likely.chance)
        return network.miss(replace(likely, chance=chance), truth, batch)

    free = likely.free
    torch.testing.assert_close(missed(2)[free], relational.EVEN * gaps.mean(-1)[free])
    bad = free & (gaps[..., 1] > gaps.amin(-1) + relational.ALIKE * network.speed.sum())
    assert torch.all(missed(1)[bad] > missed(2)[bad])
    torch.testing.assert_close(missed(1)[~free], gaps[..., 1][~free])


def test_setting_off_knows_the_action_and_nothing_of_the_motion(world, windows):
    one = seen(world.network, windows).ways[..., 2, :]
    faster = windows.states.copy()
    faster[..., 3:5] *= 2
    other = seen(world.network, replace(windows, states=faster)).ways[..., 2, :]
    assert torch.equal(one, other)
    pressed = replace(windows, actions=1 - windows.actions)
    assert not torch.equal(one, seen(world.network, pressed).ways[..., 2, :])


def test_an_entity_may_be_born_beside_another_across_the_edge(tmp_path):
    store = collect("asteroids", tmp_path / "asteroids", 2, split="train", max_ticks=60)
    found = next(training_batches(store, "train", 10, 4, seed=0))
    network = parts.load("models", "relational").create(store.manifest, "laptop", 0).network
    network.set_scales(measure(found))
    batch = training_batch(found)
    states = batch.states.clone()
    states[:, :, 0, :2] = torch.tensor([0.99, 0.5])
    states[:, :, 2, :2] = torch.tensor([0.02, 0.5])
    apart = states[:, :, None] - states[:, :, :, None]
    apart = relational.wrapped(apart[..., :2], batch.wrap)
    assert torch.allclose(apart[:, :, 2, 0], torch.tensor([-0.03, 0.0]), atol=1e-6)
    heard = torch.zeros(apart.shape[:-1])
    heard[..., 0] = 1
    with torch.no_grad():
        network.point.weight.fill_(10.0)
        message = torch.ones(*apart.shape[:-1], network.point.in_features)
        to, pointed = network.beside(message, apart, heard)
    assert torch.all(pointed > 0.999)
    assert torch.allclose(to[:, :, 2], torch.tensor([-0.03, 0.0]), atol=1e-4)


@pytest.fixture(scope="module")
def asteroids(tmp_path_factory):
    """A stirred world of asteroids, where shots and rocks come and go, and windows of it."""
    folder = tmp_path_factory.mktemp("asteroids") / "store"
    store = collect("asteroids", folder, 4, split="train", max_ticks=200)
    found = next(training_batches(store, "train", 18, 8, seed=0))
    return stirred_world(store, found), found


def test_leaving_out_the_dead_in_training_changes_no_message(asteroids):
    world, found = asteroids
    batch = training_batch(found)
    with torch.no_grad():
        quick = world.network.unroll(batch, 2, 8)
        whole = world.network.unroll(replace(batch, terminal=None), 2, 8)
    for one, other in zip(quick, whole, strict=True):
        torch.testing.assert_close(one[1], other[1], rtol=1e-4, atol=1e-5)
    living = batch.states[..., 2] > 0.5
    assert not living.all(2).any(), "some are dead in every frame"


def test_the_first_free_slot_of_a_make_is_told_from_the_others(asteroids):
    _, found = asteroids
    registry = torch.from_numpy(found.registry[:1])
    states = torch.ones(1, 1, registry.shape[1], 4)
    states[0, 0, [3, 4, 5], 2] = 0  # the second to fourth bullet of the ship are free
    told = free_first(states, queue(registry)[:, None])[0, 0]
    assert told[3].tolist() == [1, 0]
    assert told[4].tolist() == [0, 1]
    assert told.sum() == 2


def test_permuting_slots_that_keep_the_order_of_their_make_permutes_predictions(asteroids):
    world, found = asteroids
    context = found.context(W, 6)
    num = context.registry.shape[1]
    order = np.array([*range(7, num), *range(7)])  # all rocks first, then ship, saucer, bullets
    expected, found = world.rollout(context), world.rollout(permuted(context, order))
    np.testing.assert_allclose(found.states, expected.states[:, :, order], atol=1e-4)


def test_it_overfits_one_batch(store, batch_of_windows):
    world = parts.load("models", "relational").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(batch_of_windows))
    batch = training_batch(batch_of_windows)
    optimizer = torch.optim.AdamW(world.network.parameters(), lr=3e-3, betas=(0.9, 0.99))
    losses = []
    for _ in range(120):
        loss = world.network.loss(batch, 3)["total"]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(world.network.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    assert min(losses[-20:]) < 0.4 * losses[0]


def test_what_was_trained_comes_back_whole_from_its_folder(store, context, tmp_path):
    part = parts.load("models", "relational")
    world = part.create(store.manifest, "laptop", 3)
    train(world, store, TrainConfig(steps=3, unroll=2, batch_size=4), tmp_path / "trained")
    again = part.load(tmp_path / "trained", store.manifest)
    expected, found = world.rollout(context), again.rollout(context)
    assert expected.states.tobytes() == found.states.tobytes()
    assert expected.globals.tobytes() == found.globals.tobytes()


def test_an_unknown_size_is_refused(store):
    with pytest.raises(ValueError, match="no size 'vast'"):
        parts.load("models", "relational").create(store.manifest, "vast", 0)
