"""A session: one agent, one game, one base model, one seed, one budget; and all that came of it.

The folder holds `session.json` (what was agreed), `clock.json` and `ledger.jsonl` (what happened),
`store/` (the true episodes, never shown), `task/` (what the agent sees), `experiments/` and, at the
end, `submission/`. A session that was killed goes on from ledger and clock.
"""

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from cosmolabe.arena import experiments, view
from cosmolabe.arena.budget import Budget, Clock
from cosmolabe.arena.experiments import SUBMISSION, Rules, Scored
from cosmolabe.arena.kept_code import code_of
from cosmolabe.arena.ledger import Ledger, read_ledger
from cosmolabe.arena.places import find_store, note_place, store_name
from cosmolabe.arena.presets import Usage
from cosmolabe.arena.recorded import program, recorded
from cosmolabe.arena.sandbox import Limits, best_level, sweep
from cosmolabe.arena.tasks.folder import YOURS, TaskPlan, make_task, protected
from cosmolabe.bench.bed import Bed, lay_out
from cosmolabe.core.agent import Proposal, SessionOver, Tried
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, require_columns, versions, write_json
from cosmolabe.core.seeds import seed_of
from cosmolabe.data.store import Store

SCHEMA = 1
SESSION, LEDGER, CLOCK, STARTER = "session.json", "ledger.jsonl", "clock.json", "starter"
PROTOCOL = "state/1"
WINDOWS = 256  # of val; as many as `judge` looks at
MOST = 999  # experiments
FACTS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("game", "model", "size", "protocol", "store", "data"), (str,)),
    **dict.fromkeys(("seed", "memory", "windows"), (int,)),
    "steps": (int, type(None)),
    **dict.fromkeys(("budget", "task"), (dict,)),
}
"""What session.json holds besides who acted."""
LEAST = 5.0  # seconds; with less left no experiment is begun
WHO = ("agent", "harness", "llm")
SCORING = 120.0  # seconds a checkpoint may take to answer for val


@dataclass(frozen=True)
class Agreement:
    """What a session is, settled before it begins."""

    game: str
    model: str
    budget: Budget
    seed: int = 0
    size: str = "laptop"
    steps: int | None = None
    """Gradient steps of the starter; else it trains by the clock."""
    memory: int = 4 << 30
    """Bytes that an experiment may use."""
    windows: int = WINDOWS
    protocol: str = PROTOCOL
    versions: Mapping[str, str] = field(default_factory=versions)
    schema: int = SCHEMA


def new_session(folder: Path, agreement: Agreement, store: Store) -> Path:
    """Make a session's folder from a store that lies in it or elsewhere; gives the folder."""
    if (folder / SESSION).exists():
        raise ValueError(f"{folder} is a session already; `arena run` goes on with it")
    plan = TaskPlan(
        agreement.game,
        agreement.model,
        agreement.budget.seconds or math.inf,
        float(agreement.budget.run_seconds),
        agreement.steps,
        agreement.size,
    )
    called = store_name(folder, store.folder)
    shutil.rmtree(folder / "task", ignore_errors=True)  # of a try that was cut short
    make_task(folder / "task", plan, store)
    (folder / STARTER).mkdir(exist_ok=True)
    for name in YOURS:
        shutil.copyfile(folder / "task" / name, folder / STARTER / name)
    told = {
        **plain(agreement),
        "store": called,
        "data": store.fingerprint,
        "task": protected(folder / "task"),
    }
    note_place(folder, store.folder)
    write_json(folder / SESSION, told)
    return folder


