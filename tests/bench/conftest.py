"""A small store of pong, and models with known faults."""

from dataclasses import dataclass

import numpy as np
import pytest

from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.data.collect import collect


def copy_last(context: Context) -> Prediction:
    last = context.states[:, -1:]
    states = np.concatenate([last[..., :3], last[..., 5:19]], -1)
    return Prediction(
        np.repeat(states, context.horizon, 1),
        np.repeat(context.globals[:, -1:], context.horizon, 1),
        np.full((len(context), context.horizon), -9.0, np.float32),
    )


@dataclass
class Noisy:
    """Still, but shaken by `amount` of the world."""

    amount: float = 0.05
    name: str = "noisy"

    def rollout(self, context, seed=0):
        out = copy_last(context)
        noise = np.random.default_rng(seed).normal(0, self.amount, out.states[..., :2].shape)
        out.states[..., :2] += noise
        return out


@dataclass
class Breaks:
    """Still, but raises from its call number `after` on."""

    after: int = 1
    name: str = "breaks"
    calls: int = 0

    def rollout(self, context, seed=0):
        self.calls += 1
        if self.calls > self.after:
            raise RuntimeError("out of memory, say")
        return copy_last(context)


@pytest.fixture(scope="session")
def pong(tmp_path_factory):
    """24 short episodes of pong in the test split."""
    folder = tmp_path_factory.mktemp("pong") / "store"
    return collect("pong", folder, 24, split="test", max_ticks=240, salt="bench tests")


@pytest.fixture
def noisy():
    return Noisy


@pytest.fixture
def breaks():
    return Breaks


@pytest.fixture
def still():
    """Still as somebody else would write it."""
    return Noisy(0.0, "my_still")
