from dataclasses import replace

import numpy as np
import pytest
import torch

from cosmolabe.data.twin_rows import TwinRow
from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.motion_maps import CELLS, NAMES
from cosmolabe.nets.tiny_net import WIDTH, TinyNet, fresh
from cosmolabe.nets.tiny_training import EyeRecipe, fit_eye
from cosmolabe.nets.twin_maps import GRID, SeenClip, on_grid, refuse_held_out

QUICK = EyeRecipe(steps=6, batch=2, frames=12, places=6)


def row(group="g", **more):
    told = {
        "id": f"{group}-x", "group": group, "role": "damage", "family": "games",
        "scene": "pong/play", "theme": "", "characters": (), "kind": "teleport", "size": 0.5,
        "onset": 6, "entity": "", "true": "t.mp4", "damaged": "d.mp4", "sub_threshold": False,
        "largest": 99, "difference": 1.0, "changed": 0.1, "held_out": (), "split": "train",
        "fps": 16.0, "frames": 14,
    }  # fmt: skip
    return TwinRow(**{**told, **more})


def clip(name, role, group, wrong_at=None, times=14, seed=0):
    """Quiet maps; a hurt clip is loud at one place from a time on."""
    dice = np.random.default_rng([seed, len(name)])
    maps = dice.normal(0, 0.1, (times, len(NAMES), CELLS, CELLS))
    wrong = np.zeros((times, CELLS, CELLS), bool)
    if wrong_at is not None:
        wrong[wrong_at:, 5, 5] = True
        maps[wrong_at : wrong_at + 2, :8, 5, 5] += 3
    return SeenClip(
        name, row(group), role, maps.astype(np.float16), np.arange(times), wrong
    )  # fmt: skip


def twins(groups=3):
    found = []
    for number in range(groups):
        name = f"g{number}"
        found += [clip(f"{name}-true", "true", name, seed=number)]
        found += [clip(f"{name}-hurt", "damage", name, wrong_at=6, seed=number)]
        found += [clip(f"{name}-blur", "quality", name, seed=number + 9)]
    return found


def pictures(times=9, seed=0):
    dice = torch.Generator().manual_seed(seed)
    return torch.rand(times, 3, 96, 96, generator=dice)


def test_a_slow_rate_is_no_slow_world():
    net, clip = untrained(TinyNet).eval(), pictures(6)
    with torch.inference_mode():
        once, twice = net(clip[None])[0], net(clip.repeat_interleave(2, 0)[None])[0]
    assert once.shape == (6, WIDTH)
    torch.testing.assert_close(twice[::2], once)
    torch.testing.assert_close(twice[1::2], once)


def test_reversed_time_gives_other_features():
    net, clip = untrained(TinyNet).eval(), pictures(8)
    with torch.inference_mode():
        forward, backward = net(clip[None])[0], net(clip.flip(0)[None])[0]
    assert (forward.sort(0).values - backward.sort(0).values).abs().max() > 1e-3


def test_what_hardly_differs_is_a_repeat():
    clip = pictures(1).repeat(3, 1, 1, 1) * 0.9
    clip[1] += 1 / 255
    clip[2, 0, 5, 5] += 9 / 255
    assert fresh(clip).tolist() == [True, False, True]


def test_learning_finds_what_is_wrong():
    *_, descent = fit_eye(twins(6), replace(QUICK, steps=60, batch=4, rate=1e-2), seed=1)
    assert descent.step == 60
    late = np.mean([row["found"] for row in descent.losses[-5:]])
    early = np.mean([row["found"] for row in descent.losses[:5]])
    assert late < 0.6 * early


def test_a_resumed_training_ends_with_the_weights_of_an_uninterrupted_one(tmp_path):
    clips = twins()
    *_, whole = fit_eye(clips, QUICK, seed=3)
    stopped = next(iter(fit_eye(clips, QUICK, seed=3, every=2)))
    assert stopped.step == 2
    stopped.save(tmp_path)
    *_, resumed = fit_eye(clips, QUICK, seed=3, folder=tmp_path)
    for name, weight in whole.net.state_dict().items():
        assert torch.equal(weight, resumed.net.state_dict()[name]), name


def test_another_recipe_or_other_clips_cannot_be_resumed(tmp_path):
    *_, done = fit_eye(twins(), replace(QUICK, steps=1), seed=3)
    done.save(tmp_path)
    with pytest.raises(ValueError, match="recipe"):
        next(fit_eye(twins(), QUICK, seed=3, folder=tmp_path))
    with pytest.raises(ValueError, match="data"):
        next(fit_eye(twins(4), replace(QUICK, steps=1), seed=3, folder=tmp_path))


def test_lawful_clips_alone_teach_nothing():
    with pytest.raises(ValueError, match="nothing to find"):
        next(fit_eye([clip("a", "true", "g")], QUICK))


@pytest.mark.parametrize("more", [{"held_out": ("kind",)}, {"split": "test"}])
def test_what_is_held_out_is_refused_by_name(more):
    with pytest.raises(ValueError, match="may not be trained on, the first is g-x"):
        refuse_held_out([row(), row(**more)])


@pytest.mark.parametrize("fps", [8.0, 12.0, 16.0, 24.0, 30.0])
def test_any_rate_is_brought_to_the_judges_grid(fps):
    frames = np.zeros((24, 20, 30, 3), np.uint8)
    frames += np.arange(24, dtype=np.uint8)[:, None, None, None] * 10
    shown = on_grid(frames, fps)
    assert shown.shape[1:] == (96, 96, 3)
    assert abs(len(shown) - 24 / fps * GRID) <= 1
    numbers = shown[:, 48, 48, 0] // 10
    expected = np.minimum((np.arange(len(shown)) / GRID * fps + 1e-6).astype(int), 23)
    assert numbers.tolist() == expected.tolist()
