"""Eyes that are nets of `transformers`, in several sizes, each at one commit of the hub.

What such an eye is, its own file says: sizes, config, which patches count. How a size is found,
built or loaded, and what lists tell of it, is the same for all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from torch import nn

from cosmolabe.nets.eyes import untrained
from cosmolabe.nets.pretrained import (
    NOWHERE,
    HubWeights,
    find_weights,
    from_folder,
    missing,
    require,
    size_of,
)


@runtime_checkable
class HubSize(Protocol):
    """What is known of a size before it is loaded."""

    @property
    def width(self) -> int:
        """Features of one time."""
        ...

    @property
    def canvas(self) -> int:
        """Side of the square, in pixels."""
        ...

    @property
    def revision(self) -> str:
        """The commit of its weights; empty for a size that nobody trained."""
        ...


Size = TypeVar("Size", bound=HubSize)
Eye = TypeVar("Eye", bound=nn.Module)


@dataclass(frozen=True)
class Family(Generic[Size, Eye]):
    """The sizes of one eye, the first of them the default."""

    name: str
    sizes: Mapping[str, Size]
    kind: str
    """What `config.json` calls it."""
    model: str
    """Its class in transformers."""
    config: Callable[[Any, Size], Any]
    """config(transformers, size): the config of an untrained net."""
    eye: Callable[[Any], Eye]
    """The net as an eye."""
    repo: Callable[[str], str]
    """The hub's repository of a size by name."""
    files: tuple[str, ...] = ("model.safetensors", "config.json")
    note: str = ""
    """What stands in the way of fetching."""
    unused: tuple[str, ...] = ()
    """How names of weights begin that files hold beside the eye."""

    def weights_of(self, size: str) -> HubWeights:
        """On the hub; nowhere for a size that nobody trained."""
        if not self.sizes[size].revision:
            return NOWHERE
        return HubWeights(self.repo(size), self.sizes[size].revision, self.files, self.note)

    def load(self, source: str | Path | None, size: str, random: bool) -> Eye:
        """The eye of a size, or of the folder `source` whatever size lies there."""
        size = size or self.default
        wanted = size_of(self.name, self.sizes, size)
        if random:
            return untrained(lambda: self.build(wanted))
        maker = getattr(require("transformers", "encoders"), self.model)
        folder = find_weights(self.weights_of(size), source)
        return self.eye(from_folder(maker, folder, self.kind, self.unused))

    def build(self, size: Size) -> Eye:
        """Untrained."""
        transformers = require("transformers", "encoders")
        return self.eye(getattr(transformers, self.model)(self.config(transformers, size)))

    @property
    def default(self) -> str:
        """The size that is meant where none is named."""
        return next(iter(self.sizes))

    @property
    def told(self) -> dict[str, Any]:
        """What an `EncoderPart` says of sizes, weights and what must be installed."""
        first = self.sizes[self.default]
        return {
            "canvas": first.canvas,
            "width": first.width,
            "weights": str(self.weights_of(self.default)),
            "extra": "encoders",
            "modules": ("torch", "transformers"),
            "sizes": tuple(self.sizes),
            "shapes": {name: (size.canvas, size.width) for name, size in self.sizes.items()},
            "revisions": {
                name: str(self.weights_of(name))
                for name, size in self.sizes.items()
                if size.revision
            },
            "missing": lambda size: missing(self.weights_of(size or self.default)),
        }
