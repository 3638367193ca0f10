"""DINOv3: DINOv2's successor, whose patches stay good in long training (arXiv 2508.10104).

The mean of a picture's patches after the last normalisation; class token and register tokens are
dropped. Its licence is not an open-source one and its files are gated: never a default, and the
user fetches the weights.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import PictureEye
from cosmolabe.nets.families import Family
from cosmolabe.nets.pixels import IMAGENET, Look

CANVAS = 224
GATED = "accept Meta's DINOv3 licence on that page first, then `hf auth login`"


@dataclass(frozen=True)
class Size:
    """One size; revisions as public projects pin them."""

    repo: str
    width: int
    layers: int
    heads: int
    revision: str
    canvas: int = CANVAS
    patch: int = 16


SIZES = {
    "small": Size("vits16", 384, 12, 6, "114c1379950215c8b35dfcd4e90a5c251dde0d32"),
    "base": Size("vitb16", 768, 12, 12, "5931719e67bbdb9737e363e781fb0c67687896bc"),
    "large": Size("vitl16", 1024, 24, 16, "ea8dc2863c51be0a264bab82070e3e8836b02d51"),
    "toy": Size("toy", 16, 2, 2, "", canvas=32, patch=8),
}


class Patches(nn.Module):
    """The mean of the patches of each picture."""

    def __init__(self, net: Any) -> None:  # noqa: ANN401 - of transformers
        super().__init__()
        self.net = net
        self.before = 1 + net.config.num_register_tokens

    def forward(self, x: Float[Tensor, "n 3 s s"]) -> Float[Tensor, "n width"]:
        """Features of normalised pictures."""
        return self.net(pixel_values=x).last_hidden_state[:, self.before :].mean(1)


def config_of(transformers: Any, size: Size) -> Any:  # noqa: ANN401 - of transformers
    """The config of an untrained net."""
    return transformers.DINOv3ViTConfig(
        hidden_size=size.width,
        intermediate_size=4 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        image_size=size.canvas,
        patch_size=size.patch,
        num_register_tokens=4,
    )


FAMILY = Family(
    "dinov3",
    SIZES,
    kind="dinov3_vit",
    model="DINOv3ViTModel",
    config=config_of,
    eye=Patches,
    repo=lambda size: f"facebook/dinov3-{SIZES[size].repo}-pretrain-lvd1689m",
    note=GATED,
)


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> PictureEye:
    """The eye of a size, or of the folder `source` whatever size lies there."""
    net = FAMILY.load(source, size, random)
    config = net.net.config
    look = Look(min(CANVAS, config.image_size), *IMAGENET)
    return PictureEye("dinov3", net, look, config.hidden_size, device, precision)


ENCODER = EncoderPart(
    "dinov3",
    "DINOv3, the mean of a picture's patches; gated weights, so only where the user brings them.",
    load,
    licence="DINOv3 License (Meta's own, gated)",
    sees="pictures",
    normalisation="ImageNet's mean and spread",
    notes=("Not an open-source licence: read it before you publish scores made with it.",),
    **FAMILY.told,
)
