"""What an agent may spend, in seconds or training steps; going on after a crash gives none back.

The clock runs in the harness, is monotonic, and is written down as it runs: to the disk once a
beat, and four times a beat to a file beside, for which no disk is waited for (a killed harness
leaves it; a machine without power may not). A harness that was killed has spent what was written
plus one whole beat, or twice the longest time between two writings where that is more, so being
killed gains no time on a busy machine either.
"""

import contextlib
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.core.record import read_json, require_columns

JOTS = 4  # a beat
BEAT = 1.0  # seconds between two writings of what was spent
UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


@dataclass(frozen=True)
class Budget:
    """One of `seconds` and `steps` bounds a session; each training run is bounded besides."""

    seconds: int | float | None = 21_600.0
    """Wall clock of a session, everything included (AutoWorldModel-Bench: 6 hours)."""
    steps: int | None = None
    """Optimiser steps of all training runs; then wall clock is recorded, not counted."""
    run_seconds: int | float = 600.0
    """Wall clock of one training run (AutoWorldModel-Bench: 10 minutes)."""

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.steps is None):
            raise ValueError("a budget is either in seconds or in steps")
        for name in ("seconds", "steps", "run_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"budget {name} has to be above 0; got {value}")


def parse_budget(text: str, run_seconds: int | float = 600.0) -> Budget:
    """A budget from '90s', '30m', '6h' or '2000 steps'.

    Raises:
        ValueError: It is none of these.
    """
    match = FORM.fullmatch(text.strip().lower())
    number, unit = match.groups() if match else ("", "")
    if unit in UNITS and float(number) > 0:
        return Budget(seconds=float(number) * UNITS[unit], run_seconds=run_seconds)
    if unit in ("step", "steps") and number.isdigit() and int(number) > 0:
        return Budget(seconds=None, steps=int(number), run_seconds=run_seconds)
    raise ValueError(f"a budget looks like 90s, 30m, 6h or 2000steps; got {text!r}")


class Clock:
    """Counts what a session spends; `path` is where that is kept, outside every sandbox.

    Args:
        path: Read where it exists, so that a session goes on with what it had left.
        budget: What there is in all.
        now: The clock, in seconds; monotonic.
        beat: Seconds between two writings.

    Raises:
        ValueError: The file is broken.
    """

    def __init__(
        self,
        path: Path,
        budget: Budget,
        *,
        now: Callable[[], float] = time.monotonic,
        beat: int | float = BEAT,
    ) -> None:
        self.path, self.budget, self._now, self._beat = path, budget, now, beat
        self._seconds, self._steps, self._began = 0.0, 0, None
        self._lock, self._disk = threading.RLock(), threading.Lock()
        self._threads: list[tuple[threading.Thread, threading.Event]] = []
        self._seconds, self._steps = read_clock(path)
        self._write()
        beside(path).unlink(missing_ok=True)

    def __enter__(self) -> "Clock":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Let it run; does nothing where it does."""
        with self._lock:
            if self._began is not None:
                return
            self._began = self._now()
        self._write()
        for work in (self._tick, self._jot):
            end = threading.Event()
            thread = threading.Thread(target=work, args=(end,), daemon=True)
            self._threads.append((thread, end))
            thread.start()

    def stop(self) -> None:
        """Let it stand, for what the agent does not pay for."""
        ticking, jotting = self._threads[:1], self._threads[1:]
        self._end(ticking)
        with self._lock:
            self._seconds, self._began = self.seconds_spent, None
        self._write()
        self._end(jotting)  # last: until then a disk that answers late costs nobody's time
        self._threads = []
        beside(self.path).unlink(missing_ok=True)

    def charge(self, steps: int) -> None:
        """Count training steps as spent, and write that down.

        Raises:
            ValueError: `steps` is below 0.
        """
        if steps < 0:
            raise ValueError(f"steps are spent, never given back; got {steps}")
        with self._lock:
            self._steps += steps
        self._write()

    @property
    def seconds_spent(self) -> float:
        """Seconds it has run, in this harness and in those before."""
        with self._lock:
            running = 0.0 if self._began is None else self._now() - self._began
            return self._seconds + running

    @property
    def steps_spent(self) -> int:
        """Steps charged so far."""
        return self._steps

    @property
    def seconds_left(self) -> float:
        """Never below 0; infinite in a budget of steps."""
        if self.budget.seconds is None:
            return float("inf")
        return float(max(self.budget.seconds - self.seconds_spent, 0))

    @property
    def steps_left(self) -> float:
        """Never below 0; infinite in a budget of seconds."""
        if self.budget.steps is None:
            return float("inf")
        return float(max(self.budget.steps - self._steps, 0))

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.seconds_left <= 0 or self.steps_left <= 0

    @property
    def run_seconds(self) -> float:
        """Wall clock that a training run started now may take."""
        return min(float(self.budget.run_seconds), self.seconds_left)

    def time_left(self) -> str:
        """What the agent is told: '1234 s' or '500 steps'."""
        if self.budget.seconds is None:
            return f"{self.steps_left:.0f} steps"
        return f"{self.seconds_left:.0f} s"

    def _end(self, threads: list[tuple[threading.Thread, threading.Event]]) -> None:
        for thread, end in threads:
            end.set()
            thread.join()

    def _tick(self, end: threading.Event) -> None:
        while not end.wait(self._beat):
            self._write()

    def _jot(self, end: threading.Event) -> None:
        """Say how far it is without waiting for a disk, in place and in one piece."""
        beside(self.path).unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(beside(self.path), flags, 0o644), "wb", 0) as file:
            before, longest = self.seconds_spent, 0.0
            while not end.wait(self._beat / JOTS):
                now = self.seconds_spent
                before, longest = now, max(longest, now - before)
                os.pwrite(file.fileno(), _jotted(now, max(self._beat, 2 * longest)), 0)

    def _write(self) -> None:
        """Whole or not at all, and on the disk before going on; the time can be asked meanwhile."""
        with self._disk:
            with self._lock:
                kept = {
                    "seconds": self.seconds_spent,
                    "steps": self._steps,
                    "running": int(self._began is not None),
                    "beat": float(self._beat),
                }
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_name(self.path.name + ".part")
            with part.open("w", encoding="utf-8") as file:
                file.write(json.dumps(kept) + "\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)


def read_clock(path: Path) -> tuple[float, int]:
    """Seconds and steps that were spent; of a harness that was killed, never less than it was.

    Raises:
        ValueError: The file is broken.
    """
    if not path.exists():
        return 0.0, 0
    kept = read_json(path)
    require_columns(kept, str(path), KEPT)
    for name in KEPT:
        if not kept[name] >= 0:
            raise ValueError(f"{path}: '{name}' is {kept[name]}; nothing is given back")
    if not kept["running"]:
        return kept["seconds"], kept["steps"]
    spent = kept["seconds"] + kept["beat"]
    with contextlib.suppress(OSError, ValueError):  # no word of it, or none that can be read
        now, promised = map(float, beside(path).read_text("ascii").split())
        if math.isfinite(now + promised):
            spent = max(spent, now + promised)
    return spent, kept["steps"]


def beside(path: Path) -> Path:
    """The file that is written without waiting for the disk."""
    return path.with_name(path.name + ".now")


def _jotted(now: float, promised: float) -> bytes:
    return f"{now:<20.6f} {promised:<20.6f}\n".encode()


KEPT: dict[str, tuple[type, ...]] = {
    "seconds": (int, float),
    "steps": (int,),
    "running": (int,),
    "beat": (int, float),
}
