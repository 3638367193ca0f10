"""A running program in a box: spoken to through pipes, watched by a thread of this process."""

import contextlib
import fcntl
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from cosmolabe.arena.sandbox import watching
from cosmolabe.arena.sandbox.box import Ended, Enforced, Limits
from cosmolabe.arena.sandbox.start import Pipe, Started
from cosmolabe.arena.sandbox.waiting import ready

LOOK = 0.05  # seconds between two looks at what a box uses
DISK_SHARE = 0.02
"""Share of the time that may go into counting what lies in the writable folders."""
KILLED_CODE = 128 + signal.SIGKILL
HANG_UP = 2.0  # seconds that last words may take to arrive
TAIL = 1 << 16  # bytes of the last words that are kept
PIECE = 1 << 20  # bytes read or written at once
Starter = Callable[[Pipe, Pipe], Started]


class Child:
    """One program in its box. Leaving the `with` block ends it and everything it began.

    The thread that watches it also starts it: bubblewrap's box dies with the *thread* it was
    started from, so that thread has to live as long as the box.
    """

    def __init__(
        self,
        start: Starter,
        limits: Limits,
        folders: tuple[Path, ...],
        *,
        stdin: bool = True,
        merge: bool = False,
        log: io.BufferedIOBase | None = None,
    ) -> None:
        self._start, self.limits, self._folders = start, limits, folders
        self._stdin, self._merge, self._log = stdin, merge, log
        self._ready, self._lock = threading.Event(), threading.Lock()
        self._failed: BaseException | None = None
        self._killed, self._tail, self._opened = "", b"", False
        self._ended: Ended | None = None
        self.started: Started
        self.at_end = contextlib.ExitStack()
        self._watcher = threading.Thread(target=self._live, daemon=True)
        self._watcher.start()
        self._ready.wait()
        self._refuse_failed()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._watcher.join()
        self._close()

    @property
    def enforced(self) -> Enforced:
        """What holds it."""
        return self.started.enforced

    @property
    def said(self) -> str:
        """The last it wrote to stderr, 64 kB at most; whole once it has ended."""
        return self._tail.decode(errors="replace")

    def kill(self, why: str = "caller") -> None:
        """End every process in the box; `why` is one of `KILLED`. Does nothing where it ended."""
        with self._lock:
            if self._ended is None and self._failed is None:
                self._killed = self._killed or why
                self.started.kill()

    def wait(self) -> Ended:
        """How it ended; waits until the last process is gone, which `limits.wall` bounds.

        Raises:
            ValueError: The box could not be set up.
        """
        self._watcher.join()
        self._close()
        self._refuse_failed()
        assert self._ended is not None
        return self._ended

    def write(self, data: bytes | memoryview, seconds: int | float) -> None:
        """All of `data` to its stdin.

        Raises:
            TimeoutError: It did not take the data in time.
            EOFError: It has closed its stdin or ended.
        """
        self.exchange(data, 0, seconds)

    def read(self, size: int, seconds: int | float) -> bytearray:
        """Exactly `size` bytes of its stdout.

        Raises:
            TimeoutError: They did not come in time.
            EOFError: It ended or closed its stdout before.
        """
        return self.exchange(b"", size, seconds)

    def exchange(self, data: bytes | memoryview, size: int, seconds: int | float) -> bytearray:
        """Write all of `data` while reading exactly `size` bytes, in any order it likes.

        Raises:
            TimeoutError: It took more than `seconds` s of this machine's monotonic clock.
            EOFError: It ended, or closed a pipe that was still needed.
        """
        until, answer = time.monotonic() + seconds, bytearray(size)
        left, room = memoryview(data).cast("B"), memoryview(answer)
        stdin = _fd(self.started.process.stdin) if left else -1
        stdout = _fd(self.started.process.stdout) if room else -1
        while left or room:
            pause = until - time.monotonic()
            now = ready([stdout] if room else [], [stdin] if left else [], pause)
            if not now:
                raise TimeoutError(
                    f"after {seconds:g} s: {len(left)} bytes not taken, {len(room)} not given"
                )
            if stdin in now:
                left = left[_give(stdin, left) :]
            if stdout in now:
                room = room[_take(stdout, room) :]
        return answer

    def close_stdin(self) -> None:
        """Tell it that no more will come."""
        if self.started.process.stdin is not None:
            self.started.process.stdin.close()

    def more_than_asked(self, seconds: int | float) -> bool:
        """Whether it writes anything further to its stdout before closing it.

        Raises:
            TimeoutError: It neither wrote nor closed it in `seconds`.
        """
        stdout = _fd(self.started.process.stdout)
        if not ready([stdout], [], seconds):
            raise TimeoutError(f"it neither wrote nor closed its stdout in {seconds:g} s")
        return bool(os.read(stdout, 1))

    def _live(self) -> None:
        """The whole life of the box, in the watching thread."""
        began = time.monotonic()
        try:
            words = subprocess.STDOUT if self._merge else subprocess.PIPE
            self.started = self._start(subprocess.PIPE, words)
            process = self.started.process
            assert process.stdin is not None
            os.set_blocking(process.stdin.fileno(), False)
            _widen(process)
            if not self._stdin:
                process.stdin.close()
            self._opened = True
        except BaseException as error:
            self._failed = error
            return
        finally:
            self._ready.set()
        self._talk = threading.Thread(target=self._listen, daemon=True)
        self._talk.start()
        self._watch(process, began)
        with self._lock:
            try:
                self._end(process, began)
            except BaseException as error:
                self._failed = error

    def _watch(self, process: subprocess.Popen[bytes], began: float) -> None:
        end = os.pidfd_open(process.pid)
        next_count = 0.0
        try:
            while True:
                pause = min(LOOK, max(began + self.limits.wall - time.monotonic(), 0.001))
                if ready([end], [], pause):
                    return
                now = time.monotonic()
                why = self._over(now - began)
                if not why and now >= next_count:
                    why = self._too_much_disk()
                    next_count = time.monotonic() + max(LOOK, (time.monotonic() - now) / DISK_SHARE)
                if why:
                    self.kill(why)
        finally:
            os.close(end)

    def _over(self, wall: float) -> str:
        """Which limit is broken, if one is."""
        limits = self.limits
        if wall >= limits.wall:
            return "wall"
        with contextlib.suppress(OSError):  # it may end while being looked at
            if limits.cpu is not None and self.started.cpu_seconds() >= limits.cpu:
                return "cpu"
            if self.started.memory_kills():
                return "memory"
            if not self.enforced.memory.startswith("cgroup"):
                pids = self.started.pids()
                if self.enforced.valid and watching.threads(pids) > limits.processes:
                    return "processes"
                if self.enforced.valid and watching.holds_more(pids, limits.memory):
                    return "memory"
        return ""

    def _too_much_disk(self) -> str:
        if not self._folders:
            return ""
        total = watching.disk_bytes(self._folders)
        if total <= self.limits.disk:
            devices = {os.stat(folder).st_dev for folder in self._folders}
            with contextlib.suppress(OSError):
                total += watching.unlinked_bytes(self.started.pids(), devices)
        return "disk" if total > self.limits.disk else ""

    def _end(self, process: subprocess.Popen[bytes], began: float) -> None:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        reached, code = self.started.close()
        wall = time.monotonic() - began
        self._talk.join(HANG_UP)  # a descriptor handed to another box keeps the pipe open
        cpu = max(self.started.cpu_seconds(), usage.ru_utime + usage.ru_stime)
        if not self._killed and self.started.memory_kills():
            self._killed = "memory"
        if not self._killed and not reached:
            raise ValueError(
                f"the box could not be set up: {self.said.strip() or 'no reason given'}"
            )
        code = KILLED_CODE if self._killed else code
        self._ended = Ended(code, wall, cpu, self._killed, self.enforced)

    def _listen(self) -> None:
        """Keep the last of what it says, and as much in the log as `limits.log_bytes` allows."""
        process = self.started.process
        pipe = process.stdout if self._merge else process.stderr
        assert pipe is not None
        room = self.limits.log_bytes
        while piece := os.read(pipe.fileno(), 1 << 16):
            self._tail = (self._tail + piece)[-TAIL:]
            if self._log is not None and room > 0:
                self._log.write(piece[:room])
                room -= len(piece)
                if room <= 0:
                    self._log.write(f"\n[cut after {self.limits.log_bytes} bytes]\n".encode())
        if self._log is not None:
            self._log.flush()

    def _refuse_failed(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _close(self) -> None:
        """Close the pipes, except one that is still being listened to, and what stood by."""
        self.at_end.close()
        if self._opened:
            process = self.started.process
            heard = process.stdout if self._merge else process.stderr
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None and not (pipe is heard and self._talk.is_alive()):
                    pipe.close()


def _fd(pipe: IO[bytes] | None) -> int:
    if pipe is None or pipe.closed:
        raise EOFError("that pipe is closed")
    return pipe.fileno()


def _give(stdin: int, left: memoryview) -> int:
    try:
        return os.write(stdin, left[:PIECE])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        raise EOFError(f"it closed its stdin with {len(left)} bytes to come") from None


def _take(stdout: int, room: memoryview) -> int:
    count = os.readv(stdout, [room[:PIECE]])
    if not count:
        raise EOFError(f"it ended with {len(room)} bytes not given")
    return count


def _widen(process: subprocess.Popen[bytes]) -> None:
    """Let the pipes hold a megabyte, where the kernel allows: sixteen times fewer turns."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIECE)
