"""What one file of `vlms/` offers: a model that looks at frames and answers a question in words."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from jaxtyping import Float, UInt8
from numpy import ndarray

Group = Literal["vision", "projector", "language"]


@dataclass(frozen=True)
class Family:
    """Which parameters are which part, by name: the first pattern found anywhere in it wins.

    Patterns are tried in the order projector, vision, language, for some families keep the
    projector inside the tower (reference/universe §4).
    """

    projector: str
    vision: str
    language: str

    def group(self, name: str) -> Group:
        """The part a parameter belongs to; one that belongs to none is refused by name."""
        for group in ("projector", "vision", "language"):
            if re.search(getattr(self, group), name):
                return group
        raise ValueError(f"parameter {name!r} is neither vision, projector nor language")

    def partition(self, names: Iterable[str]) -> dict[Group, list[str]]:
        """Every name once; a part without any is refused."""
        found: dict[Group, list[str]] = {"vision": [], "projector": [], "language": []}
        for name in names:
            found[self.group(name)].append(name)
        empty = [group for group, mine in found.items() if not mine]
        if empty:
            raise ValueError(f"no parameter is {' or '.join(empty)}; the patterns are {self}")
        return found


@runtime_checkable
class Vlm(Protocol):
    """A loaded model.

    `seen` is whatever `see` gives, one for each clip, and may be kept and used for any number of
    questions: the vision tower does not run again.
    """

    name: str
    family: Family | None
    """None for a model behind an address, whose parameters nobody can see."""
    module: Any
    """The torch module that trains; None where there is none."""

    @property
    def key(self) -> str:
        """Fingerprint of weights, preprocessing and prompt layout; part of every protocol."""
        ...

    def see(self, clips: Sequence[UInt8[ndarray, "frame height width 3"]]) -> list[Any]:
        """What the vision tower makes of each clip's frames, before the projector.

        With a gradient where the tower trains. Frames are uint8; floats are refused, for processors
        would rescale them again.
        """
        ...

    def loss(self, seen: Sequence[Any], prompts: Sequence[str], answers: Sequence[str]) -> Any:  # noqa: ANN401
        """Mean over the batch's answer tokens (end included) of minus log p: a torch scalar."""
        ...

    def likelihood(
        self, seen: Sequence[Any], prompts: Sequence[str], labels: Sequence[Sequence[str]]
    ) -> list[Float[ndarray, " label"]]:
        """Log p of each label as the whole answer, end token included, one row a question."""
        ...

    def generate(self, seen: Sequence[Any], prompts: Sequence[str], tokens: int = 16) -> list[str]:
        """Greedy answers as raw text, prompt and end token left out."""
        ...


@dataclass(frozen=True)
class VlmPart:
    """A family of models by name: what it needs and how to load it."""

    name: str
    summary: str
    load: Callable[..., Vlm]
    """load(source=None, *, size='', random=False, device='cpu', dtype='float32'): `source` is a
    local folder or a hub id with revision, None the pinned default; `random` builds small untrained
    weights of the real classes, offline."""
    licence: str
    family: Family | None
    weights: str = ""
    """hub id and revision of the default, or the package that holds it."""
    extra: str = "vlm"
    modules: tuple[str, ...] = ("torch", "transformers")
    sizes: tuple[str, ...] = ()
    revisions: Mapping[str, str] = field(default_factory=dict)
    missing: Callable[[str], str] | None = None
    """missing(size): the command that fetches the weights; empty where they are here."""
    notes: tuple[str, ...] = ()

    def find(self, source: Any = None, size: str = "") -> str:  # noqa: ANN401 - path or hub id
        """One line that says what would have to be done to use it; empty where it can be used."""
        import importlib.util

        lacking = [name for name in self.modules if importlib.util.find_spec(name) is None]
        if lacking:
            return f"needs {', '.join(lacking)}: pip install 'cosmolabe[{self.extra}]'"
        return "" if source is not None or self.missing is None else self.missing(size)
