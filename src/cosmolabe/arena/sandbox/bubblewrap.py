"""A box by bubblewrap: own namespaces, no rights, a root made of read-only pieces.

bubblewrap itself starts with an empty environment (the box can read it at /proc/1/environ) and
gets its options through a file descriptor (the box can read its command line).
"""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from cosmolabe.arena.sandbox import seccomp
from cosmolabe.arena.sandbox.box import Box

NOBODY = "65534"
SHARED_MEMORY = "/dev/shm"
GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
INSTALL = "install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)"


def find() -> str:
    """Path of bubblewrap.

    Raises:
        ValueError: It is not installed.
    """
    path = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin:/bin")
    if path is None:
        raise ValueError(f"no bwrap on this machine; {INSTALL}")
    return path


@functools.cache
def version() -> tuple[int, ...]:
    """Version of bubblewrap, as numbers."""
    text = subprocess.run([find(), "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(word) for word in re.findall(r"\d+", text)[:3])


def options(box: Box, *, filter_fd: int | None, status_fd: int) -> list[str]:
    """What bubblewrap is told through `--args`."""
    scratch = str(min(box.limits.memory, box.limits.disk))
    told = ["--unshare-all", "--unshare-user", "--uid", NOBODY, "--gid", NOBODY]
    told += ["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "box"]
    if version() >= (0, 8):
        told += ["--disable-userns"]
    told += ["--proc", "/proc", "--dev", "/dev", "--size", scratch, "--tmpfs", SHARED_MEMORY]
    told += ["--size", scratch, "--tmpfs", "/tmp"]
    told += _pieces(box)
    if box.gpu:
        told += _devices()
    # Run by root, the box's processes own what root owns in /proc/sys, rights or no rights.
    told += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]
    told += ["--chdir", box.start_folder, "--clearenv"]
    for name, value in box.environment().items():
        told += ["--setenv", name, value]
    if filter_fd is not None:
        told += ["--seccomp", str(filter_fd)]
    return [*told, "--json-status-fd", str(status_fd)]


def filter_file() -> int | None:
    """File descriptor of the filter of system calls; None where there is none for this machine."""
    return filled(seccomp.program()) if seccomp.machine_has_filter() else None


def filled(content: bytes) -> int:
    """A nameless file with this content, to be read from its start."""
    number = os.memfd_create("cosmolabe")
    with os.fdopen(os.dup(number), "wb") as file:
        file.write(content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def _pieces(box: Box) -> list[str]:
    """Outer folders before what lies in them."""
    laid = [("--ro-bind", host, inside) for host, inside in box.readable]
    laid += [("--bind", host, inside) for host, inside in box.writable]
    told = []
    for how, host, inside in sorted(laid, key=lambda piece: piece[2].count("/")):
        told += [how, str(Path(host).absolute()), inside]
    return told


def _devices() -> list[str]:
    found = [*GPU_DEVICES, *(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))]
    told = []
    for path in found:
        told += ["--dev-bind-try", path, path]
    if Path("/dev/nvidia-caps").exists():
        told += ["--dev-bind", "/dev/nvidia-caps", "/dev/nvidia-caps"]
    return told
