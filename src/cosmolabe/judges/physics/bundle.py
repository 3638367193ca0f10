"""A physics head on disk with all that is needed to use it honestly, and nothing that runs.

FOLDER/ holds `head.json` and `head.safetensors` (the heads), `familiar.safetensors` (what they were
trained on, may be missing), `recipe.json` (which eye, which choices of protocol, how it was made,
the sha256 of the other files) and `certificate.json` (what it can and cannot see, may be missing).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosmolabe.core.record import read_json, versions, write_json
from cosmolabe.judges.physics.familiar import Familiar, of_tensors
from cosmolabe.judges.physics.protocol import PROTOCOLS, PhysicsProtocol

if TYPE_CHECKING:
    from cosmolabe.nets.fitted_head import FittedHead

SCHEMA = 1
RECIPE, FAMILIAR, CERTIFICATE = "recipe.json", "familiar.safetensors", "certificate.json"
FILES = ("head.json", "head.safetensors", FAMILIAR)
"""What recipe.json vouches for by sha256."""
HEADS = Path(__file__).parent / "heads"
"""The heads that come with the package, a folder each."""
RELEASED = "phyprobe"
"""PhyProbe's own head, out of its wheel (`pip install --no-deps phyprobe==0.1.0`)."""
UNTRAINED = "untrained"
"""Heads as they are before training, on the eye that works offline: what chance alone sees. A
baseline, and a way to try every command."""
CHANCE = ("efficientnet_lite", "128", 1280, 3)  # its eye, size, width; number of heads


@dataclass(frozen=True)
class Bundle:
    """Heads, the eye they read, and the choices they were made for."""

    name: str
    fitted: "FittedHead"
    encoder: str
    """Name of the eye."""
    size: str = ""
    """Which of its sizes; empty is its default."""
    familiar: Familiar | None = None
    protocol: str = "physics/1"
    """The protocol it was made for."""
    choices: Mapping[str, Any] = field(default_factory=dict)
    """Choices of that protocol which are its own, a quantile say."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: command, data, seed, licence."""
    folder: Path | None = None

    @cached_property
    def sha256(self) -> str:
        """Of all numbers of the heads and of what is familiar, and of how the heads are built."""
        return _digest(self.fitted, self.familiar)

    def bound(self, protocol: str, key: str, side: int) -> PhysicsProtocol:
        """The protocol with this eye and these heads in it."""
        chosen = _protocol(protocol or self.protocol)
        choices = self.choices if chosen.name == self.protocol else {}
        return chosen.bound(key, side, self.sha256, **choices)


def bundled() -> list[str]:
    """Names of the heads that come with the package, the default first."""
    found = sorted(path.parent.name for path in HEADS.glob(f"*/{RECIPE}"))
    return sorted(found, key=lambda name: name != "small")


def load_bundle(name: str | Path = "") -> Bundle:
    """A head by name (the package's own, `phyprobe`, `untrained`) or folder; by default ours."""
    known = bundled()
    if not name:
        if not known:
            raise ValueError(
                "no physics head comes with this installation; name a folder that `cosmolabe "
                f"physics fit` wrote, '{RELEASED}' or '{UNTRAINED}'"
            )
        name = known[0]
    if str(name) == RELEASED:
        return _released()
    if str(name) == UNTRAINED:
        return _untrained()
    folder = HEADS / str(name) if str(name) in known else Path(name)
    if not folder.is_dir():
        raise ValueError(
            f"no physics head '{name}'; have {[*known, RELEASED, UNTRAINED]} or a folder with "
            f"{RECIPE}"
        )
    return _read(folder)


def save_bundle(bundle: Bundle, folder: Path | str) -> Path:
    """Write the bundle; recipe.json comes last, so a folder that has it is whole."""
    from cosmolabe.nets.checkpoints import write_tensors

    folder = Path(folder)
    _protocol(bundle.protocol).bound("", 1, "", **bundle.choices)  # refuse what would not load
    bundle.fitted.save(folder)
    if bundle.familiar is not None:
        write_tensors(folder / FAMILIAR, bundle.familiar.tensors())
    content = {
        "schema": SCHEMA,
        "name": bundle.name,
        "encoder": {"name": bundle.encoder, "size": bundle.size},
        "protocol": bundle.protocol,
        "choices": dict(bundle.choices),
        "about": dict(bundle.about),
        "versions": versions(),
        "sha256": _hashes(folder),
    }
    write_json(folder / RECIPE, content)
    return folder


