"""Every planted defect is caught by a check that our own code passes."""

import importlib
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from cosmolabe.bench import defects
from cosmolabe.bench.defects import pipeline
from cosmolabe.bench.defects import transformer as of_transformer
from cosmolabe.bench.defects.defect import Defect
from cosmolabe.core import parts
from cosmolabe.core.fields import AWM, HISTORY_START, VX
from cosmolabe.core.rollout import SURE, Prediction
from cosmolabe.data.windows import training_batches
from cosmolabe.judges.state import score
from cosmolabe.nets import descent
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.features import predicted_columns
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.scales import measure
from cosmolabe.nets.training import train

W = 8
TICK = AWM.global_fields.index("tick_share")
HERE = {d.name: d for d in (*of_transformer.DEFECTS, *pipeline.DEFECTS)}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def stirred(store, windows):
    """An untrained transformer whose heads say something."""
    network = parts.load("models", "transformer").create(store.manifest, "laptop", 0).network
    network.set_scales(measure(windows))
    dice = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            weight += torch.randn(weight.shape, generator=dice) * 0.02
    return network.eval()


def said(network, batch, seen):
    """What a story that begins with `seen` true frames says about the frame after each of them."""
    with torch.no_grad():
        likely = network.unroll(batch, seen, 1)[0][0]
    return torch.cat([likely.positions.flatten(2), likely.alive, likely.globals], -1)


def other_future(batch, start):
    """The batch with every state and global from frame `start` on replaced."""
    dice = torch.Generator().manual_seed(2)
    states, numbers = batch.states.clone(), batch.globals.clone()
    states[:, start:] = torch.rand(states[:, start:].shape, generator=dice)
    numbers[:, start:] = torch.rand(numbers[:, start:].shape, generator=dice)
    return replace(batch, states=states, globals=numbers)


def training_reads_no_future(store, windows, tmp_path):
    network, batch = stirred(store, windows), training_batch(windows)
    return torch.equal(said(network, batch, W), said(network, other_future(batch, W), W))


def no_frame_sees_a_later_one(store, windows, tmp_path):
    network, batch = stirred(store, windows), training_batch(windows)
    before, after = (said(network, b, 20)[:, :10] for b in (batch, other_future(batch, 10)))
    return torch.equal(before, after)


def nothing_depends_on_where_a_story_begins(store, windows, tmp_path):
    """Two layers of 7 look back 14 frames: what lies further back may be left out."""
    network, batch = stirred(store, windows), training_batch(windows)
    names = ("states", "globals", "actions", "terminal")
    later = replace(batch, **{name: getattr(batch, name)[:, 3:] for name in names})
    long, short = said(network, batch, 20)[:, -1], said(network, later, 17)[:, -1]
    return torch.allclose(long, short, rtol=1e-5, atol=1e-5)


def motion_lives_on_after_the_first_imagined_frame(store, windows, tmp_path):
    with torch.no_grad():
        story = stirred(store, windows).unroll(training_batch(windows), W, 4)
    moves = [states[..., VX : VX + 2].abs().max() for _, states, _ in story[1:]]
    history = [states[..., HISTORY_START + 2 :].abs().max() for _, states, _ in story[1:]]
    return min(*moves, *history) > 1e-4


def trained_on(store, tmp_path, steps=4):
    """The batches that reach the loss in a short training."""
    world = parts.load("models", "transformer").create(store.manifest, "laptop", 0)
    loss, met = world.network.loss, []

    def note(batch, seen):
        met.append(batch)
        return loss(batch, seen)

    world.network.loss = note
    config = TrainConfig(steps=steps, growth=0.0, unroll=12, batch_size=64, seed=5)
    train(world, store, config, tmp_path / "trained")
    return met


def each_frame_meets_its_own_action(store, windows, tmp_path):
    met = trained_on(store, tmp_path, steps=1)[0]
    drawn = next(training_batches(store, "train", 14, 64, seed=5))
    return np.array_equal(met.actions.numpy(), drawn.actions)


def no_window_crosses_an_episode(store, windows, tmp_path):
    met = trained_on(store, tmp_path)
    return all(bool((batch.globals[..., TICK].diff(dim=1) > 0).all()) for batch in met)


def resets_are_trained_on(store, windows, tmp_path):
    drawn = next(descent.training_batches(store, "train", 18, 4000, seed=0))
    return drawn.starts.min() == 0


