"""A reading: a value that carries its interval, unit, direction, floor, ceiling and protocol."""

import math
from dataclasses import dataclass
from typing import Literal

NAN = float("nan")


@dataclass(frozen=True)
class Reading:
    """One number a judge gives, with all that is needed not to misread it.

    Missing is NaN, never 0. `low` and `high` bound the 95 % interval.
    """

    judge: str
    metric: str
    value: float
    unit: str
    direction: Literal["higher", "lower", "none"]
    low: float = NAN
    high: float = NAN
    floor: float = NAN
    """What a do-nothing world model scores."""
    ceiling: float = NAN
    """What the real thing scores."""
    n: int = 0
    """Inputs the value rests on."""
    skipped: int = 0
    """Inputs that could not be judged; each is named in clips.jsonl."""
    protocol: str = ""
    """Fingerprint of every choice that can move the number."""
    data: str = ""
    """Fingerprint of the items judged; comparing needs both."""
    game: str = ""
    model: str = ""
    horizon: int | None = None
    why: str = ""
    """Why the value is missing, or what it does not measure."""
    schema: int = 1

    def __post_init__(self) -> None:
        if not math.isnan(self.low) and not self.low <= self.high:
            raise ValueError(f"{self.metric}: interval runs backwards: {self.low}..{self.high}")
