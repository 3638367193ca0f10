"""The physics judge as a reward: batched tensors in, scores out, with a gradient.

For guidance and fine-tuning of generators. A video that stands still violates nothing, and a
generator would find that out; so what moves less than the protocol's floor is given the score
`still`, without a gradient, as if it were blatant.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cosmolabe.data.video import LIMITS
from cosmolabe.judges.physics import Physics
from cosmolabe.judges.physics.frames import clips_of
from cosmolabe.judges.physics.motion import changes

STILL = 1.0
"""Score of what does not move (ours: as a blatant violation)."""


@dataclass(frozen=True)
class Rewarded:
    """Scores of a batch."""

    violation: Float[Tensor, " batch"]
    """Raw; with a gradient where the pixels have one. Lower is better."""
    motion: Float[Tensor, " batch"]
    """Change of the picture a second, shares of full brightness."""
    moves: Bool[Tensor, " batch"]
    """Whether the floor is passed; where not, violation is `still`."""

    @property
    def reward(self) -> Float[Tensor, " batch"]:
        """Higher is better."""
        return -self.violation


@dataclass(frozen=True)
class Reward:
    """A judge for tensors; `Reward(Physics.load())(pixels).reward`."""

    physics: Physics
    still: float = STILL

    def __call__(
        self, pixels: Float[Tensor, "batch time 3 height width"], fps: float | int | None = None
    ) -> Rewarded:
        """Scores of pixels in 0..1; `fps` is theirs, where it is not that of the protocol's grid.

        Frames are taken at the grid's times as the protocol takes them from a file, with the last
        frame shown at or before each. Nothing else abstains here.
        """
        check(pixels)
        grid = self.physics.protocol.sampling.fps
        pixels = on_grid(pixels, float(fps or grid), grid)
        raw = self.physics.violation(pixels)
        with torch.no_grad():
            motion = torch.tensor([self._motion(clip) for clip in pixels]).to(raw)
        floor = self.physics.protocol.motion_floor
        moves = motion >= floor if floor else torch.ones_like(motion, dtype=torch.bool)
        violation = torch.where(moves, raw, torch.full_like(raw, self.still))
        return Rewarded(violation, motion, moves)

    def _motion(self, clip: Float[Tensor, "time 3 height width"]) -> float:
        protocol = self.physics.protocol
        frames = (clip.permute(0, 2, 3, 1).cpu().float().clamp(0, 1) * 255).round()
        if len(frames) < 2:
            return 0.0
        windows = clips_of(frames.to(torch.uint8).numpy(), protocol.sampling.fps, protocol)
        moved, until = 0.0, -np.inf
        before = None
        for window in windows:
            fresh = window.times > until + 1e-6
            found = changes(window, protocol.motion_ignored, protocol.canvas.fill, before)
            moved += float(found[fresh].sum())
            until, before = float(window.times[-1]), window.frames[window.shown[-1]]
        return moved / ((len(frames) - 1) / protocol.sampling.fps)


def check(pixels: Tensor) -> None:
    """Refuse what is no batch of pixels."""
    fits = pixels.ndim == 5 and pixels.shape[2] == 3 and pixels.is_floating_point()
    if not fits or 0 in pixels.shape:
        raise ValueError(
            "pixels are floats in 0..1, (batch, time, 3, height, width), none of them 0; got "
            f"{pixels.dtype} {tuple(pixels.shape)}"
        )
    if not torch.isfinite(pixels.detach()).all():
        raise ValueError("pixels hold NaN or infinity")


def on_grid(
    pixels: Float[Tensor, "batch time 3 height width"], fps: float, grid: float
) -> Float[Tensor, "batch step 3 height width"]:
    """The frame shown at each time of the grid."""
    if not 0 < fps <= 10_000:
        raise ValueError(f"fps is pictures per second, above 0; got {fps}")
    if pixels.shape[1] / fps > LIMITS.seconds:
        raise ValueError(
            f"{pixels.shape[1]} frames at {fps:g} fps last more than {LIMITS.seconds:g} s"
        )
    if fps == grid:
        return pixels
    steps = max(1, round(pixels.shape[1] / fps * grid))
    places = np.floor(np.arange(steps) / grid * fps + 1e-3).astype(np.int64)
    return pixels[:, np.minimum(places, pixels.shape[1] - 1).tolist()]
