"""The second floor: whatever moves keeps moving as it did."""

import numpy as np

from cosmolabe.core.fields import ALIVE, VX, VY
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.core.rollout import SURE, Context, Prediction
from cosmolabe.nets.features import next_state, predicted_columns


class ConstantVelocity:
    """Moves every living mutable slot by its last velocity at each step.

    The velocity is the game's own, which a bounce has already turned in the tick of the bounce,
    when the last displacement is still a mixture of before and after.
    """

    name = "constant_velocity"

    def rollout(self, context: Context, seed: int = 0) -> Prediction:
        """The last state moved along; alive, fields and globals stay as they are."""
        horizon, masks = context.horizon, context.masks
        state = np.nan_to_num(context.states[:, -1])
        mutable = np.broadcast_to(masks.mutable & masks.valid, state.shape[:2])
        moves = (state[..., ALIVE] > 0.5) & mutable
        velocity = np.where(moves[..., None], state[..., [VX, VY]], 0)
        frames = []
        for _ in range(horizon):
            predicted = predicted_columns(state)
            predicted[..., :2] += velocity
            state = next_state(state, predicted, mutable, masks.wrap)
            frames.append(predicted_columns(state))
        return Prediction(
            states=np.stack(frames, axis=1),
            globals=np.repeat(np.nan_to_num(context.globals[:, -1:]), horizon, axis=1),
            terminal=np.full((len(context), horizon), -SURE, np.float32),
        )


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> ConstantVelocity:
    """There is nothing to size or to seed."""
    return ConstantVelocity()


MODEL = ModelPart("constant_velocity", "Keeps every entity's last velocity.", create)
