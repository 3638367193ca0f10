"""MaskGIT: the words of the next state, all hidden at first, the surest shown first (2202.04200).

Training hides a share cos(π u / 2) of a frame's words, u drawn evenly for each frame, and asks for
the hidden ones. A rollout asks as often as `steps` says: each time every hidden word is drawn, the
surest are kept for good, and ceil(cos(π s / 2) · M) of the M words stay hidden, s the share of the
steps that is done. M counts words of slots that are there, whatever the padding.
"""

import math
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.model import ModelPart
from cosmolabe.nets.discrete import Discrete, Look, Size
from cosmolabe.nets.worlds import NetworkWorld, create_world, load_world

SIZES = {
    "laptop": Size(64, 2, 1, 4, 2, changes=14, places=32, steps=6),
    # Width and layers as in AutoWorldModel-Bench, and its absolute bins.
    "paper": Size(256, 3, 1, 8, 4, changes=0, places=256, steps=8, offsets=False),
}
CHOICE = 1.0
"""In sample mode: how much luck there is in which words are kept, less with every step (ours)."""

EQUAL = 1e-5
"""Words whose log chances differ by less are equally sure: the rounding of equal slots differs."""


def gamma(share: Float[Tensor, " *shape"]) -> Float[Tensor, " *shape"]:
    """Share of words that are hidden, 1 at 0 and 0 at 1."""
    return torch.cos(math.pi / 2 * share)


class MaskGIT(Discrete):
    """The network with its masks."""

    def __init__(self, manifest: Manifest, size: str) -> None:
        if size not in SIZES:
            raise ValueError(f"maskgit has no size '{size}'; have {list(SIZES)}")
        super().__init__(manifest, SIZES[size])

    # Training.

    def masks(self, shape: torch.Size) -> Bool[Tensor, "frame moving number"]:
        """Which words are hidden: a share of its own in every frame, each word on its own."""
        share = gamma(torch.rand((shape[0], 1, 1), generator=self.dice))
        return torch.rand(shape, generator=self.dice) < share

    def word_loss(self, words: Tensor, counts: Tensor, look: Look) -> tuple[dict, Tensor]:
        """Cross-entropy of the hidden words."""
        masks = self.masks(words.shape)
        seen = torch.where(masks, self.hidden, words)
        scores, offsets = self.read(seen, look, torch.zeros(len(words), dtype=torch.long))
        missed = -scores.gather(-1, words[..., None])[..., 0]
        open_ = counts * masks
        return {"words": (missed * open_).sum() / open_.sum().clamp(min=1)}, offsets

    # Rollout.

    def num_valid(self, words: Tensor) -> int:
        """M: words of a frame, of slots that are there (padding never comes this far)."""
        return words[0].numel()

    def still_hidden(self, step: int, words: Tensor) -> int:
        """How many of the M words are hidden after this step, counted from 1; the last leaves 0."""
        if step == self.shape.steps:
            return 0
        return math.ceil(self.schedule(step / self.shape.steps) * self.num_valid(words))

    def schedule(self, share: float) -> float:
        """Share of words hidden when this share of the steps is done: that of training."""
        return float(gamma(torch.tensor(share)))

    def surest(
        self, sure: Float[Tensor, "frame moving number"], hidden: Tensor, num_hidden: int
    ) -> Bool[Tensor, "frame moving number"]:
        """Which hidden words to keep so that `num_hidden` stay hidden; equally sure ones together.

        Together, because an order among equals could only come from the slots' numbers.
        """
        ranked = sure.masked_fill(~hidden, -torch.inf).flatten(1).sort(descending=True).values
        num_kept = hidden.flatten(1).sum(1) - num_hidden
        last = ranked.gather(1, (num_kept - 1).clamp(min=0)[:, None])
        return hidden & (sure >= last[..., None] - EQUAL) & (num_kept > 0)[:, None, None]

    def after_step(self, words: Tensor, drawn: Tensor, kept: Tensor) -> Tensor:
        """The words with those now kept; what was kept before stays as it is."""
        return torch.where(kept, drawn, words)

    def find(self, look: Look) -> tuple[Tensor, Tensor]:
        """From all hidden to none, the surest first."""
        shape = (*look.states.shape[:2], self.num_numbers)
        words = torch.full(shape, self.hidden)
        now = torch.zeros(len(words), dtype=torch.long)
        for step in range(1, self.shape.steps + 1):
            scores, offsets = self.read(words, look, now)
            drawn = self.pick(scores, look)
            sure = scores.gather(-1, drawn[..., None])[..., 0]  # of the chances drawn from
            if self.mode == "sample":
                left = 1 - step / self.shape.steps
                sure = sure + CHOICE * left * self.luck(look, self.num_numbers)
            hidden = words == self.hidden
            kept = self.surest(sure, hidden, self.still_hidden(step, words))
            words = self.after_step(words, drawn, kept)
        return words, offsets


def create(manifest: Manifest, size: str = "laptop", seed: int = 0) -> NetworkWorld:
    """An untrained model."""
    return create_world("maskgit", MaskGIT, manifest, size, seed)


def load(folder: Path, manifest: Manifest) -> NetworkWorld:
    """A trained model from its checkpoint folder."""
    return load_world("maskgit", MaskGIT, folder, manifest)


MODEL = ModelPart(
    "maskgit",
    "Words of the next state, all hidden at first; the surest are shown first.",
    create,
    load,
    trainable=True,
    sizes=tuple(SIZES),
    recipe={"seen": 1, "unroll": 24, "first_unroll": 24, "growth": 0.0},
)
