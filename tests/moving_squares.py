"""A tiny eye, small random heads and moving squares: enough to judge in milliseconds."""

import numpy as np
import torch
from torch import nn

from cosmolabe.nets.eyes import PictureEye, untrained
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head import build_head
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.pixels import AS_THEY_ARE, Look

SIDE, WIDTH = 32, 6


class Glance(nn.Module):
    """One convolution, averaged over its places."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, WIDTH, 5, stride=4)

    def forward(self, x):
        return self.conv(x).tanh().mean((2, 3)) * 4


def glance(chunk=3):
    return PictureEye(
        "glance", untrained(Glance), Look(SIDE, *AS_THEY_ARE), WIDTH, "cpu", chunk=chunk
    )


def random_heads(encoder, members=3, seed=0, **recipe):
    recipe = HeadRecipe(hidden=8, members=members, **recipe)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        heads = [build_head(encoder.width, recipe) for _ in range(members)]
        for head in heads:
            for weight in head.parameters():
                weight.data.copy_(torch.randn(weight.shape) * 0.4)
            head.layers[-1].bias.data.fill_(0.5)
    return FittedHead(heads, recipe, encoder.width, encoder=encoder.key)


def square(frames=48, size=48, speed=1.0, seed=0):
    """A light square that wanders over a dark ground, RGB."""
    dice = np.random.default_rng(seed)
    x, y = dice.uniform(4, size - 14, 2)
    vx, vy = speed * dice.uniform(0.6, 1.4, 2) * dice.choice([-1, 1], 2)
    video = np.full((frames, size, size, 3), 40, np.uint8)
    colour = dice.integers(150, 255, 3)
    for frame in video:
        x, y = x + vx, y + vy
        vx = -vx if not 2 < x < size - 12 else vx
        vy = -vy if not 2 < y < size - 12 else vy
        left, top = int(np.clip(x, 0, size - 10)), int(np.clip(y, 0, size - 10))
        frame[top : top + 10, left : left + 10] = colour
    return video
