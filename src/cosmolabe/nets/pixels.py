"""From pictures to what a net takes: scaled, fitted into a square, normalised; no torchvision."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn import functional

FILL = 128 / 255
"""Mid-grey of the letterbox, as in `data.video` (PhyProbe, released package)."""
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Mean and standard deviation of ImageNet's pixels in 0..1, by which most eyes were trained."""
HALVES = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
"""0..1 becomes -1..1."""
AS_THEY_ARE = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@dataclass(frozen=True)
class Look:
    """How an eye wants its pictures."""

    canvas: int
    """Side of the square, in pixels."""
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def __call__(self, pixels: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 s s"]:
        """Pixels in 0..1 as the net takes them: (n, 3, canvas, canvas), normalised."""
        fitted = letterboxed(pixels, self.canvas)
        mean = fitted.new_tensor(self.mean)[:, None, None]
        return (fitted - mean) / fitted.new_tensor(self.std)[:, None, None]


def from_pictures(
    pictures: UInt8[np.ndarray, "n h w 3"], device: str | torch.device = "cpu"
) -> Float[Tensor, "n 3 h w"]:
    """Pixels in 0..1."""
    moved = torch.from_numpy(np.ascontiguousarray(pictures)).to(device)
    return moved.permute(0, 3, 1, 2).float() / 255


def letterboxed(pixels: Float[Tensor, "n 3 h w"], side: int) -> Float[Tensor, "n 3 s s"]:
    """The whole picture in a square of `side` pixels, its shape kept, the rest mid-grey.

    Bilinear, with antialiasing where it shrinks (our choice). A picture that has this size is
    handed on untouched, so that a clip letterboxed while decoding is not resized twice.
    """
    height, width = pixels.shape[-2:]
    if (height, width) == (side, side):
        return pixels
    scale = min(side / height, side / width)
    tall, wide = max(1, round(height * scale)), max(1, round(width * scale))
    fitted = functional.interpolate(
        pixels, size=(tall, wide), mode="bilinear", align_corners=False, antialias=True
    )
    top, left = (side - tall) // 2, (side - wide) // 2
    edges = (left, side - wide - left, top, side - tall - top)
    return functional.pad(fitted, edges, value=FILL)
