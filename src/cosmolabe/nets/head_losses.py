"""What a physics head learns from: order, magnitude and anchors.

Scores are raw (a clipped score has no slope outside 0..1) and a higher one is worse. Each term is
the mean over the items that have something to say to it, 0 where none has. Leading axes are heads
trained side by side; the last axis is pairs or clips.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

LEAST_GAP = 0.1


def smoothing_of(gap: Float[Tensor, "*pair"], most: float = 0.1) -> Float[Tensor, "*pair"]:
    """How much of the target a winner gives away: most · (1 − gap/2), gaps held in 0.1..1.

    The formula is deduced from PhyProbe's two ends, 0.05 at gap 1 and 0.095 at 0.1. The winner's
    target is 1 − ε, not 1 − ε/2.
    """
    return most * (1 - gap.clamp(LEAST_GAP, 1.0) / 2)


def rank_target(
    p_first_worse: Float[Tensor, "*pair"], gap: Float[Tensor, "*pair"], most: float = 0.1
) -> Float[Tensor, "*pair"]:
    """The smoothed probability that the first is the worse; a tie stays at 0.5."""
    lean = torch.sign(p_first_worse - 0.5)
    return 0.5 + lean * (0.5 - smoothing_of(gap, most))


def bounded_target(
    p_first_worse: Float[Tensor, "*pair"],
    gap: Float[Tensor, "*pair"],
    difference: Float[Tensor, "*pair"],
    slope: float = 1.0,
) -> Float[Tensor, "*pair"]:
    """sigmoid(slope · difference of the labels), so that order asks for no more than they differ.

    Where a label is missing (`difference` is NaN) the gap stands in, on the winner's side.
    """
    lean = torch.sign(p_first_worse - 0.5)
    return torch.sigmoid(slope * torch.where(difference.isnan(), lean * gap, difference))


def rank_loss(
    first: Float[Tensor, "*head pair"],
    second: Float[Tensor, "*head pair"],
    target: Float[Tensor, "*head pair"],
) -> Float[Tensor, "*head"]:
    """Bradley-Terry cross entropy of "the first is worse", without a temperature."""
    gap = first - second
    each = functional.binary_cross_entropy_with_logits(gap, target, reduction="none")
    return each.mean(-1)


def magnitude_loss(
    scores: Float[Tensor, "*head clip"],
    violation: Float[Tensor, "*head clip"],
    huber: float = 0.5,
) -> Float[Tensor, "*head"]:
    """Huber loss over the clips whose violation is known (not NaN)."""
    known = ~violation.isnan()
    aim = torch.where(known, violation, 0.0)
    each = functional.huber_loss(scores, aim, reduction="none", delta=huber)
    return _mean_over(each, known)


def anchor_loss(
    scores: Float[Tensor, "*head clip"], anchor: Float[Tensor, "*head clip"]
) -> Float[Tensor, "*head"]:
    """Squared distance from 0 (lawful) or 1 (blatant), over the clips pinned there (not NaN)."""
    known = ~anchor.isnan()
    return _mean_over((scores - torch.where(known, anchor, 0.0)).square(), known)


def domain_loss(
    hidden: Float[Tensor, "*head clip hidden"],
    domain: Int[Tensor, "*head clip"],
    label: Float[Tensor, "*head clip"],
) -> Float[Tensor, "*head"]:
    """How much of what the last layer reads goes with the clips' domain, 0..1.

    Squared covariance over the product of the variances (linear HSIC, Gretton et al. 2005). What
    the label (NaN where unknown) says of the domain is taken out before: where one set is all
    lawful, knowing so is right. It has no adversary, which at 16 clips a step runs in circles.
    """
    known = ~label.isnan()
    shown = _centred(torch.stack([torch.where(known, label, 0.0), known.to(label.dtype)], -1))
    sets = _centred(functional.one_hot(domain).to(label.dtype))
    ridge = 1e-4 * torch.eye(2, dtype=label.dtype)
    told = shown @ torch.linalg.solve(shown.mT @ shown + ridge, shown.mT @ sets)
    seen = _centred(hidden)
    shared = (seen.mT @ (sets - told)).square().sum((-2, -1))
    room = (seen.mT @ seen).square().sum((-2, -1)) * (sets.mT @ sets).square().sum((-2, -1))
    return shared / room.clamp_min(1e-24).sqrt()  # a root at 0 has no gradient: one domain drawn


def untempered_gap(smoothing: float) -> float:
    """The difference of scores at which the rank term alone comes to rest: ln((1 − ε)/ε)."""
    return math.log((1 - smoothing) / smoothing)


def _centred(values: Float[Tensor, "*head clip column"]) -> Float[Tensor, "*head clip column"]:
    return values - values.mean(-2, keepdim=True)


def _mean_over(
    each: Float[Tensor, "*head clip"], known: Bool[Tensor, "*head clip"]
) -> Float[Tensor, "*head"]:
    return torch.where(known, each, 0.0).sum(-1) / known.sum(-1).clamp_min(1)
