"""Stage 0 of the bundled model: its tower learns to see, from true states."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from cosmolabe.bench.vqa.recipe import SightRecipe, TinyRecipe
from cosmolabe.bench.vqa.sights import SightSource, characters
from cosmolabe.nets.steps import Steps
from cosmolabe.nets.vlm_paligemma import FAMILY
from cosmolabe.nets.vlm_sight import (
    PROJECTED,
    SHARP,
    WEIGHTS,
    ProjectedHeads,
    SightHeads,
    total,
)
from cosmolabe.vlms.tiny import TinyVlm

LEGS = ("tokens", "sharp", "projected")
Tell = Callable[[str], None]


def seed_of_leg(recipe: TinyRecipe, leg: SightRecipe) -> int:
    """What decides a leg's pictures: its own for each leg and each number drawn."""
    return recipe.seed + LEGS.index(leg.leg) + len(LEGS) * leg.drawn


def teach_to_see(
    vlm: TinyVlm, recipe: TinyRecipe, leg: SightRecipe, folder: Path | None, tell: Tell
) -> None:
    """Train the tower of `vlm` in place for one leg; goes on from `folder`."""
    source = SightSource(recipe.image, recipe.patch, seed_of_leg(recipe, leg), recipe.turned)
    projected = leg.leg == "projected"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        if projected:
            heads: nn.Module = ProjectedHeads(
                recipe.language["hidden"], len(characters()), vlm.per_frame[2]
            )
        else:
            heads = SightHeads(recipe.vision["hidden"], len(characters()), len(source.games))
    weights = {"tokens": WEIGHTS, "sharp": SHARP, "projected": PROJECTED}[leg.leg]

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        frames, sights = source.batch(step, leg.batch)
        tokens = vlm.tower(vlm.pixels(frames))
        losses = heads(vlm.project(tokens) if projected else tokens, sights)
        told = {name: value.item() for name, value in losses.items()}
        return total(losses, weights), told

    groups = ("vision", "projector") if projected else ("vision",)
    mine = {
        name: weight
        for name, weight in vlm.module.named_parameters()
        if FAMILY.group(name) in groups
    }
    mine |= {f"heads.{name}": weight for name, weight in heads.named_parameters()}
    steps = Steps(
        mine,
        loss,
        steps=leg.steps,
        rate=leg.rate,
        warmup=leg.warmup,
        weight_decay=leg.weight_decay,
        facts=recipe.told(leg),
    )
    for told in steps.run(folder):
        tell("sight " + " ".join(f"{name} {value:.3f}" for name, value in told.items()))
