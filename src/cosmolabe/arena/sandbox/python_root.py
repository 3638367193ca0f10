"""The read-only pieces of this machine that Python, or a command-line tool, needs to start."""

import sys
from pathlib import Path

from cosmolabe.arena.sandbox.box import Pieces

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
PROGRAMS = ("/bin", "/usr/bin")
TOOLS = ("/usr/share", "/usr/local", "/usr/libexec", "/opt", "/etc/ssl", "/etc/alternatives")
FILES = ("/etc/ld.so.cache", "/etc/localtime")


def python_root(*, tools: bool = False) -> Pieces:
    """This interpreter, its environment, and the system's libraries, at the paths they have here.

    Packages that were installed as links to source folders are not there: a link leads nowhere.
    `tools` adds what coding agents need: /usr/local, /usr/share, certificates.
    """
    own = (sys.base_prefix, sys.prefix)
    wanted = (*LIBRARIES, *PROGRAMS, *FILES, *(TOOLS if tools else ()), *own)
    paths = [Path(path) for path in dict.fromkeys(wanted) if path != "/usr"]
    return tuple((path, str(path)) for path in paths if path.exists())