def _read(folder: Path) -> Bundle:
    from cosmolabe.nets.checkpoints import read_tensors
    from cosmolabe.nets.fitted_head import FittedHead

    where = folder / RECIPE
    content = read_json(where)
    kinds = {"name": str, "encoder": dict, "protocol": str, "choices": dict, "about": dict}
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{where}: not the recipe of a physics head, schema {SCHEMA}")
    wrong = [name for name, kind in kinds.items() if not isinstance(content.get(name), kind)]
    if wrong or not isinstance(content["encoder"].get("name"), str):
        raise ValueError(f"{where}: missing or ill-typed entries {wrong or ['encoder.name']}")
    found = _hashes(folder)
    if found != content.get("sha256"):
        raise ValueError(
            f"{folder}: {', '.join(sorted(_differing(found, content.get('sha256'))))} is not what "
            "the recipe was written for (sha256 differs); fetch the head again"
        )
    tensors = read_tensors(folder / FAMILIAR) if FAMILIAR in found else {}
    fitted, familiar = FittedHead.load(folder), of_tensors(tensors)
    columns = 2 * fitted.width  # mean and spread of each feature, as `scoring.pooled` has them
    if familiar is not None and len(familiar.mean) != columns:
        raise ValueError(
            f"{folder / FAMILIAR}: knows clips of {len(familiar.mean)} columns; {fitted.width} "
            f"features give {columns}"
        )
    return Bundle(
        name=content["name"],
        fitted=fitted,
        encoder=content["encoder"]["name"],
        size=str(content["encoder"].get("size") or ""),
        familiar=familiar,
        protocol=_protocol(content["protocol"]).name,
        choices=content["choices"],
        about=content["about"],
        folder=folder,
    )


def _released() -> Bundle:
    from cosmolabe.nets.released_head import load_released

    return Bundle(
        name=RELEASED,
        fitted=load_released(),
        encoder="pe_core",
        size="phyprobe-1",  # 480 pixels, not normalised: what the head was trained on
        protocol="physics/phyprobe-1",
        about={"licence": "MIT", "source": "PyPI phyprobe 0.1.0"},
    )


def _untrained(seed: int = 0) -> Bundle:
    import torch

    from cosmolabe.nets.fitted_head import FittedHead
    from cosmolabe.nets.head import build_head
    from cosmolabe.nets.head_recipe import HeadRecipe

    eye, size, width, members = CHANCE
    recipe = HeadRecipe(members=members)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        heads = [build_head(width, recipe) for _ in range(members)]
    about = {"note": "never trained: its scores are chance", "seed": seed}
    return Bundle(UNTRAINED, FittedHead(heads, recipe, width, seed), eye, size, about=about)


def _digest(fitted: "FittedHead", familiar: Familiar | None) -> str:
    built = ("kind", "hidden", "differences", "window", "stride", "quantile")
    found = hashlib.sha256(repr([getattr(fitted.recipe, name) for name in built]).encode())
    arrays = {
        f"{number}.{name}": value.detach().cpu().numpy()
        for number, head in enumerate(fitted.heads)
        for name, value in head.state_dict().items()
    }
    arrays |= {} if familiar is None else familiar.tensors()
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.shape} {array.dtype}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _protocol(name: str) -> PhysicsProtocol:
    if name not in PROTOCOLS:
        raise ValueError(f"the physics judge has no protocol '{name}'; have {list(PROTOCOLS)}")
    return PROTOCOLS[name]


def _hashes(folder: Path) -> dict[str, str]:
    return {name: _sha256(folder / name) for name in FILES if (folder / name).is_file()}


def _sha256(path: Path) -> str:
    from cosmolabe.nets.checkpoints import LARGEST

    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: {path.stat().st_size} bytes; more than {LARGEST} are not read")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _differing(found: Mapping[str, str], told: Any) -> set[str]:  # noqa: ANN401 - any JSON
    told = told if isinstance(told, dict) else {}
    return {name for name in {*found, *map(str, told)} if found.get(name) != told.get(name)}
