import pytest
from moving_squares import glance, random_heads, square

from cosmolabe.data.video import write_video
from cosmolabe.judges.physics import Bundle, Physics


@pytest.fixture(scope="session")
def eye():
    return glance()


@pytest.fixture(scope="session")
def physics(eye):
    return Physics.of(eye, Bundle("random", random_heads(eye), "glance"))


@pytest.fixture(scope="session")
def clips(tmp_path_factory):
    """Six mp4 of different length, 16 frames a second."""
    folder = tmp_path_factory.mktemp("clips")
    for number, length in enumerate((16, 20, 48, 49, 70, 120)):
        write_video(folder / f"{number}.mp4", iter([square(length, seed=number)]), 16.0)
    return folder
