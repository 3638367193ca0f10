"""What a planted defect says of itself."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Defect:
    """One defect: entering `plant()` gives the model's code the defect, leaving takes it back."""

    name: str
    model: str
    """The starter it is planted in."""
    what: str
    """One sentence: what the code does wrong."""
    seen_in: str
    """Where it was seen in public code."""
    plant: Callable[[], AbstractContextManager[None]]
    in_training: bool = True
    """False where only rollouts differ, so that the sound model's weights serve."""
    measured: bool = True
    """False where no training or rollout could show it, so that it has a test and no figure."""


@contextmanager
def swapped(owner: Any, name: str, value: Any) -> Generator[None]:  # noqa: ANN401 - any attribute
    """The attribute `name` of a class or module holds another value for a while."""
    before = owner.__dict__[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
