"""What one file of `arena/agents/` offers: something that acts in a session, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


class SessionOver(Exception):
    """The session's time (or what may be spent) is used up: no more experiments."""


@dataclass(frozen=True)
class Proposal:
    """One experiment somebody wants to be run."""

    train: str
    """Text of train.py."""
    config: Mapping[str, Any]
    """What config.json holds."""
    note: str = ""
    """What it is for, in the words of whoever asks."""
    seed: int | None = None
    """Seed of the training; the session's own where none is named."""


@dataclass(frozen=True)
class Tried:
    """How an experiment went."""

    experiment: str
    """Its number, as text: 001, 002, …"""
    proposal: Proposal
    status: str
    """ok, failed (train.py ended badly), timeout, no_weights, or invalid (no score came of it)."""
    val: Mapping[str, float]
    """c1, c10, c20, composite, skill on val; NaN where there is none."""
    wall: float
    """Seconds from start to end, everything included."""


@runtime_checkable
class Desk(Protocol):
    """What an agent works at: the starter, what was tried so far, the clock."""

    @property
    def model(self) -> str:
        """Name of the base model."""
        ...

    @property
    def seed(self) -> int:
        """Of the session."""
        ...

    @property
    def starter(self) -> Proposal:
        """The base model as it was handed out."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the agent was told on the command line."""
        ...

    @property
    def tried(self) -> Sequence[Tried]:
        """All experiments so far, of earlier sittings too."""
        ...

    @property
    def seconds_left(self) -> float:
        """Of the session's time."""
        ...

    def run(self, proposal: Proposal) -> Tried:
        """Train and score; raises `SessionOver` where no time is left for it."""
        ...

    def submit(self, experiment: str) -> None:
        """Choose an experiment as the session's answer; the last choice counts."""
        ...


def run_starter(desk: Desk) -> None:
    """Run the starter as the first experiment, and refuse to search around one that is broken."""
    if not desk.tried:
        desk.run(replace(desk.starter, note="the starter"))
    first = desk.tried[0]
    if first.status != "ok":
        slow = "; a busy machine needs a longer --per-run, or --steps, of `arena new`"
        raise ValueError(
            f"the starter itself came to nothing ({first.status}); see "
            f"experiments/{first.experiment}/log.txt in the session's folder"
            + (slow if first.status == "timeout" else "")
        )


def anything_goes(settings: Mapping[str, Any], folder: Path) -> None:
    """Refuses no settings."""


@dataclass(frozen=True)
class AgentPart:
    """An agent by name."""

    name: str
    summary: str
    """One sentence for lists and docs."""
    drive: Callable[[Any], None]
    """drive(desk): acts until it is done or `SessionOver` is raised. What it does follows from the
    desk's seed and from what was tried, so that it goes on where an earlier sitting stopped. One
    that needs more of a session than a `Desk` says so in its docstring."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What may be told it, by name, with defaults."""
    paths: tuple[str, ...] = ()
    """Settings that name a file or folder; a session records its name and hash, not its place."""
    check: Callable[[Mapping[str, Any], Path], None] = anything_goes
    """check(settings, session's folder): refuses what it could not act by, before anything of the
    session is begun."""
    learns: str = "none"
    """The language model that decides, where one does."""
