"""An agent's settings as records hold them: what was named, and never where it lay."""

import hashlib
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.record import plain

ABSOLUTE = re.compile(
    r"\b(?!(?i:file):)\w+://\S*|(?:(?<![\w./~])|(?<=^-\w))/(?!\s|$)(?:[^/\s=:,;'\"]*/)*"
)
"""An address, which stays, or the folders of an absolute path within a word."""


def recorded(agent: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """An agent's settings as records hold them.

    A file that one of them names is told by its name and sha256, a recording by those of its
    ledger; of an absolute path in any other text the last name is left.
    """
    paths = parts.load("agents", agent).paths if agent in parts.names("agents") else ()
    return {
        name: _file(value) if name in paths and isinstance(value, str) else _less(plain(value))
        for name, value in settings.items()
    }


def _file(text: str) -> str | dict[str, str]:
    path = Path(text)
    file = path / "ledger.jsonl" if path.is_dir() else path
    if not text or not file.is_file():
        return PurePath(text).name
    name = PurePath(os.path.abspath(path)).name  # of `.` too
    return {"name": name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def _less(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {name: _less(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_less(item) for item in value]
    return short(value) if isinstance(value, str) else value


def short(text: str) -> str:
    """A command line, or any text, with the last name of every absolute path in it."""
    words = _words(text)
    less = [
        PurePath(w).name or w if w.startswith("/") else ABSOLUTE.sub(_address, w) for w in words
    ]
    return text if less == words else shlex.join(less)


def program(command: str) -> str:
    """The name of the program that a command line begins with."""
    words = _words(command)
    return PurePath(words[0]).name if words else ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _address(found: re.Match[str]) -> str:
    return found[0] if "://" in found[0] else ""
