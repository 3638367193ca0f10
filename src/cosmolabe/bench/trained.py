"""Trained models from their checkpoint folders, whichever part wrote them."""

from pathlib import Path

from cosmolabe.core import parts
from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import read_json
from cosmolabe.core.rollout import WorldModel


def load_trained(folder: Path, manifest: Manifest) -> WorldModel:
    """The model of a checkpoint folder, for the game it learnt; its config names the part."""
    config = read_json(folder / "config.json")
    name = config.get("model") if isinstance(config, dict) else None
    part = parts.load("models", str(name))
    if part.load is None:
        raise ValueError(
            f"{folder}: '{name}' learns nothing, so it has no checkpoint; name it alone"
        )
    return part.load(folder, manifest)
