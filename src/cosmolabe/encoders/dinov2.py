"""DINOv2: an eye that learnt from pictures alone (Oquab et al. 2023, arXiv 2304.07193).

The mean of a picture's patches after the last normalisation; the class token is dropped. The net is
that of `transformers`, the pictures are prepared here.
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


@dataclass(frozen=True)
class Size:
    """One size of the paper's table; revisions as public projects pin them."""

    width: int
    layers: int
    heads: int
    revision: str
    canvas: int = CANVAS
    patch: int = 14


SIZES = {
    "small": Size(384, 12, 6, "ed25f3a31f01632728cabb09d1542f84ab7b0056"),
    "base": Size(768, 12, 12, "f9e44c814b77203eaa57a6bdbbd535f21ede1415"),
    "large": Size(1024, 24, 16, "47b73eefe95e8d44ec3623f8890bd894b6ea2d6c"),
    "giant": Size(1536, 40, 24, "611a9d42f2335e0f921f1e313ad3c1b7178d206d"),
    "toy": Size(16, 2, 2, "", canvas=28, patch=7),
}


class Patches(nn.Module):
    """The mean of the patches of each picture."""

    def __init__(self, net: Any) -> None:  # noqa: ANN401 - of transformers
        super().__init__()
        self.net = net

    def forward(self, x: Float[Tensor, "n 3 s s"]) -> Float[Tensor, "n width"]:
        """Features of normalised pictures."""
        return self.net(pixel_values=x).last_hidden_state[:, 1:].mean(1)


def config_of(transformers: Any, size: Size) -> Any:  # noqa: ANN401 - of transformers
    """The config of an untrained net."""
    return transformers.Dinov2Config(
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        image_size=size.canvas,
        patch_size=size.patch,
        use_swiglu_ffn=size.width == 1536,
    )


FAMILY = Family(
    "dinov2",
    SIZES,
    kind="dinov2",
    model="Dinov2Model",
    config=config_of,
    eye=Patches,
    repo="facebook/dinov2-{}".format,
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
    canvas = min(CANVAS, config.image_size)
    canvas -= canvas % config.patch_size
    look = Look(canvas, *IMAGENET)
    return PictureEye("dinov2", net, look, config.hidden_size, device, precision)


ENCODER = EncoderPart(
    "dinov2",
    "DINOv2, the mean of a picture's patches.",
    load,
    licence="Apache-2.0",
    sees="pictures",
    normalisation="ImageNet's mean and spread",
    **FAMILY.told,
)
