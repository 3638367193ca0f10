"""What a transformer world model must never do; planted defects: tests/bench/test_defects.py."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from wiring import changed_from, first_step_changed_by, padded, permuted, stir

from cosmolabe.core import parts
from cosmolabe.core.fields import HISTORY_START, VX
from cosmolabe.models import transformer
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.scales import measure
from cosmolabe.nets.worlds import CHUNK

W = transformer.WINDOW


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def stirred_world(store, windows, amount=0.02):
    """An untrained world with heads that say something, though not yet chaotic."""
    world = parts.load("models", "transformer").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    stir(world.network, amount)
    return world


@pytest.fixture(scope="module")
def world(store, windows):
    return stirred_world(store, windows)


@pytest.fixture
def context(windows):
    return windows.context(W, 8)


def teacher_forced(network, windows):
    """What is said about the frame after each true frame, all frames in one pass."""
    batch = training_batch(windows)
    with torch.no_grad():
        likely, _ = network.likely(
            Dreamt(batch, batch.states, batch.globals, batch.actions), memory=None
        )
    return torch.cat([likely.positions.flatten(2), likely.alive, likely.globals], -1)


def sees_the_future(network, windows, start=10):
    before = teacher_forced(network, windows)[:, :start]
    after = teacher_forced(network, changed_from(windows, start))[:, :start]
    return not torch.equal(before, after)


def test_changing_only_the_future_changes_nothing(world, windows):
    assert not sees_the_future(world.network, windows)
    past = teacher_forced(world.network, windows)[:, 10:]
    assert not torch.equal(past, teacher_forced(world.network, changed_from(windows, 10))[:, 10:])


def test_a_rollout_is_told_nothing_of_the_future_states(world, windows):
    other = changed_from(windows, W)
    other = replace(other, actions=windows.actions)
    expected, found = (world.rollout(w.context(W)) for w in (windows, other))
    for name in ("states", "globals", "terminal"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_one_step_of_a_rollout_is_the_teacher_forced_step(world, windows):
    short = replace(
        windows,
        states=windows.states[:, :W],
        globals=windows.globals[:, :W],
        actions=windows.actions[:, :W],
        terminal=windows.terminal[:, :W],
    )
    found = world.rollout(windows.context(W, 1))
    moving = np.flatnonzero(windows.masks.mutable)
    said = teacher_forced(world.network, short)[:, -1].numpy()
    positions = said[:, : 2 * len(moving)].reshape(len(windows), len(moving), 2)
    inside = np.clip(positions, -0.05, 1.05)
    np.testing.assert_allclose(found.states[:, 0, moving, :2], inside, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_prediction_k_uses_the_action_two_before_window_plus_k(world, context, k):
    assert first_step_changed_by(world, context, W - 2 + k) == k


def test_an_action_off_by_one_is_caught(world, context):
    class OffByOne:
        def rollout(self, context):
            late = np.roll(context.actions, 1, axis=1)
            return world.rollout(replace(context, actions=late))

    assert first_step_changed_by(OffByOne(), context, W - 2 + 2) != 2


def test_the_last_action_is_used_by_no_prediction(world, context):
    assert first_step_changed_by(world, context, W - 2 + context.horizon + 1) is None


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
    np.testing.assert_array_equal(found.terminal, expected.terminal)
    assert np.isfinite(found.states).all()


def test_rows_of_different_layouts_may_share_a_batch(world, context):
    rows = len(context)
    valid = np.broadcast_to(context.masks.valid, (rows, 5)).copy()
    valid[1::2, 1] = False
    mixed = replace(context, masks=replace(context.masks, valid=valid, mutable=valid.copy()))
    together = world.rollout(mixed)
    for row in range(rows):
        alone = world.rollout(mixed.take(slice(row, row + 1)))
        np.testing.assert_allclose(together.states[row], alone.states[0], atol=1e-6)


def test_remembering_and_looking_again_give_the_same_rollout(store, windows, context):
    world = stirred_world(store, windows, amount=0.01)
    long = replace(context, actions=np.tile(context.actions, (1, 3, 1)))
    expected, found = world.rollout(long, cached=False), world.rollout(long)
    assert long.horizon == 40
    for name in ("states", "globals", "terminal"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-5, atol=1e-5
        )


def test_a_memory_one_frame_short_is_caught(world, context, monkeypatch):
    forward = transformer.Block.forward

    def forgetful(self, *args):
        tokens, (keys, values) = forward(self, *args)
        return tokens, (keys[:, 1:], values[:, 1:])

    expected = world.rollout(context, cached=False)
    monkeypatch.setattr(transformer.Block, "forward", forgetful)
    found = world.rollout(context)
    assert np.abs(found.states - expected.states).max() > 1e-5


def test_remembering_is_much_faster(world, windows):
    context, took = windows.context(W, 16), {}
    for cached in (True, False):
        began = time.process_time()
        world.rollout(context, cached=cached)
        took[cached] = time.process_time() - began
    assert took[False] > 1.5 * took[True]  # `make bench` asks for four, at h = 20


def test_batch_size_and_order_change_nothing(world, context):
    rows = np.arange(CHUNK + 6) % len(context)
    whole = world.rollout(context.take(rows))
    backwards = world.rollout(context.take(rows[::-1]))
    np.testing.assert_allclose(backwards.states[::-1], whole.states, atol=1e-6)
    for row in range(len(context)):
        alone = world.rollout(context.take(slice(row, row + 1)))
        np.testing.assert_allclose(alone.states[0], whole.states[row], atol=1e-6)
        np.testing.assert_allclose(alone.globals[0], whole.globals[row], rtol=1e-6, atol=1e-6)


def test_velocity_and_history_live_on_after_the_first_imagined_frame(world, windows):
    batch = training_batch(windows)
    with torch.no_grad():
        story = world.network.unroll(batch, W, 4)
    for _, states, _ in story[1:]:
        assert states[..., VX : VX + 2].abs().max() > 1e-4
        assert states[..., HISTORY_START + 2 :].abs().max() > 1e-4


def test_nan_in_a_masked_slot_reaches_no_loss(world, windows):
    valid = windows.masks.valid.copy()
    valid[1] = False
    states = windows.states.copy()
    states[:, :, 1] = np.nan
    clean = replace(windows, masks=replace(windows.masks, valid=valid))
    dirty = replace(clean, states=states)
    with torch.no_grad():
        expected, found = (
            world.network.loss(training_batch(w), 4)["total"] for w in (clean, dirty)
        )
    assert torch.isfinite(found)
    assert torch.equal(found, expected)


def test_the_loss_of_a_perfect_past_counts_every_frame_but_the_first(world, windows):
    batch = training_batch(windows)
    late = batch.states.clone()
    late[:, -1, :, :2] += 0.1
    with torch.no_grad():
        before = world.network.loss(batch, 4)["positions"]
        after = world.network.loss(replace(batch, states=late), 4)["positions"]
    assert before != after


def test_it_overfits_one_batch(store, batch_of_windows):
    world = parts.load("models", "transformer").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(batch_of_windows))
    windows = replace(
        batch_of_windows,
        states=batch_of_windows.states[:8, :12],
        actions=batch_of_windows.actions[:8, :12],
        globals=batch_of_windows.globals[:8, :12],
        terminal=batch_of_windows.terminal[:8, :12],
        registry=batch_of_windows.registry[:8],
    )
    batch = training_batch(windows)
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


def test_a_context_of_other_widths_is_refused(world, context):
    narrow = replace(context, actions=context.actions[..., :3])
    with pytest.raises(ValueError, match="rows"):
        world.rollout(narrow)


def test_an_unknown_size_is_refused(store):
    with pytest.raises(ValueError, match="no size 'vast'"):
        parts.load("models", "transformer").create(store.manifest, "vast", 0)
