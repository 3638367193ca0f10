"""The study of defects: paired, resumable, and honest about what it reuses."""

import numpy as np
import pytest

from cosmolabe.bench import defect_table
from cosmolabe.bench.defect_table import DefectRecipe, all_defects, study
from cosmolabe.core.record import read_json

RECIPE = DefectRecipe(
    "tiny",
    games=("pong",),
    models=("transformer",),
    seeds=(0,),
    steps=2,
    train_episodes=3,
    test_episodes=6,
)
TWO = ("motion-zeroed", "anti-causal-mask")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A study stopped after its first row, then gone on with: what was trained, what was told."""
    folder = tmp_path_factory.mktemp("study")
    out, told, trained = folder / "defects.json", [], []
    train = defect_table.train

    def note(world, learn, config, where):
        trained.append(where.name)
        return train(world, learn, config, where)

    def stop(row):
        told.append(row)
        if len(told) == 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(defect_table, "train", note)
        with pytest.raises(KeyboardInterrupt):
            study(RECIPE, folder / "work", out, stop, TWO)
        rows = study(RECIPE, folder / "work", out, stop, TWO)
        again = study(RECIPE, folder / "work", out, stop, TWO)
    assert again == rows
    return out, rows, told, trained


def test_each_defect_is_measured_once_though_the_study_was_stopped(run):
    out, rows, told, _ = run
    assert sorted(row["defect"] for row in rows) == sorted(TWO)
    assert len(told) == 2
    assert read_json(out) == rows


def test_the_sound_model_is_trained_once_and_serves_defects_of_rollouts(run):
    names = ["tiny-pong-transformer-0-sound", "tiny-pong-transformer-0-anti-causal-mask"]
    assert sorted(run[3]) == sorted(names)
    assert len({row["without"] for row in run[1]}) == 1


def test_the_difference_is_paired_and_lies_in_its_interval(run):
    for row in run[1]:
        assert row["difference"] == pytest.approx(row["with"] - row["without"])
        assert row["low"] <= row["difference"] <= row["high"]
        assert np.isfinite(row["skill_with"])
    zeroed = next(row for row in run[1] if row["defect"] == "motion-zeroed")
    assert zeroed["high"] < 0


def test_the_recipe_is_stored_and_its_name_cannot_mean_two_things(run, tmp_path):
    out = run[0]
    assert read_json(out.parent / "recipes" / "tiny.json")["fingerprint"] == RECIPE.fingerprint
    other = DefectRecipe("tiny", games=("pong",), models=("transformer",), steps=3)
    with pytest.raises(ValueError, match="another recipe"):
        study(other, tmp_path, out, only=TWO)


def test_steps_may_differ_by_model_and_game():
    recipe = DefectRecipe(steps=600, steps_of={"dreamer": 5, "pong": 6, "dreamer/pong": 7})
    assert recipe.steps_for("dreamer", "pong") == 7
    assert recipe.steps_for("dreamer", "snake") == 5
    assert recipe.steps_for("d3pm", "pong") == 6
    assert recipe.steps_for("d3pm", "snake") == 600


def test_what_nobody_planted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no-such-defect"):
        study(RECIPE, tmp_path, tmp_path / "defects.json", only=("no-such-defect",))


def test_a_defect_that_nothing_can_measure_gets_no_row():
    hidden = {d.name for d in all_defects() if not d.measured}
    assert {"nan-hidden", "seed-unused", "loose-loading"} <= hidden
