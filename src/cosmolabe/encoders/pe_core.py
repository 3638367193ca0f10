"""PE-Core: Meta's Perception Encoder, the eye of PhyProbe (Bolya et al. 2025, arXiv 2504.13181).

The vision tower alone, as `encode_image` gives it: patches, learnt places, blocks whose attention
turns queries and keys by their place in both directions, one question put to all patches at the
end, a projection. Written here, because timm cannot be imported without torchvision; checkpoints of
Meta and of timm both fit. Each picture is seen by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.encoder import EncoderPart
from cosmolabe.nets.eyes import PictureEye, untrained
from cosmolabe.nets.pixels import AS_THEY_ARE, HALVES, Look
from cosmolabe.nets.pretrained import (
    NOWHERE,
    HubWeights,
    filled,
    find_weights,
    missing,
    read_tensors,
)

THETA = 10_000.0
"""Of the turning: the slowest pair of features turns this many times slower than the fastest."""
POOL_RATIO = 4
"""Width of the pooling's hidden layer over the tower's."""


@dataclass(frozen=True)
class Tower:
    """One size (perception_models, core/vision_encoder/config.py; LICENSE.PE is Apache-2.0)."""

    canvas: int
    patch: int
    width: int
    layers: int
    heads: int
    hidden: int
    out: int
    has_class: bool = True
    """Whether a class token stands before the patches; the giant has none."""
    pool_heads: int = 8

    @property
    def grid(self) -> int:
        """Patches on a side."""
        return self.canvas // self.patch


GIANT = Tower(448, 14, 1536, 50, 16, 8960, 1280, has_class=False)
TOWERS = {
    "G14-448": GIANT,
    "L14-336": Tower(336, 14, 1024, 24, 16, 4096, 1024),
    "B16-224": Tower(224, 16, 768, 12, 12, 3072, 1024),
    "S16-384": Tower(384, 16, 384, 12, 6, 1536, 512),
    "T16-384": Tower(384, 16, 192, 12, 3, 768, 512),
    "toy": Tower(32, 8, 32, 2, 4, 64, 16, pool_heads=2),
}
RELEASED = "phyprobe-1"
"""As the released PhyProbe feeds its giant: 480 pixels a side, in 0..1 and not normalised."""
RELEASED_CANVAS = 480
REVISIONS = {
    "L14-336": "bafb0f76541d399057e980a25947f67acec76575",
    "B16-224": "a16450b46fef32363459920c2685a1b4ef13dcd9",
    "T16-384": "8b4722741a516c18e7d311f158f13c600fea6c78",
}
"""Commits as public projects pin them; the others are fetched as they stand. The key holds the hash
of the numbers in either case."""


class Turning(nn.Module):
    """Turns pairs of features by their place: half of them by column, half by row."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.each = tower.width // tower.heads // 2  # features of a head that turn by column
        self.has_class = tower.has_class

    def forward(self, grid: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and sine of each token's angles, (token, head_width)."""
        speeds = torch.arange(0, self.each, 2, device=like.device) / self.each
        # The first place is 1 where a class token stands before the patches: 0 is the token's own.
        places = torch.arange(grid, device=like.device) + int(self.has_class)
        angles = places[:, None] * THETA**-speeds
        columns = angles[None].expand(grid, -1, -1)
        rows = angles[:, None].expand(-1, grid, -1)
        both = torch.cat([columns, rows], -1).flatten(0, 1).repeat_interleave(2, -1)
        if self.has_class:
            both = functional.pad(both, (0, 0, 1, 0))
        return both.cos().to(like.dtype), both.sin().to(like.dtype)


def turned(
    x: Float[Tensor, "n head token width"], cosine: Tensor, sine: Tensor
) -> Float[Tensor, "n head token width"]:
    """Each neighbouring pair (a, b) turned by its angle."""
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return x * cosine + torch.stack([-b, a], -1).flatten(-2) * sine


class Attention(nn.Module):
    """Attention among all tokens; named as in Meta's checkpoint."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.heads = tower.heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * tower.width, tower.width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * tower.width))
        self.out_proj = nn.Linear(tower.width, tower.width)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x: Float[Tensor, "n token width"], turn: tuple[Tensor, Tensor]) -> Tensor:
        """What each token gathers from all."""
        parts = functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = parts.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = turned(q, *turn), turned(k, *turn)
        gathered = functional.scaled_dot_product_attention(q, k, v)
        return self.out_proj(gathered.transpose(1, 2).flatten(2))


class Hidden(nn.Module):
    """Two layers with a GELU between."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "*n width"]) -> Float[Tensor, "*n width"]:
        """The same width."""
        return self.c_proj(functional.gelu(self.c_fc(x)))


class Block(nn.Module):
    """Attention, then each token by itself, both added to what came in."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(tower.width), Attention(tower)
        self.ln_2, self.mlp = nn.LayerNorm(tower.width), Hidden(tower.width, tower.hidden)

    def forward(self, x: Float[Tensor, "n token width"], turn: tuple[Tensor, Tensor]) -> Tensor:
        """The tokens after this block."""
        x = x + self.attn(self.ln_1(x), turn)
        return x + self.mlp(self.ln_2(x))


class Pooling(nn.Module):
    """One learnt question, put to all tokens."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.probe = nn.Parameter(torch.randn(1, 1, tower.width))
        self.attn = nn.MultiheadAttention(tower.width, tower.pool_heads, batch_first=True)
        self.layernorm = nn.LayerNorm(tower.width)
        self.mlp = Hidden(tower.width, POOL_RATIO * tower.width)

    def forward(self, x: Float[Tensor, "n token width"]) -> Float[Tensor, "n width"]:
        """The answer."""
        asked = self.probe.expand(len(x), -1, -1)
        x = self.attn(asked, x, x, need_weights=False)[0]
        return (x + self.mlp(self.layernorm(x)))[:, 0]


class Vision(nn.Module):
    """The tower with pooling and projection: what `encode_image` gives, not scaled to length 1."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        self.tower = tower
        scale = tower.width**-0.5
        self.conv1 = nn.Conv2d(3, tower.width, tower.patch, tower.patch, bias=False)
        if tower.has_class:
            self.class_embedding = nn.Parameter(scale * torch.randn(tower.width))
        tokens = tower.grid**2 + tower.has_class
        self.positional_embedding = nn.Parameter(scale * torch.randn(tokens, tower.width))
        self.turning = Turning(tower)
        self.ln_pre = nn.LayerNorm(tower.width)
        self.transformer = nn.ModuleDict(
            {"resblocks": nn.ModuleList([Block(tower) for _ in range(tower.layers)])}
        )
        self.ln_post = nn.LayerNorm(tower.width)
        self.attn_pool = Pooling(tower)
        self.proj = nn.Parameter(scale * torch.randn(tower.width, tower.out))

    def forward(self, x: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n out"]:
        """Features of square pictures of any size that holds a patch; what is left over is cut."""
        x = self.conv1(x)
        grid = x.shape[-1]
        x = x.flatten(2).transpose(1, 2)
        if self.tower.has_class:
            x = torch.cat([self.class_embedding.expand(len(x), 1, -1), x], 1)
        x = self.ln_pre(x + self.places(grid))
        turn = self.turning(grid, x)
        for block in self.transformer["resblocks"]:  # ty: ignore[not-iterable]
            x = block(x, turn)
        return self.attn_pool(self.ln_post(x)) @ self.proj

    def places(self, grid: int) -> Float[Tensor, "token width"]:
        """The learnt places, stretched bilinearly to another grid."""
        own = self.tower.grid
        if grid == own:
            return self.positional_embedding
        first, rest = self.positional_embedding.split([int(self.tower.has_class), own**2])
        square = rest.T.unflatten(1, (own, own))[None]
        fitted = functional.interpolate(square, size=(grid, grid), mode="bilinear")
        return torch.cat([first, fitted[0].flatten(1).T])


TIMM = (
    ("patch_embed.proj.", "conv1."),
    ("norm_pre.", "ln_pre."),
    ("blocks.", "transformer.resblocks."),
    (".norm1.", ".ln_1."),
    (".norm2.", ".ln_2."),
    (".attn.qkv.", ".attn.in_proj_"),
    (".attn.proj.", ".attn.out_proj."),
    (".mlp.fc1.", ".mlp.c_fc."),
    (".mlp.fc2.", ".mlp.c_proj."),
    ("attn_pool.latent", "attn_pool.probe"),
    ("attn_pool.proj.", "attn_pool.attn.out_proj."),
    ("attn_pool.norm.", "attn_pool.layernorm."),
)
"""Pieces of timm's names and of Meta's."""


def in_metas_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The vision tower of a checkpoint of Meta's (with or without its text tower) or of timm's."""
    if "patch_embed.proj.weight" in tensors:
        return _from_timm(dict(tensors))
    named = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
    visual = {n[len("visual.") :]: t for n, t in named.items() if n.startswith("visual.")}
    return visual or named


def _from_timm(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    for part in ("weight", "bias"):
        both = [tensors.pop(f"attn_pool.{name}.{part}", None) for name in ("q", "kv")]
        if both[0] is not None and both[1] is not None:
            tensors[f"attn_pool.attn.in_proj_{part}"] = torch.cat([both[0], both[1]])
    bias = tensors.pop("head.bias", None)
    if bias is not None and bias.any():
        raise ValueError("timm's head has a bias that is not zero, which Meta's tower cannot hold")
    found = {}
    for name, tensor in tensors.items():
        if name == "head.weight":
            name, tensor = "proj", tensor.T.contiguous()
        elif name == "cls_token":
            name, tensor = "class_embedding", tensor[0, 0]
        elif name == "pos_embed":
            name, tensor = "positional_embedding", tensor[0]
        elif name.startswith("norm."):
            name = name.replace("norm.", "ln_post.", 1)
        for theirs, ours in TIMM:
            name = name.replace(theirs, ours)
        found[name] = tensor
    return found


def weights_of(size: str) -> HubWeights:
    """Meta's own checkpoint of a size."""
    if size == "toy":
        return NOWHERE
    name = f"PE-Core-{'G14-448' if size == RELEASED else size}"
    revision = REVISIONS.get(size, "main")
    return HubWeights(f"facebook/{name}", revision, (f"{name}.pt",))


SIZES = ("G14-448", RELEASED, "L14-336", "B16-224", "S16-384", "T16-384", "toy")


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "",
    precision: str = "fp32",
) -> PictureEye:
    """The tower of a size; `source` is a checkpoint of Meta's or timm's, or the folder of one."""
    size = size or ENCODER.sizes[0]
    if size not in SIZES:
        raise ValueError(f"pe_core has sizes {list(SIZES)}; got {size!r}")
    tower = GIANT if size == RELEASED else TOWERS[size]
    if random:
        net = untrained(lambda: Vision(tower))
    else:
        path = find_weights(weights_of(size), source)
        net = filled(lambda: Vision(tower), in_metas_names(read_tensors(path)), path)
    look = Look(tower.canvas, *HALVES)
    if size == RELEASED:
        look = Look(RELEASED_CANVAS, *AS_THEY_ARE)
    return PictureEye("pe_core", net, look, tower.out, device, precision)


ENCODER = EncoderPart(
    "pe_core",
    "Meta's Perception Encoder as encode_image gives it: the eye of PhyProbe.",
    load,
    licence="Apache-2.0",
    sees="pictures",
    canvas=GIANT.canvas,
    width=GIANT.out,
    weights=str(weights_of("G14-448")),
    sizes=SIZES,
    shapes={name: (tower.canvas, tower.out) for name, tower in TOWERS.items()}
    | {RELEASED: (RELEASED_CANVAS, GIANT.out)},
    revisions={name: str(weights_of(name)) for name in SIZES if name != "toy"},
    normalisation="(x - 0.5) / 0.5; none in size phyprobe-1",
    missing=lambda size: missing(weights_of(size or "G14-448")),
    notes=("The giant needs a GPU: half an hour a clip on one CPU core.",),
)
