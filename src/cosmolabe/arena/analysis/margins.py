"""Margins of equivalence, written down before a run; a report shows the hash of the file.

A margin file is JSON: {"schema": 1, "margins": {"test": 0.02}, "why": "...", "date": "2026-11-30"}.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.core.record import read_json, write_json

SCHEMA = 1


@dataclass(frozen=True)
class Registered:
    """Margins by name of a score, and the hash of the file that held them."""

    margins: Mapping[str, float]
    why: str
    hash: str
    """SHA-256 of the file's bytes."""
    path: str = ""


def register(path: Path, margins: Mapping[str, float], why: str, date: str) -> Registered:
    """Write a margin file; one that is there is never changed."""
    if path.exists():
        raise ValueError(f"{path} is registered already; another margin goes to another file")
    _check(margins, path)
    write_json(path, {"schema": SCHEMA, "margins": dict(margins), "why": why, "date": date})
    return read_margins(path)


def read_margins(path: Path) -> Registered:
    """The margins of a file, with its hash."""
    tree = read_json(path)
    if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
        raise ValueError(f"{path}: not a file of margins of schema {SCHEMA}")
    margins = tree.get("margins")
    if not isinstance(margins, dict) or not margins:
        raise ValueError(f"{path}: no 'margins', which name scores and what is no difference")
    _check(margins, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    named = {str(name): float(value) for name, value in margins.items()}
    return Registered(named, str(tree.get("why", "")), digest, str(path))


def _check(margins: Mapping[str, float], path: Path) -> None:
    for name, value in margins.items():
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not 0 < value < math.inf:
            raise ValueError(f"{path}: the margin of '{name}' has to be above 0; got {value!r}")
