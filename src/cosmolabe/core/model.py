"""What one file of `models/` offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.rollout import WorldModel


@dataclass(frozen=True)
class ModelPart:
    """A world model by name: how to build it and how to load a trained one."""

    name: str
    summary: str
    """One sentence for lists and docs."""
    create: Callable[[Manifest, str, int], WorldModel]
    """create(manifest, size, seed): an untrained model; `size` is 'laptop' or 'paper'."""
    load: Callable[[Path, Manifest], WorldModel] | None = None
    """load(folder, manifest): a trained model from its checkpoint folder; None where nothing is
    learned."""
    trainable: bool = False
    sizes: tuple[str, ...] = ("laptop", "paper")
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """Dials of `nets.recipe.TrainConfig` that differ for this model, by name."""
