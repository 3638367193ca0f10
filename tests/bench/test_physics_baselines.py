"""Scorers beside the judge on the same twins, another eye with a head fitted on them among them."""

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch
from moving_squares import glance, square

from cosmolabe.bench.physics import baselines
from cosmolabe.bench.physics.baselines import fit_other_eye, stats_head
from cosmolabe.core import parts
from cosmolabe.core.record import plain
from cosmolabe.data.damage import KINDS
from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.judges.physics import Physics
from cosmolabe.nets.feature_store import FeatureStore
from cosmolabe.nets.twin_maps import see_all
from cosmolabe.nets.vlm_tokens import words_of
from cosmolabe.vlms.tiny import build_tiny

FRAMES = 20
RECIPE = Path(__file__).parents[2] / "recipes" / "physics_judge.py"
QUICK = replace(stats_head(), steps=150, warmup=10, members=2)


def row(group, role, number, split="train", size=0.5):
    return TwinRow(
        id=f"{group}-{role}-{size}", group=group, role=role, family="games", scene="pong/play",
        theme="", characters=(), kind="blur" if role == "quality" else "vanish",
        size=size, onset=8, entity="", true=f"{group}.npz",
        damaged=f"{group}-{role}-{size}.npz", sub_threshold=False, largest=99, difference=1.0,
        changed=0.1, held_out=(), split=split, fps=16.0, frames=FRAMES,
    )  # fmt: skip


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """True clips of a moving square; in its doubles it turns dark halfway, or all is dimmed."""
    folder, rows = tmp_path_factory.mktemp("twins"), []
    for number in range(10):
        group, split = f"g{number}", "train" if number < 6 else "test"
        true = square(FRAMES, seed=number)
        np.savez(folder / f"{group}.npz", frames=true, fps=16.0)
        for size in (0.5, 1.0):
            double = true.copy()
            double[8:] = (double[8:] * (1 - size)).astype(np.uint8)
            mine = row(group, "damage", number, split, size)
            np.savez(folder / mine.damaged, frames=double, fps=16.0)
            rows.append(mine)
        mine = row(group, "quality", number, split)
        np.savez(folder / mine.damaged, frames=(true * 0.9).astype(np.uint8), fps=16.0)
        rows.append(mine)
    return folder, rows


@pytest.fixture(scope="module")
def seen(twins, tmp_path_factory):
    folder, rows = twins
    train = [row for row in rows if row.split == "train"]
    return see_all(folder, train, tmp_path_factory.mktemp("maps"))


def test_a_head_on_another_eye_learns_from_the_same_twins(twins, seen, tmp_path):
    torch.set_num_threads(1)
    folder, rows = twins
    eye = glance()
    other = fit_other_eye(folder, seen, tmp_path / "kept", eye, QUICK)
    assert other.name == "glance and a stats head"
    assert other.heads.encoder == eye.key
    test = [row for row in rows if row.split == "test"]
    told = baselines.compare(folder, test, Physics.load(), [], tmp_path, num=20, other=other)
    by_name = {one["scorer"]: one for one in told}
    assert "frame difference" in by_name
    assert by_name[other.name]["pairwise"].value == 1.0
    assert by_name[other.name]["lowest"] < by_name[other.name]["highest"]
    alone = baselines.compare(folder, test, Physics.load(), [], tmp_path, num=20)
    assert [one["scorer"] for one in alone] == [one["scorer"] for one in told][:-1]
    assert len(list(tmp_path.glob("beside-*.jsonl"))) == 2  # scores of another set of scorers


def test_what_the_other_eye_saw_is_kept_and_the_heads_are_the_same_again(
    twins, seen, tmp_path, monkeypatch
):
    folder, _ = twins
    one = fit_other_eye(folder, seen, tmp_path, glance(), QUICK)
    monkeypatch.setattr(FeatureStore, "put", None)  # nothing may be seen anew
    two = fit_other_eye(folder, seen, tmp_path, glance(), QUICK)
    frames = square(FRAMES, seed=77)
    assert one.score(frames, 16.0) == two.score(frames, 16.0)


def test_nothing_held_out_comes_into_its_training(twins, seen, tmp_path):
    folder, _ = twins
    bad = [replace(seen[0], row=replace(seen[0].row, held_out=("kind",))), *seen[1:]]
    with pytest.raises(ValueError, match="may not be trained on"):
        fit_other_eye(folder, bad, tmp_path, glance(), QUICK)


