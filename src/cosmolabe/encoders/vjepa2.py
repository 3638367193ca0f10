"""V-JEPA 2: an eye for motion, taught to foretell what is hidden (Assran et al. 2025, 2506.09985).

Two frames make a tubelet, and every tubelet sees the whole window: a row of features is the mean
of a tubelet's patches. The net is that of `transformers`; its traps (measured with 5.24) are closed
here: a picture of another size than the config's runs, and gets wrong places; of an odd number of
frames the last is dropped without a word. `surprise` says how far its own predictor is from what
comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import MotionEye, hold_last
from cosmolabe.nets.families import Family
from cosmolabe.nets.pixels import IMAGENET, Look


@dataclass(frozen=True)
class Size:
    """One size; revisions as public projects pin them."""

    repo: str
    width: int
    layers: int
    heads: int
    revision: str
    hidden: float = 4.0
    """Width of the hidden layers over the width."""
    canvas: int = 256
    patch: int = 16


SIZES = {
    "large": Size("vitl-fpc64-256", 1024, 24, 16, "b3c1679b7c34d3255ef3547f27c7b226aefab26f"),
    "huge": Size("vith-fpc64-256", 1280, 32, 16, "b5eac8703e3efdc1547fbb6ddfbeb133dc0bdee5"),
    "giant": Size(
        "vitg-fpc64-256", 1408, 40, 22, "875c192b7b704b87d1e1d99345769632dd5f739a", 48 / 11
    ),
    "toy": Size("toy", 24, 2, 2, "", canvas=32, patch=8),
}


KNOWN = (6, 9, 12, 15, 18, 21)
"""Rows known before the rest is foretold."""


class Tubelets(nn.Module):
    """The mean of the patches of each tubelet."""

    def __init__(self, net: Any) -> None:  # noqa: ANN401 - of transformers
        super().__init__()
        self.net = net

    def forward(self, x: Float[Tensor, "1 time 3 h w"]) -> Float[Tensor, "1 row width"]:
        """One row for two frames; of an odd number, the last one is held."""
        config = self.net.config
        side, tubelet = config.crop_size, config.tubelet_size
        if x.shape[-2:] != (side, side):
            raise ValueError(
                f"this V-JEPA 2 takes {side} by {side} pixels and would misplace others; "
                f"got {x.shape[-2]} by {x.shape[-1]}"
            )
        rows = -(-x.shape[1] // tubelet)
        x = hold_last(x, rows * tubelet)
        tokens = self.net(pixel_values_videos=x, skip_predictor=True).last_hidden_state
        return tokens.unflatten(1, (rows, (side // config.patch_size) ** 2)).mean(2)

    def foretell(
        self, x: Float[Tensor, "1 time 3 h w"], known: int
    ) -> tuple[Float[Tensor, "1 place width"], Float[Tensor, "1 place width"]]:
        """What the predictor expects after the first `known` rows, and what comes, place by place.

        The known rows are encoded by themselves: in one pass with the rest they would have seen it.
        What comes is scaled to mean 0 and spread 1 at each place, as the predictor was taught.
        """
        config = self.net.config
        rows = x.shape[1] // config.tubelet_size
        places = (config.crop_size // config.patch_size) ** 2
        ids = torch.arange(rows * places, device=x.device)[None]
        before, after = ids.split([known * places, (rows - known) * places], 1)
        seen = self.net(
            pixel_values_videos=x[:, : known * config.tubelet_size], skip_predictor=True
        ).last_hidden_state
        expected = self.net.predictor(seen, [before], [after]).last_hidden_state
        comes = self.net(pixel_values_videos=x, skip_predictor=True).last_hidden_state
        comes = functional.layer_norm(comes[:, known * places :], comes.shape[-1:])
        return expected, comes


class JepaEye(MotionEye):
    """The eye, which can also say how surprised it is."""

    net: Tubelets

    def surprise(self, clip: Clip, known: Sequence[int] = KNOWN) -> Float[np.ndarray, " known"]:
        """Mean absolute error of the predictor for each number of known rows (of two frames each).

        The baseline of PhyProbe (its table 7), after IntPhys 2's settings: 12 to 42 of 48 frames
        known. A number of rows that leaves nothing to foretell gives NaN.
        """
        with torch.inference_mode(), self.exactly():
            x = self.looked(clip)
            x = hold_last(x, x.shape[1] + x.shape[1] % self.net.net.config.tubelet_size)
            rows = x.shape[1] // self.net.net.config.tubelet_size
            found = np.full(len(known), np.nan, np.float32)
            for place, number in enumerate(known):
                if 1 <= number < rows:
                    expected, comes = self.net.foretell(x, number)
                    found[place] = float((expected.float() - comes.float()).abs().mean())
        return found


def config_of(transformers: Any, size: Size) -> Any:  # noqa: ANN401 - of transformers
    """The config of an untrained net."""
    return transformers.VJEPA2Config(
        crop_size=size.canvas,
        patch_size=size.patch,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        mlp_ratio=size.hidden,
        **({"pred_num_hidden_layers": 1, "pred_hidden_size": 24} if size.patch == 8 else {}),
    )


FAMILY = Family(
    "vjepa2",
    SIZES,
    kind="vjepa2",
    model="VJEPA2Model",
    config=config_of,
    eye=Tubelets,
    repo=lambda size: f"facebook/vjepa2-{SIZES[size].repo}",
    files=("model.safetensors*", "config.json", "model-*.safetensors"),
)


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> JepaEye:
    """The eye of a size, or of the folder `source` whatever size lies there."""
    net = FAMILY.load(source, size, random)
    config = net.net.config
    look = Look(config.crop_size, *IMAGENET)
    return JepaEye("vjepa2", net, look, config.hidden_size, device, precision)


ENCODER = EncoderPart(
    "vjepa2",
    "V-JEPA 2, the mean of each tubelet's patches: two frames a row, all rows seen together.",
    load,
    licence="MIT (parts Apache-2.0)",
    sees="motion",
    normalisation="ImageNet's mean and spread",
    frames="any number; one row for 2, an odd last one is held",
    notes=("48 frames take about 70 s on one CPU core.",),
    **FAMILY.told,
)
