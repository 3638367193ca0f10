"""`run` and `open_child`: a program of a stranger's, in a box."""

import contextlib
import functools
import io
import os
import stat
from collections.abc import Generator, Sequence
from pathlib import Path

from cosmolabe.arena.sandbox import levels
from cosmolabe.arena.sandbox.box import Box, Ended, refuse_missing
from cosmolabe.arena.sandbox.child import Child, Starter
from cosmolabe.arena.sandbox.containers import start_container
from cosmolabe.arena.sandbox.relay import Relay, through
from cosmolabe.arena.sandbox.start import start_bubble, start_local


def run(
    box: Box,
    argv: Sequence[str],
    *,
    level: str = "auto",
    stdin: bytes | None = None,
    log: Path | io.BufferedIOBase | None = None,
) -> Ended:
    """Run a program to its end, or to that of its limits; nothing of it is alive afterwards.

    Args:
        box: What it sees and may use.
        argv: The program and its arguments, as paths inside the box.
        level: One of `LEVELS`, or 'auto'.
        stdin: What it reads; nothing by default.
        log: Where stdout and stderr go, appended, `limits.log_bytes` at most.

    Raises:
        ValueError: The level does not work here, a piece of the box is missing, or the log is a
            link or no plain file.
    """
    with _opened(log) as file:
        child = _child(box, argv, level, stdin=stdin is not None, merge=True, log=file)
        with child:
            if stdin is not None:
                with contextlib.suppress(EOFError, TimeoutError):
                    child.write(stdin, box.limits.wall)
                child.close_stdin()
            return child.wait()


def open_child(
    box: Box,
    argv: Sequence[str],
    level: str = "auto",
    *,
    log: Path | io.BufferedIOBase | None = None,
) -> Child:
    """Start a program to speak to by its stdin and stdout; use it in a `with` block.

    Its stderr goes to `log`, and its last 64 kB to `Child.said`.

    Raises:
        ValueError: As `run`.
    """
    if isinstance(log, Path):
        raise ValueError("give an open file as log: it has to stay open as long as the program")
    return _child(box, argv, level, stdin=True, merge=False, log=log)


def _child(
    box: Box,
    argv: Sequence[str],
    level: str,
    *,
    stdin: bool,
    merge: bool,
    log: io.BufferedIOBase | None,
) -> Child:
    level = levels.chosen(level)
    refuse_missing(box)
    folders = tuple(Path(host) for host, _ in box.writable)
    with contextlib.ExitStack() as at_end:
        if box.port is not None and level != "unsafe-local":
            relay = Relay(box.port)
            at_end.callback(relay.close)
            box, argv = through(relay, box, argv)
        start = _starter(box, argv, level)
        child = Child(start, box.limits, folders, stdin=stdin, merge=merge, log=log)
        child.at_end = at_end.pop_all()
        return child


def _starter(box: Box, argv: Sequence[str], level: str) -> Starter:
    if level == "unsafe-local":
        return functools.partial(start_local, box, argv)
    if level == "docker":
        return functools.partial(start_container, box, argv)
    hierarchy = levels.hierarchy() if level == "bwrap+cgroup" else None
    return functools.partial(start_bubble, box, argv, hierarchy)


@contextlib.contextmanager
def _opened(log: Path | io.BufferedIOBase | None) -> Generator[io.BufferedIOBase | None]:
    """The log, opened so that nothing laid in its place by a program can lead elsewhere."""
    if not isinstance(log, Path):
        yield log
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        number = os.open(log, flags, 0o644)
    except OSError as error:
        raise ValueError(f"cannot write the log {log}: {error.strerror}") from None
    with os.fdopen(number, "ab") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
            raise ValueError(f"{log} is not a plain file of one name; no log is written there")
        yield file
