"""Defects of masked decoding in public code, planted in `models/maskgit.py`."""

from collections.abc import Generator
from contextlib import contextmanager

from torch import Tensor

from cosmolabe.bench.defects.defect import Defect, swapped
from cosmolabe.models.maskgit import MaskGIT


@contextmanager
def linear_schedule() -> Generator[None]:
    """A rollout uncovers evenly what training hid by a cosine."""

    def schedule(self: MaskGIT, share: float) -> float:
        return 1 - share

    with swapped(MaskGIT, "schedule", schedule):
        yield


@contextmanager
def counts_padding() -> Generator[None]:
    """How many words to keep is computed over all slots of the tensors."""

    def num_valid(self: MaskGIT, words: Tensor) -> int:
        return self.num_slots * self.num_numbers

    with swapped(MaskGIT, "num_valid", num_valid):
        yield


@contextmanager
def commitments_drawn_again() -> Generator[None]:
    """Every step replaces the words kept before by those it has just drawn."""

    def after_step(self: MaskGIT, words: Tensor, drawn: Tensor, kept: Tensor) -> Tensor:
        return drawn.where(kept | (words != self.hidden), words)

    with swapped(MaskGIT, "after_step", after_step):
        yield


DEFECTS = (
    Defect(
        "linear-schedule",
        "maskgit",
        "Rollouts uncover words linearly, training hides them by a cosine.",
        "AutoWorldModel-Bench release (D7); valeoai/Halton-MaskGIT#19",
        linear_schedule,
        in_training=False,
    ),
    Defect(
        "counts-padding",
        "maskgit",
        "The number of words to keep counts padded and pinned slots, so most are kept in one go.",
        "AutoWorldModel-Bench release (D7)",
        counts_padding,
        in_training=False,
    ),
    Defect(
        "commitments-drawn-again",
        "maskgit",
        "Words that were kept are drawn anew at every later step.",
        "valeoai/Halton-MaskGIT#36, #27",
        commitments_drawn_again,
        in_training=False,
    ),
)
