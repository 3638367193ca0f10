"""`cosmolabe arena grid` and `export-ledgers`: many sessions, and handing them out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg

from cosmolabe.cli._verb import Answer, Engine, Table, Verb, progress

Level = Literal["auto", "docker", "bwrap+cgroup", "bwrap+rlimits", "unsafe-local"]


@dataclass(frozen=True, kw_only=True)
class ArenaGrid(Verb):
    """Run games × base models × agents × seeds, each to its verdict; a cut grid goes on."""

    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the grid."""
    games: tuple[str, ...] = ()
    """Games; `all` for every one."""
    models: tuple[str, ...] = ("linear",)
    """Base models."""
    agents: tuple[str, ...] = ("null", "random-search")
    """Agents; `agent:name` where one enters twice."""
    seeds: int = 3
    """Seeds a cell; a later call may ask for more."""
    budget: str = "6h"
    """Of each session: 90s, 30m, 6h, or 2000steps, which shared machines should use."""
    per_run: float = 600.0
    """Seconds after which an experiment is killed."""
    steps: int | None = None
    """Gradient steps of the starter; else it trains by the clock."""
    runs: int | None = None
    """Experiments of a search or of null; else as many as the time allows."""
    script: str | None = None
    """Of scripted: a JSON file of edits."""
    preset: str | None = None
    """Of command: a coding-agent CLI by name."""
    command: str | None = None
    """Of command: any other command line."""
    llm: str | None = None
    """Of command: the language model the CLI is told to use."""
    spend: float | None = None
    """Of command: US dollars a session after which it is stopped."""
    size: Literal["laptop", "paper"] = "laptop"
    """How big the base models are."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 64
    """Episodes of each game's store, 10 : 3 for train and val."""
    max_ticks: int | None = None
    """Longest of those episodes."""
    windows: int = 256
    """Windows of val that every experiment is scored on."""
    test_episodes: int = 256
    """Held-out episodes of the verdict."""
    scenarios: int = 64
    """Held-out scenario episodes; 0 leaves them out."""
    replicas: int = 3
    """Fresh seeds that what was submitted is trained with again; 0 leaves it out."""
    hook: tuple[str, ...] = ()
    """MODEL=module:function: a cell of your own code, one of pixels say; needs --trust."""
    trust: FlagCreatePairsOff[bool] = False
    """Load the code that --hook names."""
    workers: int = 1
    """Sessions at once."""
    engine: Engine = "local"
    """Processes here, or a Ray cluster that shares the folder (extra `ray`)."""
    level: Level = "auto"
    """Rung of the sandbox ladder; unsafe-local never gives a valid record."""

    stopped = "what was finished is kept; the same command does the rest"

    def run(self) -> Answer:
        """Run what is missing; exit code 1 where a session failed."""
        from cosmolabe.arena.grid import GridPlan, entrants_of, run_grid
        from cosmolabe.core import parts

        if self.hook and not self.trust:
            raise ValueError("--hook runs code of yours outside any sandbox; say --trust")
        hooks = dict(_pair(word) for word in self.hook)
        told = ("runs", "script", "preset", "command", "llm", "spend")
        given = {name: v for name in told if (v := getattr(self, name)) is not None}
        plan = GridPlan(
            games=parts.names("games") if self.games == ("all",) else self.games,
            models=self.models,
            entrants=entrants_of(self.agents, given),
            seeds=self.seeds,
            budget=self.budget,
            run_seconds=self.per_run,
            steps=self.steps,
            size=self.size,
            episodes=self.episodes,
            max_ticks=self.max_ticks,
            windows=self.windows,
            test_episodes=self.test_episodes,
            scenarios=self.scenarios,
            replicas=self.replicas,
            hooks=hooks,
        )
        with progress("sessions") as tell:
            rows = run_grid(
                self.out, plan, workers=self.workers, engine=self.engine, level=self.level,
                progress=tell,
            )  # fmt: skip
        failed = [row for row in rows if row["status"] == "failed"]
        table = Table(
            ("session", "status", "why"), [(r["name"], r["status"], r["why"][:80]) for r in rows]
        )
        after = f"next: cosmolabe arena report {self.out} --out {self.out / 'report'}"
        return Answer({"grid": self.out, "sessions": rows}, [table, after], ok=not failed)


@dataclass(frozen=True, kw_only=True)
class ArenaExportLedgers(Verb):
    """Hand sessions out as a Hugging Face data set: experiments, sessions, ledger lines."""

    sessions: Positional[tuple[Path, ...]]
    """Session folders, or folders that hold some."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""

    def run(self) -> Answer:
        """Write tables and card."""
        from cosmolabe.arena.analysis.sessions import find_sessions, read_session
        from cosmolabe.arena.export_ledgers import export_ledgers

        sessions = [read_session(folder) for folder in find_sessions(self.sessions)]
        counts = export_ledgers(sessions, self.out)
        said = ", ".join(f"{count} {name}" for name, count in counts.items())
        return Answer({"out": self.out, "rows": counts}, f"{self.out}: {said}")


def _pair(word: str) -> tuple[str, str]:
    model, equals, hook = word.partition("=")
    if not equals or not model:
        raise ValueError(f"--hook is MODEL=module:function; got {word!r}")
    return model, hook
