"""What one file of `encoders/` offers: a frozen eye that turns pictures into features."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from cosmolabe.core.clip import Clip


@runtime_checkable
class Encoder(Protocol):
    """A loaded, frozen eye."""

    name: str
    width: int
    """D, features of one time."""
    canvas: int
    """Side of the square it looks at, in pixels; another size is letterboxed first."""
    key: str
    """Fingerprint of weights and preprocessing; part of every protocol that uses it."""

    def encode(self, clip: Clip) -> Float[np.ndarray, "time width"]:
        """One row a time: of each grid time, or of each tubelet for an eye that sees motion."""
        ...

    def features(self, pixels: Any) -> Any:  # noqa: ANN401 - torch tensors; core knows no torch
        """The same for a tensor (batch, time, 3, height, width) in 0..1, with a gradient.

        Gives a tensor (batch, time, width).
        """
        ...


@dataclass(frozen=True)
class EncoderPart:
    """An eye by name: what it needs and how to load it."""

    name: str
    summary: str
    """One sentence for lists and docs."""
    load: Callable[..., Encoder]
    """load(source=None, *, size='', random=False): `source` is a local folder or file, None means
    the pinned revision `weights` from the hub or the package; `random` builds it untrained."""
    licence: str
    sees: Literal["pictures", "motion"]
    """Whether each picture is encoded by itself or several together."""
    canvas: int
    """Side of the square the letterbox gives it, in pixels."""
    width: int
    weights: str = ""
    """hub id and revision, or the package that holds them; empty where none are needed."""
    extra: str = "torch"
    """The extra of the installation that it needs."""
    modules: tuple[str, ...] = ("torch",)
    """What must be importable for it to run."""
    sizes: tuple[str, ...] = ()
    """Other sizes by name, the first is the default; `canvas` and `width` are the default's."""
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Canvas and width of each size."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """Where the weights of each size lie and at which commit; sizes nobody trained are left out."""
    normalisation: str = ""
    """What pixels in 0..1 go through before the net."""
    frames: str = "1"
    """How many frames it takes at once and how many rows of features come of them."""
    missing: Callable[[str], str] | None = None
    """missing(size): the command that fetches its weights; empty where they are here."""
    notes: tuple[str, ...] = field(default=())

    def find(self, source: Path | None = None, size: str = "") -> str:
        """One line that says what would have to be done to use it; empty where it can be used."""
        import importlib.util

        lacking = [name for name in self.modules if importlib.util.find_spec(name) is None]
        if lacking:
            return f"needs {', '.join(lacking)}: pip install 'cosmolabe[{self.extra}]'"
        if source is not None:
            return "" if Path(source).exists() else f"no weights at {source}"
        return self.missing(size) if self.missing else ""
