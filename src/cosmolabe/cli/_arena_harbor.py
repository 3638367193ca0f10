"""`cosmolabe arena export-harbor`: tasks that Harbor's runner takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from cosmolabe.cli._verb import Answer, Verb, progress


@dataclass(frozen=True, kw_only=True)
class ArenaExportHarbor(Verb):
    """Write a Harbor task (schema 1.4) for a game and a base model.

    The folder tests/ holds held-out episodes: it goes to whoever scores, never to an agent.
    """

    game: Positional[str]
    """Name of the game."""
    model: Positional[str] = "transformer"
    """Base model, which train.py holds."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder that the task's folder is written into."""
    solution: Path | None = None
    """A session whose submission is the oracle's; else the oracle submits the starter."""
    budget: str = "6h"
    """What the agent has: 90s, 30m, 6h."""
    per_run: float = 600.0
    """Seconds of one training."""
    steps: int | None = None
    """Gradient steps of the starter; else it trains by the clock."""
    size: Literal["laptop", "paper"] = "laptop"
    """How big the base model is."""
    store: Path | None = None
    """Store with train and val episodes; else one is played."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 64
    """Episodes to play where no store is given."""
    max_ticks: int | None = None
    """Longest of all episodes, held-out ones too."""
    test_episodes: int = 256
    """Held-out episodes of test."""
    scenarios: int = 64
    """Held-out episodes of scenarios; 0 leaves them out."""
    image: str = ""
    """Base image of both, best pinned as NAME@sha256:…"""
    hosts: tuple[str, ...] = ()
    """Hosts that the agent's container may reach."""
    level: Literal["auto", "docker", "bwrap+cgroup", "bwrap+rlimits", "unsafe-local"] = "auto"
    """Rung of the sandbox ladder for training the starter here."""

    def run(self) -> Answer:
        """Play, train the starter, write."""
        from cosmolabe.arena.budget import parse_budget
        from cosmolabe.arena.harbor.export import IMAGE, HarborPlan, export_harbor
        from cosmolabe.arena.sandbox import scratch_folder
        from cosmolabe.data.collect import collect
        from cosmolabe.data.store import open_store

        seconds = parse_budget(self.budget).seconds
        if seconds is None:
            raise ValueError("Harbor counts seconds; give the budget as 90s, 30m or 6h")
        plan = HarborPlan(
            self.game, self.model, seconds, self.per_run, self.steps, self.size,
            self.test_episodes, self.scenarios, self.max_ticks, self.image or IMAGE, self.hosts,
        )  # fmt: skip
        solution = self.solution / "submission" if self.solution else None
        with scratch_folder("played") as room, progress(f"playing {self.game}") as tell:
            if self.store:
                store = open_store(self.store)
            else:
                where = room / "store"
                store = collect(
                    self.game, where, self.episodes, max_ticks=self.max_ticks, progress=tell
                )
            folder = export_harbor(self.out, plan, store, solution=solution, level=self.level)
        said = f"{folder}: harbor run -p {folder} -a oracle; keep {folder / 'tests'} from agents"
        return Answer({"task": folder}, said)
