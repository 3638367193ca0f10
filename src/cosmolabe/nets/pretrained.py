"""Other people's weights: from a folder, a file, or the hub by pinned revision; never unpickled.

Tensors are read from safetensors, or by torch's `weights_only` loader, which builds nothing but
tensors. What is not here is said with the command that fetches it.
"""

import importlib
import os
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from cosmolabe.core.errors import in_words
from cosmolabe.core.record import read_json

Size = TypeVar("Size")
Net = TypeVar("Net", bound=nn.Module)
TORCH_FILES = (".pt", ".pth", ".bin")
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


@dataclass(frozen=True)
class HubWeights:
    """Files of one revision of one repository of the Hugging Face hub."""

    repo: str
    revision: str
    """A commit, or 'main' where none could be pinned: the key of the features holds the hash of
    the numbers in either case."""
    files: tuple[str, ...]
    """What is fetched, as names or patterns; the first must be there."""
    note: str = ""
    """What stands in the way of fetching: a licence to accept, say."""

    @property
    def command(self) -> str:
        """What fetches them."""
        if self == NOWHERE:
            return "this size has no weights of its own: load it with random=True or from a folder"
        names = " ".join(f"--include '{name}'" for name in self.files)
        fetch = f"hf download {self.repo} --revision {self.revision} {names}"
        return f"{fetch}  ({self.note})" if self.note else fetch

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision}"


NOWHERE = HubWeights("", "", ("*",))
"""Of a size that nobody trained."""


def missing(weights: HubWeights) -> str:
    """The command that fetches them; empty where the hub's cache holds them. No network."""
    return "" if cached(weights) else f"weights not here: {weights.command}"


def cached(weights: HubWeights) -> Path | None:
    """The folder of this revision in the hub's cache, if it is there."""
    if weights == NOWHERE:
        return None
    root = os.environ.get("HF_HUB_CACHE")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("HF_HOME") or caches / "huggingface")
    repo = (Path(root) if root else home / "hub") / f"models--{weights.repo.replace('/', '--')}"
    reference = repo / "refs" / weights.revision
    revision = reference.read_text().strip() if reference.is_file() else weights.revision
    folder = repo / "snapshots" / revision
    return folder if any(folder.glob(weights.files[0])) else None


def find_weights(weights: HubWeights, source: str | Path | None) -> Path:
    """The folder or file of the weights: `source`, else the hub's cache, else fetched from it."""
    if source is not None:
        path = Path(source)
        if not path.exists():
            raise ValueError(f"no weights at {path}; fetch them: {weights.command}")
        return path
    if weights == NOWHERE:
        raise ValueError(weights.command)
    return cached(weights) or _fetch(weights)


def _fetch(weights: HubWeights) -> Path:
    hub = require("huggingface_hub", "encoders")
    try:
        found = hub.snapshot_download(
            weights.repo, revision=weights.revision, allow_patterns=list(weights.files)
        )
    except Exception as error:
        raise ValueError(
            f"the weights of {weights} are not here and could not be fetched "
            f"({in_words(error).splitlines()[0]}). Where there is a network: {weights.command}; "
            "or give a folder that holds them"
        ) from None
    if not any(Path(found).glob(weights.files[0])):
        raise ValueError(f"{weights} has no file {weights.files[0]}; give a folder that does")
    return Path(found)


def size_of(name: str, sizes: Mapping[str, Size], size: str) -> Size:
    """What `sizes` says of a size by name; the first where none is named."""
    if size and size not in sizes:
        raise ValueError(f"{name} has sizes {list(sizes)}; got {size!r}")
    return sizes[size or next(iter(sizes))]


def require(module: str, extra: str) -> Any:  # noqa: ANN401 - a module
    """The module, or the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(f"needs {module} ({error}): pip install 'cosmolabe[{extra}]'") from None


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Tensors of a file, or of the one model in a folder."""
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise ValueError(f"no file of weights {path}")
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (SafetensorError, ValueError, KeyError) as error:
            raise ValueError(f"{path}: not a whole safetensors file ({error})") from None
    if path.suffix in TORCH_FILES:
        return _read_torch(path)
    raise ValueError(
        f"{path}: weights are read from .safetensors, {', '.join(TORCH_FILES)}; convert it"
    )