def test_the_default_is_the_offline_eye_with_the_judges_own_dials(twins, seen, tmp_path):
    folder, _ = twins
    few = [clip for clip in seen if clip.row.group == "g0"]
    other = fit_other_eye(folder, few, tmp_path, recipe=replace(QUICK, steps=2, members=1))
    assert other.name == "efficientnet_lite and a stats head"
    assert other.encoder.canvas == 128
    assert np.isfinite(other.score(square(FRAMES), 16.0))
    assert baselines.OTHER_SIZE in parts.load("encoders", baselines.OTHER_EYE).sizes
    assert stats_head().kind == "stats"


def test_a_vision_language_model_is_asked_what_goes_wrong(twins, tmp_path):
    torch.set_num_threads(1)
    folder, rows = twins
    words = words_of(
        [baselines.WRONG, baselines.NOTHING, *KINDS, "_".join(KINDS).replace("_", " ")]
    )
    sizes = {"hidden": 16, "mlp": 32, "layers": 1, "heads": 2}
    vlm = build_tiny(words, image=32, patch=16, vision=sizes, language=sizes)
    test = [row for row in rows if row.split == "test"]
    told = baselines.compare(folder, test, Physics.load(), [], tmp_path, num=20, vlm=vlm)
    mine = {one["scorer"]: one for one in told}["tiny, asked what goes wrong"]
    assert mine["lowest"] < mine["highest"]
    assert 0 <= mine["pairwise"].value <= 1


def test_the_bundled_model_knows_every_word_that_it_is_asked():
    frames, none = square(FRAMES), np.zeros((1, 1, 1), np.float32)
    score = baselines.asked(parts.load("vlms", "tiny").load())
    seen = baselines.Seen(frames, none[..., None], none[0], frames, 16.0)
    assert np.isfinite(score(seen))  # it refuses what it was never taught


def test_clips_too_short_for_a_surprise_have_none_when_scores_are_read_again(
    twins, tmp_path, monkeypatch
):
    folder, rows = twins
    test = [row for row in rows if row.split == "test"]
    values = iter([float("nan"), *range(99)])
    monkeypatch.setattr(baselines.Predictor, "surprise", lambda self, features: next(values))
    lawful = [np.random.default_rng(0).normal(size=(9, 44))]
    one = baselines.compare(folder, test, Physics.load(), lawful, tmp_path, num=20)
    monkeypatch.setattr(baselines, "look", None)  # nothing may be looked at anew
    two = baselines.compare(folder, test, Physics.load(), lawful, tmp_path, num=20)
    assert plain(two) == plain(one)


@pytest.fixture
def recipe(twins, monkeypatch):
    """The recipe's module, over these twins, with a small eye beside the judge."""
    folder, rows = twins
    spec = spec_from_file_location("physics_judge", RECIPE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "read_judged", lambda work: rows)
    monkeypatch.setattr(module, "judge_of", lambda package: Physics.load())

    def small(twins, clips, kept, tell):
        return fit_other_eye(folder, clips, kept, glance(), QUICK, tell=tell)

    monkeypatch.setattr(module, "fit_other_eye", small)
    return module


def test_the_recipe_sets_both_models_of_others_beside_the_judge(twins, recipe, tmp_path):
    torch.set_num_threads(1)
    folder, _ = twins
    (tmp_path / "twins").symlink_to(folder)
    lines = []
    told = recipe._baselines(tmp_path, True, True, lines.append)
    names = [one["scorer"] for one in told]
    assert names[-2:] == ["glance and a stats head", "tiny, asked what goes wrong"]
    assert "another eye 24/24" in lines
    assert "beside 16/16" in lines
    fewer = recipe._baselines(tmp_path, False, True, lines.append)
    assert [one["scorer"] for one in fewer] == [*names[:-2], names[-1]]
    assert plain(fewer[-1]) == plain(told[-1])
    both = "\n".join(recipe._more({"baselines": plain(told)}))
    assert '"nothing"' in both
    alone = recipe._baselines(tmp_path, False, False, lines.append)
    assert [one["scorer"] for one in alone] == names[:-2]
    assert '"nothing"' not in "\n".join(recipe._more({"baselines": plain(alone)}))
