"""Picture measures against their definitions, pixel by pixel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.metrics.motion_amount import motion_amount
from cosmolabe.metrics.psnr import psnr
from cosmolabe.metrics.ssim import LUMA, WINDOW, ssim


def pictures(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


@given(seed=st.integers(0, 99))
def test_psnr_equals_its_definition(seed):
    true, imagined = pictures(seed, 2, 6, 7, 3), pictures(seed + 100, 2, 6, 7, 3)
    for got, a, b in zip(psnr(true, imagined), true, imagined, strict=True):
        error = np.mean((a.astype(float) - b.astype(float)) ** 2)
        assert got == pytest.approx(10 * np.log10(255**2 / error))


def test_equal_pictures_reach_the_top_of_both_measures():
    picture = pictures(0, 1, 16, 16, 3)
    assert psnr(picture, picture)[0] == 100.0
    assert ssim(picture, picture)[0] == pytest.approx(1.0)


def test_opposite_pictures_have_no_signal():
    black = np.zeros((1, 16, 16, 3), np.uint8)
    assert psnr(black, np.full_like(black, 255))[0] == pytest.approx(0.0)


@given(seed=st.integers(0, 20))
def test_ssim_equals_its_definition_window_by_window(seed):
    true, imagined = pictures(seed, 13, 14, 3), pictures(seed + 50, 13, 14, 3)
    x, y = true @ np.array(LUMA), imagined @ np.array(LUMA)
    weights, values = np.outer(WINDOW, WINDOW), []
    for row in range(13 - 10):
        for column in range(14 - 10):
            a, b = x[row : row + 11, column : column + 11], y[row : row + 11, column : column + 11]
            ma, mb = (weights * a).sum(), (weights * b).sum()
            va, vb = (weights * (a - ma) ** 2).sum(), (weights * (b - mb) ** 2).sum()
            vab = (weights * (a - ma) * (b - mb)).sum()
            c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
            values.append(
                (2 * ma * mb + c1) * (2 * vab + c2) / ((ma**2 + mb**2 + c1) * (va + vb + c2))
            )
    assert ssim(true[None], imagined[None])[0] == pytest.approx(np.mean(values), abs=1e-9)


def test_ssim_refuses_pictures_smaller_than_its_window():
    with pytest.raises(ValueError, match="11 x 11"):
        ssim(np.zeros((1, 8, 8, 3), np.uint8), np.zeros((1, 8, 8, 3), np.uint8))


def test_a_frozen_clip_does_not_move_and_a_flashing_one_moves_fully():
    frozen = np.zeros((2, 5, 4, 4, 3), np.uint8)
    assert np.all(motion_amount(frozen) == 0)
    flashing = frozen.copy()
    flashing[:, 1::2] = 255
    assert np.all(motion_amount(flashing) == 1)
    assert np.isnan(motion_amount(frozen[:, :1])).all()
