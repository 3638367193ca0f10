"""The protocols of the physics judge: every choice that can move a score, the weights included.

docs/judges/physics.md says why each choice differs. A protocol names the eye and the head it was
made for only once they are loaded (`bound`), so its fingerprint changes with either.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from cosmolabe.core.protocol import fingerprint
from cosmolabe.data.video import CANVASES, SAMPLINGS, Canvas, Sampling


@dataclass(frozen=True)
class PhysicsProtocol:
    """Every choice that can move a physics score."""

    name: str = "physics/1"
    sampling: Sampling = SAMPLINGS["physics-1-multi"]
    """The grid of times; the whole video is looked at, one window after another."""
    canvas: Canvas = CANVASES["physics-1"]
    """The square; its side becomes the eye's."""
    long_seconds: float = 3.0
    """Length of the long windows, as the head was trained (PhyProbe: 48 frames at 16 a second). A
    video no longer than this is one window, whole."""
    long_stride: float = 1.5
    """Seconds from one long window's start to the next."""
    short_seconds: float = 1.0
    """Length of the short windows, whose scores are the curve over time; 0 leaves them out."""
    short_stride: float = 0.25
    short_weight: float = 0.25
    """Share of the score that comes from the short windows."""
    quantile: float = 0.9
    """Which quantile of its windows' scores a video gets, at either length: the mean would bury
    three broken frames in ten sound seconds, the maximum believe the worst window alone."""
    motion_floor: float = 0.005
    """Shares of full brightness a second, mean over the picture; what moves less is not scored."""
    motion_ignored: float = 2.0
    """Levels of 255, after averaging 4 x 4 pixels, below which nothing has moved: noise is no
    motion."""
    shortest: float = 0.4
    """Seconds; a shorter video is not scored."""
    unlike: bool = True
    """Do not score what lies farther from the training clips than nearly all of them did."""
    encoder: str = ""
    """Key of the eye: weights and preprocessing."""
    head: str = ""
    """sha256 of the heads and of what they were trained on."""

    def __post_init__(self) -> None:
        for name in ("short_weight", "quantile"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} lies in 0..1; got {getattr(self, name)}")
        for name in ("long_seconds", "long_stride", "short_stride"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is seconds, above 0; got {getattr(self, name)}")
        for name in ("short_seconds", "motion_floor", "motion_ignored", "shortest"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is not negative; got {getattr(self, name)}")
        if not self.short_seconds and self.short_weight:
            raise ValueError("no short windows, so they can have no share: short_weight is 0 then")

    def bound(self, encoder: str, side: int, head: str, **choices: Any) -> "PhysicsProtocol":  # noqa: ANN401
        """The same for one eye and one head; `choices` are those the head was made for."""
        known = {name for name in self.__dataclass_fields__ if name not in FIXED}
        if set(choices) - known:
            raise ValueError(
                f"a head may choose {sorted(known)}; this one chooses {sorted(choices)}"
            )
        for name, value in choices.items():
            kind = type(getattr(PhysicsProtocol, name))  # of its default
            fits = type(value) is bool if kind is bool else type(value) in (int, float)
            if not fits or not math.isfinite(value):
                wanted = "true or false" if kind is bool else "a number"
                raise ValueError(f"'{name}' is {wanted}; the head chooses {str(value)[:60]!r}")
        canvas = (
            self.canvas if self.canvas.resize == "released" else replace(self.canvas, size=side)
        )
        return replace(self, canvas=canvas, encoder=encoder, head=head, **choices)

    @property
    def seen(self) -> tuple[Sampling, Canvas]:
        """What decides the pictures, and nothing else: the key of kept features."""
        return self.sampling, self.canvas

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change when any choice changes."""
        return fingerprint(self)


FIXED = ("name", "sampling", "canvas", "encoder", "head")
"""What no head's recipe may choose."""

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        PhysicsProtocol(),
        PhysicsProtocol(
            name="physics/phyprobe-1",
            sampling=SAMPLINGS["phyprobe-1"],
            canvas=CANVASES["phyprobe-1"],
            long_seconds=1e6,  # one window, however long the video
            long_stride=1e6,
            short_seconds=0.0,
            short_weight=0.0,
            motion_floor=0.0,
            shortest=0.0,
            unlike=False,
        ),
    )
}
"""By name; the first is the default. `physics/phyprobe-1` is what the package phyprobe 0.1.0 does:
48 frames over the whole video, the last one repeated where it is short, no abstention."""
