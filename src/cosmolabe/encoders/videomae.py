"""VideoMAE: an eye for motion, taught to paint what is hidden (Tong et al. 2022, arXiv 2203.12602).

It knows 16 frames and no other number, so a window is cut into pieces of 16 and the last piece is
filled up with its last frame. Two frames make a row: the mean of a tubelet's patches. Rows that
hold nothing but filling are dropped.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import MotionEye, hold_last
from cosmolabe.nets.families import Family
from cosmolabe.nets.pixels import IMAGENET, Look

CANVAS = 224
UNUSED = ("decoder.", "encoder_to_decoder.", "mask_token", "classifier.", "fc_norm.")
"""What files of a painter or of a classifier hold beside the eye."""


@dataclass(frozen=True)
class Size:
    """One size; revisions as public projects pin them."""

    width: int
    layers: int
    heads: int
    revision: str
    canvas: int = CANVAS
    patch: int = 16
    frames: int = 16


SIZES = {
    "base": Size(768, 12, 12, "dc740ceda42fce44faed2ea03c6d447db72f6af9"),
    "large": Size(1024, 24, 16, "12da269a02d3e1fbbb7011e610e591fea8061dca"),
    "toy": Size(16, 2, 2, "", canvas=32, patch=8),
}


class Pieces(nn.Module):
    """The mean of the patches of each tubelet, piece by piece."""

    def __init__(self, net: Any) -> None:  # noqa: ANN401 - of transformers
        super().__init__()
        self.net = net

    def forward(self, x: Float[Tensor, "1 time 3 s s"]) -> Float[Tensor, "1 row width"]:
        """One row for two frames."""
        config = self.net.config
        rows = -(-x.shape[1] // config.tubelet_size)
        places = (config.image_size // config.patch_size) ** 2
        found = []
        for piece in x.split(config.num_frames, dim=1):
            whole = hold_last(piece, config.num_frames)
            tokens = self.net(pixel_values=whole).last_hidden_state
            found.append(tokens.unflatten(1, (-1, places)).mean(2))
        return torch.cat(found, 1)[:, :rows]


def config_of(transformers: Any, size: Size) -> Any:  # noqa: ANN401 - of transformers
    """The config of an untrained net."""
    return transformers.VideoMAEConfig(
        image_size=size.canvas,
        patch_size=size.patch,
        num_frames=size.frames,
        hidden_size=size.width,
        intermediate_size=4 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
    )


FAMILY = Family(
    "videomae",
    SIZES,
    kind="videomae",
    model="VideoMAEModel",
    config=config_of,
    eye=Pieces,
    repo="MCG-NJU/videomae-{}".format,
    unused=UNUSED,
)


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> MotionEye:
    """The eye of a size, or of the folder `source` whatever size lies there."""
    net = FAMILY.load(source, size, random)
    config = net.net.config
    look = Look(config.image_size, *IMAGENET)
    return MotionEye("videomae", net, look, config.hidden_size, device, precision)


ENCODER = EncoderPart(
    "videomae",
    "VideoMAE, the mean of each tubelet's patches, in pieces of 16 frames.",
    load,
    licence="CC-BY-NC-4.0",
    sees="motion",
    normalisation="ImageNet's mean and spread",
    frames="pieces of 16, the last one filled up; one row for 2",
    notes=("Not for commercial use. Pieces do not see each other.",),
    **FAMILY.told,
)