def nan_of_an_unscored_slot_costs_nothing_and_of_a_scored_one_everything(store, windows, tmp_path):
    states = predicted_columns(windows.states[:, W:]).copy()
    perfect = Prediction(
        states, windows.globals[:, W:], np.where(windows.terminal[:, W:], SURE, -SURE)
    )
    unscored, scored = (np.flatnonzero(windows.masks.mutable == moves)[0] for moves in (0, 1))
    finals = []
    for slot in (unscored, scored):
        broken = states.copy()
        broken[:, :, slot, 0] = np.nan
        finals.append(score(windows, replace(perfect, states=broken)).final)
    return np.allclose(finals[0], 1) and np.all(finals[1] == 0)


def the_seed_decides_the_weights(store, windows, tmp_path):
    create = parts.load("models", "transformer").create
    one, again, other = (create(store.manifest, "laptop", seed).tensors() for seed in (3, 3, 4))
    same = all(np.array_equal(one[name], again[name]) for name in one)
    return same and any(not np.array_equal(one[name], other[name]) for name in one)


def a_checkpoint_that_lacks_a_tensor_is_refused(store, windows, tmp_path):
    from cosmolabe.nets.checkpoints import TENSORS, read_tensors, write_tensors

    part = parts.load("models", "transformer")
    part.create(store.manifest, "laptop", 3).save(tmp_path)
    tensors = read_tensors(tmp_path / TENSORS)
    write_tensors(tmp_path / TENSORS, {k: v for k, v in tensors.items() if "entity_out" not in k})
    try:
        part.load(tmp_path, store.manifest)
    except ValueError as refusal:
        return "missing" in str(refusal)
    return False


CHECKS = {
    "anti-causal-mask": no_frame_sees_a_later_one,
    "target-as-query": training_reads_no_future,
    "frame-index-drifts": nothing_depends_on_where_a_story_begins,
    "globals-of-the-answer": training_reads_no_future,
    "motion-zeroed": motion_lives_on_after_the_first_imagined_frame,
    "action-off-by-one": each_frame_meets_its_own_action,
    "windows-cross-episodes": no_window_crosses_an_episode,
    "first-frame-dropped": resets_are_trained_on,
    "nan-hidden": nan_of_an_unscored_slot_costs_nothing_and_of_a_scored_one_everything,
    "seed-unused": the_seed_decides_the_weights,
    "loose-loading": a_checkpoint_that_lacks_a_tensor_is_refused,
}


@pytest.mark.parametrize("check", dict.fromkeys(CHECKS.values()), ids=lambda check: check.__name__)
def test_our_own_code_passes(check, store, windows, tmp_path):
    assert check(store, windows, tmp_path)


@pytest.mark.parametrize("name", HERE)
def test_each_planted_defect_is_caught_and_leaves_nothing_behind(name, store, windows, tmp_path):
    with HERE[name].plant():
        assert not CHECKS[name](store, windows, tmp_path)
    assert CHECKS[name](store, windows, tmp_path / "after")


def all_defects():
    found = []
    for module in pkgutil.iter_modules(defects.__path__):
        loaded = importlib.import_module(f"{defects.__name__}.{module.name}")
        found += getattr(loaded, "DEFECTS", ())
    return found


@pytest.mark.parametrize("defect", all_defects(), ids=lambda d: f"{d.model}/{d.name}")
def test_a_defect_says_what_it_does_and_where_it_was_seen(defect):
    assert isinstance(defect, Defect)
    assert defect.model in parts.names("models")
    assert defect.what.endswith(".")
    assert defect.seen_in


def test_no_two_defects_of_a_model_share_a_name():
    names = [(d.model, d.name) for d in all_defects()]
    assert len(set(names)) == len(names)


def test_a_planted_world_can_be_trained_saved_loaded_and_rolled_out(store, windows, tmp_path):
    part = parts.load("models", "transformer")
    for name in ("anti-causal-mask", "target-as-query", "frame-index-drifts", "motion-zeroed"):
        with HERE[name].plant():
            world = part.create(store.manifest, "laptop", 0)
            train(world, store, TrainConfig(steps=2, unroll=3, batch_size=4), tmp_path / name)
            again = part.load(tmp_path / name, store.manifest)
            one, other = (w.rollout(windows.context(W, 12)).states for w in (world, again))
            assert one.tobytes() == other.tobytes()
            assert np.isfinite(one).all()
