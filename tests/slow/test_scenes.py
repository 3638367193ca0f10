"""Scenes of MuJoCo and their doubles; skipped where MuJoCo is missing."""

import os
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
# Importing these libraries warns of their own, older ways.
pytestmark = pytest.mark.filterwarnings("ignore")

from cosmolabe.core import parts
from cosmolabe.core.seeds import generator
from cosmolabe.data.held_out import held_out
from cosmolabe.data.scene_names import KINDS, PHYSICS, SCENES, SHOWN
from cosmolabe.data.scenes.damage import WORLD, applicable, hurt_shot
from cosmolabe.data.scenes.shooting import Unstable, builders, pictures, play, same
from cosmolabe.data.scenes.stage import drawn_look
from cosmolabe.data.twin_rows import THRESHOLD, TwinRecipe
from cosmolabe.data.twin_set import read_frames, write_twin_set

FPS, FRAMES, ONSET, SIZE = 16.0, 32, 10, 64
ARRAYS = ("places", "turns", "shown", "scales", "materials")
SEEDS = (0, 1)


def played(scene, seed=0, size=SIZE):
    stage = builders()[scene](generator("stage", scene, seed))
    look = drawn_look(generator("look", scene, seed), stage)
    return play(stage, look, FPS, FRAMES, ONSET, size)


@pytest.fixture(scope="module")
def plays():
    return {(scene, seed): played(scene, seed) for scene in SCENES for seed in SEEDS}


every_kind = pytest.mark.parametrize("kind", KINDS)
every_scene = pytest.mark.parametrize("scene", SCENES)


def cases_of(plays, kind):
    """(play, entity) of every scene that the kind can hit and MuJoCo can follow.

    A frozen link of a rope gathers speed until it cannot; such a double is drawn anew.
    """
    found, astray = [], 0
    for one in plays.values():
        able = applicable(one)[kind]
        if able:
            case = one, able[len(found) % len(able)]
            try:
                hurt_shot(one, kind, 1.0, case[1], 3)
                found.append(case)
            except Unstable:
                astray += 1
    assert astray == 0 or (kind == "freeze" and astray < len(found) / 4)
    return found


def test_every_scene_has_a_builder_and_every_kind_a_home(plays):
    assert set(builders()) == set(SCENES)
    assert len(SCENES) >= 12
    assert set(KINDS) == {*PHYSICS, *SHOWN}
    for kind in KINDS:
        assert len(cases_of(plays, kind)) >= 4, kind


@every_scene
def test_a_scene_moves_stays_finite_and_is_the_same_again(plays, scene):
    one = plays[scene, 0]
    assert np.isfinite(one.shot.places).all()
    assert set(one.stage.movers) <= {one.model.body(i).name for i in range(one.model.nbody)}
    moved = np.abs(np.diff(one.shot.places, axis=0)).max((1, 2))
    assert (moved[ONSET - 2 : ONSET + 6] > 1e-4).any(), "something moves around the onset"
    again = played(scene, 0)
    for name in ARRAYS:
        assert np.array_equal(getattr(one.shot, name), getattr(again.shot, name))
    assert np.array_equal(pictures(one, one.shot), pictures(again, again.shot))
    other = plays[scene, 1]
    assert other.look != one.look


@every_scene
def test_a_picture_shows_the_movers(plays, scene):
    one = plays[scene, 0]
    true = pictures(one, one.shot)
    gone = one.shot.shown.copy()
    gone[:, one.geoms_of(WORLD)] = False
    without = pictures(one, replace(one.shot, shown=gone))
    seen = (np.abs(true.astype(int) - without) > 20).any(-1).mean((1, 2))
    assert seen[0] > 0.005
    assert seen.max() < 0.6


@every_kind
def test_a_double_is_its_twin_before_the_onset_and_at_size_zero(plays, kind):
    for one, entity in cases_of(plays, kind)[::5]:
        double = hurt_shot(one, kind, 1.0, entity, 3)
        for name in ARRAYS:
            assert np.array_equal(getattr(double, name)[:ONSET], getattr(one.shot, name)[:ONSET])
        before = np.arange(ONSET)
        assert np.array_equal(pictures(one, double, before), pictures(one, one.shot, before))
        assert hurt_shot(one, kind, 0.0, entity, 3) is one.shot
        again = hurt_shot(one, kind, 1.0, entity, 3)
        assert all(same(double, again, t) or double.extras for t in range(FRAMES))


