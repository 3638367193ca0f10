"""AdamW's moments of one weight, as training keeps them to go on from."""

import torch
from torch import Tensor

MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def moments_of(optimizer: torch.optim.AdamW, weight: Tensor) -> dict[str, Tensor]:
    """By name; before the first step all are 0."""
    empty = {name: torch.zeros_like(weight) for name in MOMENTS[1:]}
    return {"step": torch.zeros(()), **empty, **optimizer.state.get(weight, {})}
