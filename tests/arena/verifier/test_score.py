"""A submission's score is the judge's own, to the last bit."""

import json
import shutil

import numpy as np
import pytest
from wiring import stir

from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.arena.verifier.asking import ask
from cosmolabe.bench.evaluate import judge_model
from cosmolabe.core import parts
from cosmolabe.nets.recipe import TrainConfig
from cosmolabe.nets.training import train


@pytest.fixture(scope="module")
def checkpoint(store, tmp_path_factory):
    """A checkpoint of a model that says something, as the package writes it."""

    def make(name):
        part = parts.load("models", name)
        folder = tmp_path_factory.mktemp(name) / "checkpoint"
        model = part.create(store.manifest, "laptop", 3)
        if hasattr(model, "network"):
            stir(model.network, 0.05)
            model.save(folder)
        else:
            train(model, store, TrainConfig(steps=1), folder)
        return part.load(folder, store.manifest), folder

    return make


def submission_of(name, folder, target):
    """What a session would hand in for a checkpoint nobody changed."""
    target.mkdir()
    shutil.copyfile(folder / "model.safetensors", target / "weights.safetensors")
    (target / "config.json").write_text(json.dumps({"size": "laptop", "recipe": {}}))
    (target / "train.py").write_text(one_file(name))
    return target


@pytest.mark.parametrize("name", ["linear", "transformer"])
def test_an_unchanged_checkpoint_scores_what_judge_gives_it_to_the_last_bit(
    name, checkpoint, store, bed, verifier, tmp_path
):
    model, folder = checkpoint(name)
    judged = judge_model(model, store, bed=bed, num_pictures=0, num_clips=0)
    verdict = verifier.verify(submission_of(name, folder, tmp_path / "s"), {"test": bed})
    assert verdict.status == "ok", verdict.why
    score = verdict.scores["test"]
    assert score.composite == judged.final
    assert score.skill == judged.skill
    for horizon, value in ((1, score.c1), (10, score.c10), (20, score.c20)):
        assert value == judged.reading("composite", horizon).value
    assert (score.low, score.high) == (judged.reading("final").low, judged.reading("final").high)
    assert verdict.flags == ()
    assert verdict.valid


@pytest.mark.parametrize("name", ["linear", "dreamer", "d3pm"])
def test_what_comes_back_through_the_pipe_is_what_judge_is_told(
    name, checkpoint, store, bed, loopback
):
    model, _ = checkpoint(name)
    judged = judge_model(model, store, bed=bed, num_pictures=0, num_clips=0)
    found = ask(loopback(model), {"test": bed.windows.context(8)}, seed=0, chunk=64)
    for part in ("states", "globals", "terminal"):
        mine, true = getattr(found.predictions["test"], part), getattr(judged.prediction, part)
        assert np.array_equal(mine, true)
