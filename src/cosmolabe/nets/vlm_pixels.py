"""Frames as a vision tower of `transformers` takes them, without its processors."""

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from PIL.Image import Resampling
from torch import Tensor


def stretched(
    frames: UInt8[np.ndarray, "frame height width 3"], tall: int, wide: int = 0
) -> Float[Tensor, "frame 3 tall wide"]:
    """Whole numbers 0..255, stretched as SigLIP's processor does; the shape is not kept.

    Bicubic, by Pillow, as there. A picture of this size is left alone.
    """
    wide = wide or tall
    if frames.shape[1:3] != (tall, wide):
        sized = (Image.fromarray(one).resize((wide, tall), Resampling.BICUBIC) for one in frames)
        frames = np.stack([np.asarray(one) for one in sized])
    return torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()


def patched(
    pixels: Float[Tensor, "frame 3 tall wide"], patch: int, merge: int, together: int
) -> Float[Tensor, "place patch number"]:
    """Frames as rows of patches: what Qwen's and VideoLLaMA's towers take.

    `together` frames make one place in time (an odd last one is held); patches that are merged
    later, `merge` x `merge`, stand side by side; a patch is (colour, frame, row, column).
    """
    lacking = -len(pixels) % together
    held = torch.cat([pixels, pixels[-1:].expand(lacking, -1, -1, -1)])
    tall, wide = (size // patch // merge for size in pixels.shape[2:])
    apart = held.unflatten(0, (-1, together)).unflatten(4, (wide, merge, patch))
    apart = apart.unflatten(3, (tall, merge, patch))  # t f c (h i y) (w j x)
    return apart.permute(0, 3, 6, 4, 7, 2, 1, 5, 8).flatten(5).flatten(1, 4)
