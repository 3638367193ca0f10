"""Clips nobody can play again are hurt mildly: never before the onset, never in the pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.data.clip_damage import KINDS, busiest_patch, hurt_clip

FPS = 16.0
FRAMES, HEIGHT, WIDTH = 40, 32, 48


def moving(seed=0):
    """A bright square that crosses a textured ground, one step a frame."""
    draw = np.random.default_rng(seed)
    frames = np.repeat(draw.integers(40, 90, (1, HEIGHT, WIDTH, 3)), FRAMES, 0).astype(np.uint8)
    for t in range(FRAMES):
        frames[t, 10:18, t : t + 8] = (250, 220, t)
    return frames


sizes = st.floats(0, 1, allow_nan=False)
onsets = st.integers(1, FRAMES - 1)


@given(kind=st.sampled_from(KINDS), size=sizes, onset=onsets, seed=st.integers(0, 99))
def test_nothing_changes_before_the_onset_nor_at_size_zero(kind, size, onset, seed):
    frames = moving()
    kept = frames.copy()
    hurt = hurt_clip(frames, kind, size, onset, FPS, seed)
    assert hurt.shape == frames.shape
    assert hurt.dtype == np.uint8
    assert np.array_equal(hurt[:onset], frames[:onset])
    assert np.array_equal(frames, kept), "the clip itself stays as it was"
    assert np.array_equal(hurt_clip(frames, kind, 0.0, onset, FPS, seed), frames)


@pytest.mark.parametrize("kind", ["frame_freeze", "time_warp", "reversed_time"])
@given(size=sizes, onset=onsets)
def test_damage_of_time_shows_whole_pictures_of_the_clip(kind, size, onset):
    frames = moving()
    known = {picture.tobytes() for picture in frames}
    assert {p.tobytes() for p in hurt_clip(frames, kind, size, onset, FPS, 0)} <= known


@pytest.mark.parametrize("kind", KINDS)
def test_a_larger_damage_is_farther_from_the_truth(kind):
    far = []
    for size in (0.2, 0.6, 1.0):
        apart = [
            np.abs(hurt_clip(moving(s), kind, size, 12, FPS, s).astype(int) - moving(s)).mean()
            for s in range(6)
        ]
        far.append(np.mean(apart))
    assert 0 < far[0] < far[1] < far[2]


def test_a_seed_hurts_alike_and_another_elsewhere():
    frames = np.concatenate([moving(), moving()[:, :, ::-1]], axis=2)
    one, again, other = (
        hurt_clip(frames, "patch_teleport", 1.0, 12, FPS, seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_busiest_patch_holds_what_moves():
    top, left, side = busiest_patch(moving(), 12, FPS, 0)
    assert top <= 18
    assert top + side > 10
    assert left <= 28
    assert left + side > 11


def test_a_frozen_picture_is_where_it_would_have_been_afterwards():
    frames = moving()
    hurt = hurt_clip(frames, "frame_freeze", 1.0, 12, FPS, 0)
    still = round(0.6 * FPS)
    assert (hurt[12 : 12 + still] == frames[11]).all()
    assert np.array_equal(hurt[12 + still :], frames[12 + still :])


@pytest.mark.parametrize(
    ("kind", "size", "onset", "fps", "told"),
    [
        ("rust", 0.5, 3, FPS, "no damage 'rust'"),
        ("time_warp", 1.5, 3, FPS, r"in \[0, 1\]"),
        ("time_warp", 0.5, 0, FPS, "from 1 to 39"),
        ("time_warp", 0.5, 40, FPS, "from 1 to 39"),
        ("time_warp", 0.5, 3, 0.0, "frames per second"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(kind, size, onset, fps, told):
    with pytest.raises(ValueError, match=told):
        hurt_clip(moving(), kind, size, onset, fps, 0)
