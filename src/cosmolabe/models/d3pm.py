"""D3PM: the words of the next state, found by undoing noise step by step (arXiv 2107.03006).

Forward, a word x_0 is kept until step t with chance ᾱ_t and else replaced: by any word
(`uniform`), or by the word that says nothing (`absorbing`). Backward, the network sees x_t and the
present frame and says p(x_0); x_{t-1} is drawn from

    p(x_{t-1} | x_t)  ∝  Σ_{x_0} q(x_t | x_{t-1}) q(x_{t-1} | x_0) p(x_0),

in closed form, without matrices. Step 1 gives x_0 itself. Loss: cross-entropy of x_0, plus 0.001
times the bound KL(q(x_{t-1} | x_t, x_0) ‖ p(x_{t-1} | x_t)).
"""

import math
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.nets.discrete import Discrete, Look, Size
from cosmolabe.nets.worlds import NetworkWorld, create_world, load_world

BOUND = 0.001
"""Weight of the variational bound beside the cross-entropy."""
SIZES = {
    "laptop": Size(64, 2, 1, 4, 2, changes=14, places=32, steps=6),
    # Width and layers as in AutoWorldModel-Bench, and its absolute bins.
    "paper": Size(256, 3, 1, 8, 4, changes=0, places=256, steps=20, offsets=False),
}
PROCESS = "absorbing"


def alpha_bar(steps: int) -> Float[Tensor, " time"]:
    """Chance that a word is still itself at step 0..T: cos²(π/2 · t/T), 1 at 0 and 0 at T."""
    return torch.tensor([math.cos(math.pi / 2 * t / steps) ** 2 for t in range(steps + 1)])