class Session:
    """An open session, the desk that an agent works at; use it in a `with` block."""

    def __init__(
        self,
        folder: Path,
        *,
        agent: str = "",
        settings: Mapping[str, Any] | None = None,
        level: str = "auto",
        gpu: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.facts = read_session(self.folder)
        self.model, self.seed = self.facts["model"], self.facts["seed"]
        self.settings = dict(settings or {})
        self.level = best_level() if level == "auto" else level
        self.task = self.folder / "task"
        self._check_task()
        limits = Limits(memory=self.facts["memory"])
        self.rules = Rules(self.task, self.level, limits, gpu)
        self.ledger = Ledger(self.folder / LEDGER)
        try:
            budget = _budget_of(self.facts, self.folder / SESSION)
            self.clock = Clock(self.folder / CLOCK, budget)
            self._begin(agent)
        except BaseException:
            self.ledger.close()
            raise
        self._tried = history(self.folder, self.ledger.lines)
        self.usage = Usage()
        self.tell: Callable[[Tried, str], None] | None = None

    def __enter__(self) -> "Session":
        sweep()
        _ = self.bed  # laid out, and the sweep done, before the clock runs
        self._clear_unfinished()
        self.clock.start()
        self._show()
        return self

    def __exit__(self, *_: object) -> None:
        self.clock.stop()
        self.ledger.close()

    # The desk.

    @cached_property
    def starter(self) -> Proposal:
        """The base model as it was handed out."""
        kept = self.folder / STARTER
        return Proposal((kept / "train.py").read_text("utf-8"), read_json(kept / "config.json"))

    @property
    def tried(self) -> Sequence[Tried]:
        """All experiments so far, of earlier sittings too."""
        return tuple(self._tried)

    @property
    def seconds_left(self) -> float:
        """Of the session's time."""
        return self.clock.seconds_left

    def run(self, proposal: Proposal) -> Tried:
        """Train and score a proposal; `SessionOver` where no time is left to begin."""
        experiments.check(proposal)
        steps = self._steps_of(proposal)
        full = len(self._tried) >= MOST
        if full or self.clock.over or self.seconds_left < LEAST or steps > self.clock.steps_left:
            raise SessionOver(f"{self.clock.time_left()} left")
        name = f"{len(self._tried) + 1:03d}"
        folder = self.folder / "experiments" / name
        seed = self._seed() if proposal.seed is None else proposal.seed
        self.clock.charge(steps)
        done = experiments.train(folder, proposal, seed, self.clock.run_seconds, self.rules)
        self.ledger.append(
            "experiment",
            experiment=name,
            code_hash=experiments.code_hash(proposal),
            config=dict(proposal.config),
            seed=seed,
            wall=done.wall,
            cpu=done.cpu,
            exit=done.exit,
            killed=done.killed,
            status=done.status,
            weights_hash=done.weights_hash,
            note=proposal.note,
            enforced=done.enforced,
            **self._used(),
        )
        if done.status == "ok":
            self._score(name)
        self._tried = history(self.folder, self.ledger.lines)
        self._show()
        if self.tell is not None:
            self.tell(self._tried[-1], self.clock.time_left())
        return self._tried[-1]

    def submit(self, experiment: str) -> None:
        """Choose an experiment that has a score; the last choice counts."""
        known = {one.experiment: one for one in self._tried}
        if experiment not in known or known[experiment].status != "ok":
            good = [one.experiment for one in self._tried if one.status == "ok"]
            raise ValueError(f"no experiment '{experiment}' with a score; have {good}")
        self.ledger.append("submit", experiment=experiment)

    def finish(self) -> str:
        """Lay out the submission, the best on val unless one was chosen; "" where none can be."""
        chosen = submitted(self.ledger.lines) or best(self._tried)
        if chosen:
            target = self.folder / "submission"
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            for name in SUBMISSION:
                shutil.copyfile(self.folder / "experiments" / chosen / name, target / name)
        self.clock.stop()  # first, so that the ledger and the clock's file tell the same time
        self.ledger.append(
            "end",
            experiment=chosen,
            tampered=self._tampered(),
            wall=self.clock.seconds_spent,
            **self._used(),
        )
        return chosen

    def show_time(self) -> None:
        """Tell the agent how much is left."""
        view.show_time(self.task, self.clock.time_left())

    def _used(self) -> dict[str, Any]:
        """Tokens and dollars of this sitting so far, where the agent's tool says them."""
        told = {"tokens": self.usage.tokens, "cost": self.usage.cost}
        return {name: value for name, value in told.items() if value is not None}

    # Beginning and going on.

    def _begin(self, agent: str) -> None:
        lines = self.ledger.lines
        if lines and lines[-1]["kind"] == "end":
            raise ValueError(f"{self.folder} has ended; `arena verify` scores what it submitted")
        who = {**described(agent, self.settings), "settings": recorded(agent, self.settings)}
        if not lines:
            self.facts |= {**who, "level": self.level}
            write_json(self.folder / SESSION, self.facts)
            self.ledger.append("begin", session=fingerprint(self.facts), **who)
            return
        for name in WHO if agent else ():
            was, now = self.facts.get(name), who[name]
            if now not in (was, PurePath(str(was)).name):  # a harness was told by its path before
                raise ValueError(
                    f"{self.folder} was begun by the {name} '{was}', not '{now}'; a session has one"
                )
        self._check_clock(lines)
        self.ledger.append("resume", **who, wall=self.clock.seconds_spent)

    def _check_clock(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """A clock that was taken away, or put back, knows less than the ledger."""
        wall = max((line["wall"] for line in lines if line["kind"] == "resume"), default=0.0)
        tried = [line for line in lines if line["kind"] == "experiment"]
        wall = max(wall, sum(line["wall"] for line in tried))
        steps = sum(self._steps_of(Proposal("", line["config"])) for line in tried)
        clock = self.clock
        if clock.seconds_spent < wall or clock.steps_spent < steps:
            raise ValueError(
                f"{self.folder / CLOCK} tells of {clock.seconds_spent:.0f} s and "
                f"{clock.steps_spent} steps, the ledger of {wall:.0f} s and {steps} steps or more; "
                "no time is given back"
            )

    def _clear_unfinished(self) -> None:
        """Away with what an experiment left that the harness did not live to write down."""
        known = {one.experiment for one in self._tried}
        folder = self.folder / "experiments"
        for path in folder.iterdir() if folder.exists() else ():
            if path.name not in known:
                shutil.rmtree(path)
        last = self._tried[-1].experiment if self._tried else ""
        line = self.ledger.find("experiment", last)
        if line and line["status"] == "ok" and not self.ledger.find("score", last):
            self.clock.start()
            self._score(last)
            self._tried = history(self.folder, self.ledger.lines)

    def _check_task(self) -> None:
        changed = self._tampered()
        if changed:
            raise ValueError(
                f"{self.task}: {changed} are not what the session was made with; make a new session"
            )

    def _tampered(self) -> list[str]:
        now = protected(self.task)
        return [name for name, digest in self.facts["task"].items() if now.get(name) != digest]

    # One experiment.

    @cached_property
    def bed(self) -> Bed:
        """The windows of val that every experiment is scored on."""
        store = find_store(self.folder, self.facts)
        return val_bed(store, self.facts["windows"], self.facts["protocol"])

    def _score(self, name: str) -> Scored:
        left = max(min(SCORING, self.seconds_left + LEAST), 30.0)
        found = experiments.score(self.folder / "experiments" / name, self.bed, self.rules, left)
        write_json(self.folder / "experiments" / name / "val.json", found)
        self.ledger.append_once(
            "score", name, val=found.val, status=found.status, wall=found.wall, note=found.why
        )
        return found

    def _seed(self) -> int:
        return seed_of("experiment", self.seed, len(self._tried)) & 0x7FFFFFFF

    def _steps_of(self, proposal: Proposal) -> int:
        """Steps that a proposal spends; in a budget of seconds nothing is counted."""
        if self.clock.budget.steps is None:
            return 0
        recipe = proposal.config.get("recipe")
        steps = recipe.get("steps") if isinstance(recipe, Mapping) else None
        if type(steps) is not int or steps < 1:
            raise ValueError("this session counts steps: config.json needs recipe.steps, a number")
        return steps

    def _show(self) -> None:
        view.show(self.task, self.folder / "experiments", self._tried, self.clock.time_left())


def described(agent: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Who acts, as two factors: the harness that drives, and the language model that decides."""
    command = program(str(settings.get("command") or ""))
    harness = str(settings.get("preset") or "") or command or agent
    llm = str(settings.get("llm") or "") or ("default" if settings.get("preset") else "none")
    return {"agent": agent, "harness": harness, "llm": llm}


def read_session(folder: Path) -> dict[str, Any]:
    """What was agreed on for a session."""
    path = folder / SESSION
    if not path.exists():
        raise ValueError(f"no session at {folder}; make one with `cosmolabe arena new`")
    facts = read_json(path)
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        raise ValueError(f"{path} is no session of schema {SCHEMA}")
    require_columns(facts, str(path), FACTS)
    _budget_of(facts, path)
    if not (facts["memory"] > 0 and facts["windows"] > 0):
        raise ValueError(f"{path}: memory and windows have to be above 0")
    return facts


def _budget_of(facts: Mapping[str, Any], path: Path) -> Budget:
    names, told = [one.name for one in fields(Budget)], facts["budget"]
    numbers = all(v is None or type(v) in (int, float) for v in told.values())
    if set(told) != set(names) or not numbers:
        raise ValueError(f"{path}: 'budget' is {str(told)[:60]!r}, expected numbers for {names}")
    return Budget(**told)


def val_bed(store: Store, windows: int = WINDOWS, protocol: str = PROTOCOL) -> Bed:
    """About so many windows of val, all episodes in turn, drawn by a fixed seed."""
    episodes = len(store.split("val"))
    each = max(1, -(-windows // max(episodes, 1)))
    return lay_out(store, "val", protocol, num_episodes=min(episodes, windows), per_episode=each)


def history(folder: Path, lines: Sequence[Mapping[str, Any]]) -> list[Tried]:
    """The experiments of a ledger, with the code and config that the folder keeps of them."""
    scores = {line["experiment"]: line for line in lines if line["kind"] == "score"}
    found = []
    for line in lines:
        if line["kind"] != "experiment":
            continue
        name = line["experiment"]
        score = scores.get(name, {})
        status = line["status"] if line["status"] != "ok" else score.get("status", "unscored")
        val = {k: math.nan if v is None else v for k, v in (score.get("val") or {}).items()}
        proposal = Proposal(
            code_of(folder, name, line["code_hash"]),
            line["config"],
            line.get("note", ""),
            line["seed"],
        )
        wall = line["wall"] + score.get("wall", 0.0)
        found.append(Tried(name, proposal, status, {**experiments.NO_SCORE, **val}, wall))
    return found


def best(tried: Sequence[Tried]) -> str:
    """The experiment with the best composite on val; what is no number is worst."""
    scored = [one for one in tried if one.status == "ok" and math.isfinite(one.val["composite"])]
    return max(scored, key=lambda one: one.val["composite"]).experiment if scored else ""


def submitted(lines: Sequence[Mapping[str, Any]]) -> str:
    """The experiment that was chosen last; "" where none was."""
    return next((line["experiment"] for line in reversed(lines) if line["kind"] == "submit"), "")


def ledger_of(folder: Path) -> list[dict[str, Any]]:
    """The lines of a session's ledger, checked against their chain."""
    return read_ledger(folder / LEDGER)


def made_by(folder: Path) -> Mapping[tuple[str, str, str], str]:
    """(code hash, config, weights hash) of every scored run, and its experiment.

    What `arena verify` admits: a checkpoint counts only where a ledgered run with that code and
    config made it. The config stands as JSON with sorted names.
    """
    return {
        (line["code_hash"], json.dumps(line["config"], sort_keys=True), line["weights_hash"]): line[
            "experiment"
        ]
        for line in ledger_of(folder)
        if line["kind"] == "experiment" and line["status"] == "ok"
    }
