"""The head that PhyProbe's authors publish, out of their installed wheel.

`pip install --no-deps phyprobe==0.1.0` is enough: the package is found by its record and never
imported, for it wants decord and downloads. Its weights are read as tensors only.
"""

from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head import StatsHead
from cosmolabe.nets.head_recipe import HeadRecipe

PACKAGE, VERSION = "phyprobe", "0.1.0"
WEIGHTS = "phyprobe/weights/pecore_paper.pt"
WIDTH = 1280  # of PE-Core-G14-448's projected features
PREFIX = "quality_head."
LARGEST = 64 << 20  # bytes; the real file has 4 million


def released_weights() -> Path:
    """Where the wheel lies; what to type where it does not."""
    try:
        found = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise ValueError(
            f"PhyProbe's released head is not here; `pip install --no-deps {PACKAGE}=={VERSION}` "
            f"(4 MB, MIT)"
        ) from None
    if found.version != VERSION:
        raise ValueError(f"{PACKAGE} {found.version} is installed; the head here is of {VERSION}")
    return Path(str(found.locate_file(WEIGHTS)))


def load_released(path: Path | None = None) -> FittedHead:
    """PhyProbe's head for PE-Core-G14-448, from the installed wheel or from a file of it.

    Features are the encoder's projected outputs, (time, 1280); see `physics/phyprobe-1`.
    """
    path = released_weights() if path is None else Path(path)
    if not path.is_file():
        raise ValueError(f"no file {path}; install the wheel again, or name its {WEIGHTS}")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: {path.stat().st_size} bytes; more than {LARGEST} are not read")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever stands in a stranger's file
        raise ValueError(
            f"{path}: not a file of tensors alone ({type(error).__name__}); it is not opened"
        ) from None
    with torch.random.fork_rng(devices=[]):
        head = StatsHead(WIDTH)
    with torch.no_grad():
        for name, value in _layers_of(content, head, path).items():
            head.layers.state_dict()[name].copy_(value)
    return FittedHead([head], HeadRecipe(), WIDTH, steps=10_000, encoder="pe_core", data=PACKAGE)


def _layers_of(content: Any, head: StatsHead, path: Path) -> dict[str, Tensor]:  # noqa: ANN401
    state = content.get("model_state_dict", content) if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise ValueError(f"{path}: holds no weights by name")
    wanted = {name: value.shape for name, value in head.layers.state_dict().items()}
    found = {k.removeprefix(PREFIX): v for k, v in state.items() if str(k).startswith(PREFIX)}
    for name, shape in wanted.items():
        value = found.get(name)
        if not isinstance(value, Tensor) or value.shape != shape:
            got = tuple(value.shape) if isinstance(value, Tensor) else "nothing"
            raise ValueError(f"{path}: '{PREFIX}{name}' should be {tuple(shape)}; got {got}")
        if not torch.isfinite(value).all():
            raise ValueError(f"{path}: '{PREFIX}{name}' holds NaN or infinity")
    if set(found) != set(wanted):
        raise ValueError(f"{path}: layers not known: {sorted(set(found) - set(wanted))[:5]}")
    return {name: found[name].float() for name in wanted}
