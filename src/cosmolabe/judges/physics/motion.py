"""How much a video moves, so that standing still cannot pass for obeying physics."""

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core.clip import Clip

BLOCK = 4  # pixels averaged along either side: what flickers pixel by pixel is noise


def changes(
    clip: Clip,
    ignored: float,
    fill: int,
    before: UInt8[np.ndarray, "height width 3"] | None = None,
) -> Float[np.ndarray, " time"]:
    """Mean change of the picture at each grid time from the one before, 0..1.

    Changes of up to `ignored` levels (of 255) count for nothing, nor do the bars of grey `fill`
    around the picture. The first time is held against `before`, the last picture of the window
    before this one; without it its change is 0.
    """
    frames = clip.frames if before is None else np.concatenate([before[None], clip.frames])
    shown = clip.shown if before is None else clip.shown + 1
    rows, columns = picture_area(frames, fill)
    small = blocks(frames[:, rows, columns])
    last = np.concatenate([[shown[0] if before is None else 0], shown[:-1]])
    gaps: dict[tuple[int, int], float] = {}
    found = np.zeros(len(shown))
    for time, pair in enumerate(zip(last.tolist(), shown.tolist(), strict=True)):
        if pair[0] == pair[1]:
            continue
        if pair not in gaps:
            gap = np.abs(small[pair[1]] - small[pair[0]])
            gaps[pair] = float(np.where(gap > ignored, gap, 0.0).mean()) / 255.0
        found[time] = gaps[pair]
    return found


def picture_area(
    frames: UInt8[np.ndarray, "picture height width 3"], fill: int
) -> tuple[slice, slice]:
    """Rows and columns without the bars; all of them where the picture itself is that grey."""
    lowest, highest = frames.min((0, 3)), frames.max((0, 3))
    inside = (lowest != fill) | (highest != fill)
    if not inside.any():
        return slice(None), slice(None)
    rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def blocks(
    frames: UInt8[np.ndarray, "picture height width 3"],
) -> Float[np.ndarray, "picture rows columns 3"]:
    """Means of 4 x 4 pixels; a rest at the right and below is left out, a tiny picture is kept."""
    height, width = (side - side % BLOCK for side in frames.shape[1:3])
    if not height or not width:
        return frames.astype(np.float32)
    cut = frames[:, :height, :width].reshape(
        len(frames), height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3
    )
    return cut.mean((2, 4), dtype=np.float32)
