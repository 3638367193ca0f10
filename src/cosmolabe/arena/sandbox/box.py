"""What a stranger's program may see and use, and what was in force when it ran."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

KILLED = ("", "wall", "cpu", "memory", "processes", "disk", "caller")
"""Why a box was ended from outside; empty where its program ended by itself."""
Pieces = tuple[tuple[Path | str, str], ...]
"""(path on this machine, path inside the box), any number of them."""


@dataclass(frozen=True)
class Limits:
    """What all processes of a box together may use; None means no limit."""

    wall: int | float = 600.0
    """Seconds of this machine's monotonic clock, from start to the end of the last process."""
    cpu: int | float | None = None
    """Processor seconds of all processes."""
    memory: int = 4 << 30
    """Bytes of all processes; what lies in /tmp and /dev/shm counts."""
    processes: int = 256
    """Processes and threads that live at one time."""
    file_bytes: int = 1 << 30
    """Bytes of the largest file."""
    log_bytes: int = 8 << 20
    """Bytes of what it prints that are kept."""
    disk: int = 4 << 30
    """Bytes that the writable folders may hold in all, what lay there before included."""
    cores: int | float | None = None
    """Processors' worth of time per second."""

    def __post_init__(self) -> None:
        for limit in dataclasses.fields(self):
            value = getattr(self, limit.name)
            if value is not None and not value > 0:
                raise ValueError(f"limit {limit.name} has to be above 0; got {value}")


@dataclass(frozen=True)
class Box:
    """All that a program inside sees of this machine; what is not named here is not there."""

    readable: Pieces = ()
    writable: Pieces = ()
    limits: Limits = field(default_factory=Limits)
    network: str = "none"
    """'none', or 'proxy:PORT': this machine's 127.0.0.1:PORT, at the same address inside."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Beside PATH, HOME and LANG, which have plain values unless named here."""
    gpu: bool = False
    """NVIDIA devices are there. Their driver reserves address space, so rlimits spare memory."""
    cwd: str = ""
    """Folder to start in; the first writable one where none is named, else /."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"none|proxy:[1-9]\d{0,4}", self.network):
            raise ValueError(f"network is 'none' or 'proxy:PORT', not {self.network!r}")
        for _, inside in (*self.readable, *self.writable):
            path = PurePosixPath(inside)
            if not path.is_absolute() or ".." in path.parts or str(path) != inside:
                raise ValueError(f"a path inside a box is absolute and plain; got {inside!r}")
        for name, value in self.env.items():
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"{name!r} cannot be the name of an environment variable here")

    @property
    def port(self) -> int | None:
        """Port of the proxy, or None where there is no network at all."""
        return None if self.network == "none" else int(self.network.removeprefix("proxy:"))

    @property
    def start_folder(self) -> str:
        """`cwd`, or the first writable folder, or /."""
        return self.cwd or (self.writable[0][1] if self.writable else "/")

    def environment(self) -> dict[str, str]:
        """All variables that the program finds."""
        plain = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
        return {**plain, **self.env}


@dataclass(frozen=True)
class Enforced:
    """What really held a box, in words for the record; 'none' where nothing did."""

    level: str
    root: str = "none"
    """What the program sees as the file system."""
    user: str = "none"
    network: str = "none"
    seccomp: str = "none"
    memory: str = "none"
    processes: str = "none"
    cpu: str = "none"
    cores: str = "none"
    file_bytes: str = "none"
    disk: str = "none"

    @property
    def valid(self) -> bool:
        """Whether a record made in such a box may be compared with others."""
        return self.level != "unsafe-local"


@dataclass(frozen=True)
class Ended:
    """How a program in a box ended."""

    code: int
    """Its exit status; 128 + n where signal n ended it."""
    wall: float
    """Seconds from start to the end of the last process, by this machine's clock."""
    cpu: float
    """Processor seconds of all processes."""
    killed: str
    """One of `KILLED`."""
    enforced: Enforced


def refuse_missing(box: Box) -> None:
    """Say which piece of this machine is not there, before anything starts.

    Raises:
        ValueError: A path does not exist, or a link lies where a read-only piece is to be laid.
    """
    for host, inside in (*box.readable, *box.writable):
        if not Path(host).exists():
            raise ValueError(f"no {host} to lay at {inside} in the box")
    for host, inside in box.writable:
        if not Path(host).is_dir():
            raise ValueError(f"{host} is to be writable at {inside}, so it has to be a folder")
        for _, upper in box.readable:
            if upper.startswith(inside + "/"):
                _refuse_link(Path(host), upper[len(inside) + 1 :])


def _refuse_link(folder: Path, rest: str) -> None:
    """A link laid by an earlier program must not decide where a piece is laid."""
    for part in rest.split("/"):
        folder = folder / part
        if folder.is_symlink():
            raise ValueError(f"{folder} is a link, where a read-only piece is to be laid")
