"""Sessions in which an agent improves a world model on a budget, scored by a sealed verifier."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg, subcommand

from cosmolabe.cli._arena_analysis import ArenaAudit, ArenaEdit, ArenaMargin, ArenaReport
from cosmolabe.cli._arena_grid import ArenaExportLedgers, ArenaGrid
from cosmolabe.cli._arena_harbor import ArenaExportHarbor
from cosmolabe.cli._arena_verifier import ArenaCheck, ArenaVerify
from cosmolabe.cli._verb import Answer, Table, Verb, progress, tame

Level = Literal["auto", "docker", "bwrap+cgroup", "bwrap+rlimits", "unsafe-local"]


@dataclass(frozen=True, kw_only=True)
class ArenaNew(Verb):
    """Make a session: its data, and the task folder that an agent will see."""

    game: Positional[str]
    """Name of the game."""
    model: Positional[str] = "transformer"
    """Base model, which train.py holds."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the session."""
    budget: str = "6h"
    """Of the whole session: 90s, 30m, 6h of wall clock, or 2000steps of training."""
    per_run: float | None = None
    """Seconds after which an experiment is killed; a fifth of the budget, 15 to 600, where none is
    given."""
    steps: int | None = None
    """Gradient steps of the starter; else it trains by the clock."""
    store: Path | None = None
    """Store with train and val episodes; else one is played into the session's folder."""
    episodes: Annotated[int, arg(aliases=["-n"])] = 64
    """Episodes to play where no store is given, 10 : 3 for train and val, the rest unused."""
    max_ticks: int | None = None
    """Longest of those episodes; the game's own limit where none is given."""
    seed: int = 0
    """Of the session: what agents draw and trainings start from."""
    size: Literal["laptop", "paper"] = "laptop"
    """How big the base model is."""
    windows: int = 256
    """Windows of val that every experiment is scored on."""
    memory: float = 4.0
    """GB that an experiment may use."""

    def run(self) -> Answer:
        """Play, then write the task folder."""
        from dataclasses import replace

        from cosmolabe.arena.budget import parse_budget
        from cosmolabe.arena.session import Agreement, new_session
        from cosmolabe.data.store import open_store

        if (self.out / "session.json").exists():
            raise ValueError(f"{self.out} is a session already; `arena run` goes on with it")
        budget = parse_budget(self.budget)
        usual = min(max((budget.seconds or 3000) / 5, 15.0), 600.0)
        budget = replace(budget, run_seconds=self.per_run or usual)
        store = open_store(self.store) if self.store else self._play()
        agreement = Agreement(
            self.game,
            self.model,
            budget,
            seed=self.seed,
            size=self.size,
            steps=self.steps or (500 if budget.steps else None),
            memory=int(self.memory * (1 << 30)),
            windows=self.windows,
        )
        new_session(self.out, agreement, store)
        data = {"session": self.out, "task": self.out / "task", "budget": budget}
        text = (
            f"{self.out}: {self.model} for {self.game}, {self.budget}, "
            f"{budget.run_seconds:g} s an experiment; what the agent sees is in "
            f"{self.out / 'task'}\nnext: cosmolabe arena run {self.out} --agent random-search"
        )
        return Answer(data, text)

    def _play(self) -> Any:  # noqa: ANN401 - a Store, loaded lazily
        from cosmolabe.data.collect import collect

        with progress(f"playing {self.game}") as tell:
            return collect(
                self.game,
                self.out / "store",
                self.episodes,
                max_ticks=self.max_ticks,
                progress=tell,
            )


@dataclass(frozen=True, kw_only=True)
class ArenaRun(Verb):
    """Let an agent act in a session; one that was interrupted goes on with the time it had left."""

    session: Positional[Path]
    """Folder that `arena new` made."""
    agent: Annotated[str, arg(aliases=["-a"])] = "random-search"
    """Who acts: random-search, tpe, null, scripted, replay or command."""
    runs: int | None = None
    """Experiments of a search or of null; else as many as the time allows."""
    script: str | None = None
    """Of scripted: a JSON file of edits."""
    recording: str | None = None
    """Of replay: the session to run again."""
    preset: str | None = None
    """Of command: a coding-agent CLI by name; `arena agents` lists them."""
    command: str | None = None
    """Of command: any other command line, run in the task folder."""
    llm: str | None = None
    """Of command: the language model the CLI is told to use."""
    hosts: str | None = None
    """Of command: further hosts it may reach, separated by blanks."""
    keys: str | None = None
    """Of command: further environment variables it may have, separated by blanks."""
    spend: float | None = None
    """Of command: US dollars after which it is stopped, where its CLI reports what it costs."""
    level: Level = "auto"
    """Rung of the sandbox ladder; unsafe-local never gives a valid record."""
    gpu: FlagCreatePairsOff[bool] = False
    """Let experiments use the NVIDIA devices."""

    stopped = "what was tried is kept; the same command goes on with the time that was left"

    def run(self) -> Answer:
        """Drive the agent, then lay out what it submits."""
        from cosmolabe.arena.driving import run_session

        for name in ("runs", "spend"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"--{name} has to be above 0; got {value:g}")
        told = ("runs", "script", "recording", "preset", "command", "llm", "hosts", "keys", "spend")
        settings = {name: v for name in told if (v := getattr(self, name)) is not None}
        tried, chosen = run_session(
            self.session, self.agent, settings, level=self.level, gpu=self.gpu, tell=_as_it_goes
        )
        text: list[Any] = [table_of(tried, chosen)]
        if chosen:
            text.append(f"submitted {chosen}; next: cosmolabe arena verify {self.session}")
        else:
            told = "nothing to submit: no experiment has a score"
            transcript = self.session / "transcript"
            text.append(f"{told}; see {transcript}" if transcript.is_dir() else told)
        data = {"session": self.session, "submitted": chosen, "tried": rows_of(tried)}
        return Answer(data, text, ok=bool(chosen))


