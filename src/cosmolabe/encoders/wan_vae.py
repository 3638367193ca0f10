"""The Wan VAEs: what a video generator packs into its latents (Wan Team 2025, arXiv 2503.20314).

PhyProbe's negative control: latents made to be painted from, not to be understood. The mode of the
posterior, standardised by the constants of its config, averaged over places: 16 features, 48 in Wan
2.2. The first frame has a row of its own and every four after it another, so a window is held to
4k + 1 frames: the net of `diffusers` would silently drop what is over (48 frames become 45).
"""

from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import MotionEye, hold_last, untrained
from cosmolabe.nets.pixels import HALVES, Look
from cosmolabe.nets.pretrained import (
    NOWHERE,
    HubWeights,
    find_weights,
    from_folder,
    missing,
    require,
    size_of,
)

KIND = "AutoencoderKLWan"
CANVAS = 256
"""Ours; any multiple of 8 would do."""
STRIDE = 4  # frames a latent after the first
FILES = ("vae/diffusion_pytorch_model.safetensors", "vae/config.json")
REPOS = {
    "2.1": ("Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "0fad780a534b6463e45facd96134c9f345acfa5b"),
    "2.2": ("Wan-AI/Wan2.2-TI2V-5B-Diffusers", "b8fff7315c768468a5333511427288870b2e9635"),
}
TOY: dict[str, Any] = {"base_dim": 8, "num_res_blocks": 1, "dim_mult": [1, 1, 1, 1]}
OF_2_2: dict[str, Any] = {
    "base_dim": 160,
    "decoder_base_dim": 256,
    "z_dim": 48,
    "is_residual": True,
    "in_channels": 12,
    "out_channels": 12,
    "patch_size": 2,
    "scale_factor_spatial": 16,
    "latents_mean": [0.0] * 48,  # a file brings its own
    "latents_std": [1.0] * 48,
}
SIZES: dict[str, dict[str, Any]] = {"2.1": {}, "2.2": OF_2_2, "toy": TOY, "toy-2.2": OF_2_2 | TOY}
"""Where a size differs from the config's defaults."""
TOY_CANVAS = 32


class Latents(nn.Module):
    """The mean over places of each latent."""

    def __init__(self, net: Any) -> None:  # noqa: ANN401 - of diffusers
        super().__init__()
        net.decoder = net.post_quant_conv = None  # half of the numbers, never needed
        self.net = net
        self.register_buffer("mean", torch.tensor(net.config.latents_mean))
        self.register_buffer("spread", torch.tensor(net.config.latents_std))

    def forward(self, x: Float[Tensor, "1 time 3 s s"]) -> Float[Tensor, "1 row width"]:
        """One row for the first frame and one for every four after it, begun ones included."""
        after = -(-(x.shape[1] - 1) // STRIDE)
        x = hold_last(x, 1 + STRIDE * after)
        mode = self.net.encode(x.transpose(1, 2)).latent_dist.mode()
        return (mode.mean((3, 4)).transpose(1, 2) - self.mean) / self.spread


def weights_of(size: str) -> HubWeights:
    """On the hub."""
    return HubWeights(*REPOS[size], FILES) if size in REPOS else NOWHERE


def build(size: str) -> Latents:
    """Untrained."""
    return Latents(require("diffusers", "encoders").AutoencoderKLWan(**SIZES[size]))


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> MotionEye:
    """The eye; `source` is the folder of the VAE or of the whole generator."""
    size = size or ENCODER.sizes[0]
    size_of("wan_vae", SIZES, size)
    if random:
        net = untrained(lambda: build(size))
    else:
        folder = find_weights(weights_of(size), source)
        folder = folder / "vae" if (folder / "vae").is_dir() else folder
        maker = require("diffusers", "encoders").AutoencoderKLWan
        net = Latents(from_folder(maker, folder, KIND))
    look = Look(TOY_CANVAS if size not in REPOS else CANVAS, *HALVES)
    return MotionEye("wan_vae", net, look, net.net.config.z_dim, device, precision)


ENCODER = EncoderPart(
    "wan_vae",
    "The Wan VAE's latents, averaged over places: PhyProbe's negative control.",
    load,
    licence="Apache-2.0",
    sees="motion",
    canvas=CANVAS,
    width=16,
    weights=str(weights_of("2.1")),
    extra="encoders",
    modules=("torch", "diffusers"),
    sizes=tuple(SIZES),
    shapes={
        name: (CANVAS if name in REPOS else TOY_CANVAS, given.get("z_dim", 16))
        for name, given in SIZES.items()
    },
    revisions={name: str(weights_of(name)) for name in REPOS},
    normalisation="(x - 0.5) / 0.5",
    frames="4k + 1, the last one held; one row for the first and one for every 4",
    missing=lambda size: missing(weights_of(size or "2.1")),
    notes=("Slow on a CPU: convolutions over time and place.",),
)
