"""What goes into a world model and what comes out: one call, strictly open loop."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from cosmolabe.core.manifest import Masks


@dataclass(frozen=True)
class Context:
    """All that a world model is told; nothing of the future but the actions.

    Prediction k = 1..H uses action index W - 2 + k of the W + H given: actions[:, W - 1] is chosen
    after seeing the last context state and yields the first predicted one.
    """

    registry: Float[np.ndarray, "batch slot registry"]
    states: Float[np.ndarray, "batch window slot state"]
    globals: Float[np.ndarray, "batch window global"]
    actions: Float[np.ndarray, "batch window_and_horizon action"]
    masks: Masks

    @property
    def window(self) -> int:
        """W, the number of true context states."""
        return self.states.shape[1]

    @property
    def horizon(self) -> int:
        """H, the number of states to predict."""
        return self.actions.shape[1] - self.window

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: slice | np.ndarray) -> "Context":
        """The same context for some rows of the batch."""
        return Context(
            registry=self.registry[rows],
            states=self.states[rows],
            globals=self.globals[rows],
            actions=self.actions[rows],
            masks=self.masks.take(rows),
        )


SURE = 10.0
"""Terminal logit of whoever knows how it is (our choice): + over, - not over."""


@dataclass(frozen=True)
class Prediction:
    """What a world model imagines for steps 1..H."""

    states: Float[np.ndarray, "batch horizon slot predicted"]
    """Columns x, y, alive (0..1) and the game fields, 17 in `awm`."""
    globals: Float[np.ndarray, "batch horizon global"]
    terminal: Float[np.ndarray, "batch horizon"]
    """Logit that the episode is over in that state."""

    def take(self, rows: slice | np.ndarray) -> "Prediction":
        """Some rows of the batch."""
        return Prediction(self.states[rows], self.globals[rows], self.terminal[rows])


@runtime_checkable
class WorldModel(Protocol):
    """Anything that can be judged on states."""

    name: str

    def rollout(self, context: Context, seed: int = 0) -> Prediction:
        """Imagine `context.horizon` states after the last context state."""
        ...
