"""What an agent may spend, in seconds or training steps; going on after a crash gives none back.

The clock runs in the harness, is monotonic, and is written down as it runs. A harness that was
killed has spent what was written plus one whole beat, so being killed never gains time.
"""

import json
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.core.record import read_json, require_columns

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
        self._lock, self._stop = threading.RLock(), threading.Event()
        self._thread: threading.Thread | None = None
        if path.exists():
            kept = read_json(path)
            require_columns(kept, str(path), KEPT)
            self._seconds = kept["seconds"] + (kept["beat"] if kept["running"] else 0.0)
            self._steps = kept["steps"]
        self._write()

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
        self._stop.clear()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let it stand, for what the agent does not pay for."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            self._seconds, self._began = self.seconds_spent, None
            self._write()

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

    def _tick(self) -> None:
        while not self._stop.wait(self._beat):
            with self._lock:
                self._write()

    def _write(self) -> None:
        """Whole or not at all, and on the disk before going on."""
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


KEPT: dict[str, tuple[type, ...]] = {
    "seconds": (int, float),
    "steps": (int,),
    "running": (int,),
    "beat": (int, float),
}
