"""What a dreamer (RSSM over entities) must never do, each shown on a planted defect as well."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from wiring import changed_from, first_step_changed_by, padded, permuted, stir

from cosmolabe.bench.defects.dreamer import DEFECTS
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, HISTORY_START, VX
from cosmolabe.models import dreamer
from cosmolabe.models.dreamer import UNIMIX, Cell, Dreamer, divergences
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.scales import measure
from cosmolabe.nets.training import train
from cosmolabe.nets.worlds import CHUNK

W = dreamer.WINDOW


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def stirred_world(store, windows, amount=0.02):
    """An untrained world with heads that say something, though not yet chaotic."""
    world = parts.load("models", "dreamer").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    world.network.eval()
    stir(world.network, amount)
    with torch.no_grad():
        for head in (world.network.prior_out[-1], world.network.posterior_out[-1]):
            head.weight *= 8  # classes that change from frame to frame
    return world


@pytest.fixture(scope="module")
def world(store, windows):
    return stirred_world(store, windows)


@pytest.fixture(scope="module")
def network(world):
    return world.network


@pytest.fixture
def sampling(world):
    """A world that draws z in its rollouts, for one test."""
    world.network.sampling = True
    yield world
    world.network.sampling = False


@pytest.fixture
def context(windows):
    return windows.context(W, 8)


def dreamt_of(batch, imagined=0):
    actions = batch.actions[:, : batch.states.shape[1]]
    return Dreamt(batch, batch.states, batch.globals, actions, imagined)


def teacher_forced(network, windows):
    """What is said about the frame after each true frame, all frames in one pass."""
    with torch.no_grad():
        likely, _ = network.likely(dreamt_of(training_batch(windows)), memory=None)
    return torch.cat([likely.positions.flatten(2), likely.alive, likely.globals], -1)


def recalled(network, batch, imagined=0):
    dreamt = dreamt_of(batch, imagined)
    memory = network.begin(batch)
    return network.recall(network.look(dreamt, memory), dreamt, memory)


def sees_the_future(network, windows, start=10):
    before = teacher_forced(network, windows)[:, :start]
    after = teacher_forced(network, changed_from(windows, start))[:, :start]
    return not torch.equal(before, after)


# -- planted defects ---------------------------------------------------------------------------


def decoder_sees_each_entity(network, windows):
    """Does where an entity stands change whether it is thought to live on?"""
    batch = training_batch(windows)
    moved = batch.states.clone()
    moved[:, :, 1, 0] += 0.2
    elsewhere = replace(batch, states=moved)
    memory, latent = network.begin(batch), recalled(network, batch)
    alive = []
    with torch.no_grad():
        for one in (batch, elsewhere):
            dreamt = dreamt_of(one)
            seen = network.look(dreamt, memory)
            told = network.decode(dreamt, seen, latent.deter, latent.latent)
            alive.append(told.alive[:, :, 1])
    return not torch.equal(*alive)


def free_nats_are_of_the_sum(network, windows):
    half = torch.full((2, 3, 8), 0.5)
    small = torch.full((2, 3, 8), 0.01)
    return (network.free_nats(half) == 4).all() and (network.free_nats(small) == 1).all()


def each_term_pulls_its_own(network, windows):
    dice = torch.Generator().manual_seed(0)
    posterior, prior = (
        torch.randn(2, 3, 8, 8, generator=dice).mul(3).log_softmax(-1).requires_grad_()
        for _ in range(2)
    )
    dyn, rep = network.divergence(posterior, prior)
    of_dyn = torch.autograd.grad(dyn, [posterior, prior], allow_unused=True)
    of_rep = torch.autograd.grad(rep, [posterior, prior], allow_unused=True)
    reaches = [[grad is not None and bool(grad.any()) for grad in of] for of in (of_dyn, of_rep)]
    return reaches == [[False, True], [True, False]]


def no_class_is_rarer_than_its_share(network, windows):
    logits = torch.tensor([[30.0, 0, 0, 0], [0, -50.0, 3, 2], [0, 0, 0, 0]])
    chances = network.unimix(logits).exp()
    one = torch.ones(3)
    return bool((chances >= UNIMIX / 4 - 1e-7).all()) and torch.allclose(chances.sum(-1), one)


def rollout_reads_points_as_training_wrote_them(network, windows):
    points = torch.tensor([-250.0, -1, -0.3, 0, 0.01, 1, 10, 100, 5000])
    read = []
    for mode in (True, False):
        network.train(mode)
        read.append(network.unsquash(network.squash(points)))
    network.eval()
    return all(torch.allclose(back, points, rtol=1e-4, atol=1e-6) for back in read)


CAUGHT_BY = {
    "decoder-without-entities": decoder_sees_each_entity,
    "free-nats-each": free_nats_are_of_the_sum,
    "no-stop-gradient": each_term_pulls_its_own,
    "unimix-on-logits": no_class_is_rarer_than_its_share,
    "another-inverse-of-symlog": rollout_reads_points_as_training_wrote_them,
}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_planted_defect_is_caught_and_ours_is_free_of_it(defect, network, windows):
    sound = CAUGHT_BY[defect.name]
    assert sound(network, windows)
    with defect.plant():
        assert not sound(network, windows)
    assert sound(network, windows)


def test_every_defect_has_a_name_of_its_own_and_says_where_it_was_seen():
    assert {defect.name for defect in DEFECTS} == set(CAUGHT_BY)
    assert all(defect.model == "dreamer" and defect.seen_in and defect.what for defect in DEFECTS)


# -- latent state ------------------------------------------------------------------------------

logits_of = st.lists(st.floats(-6, 6, width=32), min_size=12, max_size=12)


@given(left=logits_of, right=logits_of)
def test_the_kl_is_that_of_the_joint_distribution(left, right):
    p, q = (torch.tensor(x, dtype=torch.float64).view(3, 4).log_softmax(-1) for x in (left, right))
    expected = 0.0
    for outcome in product(range(4), repeat=3):
        of_p = float(sum(p[variable, value] for variable, value in enumerate(outcome)))
        of_q = float(sum(q[variable, value] for variable, value in enumerate(outcome)))
        expected += np.exp(of_p) * (of_p - of_q)
    assert float(divergences(p, q).sum()) == pytest.approx(expected, abs=1e-9)


def test_the_kl_of_equal_distributions_is_nothing_and_costs_the_free_nat(network):
    same = torch.zeros(2, 3, 8, 8).log_softmax(-1)
    assert [float(term) for term in network.divergence(same, same)] == [1.0, 1.0]
    far = torch.tensor([20.0] + [0.0] * 7).expand(2, 3, 8, 8)
    dyn, rep = network.divergence(network.unimix(far), same)
    each = float(divergences(network.unimix(far), same)[0, 0, 0])
    assert float(dyn) == float(rep) == pytest.approx(8 * each)


@given(row=st.lists(st.floats(-80, 80, width=32), min_size=8, max_size=8))
def test_a_mixed_row_sums_to_one_and_is_99_parts_softmax(network, row):
    logits = torch.tensor(row)
    chances = network.unimix(logits).exp()
    assert float(chances.sum()) == pytest.approx(1, abs=1e-5)
    expected = 0.99 * logits.softmax(-1) + 0.01 / 8
    torch.testing.assert_close(chances, expected, rtol=1e-4, atol=1e-7)


def test_a_draw_is_one_hot_and_its_gradient_is_that_of_the_chances(network):
    dice = torch.Generator().manual_seed(0)
    logits = torch.randn(5, 8, 8, generator=dice).requires_grad_()
    weights = torch.randn(5, 8, 8, generator=dice)
    mixed = network.unimix(logits)
    drawn = network.draw(mixed, 0, "prior")
    assert ((drawn == 0) | (drawn == 1)).all()
    assert (drawn.sum(-1) == 1).all()
    (found,) = torch.autograd.grad((drawn * weights).sum(), logits, retain_graph=True)
    (expected,) = torch.autograd.grad((mixed.exp() * weights).sum(), logits)
    torch.testing.assert_close(found, expected)


def test_draws_come_as_often_as_their_chances(network):
    chances = torch.tensor([0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.01, 0.01])
    network.train()
    drawn = network.draw(chances.log().expand(4000, 8, 8), 3, "prior")
    network.eval()
    often = drawn.mean((0, 1))
    assert (often - chances).abs().max() < 0.01  # 32,000 draws: 3.6 deviations of the commonest


def test_a_new_state_of_the_cell_keeps_most_of_the_old():
    cell = Cell(6, 3)
    torch.nn.init.zeros_(cell.linear.weight)
    deter = torch.arange(6.0)[None]
    kept = 1 - torch.sigmoid(torch.tensor(-1.0))
    torch.testing.assert_close(cell(deter, torch.ones(1, 3)), deter * kept)


def test_imagined_frames_never_reach_the_latent_state(network, windows):
    batch = training_batch(windows)
    other = batch.states.clone()
    other[:, W:, :, :2] = 0.9
    elsewhere = replace(batch, states=other)
    imagined = batch.states.shape[1] - W
    with torch.no_grad():
        dreamt = [recalled(network, one, imagined).deter for one in (batch, elsewhere)]
        watched = [recalled(network, one).deter for one in (batch, elsewhere)]
    assert torch.equal(*dreamt)
    assert not torch.equal(*watched)


def test_the_context_warms_the_hidden_state_up(world, context):
    short = replace(
        context,
        states=context.states[:, -1:],
        globals=context.globals[:, -1:],
        actions=context.actions[:, W - 1 :],
    )
    assert short.horizon == context.horizon
    assert not np.array_equal(world.rollout(short).states, world.rollout(context).states)


def test_without_luck_the_seed_changes_nothing(world, context):
    first, second = (world.rollout(context, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(first.states, second.states)


def test_with_luck_the_seed_decides(sampling, context):
    first, again, other = (sampling.rollout(context, seed=seed) for seed in (0, 0, 1))
    assert first.states.tobytes() == again.states.tobytes()
    assert not np.array_equal(first.states, other.states)


def test_luck_is_the_same_in_any_company(sampling, context):
    together = sampling.rollout(context)
    for row in range(len(context)):
        alone = sampling.rollout(context.take(slice(row, row + 1)))
        np.testing.assert_allclose(alone.states[0], together.states[row], atol=1e-6)


def test_luck_of_its_own_for_each_row_is_caught(sampling, context, monkeypatch):
    draw = Dreamer.draw

    def own_luck(self, logits, frame, which):
        self.training = True
        try:
            return draw(self, logits, frame, which)
        finally:
            self.training = False

    monkeypatch.setattr(Dreamer, "draw", own_luck)
    backwards = sampling.rollout(context.take(np.arange(len(context))[::-1])).states[::-1]
    assert not np.allclose(backwards, sampling.rollout(context).states, atol=1e-6)


# -- time --------------------------------------------------------------------------------------


def test_changing_only_the_future_changes_nothing(network, windows):
    assert not sees_the_future(network, windows)
    past = teacher_forced(network, windows)[:, 10:]
    assert not torch.equal(past, teacher_forced(network, changed_from(windows, 10))[:, 10:])


def test_a_posterior_of_the_next_frame_is_caught(network, windows, monkeypatch):
    look = Dreamer.look

    def early(self, dreamt, memory):
        seen = look(self, dreamt, memory)
        return replace(seen, whole=seen.whole.roll(-1, 1))

    monkeypatch.setattr(Dreamer, "look", early)
    assert sees_the_future(network, windows)


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


@pytest.mark.parametrize("luck", [False, True])
def test_remembering_and_looking_again_give_the_same_rollout(world, context, luck):
    long = replace(context, actions=np.tile(context.actions, (1, 2, 1)))
    assert long.horizon == 24
    world.network.sampling = luck
    try:
        expected, found = world.rollout(long, cached=False), world.rollout(long)
    finally:
        world.network.sampling = False
    for name in ("states", "globals", "terminal"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-5, atol=1e-5
        )


def test_a_memory_that_forgets_its_latent_state_is_caught(world, context, monkeypatch):
    expected = world.rollout(context, cached=False)
    likely = Dreamer.likely

    def forgetful(self, dreamt, memory):
        found, memory = likely(self, dreamt, memory)
        return found, replace(memory, latent=torch.zeros_like(memory.latent))

    monkeypatch.setattr(Dreamer, "likely", forgetful)
    assert np.abs(world.rollout(context).states - expected.states).max() > 1e-5


def test_velocity_and_history_live_on_after_the_first_imagined_frame(network, windows):
    with torch.no_grad():
        story = network.unroll(training_batch(windows), W, 4)
    for _, states, _ in story[1:]:
        assert states[..., VX : VX + 2].abs().max() > 1e-4
        assert states[..., HISTORY_START + 2 :].abs().max() > 1e-4


# -- slots -------------------------------------------------------------------------------------


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


def test_dead_entities_are_not_looked_at(network, windows):
    batch = training_batch(windows)
    states = batch.states.clone()
    states[:, :, 1, ALIVE] = 0
    elsewhere = states.clone()
    elsewhere[:, :, 1, :2] = 0.3
    with torch.no_grad():
        said = [
            network.likely(dreamt_of(replace(batch, states=one)), None)[0]
            for one in (states, elsewhere)
        ]
    others = [slot for slot in range(states.shape[2]) if slot != 1]
    assert torch.equal(said[0].positions[:, :, others], said[1].positions[:, :, others])
    assert torch.equal(said[0].globals, said[1].globals)


def test_batch_size_and_order_change_nothing(world, context):
    rows = np.arange(CHUNK + 6) % len(context)
    whole = world.rollout(context.take(rows))
    backwards = world.rollout(context.take(rows[::-1]))
    np.testing.assert_allclose(backwards.states[::-1], whole.states, atol=1e-6)
    for row in range(len(context)):
        alone = world.rollout(context.take(slice(row, row + 1)))
        np.testing.assert_allclose(alone.states[0], whole.states[row], atol=1e-6)
        np.testing.assert_allclose(alone.globals[0], whole.globals[row], rtol=1e-6, atol=1e-6)


# -- training ----------------------------------------------------------------------------------


def test_nan_in_a_masked_slot_reaches_no_loss(network, windows):
    valid = windows.masks.valid.copy()
    valid[1] = False
    states = windows.states.copy()
    states[:, :, 1] = np.nan
    clean = replace(windows, masks=replace(windows.masks, valid=valid))
    dirty = replace(clean, states=states)
    with torch.no_grad():
        expected, found = (network.loss(training_batch(w), 4)["total"] for w in (clean, dirty))
    assert torch.isfinite(found)
    assert torch.equal(found, expected)


def test_every_weight_learns(network, windows):
    batch = training_batch(windows)
    network.train()
    total = network.loss(batch, 4)["total"]
    weights = dict(network.named_parameters())
    grads = torch.autograd.grad(total, list(weights.values()), allow_unused=True)
    network.eval()
    idle = [name for name, grad in zip(weights, grads, strict=True) if grad is None]
    assert not idle


def test_points_are_learnt_as_the_symlog_of_their_change(network, windows):
    batch = training_batch(windows)
    before, truth = batch.globals[:, :-1], batch.globals[:, 1:]
    points = network.points & network.global_used
    told = torch.where(network.counts, before + 9, 99.0)
    drift = network.drift(told, before, truth)
    change = torch.where(network.counts, truth - before, truth)
    gain = torch.where(network.counts, 9.0, 99.0)
    expected = (gain.log1p() - change.sign() * change.abs().log1p()).abs()
    assert points.any()
    torch.testing.assert_close(drift[..., points], expected[..., points], rtol=1e-3, atol=1e-4)


def test_points_learn_from_a_change_of_nothing_too(network):
    nothing = torch.zeros(3, requires_grad=True)
    for there in (network.squash, network.unsquash):
        (slope,) = torch.autograd.grad(there(nothing).sum(), nothing)
        assert slope.tolist() == [1, 1, 1]


def test_it_overfits_one_batch(store, batch_of_windows):
    world = parts.load("models", "dreamer").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(batch_of_windows))
    windows = replace(
        batch_of_windows,
        states=batch_of_windows.states[:6, :9],
        actions=batch_of_windows.actions[:6, :9],
        globals=batch_of_windows.globals[:6, :9],
        terminal=batch_of_windows.terminal[:6, :9],
        registry=batch_of_windows.registry[:6],
    )
    batch = training_batch(windows)
    optimizer = torch.optim.AdamW(world.network.parameters(), lr=3e-3, betas=(0.9, 0.99))
    losses = []
    for step in range(60):
        world.network.shuffle(step)
        parts_ = world.network.loss(batch, 3)
        optimizer.zero_grad()
        parts_["total"].backward()
        torch.nn.utils.clip_grad_norm_(world.network.parameters(), 1.0)
        optimizer.step()
        losses.append(float(parts_["positions"].detach()))
    assert min(losses[-20:]) < 0.4 * losses[0]


@pytest.fixture(scope="module")
def trained(store, tmp_path_factory):
    """Two trainings of four steps with one seed: world, folder."""
    found = []
    for attempt in range(2):
        folder = tmp_path_factory.mktemp(f"dreamer{attempt}")
        world = parts.load("models", "dreamer").create(store.manifest, "laptop", 0)
        train(world, store, TrainConfig(steps=4, batch_size=4, unroll=3), folder)
        found.append((world, folder))
    return found


def test_the_same_seed_trains_the_same_bytes(trained):
    first, second = (folder / "model.safetensors" for _, folder in trained)
    assert first.read_bytes() == second.read_bytes()


def test_a_saved_dreamer_comes_back_as_it_was(trained, store, context):
    world, folder = trained[0]
    again = parts.load("models", "dreamer").load(folder, store.manifest)
    assert again.steps == 4
    assert again.tensors().keys() == world.tensors().keys()
    first, second = (one.rollout(context, seed=5) for one in (world, again))
    assert first.states.tobytes() == second.states.tobytes()


def test_the_paper_size_has_32_categoricals_of_32_classes(store, context):
    world = parts.load("models", "dreamer").create(store.manifest, "paper", 0)
    assert world.network.categoricals == (32, 32)
    assert world.network.shape.width == 256
    assert np.isfinite(world.rollout(context.take(slice(0, 2))).states).all()


def test_a_context_of_other_widths_is_refused(world, context):
    narrow = replace(context, actions=context.actions[..., :3])
    with pytest.raises(ValueError, match="rows"):
        world.rollout(narrow)


def test_an_unknown_size_is_refused(store):
    with pytest.raises(ValueError, match="no size 'vast'"):
        parts.load("models", "dreamer").create(store.manifest, "vast", 0)
