"""Least, greatest, mean and spread of a column, of one episode or of all, as LeRobot keeps them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8


@dataclass(frozen=True)
class Stats:
    """What is known of a column after `count` rows; sums of two are the stats of both."""

    least: np.ndarray
    most: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    """Summed squares of what differs from the mean."""
    count: int

    @classmethod
    def of(cls, values: np.ndarray) -> "Stats":
        """Of (row,) or (row, ...)."""
        wide = values.reshape(len(values), -1) if values.ndim == 1 else values
        wide = wide.astype(np.float64)
        mean = wide.mean(0)
        return cls(wide.min(0), wide.max(0), mean, ((wide - mean) ** 2).sum(0), len(wide))

    def __add__(self, other: "Stats") -> "Stats":
        """Of the rows of both (Chan's update, which loses nothing to large means)."""
        count = self.count + other.count
        gap = other.mean - self.mean
        return Stats(
            least=np.minimum(self.least, other.least),
            most=np.maximum(self.most, other.most),
            mean=self.mean + gap * other.count / count,
            squares=self.squares + other.squares + gap**2 * self.count * other.count / count,
            count=count,
        )

    def told(self) -> dict[str, list]:
        """As LeRobot names them."""
        spread = np.sqrt(self.squares / self.count)
        named = {"min": self.least, "max": self.most, "mean": self.mean, "std": spread}
        return {name: value.tolist() for name, value in named.items()} | {"count": [self.count]}


def of_pictures(frames: UInt8[np.ndarray, "time height width 3"]) -> Stats:
    """Of each colour, 0 to 1, in the shape (3, 1, 1) that image models divide by."""
    pixels = frames.reshape(-1, 3)
    mean = pixels.mean(0, dtype=np.float64) / 255
    square = np.square(pixels, dtype=np.uint16).mean(0, dtype=np.float64) / 255**2
    spread = len(frames) * np.maximum(square - mean**2, 0)
    parts = (pixels.min(0) / 255, pixels.max(0) / 255, mean, spread)
    return Stats(*(part.reshape(3, 1, 1) for part in parts), len(frames))
