import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.engine import canvas

WHITE = np.array([255, 255, 255], np.uint8)
places = st.floats(-20, 60)


def blank(side: int = 40) -> np.ndarray:
    return np.zeros((side, side, 3), np.uint8)


def area(frame: np.ndarray) -> float:
    return frame[..., 0].sum() / 255


@given(st.floats(8, 32), st.floats(8, 32), st.floats(0.2, 8), st.floats(0.2, 8))
def test_a_box_covers_its_exact_area_wherever_it_lies(x, y, half_width, half_height):
    frame = blank()
    canvas.box(frame, x, y, half_width, half_height, WHITE)
    edge_pixels = 4 * (half_width + half_height) + 8
    assert abs(area(frame) - 4 * half_width * half_height) < 0.003 * edge_pixels + 0.02


@given(st.floats(12, 28), st.floats(12, 28), st.floats(1.5, 9))
def test_a_disc_covers_about_its_area(x, y, radius):
    frame = blank()
    canvas.disc(frame, x, y, radius, WHITE)
    assert abs(area(frame) - np.pi * radius**2) < 0.03 * np.pi * radius**2 + 0.5


@given(st.floats(12, 28), st.floats(12, 28), st.floats(0, 1))
def test_sub_pixel_motion_moves_the_centre_of_mass(x, y, shift):
    def centre(at: float) -> float:
        frame = blank()
        canvas.disc(frame, at, y, 4.0, WHITE)
        mass = frame[..., 0].astype(float)
        return (mass * (np.arange(40) + 0.5)).sum() / mass.sum()

    assert abs((centre(x + shift) - centre(x)) - shift) < 0.05


@given(places, places, places, places, st.floats(-5, 30), st.floats(0, 1))
def test_nothing_is_ever_painted_outside_the_picture(ax, ay, bx, by, size, turn):
    guarded = np.zeros((120, 40, 3), np.uint8)  # forty rows of guard above and below
    inner = guarded[40:80]
    art = np.full((12, 12, 4), 255, np.uint8)
    canvas.box(inner, ax, ay, size, size, WHITE)
    canvas.disc(inner, ax, ay, size, WHITE)
    canvas.ring(inner, ax, ay, size, 2.0, WHITE)
    canvas.line(inner, ax, ay, bx, by, max(size, 0.5), WHITE)
    canvas.triangle(inner, ax, ay, bx, by, ay, bx, WHITE)
    canvas.sprite(inner, art, ax, ay, 3.0, 5.0, turn, np.sqrt(1 - turn * turn), True)
    canvas.number(inner, ax, ay, 1.5, 407, WHITE)
    assert not guarded[:40].any()
    assert not guarded[80:].any()


def test_a_sprite_at_its_own_size_keeps_its_pixels():
    art = np.zeros((12, 12, 4), np.uint8)
    art[..., 3] = 255
    art[3, 5] = (10, 200, 30, 255)
    frame = blank()
    canvas.sprite(frame, art, 20.0, 20.0, 6.0, 6.0, 0.0, 1.0, False)
    assert frame[14 + 3, 14 + 5].tolist() == [10, 200, 30]
    canvas.sprite(frame, art, 20.0, 20.0, 6.0, 6.0, 0.0, 1.0, True)
    assert frame[14 + 3, 14 + 6].tolist() == [10, 200, 30]


def test_a_quarter_turn_points_an_upright_sprite_to_the_right():
    art = np.zeros((12, 12, 4), np.uint8)
    art[0:2, 5:7] = (255, 255, 255, 255)  # a nose at the top
    frame = blank()
    canvas.sprite(frame, art, 20.0, 20.0, 6.0, 6.0, 1.0, 0.0, False)
    assert frame[20, 25, 0] > 200
    assert frame[15, 20, 0] == 0


def test_digits_read_as_drawn():
    frame = blank()
    canvas.number(frame, 12.0, 0.0, 1.0, 17, WHITE)
    lit = (frame[:5, 5:12, 0] > 127).astype(int)
    one, seven = lit[:, 0:3], lit[:, 4:7]
    assert one.tolist() == [[0, 1, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0], [1, 1, 1]]
    assert seven[0].tolist() == [1, 1, 1]
    assert seven[:, 0].sum() == 1


@pytest.mark.parametrize("pattern", canvas.PATTERNS)
def test_every_pattern_is_the_same_for_the_same_seed(pattern):
    def make(seed: int) -> np.ndarray:
        return canvas.background(pattern, (0, 0, 0), (200, 100, 50), (56, 56), seed)

    assert np.array_equal(make(3), make(3))
    assert make(3).shape == (56, 56, 3)


def test_an_unknown_pattern_is_refused():
    with pytest.raises(ValueError, match="no background pattern 'plaid'"):
        canvas.background("plaid", (0, 0, 0), (0, 0, 0), (8, 8), 0)