def _read_torch(path: Path) -> dict[str, Tensor]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it cannot read; it says so by failing
            mapped = zipfile.is_zipfile(path)  # only what is used is read of a large file
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # a stranger's bytes can make the reader stumble in any way
        said = in_words(error).splitlines()[0]
        raise ValueError(
            f"{path}: holds more than tensors, or is cut short ({said}); "
            "nothing else is ever unpickled here. Convert it to safetensors where it is trusted"
        ) from None
    for name in ("state_dict", "model", "weights"):
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict) or not all(isinstance(v, Tensor) for v in content.values()):
        raise ValueError(f"{path}: expected names and their tensors, got {type(content).__name__}")
    return dict(content)


def _read_folder(folder: Path) -> dict[str, Tensor]:
    if (folder / WHOLE).is_file():
        return read_tensors(folder / WHOLE)
    if (folder / INDEX).is_file():
        return _read_parts(folder)
    found = sorted(folder.glob("*.safetensors")) or sorted(
        path for suffix in TORCH_FILES for path in folder.glob(f"*{suffix}")
    )
    if len(found) != 1:
        names = [path.name for path in found] or "none"
        raise ValueError(f"{folder}: expected one file of weights, found {names}; name the file")
    return read_tensors(found[0])


def _read_parts(folder: Path) -> dict[str, Tensor]:
    content = read_json(folder / INDEX)
    places = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(places, dict):
        raise ValueError(f"{folder / INDEX}: has no weight_map; fetch it again")
    tensors: dict[str, Tensor] = {}
    for name in sorted({str(place) for place in places.values()}):
        if Path(name).name != name:
            raise ValueError(f"{folder / INDEX}: names a file outside its folder: {name!r}")
        tensors |= read_tensors(folder / name)
    return tensors


def filled(build: Callable[[], Net], tensors: Mapping[str, Tensor], where: str | Path) -> Net:
    """The net that `build` makes, with these tensors, which must fit as `fill` wants them to.

    It is built without numbers first, so that two billion of them are not drawn to be thrown away.
    """
    with torch.device("meta"):
        net = build()
    fill(net, tensors, where)
    return net


def fill(net: nn.Module, tensors: Mapping[str, Tensor], where: str | Path) -> None:
    """Put the tensors into the net: every name and shape must fit, every number be finite."""
    own = net.state_dict()
    lacking, unknown = sorted(set(own) - set(tensors)), sorted(set(tensors) - set(own))
    if lacking or unknown:
        raise ValueError(
            f"{where}: weights of another net: {len(lacking)} missing {lacking[:4]}, "
            f"{len(unknown)} not known {unknown[:4]}"
        )
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise ValueError(
                f"{where}: '{name}' is {tuple(tensor.shape)}, should be {tuple(own[name].shape)}; "
                "is it another size of the net?"
            )
    net.load_state_dict({n: t.to(own[n].dtype) for n, t in tensors.items()}, assign=True)
    check_finite(net, where)


def check_finite(net: nn.Module, where: str | Path) -> None:
    """Refuse a net whose weights hold NaN or infinity."""
    for name, tensor in net.state_dict().items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{where}: '{name}' holds NaN or infinity; fetch it again")


def from_folder(
    maker: Any,  # noqa: ANN401 - a class of transformers or diffusers
    folder: Path,
    kind: str,
    unused: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401 - its net
    """A net of transformers or diffusers from its folder: safetensors, none of its code run.

    Their loaders start with random numbers whatever a file lacks, and only warn. Here a missing
    name, one of another shape, or one that is neither known nor begins as one of `unused`, is an
    error; and so is a folder whose `config.json` speaks of another `kind`.
    """
    config = read_json(folder / "config.json")
    names = ("model_type", "_class_name")
    found = [config.get(name) for name in names] if isinstance(config, dict) else []
    if kind not in found:
        said = next((str(name) for name in found if name), "nothing known")
        raise ValueError(f"{folder / 'config.json'}: is of '{said}', expected '{kind}'")
    try:
        net, told = maker.from_pretrained(
            str(folder), output_loading_info=True, local_files_only=True, use_safetensors=True
        )
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ValueError(f"{folder}: cannot be read ({in_words(error).splitlines()[0]})") from None
    strange = [n for n in told["unexpected_keys"] if not str(n).startswith(unused)]
    for what, names_ in (
        ("missing", told["missing_keys"]),
        ("of another shape", told["mismatched_keys"]),
        ("not known", strange),
    ):
        if names_:
            some = sorted(map(str, names_))[:4]
            raise ValueError(f"{folder}: weights of another net: {len(names_)} {what} {some}")
    net = net.float()
    check_finite(net, folder)
    return net
