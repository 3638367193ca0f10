"""How this file is fitted and loaded in a session.

`train.py` is run with a folder to work in, the data, a seed and a time limit; it has to leave
`weights.safetensors` in that folder. `MODEL.load` makes the model of such a folder again.
"""

from pathlib import Path
from typing import Any

from cosmolabe.core.model import ModelPart
from cosmolabe.core.record import read_json
from cosmolabe.data.store import open_store
from cosmolabe.nets.checkpoints import check_tensors, read_tensors, write_tensors
from cosmolabe.nets.recipe import TrainConfig

WEIGHTS = "weights.safetensors"


def read_config(folder: Path) -> dict[str, Any]:
    """The config that stands beside train.py: `size`, and dials of `TrainConfig` as `recipe`."""
    return read_json(folder / "config.json")


def loaded(model: Any, folder: Path) -> Any:  # noqa: ANN401 - a model with `numbers`
    """The model with the numbers of a folder in it."""
    tensors = read_tensors(folder / WEIGHTS)
    check_tensors(folder / WEIGHTS, tensors, model.numbers)
    model.numbers = tensors
    return model


def main(part: ModelPart, folder: Path, data: Path, seed: int, limit: float) -> None:
    """Fit by the folder's config.json and leave the numbers there; takes far less than `limit`."""
    config, store = read_config(folder), open_store(data)
    model: Any = part.create(store.manifest, config["size"], seed)
    error = model.fit(store, TrainConfig(**config["recipe"], seed=seed))
    print(f"fitted; mean position error {error:.5f}", flush=True)
    write_tensors(folder / WEIGHTS, model.numbers)
