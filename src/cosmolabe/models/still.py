"""The floor: nothing ever moves again."""

import numpy as np

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.rollout import SURE, Context, Prediction
from cosmolabe.nets.features import predicted_columns


class Still:
    """Copies the last context state, its globals included."""

    name = "still"

    def rollout(self, context: Context, seed: int = 0) -> Prediction:
        """The last context state, `context.horizon` times over."""
        horizon = context.horizon
        states = np.nan_to_num(predicted_columns(context.states[:, -1:]))
        return Prediction(
            states=np.repeat(states, horizon, axis=1),
            globals=np.repeat(np.nan_to_num(context.globals[:, -1:]), horizon, axis=1),
            terminal=np.full((len(context), horizon), -SURE, np.float32),
        )


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> Still:
    """There is nothing to size or to seed."""
    return Still()


MODEL = ModelPart("still", "Copies the last state it was shown.", create)
