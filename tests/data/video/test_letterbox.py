"""How a picture is fitted into the square."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.data.video import Canvas
from cosmolabe.data.video.letterbox import bilinear, fitted
from cosmolabe.data.video.letterbox import letterbox as letterboxed

sides = st.integers(1, 90)


def letterbox(picture, canvas, sar=1.0):
    square = np.full((canvas.size, canvas.size, 3), 77, np.uint8)
    letterboxed(picture, canvas, square, sar)
    return square


def torch_bilinear(picture, height, width):
    planes = torch.from_numpy(picture[None]).permute(0, 3, 1, 2).float()
    small = torch.nn.functional.interpolate(
        planes, size=(height, width), mode="bilinear", align_corners=False, antialias=False
    )
    return small[0].permute(1, 2, 0).numpy()


@given(sides, sides, sides, sides, st.integers(0, 9))
def test_bilinear_is_torchs_to_a_millionth_of_the_range(height, width, tall, wide, seed):
    picture = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    difference = bilinear(picture, tall, wide) - torch_bilinear(picture, tall, wide)
    assert np.abs(difference).max() / 255 < 1e-6


def test_bilinear_is_torchs_on_a_real_size_too():
    picture = np.random.default_rng(0).integers(0, 256, (720, 1280, 3), dtype=np.uint8)
    ours, theirs = bilinear(picture, 270, 480), torch_bilinear(picture, 270, 480)
    assert np.abs(ours - theirs).max() / 255 < 1e-6
    # Cut to whole numbers, as the released package does, hardly a pixel is another one.
    assert (ours.astype(np.uint8) != theirs.astype(np.uint8)).mean() < 1e-4


def test_halves_go_to_the_even_number():
    assert fitted(160, 5, 80) == (80, 2)  # 2.5
    assert fitted(160, 7, 80) == (80, 4)  # 3.5


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 600))
def test_the_longer_side_fills_the_square_and_the_other_keeps_the_shape(width, height, side):
    wide, tall = fitted(width, height, side)
    assert max(wide, tall) == side
    assert abs(min(wide, tall) - side * min(width, height) / max(width, height)) <= 1


def test_the_bars_are_grey_and_the_odd_line_stands_below():
    picture = np.full((3, 8, 3), 200, np.uint8)
    for resize in ("smooth", "released"):
        square = letterbox(picture, Canvas(8, fill=128, resize=resize))
        assert (square[:2] == 128).all()
        assert (square[2:5] == 200).all()
        assert (square[5:] == 128).all()


def test_pixels_that_are_twice_as_wide_as_high_are_shown_so():
    square = letterbox(np.full((40, 40, 3), 255, np.uint8), Canvas(40, fill=0), sar=2.0)
    assert (square[10:30] == 255).all()
    assert (square[:10] == 0).all()


def test_the_released_rule_knows_no_wide_pixels_and_cuts_instead_of_rounding():
    canvas = Canvas(2, resize="released")
    picture = np.array([[[0] * 3, [3] * 3, [3] * 3, [0] * 3]] * 4, np.uint8)
    assert letterbox(picture, canvas, sar=2.0).tolist() == [[[1] * 3] * 2] * 2  # 1.5 -> 1


def test_a_smooth_reduction_sees_every_pixel():
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[::2] = 255
    small = letterbox(picture, Canvas(8))
    assert np.abs(small[1:-1].astype(int) - 128).max() <= 4
    assert letterbox(picture, Canvas(8, resize="released")).std() == 0  # sees two lines of eight
