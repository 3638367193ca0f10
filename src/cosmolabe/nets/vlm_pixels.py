"""Frames as a vision tower of `transformers` takes them, without its processors."""

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional


def stretched(
    frames: UInt8[np.ndarray, "frame height width 3"], tall: int, wide: int = 0
) -> Float[Tensor, "frame 3 tall wide"]:
    """Whole numbers 0..255, stretched as SigLIP's processor does; the shape is not kept.

    Bicubic, smoothed where it shrinks. A picture of this size is left alone.
    """
    wide = wide or tall
    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()
    if pixels.shape[-2:] == (tall, wide):
        return pixels
    found = functional.interpolate(
        pixels, (tall, wide), mode="bicubic", align_corners=False, antialias=True
    )
    return found.round().clamp(0, 255)
