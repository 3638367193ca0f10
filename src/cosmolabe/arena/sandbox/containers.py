"""A box by docker or podman: an image of empty folders, into which the same pieces are laid.

So no image is ever fetched. What the engine needs of this machine's paths stands on its command
line, outside; inside nothing shows it but /proc/self/mountinfo.
"""

import contextlib
import functools
import io
import itertools
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.arena.sandbox import watching
from cosmolabe.arena.sandbox.box import Box, Enforced
from cosmolabe.arena.sandbox.start import Pipe

IMAGE = "cosmolabe-empty:1"
FOLDERS = ("bin", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sys", "tmp", "usr", "work")
ENGINES = ("docker", "podman")
PATIENCE = 60.0  # seconds an engine may take to answer
UNLIMITED_GRACE = 30  # seconds after `limits.wall` at which the box ends itself
LABEL = "cosmolabe.harness"
_numbers = itertools.count()


@functools.cache
def engine() -> str:
    """'docker' or 'podman', whichever answers; sweeps what killed harnesses left.

    Raises:
        ValueError: Neither does; says why.
    """
    whys = []
    for name in ENGINES:
        if shutil.which(name) is None:
            whys.append(f"no {name}")
            continue
        asked = _ask(name, "info", "--format", "{{json .}}")
        if asked.returncode == 0:
            _make_image(name)
            _sweep(name)
            return name
        whys.append(f"{name}: {(asked.stderr.strip() or 'no answer').splitlines()[-1]}")
    raise ValueError("; ".join(whys))


@dataclass
class Container:
    """A program in a container."""

    process: subprocess.Popen[bytes]
    enforced: Enforced
    name: str
    engine: str
    pid: int = 0
    seen_cpu: float = 0.0
    kills: int = 0

    def pids(self) -> list[int]:
        """Its processes, by their numbers on this machine; none where the engine is elsewhere."""
        if not self.pid:
            told = _ask(self.engine, "inspect", "-f", "{{.State.Pid}}", self.name).stdout.strip()
            self.pid = int(told) if told.isdigit() else 0
        return watching.members(self.pid) if self.pid else []

    def cpu_seconds(self) -> float:
        """Processor time of what was there when last looked."""
        self.seen_cpu = max(self.seen_cpu, watching.cpu_seconds(self.pids()))
        return self.seen_cpu

    def memory_kills(self) -> int:
        """Whether the kernel ended it for want of memory, known once it has ended."""
        return self.kills

    def kill(self) -> None:
        """End the container, and with it every process in it."""
        _ask(self.engine, "kill", self.name)

    def close(self) -> tuple[bool, int]:
        """See `Started.close`."""
        told = _ask(self.engine, "inspect", "-f", "{{json .State}}", self.name)
        _ask(self.engine, "rm", "-f", "-v", self.name)
        if told.returncode:
            return False, 0
        state = json.loads(told.stdout)
        self.kills = int(bool(state.get("OOMKilled")))
        return not state.get("Error") and self.process.returncode != 125, int(state["ExitCode"])


def start_container(box: Box, argv: Sequence[str], stdout: Pipe, stderr: Pipe) -> Container:
    """Start `argv` in a container of its own.

    Raises:
        ValueError: No engine answers.
    """
    tool = engine()
    name = f"cosmolabe-{os.getpid()}-{next(_numbers)}"
    # The engine outlives a harness that is killed, so the box also ends itself.
    wall = str(int(box.limits.wall) + UNLIMITED_GRACE)
    command = ["/usr/bin/timeout", "-s", "KILL", wall, *argv]
    process = subprocess.Popen(
        [shutil.which(tool) or tool, *_options(box, tool, name), IMAGE, *command],
        env={**_own_environment(), **box.environment()},
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        bufsize=0,
    )
    return Container(process, _enforced(box, tool), name, tool)


def _options(box: Box, tool: str, name: str) -> list[str]:
    limits = box.limits
    scratch = min(limits.memory, limits.disk)
    told = ["run", "-i", "--init", "--name", name, "--label", f"{LABEL}={os.getpid()}"]
    told += ["--pull", "never", "--network", "none", "--read-only", "--cap-drop", "ALL"]
    told += ["--security-opt", "no-new-privileges", "--hostname", "box"]
    told += ["--user", f"{os.getuid()}:{os.getgid()}", "--pids-limit", str(limits.processes)]
    told += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    told += ["--ulimit", "core=0", "--ulimit", f"fsize={limits.file_bytes}"]
    told += ["--tmpfs", f"/tmp:rw,exec,size={scratch}", "--shm-size", str(scratch)]
    if limits.cores is not None:
        told += ["--cpus", str(limits.cores)]
    if box.gpu:
        told += ["--gpus", "all"] if tool == "docker" else ["--device", "nvidia.com/gpu=all"]
    for how, pieces in (("ro", box.readable), ("rw", box.writable)):
        for host, inside in sorted(pieces, key=lambda piece: piece[1].count("/")):
            source = Path(host).resolve()
            told += ["--volume", f"{source}:{inside}:{how}"]
    for variable in box.environment():
        told += ["--env", variable]  # its value comes by the engine's own environment
    return [*told, "--workdir", box.start_folder]


def _enforced(box: Box, tool: str) -> Enforced:
    return Enforced(
        level="docker",
        root="read-only pieces",
        user=f"{tool}, no capabilities",
        network="own namespace" if box.port is None else f"own namespace, relay to {box.port}",
        seccomp=f"{tool}'s default",
        memory=f"cgroup by {tool}",
        processes=f"cgroup by {tool}",
        cpu="watched" if box.limits.cpu is not None else "none",
        cores=f"cgroup by {tool}" if box.limits.cores is not None else "none",
        file_bytes="rlimit",
        disk="watched",
    )


def _own_environment() -> dict[str, str]:
    """What the engine's command needs to find its daemon."""
    kept = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONFIG", "CONTAINER_HOST")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _make_image(tool: str) -> None:
    if _ask(tool, "image", "inspect", IMAGE).returncode == 0:
        return
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
    made = subprocess.run(
        [tool, "import", "-", IMAGE], input=content.getvalue(), capture_output=True, check=False
    )
    if made.returncode:
        raise ValueError(f"{tool} import: {made.stderr.decode(errors='replace').strip()}")


def _sweep(tool: str) -> None:
    """End containers whose harness is no more."""
    form = f'{{{{.Names}}}} {{{{.Label "{LABEL}"}}}}'
    for line in _ask(tool, "ps", "-a", "--filter", f"label={LABEL}", "--format", form).stdout.split(
        "\n"
    ):
        name, _, pid = line.strip().partition(" ")
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            _ask(tool, "rm", "-f", "-v", name)


def _ask(*words: str) -> subprocess.CompletedProcess[str]:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return subprocess.CompletedProcess(words, 1, "", f"no answer in {PATIENCE:g} s")
