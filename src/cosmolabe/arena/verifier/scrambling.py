"""Weights that say nothing: same names, shapes and types, other numbers.

Done to the bytes, so that no number that is not finite, no type that numpy lacks and no false place
in the header can keep weights from being scrambled.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.arena.verifier.copying import WEIGHTS
from cosmolabe.core.seeds import generator

FLOATS = {"F64": np.float64, "F32": np.float32, "F16": np.float16}
"""Turned round and shaken; of all other types the bytes are dealt out anew."""


def scramble(source: Path, target: Path) -> None:
    """A copy of a submission's folder with every number of its weights made another."""
    target.mkdir(mode=0o700)
    for path in source.iterdir():
        if path.name != WEIGHTS:
            shutil.copyfile(path, target / path.name)
    dice = generator("scrambled weights")
    data = (source / WEIGHTS).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    body, known = np.frombuffer(bytearray(data[start:]), np.uint8), 0
    for first, last, kind in _places(json.loads(data[8:start]), len(body)):
        if first < known:
            continue  # two tensors in one place
        body[known:first] = dice.permutation(body[known:first])
        part, known = body[first:last], last
        whole = kind in FLOATS and part.size % np.dtype(FLOATS[kind]).itemsize == 0
        part[:] = _turned(part, FLOATS[kind], dice) if whole else dice.permutation(part)
    body[known:] = dice.permutation(body[known:])
    (target / WEIGHTS).write_bytes(data[:start] + body.tobytes())


def _places(header: dict[str, Any], size: int) -> list[tuple[int, int, str]]:
    """(first byte, last byte, type) of what the header places within the file, in order."""
    found = []
    for name, entry in header.items():
        places = entry.get("data_offsets") if name != "__metadata__" else None
        if isinstance(places, list) and [type(n) for n in places] == [int, int]:
            first, last = places
            if 0 <= first < last <= size:
                found.append((first, last, str(entry.get("dtype"))))
    return sorted(found)


def _turned(part: np.ndarray, kind: type[np.floating], dice: np.random.Generator) -> np.ndarray:
    """The bytes of floats with other values about as large, all of them finite."""
    tensor = np.nan_to_num(part.view(kind), nan=0.0, posinf=1.0, neginf=-1.0)
    noise = dice.standard_normal(tensor.shape).astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        other = noise * (np.abs(tensor).mean() + kind(0.1)) - tensor
    return np.nan_to_num(other.astype(kind)).view(np.uint8)
