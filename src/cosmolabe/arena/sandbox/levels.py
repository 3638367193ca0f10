"""The ladder of sandboxes, and which of its steps this machine can stand on."""

import functools
import subprocess

from cosmolabe.arena.sandbox import bubblewrap, cgroups, containers
from cosmolabe.arena.sandbox.python_root import python_root

LEVELS = ("docker", "bwrap+cgroup", "bwrap+rlimits", "unsafe-local")
"""What can hold a program. The last holds nothing, and its records are never valid."""
PREFERRED = ("bwrap+cgroup", "docker", "bwrap+rlimits")
"""Order of trial for `auto`: bubblewrap with control groups holds what docker holds and starts in
a tenth of the time. `unsafe-local` is never taken by itself."""


def best_level() -> str:
    """The first of `PREFERRED` that works here.

    Raises:
        ValueError: None does; says what is missing for each.
    """
    whys = {level: why_not(level) for level in PREFERRED}
    for level, why in whys.items():
        if not why:
            return level
    told = "; ".join(f"{level}: {why}" for level, why in whys.items())
    raise ValueError(f"no sandbox works here ({told}). 'unsafe-local' runs without one, unrecorded")


def chosen(level: str) -> str:
    """`level`, or the best one for 'auto'.

    Raises:
        ValueError: There is no such level, or it does not work here.
    """
    if level == "auto":
        return best_level()
    if level not in LEVELS:
        raise ValueError(f"no sandbox level {level!r}; have {['auto', *LEVELS]}")
    if why := why_not(level):
        raise ValueError(f"sandbox level {level} does not work here: {why}")
    return level


@functools.cache
def why_not(level: str) -> str:
    """Why a level does not work on this machine; empty where it does."""
    if level == "unsafe-local":
        return ""
    if level == "docker":
        try:
            containers.engine()
        except ValueError as error:
            return str(error)
        return ""
    if why := _why_no_bubble():
        return why
    if level == "bwrap+cgroup":
        try:
            hierarchy()
        except ValueError as error:
            return str(error)
    return ""


@functools.cache
def hierarchy() -> cgroups.Hierarchy:
    """Where control groups may be made; what killed harnesses left there is swept.

    Raises:
        ValueError: Nowhere.
    """
    found = cgroups.find_hierarchy()
    cgroups.sweep(found)
    return found


def _why_no_bubble() -> str:
    try:
        program = bubblewrap.find()
    except ValueError as error:
        return str(error)
    told = ["--unshare-all", "--unshare-user", "--proc", "/proc", "--dev", "/dev"]
    for host, inside in python_root():
        told += ["--ro-bind", str(host), inside]
    ended = subprocess.run(
        [program, *told, "/bin/true"], env={}, capture_output=True, text=True, check=False
    )
    return ended.stderr.strip() if ended.returncode else ""
