"""Trains the small frame model on a game's own play, drawn as it is needed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cosmolabe.bench.frame_models.rolling import true_films
from cosmolabe.core.frame_model import facts_of
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.nets.frame_net import FrameNetConfig, PixelModel, as_pixels
from cosmolabe.nets.steps import Steps

Tell = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class FrameRecipe:
    """All that decides the model's numbers (ours)."""

    steps: int = 600
    batch: int = 8
    rate: float = 1.5e-3
    warmup: float = 0.05
    films: int = 96
    """True rollouts of three seconds it learns from."""
    ahead: int = 3
    """Frames painted in a row at each step, each from those before it, so that it learns to go on
    from its own."""
    moving: float = 20.0
    """How much more a pixel counts that changes: balls are small."""
    noise: float = 0.03
    """Of the given frames, on a scale of -1..1, for its own frames are never as clean."""
    seed: int = 42


def train_frames(
    game: str,
    recipe: FrameRecipe | None = None,
    config: FrameNetConfig | None = None,
    folder: Path | None = None,
    tell: Tell = lambda told: None,
) -> PixelModel:
    """The trained model, kept in `folder` where one is given; goes on from what stands there."""
    recipe = recipe or FrameRecipe()
    model = PixelModel(config, game)
    films, actions, _ = true_films(
        game, recipe.films, seed_of("frames", game, recipe.seed) & 0x7FFFFFFF, facts_of(model)
    )
    lesson = _Lesson(model, films, actions, recipe)
    model.net.train()
    steps = Steps(
        dict(model.net.named_parameters()),
        lesson.loss,
        steps=recipe.steps,
        rate=recipe.rate,
        warmup=recipe.warmup,
        facts={"recipe": asdict(recipe), "config": asdict(model.config), "game": game},
    )
    for told in steps.run(folder):
        tell(told)
    if folder is not None:
        model.save(folder, {"recipe": asdict(recipe)})
    return model


class _Lesson:
    def __init__(
        self, model: PixelModel, films: np.ndarray, actions: np.ndarray, recipe: FrameRecipe
    ) -> None:
        self.model, self.films, self.actions, self.recipe = model, films, actions, recipe

    def loss(self, step: int) -> tuple[Tensor, dict[str, float]]:
        """Mean change-weighted distance of all painted frames of a step."""
        recipe, context = self.recipe, self.model.context
        draw = generator("frame lesson", recipe.seed, step)
        rows = draw.integers(len(self.films), size=recipe.batch)
        starts = draw.integers(self.films.shape[1] - context - recipe.ahead + 1, size=recipe.batch)
        at = starts[:, None] + np.arange(context + recipe.ahead)
        frames = as_pixels(self.films[rows[:, None], at])
        pressed = torch.from_numpy(self.actions[rows[:, None], at]).float()
        seen = frames[:, :context]
        luck = torch.from_numpy(draw.standard_normal(seen.shape, np.float32))
        seen = seen + recipe.noise * luck
        total = torch.zeros(())
        for ahead in range(recipe.ahead):
            wanted = frames[:, context + ahead]
            painted = self.model.net(seen, pressed[:, ahead : ahead + context])
            moved = (wanted - frames[:, context + ahead - 1]).abs().amax(1, keepdim=True) > 0.05
            weight = 1.0 + recipe.moving * moved.float()
            total = total + (weight * (painted - wanted).abs()).mean() / recipe.ahead
            seen = torch.cat([seen[:, 1:], painted[:, None].clamp(-1, 1)], 1)
        return total, {}