class D3PM(Discrete):
    """The network with its noise."""

    process = PROCESS
    kept: Tensor
    noise_words: Tensor

    def __init__(self, manifest: Manifest, size: str) -> None:
        if size not in SIZES:
            raise ValueError(f"d3pm has no size '{size}'; have {list(SIZES)}")
        super().__init__(manifest, SIZES[size])
        self.register_buffer("kept", alpha_bar(self.shape.steps), persistent=False)
        words = F.pad(self.known, (0, 1), value=False)
        self.register_buffer("noise_words", words, persistent=False)

    # Forward.

    def stationary(self) -> Float[Tensor, "number word"]:
        """What a word turns into when it is replaced: chances over all words and the hidden one."""
        if self.process == "uniform":
            return self.noise_words / self.noise_words.sum(-1, keepdim=True)
        hidden = torch.zeros_like(self.noise_words, dtype=torch.float32)
        hidden[:, self.hidden] = 1
        return hidden

    def noised(self, words: Tensor, time: Int[Tensor, " frame"]) -> Tensor:
        """x_t drawn from q(x_t | x_0) = ᾱ_t [x_t = x_0] + (1 - ᾱ_t) · stationary."""
        stays = torch.rand(words.shape, generator=self.dice) < self.kept[time][:, None, None]
        return torch.where(stays, words, self.replaced(words))

    def replaced(self, words: Tensor) -> Tensor:
        """Words drawn from the stationary distribution."""
        if self.process == "absorbing":
            return torch.full_like(words, self.hidden)
        return self.any_words(words.shape)

    # Backward.

    def kept_before(self, time: Int[Tensor, " frame"]) -> Float[Tensor, " frame"]:
        """ᾱ of the step before, t - 1."""
        return self.kept[time - 1]

    def posterior(
        self,
        noisy: Int[Tensor, "frame moving number"],
        chances: Float[Tensor, "frame moving number word"],
        time: Int[Tensor, " frame"],
    ) -> Float[Tensor, "frame moving number word"]:
        """p(x_{t-1} | x_t) for chances of x_0; of a one-hot x_0 it is q(x_{t-1} | x_t, x_0)."""
        before = self.kept_before(time)
        kept = (self.kept[time] / before.clamp(min=1e-12))[:, None, None, None]  # in this step
        stays = F.one_hot(noisy, self.num_words + 1).to(chances.dtype)
        arrives = self.stationary().expand_as(chances).gather(-1, noisy[..., None])
        to_here = kept * stays + (1 - kept) * arrives
        before = before[:, None, None, None]
        both = to_here * (before * chances + (1 - before) * self.stationary())
        return both / both.sum(-1, keepdim=True).clamp(min=1e-30)

    def belief(
        self, noisy: Tensor, scores: Float[Tensor, "frame moving number word"]
    ) -> Float[Tensor, "frame moving number all_words"]:
        """Chances of x_0; an absorbing process tells it wherever x_t is not hidden."""
        chances = F.pad(scores.exp(), (0, 1))
        if self.process == "uniform":
            return chances
        told = F.one_hot(noisy, self.num_words + 1).to(scores.dtype)
        return torch.where((noisy == self.hidden)[..., None], chances, told)

    def step_back(self, noisy: Tensor, belief: Tensor, time: int, look: Look) -> Tensor:
        """x_{t-1}: noise again, through the posterior, what the network believes of x_0."""
        if self.mode == "argmax":
            belief = F.one_hot(belief.argmax(-1), self.num_words + 1).to(belief.dtype)
        now = torch.full((len(noisy),), time)
        chances = self.posterior(noisy, belief, now).clamp(min=1e-30).log()
        return (chances + self.luck(look, *chances.shape[2:])).argmax(-1)

    def find(self, look: Look) -> tuple[Tensor, Tensor]:
        """From pure noise to x_0, a step at a time."""
        start = self.stationary().clamp(min=1e-30).log()
        words = (start + self.luck(look, *start.shape)).argmax(-1)
        for time in range(self.shape.steps, 0, -1):
            scores, offsets = self.read(words, look, torch.full((len(words),), time))
            belief = self.belief(words, scores)
            if time > 1:
                words = self.step_back(words, belief, time, look)
        return self.pick(belief.clamp(min=1e-30).log(), look), offsets

    # Training.

    def shown(self, words: Tensor, noisy: Tensor) -> Tensor:
        """What the network sees of x_0 and x_t in training: x_t."""
        return noisy

    def word_loss(self, words: Tensor, counts: Tensor, look: Look) -> tuple[dict, Tensor]:
        """Cross-entropy of x_0 and the bound, at a step drawn for each frame."""
        time = torch.randint(1, self.shape.steps + 1, (len(words),), generator=self.dice)
        noisy = self.noised(words, time)
        scores, offsets = self.read(self.shown(words, noisy), look, time)
        open_ = counts * (noisy == self.hidden) if self.process == "absorbing" else counts
        missed = -scores.gather(-1, words[..., None])[..., 0]
        parts = {
            "entropy": (missed * open_).sum() / open_.sum().clamp(min=1),
            "bound": (self.bound(words, noisy, scores, time) * counts).sum() / counts.sum(),
        }
        return parts | {"words": parts["entropy"] + BOUND * parts["bound"]}, offsets

    def bound(self, words: Tensor, noisy: Tensor, scores: Tensor, time: Tensor) -> Tensor:
        """KL(q(x_{t-1} | x_t, x_0) ‖ p(x_{t-1} | x_t)) of every word; -log p(x_0) at step 1."""
        if self.process == "uniform":
            return self.gap_of_posteriors(words, noisy, scores, time)
        # A hidden word is shown in this step with this chance, or stays hidden under both.
        shown = (self.kept_before(time) - self.kept[time]) / (1 - self.kept[time])
        missed = -scores.gather(-1, words[..., None])[..., 0]
        return shown[:, None, None] * missed * (noisy == self.hidden)

    def gap_of_posteriors(
        self, words: Tensor, noisy: Tensor, scores: Tensor, time: Tensor
    ) -> Tensor:
        """The bound of any process, from both posteriors."""
        belief = self.belief(noisy, scores)
        true = self.posterior(noisy, F.one_hot(words, self.num_words + 1).to(scores.dtype), time)
        said = self.posterior(noisy, belief, time)
        gap = true * (true.clamp(min=1e-12).log() - said.clamp(min=1e-12).log())
        first = -belief.clamp(min=1e-12).gather(-1, words[..., None])[..., 0].log()
        return torch.where((time == 1)[:, None, None], first, gap.sum(-1))


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained model."""
    return create_world("d3pm", D3PM, manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """A trained model from its checkpoint folder."""
    return load_world("d3pm", D3PM, folder, manifest)


MODEL = ModelPart(
    "d3pm",
    "Discrete diffusion of the next state's words, with a real posterior.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
    recipe={"seen": 1, "unroll": 24, "first_unroll": 24, "growth": 0.0},
)
