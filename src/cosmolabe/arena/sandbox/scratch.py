"""Folders of a harness's own in the machine's temporary folder, none of which outlives it for long.

A harness holds each of its folders by a lock on it, which the kernel lets go when the harness ends,
however that comes about. A folder of such a name that nobody holds is what a killed harness left:
the next one takes it away.
"""

import contextlib
import fcntl
import functools
import os
import re
import tempfile
from collections.abc import Generator
from pathlib import Path

from cosmolabe.arena.sandbox.watching import remove_tree

SUFFIX = ".held"
NAME = re.compile(rf"cosmolabe-[a-z]+-\w+{re.escape(SUFFIX)}")


@contextlib.contextmanager
def scratch_folder(name: str) -> Generator[Path]:
    """A folder for a box to write in, removed afterwards however deep it has become."""
    sweep()
    folder, lock = _held_folder(name)
    try:
        yield folder
    finally:
        try:
            remove_tree(folder)
        finally:
            os.close(lock)


def sweep() -> None:
    """Take away what killed harnesses of this user left; once a process."""
    _sweep(Path(tempfile.gettempdir()))


@functools.cache
def _sweep(top: Path) -> None:
    for folder in sorted(top.glob(f"cosmolabe-*{SUFFIX}")):
        if not NAME.fullmatch(folder.name):
            continue
        with contextlib.suppress(OSError, ValueError):  # a link, not to be read, held, just gone
            number = _opened(folder)
            try:
                if os.fstat(number).st_uid == os.geteuid():
                    _hold(number)
                    remove_tree(folder)
            finally:
                os.close(number)


def _held_folder(name: str) -> tuple[Path, int]:
    """A new folder, open and locked; one that a sweep took before it was held is made anew.

    Where a file system has no locks none is held, and no sweep gets one to take it away by.
    """
    while True:
        folder = Path(tempfile.mkdtemp(SUFFIX, f"cosmolabe-{name}-"))
        with contextlib.suppress(FileNotFoundError):
            number = _opened(folder)
            try:
                _hold(number)
            except BlockingIOError:
                os.close(number)
                continue
            except OSError:
                return folder, number
            if folder.exists():
                return folder, number
            os.close(number)


def _opened(folder: Path) -> int:
    """No link is followed, and no child gets the number."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _hold(number: int) -> None:
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
