"""Frames as one picture in the page: a grid of all frames, packed and base64."""

import base64
import io
import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from cosmolabe.report.folder import Clip

TALLEST = 224  # pixels; larger frames are shrunk by whole factors
LARGEST_SIDE = 16383  # pixels a WebP picture may have
MOST_FRAMES = 240
LOSSLESS_UP_TO = 1_500_000  # bytes; above that the strip is packed with losses


@dataclass(frozen=True)
class Strip:
    """A clip ready for the page."""

    name: str
    caption: str
    true: str
    """Data URL of a grid of frames, row by row."""
    imagined: str
    frames: int
    columns: int
    width: int
    height: int
    fps: float
    context: int
    """Frames at the start in which both rows are the same: what the model was shown."""
    left_out: int
    """Frames cut off the end to keep the page small."""


def strips_of(clips: list[Clip]) -> list[Strip]:
    """All clips of a run. They share one context; a model may be right for a while after it."""
    strips = [strip_of(clip) for clip in clips]
    context = min((strip.context for strip in strips), default=0)
    return [replace(strip, context=context) for strip in strips]


def strip_of(clip: Clip) -> Strip:
    """Pack both rows of a clip."""
    shrink = max(1, math.ceil(clip.true.shape[1] / TALLEST))
    true, imagined = (
        frames[:MOST_FRAMES, ::shrink, ::shrink] for frames in (clip.true, clip.imagined)
    )
    frames, height, width = true.shape[:3]
    columns = max(1, min(math.ceil(math.sqrt(frames)), LARGEST_SIDE // width))
    same = (true == imagined).all(axis=(1, 2, 3))
    return Strip(
        name=clip.name,
        caption=clip.caption,
        true=data_url(grid_of(true, columns)),
        imagined=data_url(grid_of(imagined, columns)),
        frames=frames,
        columns=columns,
        width=width,
        height=height,
        fps=clip.fps,
        context=frames if same.all() else int(np.argmin(same)),
        left_out=len(clip.true) - frames,
    )


def grid_of(
    frames: UInt8[np.ndarray, "time height width 3"], columns: int
) -> UInt8[np.ndarray, "tall wide 3"]:
    """All frames in one picture, row by row."""
    count, height, width = frames.shape[:3]
    rows = math.ceil(count / columns)
    padded = np.zeros((rows * columns, height, width, 3), np.uint8)
    padded[:count] = frames
    grid = padded.reshape(rows, columns, height, width, 3).transpose(0, 2, 1, 3, 4)
    return grid.reshape(rows * height, columns * width, 3)


def data_url(picture: np.ndarray) -> str:
    """A picture as the page holds it."""
    image = Image.fromarray(picture)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", lossless=True, quality=60, method=3)
    if buffer.tell() > LOSSLESS_UP_TO:
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=88, method=4)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
