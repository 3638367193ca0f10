"""Defects of discrete diffusion in public code, planted in `models/d3pm.py`."""

from collections.abc import Generator
from contextlib import contextmanager

from torch import Tensor

from cosmolabe.bench.defects.defect import Defect, swapped
from cosmolabe.models.d3pm import D3PM
from cosmolabe.nets.discrete import Look


@contextmanager
def no_noise_again() -> Generator[None]:
    """Every step hands on the network's best guess of x_0 as if it were x_{t-1}."""

    def step_back(self: D3PM, noisy: Tensor, belief: Tensor, time: int, look: Look) -> Tensor:
        return belief.argmax(-1)

    with swapped(D3PM, "step_back", step_back):
        yield


@contextmanager
def one_step_too_early() -> Generator[None]:
    """The posterior reads ᾱ of t - 2 where t - 1 belongs."""

    def kept_before(self: D3PM, time: Tensor) -> Tensor:
        return self.kept[(time - 2).clamp(min=0)]

    with swapped(D3PM, "kept_before", kept_before):
        yield


@contextmanager
def shown_the_answer() -> Generator[None]:
    """Training shows the network x_0 where x_t belongs."""

    def shown(self: D3PM, words: Tensor, noisy: Tensor) -> Tensor:
        return words

    with swapped(D3PM, "shown", shown):
        yield


DEFECTS = (
    Defect(
        "no-noise-again",
        "d3pm",
        "The sampler feeds its guess of x_0 back without drawing x_{t-1} from the posterior.",
        "AutoWorldModel-Bench release (D6)",
        no_noise_again,
        in_training=False,
    ),
    Defect(
        "posterior-off-by-one",
        "d3pm",
        "The posterior takes the noise level of step t - 2 for that of t - 1.",
        "cloneofsimo/d3pm#3",
        one_step_too_early,
    ),
    Defect(
        "shown-the-answer",
        "d3pm",
        "Training shows the network x_0 instead of the noised x_t.",
        "cloneofsimo/d3pm#1",
        shown_the_answer,
    ),
)
