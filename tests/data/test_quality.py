"""Changes of quality are seen in every picture and change nothing of when what happens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.data.coding import coded, decoded
from cosmolabe.data.quality import CHANGES_TIME, QUALITY, changed

FRAMES, SIZE = 12, 48


def moving():
    draw = np.random.default_rng(1)
    ground = draw.integers(60, 120, (SIZE // 8, SIZE // 8, 3)).repeat(8, 0).repeat(8, 1)
    frames = np.repeat(ground[None], FRAMES, 0).astype(np.uint8)
    for t in range(FRAMES):
        frames[t, 20:30, 3 * t : 3 * t + 10] = (240, 200, 40)
    return frames


def centres(frames):
    """Where the bright square is in each picture, (time, 2)."""
    grey = frames.astype(float)[..., 0]
    grey -= np.median(grey, 0)
    bright = np.clip(grey - 30, 0, None) + 1e-9
    rows, columns = np.mgrid[: frames.shape[1], : frames.shape[2]]
    total = bright.sum((1, 2))
    return np.stack([(bright * axis).sum((1, 2)) / total for axis in (rows, columns)], -1)


every_kind = pytest.mark.parametrize("kind", QUALITY)


@every_kind
@given(amount=st.floats(0, 1), seed=st.integers(0, 99))
def test_a_changed_clip_has_the_shape_of_the_clip(kind, amount, seed):
    frames = moving()
    kept = frames.copy()
    other = changed(frames, kind, amount, seed)
    assert other.shape == frames.shape
    assert other.dtype == np.uint8
    assert np.array_equal(frames, kept)
    assert np.array_equal(other, changed(frames, kind, amount, seed)), "a seed changes alike"


@every_kind
def test_more_is_farther_from_the_clip(kind):
    frames = moving()
    far = [
        np.abs(changed(frames, kind, amount).astype(int) - frames).mean()
        for amount in (0.0, 0.5, 1.0)
    ]
    assert far[0] < far[1] < far[2]
    assert far[0] < 4, "amount 0 changes nothing but what a codec loses"


@every_kind
def test_all_but_the_rate_leave_what_happens_when_untouched(kind):
    frames = moving()
    other = changed(frames, kind, 1.0, 5)
    if kind in CHANGES_TIME:
        assert len({picture.tobytes() for picture in other}) < FRAMES
        return
    for t in range(FRAMES):
        alone = changed(frames[t : t + 1], kind, 1.0, 5) if kind != "noise" else other[t : t + 1]
        assert np.array_equal(alone[0], other[t]), "each picture is changed by itself"
    assert len({picture.tobytes() for picture in other}) == FRAMES
    moved = np.diff(centres(other)[2:9, 1])
    assert (moved > 0.5).all(), "the square still moves on in every picture"


def test_a_lower_rate_shows_the_first_of_the_pictures_it_merges():
    frames = moving()
    other = changed(frames, "rate", 1 / 3)
    assert np.array_equal(other[0::2], frames[0::2])
    assert np.array_equal(other[1::2], frames[0::2])


def test_a_letterbox_keeps_the_shape_and_adds_black():
    other = changed(moving(), "letterbox", 1.0)
    bars = (other == 0).all((0, 2, 3))
    assert bars[:7].all()
    assert bars[-7:].all()
    assert not bars[8:-8].any()


def test_odd_sides_are_compressed_too():
    frames = moving()[:, :47, :45]
    assert changed(frames, "compression", 0.8).shape == frames.shape


@given(seed=st.integers(0, 50), cut=st.integers(1, FRAMES - 1))
def test_what_two_clips_share_is_coded_alike(seed, cut):
    one = moving()
    other = one.copy()
    draw = np.random.default_rng(seed)
    other[cut:] = draw.integers(0, 256, other[cut:].shape, np.uint8)
    a, b = (decoded(coded(frames, 16.0)) for frames in (one, other))
    assert np.array_equal(a[:cut], b[:cut])
    assert np.abs(a.astype(int) - one).mean() < 4


@pytest.mark.parametrize(
    ("kind", "amount", "told"),
    [("rust", 0.5, "no change of quality 'rust'"), ("blur", -0.1, r"in \[0, 1\]")],
)
def test_an_unknown_change_is_refused(kind, amount, told):
    with pytest.raises(ValueError, match=told):
        changed(moving(), kind, amount)


def test_a_codec_says_what_it_takes():
    with pytest.raises(ValueError, match="even sides"):
        coded(moving()[:, :47], 16.0)
    with pytest.raises(ValueError, match="from 1 to 51"):
        coded(moving(), 16.0, 60)
