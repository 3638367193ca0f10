"""Mild damage of clips nobody can play again: real footage, somebody's generations.

Only pictures are known, so only time and places in the picture can go wrong. Each kind leaves
every frame before the onset as it is, size 0 changes nothing, and no picture is made worse: what is
shown was all in the clip, at another time or in another place.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.core.seeds import generator

LONGEST = 0.6  # seconds: how long time stands, runs backwards or a patch stands still at size 1
WARPED = 0.8  # seconds that a local warp of time lasts
FASTEST = 3.0  # times the true pace in the first half of a warp, at size 1
PATCH = 0.35  # of the shorter side: side of a patch
FARTHEST = 0.35  # of the shorter side: how far a patch is moved at size 1
MOVED = 0.5  # seconds that a moved patch stays moved
FEATHER = 0.15  # of a patch: how softly its edge is laid over the picture
PLACES = 64  # where a patch might be cut, the place with most motion is taken
Frames = UInt8[np.ndarray, "time height width 3"]


def hurt_clip(frames: Frames, kind: str, size: float, onset: int, fps: float, seed: int) -> Frames:
    """The clip with one thing wrong from frame `onset` on; `size` is in [0, 1]."""
    if kind not in KINDS:
        raise ValueError(f"no damage '{kind}' of a clip; have {list(KINDS)}")
    if not 0 <= size <= 1:
        raise ValueError(f"the size of a damage is in [0, 1]; got {size}")
    if not 1 <= onset < len(frames):
        raise ValueError(f"a damage begins at a frame from 1 to {len(frames) - 1}; got {onset}")
    if not fps > 0:
        raise ValueError(f"a clip has a positive number of frames per second; got {fps}")
    return _HOW[kind](frames, size, onset, fps, seed)


def _frame_freeze(frames: Frames, size: float, onset: int, fps: float, seed: int) -> Frames:
    """The picture stands still, then is where it would have been."""
    source = np.arange(len(frames))
    source[onset : onset + round(LONGEST * fps * size)] = onset - 1
    return frames[source]


def _time_warp(frames: Frames, size: float, onset: int, fps: float, seed: int) -> Frames:
    """Time runs fast, then slowly enough to be back in step."""
    source = np.arange(len(frames))
    length = min(round(WARPED * fps), len(frames) - onset)
    ahead = np.minimum(np.arange(length), length - np.arange(length)) * (FASTEST - 1) * size / 2
    source[onset : onset + length] = np.round(source[onset : onset + length] + ahead)
    return frames[np.minimum(source, len(frames) - 1)]


def _reversed_time(frames: Frames, size: float, onset: int, fps: float, seed: int) -> Frames:
    """The past once more, backwards; then the clip is where it would have been."""
    source = np.arange(len(frames))
    back = min(round(LONGEST * fps * size), onset - 1, len(frames) - onset)
    if back > 0:
        source[onset : onset + back] = onset - 2 - np.arange(back)
    return frames[source]


def _patch_freeze(frames: Frames, size: float, onset: int, fps: float, seed: int) -> Frames:
    """Where most moves, a patch stands still while the rest goes on."""
    out, (top, left, side) = frames.copy(), busiest_patch(frames, onset, fps, seed)
    rows, columns = slice(top, top + side), slice(left, left + side)
    part = slice(onset, onset + round(LONGEST * fps * size))
    still = frames[onset - 1 : onset, rows, columns]
    out[part, rows, columns] = _laid_over(out[part, rows, columns], still, _feather(side))
    return out


def _patch_teleport(frames: Frames, size: float, onset: int, fps: float, seed: int) -> Frames:
    """What moves most is seen some way off, and where it was what stood there off it."""
    out, (top, left, side) = frames.copy(), busiest_patch(frames, onset, fps, seed)
    height, width = frames.shape[1:3]
    angle = 2 * np.pi * generator("patch moves", seed).random()
    far = size * FARTHEST * min(height, width)
    down, right = round(far * np.sin(angle)), round(far * np.cos(angle))
    if not 0 <= top + down <= height - side:
        down = -down
    if not 0 <= left + right <= width - side:
        right = -right
    there = np.clip(top + down, 0, height - side), np.clip(left + right, 0, width - side)
    if there == (top, left):
        return out
    part, soft = slice(onset, onset + max(round(MOVED * fps), 1)), _feather(side)
    one, other = ((part, slice(y, y + side), slice(x, x + side)) for y, x in ((top, left), there))
    was_here, was_there = frames[one], frames[other]
    out[one] = _laid_over(out[one], was_there, soft)
    out[other] = _laid_over(out[other], was_here, soft)
    return out


def busiest_patch(frames: Frames, onset: int, fps: float, seed: int) -> tuple[int, int, int]:
    """(top, left, side) in pixels: of some places drawn by the seed, the one with most motion."""
    height, width = frames.shape[1:3]
    side = max(2, min(round(PATCH * min(height, width)), height, width))
    draw = generator("patch", seed)
    tops = draw.integers(0, height - side + 1, PLACES)
    lefts = draw.integers(0, width - side + 1, PLACES)
    around = frames[max(onset - 1, 0) : onset + max(round(MOVED * fps), 1)].astype(np.int16)
    moves = np.abs(np.diff(around, axis=0)).sum((0, 3)) if len(around) > 1 else around[0].sum(-1)
    sums = np.zeros((height + 1, width + 1))
    sums[1:, 1:] = moves.cumsum(0).cumsum(1)
    found = (
        sums[tops + side, lefts + side] - sums[tops, lefts + side]
        - sums[tops + side, lefts] + sums[tops, lefts]
    )  # fmt: skip
    best = int(np.argmax(found))
    return int(tops[best]), int(lefts[best]), side


def _feather(side: int) -> Float[np.ndarray, "side side 1"]:
    """1 inside, falling to 0 at the edge."""
    ramp = np.minimum(np.arange(side), np.arange(side)[::-1]) + 0.5
    line = np.clip(ramp / max(FEATHER * side, 1.0), 0, 1)
    return (line[:, None] * line[None, :])[..., None]


def _laid_over(below: np.ndarray, above: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mixed = below + weight * (above.astype(np.float64) - below)
    return np.round(mixed).astype(np.uint8)


_HOW: dict[str, Callable[[Frames, float, int, float, int], Frames]] = {
    "frame_freeze": _frame_freeze,
    "time_warp": _time_warp,
    "reversed_time": _reversed_time,
    "patch_freeze": _patch_freeze,
    "patch_teleport": _patch_teleport,
}
KINDS = tuple(_HOW)
"""Kinds of damage of a clip."""
