"""The bundled eye: a small net over maps of motion, every place judged by itself.

Its maps (`nets.motion_maps`) say what moved where and what no motion explains; the net learns what
of that is lawful, from a stretch of pictures on both sides of a time. So it cannot take two orders
of the same pictures for one. What it finds it finds at a place: a peak over places is taken before
anything else is pooled, or a ball of three pixels would drown in the mean.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.nets.motion_maps import NAMES, motion_maps

REPEATED = 2.0 / 255
"""Largest change of any pixel at which a picture is the one before it shown again."""
EARLY, LATE = 32, 40  # channels of the first and the last layers
TOP = 3  # places whose mean stands beside the single highest
READINGS = 4
WIDTH = LATE + READINGS
GROUPS = 8
DOUBT = -3.0  # log odds of a violation anywhere, before anything is learnt


class TinyNet(nn.Module):
    """Pictures of one clip in, features of each time out."""

    def __init__(self, early: int = EARLY, late: int = LATE) -> None:
        super().__init__()
        self.first = nn.Conv2d(len(NAMES), early, 3, padding=1)
        self.steps = nn.ModuleList(
            [Step(early, early), Step(early, late), Step(late, late, reach=2)]
        )
        self.wrong = nn.Conv2d(late, 1, 1)
        assert self.wrong.bias is not None
        nn.init.constant_(self.wrong.bias, DOUBT)

    def forward(
        self, pixels: Float[Tensor, "1 time 3 height width"]
    ) -> Float[Tensor, "1 time feature"]:
        """Features of each time of one clip; pixels in 0..1.

        A picture that repeats the one before it is left out and then has that one's features: a
        slow rate is no slow world.
        """
        keep = fresh(pixels[0])
        maps = motion_maps(pixels[0][keep])
        return self.pooled(*self.judged(maps[None]))[:, keep.cumsum(0) - 1]

    def judged(
        self, maps: Float[Tensor, "batch time map row column"]
    ) -> tuple[Float[Tensor, "batch time late row column"], Float[Tensor, "batch time row column"]]:
        """Of each place: its features, and the log odds that something is wrong there."""
        batch, time = maps.shape[:2]
        x = functional.silu(self.first(maps.flatten(0, 1)))
        for step in self.steps:
            x = step(x, time)
        odds = self.wrong(x).squeeze(1)
        return x.unflatten(0, (batch, time)), odds.unflatten(0, (batch, time))

    def pooled(
        self,
        found: Float[Tensor, "batch time late row column"],
        odds: Float[Tensor, "batch time row column"],
    ) -> Float[Tensor, "batch time feature"]:
        """Four readings of the odds, and the features of where they are high."""
        flat, each = found.flatten(3), odds.flatten(2)
        share = each.softmax(-1).unsqueeze(2)
        highest = each.topk(TOP, -1).values
        readings = torch.stack(
            [
                highest[..., 0], highest.mean(-1), each.logsumexp(-1),
                functional.softplus(each).mean(-1),
            ],
            -1,
        )  # fmt: skip
        return torch.cat([readings, (flat * share).sum(-1)], -1)


class Step(nn.Module):
    """A place, its neighbours, and the same at the times before and after, `reach` away."""

    def __init__(self, channels: int, out: int, reach: int = 1) -> None:
        super().__init__()
        self.reach = reach
        self.conv = nn.Conv2d(3 * channels, out, 3, padding=1)
        self.calm = nn.GroupNorm(GROUPS, out)
        self.adds = channels == out

    def forward(self, x: Float[Tensor, "n c h w"], time: int) -> Float[Tensor, "n d h w"]:
        """`x` holds clips of `time` pictures, one clip after another."""
        clips = x.unflatten(0, (-1, time))
        around = [shifted(clips, by).flatten(0, 1) for by in (-self.reach, 0, self.reach)]
        y = functional.silu(self.calm(self.conv(torch.cat(around, 1))))
        return x + y if self.adds else y


def shifted(clips: Float[Tensor, "batch time *rest"], by: int) -> Float[Tensor, "batch time *rest"]:
    """What stands `by` times later; beyond either end the last there is."""
    time = clips.shape[1]
    index = (torch.arange(time, device=clips.device) + by).clamp(0, time - 1)
    return clips[:, index]


def fresh(pixels: Float[Tensor, "time 3 height width"]) -> Bool[Tensor, " time"]:
    """Which pictures are not the one before shown again; the first always counts."""
    keep = torch.ones(len(pixels), dtype=torch.bool, device=pixels.device)
    if len(pixels) > 1:
        keep[1:] = (pixels[1:] - pixels[:-1]).abs().flatten(1).amax(1) > REPEATED
    return keep
