import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.nets.checkpoints import TENSORS
from cosmolabe.nets.descent import STATE, STATE_TENSORS
from cosmolabe.nets.recipe import TrainConfig, paper
from cosmolabe.nets.schedule import rate_at, unroll_at
from cosmolabe.nets.training import train, training

SHORT = TrainConfig(
    steps=6, batch_size=4, unroll=4, seen=3, warmup=2, seed=3, noise=0.003, evaluate_every=1e-9
)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def new_model(store, seed=3):
    return parts.load("models", "transformer").create(store.manifest, "laptop", seed)


def weights(folder):
    return (folder / TENSORS).read_bytes()


@pytest.fixture(scope="module")
def trained(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    train(new_model(store), store, SHORT, folder)
    return folder


def test_the_same_seed_gives_the_same_bytes(store, trained, tmp_path):
    train(new_model(store), store, SHORT, tmp_path)
    assert weights(tmp_path) == weights(trained)


def test_another_seed_gives_other_bytes(store, trained, tmp_path):
    train(new_model(store), store, replace(SHORT, seed=4), tmp_path)
    assert weights(tmp_path) != weights(trained)


def test_the_seed_of_the_model_is_used(store):
    one, same, other = (new_model(store, seed).tensors() for seed in (1, 1, 2))
    name = "state_in.weight"
    np.testing.assert_array_equal(one[name], same[name])
    assert (one[name] != other[name]).any()


def test_creating_a_model_leaves_the_global_random_state_alone(store):
    before = torch.random.get_rng_state()
    new_model(store)
    assert torch.equal(before, torch.random.get_rng_state())


def test_an_interrupted_training_goes_on_to_the_same_bytes(store, trained, tmp_path):
    def interrupt(progress):
        if progress.step == 3 and not progress.interrupted:
            os.kill(os.getpid(), signal.SIGINT)

    last = train(new_model(store), store, SHORT, tmp_path, on_progress=interrupt)
    assert (last.step, last.interrupted, last.finished) == (3, True, False)
    assert weights(tmp_path) != weights(trained)
    last = train(new_model(store, seed=99), store, SHORT, tmp_path, resume=True)
    assert (last.step, last.finished) == (6, True)
    assert weights(tmp_path) == weights(trained)
    states = [(folder / STATE_TENSORS).read_bytes() for folder in (tmp_path, trained)]
    assert states[0] == states[1]


def test_evaluating_on_the_way_changes_no_byte(store, trained, tmp_path, windows):
    steps = []

    def evaluate(model, progress):
        model.rollout(windows.context(8, 3))
        steps.append(progress.step)

    train(new_model(store), store, SHORT, tmp_path, on_evaluate=evaluate)
    assert steps == [1, 2, 3, 4, 5, 6]
    assert weights(tmp_path) == weights(trained)


def test_what_is_evaluated_last_is_what_is_saved(store, tmp_path, windows):
    seen = []

    def evaluate(model, progress):
        seen.append(model.rollout(windows.context(8, 3)).states)

    model = new_model(store)
    train(model, store, SHORT, tmp_path, on_evaluate=evaluate)
    saved = parts.load("models", "transformer").load(tmp_path, store.manifest)
    for ours in (model, saved):
        np.testing.assert_array_equal(ours.rollout(windows.context(8, 3)).states, seen[-1])


def test_a_consumer_may_stop_listening_and_resume(store, trained, tmp_path):
    for progress in training(new_model(store), store, SHORT, tmp_path):
        if progress.step == 2:
            break
    last = train(new_model(store), store, SHORT, tmp_path, resume=True)
    assert last.step == 6
    assert weights(tmp_path) == weights(trained)


def test_another_recipe_cannot_be_resumed(store, trained):
    with pytest.raises(ValueError, match="rate"):
        train(new_model(store), store, replace(SHORT, rate=1.0), trained, resume=True)


def test_nothing_to_resume_is_said(store, tmp_path):
    with pytest.raises(ValueError, match=r"training\.json"):
        train(new_model(store), store, SHORT, tmp_path, resume=True)


def test_a_training_that_diverges_says_so(store, tmp_path):
    recipe = replace(SHORT, steps=60, rate=1e30, batch_size=2)
    with pytest.raises(ValueError, match="training diverged: the last 20 losses"):
        train(new_model(store), store, recipe, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("step", "six"), ("step", -1), ("seconds", None), ("config", [1])]
)
def test_an_edited_training_state_is_refused(store, trained, tmp_path, name, value):
    shutil.copytree(trained, tmp_path / "model")
    state = read_json(trained / STATE)
    write_json(tmp_path / "model" / STATE, state | {name: value})
    with pytest.raises(ValueError, match="not what we wrote"):
        train(new_model(store), store, SHORT, tmp_path / "model", resume=True)


def test_a_time_limit_ends_training(store, tmp_path):
    config = replace(SHORT, steps=None, seconds=0.3)
    last = train(new_model(store), store, config, tmp_path)
    assert last.finished
    assert last.seconds >= 0.3
    assert read_json(tmp_path / "config.json")["steps"] == last.step


def test_a_model_of_another_game_is_refused(store, tmp_path):
    model = new_model(store)
    model.manifest = replace(store.manifest, version=99)
    with pytest.raises(ValueError, match="version 99"):
        train(model, store, SHORT, tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": None},
        {"steps": 0},
        {"seconds": -1.0},
        {"rate": float("nan")},
        {"seen": 0},
        {"first_unroll": 99},
        {"ema": 1.0},
        {"noise": -0.1},
    ],
)
def test_a_recipe_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=r"got|needs"):
        replace(SHORT, **wrong)


def test_the_rate_warms_up_and_falls():
    config = paper()
    rates = [rate_at(config, step, 0.0) for step in (0, 250, 500, 5000, 10_000)]
    assert rates[0] < rates[1] < rates[2]
    assert rates[2] > rates[3] > rates[4]
    assert rate_at(config, 10_000, 0.0) == pytest.approx(rate_at(config, 500, 600.0))


def test_training_imagines_further_and_further():
    config = TrainConfig(steps=100)
    far = [unroll_at(config, step, 0.0) for step in range(100)]
    assert far == sorted(far)
    assert (far[0], far[-1]) == (config.first_unroll, config.unroll)


def test_plain_models_need_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from cosmolabe.core import parts\n"
        "import cosmolabe.nets.training\n"
        "[parts.load('models', n) for n in ('still', 'constant_velocity', 'linear')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
