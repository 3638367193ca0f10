"""Weights that attacks hand in: tables of what they should not know, luck, other people's work."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cosmolabe.bench.bed import Bed
from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY
from cosmolabe.nets.checkpoints import write_tensors


def table_of(bed: Bed) -> dict[str, np.ndarray]:
    """The last state shown of every window, and the states that follow it."""
    states, seen = bed.windows.states, bed.protocol.window
    after = states[:, seen : seen + bed.protocol.horizon]
    parts = [after[..., : ALIVE + 1], after[..., FIELDS_START:-NUM_HISTORY]]
    return {"seen": states[:, seen - 1].copy(), "after": np.concatenate(parts, -1)}


def make_weights(name: str, folder: Path, beds: Mapping[str, Bed]) -> None:
    """Write what an attack's `weights` names into its folder."""
    path = folder / "weights.safetensors"
    if name == "easy_windows":
        np.save(folder / "windows.npy", _quiet(beds["test"]))
    elif name in ("public_test", "val"):
        write_tensors(path, table_of(beds["public" if name == "public_test" else "val"]))
    elif name == "lucky":
        write_tensors(path, {"good": np.ones(1, np.float32)})
    elif name == "unreadable":
        path.write_bytes(_unreadable())
    else:
        value = {"foreign": 2.0, "ledgered": 1.0}[name]
        write_tensors(path, {"w": np.full(3, value, np.float32)})


def _unreadable() -> bytes:
    """A number that is none, a type that numpy lacks, and a type that nobody has."""
    kinds = {"none": "F32", "half": "BF16", "odd": "F999"}
    told = {
        name: {"dtype": kind, "shape": [1], "data_offsets": [4 * place, 4 * place + 4]}
        for place, (name, kind) in enumerate(kinds.items())
    }
    header = json.dumps(told).encode()
    numbers = np.full(3, np.nan, np.float32).tobytes()
    return len(header).to_bytes(8, "little") + header + numbers


def _quiet(bed: Bed) -> np.ndarray:
    """Windows whose best trivial score is highest."""
    final = np.nan_to_num(bed.floors["still"].final, nan=-1.0)
    return np.argsort(-final)[: max(len(final) // 4, 1)]
