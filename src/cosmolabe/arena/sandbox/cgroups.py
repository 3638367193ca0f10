"""Control groups, versions 1 and 2: limits that hold for all processes of a box together."""

import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.arena.sandbox.box import Limits

CONTROLLERS = ("memory", "pids", "cpu")
PERIOD = 100_000  # microseconds, the kernel's default
_numbers = itertools.count()


@dataclass(frozen=True)
class Hierarchy:
    """Where groups may be made: one folder a controller (version 1), or one for all (2)."""

    version: int
    folders: dict[str, Path]

    def new_group(self, limits: Limits) -> "Group":
        """A group with these limits and nobody in it.

        Raises:
            OSError: The kernel or the rights of this user do not allow it.
        """
        name = f"cosmolabe-{os.getpid()}-{next(_numbers)}"
        folders = {key: folder / name for key, folder in self.folders.items()}
        group = Group(self.version, folders)
        try:
            for folder in dict.fromkeys(folders.values()):
                folder.mkdir()
            (_limit_1 if self.version == 1 else _limit_2)(folders, limits)
        except OSError:
            group.remove(patience=0)
            raise
        return group


@dataclass(frozen=True)
class Group:
    """One box's group."""

    version: int
    folders: dict[str, Path]

    def add(self, pid: int) -> None:
        """Move a process in; its children will be born there."""
        for folder in dict.fromkeys(self.folders.values()):
            file = folder / "cgroup.procs"
            try:
                file.write_text(str(pid))
            except OSError as error:  # of a write it does not say where
                raise OSError(error.errno, error.strerror, str(file)) from None

    def pids(self) -> list[int]:
        """Processes in the group, by their numbers on this machine."""
        return [int(word) for word in (self.folders["pids"] / "cgroup.procs").read_text().split()]

    def cpu_seconds(self) -> float:
        """Processor time of all that ever ran in the group."""
        if self.version == 1:
            return int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        return _count(self.folders["cpu"] / "cpu.stat", "usage_usec") / 1e6

    def memory_kills(self) -> int:
        """How many processes the kernel ended because the group had no memory left."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        return _count(self.folders["memory"] / name, "oom_kill")

    def remove(self, patience: int | float = 2.0) -> None:
        """Take the group away; waits for its last process to be gone, `patience` seconds."""
        until = time.monotonic() + patience
        for folder in dict.fromkeys(self.folders.values()):
            while folder.exists():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > until:
                        break
                    time.sleep(0.002)


def find_hierarchy(
    mounts: Path = Path("/proc/self/mountinfo"), own: Path = Path("/proc/self/cgroup")
) -> Hierarchy:
    """Where this user may make groups with all of `CONTROLLERS`.

    Raises:
        ValueError: Nowhere; says what was tried and why it failed.
    """
    try:
        mounted, places = _mounted(mounts.read_text()), _places(own.read_text())
    except OSError as error:
        raise ValueError(f"no control groups on this machine: {error}") from None
    candidates = [*_version_1(mounted, places), *_version_2(mounted, places)]
    tried = []
    for hierarchy in candidates:
        try:
            hierarchy.new_group(Limits()).remove()
        except OSError as error:
            tried.append(str(error))
            continue
        return hierarchy
    told = "; ".join(tried) or "none is mounted with memory, pids and cpu"
    raise ValueError(f"no control groups may be made here: {told}")


def sweep(hierarchy: Hierarchy) -> None:
    """Take away the empty groups of harnesses that were killed."""
    for folder in dict.fromkeys(hierarchy.folders.values()):
        for group in folder.glob("cosmolabe-*"):
            pid = group.name.split("-")[1]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                Group(hierarchy.version, {"pids": group}).remove(patience=0)


def _limit_1(folders: dict[str, Path], limits: Limits) -> None:
    memory = folders["memory"]
    (memory / "memory.limit_in_bytes").write_text(str(limits.memory))
    swap = memory / "memory.memsw.limit_in_bytes"
    if swap.exists():
        swap.write_text(str(limits.memory))
    (folders["pids"] / "pids.max").write_text(str(limits.processes))
    if limits.cores is not None:
        (folders["cpu"] / "cpu.cfs_period_us").write_text(str(PERIOD))
        (folders["cpu"] / "cpu.cfs_quota_us").write_text(str(int(limits.cores * PERIOD)))


def _limit_2(folders: dict[str, Path], limits: Limits) -> None:
    folder = folders["memory"]
    (folder / "memory.max").write_text(str(limits.memory))
    if (folder / "memory.swap.max").exists():
        (folder / "memory.swap.max").write_text("0")
    (folder / "pids.max").write_text(str(limits.processes))
    if limits.cores is not None:
        (folder / "cpu.max").write_text(f"{int(limits.cores * PERIOD)} {PERIOD}")


def _mounted(text: str) -> dict[str, tuple[str, Path]]:
    """Controller (or 'unified') to (root within the hierarchy, where it is mounted)."""
    found = {}
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        (_, _, _, root, place, *_), (kind, _, *options) = left.split(), right.split()
        if kind == "cgroup2":
            found.setdefault("unified", (root, Path(place)))
        elif kind == "cgroup":
            for name in options[-1].split(","):
                found.setdefault(name, (root, Path(place)))
    return found


def _places(text: str) -> dict[str, str]:
    """Controller (or 'unified') to this process's own group."""
    found = {}
    for line in text.splitlines():
        _, names, place = line.split(":", 2)
        for name in names.split(",") if names else ["unified"]:
            found[name] = place
    return found


def _folder(mounted: dict[str, tuple[str, Path]], places: dict[str, str], name: str) -> Path:
    root, mount = mounted[name]
    place = places.get(name, "/")
    inner = place.removeprefix(root.rstrip("/")) if place.startswith(root.rstrip("/")) else "/"
    return mount / inner.lstrip("/")


def _version_1(mounted: dict[str, tuple[str, Path]], places: dict[str, str]) -> list[Hierarchy]:
    wanted = (*CONTROLLERS, "cpuacct")
    if not all(name in mounted for name in wanted):
        return []
    own = {name: _folder(mounted, places, name) for name in wanted}
    return [Hierarchy(1, own), Hierarchy(1, {name: mounted[name][1] for name in wanted})]


def _version_2(mounted: dict[str, tuple[str, Path]], places: dict[str, str]) -> list[Hierarchy]:
    if "unified" not in mounted:
        return []
    top = mounted["unified"][1]
    own = _folder(mounted, places, "unified")
    # A group with processes in it may not hand controllers on, so the ones above are tried too.
    chain = [own, *(folder for folder in own.parents if folder.is_relative_to(top))]
    return [
        Hierarchy(2, dict.fromkeys(CONTROLLERS, folder)) for folder in chain if _hands_on(folder)
    ]


def _hands_on(folder: Path) -> bool:
    """Whether groups below have all controllers, after asking for what is missing."""
    given = folder / "cgroup.subtree_control"
    try:
        missing = set(CONTROLLERS) - set(given.read_text().split())
        if missing:
            given.write_text(" ".join(f"+{name}" for name in sorted(missing)))
        return set(CONTROLLERS) <= set(given.read_text().split())
    except OSError:
        return False


def _count(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
