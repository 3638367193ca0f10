"""What changes over the budget: the learning rate, and how far training imagines."""

import math

from cosmolabe.nets.recipe import TrainConfig

LOWEST = 0.02
"""The rate at the end, as a share of that at the top."""


def share_of(config: TrainConfig, step: int, seconds: float) -> float:
    """Share of the budget used, whichever of steps and seconds is nearer its end; may pass 1."""
    shares = [0.0]
    if config.steps is not None:
        shares.append(step / config.steps)
    if config.seconds is not None:
        shares.append(seconds / config.seconds)
    return max(shares)


def rate_at(config: TrainConfig, step: int, seconds: float) -> float:
    """Learning rate of the next step: linear warm-up, then cosine to a fiftieth."""
    warm = min(1.0, (step + 1) / (config.warmup + 1))
    share = min(1.0, share_of(config, step, seconds))
    return config.rate * warm * (LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * share)) / 2)


def unroll_at(config: TrainConfig, step: int, seconds: float) -> int:
    """Frames to imagine in the next step: few at first, which is quick, then all."""
    share = share_of(config, step, seconds)
    grown = 1.0 if config.growth == 0 else min(1.0, share / config.growth)
    return config.first_unroll + int(grown * (config.unroll - config.first_unroll))
