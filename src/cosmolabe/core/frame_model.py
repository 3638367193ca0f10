"""A world model of pixels: past frames and actions in, the next frame out."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, UInt8
from numpy import ndarray

CONTEXT, EVERY, SIZE = 4, 1, 64


@runtime_checkable
class FrameModel(Protocol):
    """Anything that paints the next frame; `facts_of` says what else it may tell of itself."""

    name: str

    def step(
        self,
        frames: UInt8[ndarray, "batch time height width 3"],
        actions: Float[ndarray, "batch time action"],
    ) -> UInt8[ndarray, "batch height width 3"]:
        """The frame after the last one. Action t was chosen after seeing frame t.

        A row must not depend on the rows beside it, and the same rows must give the same frames.
        """
        ...


@dataclass(frozen=True)
class FrameFacts:
    """How a frame model wants to be fed."""

    context: int = CONTEXT
    """Past frames it is shown."""
    every: int = EVERY
    """Ticks of a 60-fps game from one of its frames to the next."""
    size: int = SIZE
    """Height of its frames, pixels."""


def facts_of(model: Any) -> FrameFacts:  # noqa: ANN401 - anyone's model
    """Its attributes `context`, `every` and `size`, whole numbers from 1; defaults else.

    Raises:
        ValueError: One of them is something else.
    """
    told = {}
    for name in ("context", "every", "size"):
        value = getattr(model, name, None)
        if value is None:
            continue
        if type(value) is not int or not 1 <= value <= 4096:
            raise ValueError(
                f"a frame model's `{name}` is a whole number, 1 to 4096; got {value!r}"
            )
        told[name] = value
    return FrameFacts(**told)
