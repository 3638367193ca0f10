"""The code of an experiment, as a session's folder keeps it."""

import hashlib
from pathlib import Path

MOST_TEXT = 2 << 20
"""Bytes of a train.py, a note; nobody could have meant more."""


def code_of(folder: Path, experiment: str, code_hash: str) -> str:
    """Text of its train.py; "" where it is gone.

    A recording leaves out what equals the starter's: then that is it, if its hash says so.
    """
    own = text_of(folder / "experiments" / experiment / "train.py")
    if own or not code_hash:
        return own
    starter = text_of(folder / "starter" / "train.py")
    return starter if hashlib.sha256(starter.encode()).hexdigest() == code_hash else ""


def text_of(path: Path) -> str:
    """A file's text; "" where there is none, it is a link, or it is longer than MOST_TEXT."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_TEXT:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")
