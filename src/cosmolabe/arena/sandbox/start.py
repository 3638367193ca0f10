"""Starting a program at one level of the ladder, and ending all of it."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from cosmolabe.arena.sandbox import bubblewrap, watching
from cosmolabe.arena.sandbox.box import Box, Enforced
from cosmolabe.arena.sandbox.cgroups import Group, Hierarchy
from cosmolabe.arena.sandbox.waiting import ready

PATIENCE = 10.0  # seconds until a killed process has to be gone
WAIT = 'read -r go && [ "$go" = go ] && exec "$@"'
GO = b"go\n"
Pipe = int | IO[bytes] | None


class Started(Protocol):
    """One running program, at any level."""

    process: subprocess.Popen[bytes]
    enforced: Enforced

    def pids(self) -> list[int]:
        """Its processes, by their numbers on this machine."""
        ...

    def cpu_seconds(self) -> float:
        """Processor time so far."""
        ...

    def memory_kills(self) -> int:
        """Processes that the kernel ended for want of memory."""
        ...

    def kill(self) -> None:
        """End every process of it."""
        ...

    def close(self) -> tuple[bool, int]:
        """Wait until the last process is gone and tidy up, once the first has ended.

        Gives whether the program itself was reached, and what it left as its exit status.
        """
        ...


@dataclass
class Bubble:
    """A program under bubblewrap, with or without a control group."""

    process: subprocess.Popen[bytes]
    enforced: Enforced
    status: int
    """Where bubblewrap tells of its first process and, at the end, of the exit status."""
    init: int = -1
    """File descriptor of the box's first process: when that is gone, all are."""
    init_pid: int = -1
    group: Group | None = None
    seen_cpu: float = 0.0
    kills: int = 0

    def pids(self) -> list[int]:
        """Its processes, by their numbers on this machine."""
        return self.group.pids() if self.group else watching.members(self.init_pid)

    def cpu_seconds(self) -> float:
        """Processor time so far; without a control group, of what was there when last looked."""
        now = self.group.cpu_seconds() if self.group else watching.cpu_seconds(self.pids())
        self.seen_cpu = max(self.seen_cpu, now)
        return self.seen_cpu

    def memory_kills(self) -> int:
        """Processes that the kernel ended for want of memory."""
        if self.group:
            self.kills = self.group.memory_kills()
        return self.kills

    def kill(self) -> None:
        """End the first process; the kernel ends all others of its namespace with it."""
        with contextlib.suppress(OSError, ValueError):
            signal.pidfd_send_signal(self.init, signal.SIGKILL)

    def close(self) -> tuple[bool, int]:
        """See `Started.close`."""
        self.kill()
        if not ready([self.init], [], PATIENCE):
            raise RuntimeError(f"a killed box is still there after {PATIENCE:g} s")
        told = _documents(self.status)
        code = next((line["exit-code"] for line in told if "exit-code" in line), None)
        os.close(self.init)
        os.close(self.status)
        if self.group:
            self.seen_cpu, self.kills = self.group.cpu_seconds(), self.group.memory_kills()
            self.group.remove()
            self.group = None
        return code is not None, code if code is not None else 0


def start_bubble(
    box: Box, argv: Sequence[str], hierarchy: Hierarchy | None, stdout: Pipe, stderr: Pipe
) -> Bubble:
    """Start `argv` under bubblewrap; it runs its first instruction only when its limits hold.

    Until then a shell waits in its place for a word on stdin. Should this harness be killed
    meanwhile, the word never comes and the shell ends; from then on the kernel ends the box with
    the harness.

    Raises:
        ValueError: bubblewrap is missing, or refuses.
    """
    status, told = os.pipe()
    filter_fd = bubblewrap.filter_file()
    words = bubblewrap.options(box, filter_fd=filter_fd, status_fd=told)
    args = bubblewrap.filled(b"".join(os.fsencode(word) + b"\0" for word in words))
    passed = [fd for fd in (args, filter_fd, told) if fd is not None]
    try:
        process = subprocess.Popen(
            [bubblewrap.find(), "--args", str(args), "--", "/bin/sh", "-c", WAIT, "sh", *argv],
            env={},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            pass_fds=passed,
        )
    except BaseException:
        os.close(status)
        raise
    finally:
        for fd in passed:
            os.close(fd)
    bubble = Bubble(process, Enforced("none"), status)
    try:
        _hold(bubble, box, hierarchy, filter_fd is not None)
        assert process.stdin is not None
        process.stdin.write(GO)
    except (ValueError, OSError) as error:
        raise ValueError(f"bubblewrap did not start: {error}{_abandon(bubble)}") from None
    os.set_blocking(status, False)
    return bubble


def _hold(bubble: Bubble, box: Box, hierarchy: Hierarchy | None, filtered: bool) -> None:
    """Put the box's first processes under all limits."""
    bubble.init_pid = _first_process(bubble.status)
    bubble.init = os.pidfd_open(bubble.init_pid)
    _wait_until_bound(bubble, filtered)
    bubble.group = hierarchy.new_group(box.limits) if hierarchy else None
    for pid in watching.members(bubble.init_pid):
        _take_turns(pid)
        if bubble.group:
            bubble.group.add(pid)
        _limit(pid, box, grouped=bubble.group is not None)
    bubble.enforced = _enforced(box, bubble.group, filtered)


