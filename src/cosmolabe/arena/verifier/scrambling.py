"""Weights that say nothing: same names, shapes and types, other numbers."""

import shutil
from pathlib import Path

import numpy as np

from cosmolabe.arena.verifier.copying import WEIGHTS
from cosmolabe.core.seeds import generator
from cosmolabe.nets.checkpoints import read_tensors, write_tensors


def scramble(source: Path, target: Path) -> None:
    """A copy of a submission's folder with every float turned round and shaken.

    Raises:
        ValueError: The weights hold what a safetensors file of ours may not.
    """
    target.mkdir(mode=0o700)
    for path in source.iterdir():
        if path.name != WEIGHTS:
            shutil.copyfile(path, target / path.name)
    dice = generator("scrambled weights")
    tensors = read_tensors(source / WEIGHTS)
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f":
            noise = dice.standard_normal(tensor.shape).astype(tensor.dtype)
            size = np.abs(tensor).mean() if tensor.size else 0
            tensors[name] = (noise * (size + tensor.dtype.type(0.1)) - tensor).astype(tensor.dtype)
    write_tensors(target / WEIGHTS, tensors)