@pytest.mark.parametrize("kind", PHYSICS)
def test_true_laws_go_on_from_the_onset_exactly_as_they_would_have(plays, kind):
    """A size so small that a float does not know it is the truth, to the last step."""
    one, entity = cases_of(plays, kind)[0]
    double = hurt_shot(one, kind, 1e-300, entity, 3)
    assert np.allclose(double.places, one.shot.places, atol=1e-9)


@every_kind
def test_a_larger_damage_is_on_average_farther_from_the_truth(plays, kind):
    after = np.arange(ONSET, FRAMES, 3)
    far = []
    for size in (0.2, 1.0):
        apart = []
        for one, entity in cases_of(plays, kind)[::3]:
            true = pictures(one, one.shot, after).astype(int)
            double = hurt_shot(one, kind, size, entity, 3)
            apart.append(np.abs(pictures(one, double, after) - true).mean())
        far.append(np.mean(apart))
    assert far[0] < far[1]
    assert far[1] > 0.02


def test_gravity_pulls_as_newton_says():
    """A ball alone, in frames so high above the ground that it cannot have touched it between."""
    one = next(
        p for p in (played("bouncing_ball", s) for s in range(50)) if len(p.stage.movers) == 1
    )
    ball = one.geoms_of(one.stage.movers[0])[0]
    true = one.shot.places[:, ball, 2]
    off = hurt_shot(one, "gravity", 1.0, WORLD, 0).places[ONSET - 1 :, ball, 2]
    for height, pull in ((true, -9.81), (off, 0.0)):
        high = [t for t in range(2, len(height)) if height[t - 2 : t + 1].min() > 0.75]
        assert len(high) >= 3
        for t in high:
            found = (height[t] - 2 * height[t - 1] + height[t - 2]) * FPS**2
            assert found == pytest.approx(pull, abs=0.05)


def test_a_damage_that_makes_no_sense_is_refused(plays):
    one = plays["pendulum", 0]
    with pytest.raises(ValueError, match="no damage 'rust'"):
        hurt_shot(one, "rust", 0.5, WORLD, 0)
    with pytest.raises(ValueError, match="cannot hit 'nobody'"):
        hurt_shot(one, "kick", 0.5, "nobody", 0)
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        hurt_shot(one, "gravity", 2.0, WORLD, 0)
    assert applicable(one)["friction"] == (), "nothing slides"


RECIPE = TwinRecipe(
    groups={"train": 10, "test": 8}, shares={"mujoco": 1}, size=64, frames=24, coding="npz",
    rungs=2, ladder=(0.25, 0.5, 1.0), below=0.3, lawful=0.2,
)  # fmt: skip


def test_a_set_of_scenes_keeps_the_word_of_a_set(tmp_path):
    rows = write_twin_set(tmp_path / "one", RECIPE, 3)
    assert rows == write_twin_set(tmp_path / "two", RECIPE, 3, workers=2)
    for row in rows:
        one, two = (tmp_path / name / row.true for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
        if row.damaged:
            one, two = (tmp_path / name / row.damaged for name in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()
        if row.role != "damage":
            continue
        true, other = (read_frames(tmp_path / "one" / f) for f in (row.true, row.damaged))
        assert np.array_equal(true[: row.onset], other[: row.onset])
        assert row.sub_threshold == (np.abs(true.astype(int) - other).max() <= THRESHOLD)
    trained = [row for row in rows if row.split == "train"]
    assert not any(row.held_out for row in trained)
    assert {row.scene.split("/")[1] for row in trained} <= set(held_out().trainable_scenes())
    assert any("scene" in row.held_out for row in rows)
    assert any("kind" in row.held_out for row in rows)
    corpus = parts.load("corpora", "mujoco").read(tmp_path / "one")
    assert not corpus.bad
    assert not corpus.missing
    assert not os.path.exists("MUJOCO_LOG.TXT")
