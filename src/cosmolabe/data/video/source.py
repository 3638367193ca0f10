"""What every kind of video gives: when its pictures are shown, and the pictures asked for."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.data.video.protocols import Canvas


@runtime_checkable
class Picture(Protocol):
    """One frame, decoded but not yet turned into colours at a size."""

    def draw(self, canvas: Canvas, square: UInt8[np.ndarray, "side side 3"]) -> None:
        """Write it upright, in RGB, on the square."""
        ...


@runtime_checkable
class Source(Protocol):
    """A video whose index is known and whose pictures are decoded as they are asked for."""

    facts: dict[str, Any]
    """What is known so far; grows while pictures are read."""
    warnings: list[str]
    times: Float[np.ndarray, " frame"]
    """Seconds since the first frame at which each frame is first shown, rising."""
    end: float
    """Seconds since the first frame at which the last frame is shown no more."""
    doubtful: set[int]
    """Frames that are built on damaged ones, or stand in for them."""
    rate: float
    """Mean frames per second as the container states it, else as the frames have it."""

    def pictures(self, wanted: Sequence[int]) -> Iterator[tuple[int, Picture]]:
        """The frames of these numbers, which rise.

        Raises:
            Unsure: The index was wrong; `resurvey`, then ask again.
        """
        ...

    def resurvey(self) -> None:
        """Decode all of it once to learn which frames there really are; renews `times`."""
        ...

    def close(self) -> None:
        """Give back what is open."""
        ...


class Unsure(Exception):
    """What the index promised could not be decoded; nothing is wrong with the caller."""


def one_line(error: BaseException) -> str:
    """What a library says, without its line breaks, and cut where it goes on and on."""
    return " ".join(str(error).split())[:200]


def over(colours: UInt8[np.ndarray, "height width 4"], fill: int) -> np.ndarray:
    """RGBA laid over a grey; RGB."""
    alpha = colours[..., 3:].astype(np.uint16)
    if alpha.min(initial=255) == 255:
        return np.ascontiguousarray(colours[..., :3])
    mixed = colours[..., :3] * alpha + np.uint16(fill) * (255 - alpha) + 127
    return (mixed // 255).astype(np.uint8)
