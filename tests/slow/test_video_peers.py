"""`phyprobe-1` beside the released package's own reader (decord); both read the same files."""

import numpy as np
import pytest
from barcodes import barcode, film, numbers_on

from cosmolabe.data.video import CANVASES, SAMPLINGS, Canvas, open_clips

pytest.importorskip("decord")
preprocess = pytest.importorskip("phyprobe._preprocess")

LEVELS = 1
"""Of 255, for the few values that a different order of sums puts on the other side of a cut."""


def released(path, **keywords):
    """Frames of the released package, (time, height, width, 3) in 0..255."""
    frames = preprocess.load_video(str(path), **keywords)[0] * 255
    return frames.permute(1, 2, 3, 0).round().byte().numpy()


@pytest.mark.parametrize(
    ("count", "fps", "size"),
    [
        (200, 24, (320, 180)),
        (150, 30, (180, 320)),
        (49, 8, (720, 480)),
        (14, 16, (256, 256)),
        (48, 16, (480, 480)),
        (1, 10, (64, 48)),
        (90, 29.97, (331, 201)),
    ],
)
def test_our_released_protocol_shows_what_the_released_package_shows(tmp_path, count, fps, size):
    waves = np.linspace(0, 250, size[0])[None, :, None] + np.linspace(0, 40, size[1])[:, None, None]
    pictures = [((waves + 3 * n) % 256 * [1, 0.7, 0.4]).astype(np.uint8) for n in range(count)]
    path = film(tmp_path / "a.mp4", pictures=pictures, fps=fps, pix="yuv444p")
    for sampling, seconds in (("phyprobe-1", None), ("phyprobe-1-start", 3.0)):
        (clip,) = open_clips(path, SAMPLINGS[sampling], CANVASES["phyprobe-1"])
        theirs = released(path, clip_sec=seconds)
        assert clip.played.shape == theirs.shape == (48, 480, 480, 3)
        difference = np.abs(clip.played.astype(int) - theirs)
        assert difference.mean() <= 0.05
        assert difference.max() <= LEVELS


@pytest.mark.parametrize(("count", "fps"), [(250, 25), (37, 12), (60, 60), (5, 4), (199, 23.976)])
def test_our_released_protocol_shows_the_same_frame_numbers(tmp_path, count, fps):
    path = film(tmp_path / "a.mp4", pictures=[barcode(n) for n in range(count)], fps=fps)
    (clip,) = open_clips(path, SAMPLINGS["phyprobe-1"], Canvas(160, resize="released"))
    theirs = released(path, height=160, width=160)
    assert numbers_on(clip) == [int(n) for n in numbers_on(_Played(theirs))]


class _Played:
    def __init__(self, played):
        self.played = played
