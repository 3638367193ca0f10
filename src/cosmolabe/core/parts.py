"""Finds parts: our own by file name, other people's by entry point."""

import importlib
import pkgutil
from functools import cache
from importlib import metadata
from typing import Any

ATTRIBUTES = {
    "games": "GAME",
    "models": "MODEL",
    "metrics": "METRIC",
    "judges": "JUDGE",
    "scenarios": "SCENARIOS",
    "encoders": "ENCODER",
    "corpora": "CORPUS",
    "vlms": "VLM",
    "agents": "AGENT",
}
"""Each kind of part and the one object its file offers."""
PLACES = {"agents": "arena.agents"}
"""Where the files of a kind lie, if not in a folder of its name."""
SINGULAR = {"corpora": "corpus"}


@cache
def names(kind: str) -> tuple[str, ...]:
    """All parts of a kind, ours first, each in alphabetical order."""
    if kind not in ATTRIBUTES:
        raise ValueError(f"no kind of part '{kind}'; have {sorted(ATTRIBUTES)}")
    package = importlib.import_module(f"cosmolabe.{PLACES.get(kind, kind)}")
    ours = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")
    theirs = sorted(point.name for point in _entry_points(kind) if point.name not in ours)
    return (*ours, *theirs)


def load(kind: str, name: str) -> Any:  # noqa: ANN401 - each kind has its own type
    """The part named `name`; an unknown name is refused with the names there are."""
    if name not in names(kind):
        raise ValueError(
            f"no {SINGULAR.get(kind, kind[:-1])} named '{name}'; have {list(names(kind))}"
        )
    for point in _entry_points(kind):
        if point.name == name:
            return point.load()
    module = importlib.import_module(f"cosmolabe.{PLACES.get(kind, kind)}.{name}")
    return getattr(module, ATTRIBUTES[kind])


def _entry_points(kind: str) -> list[metadata.EntryPoint]:
    return list(metadata.entry_points(group=f"cosmolabe.{kind}"))
