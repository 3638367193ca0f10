"""A small net that paints the next frame: what changes is added to the last one.

Frames are folded 2 x 2 into channels; two scales see them, actions turn each block's channels.
Made to learn a game in minutes on one core, not to be good at it.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional

from cosmolabe.core.record import read_json, write_json
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors

CONFIG, TENSORS = "frame_model.json", "model.safetensors"
SCHEMA = 1
ROWS_AT_ONCE = 8
"""Fixed, padded chunks: neither batch size nor order changes a frame."""


@dataclass(frozen=True)
class FrameNetConfig:
    """How the net is built."""

    size: int = 64
    """Side of the square frames, pixels; a multiple of 8."""
    context: int = 4
    """Past frames it sees."""
    every: int = 4
    """Ticks from frame to frame."""
    actions: int = 7
    width: int = 48
    """Channels at a quarter of the side; twice as many at an eighth."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.size % 8 or self.size < 16:
            raise ValueError(f"frames have a side of 16 or more, a multiple of 8; got {self.size}")
        if min(self.context, self.every, self.actions, self.width) < 1:
            raise ValueError(f"context, every, actions and width are 1 or more; got {self}")


class Block(nn.Module):
    """Two convolutions beside a straight way, their channels scaled and shifted by the actions."""

    def __init__(self, width: int, told: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8 if width % 8 == 0 else 1, width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.turn = nn.Linear(told, 2 * width)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor, told: Tensor) -> Tensor:
        """`x` (batch, width, side, side), `told` (batch, told)."""
        scale, shift = self.turn(told)[..., None, None].chunk(2, 1)
        y = self.first(functional.silu(self.norm(x)))
        return x + self.second(functional.silu(y * (1 + scale) + shift))


class FrameNet(nn.Module):
    """Past frames in -1..1 and actions to the next frame."""

    def __init__(self, config: FrameNetConfig) -> None:
        super().__init__()
        wide, told = config.width, 64
        self.config = config
        self.told = nn.Sequential(nn.Linear(config.context * config.actions, told), nn.SiLU())
        self.enter = nn.Conv2d(config.context * 3 * 4, wide, 3, padding=1)
        self.fine = nn.ModuleList([Block(wide, told) for _ in range(2)])
        self.down = nn.Conv2d(wide, 2 * wide, 3, stride=2, padding=1)
        self.coarse = nn.ModuleList([Block(2 * wide, told) for _ in range(3)])
        self.up = nn.Conv2d(2 * wide, 4 * wide, 1)
        self.last = nn.ModuleList([Block(wide, told) for _ in range(2)])
        self.leave = nn.Conv2d(wide, 12, 3, padding=1)
        nn.init.zeros_(self.leave.weight)
        assert self.leave.bias is not None
        nn.init.zeros_(self.leave.bias)

    def forward(
        self,
        frames: Float[Tensor, "batch time 3 side side"],
        actions: Float[Tensor, "batch time action"],
    ) -> Float[Tensor, "batch 3 side side"]:
        """The frame after the last, not clipped."""
        told = self.told(actions.flatten(1))
        x = self.enter(functional.pixel_unshuffle(frames.flatten(1, 2), 2))
        for block in self.fine:
            x = block(x, told)
        y = self.down(x)
        for block in self.coarse:
            y = block(y, told)
        x = x + functional.pixel_shuffle(self.up(y), 2)
        for block in self.last:
            x = block(x, told)
        return frames[:, -1] + functional.pixel_shuffle(self.leave(x), 2)


class PixelModel:
    """The net as a frame model; see `core.frame_model`."""

    name = "pixels"

    def __init__(self, config: FrameNetConfig | None = None, game: str = "") -> None:
        self.config, self.game = config or FrameNetConfig(), game
        self.context, self.every = self.config.context, self.config.every
        self.size = self.config.size
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.config.seed)
            self.net = FrameNet(self.config)

    def step(
        self,
        frames: UInt8[np.ndarray, "batch time height width 3"],
        actions: Float[np.ndarray, "batch time action"],
    ) -> UInt8[np.ndarray, "batch height width 3"]:
        """The next frame of each row."""
        wanted = (self.context, self.size, self.size, 3)
        if frames.shape[1:] != wanted or actions.shape[1:] != (self.context, self.config.actions):
            raise ValueError(
                f"{self.name} takes frames (batch, {', '.join(map(str, wanted))}) and actions "
                f"(batch, {self.context}, {self.config.actions}); got {frames.shape} and "
                f"{actions.shape}"
            )
        found = np.empty((len(frames), *wanted[1:]), np.uint8)
        self.net.eval()
        for start in range(0, len(frames), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            pixels, pressed = as_pixels(frames[some]), torch.from_numpy(actions[some]).float()
            lacking = ROWS_AT_ONCE - len(pixels)
            pixels = torch.cat([pixels, pixels[-1:].expand(lacking, -1, -1, -1, -1)])
            pressed = torch.cat([pressed, pressed[-1:].expand(lacking, -1, -1)])
            with torch.no_grad():
                painted = self.net(pixels, pressed)[: len(frames[some])]
            found[some] = as_frames(painted)
        return found

    def save(self, folder: Path | str, about: dict[str, Any] | None = None) -> Path:
        """Config as JSON, weights as safetensors; the config last, so a folder with it is whole."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / TENSORS, _tensors(self.net))
        told = {"schema": SCHEMA, "name": self.name, "game": self.game, "about": about or {}}
        write_json(folder / CONFIG, told | {"config": asdict(self.config)})
        return folder

    @classmethod
    def load(cls, folder: Path | str) -> "PixelModel":
        """What `save` wrote; nothing is unpickled."""
        folder = Path(folder)
        told = read_json(folder / CONFIG)
        if not isinstance(told, dict) or told.get("schema") != SCHEMA:
            raise ValueError(f"{folder / CONFIG}: not a frame model of schema {SCHEMA}")
        config = told.get("config")
        known = FrameNetConfig.__dataclass_fields__
        whole = isinstance(config, dict) and set(config) == set(known)
        if not whole or any(type(value) is not int for value in config.values()):
            raise ValueError(f"{folder / CONFIG}: a config holds whole numbers {sorted(known)}")
        model = cls(FrameNetConfig(**config), str(told.get("game") or ""))
        tensors = read_tensors(folder / TENSORS)
        check_tensors(folder / TENSORS, tensors, _tensors(model.net))
        with torch.no_grad():
            for name, weight in model.net.state_dict().items():
                weight.copy_(torch.from_numpy(tensors[name].copy()))
        return model


def as_pixels(frames: UInt8[np.ndarray, "*batch height width 3"]) -> Tensor:
    """-1..1, channels before rows."""
    return torch.from_numpy(np.ascontiguousarray(frames)).float().movedim(-1, -3) / 127.5 - 1.0


def as_frames(pixels: Tensor) -> np.ndarray:
    """Whole numbers 0..255, channels last."""
    whole = ((pixels.clamp(-1, 1) + 1.0) * 127.5).round().to(torch.uint8)
    return whole.movedim(-3, -1).contiguous().numpy()


def _tensors(net: nn.Module) -> dict[str, np.ndarray]:
    return {name: weight.detach().cpu().numpy() for name, weight in net.state_dict().items()}
