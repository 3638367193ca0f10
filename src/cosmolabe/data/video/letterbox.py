"""A picture fitted into a square, its shape kept."""

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from cosmolabe.data.video.protocols import Canvas


def fitted(width: float | int, height: float | int, side: int) -> tuple[int, int]:
    """Width and height of the picture inside the square; halves go to the even number."""
    scale = min(side / max(width, 1), side / max(height, 1))
    return (
        min(max(1, round(width * scale)), side),
        min(max(1, round(height * scale)), side),
    )


def inside(
    square: UInt8[np.ndarray, "side side 3"], height: int, width: int, fill: int
) -> UInt8[np.ndarray, "height width 3"]:
    """The middle of the square, to be written to; the bars around it are filled.

    An odd rest goes right and below.
    """
    side = len(square)
    top, left = (side - height) // 2, (side - width) // 2
    square[:top], square[top + height :] = fill, fill
    square[:, :left], square[:, left + width :] = fill, fill
    return square[top : top + height, left : left + width]


def letterbox(
    picture: UInt8[np.ndarray, "height width 3"],
    canvas: Canvas,
    square: UInt8[np.ndarray, "side side 3"],
    sar: float = 1.0,
) -> None:
    """Write an upright RGB picture on the square; `sar` is how wide a pixel is for its height."""
    height, width = picture.shape[:2]
    if canvas.resize == "released":
        size = fitted(width, height, canvas.size)
        if size != (width, height):
            # The released package cuts to whole numbers here; it does not round.
            picture = bilinear(picture, size[1], size[0]).clip(0, 255).astype(np.uint8)
        inside(square, *picture.shape[:2], canvas.fill)[...] = picture
        return
    size = fitted(width * sar, height, canvas.size)
    if size != (width, height):
        picture = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BILINEAR))
    inside(square, *picture.shape[:2], canvas.fill)[...] = picture


def bilinear(
    picture: UInt8[np.ndarray, "height width channel"], height: int, width: int
) -> Float[np.ndarray, "new_height new_width channel"]:
    """Between the four nearest pixels, whatever the reduction; float32, not rounded.

    Equal to torch's interpolate(mode="bilinear", align_corners=False, antialias=False) to 1e-6 of
    the range; places are computed as torch computes them, in 32 bits with one rounding.
    """
    above, below, down = _neighbours(picture.shape[0], height)
    left, right, across = _neighbours(picture.shape[1], width)
    down, across = down[:, None, None], across[None, :, None]
    rows = picture[above] * (1 - down)
    rows += picture[below] * down
    wide = rows[:, left] * (1 - across)
    wide += rows[:, right] * across
    return wide


def _neighbours(old: int, new: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each new place: the old ones before and after it, and how far it is towards the latter."""
    step = np.float64(np.float32(old) / np.float32(new))
    place = ((np.arange(new) + 0.5) * step - 0.5).astype(np.float32)
    place = np.maximum(place, np.float32(0))
    before = np.minimum(place.astype(np.int64), old - 1)
    share = np.clip(place - before.astype(np.float32), 0, 1).astype(np.float32)
    return before, np.minimum(before + 1, old - 1), share