def _wait_until_bound(bubble: Bubble, filtered: bool) -> None:
    """Until the box's first process dies with bubblewrap: it asks for that, then for the filter."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if ready([bubble.init], [], 0):
            raise ValueError("it ended at once. ")
        text = Path(f"/proc/{bubble.init_pid}/status").read_text()
        if "Seccomp:\t2" in text or (not filtered and len(watching.members(bubble.init_pid)) > 1):
            return
        time.sleep(0.0005)
    raise ValueError(f"it was not ready after {PATIENCE:g} s. ")


def _abandon(bubble: Bubble) -> str:
    """End what did not start, and give its last words."""
    bubble.kill()
    # A first process that bubblewrap has not yet told of waits for it, for ever, with our pipes.
    untold = [] if bubble.init >= 0 else watching.children(bubble.process.pid)
    bubble.process.kill()
    for pid in untold:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    words = _last_words(bubble.process)
    os.close(bubble.status)
    if bubble.init >= 0:
        os.close(bubble.init)
    if bubble.group:
        bubble.group.remove()
    return words.decode(errors="replace").strip()


def _last_words(process: subprocess.Popen[bytes]) -> bytes:
    """What a killed process had printed, if all that could print more are gone soon."""
    try:
        return b"".join(piece for piece in process.communicate(timeout=PATIENCE) if piece)
    except subprocess.TimeoutExpired as late:
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        return late.output or b""


@dataclass
class Local:
    """A program with this user's own rights; nothing holds it but a few rlimits."""

    process: subprocess.Popen[bytes]
    enforced: Enforced
    seen_cpu: float = 0.0

    def pids(self) -> list[int]:
        """Processes of its session, as long as they stay in it."""
        return watching.session(self.process.pid)

    def cpu_seconds(self) -> float:
        """Processor time at the last look."""
        self.seen_cpu = max(self.seen_cpu, watching.cpu_seconds(self.pids()))
        return self.seen_cpu

    def memory_kills(self) -> int:
        """Not known at this level."""
        return 0

    def kill(self) -> None:
        """End its process group; what left that lives on."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> tuple[bool, int]:
        """See `Started.close`."""
        self.kill()
        code = self.process.returncode
        return True, code if code >= 0 else 128 - code


def start_local(box: Box, argv: Sequence[str], stdout: Pipe, stderr: Pipe) -> Local:
    """Start `argv` with no sandbox at all; paths inside the box are read as those they stand for.

    Raises:
        ValueError: There is no such program.
    """
    try:
        process = subprocess.Popen(
            [outside(box, word) for word in argv],
            env={name: outside(box, value) for name, value in box.environment().items()},
            cwd=outside(box, box.start_folder),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise ValueError(f"{argv[0]} did not start: {error}") from None
    most = box.limits.file_bytes
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
    return Local(process, Enforced("unsafe-local", file_bytes="rlimit", disk="watched"))


def outside(box: Box, word: str) -> str:
    """The word with a path inside the box put back to the one it stands for."""
    for host, inside in sorted((*box.writable, *box.readable), key=lambda piece: -len(piece[1])):
        if word == inside or word.startswith(inside + "/"):
            return str(Path(host).absolute()) + word[len(inside) :]
    return word


def _take_turns(pid: int) -> None:
    """Usual scheduling where the harness is in real time; a harness that idles has an idle box.

    In real time a box would keep all others from the processor, and the control groups of version 1
    take no such process in. A video encoder (SVT-AV1) is enough to make a caller of root so. Out of
    idle scheduling (`chrt -i`) an ordinary user may bring no process.
    """
    if os.sched_getscheduler(pid) in (os.SCHED_FIFO, os.SCHED_RR):
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def _limit(pid: int, box: Box, *, grouped: bool) -> None:
    """Rlimits of the box's first process, which all others inherit."""
    limits = box.limits
    wanted = {resource.RLIMIT_FSIZE: limits.file_bytes, resource.RLIMIT_CORE: 0}
    if limits.cpu is not None:
        wanted[resource.RLIMIT_CPU] = int(limits.cpu) + 2
    if not grouped:
        wanted[resource.RLIMIT_NPROC] = limits.processes
        if not box.gpu:
            wanted[resource.RLIMIT_DATA] = limits.memory
    for which, value in wanted.items():
        hard = resource.prlimit(pid, which)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, which, (least, least))


def _enforced(box: Box, group: Group | None, filter_fd: int | None) -> Enforced:
    kind = f"cgroup v{group.version}" if group else ""
    memory = "watched" if box.gpu else "rlimit per process, watched"
    return Enforced(
        level="bwrap+cgroup" if group else "bwrap+rlimits",
        root="read-only pieces",
        user="user namespace, no capabilities",
        network="own namespace" if box.port is None else f"own namespace, relay to {box.port}",
        seccomp="refusal list" if filter_fd is not None else "none",
        memory=kind or memory,
        processes=kind or ("watched" if os.getuid() == 0 else "rlimit, watched"),
        cpu="watched" if box.limits.cpu is not None else "none",
        cores="none" if box.limits.cores is None or not group else kind,
        file_bytes="rlimit",
        disk="watched",
    )


def _first_process(status: int) -> int:
    """The number of the box's first process, which bubblewrap tells before it starts."""
    text = b""
    while b"\n" not in text:
        if not ready([status], [], PATIENCE):
            raise ValueError(f"nothing heard from it for {PATIENCE:g} s. ")
        piece = os.read(status, 4096)
        if not piece:
            raise ValueError("it ended at once. ")
        text += piece
    return int(json.loads(text.split(b"\n")[0])["child-pid"])


def _documents(status: int) -> list[dict[str, int]]:
    text = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(status, 4096):
            text += piece
    return [json.loads(line) for line in text.splitlines() if line.strip()]
