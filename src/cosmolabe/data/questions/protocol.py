"""How long a clip is, how often its pictures are taken, and which of them a model sees."""

from dataclasses import dataclass

import numpy as np

GAME_FPS = 60.0  # ticks a second
LENGTH = 14  # frames of a clip (UNIVERSE)
COVERED = 12  # of 14 frames one action word must cover; ours


@dataclass(frozen=True)
class ClipProtocol:
    """What a clip is. `vqa/1` is ours; `vqa/universe-1` takes every frame, as UNIVERSE says."""

    name: str = "vqa/1"
    length: int = LENGTH
    """Frames."""
    stride: int = 4
    """Ticks of a 60-fps game from one frame to the next."""

    def __post_init__(self) -> None:
        if self.length < 2 or self.stride < 1:
            raise ValueError(
                f"a clip has 2 frames or more, 1 tick or more apart; got {self.length} frames "
                f"every {self.stride} ticks"
            )

    @property
    def ticks(self) -> int:
        """Ticks from the first frame to the last."""
        return (self.length - 1) * self.stride

    @property
    def covered(self) -> int:
        """Frames that one action word must cover: 12 of 14, the same share of other lengths."""
        return -(-COVERED * self.length // LENGTH)


PROTOCOLS = {each.name: each for each in (ClipProtocol(), ClipProtocol("vqa/universe-1", stride=1))}


def protocol_named(name: str) -> ClipProtocol:
    """The protocol; an unknown name is refused with the names there are."""
    if name not in PROTOCOLS:
        raise ValueError(f"no clip protocol named '{name}'; have {list(PROTOCOLS)}")
    return PROTOCOLS[name]


def uniform(count: int, length: int) -> tuple[int, ...]:
    """Numbers of `count` frames spread evenly over `length`, first and last included.

    Half a frame rounds to the even one; where more are wanted than there are, each is taken once.
    """
    _check(count, length)
    if count >= length:
        return tuple(range(length))
    return tuple(int(place) for place in np.round(np.linspace(0, length - 1, count)))


def first(count: int, length: int) -> tuple[int, ...]:
    """Numbers of the first `count` frames, or of all where there are fewer."""
    _check(count, length)
    return tuple(range(min(count, length)))


def _check(count: int, length: int) -> None:
    if count < 1 or length < 1:
        raise ValueError(f"wanted {count} of {length} frames; both must be at least 1")


SAMPLERS = {"uniform": uniform, "first": first}
