"""Names on the command line to world models: ours, trained ones, and a user's own Python."""

import contextlib
import importlib.util
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from cosmolabe.core.errors import in_words


def open_model(name: str, store: Any, seed: int = 0, trust: bool = False) -> Any:  # noqa: ANN401
    """The world model that `name` means, for the game of a store.

    A part's name ('still'), a checkpoint folder (in which `{game}` stands for the store's game),
    or FILE.py:NAME, a callable that takes the manifest; the last needs `trust`.
    """
    from cosmolabe.bench.trained import load_trained
    from cosmolabe.core import parts

    path, _, attribute = name.rpartition(":")
    if path.endswith(".py"):
        return _own(Path(path), attribute, _made(Path(path), attribute, store.manifest, trust))
    folder = Path(name.replace("{game}", store.game))
    if folder.is_dir():
        return load_trained(folder, store.manifest)
    if name not in parts.names("models"):
        raise ValueError(
            f"no model and no checkpoint folder '{name}'; have {list(parts.names('models'))}, "
            "folders that `cosmolabe train` writes, or FILE.py:NAME with --trust"
        )
    part = parts.load("models", name)
    if part.trainable:
        raise ValueError(
            f"'{name}' must be trained first: cosmolabe train STORE --model {name} --out FOLDER, "
            "then give the folder"
        )
    return part.create(store.manifest, part.sizes[0], seed)


def open_frame_model(name: str, manifest: Any, trust: bool = False) -> Any:  # noqa: ANN401
    """The frame model that `name` means, or None where it means no frame model.

    A folder that `cosmolabe train --frames` wrote, or FILE.py:NAME, a callable that takes the
    manifest and gives something with `step` and a `name`; the last needs `trust`.
    """
    model = open_any(name, manifest, trust)
    return model if paints(model) else None


def open_any(name: str, manifest: Any, trust: bool = False) -> Any:  # noqa: ANN401
    """A frame model by folder, whatever a user's callable gives, or None; user code runs once."""
    path, _, attribute = name.rpartition(":")
    if path.endswith(".py"):
        model = _made(Path(path), attribute, manifest, trust)
        with _told(Path(path)):
            painter = paints(model)
        return model if painter else _own(Path(path), attribute, model)
    folder = Path(name)
    if not (folder / "frame_model.json").is_file():
        return None
    from cosmolabe.nets.frame_net import PixelModel

    return PixelModel.load(folder)


def paints(model: Any) -> bool:  # noqa: ANN401 - whatever a user's callable gives
    """Is it a frame model: does it step, not roll out, and have a name?"""
    steps = callable(getattr(model, "step", None)) and not hasattr(model, "rollout")
    return steps and _is_name(getattr(model, "name", None))


def _made(path: Path, attribute: str, manifest: Any, trust: bool) -> Any:  # noqa: ANN401
    """What a user's callable gives."""
    if not trust:
        raise ValueError(f"{path} is Python and would be run; say --trust if you trust it")
    if not path.is_file():
        raise ValueError(f"no file {path}")
    spec = importlib.util.spec_from_file_location(f"own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with _told(path):
        spec.loader.exec_module(module)
    make = getattr(module, attribute, None)
    if not callable(make):
        raise ValueError(f"{path} has no callable '{attribute}'")
    with _told(path):
        return make(manifest)


def _own(path: Path, attribute: str, model: Any) -> Any:  # noqa: ANN401
    with _told(path):
        name = getattr(model, "name", None)
    if not callable(getattr(model, "rollout", None)) or not _is_name(name):
        raise ValueError(
            f"{path}:{attribute} gave no world model: it needs `rollout` and a `name` of 1 to 200 "
            "printable characters"
        )
    return Own(name, model)


@dataclass(frozen=True)
class Own:
    """A user's own model under the name it had when it was opened, whatever it says later."""

    name: str
    model: Any

    def rollout(self, context: Any, seed: int = 0) -> Any:  # noqa: ANN401 - `core.rollout`, lazily
        """What the model imagines."""
        return self.model.rollout(context, seed=seed)


def _is_name(name: Any) -> TypeGuard[str]:  # noqa: ANN401 - whatever a stranger's model has
    return isinstance(name, str) and 0 < len(name) <= 200 and name.isprintable()


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    """What goes wrong in a user's own file is told as theirs; its `exit()` does not end us."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ValueError(f"{path} raised {in_words(error)}") from error
