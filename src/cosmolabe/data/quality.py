"""Changes of quality that leave physics alone: what a judge of physics must not answer to.

Each takes a clip, an amount in [0, 1] and a seed, and gives a clip of the same shape. Amount 0
changes nothing, except that a codec always loses a little. `rate` alone shows other moments than
the clip did (it repeats pictures, as a video of a lower rate does); all others change each picture
by itself, so what happens when is untouched.
"""

import io
from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import UInt8
from PIL import Image
from scipy import ndimage

from cosmolabe.core.seeds import generator
from cosmolabe.data.coding import coded, decoded

BLURRED = 0.02  # of the shorter side: standard deviation of the blur at amount 1
NOISY = 24.0  # of 255: standard deviation of the noise at amount 1
COARSEST = 44  # x264's quantiser at amount 1
WORST_JPEG = 6  # Pillow's quality at amount 1; 95 at 0
SMALLEST = 0.3  # of the sides: to what a picture shrinks before it is enlarged again
SLOWEST = 4  # pictures that become one, at amount 1
BARS = 0.3  # of the height: both bars together, at amount 1
TINT = 0.35  # how far the channels go apart, at amount 1
DIMMED = 0.5  # of the brightness: gained or lost, at amount 1
MIDDLE = 128.0
CODING_FPS = 25.0  # what the file says; every picture is coded by itself
Frames = UInt8[np.ndarray, "time height width 3"]


def blur(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Gaussian, alike in every picture."""
    width = BLURRED * amount * min(frames.shape[1:3])
    if width == 0:
        return frames.copy()
    return _as_bytes(ndimage.gaussian_filter(frames.astype(np.float32), (0, width, width, 0)))


def noise(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Gaussian, new in every picture, the same in the three channels."""
    draw = generator("quality noise", seed).normal(size=(*frames.shape[:3], 1))
    return _as_bytes(frames + NOISY * amount * draw)


def compression(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """h264, every picture by itself; a side of odd length keeps its last row as it was."""
    even = frames[:, : frames.shape[1] // 2 * 2, : frames.shape[2] // 2 * 2]
    out, quantiser = frames.copy(), max(1, round(COARSEST * amount))
    out[:, : even.shape[1], : even.shape[2]] = decoded(coded(even, CODING_FPS, quantiser))
    return out


def jpeg(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Each picture through JPEG."""
    quality = round(95 + (WORST_JPEG - 95) * amount)
    out = np.empty_like(frames)
    for index, picture in enumerate(frames):
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "JPEG", quality=quality)
        out[index] = np.asarray(Image.open(file))
    return out


def resolution(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Made smaller, then as large as before."""
    height, width = frames.shape[1:3]
    share = 1 + (SMALLEST - 1) * amount
    small = max(1, round(width * share)), max(1, round(height * share))
    out = np.empty_like(frames)
    for index, picture in enumerate(frames):
        less = Image.fromarray(picture).resize(small, Image.Resampling.BOX)
        out[index] = np.asarray(less.resize((width, height), Image.Resampling.BILINEAR))
    return out


def colour(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """The channels stronger and weaker, the same in every picture."""
    draw = generator("quality colour", seed).permutation([-1.0, 0.0, 1.0])
    return _as_bytes(frames * (1 + TINT * amount * draw))


def brightness(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Brighter or darker, as the seed has it, the same in every picture."""
    sign = 1 if generator("quality brightness", seed).random() < 0.5 else -1
    return _as_bytes(frames * (1 + sign * DIMMED * amount))


def contrast(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Nearer to mid-grey, the same in every picture."""
    return _as_bytes(MIDDLE + (frames - MIDDLE) * (1 - DIMMED * amount))


def letterbox(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """The picture smaller between black bars, its shape kept."""
    height, width = frames.shape[1:3]
    rows = max(1, round(height * (1 - BARS * amount)))
    columns = max(1, round(width * rows / height))
    top, left = (height - rows) // 2, (width - columns) // 2
    out = np.zeros_like(frames)
    for index, picture in enumerate(frames):
        less = Image.fromarray(picture).resize((columns, rows), Image.Resampling.BILINEAR)
        out[index, top : top + rows, left : left + columns] = np.asarray(less)
    return out if amount else frames.copy()


def rate(frames: Frames, amount: float, seed: int = 0) -> Frames:
    """Every second, third or fourth picture stands for those it replaces."""
    every = 1 + round((SLOWEST - 1) * amount)
    return frames[np.arange(len(frames)) // every * every]


def _as_bytes(values: np.ndarray) -> Frames:
    return np.clip(np.round(values), 0, 255).astype(np.uint8)


QUALITY: Mapping[str, Callable[[Frames, float, int], Frames]] = {
    "blur": blur,
    "noise": noise,
    "compression": compression,
    "jpeg": jpeg,
    "resolution": resolution,
    "colour": colour,
    "brightness": brightness,
    "contrast": contrast,
    "letterbox": letterbox,
    "rate": rate,
}
"""Each change by name: f(frames, amount, seed)."""
CHANGES_TIME = ("rate",)
"""Those that show other moments than the clip did."""


def changed(frames: Frames, kind: str, amount: float, seed: int = 0) -> Frames:
    """The clip in another quality; an unknown kind or amount is refused."""
    if kind not in QUALITY:
        raise ValueError(f"no change of quality '{kind}'; have {list(QUALITY)}")
    if not 0 <= amount <= 1:
        raise ValueError(f"the amount of a change of quality is in [0, 1]; got {amount}")
    return QUALITY[kind](frames, amount, seed)
