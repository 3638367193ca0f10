"""Which pictures of a clip a model is shown: `uniform:8`, `first:2`."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from cosmolabe.data.questions.protocol import SAMPLERS

GRAMMAR = f"{' or '.join(SAMPLERS)}, a colon and a number of frames, as uniform:8"


@dataclass(frozen=True)
class FrameChoice:
    """A way of choosing and how many; a clip that is shorter shows each of its frames once."""

    sampler: str = "uniform"
    count: int = 8

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS or self.count < 1:
            raise ValueError(f"frames are chosen by {GRAMMAR}; got {self}")

    def __str__(self) -> str:
        return f"{self.sampler}:{self.count}"

    def places(self, length: int) -> tuple[int, ...]:
        """Numbers of the frames that are shown, of so many."""
        return SAMPLERS[self.sampler](self.count, length)

    def of(
        self, frames: UInt8[np.ndarray, "time height width 3"]
    ) -> UInt8[np.ndarray, "frame height width 3"]:
        """Those frames."""
        return frames[list(self.places(len(frames)))]


def frame_choice(said: str | FrameChoice) -> FrameChoice:
    """The choice that a text names."""
    if isinstance(said, FrameChoice):
        return said
    sampler, _, count = said.strip().partition(":")
    if not count.isdecimal():
        raise ValueError(f"frames are chosen by {GRAMMAR}; got {said!r}")
    return FrameChoice(sampler, int(count))
