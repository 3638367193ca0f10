"""Stage 0 of the bundled model: its tower learns to see, from true states."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from cosmolabe.bench.vqa.recipe import TinyRecipe
from cosmolabe.bench.vqa.sights import SightSource, vocabulary
from cosmolabe.nets.steps import Steps
from cosmolabe.nets.vlm_paligemma import FAMILY
from cosmolabe.nets.vlm_sight import SightHeads, total
from cosmolabe.vlms.tiny import TinyVlm

Tell = Callable[[str], None]


def teach_to_see(vlm: TinyVlm, recipe: TinyRecipe, folder: Path | None, tell: Tell) -> None:
    """Train the tower of `vlm` in place; goes on from `folder`."""
    source = SightSource(recipe.image, recipe.patch, recipe.seed, recipe.turned)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        heads = SightHeads(recipe.vision["hidden"], len(vocabulary()), len(source.games))

    def loss(step: int) -> tuple[Tensor, dict[str, float]]:
        frames, sights = source.batch(step, recipe.sight.batch)
        losses = heads(vlm.tower(vlm.pixels(frames)), sights)
        return total(losses), {name: value.item() for name, value in losses.items()}

    mine = {
        name: weight
        for name, weight in vlm.module.named_parameters()
        if FAMILY.group(name) == "vision"
    }
    mine |= {f"heads.{name}": weight for name, weight in heads.named_parameters()}
    steps = Steps(
        mine,
        loss,
        steps=recipe.sight.steps,
        rate=recipe.sight.rate,
        warmup=recipe.sight.warmup,
        weight_decay=recipe.sight.weight_decay,
        facts=recipe.told(recipe.sight),
    )
    for told in steps.run(folder):
        tell("sight " + " ".join(f"{name} {value:.3f}" for name, value in told.items()))
