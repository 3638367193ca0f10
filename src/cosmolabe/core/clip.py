"""A clip: pictures, when each is shown, and what was found out while reading them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8


@dataclass(frozen=True)
class Clip:
    """One window of a video on the sampling grid of a protocol.

    `frames` holds every picture once; `shown` says which of them each grid time shows, so that a
    still or slow video is not encoded twice. `frames[shown]` is the window as it plays.
    """

    frames: UInt8[np.ndarray, "picture height width 3"]
    shown: Int[np.ndarray, " time"]
    """Index into `frames` of each grid time."""
    times: Float[np.ndarray, " time"]
    """Seconds since the first frame of the video, on the grid."""
    fps: float
    """Of the grid."""
    source_fps: float
    """Mean rate of the frames of this window that differ in time; what a duplicate hides."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What decoding met: codec, rotation, stream length, repaired or repeated frames, warnings."""

    def __post_init__(self) -> None:
        if self.frames.ndim != 4 or self.frames.shape[-1] != 3 or not len(self.frames):
            raise ValueError(f"a clip holds RGB pictures (T, H, W, 3); got {self.frames.shape}")
        if len(self.shown) != len(self.times) or not len(self.shown):
            raise ValueError(
                f"a clip shows one picture at each time; got {len(self.shown)} and "
                f"{len(self.times)}"
            )
        if self.shown.min() < 0 or self.shown.max() >= len(self.frames):
            raise ValueError("a clip shows pictures that it does not hold")

    def __len__(self) -> int:
        """Grid times."""
        return len(self.shown)

    @property
    def played(self) -> UInt8[np.ndarray, "time height width 3"]:
        """The pictures as the window plays them, repeats included."""
        return self.frames[self.shown]