@dataclass(frozen=True, kw_only=True)
class ArenaScore(Verb):
    """What a session tried; with an experiment, score its checkpoint on val once more."""

    session: Positional[Path]
    """Folder of the session."""
    experiment: Positional[str] = ""
    """001, 002, …"""
    level: Level = "auto"
    """Rung of the sandbox ladder."""

    def run(self) -> Answer:
        """Read the ledger, or ask the checkpoint again."""
        from cosmolabe.arena.session import history, ledger_of, read_session, submitted

        read_session(self.session)
        lines = ledger_of(self.session)
        tried = history(self.session, lines)
        if not self.experiment:
            ended = lines[-1].get("experiment", "") if lines and lines[-1]["kind"] == "end" else ""
            chosen = submitted(lines) or ended
            data = {"session": self.session, "tried": rows_of(tried)}
            return Answer(data, table_of(tried, chosen))
        from cosmolabe.arena.rescoring import rescore

        found = rescore(self.session, self.experiment, self.level)
        if found.status != "ok":
            return Answer({"status": found.status, "why": found.why}, found.why, ok=False)
        said = ", ".join(f"{name} {value:.5f}" for name, value in found.val.items())
        data = {"experiment": self.experiment, "val": found.val, "wall": found.wall}
        return Answer(data, f"{self.experiment} on val: {said}")


@dataclass(frozen=True, kw_only=True)
class ArenaAgents(Verb):
    """Who can act in a session, and the coding-agent CLIs that have a preset."""

    def run(self) -> Answer:
        """List them."""
        import shutil

        from cosmolabe.arena.named import shown
        from cosmolabe.arena.presets import PRESETS
        from cosmolabe.core import parts

        agents = {n: parts.load("agents", n).summary for n in parts.names("agents")}
        here = {name: bool(shutil.which(preset.argv[0])) for name, preset in PRESETS.items()}
        table = Table(("agent", ""), [(shown(n), text) for n, text in agents.items()])
        presets = Table(
            ("preset", "here", "keys", "install"),
            [
                (name, "yes" if here[name] else "no", " or ".join(one.keys), one.install)
                for name, one in PRESETS.items()
            ],
        )
        return Answer({"agents": agents, "presets": here}, [table, presets])


def _as_it_goes(one: Any, left: str) -> None:  # noqa: ANN401 - a Tried, loaded lazily
    """One line an experiment on stderr while that is a terminal: a session may take hours."""
    if sys.stderr.isatty():
        score = one.val["composite"]
        said = f"{one.experiment} {one.status}" + (f" {score:.4f}" if score == score else "")
        note = " ".join(one.proposal.note.split())[:60]
        print(tame(f"{said}, {left} left  {note}"), file=sys.stderr, flush=True)


def rows_of(tried: list[Any]) -> list[dict[str, Any]]:
    """Experiments for machines."""
    return [
        {
            "experiment": one.experiment,
            "status": one.status,
            "wall": one.wall,
            **one.val,
            "note": one.proposal.note,
        }
        for one in tried
    ]


def table_of(tried: list[Any], chosen: str) -> Table:
    """Experiments for people."""
    names = ("composite", "c1", "c10", "c20", "skill")
    rows = [
        (
            one.experiment + (" *" if one.experiment == chosen else ""),
            one.status,
            *(one.val[name] for name in names),
            f"{one.wall:.0f} s",
            one.proposal.note[:60],
        )
        for one in tried
    ]
    return Table(("experiment", "status", "score", *names[1:], "wall", "note"), rows)


VERB = (
    Annotated[ArenaNew, subcommand("new")]
    | Annotated[ArenaRun, subcommand("run")]
    | Annotated[ArenaScore, subcommand("score")]
    | Annotated[ArenaVerify, subcommand("verify")]
    | Annotated[ArenaCheck, subcommand("check")]
    | Annotated[ArenaAgents, subcommand("agents")]
    | Annotated[ArenaAudit, subcommand("audit")]
    | Annotated[ArenaReport, subcommand("report")]
    | Annotated[ArenaEdit, subcommand("edit")]
    | Annotated[ArenaMargin, subcommand("margin")]
    | Annotated[ArenaGrid, subcommand("grid")]
    | Annotated[ArenaExportLedgers, subcommand("export-ledgers")]
    | Annotated[ArenaExportHarbor, subcommand("export-harbor")]
)
