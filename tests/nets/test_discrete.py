"""What holds for every model whose next state is words: d3pm and maskgit alike."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from wiring import changed_from, permuted, stir

from cosmolabe.core import parts
from cosmolabe.core.fields import HISTORY_START, VX
from cosmolabe.data.collect import collect
from cosmolabe.data.windows import evaluation_windows
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.discrete import MODES, ever_alive, grounded, pairs
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.scales import measure
from cosmolabe.nets.worlds import CHUNK

W = 8
NAMES = ("d3pm", "maskgit")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def stirred(name, store, windows, size="laptop", amount=0.05):
    """An untrained world whose heads say something."""
    world = parts.load("models", name).create(store.manifest, size, 0)
    world.network.set_scales(measure(windows))
    stir(world.network, amount)
    return world


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def world(name, store, windows):
    return stirred(name, store, windows)


@pytest.fixture(params=MODES)
def any_mode(request, world, monkeypatch):
    monkeypatch.setattr(world.network, "mode", request.param)
    return world


@pytest.fixture
def context(windows):
    return windows.context(W, 4)


def teacher_forced(network, windows):
    batch = training_batch(windows)
    network.shuffle(0)
    with torch.no_grad():
        likely, _ = network.likely(
            Dreamt(batch, batch.states, batch.globals, batch.actions), memory=None
        )
    return torch.cat([likely.positions.flatten(2), likely.alive, likely.globals], -1)


def test_changing_only_the_future_changes_nothing(any_mode, windows):
    network, other = any_mode.network, changed_from(windows, 10)
    before, after = teacher_forced(network, windows), teacher_forced(network, other)
    assert torch.equal(before[:, :10], after[:, :10])
    assert not torch.equal(before[:, 10:], after[:, 10:])


def test_a_rollout_is_told_nothing_of_the_future_states(any_mode, windows):
    other = replace(changed_from(windows, W), actions=windows.actions)
    expected, found = (any_mode.rollout(w.context(W, 6)) for w in (windows, other))
    for part in ("states", "globals", "terminal"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_one_step_of_a_rollout_is_the_teacher_forced_step(any_mode, windows):
    short = replace(
        windows,
        states=windows.states[:, :W],
        globals=windows.globals[:, :W],
        actions=windows.actions[:, :W],
        terminal=windows.terminal[:, :W],
    )
    found = any_mode.rollout(windows.context(W, 1))
    moving = np.flatnonzero(windows.masks.mutable)
    said = teacher_forced(any_mode.network, short)[:, -1].numpy()
    positions = said[:, : 2 * len(moving)].reshape(len(windows), len(moving), 2)
    inside = np.clip(positions, -0.05, 1.05)
    np.testing.assert_allclose(found.states[:, 0, moving, :2], inside, atol=1e-5)


def test_prediction_k_uses_the_action_two_before_window_plus_k(world, context):
    def first_changed_by(action):
        actions = context.actions.copy()
        actions[:, action] = 1 - actions[:, action]
        before, after = world.rollout(context), world.rollout(replace(context, actions=actions))
        differs = np.abs(before.globals - after.globals).max((0, 2)) > 0
        return int(differs.argmax()) + 1 if differs.any() else None

    for k in (1, 2, 3):
        assert first_changed_by(W - 2 + k) == k
    assert first_changed_by(W - 2 + context.horizon + 1) is None


def test_permuting_slots_permutes_predictions(world, context):
    assert world.network.mode == "argmax"
    order = np.array([3, 2, 0, 4, 1])
    expected, found = world.rollout(context), world.rollout(permuted(context, order))
    np.testing.assert_allclose(found.states, expected.states[:, :, order], atol=1e-5)
    np.testing.assert_allclose(found.globals, expected.globals, rtol=1e-5, atol=1e-5)


def test_permuting_slots_that_keep_the_order_of_their_make_permutes_predictions(name, tmp_path):
    store = collect("asteroids", tmp_path, 4, max_ticks=120)
    episodes, starts, _ = evaluation_windows(store, "train", W + 4, 2)
    windows = store.windows(episodes, starts, W + 4)
    world, context = stirred(name, store, windows), windows.context(W)
    dice = np.random.default_rng(0)
    _, make = np.unique(windows.registry[0], axis=0, return_inverse=True)
    order = np.argsort(dice.random(make.max() + 1)[make.ravel()], kind="stable")
    expected, found = world.rollout(context), world.rollout(permuted(context, order))
    np.testing.assert_allclose(found.states, expected.states[:, :, order], atol=1e-4)


@pytest.mark.parametrize("fill", [0.0, 0.5, np.nan])
def test_padding_slots_change_nothing_whatever_they_hold(any_mode, context, fill):
    def more(array, axis):
        shape = list(array.shape)
        shape[axis] = 3
        return np.concatenate([array, np.full(shape, fill, array.dtype)], axis)

    masks = replace(
        context.masks,
        valid=np.append(context.masks.valid, np.zeros(3, bool)),
        mutable=np.append(context.masks.mutable, np.ones(3, bool)),
    )
    padded = replace(
        context, registry=more(context.registry, 1), states=more(context.states, 2), masks=masks
    )
    expected, found = any_mode.rollout(context), any_mode.rollout(padded)
    np.testing.assert_array_equal(found.states[:, :, :5], expected.states)
    np.testing.assert_array_equal(found.globals, expected.globals)
    np.testing.assert_array_equal(found.terminal, expected.terminal)


def test_batch_size_and_order_change_nothing(any_mode, context):
    rows = np.arange(CHUNK + 6) % len(context)
    whole = any_mode.rollout(context.take(rows))
    backwards = any_mode.rollout(context.take(rows[::-1]))
    np.testing.assert_allclose(backwards.states[::-1], whole.states, atol=1e-6)
    for row in (0, len(context) - 1):
        alone = any_mode.rollout(context.take(slice(row, row + 1)))
        np.testing.assert_allclose(alone.states[0], whole.states[row], atol=1e-6)


def test_rows_of_different_layouts_may_share_a_batch(any_mode, context):
    valid = np.broadcast_to(context.masks.valid, (len(context), 5)).copy()
    valid[1::2, 1] = False
    mixed = replace(context, masks=replace(context.masks, valid=valid, mutable=valid.copy()))
    together = any_mode.rollout(mixed)
    for row in (0, len(context) - 1):
        alone = any_mode.rollout(mixed.take(slice(row, row + 1)))
        np.testing.assert_allclose(together.states[row], alone.states[0], atol=1e-6)


def test_remembering_and_looking_again_give_the_same_rollout(any_mode, context):
    expected, found = any_mode.rollout(context, cached=False), any_mode.rollout(context)
    np.testing.assert_allclose(found.states, expected.states, atol=1e-5)
    np.testing.assert_allclose(found.globals, expected.globals, rtol=1e-5, atol=1e-5)


def test_the_seed_decides_what_is_drawn(world, context, monkeypatch):
    monkeypatch.setattr(world.network, "mode", "sample")
    first, again, other = (world.rollout(context, seed=s).states for s in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_an_untrained_model_coasts(name, store, windows, context):
    world = parts.load("models", name).create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    one = world.rollout(windows.context(W, 1)).states[:, 0]
    now, moving = windows.states[:, W - 1], windows.masks.mutable
    expected = np.clip(now[:, moving, :2] + now[:, moving, VX : VX + 2], -0.05, 1.05)
    np.testing.assert_allclose(one[:, moving, :2], expected, atol=1e-6)


def test_velocity_and_history_live_on_after_the_first_imagined_frame(name, store, windows):
    world = parts.load("models", name).create(store.manifest, "laptop", 0)  # it coasts
    world.network.set_scales(measure(windows))
    with torch.no_grad():
        story = world.network.unroll(training_batch(windows), W, 4)
    for _, states, _ in story[1:]:
        assert states[..., VX : VX + 2].abs().max() > 1e-4
        assert states[..., HISTORY_START + 2 :].abs().max() > 1e-4


def test_nan_in_a_masked_slot_reaches_no_loss(world, windows):
    valid = windows.masks.valid.copy()
    valid[1] = False
    states = windows.states.copy()
    states[:, :, 1] = np.nan
    clean = replace(windows, masks=replace(windows.masks, valid=valid))
    found = []
    for one in (clean, replace(clean, states=states)):
        world.network.shuffle(5)
        with torch.no_grad():
            found.append(world.network.loss(training_batch(one), 1)["total"])
    assert torch.isfinite(found[0])
    assert torch.equal(*found)


def test_where_a_dead_slot_lies_counts_nowhere(world, windows, monkeypatch):
    monkeypatch.setattr(world.network, "kept_frames", 1.0)
    batch = training_batch(windows)
    states = batch.states.clone()
    states[:, -1, 0, 2] = 0
    elsewhere = states.clone()
    elsewhere[:, -1, 0, :2] = 0.123
    found = []
    for one in (states, elsewhere):
        world.network.shuffle(5)
        with torch.no_grad():
            found.append(world.network.loss(replace(batch, states=one), 1))
    for part, value in found[0].items():
        assert torch.equal(value, found[1][part]), part


def test_a_slot_that_is_dead_afterwards_says_one_word_in_all_numbers_but_alive(
    world, windows, monkeypatch
):
    network, said = world.network, []
    word_loss = type(network).word_loss

    def listening(self, words, *rest):
        said.append(words.clone())
        return word_loss(self, words, *rest)

    monkeypatch.setattr(type(network), "word_loss", listening)
    monkeypatch.setattr(network, "kept_frames", 1.0)
    batch = training_batch(windows)
    batch.states[:, -1, 0, 2] = 0
    with torch.no_grad():
        network.loss(batch, 1)
    last = said[0].unflatten(0, (len(batch), -1))[:, -1, 0]
    assert (last[:, [0, 1]] == network.nothing).all()
    assert (last[:, 2] == 0).all()


def test_what_is_dead_rests_where_the_player_is(windows):
    states = training_batch(windows).states.clone()
    states[:, :, 0, 2] = 0
    states[:, :, 0, 3:5] = 7.0
    steered = torch.zeros(states.shape[0], states.shape[2], dtype=torch.bool)
    steered[:, 1] = True
    found = grounded(states, steered)
    assert torch.equal(found[:, :, 0, :2], states[:, :, 1, :2])
    assert (found[:, :, 0, 3:5] == 0).all()
    assert torch.equal(found[:, :, 1:], states[:, :, 1:])
    nobody = grounded(states, torch.zeros_like(steered))
    assert (nobody[:, :, 0, :2] == 0.5).all()


def test_slots_that_are_never_alive_are_left_out_of_training_and_nobody_notices(world, windows):
    batch = training_batch(windows)
    batch.states[:, :, 0, 2] = 0
    left = ever_alive(batch)
    assert left.states.shape[2] == batch.states.shape[2] - 1
    assert torch.equal(left.states, batch.states[:, :, 1:])
    assert torch.equal(left.registry, batch.registry[:, 1:])
    looks = []
    with torch.no_grad():
        for one in (batch, left):
            look, _ = world.network.look(Dreamt(one, one.states, one.globals, one.actions))
            looks.append(look.tokens)
    torch.testing.assert_close(looks[0][:, 1:], looks[1], atol=1e-4, rtol=1e-4)


def test_every_two_frames_are_a_window_with_the_action_between_them(windows):
    batch = training_batch(windows)
    found, num = pairs(batch), batch.states.shape[1] - 1
    for row, at in ((0, 0), (1, 3), (len(batch) - 1, num - 1)):
        pair = row * num + at
        assert torch.equal(found.states[pair], batch.states[row, at : at + 2])
        assert torch.equal(found.globals[pair], batch.globals[row, at : at + 2])
        assert torch.equal(found.actions[pair, 0], batch.actions[row, at])
        assert torch.equal(found.registry[pair], batch.registry[row])
    assert len(found) == len(batch) * num


def test_training_prefers_frames_after_which_something_happens(world, windows):
    network = world.network
    batch = pairs(training_batch(windows))
    still = batch.states[:, :1].expand_as(batch.states).clone()
    still[..., VX : VX + 2] = 0
    still[..., HISTORY_START:] = 0
    still[:: len(batch) // 10, 1, :, 0] += 0.2  # a tenth or so of the frames
    network.shuffle(0)
    found = network.eventful(replace(batch, states=still))
    happens = (found.states[:, 0, :, 0] != found.states[:, 1, :, 0]).any(1)
    everywhere = (still[:, 0, :, 0] != still[:, 1, :, 0]).any(1)
    assert len(found) == -(-len(batch) // 3)
    assert happens.sum() == everywhere.sum() < len(found) // 2


def test_globals_that_are_not_in_use_stay_as_they_are(world, windows):
    network, batch = world.network, training_batch(windows)
    with torch.no_grad():
        _, said = network.look(Dreamt(batch, batch.states, batch.globals, batch.actions))
        after = network.globals_after(batch.globals, said)
    unused = [i for i in range(batch.globals.shape[-1]) if i not in network.told]
    assert torch.equal(after[..., unused], batch.globals[..., unused])
    assert not torch.equal(after, batch.globals)


@pytest.mark.parametrize("size", ["laptop", "paper"])
def test_it_overfits_one_batch(name, store, batch_of_windows, size):
    world = parts.load("models", name).create(store.manifest, size, 0)
    network = world.network
    network.set_scales(measure(batch_of_windows))
    short = replace(
        batch_of_windows,
        states=batch_of_windows.states[:4, :4],
        actions=batch_of_windows.actions[:4, :4],
        globals=batch_of_windows.globals[:4, :4],
        terminal=batch_of_windows.terminal[:4, :4],
        registry=batch_of_windows.registry[:4],
    )
    batch = training_batch(short)
    rate = 3e-3 if size == "laptop" else 5e-4
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, betas=(0.9, 0.99))
    losses = []
    for step in range(40 if size == "laptop" else 20):
        network.shuffle(step)
        loss = network.loss(batch, 1)["total"]
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    assert np.mean(losses[-10:]) < 0.4 * np.mean(losses[:3])


def test_a_checkpoint_gives_the_same_bytes_again(name, world, store, context, tmp_path):
    world.save(tmp_path / "saved")
    again = parts.load("models", name).load(tmp_path / "saved", store.manifest)
    expected, found = world.rollout(context), again.rollout(context)
    assert found.states.tobytes() == expected.states.tobytes()
    assert found.globals.tobytes() == expected.globals.tobytes()


def test_an_unknown_size_is_refused(name, store):
    with pytest.raises(ValueError, match="no size 'vast'"):
        parts.load("models", name).create(store.manifest, "vast", 0)


def test_training_shows_a_share_of_rows_the_velocity_a_rollout_would_rebuild(world, windows):
    states = training_batch(windows).states.repeat(20, 1, 1, 1)
    states[..., VX : VX + 2] = 7.0
    world.network.shuffle(0)
    shown = world.network.as_imagined(states)[:, 1:, :, VX : VX + 2]
    rows = (shown == 7.0).flatten(1)
    assert (rows.all(1) | ~rows.any(1)).all()
    assert 0.2 < rows.all(1).float().mean() < 0.8
