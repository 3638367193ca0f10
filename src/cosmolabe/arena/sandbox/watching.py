"""What a box uses, seen from outside: processes, memory, and bytes in its writable folders."""

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

MOST_ENTRIES = 200_000
"""Files and folders in the writable folders; more count as too much disk."""
TOO_MUCH = 1 << 62
BLOCK = 512  # bytes, the unit of st_blocks


def members(first: int) -> list[int]:
    """All processes in the PID namespace of process `first`, by their numbers here."""
    try:
        namespace = os.readlink(f"/proc/{first}/ns/pid")
    except OSError:
        return []
    return _those(lambda pid: os.readlink(f"/proc/{pid}/ns/pid") == namespace)


def session(leader: int) -> list[int]:
    """All processes of the session that process `leader` began."""
    return _those(lambda pid: os.getsid(pid) == leader)


def children(parent: int) -> list[int]:
    """Processes that `parent` began, by their numbers here."""
    return _those(lambda pid: int(_fields(pid)[1]) == parent)


def _those(holds: Callable[[int], bool]) -> list[int]:
    """Processes of this machine of which this holds; what ends meanwhile is none of them."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                if holds(int(name)):
                    found.append(int(name))
    return found


def _fields(pid: int) -> list[str]:
    """What /proc/PID/stat says after the program's name, which may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def threads(pids: Iterable[int]) -> int:
    """Threads of these processes; one thread is what the kernel calls one task."""
    count = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            count += len(os.listdir(f"/proc/{pid}/task"))
    return count


def holds_more(pids: list[int], limit: int) -> bool:
    """Whether these processes hold more than `limit` bytes of memory together.

    First by what each holds, which counts shared pages for each; only where that is too much, by
    shares (PSS), which takes the kernel longer to count.
    """
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    if pages * os.sysconf("SC_PAGE_SIZE") <= limit:
        return False
    return sum(map(_share, pids)) > limit


def _share(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time of these processes and of their children that have ended."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            ticks += sum(int(word) for word in _fields(pid)[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def disk_bytes(folders: Iterable[Path]) -> int:
    """Bytes on disk below these folders; `TOO_MUCH` where they cannot be counted.

    Follows no link. A file with two names counts once.
    """
    total, entries, seen = 0, 0, set()
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            continue  # it was a folder a moment ago
        except OSError:
            return TOO_MUCH  # a path too long to open, or no right to: nothing honest makes one
        try:
            with os.scandir(number) as listing:
                for entry in listing:
                    entries += 1
                    if entries > MOST_ENTRIES:
                        return TOO_MUCH
                    with contextlib.suppress(FileNotFoundError):
                        about = entry.stat(follow_symlinks=False)
                        if stat.S_ISDIR(about.st_mode):
                            waiting.append(folder / entry.name)
                        if (about.st_dev, about.st_ino) not in seen:
                            seen.add((about.st_dev, about.st_ino))
                            total += about.st_blocks * BLOCK
        finally:
            os.close(number)
    return total


def unlinked_bytes(pids: Iterable[int], devices: set[int]) -> int:
    """Bytes of files on these devices that have no name any more but are held open or mapped."""
    total, seen = 0, set()
    for pid in pids:
        for kind in ("fd", "map_files"):
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/{kind}"):
                    with contextlib.suppress(OSError):
                        about = os.stat(f"/proc/{pid}/{kind}/{name}")
                        key = (about.st_dev, about.st_ino)
                        nameless = stat.S_ISREG(about.st_mode) and about.st_nlink == 0
                        if nameless and about.st_dev in devices and key not in seen:
                            seen.add(key)
                            total += about.st_blocks * BLOCK
    return total


def remove_tree(folder: Path) -> None:
    """Remove what a box has left, however deep its folders lie; follows no link.

    Raises:
        ValueError: Something of it cannot be removed.
    """
    place = str(folder.absolute())
    ended = _ran("rm", "-rf", "--one-file-system", "--", place)
    if ended.returncode:  # folders that were closed to their own user
        _ran("chmod", "-R", "u+rwX", "--", place)
        ended = _ran("rm", "-rf", "--one-file-system", "--", place)
    if ended.returncode:
        raise ValueError(f"cannot remove {folder}: {ended.stderr.strip()[:300]}")


def _ran(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A program of every machine's, found though PATH name no folder that has it."""
    program = shutil.which(name) or shutil.which(name, path=os.defpath) or name
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)
