"""Episodes that no player plays: each starts where somebody says and follows given actions.

Scenarios stand beside this floor, so who collects hands them in (`bench.scenario_episodes`).
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, UInt8


@runtime_checkable
class Starts(Protocol):
    """What the scenario split of a game is made of; must survive pickling, for workers."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the scenarios; episode k of the split belongs to scenario k mod their number."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes when a start or a script does."""
        ...

    def episode(
        self, salt: str, index: int
    ) -> tuple[Float[np.ndarray, " world"], UInt8[np.ndarray, " tick"]]:
        """World vector at the start and the actions that follow, of one episode."""
        ...
