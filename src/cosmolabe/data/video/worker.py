"""Decoding in another process, which is killed when it takes too long and used again when not."""

import atexit
import dataclasses
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.clip import Clip
from cosmolabe.core.errors import in_words
from cosmolabe.data.video.clips import spooled
from cosmolabe.data.video.inputs import Input
from cosmolabe.data.video.protocols import (
    CANVASES,
    LIMITS,
    SAMPLINGS,
    Canvas,
    Limits,
    Sampling,
)

MAX_HEAD = 1 << 28  # bytes of an answer's JSON
START_SECONDS = 120.0  # that a fresh process may take to import before the clock runs


class Worker:
    """One decoding process, started at the first request and after each kill."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def clips(
        self,
        path: Path | str,
        sampling: Sampling,
        canvas: Canvas,
        limits: Limits,
        fps: float | None = None,
    ) -> Iterator[Clip]:
        """As `each_clip`, in the other process; `limits.timeout` holds for all of the input.

        Raises:
            ValueError: It cannot be read, took too long, or took the process down.
        """
        with self.lock, spooled(path, limits) as real:
            ask = {
                "path": os.fsencode(real).hex(),
                "sampling": dataclasses.asdict(sampling),
                "canvas": dataclasses.asdict(canvas),
                "limits": dataclasses.asdict(limits),
                "fps": fps,
            }
            whole = False
            try:
                deadline = self._ask(ask, limits.timeout)
                while (answer := self._answer(path, deadline, limits)) is not None:
                    yield answer
                whole = True
            except _Refused as refused:
                whole = True
                raise ValueError(str(refused)) from None
            finally:
                if not whole:  # left in the middle of an answer
                    self.kill()

    def kill(self) -> None:
        """End the process, whatever it is at; the next request starts another."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, ask: dict[str, Any], timeout: float) -> float:
        fresh = self.process is None or self.process.poll() is not None
        if fresh:
            self.kill()
            self.process = _start()
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(ask).encode() + b"\n")
        self.process.stdin.flush()
        return time.monotonic() + timeout + (START_SECONDS if fresh else 0.0)

    def _answer(self, path: Path | str, deadline: float, limits: Limits) -> Clip | None:
        sizes = self._read(path, 16, deadline, limits)
        head_size, size = (int.from_bytes(sizes[at : at + 8], "little") for at in (0, 8))
        if head_size > MAX_HEAD or size > limits.bytes:
            raise ValueError(f"{path}: the answer has {head_size + size} bytes; refused")
        head = json.loads(self._read(path, head_size, deadline, limits))
        data = self._read(path, size, deadline, limits)
        if "why" in head:
            raise _Refused(head["why"])
        if "done" in head:
            return None
        return Clip(
            np.frombuffer(data, np.uint8).reshape(head["shape"]),
            np.array(head["shown"], np.int64),
            np.array(head["times"], np.float64),
            float(head["fps"]),
            float(head["source_fps"]),
            head["facts"],
        )

    def _read(self, path: Path | str, size: int, deadline: float, limits: Limits) -> bytearray:
        assert self.process is not None
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        data, got = bytearray(size), 0
        view = memoryview(data)
        while got < size:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise ValueError(
                    f"{path} took more than {limits.timeout:g} s to decode (limit `timeout`)"
                )
            count = os.readv(pipe, [view[got:]])
            if not count:
                code = self.process.wait()
                raise ValueError(f"{path} took the decoding process down (exit {code})")
            got += count
        return data


class _Refused(Exception):
    """The worker is well; the file is not."""


_shared: list[Worker] = []


def safe_clips(
    path: Path | str,
    sampling: Sampling = SAMPLINGS["physics-1"],
    canvas: Canvas = CANVASES["physics-1"],
    limits: Limits = LIMITS,
    *,
    fps: float | None = None,
) -> list[Clip]:
    """As `open_clips`, in a process that is killed after `limits.timeout` seconds and kept if well.

    Raises:
        ValueError: It cannot be read, took too long, or took the process down.
    """
    if not _shared:
        _shared.append(Worker())
        atexit.register(_shared[0].kill)
    return list(_shared[0].clips(path, sampling, canvas, limits, fps))


def decoded(
    inputs: Iterable[Input],
    sampling: Sampling = SAMPLINGS["physics-1"],
    canvas: Canvas = CANVASES["physics-1"],
    limits: Limits = LIMITS,
    *,
    workers: int = 1,
    ahead: int = 2,
) -> Iterator[tuple[Input, list[Clip], str]]:
    """Each input in order with its clips, or with why there are none.

    Decoding runs `ahead` inputs before the caller, so that an encoder need not wait.
    """
    crew = [Worker() for _ in range(max(1, workers))]
    idle = list(crew)

    def run(item: Input) -> tuple[Input, list[Clip], str]:
        if item.why:
            return item, [], item.why
        worker = idle.pop()
        try:
            return item, list(worker.clips(item.path, sampling, canvas, limits, item.fps)), ""
        except ValueError as error:
            return item, [], str(error)
        except Exception as error:
            return item, [], in_words(error)
        finally:
            idle.append(worker)

    waiting: list[Future[tuple[Input, list[Clip], str]]] = []
    try:
        with ThreadPoolExecutor(len(crew)) as pool:
            for item in inputs:
                waiting.append(pool.submit(run, item))
                if len(waiting) > max(ahead, 0) + len(crew) - 1:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
    finally:
        for future in waiting:
            future.cancel()
        for worker in crew:
            worker.kill()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cosmolabe.data.video.serving"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
