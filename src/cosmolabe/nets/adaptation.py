"""How a vision-language model is adapted to questions: all that decides the numbers.

The defaults are UNIVERSE's (arXiv 2506.17967): F_P, AdamW, 5e-5, cosine with 10 % warm-up, weight
decay 1e-6, clip 1.0, effective batch 32, one epoch, uniform-8, the optimised mix.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import Question
from cosmolabe.core.seeds import generator
from cosmolabe.data.frame_choice import frame_choice
from cosmolabe.data.questions.mixing import Mix, mixture, sample_mix
from cosmolabe.nets.strategies import parse_strategy

SCHEMA = 1


@dataclass(frozen=True)
class Adaptation:
    """A recipe."""

    strategy: str = "P"
    """Of `nets.strategies`."""
    rate: float = 5e-5
    """At the top. The paper uses this one for every strategy; sweep it."""
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 1e-6
    warmup: float = 0.1
    """Share of all steps."""
    clip: float = 1.0
    """Of the gradient's norm."""
    batch: int = 32
    """Questions of one step, all devices and accumulation together."""
    micro: int = 0
    """Questions at once on a device, 0: the whole batch; the paper has 1, 4 times, on 8."""
    epochs: float = 1.0
    """One epoch asks one question of every clip; fewer than one is a part of it."""
    steps: int = 0
    """Used in place of `epochs` where above 0."""
    frames: str = "uniform:8"
    mix: Mix | None = field(default_factory=Mix)
    """None: every question that is given, as it is."""
    seed: int = 0
    """Of the mix, the order and LoRA's first numbers."""
    precision: str = "float32"
    """float32, or bf16 by autocast (the paper's; never on a CPU)."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        parse_strategy(self.strategy)
        frame_choice(self.frames)
        if not (0 < self.rate < 1 and math.isfinite(self.rate)):
            raise ValueError(f"rate lies above 0 and below 1; got {self.rate}")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup is a share of all steps, in [0, 1); got {self.warmup}")
        if self.batch < 1 or self.micro < 0 or (self.micro and self.batch % self.micro):
            raise ValueError(
                f"batch is 1 or more and a multiple of micro; got {self.batch} and {self.micro}"
            )
        if self.steps < 0 or (not self.steps and not 0 < self.epochs < math.inf):
            raise ValueError(f"steps or epochs above 0; got {self.steps} and {self.epochs}")
        if self.precision not in ("float32", "bf16"):
            raise ValueError(f"precision is float32 or bf16; got {self.precision!r}")

    @property
    def hash(self) -> str:
        """16 hex digits of every choice."""
        return fingerprint(self)

    @property
    def at_once(self) -> int:
        """Questions of one pass."""
        return self.micro or self.batch

    def num_steps(self, questions: int) -> int:
        """Steps over so many questions."""
        return self.steps or max(1, round(self.epochs * questions / self.batch))


def drawn(questions: Iterable[Question], clips: int, recipe: Adaptation) -> list[Question]:
    """The questions of one epoch, one a clip, by the recipe's mix; drawn once, not every epoch.

    Raises:
        ValueError: The mix wants more questions of a kind than there are, or there are none.
    """
    every = list(questions)
    if recipe.mix is None:
        found = every
    else:
        found = sample_mix(every, mixture(clips, recipe.mix.tasks, recipe.mix.formats), recipe.seed)
    if not found:
        raise ValueError(f"no question to train on, of {len(every)} about {clips} clips")
    return found


def order_of(questions: Sequence[Question], recipe: Adaptation) -> np.ndarray:
    """Numbers of the questions in the order they are asked: steps x batch, epoch after epoch."""
    wanted = recipe.num_steps(len(questions)) * recipe.batch
    rounds = -(-wanted // len(questions))
    order = [
        generator("adaptation", recipe.seed, number).permutation(len(questions))
        for number in range(rounds)
    ]
    return np.concatenate(order)[:wanted]
