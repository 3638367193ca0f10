"""What an adaptation learnt, on disk: the weights that trained, and how to put them back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from cosmolabe.core.record import read_json, write_json, written_whole
from cosmolabe.core.vlm import Vlm
from cosmolabe.nets.pretrained import read_tensors
from cosmolabe.nets.strategies import apply

WEIGHTS, ABOUT = "adapter.safetensors", "adapter.json"


def trained(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that train, by name."""
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def write_weights(module: nn.Module, path: Path) -> None:
    """The parameters that train, whole or not at all."""
    tensors = {name: p.detach().cpu().contiguous() for name, p in trained(module).items()}
    with written_whole(path) as part:
        save_file(tensors, part)


def fill_weights(module: nn.Module, path: Path) -> None:
    """Put back what `write_weights` wrote; every name and shape must fit."""
    own, found = trained(module), read_tensors(path)
    if set(own) != set(found) or any(own[n].shape != t.shape for n, t in found.items()):
        raise ValueError(f"{path}: weights of another model or another strategy")
    with torch.no_grad():
        for name, tensor in found.items():
            own[name].copy_(tensor)


def write_adapted(vlm: Vlm, folder: Path, about: Mapping[str, Any]) -> None:
    """adapter.safetensors and, last, adapter.json."""
    write_weights(vlm.module, folder / WEIGHTS)
    write_json(folder / ABOUT, about)


def is_adapted(folder: Path) -> bool:
    """Whether an adaptation was finished here."""
    return (folder / ABOUT).is_file()


def put_adapted(vlm: Vlm, folder: str | Path) -> dict[str, Any]:
    """Make of a base what was learnt in `folder`; gives adapter.json.

    Raises:
        ValueError: The base is not the one that learnt: its key differs.
    """
    folder = Path(folder)
    about = read_json(folder / ABOUT)
    if not isinstance(about, dict) or not {"strategy", "base"} <= set(about):
        raise ValueError(f"{folder / ABOUT}: not what an adaptation wrote")
    if vlm.key != about["base"]:
        raise ValueError(
            f"{folder}: learnt on another base than {vlm.name} with key {vlm.key}; it wants "
            f"{about['base']}"
        )
    apply(about["strategy"], vlm, int(about.get("seed", 0)))
    fill_weights(vlm.module, folder / WEIGHTS)
    vlm.module.eval()
    return about


def merged(module: nn.Module) -> nn.Module:
    """LoRA's matrices added into the layers they stand beside, in place: plain layers again."""
    for name, part in list(module.named_modules()):
        if hasattr(part, "lora_A") and hasattr(part, "base_layer"):
            layer: Any = part
            layer.merge()
            parent, _, own = name.rpartition(".")
            setattr(module.get_submodule(parent), own, layer.get_base_layer())
    return module
