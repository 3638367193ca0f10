"""Weights and AdamW's moments of them, as training keeps them to go on from."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor

MOMENTS = ("step", "exp_avg", "exp_avg_sq")
KEPT = ("weight", *MOMENTS)
Named = Iterable[tuple[str, Tensor]]


def moments_of(optimizer: torch.optim.AdamW, weight: Tensor) -> dict[str, Tensor]:
    """By name; before the first step all are 0."""
    empty = {name: torch.zeros_like(weight) for name in MOMENTS[1:]}
    return {"step": torch.zeros(()), **empty, **optimizer.state.get(weight, {})}


def kept_of(optimizer: torch.optim.AdamW, weights: Named) -> dict[str, np.ndarray]:
    """Everything `put_back` needs, as `weight/NAME`, `step/NAME` and so on."""
    found = {}
    for name, weight in weights:
        values = {"weight": weight, **moments_of(optimizer, weight)}
        found |= {f"{k}/{name}": v.detach().numpy() for k, v in values.items()}
    return found


def put_back(optimizer: torch.optim.AdamW, weights: Named, kept: Mapping[str, np.ndarray]) -> None:
    """Weights and moments as `kept_of` gave them."""
    for name, weight in weights:
        read = {k: torch.from_numpy(kept[f"{k}/{name}"].copy()) for k in KEPT}
        with torch.no_grad():
            weight.copy_(read["weight"])
        optimizer.state[weight] = {k: read[k] for k in MOMENTS}
