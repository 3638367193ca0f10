"""Which pictures of a clip a model is shown, and the controls that show it less."""

from typing import Literal

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.seeds import generator
from cosmolabe.data.questions.protocol import SAMPLERS
from cosmolabe.judges.vqa.protocol import VqaProtocol

Control = Literal["", "blind", "shuffled", "single_frame"]
CONTROLS: tuple[Control, ...] = ("blind", "shuffled", "single_frame")
"""Grey pictures; the same pictures in another order; the middle picture all the time."""
GREY = 128
BLOCK = 4


def view(
    frames: UInt8[np.ndarray, "time height width 3"],
    protocol: VqaProtocol,
    control: Control = "",
    offset: int = 0,
    seed: str = "",
) -> UInt8[np.ndarray, "frame height width 3"]:
    """The pictures shown of a clip, the same number of them under every control.

    `offset` moves all of them along the clip, held at its ends; `seed` is what the order of
    shuffled pictures is drawn by (the clip's id).
    """
    numbers = np.array(SAMPLERS[protocol.sampler](protocol.frames, len(frames)))
    shown = frames[np.clip(numbers + offset, 0, len(frames) - 1)]
    if control == "blind":
        return np.full_like(shown, GREY)
    if control == "single_frame":
        return np.repeat(frames[len(frames) // 2][None], len(shown), 0)
    if control == "shuffled":
        return shown[_derangement(len(shown), seed)]
    return shown


def motion(frames: UInt8[np.ndarray, "time height width 3"], fps: float, ignored: float) -> float:
    """Change of the picture a second, shares of full brightness; NaN for a single picture.

    Changes of up to `ignored` levels, after averaging 4 x 4 pixels, count for nothing: what a
    codec adds is no motion.
    """
    if len(frames) < 2:
        return float("nan")
    height, width = (side - side % BLOCK for side in frames.shape[1:3])
    cut = frames[:, :height, :width].reshape(
        len(frames), height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3
    )
    gap = np.abs(np.diff(cut.mean((2, 4), dtype=np.float32), axis=0))
    return float(np.where(gap > ignored, gap, 0.0).mean() / 255.0 * fps)


def _derangement(count: int, seed: str) -> np.ndarray:
    """An order in which no picture keeps its place: a cycle through all of them."""
    order = generator("shuffled frames", seed).permutation(count)
    found = np.empty_like(order)
    found[order] = np.roll(order, 1)
    return found
