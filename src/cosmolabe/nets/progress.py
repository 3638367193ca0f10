"""Where a training stands, and who wants to hear of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """Where training stands."""

    step: int
    seconds: float
    """Of training, evaluations not counted, earlier sittings included."""
    loss: float
    """Mean total loss of the last steps (up to 20)."""
    parts: dict[str, float]
    rate: float
    share: float
    """Share of the budget used, 0..1."""
    waiting: float
    """Share of the time spent waiting for data."""
    finished: bool = False
    interrupted: bool = False


OnProgress = Callable[[Progress], None]
OnEvaluate = Callable[[Any, Progress], None]
"""Called with the model as it would be saved now; what it does costs no training time."""
