"""Which pictures of a video a judge is shown, at what size, and what is refused unread."""

from dataclasses import dataclass, replace
from typing import Literal

from cosmolabe.core.protocol import fingerprint


@dataclass(frozen=True)
class Sampling:
    """A grid of times over a video, cut into windows."""

    name: str
    fps: float = 16.0
    """Of the grid (PhyProbe, section 3)."""
    frames: int = 48
    """Grid times of a window, at most (PhyProbe, section 3)."""
    window: Literal["start", "centre", "span", "multi"] = "start"
    """The first `frames` times, the middle ones, the whole video in so many, or one window after
    another."""
    grid: Literal["time", "released"] = "time"
    """`time`: at t the last frame with pts <= t. `released`: what the package phyprobe 0.1.0 does,
    frame numbers at the mean rate."""
    hold_last: bool = False
    """A video too short for a window repeats its last picture until the window is full."""
    stride: float | None = None
    """Seconds from one window's start to the next (`multi`); None sets them side by side."""

    def __post_init__(self) -> None:
        if not 0 < self.fps <= 1000:
            raise ValueError(f"fps is pictures per second, above 0 and up to 1000; got {self.fps}")
        if not 1 <= self.frames <= 100_000:
            raise ValueError(f"frames counts grid times, 1 or more; got {self.frames}")
        if self.window not in ("start", "centre", "span", "multi"):
            raise ValueError(f"no window '{self.window}'; have start, centre, span, multi")
        if self.grid not in ("time", "released"):
            raise ValueError(f"no grid '{self.grid}'; have time, released")
        if self.grid == "released" and self.window not in ("span", "start"):
            raise ValueError("the released grid knows the windows span and start only")
        if self.stride is not None and self.steps < 1:
            raise ValueError(f"stride is seconds, one grid step or more; got {self.stride}")

    @property
    def seconds(self) -> float:
        """Length of a full window at the grid's rate."""
        return self.frames / self.fps

    @property
    def steps(self) -> int:
        """Grid steps from one window's start to the next."""
        return self.frames if self.stride is None else round(self.stride * self.fps)

    @property
    def key(self) -> str:
        """Fingerprint of every choice but the name."""
        return fingerprint(replace(self, name=""))


@dataclass(frozen=True)
class Canvas:
    """The square that a picture is fitted into, its shape kept, the rest filled."""

    size: int = 448
    """Side in pixels."""
    fill: int = 128
    """Grey of the bars, 0..255: the middle, which normalised encoders see as 0."""
    resize: Literal["smooth", "released"] = "smooth"
    """`smooth`: a triangle as wide as the reduction, on display size. `released`: bilinear between
    four neighbours, cut to whole numbers, pixels taken as square (phyprobe 0.1.0)."""

    def __post_init__(self) -> None:
        if not 1 <= self.size <= 8192:
            raise ValueError(f"a canvas has 1 to 8192 pixels a side; got {self.size}")
        if not 0 <= self.fill <= 255:
            raise ValueError(f"fill is a grey, 0 to 255; got {self.fill}")
        if self.resize not in ("smooth", "released"):
            raise ValueError(f"no resize '{self.resize}'; have smooth, released")

    @property
    def key(self) -> str:
        """Fingerprint of every choice."""
        return fingerprint(self)


@dataclass(frozen=True)
class Limits:
    """What is refused before it is decoded, and when a worker is stopped. All chosen by us."""

    pixels: int = 36_000_000
    """Of one frame; 8K is 33 million."""
    frames: int = 2_000_000
    """Of a video; nine hours at 60 a second."""
    seconds: float = 12 * 3600.0
    """Of a video."""
    bytes: int = 8 << 30
    """Of a file, of what an archive claims to hold, and of the windows given back at once."""
    timeout: float = 300.0
    """Seconds of clock time that one input may take in a worker."""

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if not value > 0:
                raise ValueError(f"the limit '{name}' is above 0; got {value}")


LIMITS = Limits()

SAMPLINGS = {
    sampling.name: sampling
    for sampling in (
        Sampling("physics-1"),
        Sampling("physics-1-centre", window="centre"),
        Sampling("physics-1-span", window="span"),
        Sampling("physics-1-multi", window="multi"),
        Sampling("physics-1-sliding", frames=16, window="multi", stride=0.5),
        Sampling("phyprobe-1", window="span", grid="released", hold_last=True),
        Sampling("phyprobe-1-start", window="start", grid="released", hold_last=True),
    )
}
"""By name. `phyprobe-1-start` is the released package with clip_sec=3, its training window."""

CANVASES = {"physics-1": Canvas(448), "phyprobe-1": Canvas(480, resize="released")}
"""By the protocol that uses them."""
EPSILON = 1e-3
"""Seconds by which a frame may be late for a grid time: Matroska rounds to milliseconds."""
