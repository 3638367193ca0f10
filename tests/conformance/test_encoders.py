"""Every encoder, by name: a new file in `encoders/` is tested the day it lands.

Sizes named "toy" are small untrained nets of the same make; what has none is tested as it comes.
"""

import inspect

import numpy as np
import pytest
import torch

from cosmolabe.core import parts
from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import Encoder, EncoderPart

NAMES = parts.names("encoders")
TIMES = 6


def clip_of(frames, shown=None):
    shown = np.arange(len(frames)) if shown is None else np.array(shown)
    return Clip(frames, shown, np.arange(len(shown)) / 16, 16.0, 16.0)


def moving(canvas, times=TIMES, seed=0, height=None, width=None):
    """A bright square that moves over a field of noise."""
    rng = np.random.default_rng(seed)
    height, width = height or canvas, width or canvas
    frames = rng.integers(0, 120, (1, height, width, 3), dtype=np.uint8).repeat(times, 0)
    side = max(2, min(height, width) // 4)
    for time in range(times):
        x = (width - side) * time // max(times - 1, 1)
        frames[time, side : 2 * side, x : x + side] = rng.integers(150, 255, 3)
    return frames


def as_pixels(frames):
    return torch.from_numpy(frames).permute(0, 3, 1, 2)[None].float() / 255


@pytest.fixture(scope="module", params=NAMES)
def part(request):
    return parts.load("encoders", request.param)


def small(part):
    return "toy" if "toy" in part.sizes else ""


@pytest.fixture(scope="module")
def eye(part):
    return part.load(size=small(part), random=True)


def test_an_encoder_offers_its_part(part, eye):
    assert isinstance(part, EncoderPart)
    assert isinstance(eye, Encoder)
    assert part.name in NAMES
    assert part.summary.endswith(".")
    assert part.licence
    assert part.normalisation
    assert part.sees in ("pictures", "motion")
    assert part.width > 0
    assert part.canvas > 0
    assert eye.width > 0
    assert eye.canvas > 0
    assert (eye.canvas, eye.width) == part.shapes.get(small(part), (eye.canvas, eye.width))
    assert set(part.shapes) <= set(part.sizes)
    assert set(part.revisions) <= set(part.sizes)
    if part.shapes:
        assert (part.canvas, part.width) == part.shapes[part.sizes[0]]


def test_its_loader_takes_what_every_loader_takes(part):
    given = inspect.signature(part.load).parameters
    assert next(iter(given)) == "source"
    assert {"size", "random"} <= set(given)


def test_rows_are_finite_numbers_of_its_width(part, eye):
    found = eye.encode(clip_of(moving(eye.canvas)))
    assert found.dtype == np.float32
    assert found.shape[1] == eye.width
    assert np.isfinite(found).all()
    assert found.std() > 0
    if part.sees == "pictures":
        assert len(found) == TIMES
    else:
        assert 1 <= len(found) <= TIMES


@pytest.mark.parametrize("times", [1, 2, 3, 17, 18])
def test_any_number_of_frames_will_do(part, eye, times):
    found = eye.encode(clip_of(moving(eye.canvas, times)))
    assert 1 <= len(found) <= times
    assert np.isfinite(found).all()


def test_the_same_clip_gives_the_same_features_and_a_second_eye_agrees(part, eye):
    clip = clip_of(moving(eye.canvas))
    torch.manual_seed(1234)
    other = part.load(size=small(part), random=True)
    after = torch.rand(1)
    torch.manual_seed(1234)
    assert torch.equal(after, torch.rand(1)), "loading drew from the caller's random numbers"
    np.testing.assert_array_equal(eye.encode(clip), other.encode(clip))
    assert eye.key == other.key


def test_tensors_give_what_clips_give(eye):
    frames = moving(eye.canvas)
    with torch.no_grad():
        found = eye.features(as_pixels(frames))[0]
    np.testing.assert_allclose(found, eye.encode(clip_of(frames)), atol=1e-5)


def test_features_pass_a_gradient_to_the_pixels(eye):
    pixels = as_pixels(moving(eye.canvas)).requires_grad_()
    eye.features(pixels).square().sum().backward()
    assert torch.isfinite(pixels.grad).all()
    assert (pixels.grad.abs().amax((2, 3, 4)) > 0).all(), "some frame has no say"


def test_neither_batch_nor_order_changes_anything(eye):
    clips = torch.cat([as_pixels(moving(eye.canvas, 4, seed)) for seed in range(8)])
    order = torch.tensor([5, 2, 7, 0, 3, 6, 1, 4])
    with torch.no_grad():
        together = eye.features(clips)
        alone = torch.cat([eye.features(clip[None]) for clip in clips])
        shuffled = eye.features(clips[order])
    torch.testing.assert_close(together, alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(shuffled, together[order], atol=1e-6, rtol=0)


def test_a_picture_shown_twice_is_not_seen_as_another(part, eye):
    frames = moving(eye.canvas, 3)
    shown = [0, 0, 1, 1, 2, 2]
    found = eye.encode(clip_of(frames, shown))
    np.testing.assert_array_equal(found, eye.encode(clip_of(frames[shown])))
    if part.sees == "pictures":
        np.testing.assert_array_equal(found[::2], found[1::2])


def test_an_eye_for_motion_sees_the_order_and_an_eye_for_pictures_does_not(part, eye):
    clip = clip_of(moving(eye.canvas))
    back = clip_of(clip.frames[::-1].copy())
    forth, back = (np.sort(eye.encode(c).ravel()) for c in (clip, back))
    if part.sees == "pictures":
        np.testing.assert_allclose(forth, back, atol=1e-6)
    else:
        assert np.abs(forth - back).max() > 1e-4


def test_pictures_of_another_shape_are_letterboxed_and_not_stretched(eye):
    side = eye.canvas
    wide = moving(side, 2, height=side // 2, width=side)
    boxed = np.full((2, side, side, 3), 128, np.uint8)
    top = (side - side // 2) // 2
    boxed[:, top : top + side // 2] = wide
    found, wanted = eye.encode(clip_of(wide)), eye.encode(clip_of(boxed))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_size_that_does_not_exist_is_refused_by_name(part):
    with pytest.raises(ValueError, match="no-such-size"):
        part.load(size="no-such-size", random=True)


def test_weights_that_are_not_there_are_refused_by_place(part, tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        part.load(tmp_path / "nowhere")
    assert "nowhere" in part.find(tmp_path / "nowhere")
