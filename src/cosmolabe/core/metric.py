"""What one file of `metrics/` offers: a measure that knows its unit, range and direction."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Metric:
    """One measure; `function` takes and gives numpy arrays."""

    name: str
    summary: str
    """One sentence for tables and docs."""
    unit: str
    low: float
    high: float
    direction: Literal["higher", "lower", "none"]
    function: Callable[..., np.ndarray]

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"metric '{self.name}': range runs backwards: {self.low}..{self.high}")

    def outside(self, values: np.ndarray) -> np.ndarray:
        """Where a value leaves the measure's range; NaN means missing and is never outside."""
        values = np.asarray(values, np.float64)
        return (values < self.low) | (values > self.high)
