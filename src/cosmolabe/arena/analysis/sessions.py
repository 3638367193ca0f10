"""Reads what sessions left: what was agreed, the ledger, code and notes, the verdict.

Nothing of it is run or unpickled. What is missing is NaN or empty; what is broken is refused.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from cosmolabe.arena.kept_code import code_of, text_of
from cosmolabe.arena.ledger import read_ledger
from cosmolabe.core.record import read_json

HORIZONS = ("c1", "c10", "c20")
PARTS = (*HORIZONS, "composite", "skill")
NAN = math.nan


@dataclass(frozen=True)
class Experiment:
    """One training run, as the ledger tells it."""

    name: str
    status: str
    train: str
    config: Mapping[str, Any]
    note: str
    seed: int
    val: Mapping[str, float]
    wall: float
    """Seconds, training and scoring."""
    cpu: float
    tokens: float
    cost: float
    code_hash: str
    weights_hash: str
    time: float = NAN
    """Seconds since 1970 at its end."""

    @property
    def score(self) -> float:
        """Composite on val."""
        return self.val.get("composite", NAN)


@dataclass(frozen=True)
class Session:
    """One session folder."""

    folder: Path
    game: str
    model: str
    agent: str
    llm: str
    harness: str
    seed: int
    budget: Mapping[str, Any]
    starter: str
    """Text of the train.py it began with."""
    starter_config: Mapping[str, Any]
    experiments: tuple[Experiment, ...]
    chosen: str
    """The experiment that was submitted; "" where none was."""
    ended: bool
    verdict: Mapping[str, Any]
    """verdict.json; empty where nothing was verified."""
    starter_verdict: Mapping[str, Any]
    """starter/verdict.json: the starter's own checkpoint, where it was verified."""
    ledger: Sequence[Mapping[str, Any]] = field(repr=False, default=())
    usage: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cell(self) -> str:
        """Game and base model."""
        return f"{self.game} / {self.model}"

    @property
    def who(self) -> str:
        """The agent, with the language model that decides where one does."""
        return f"{self.agent} ({self.llm})" if self.llm else self.agent

    @property
    def winner(self) -> Experiment | None:
        """The submitted experiment, or the best on val where none was submitted."""
        named = {one.name: one for one in self.experiments}
        return named.get(self.chosen) or best_of_val(self.experiments)

    @property
    def starters(self) -> tuple[Experiment, ...]:
        """Experiments that ran the starter as it was."""
        return tuple(
            one
            for one in self.experiments
            if one.train == self.starter and dict(one.config) == dict(self.starter_config)
        )

    def scored(self, where: str) -> Mapping[str, float]:
        """c1, c10, c20, composite, skill and more on test, val or scenario; NaN if unknown."""
        return scores_of(self.verdict, where)

    @property
    def tokens(self) -> float:
        """Of the language model, all kinds together, as reported; NaN where nobody said."""
        told = self.usage.get("tokens")
        if isinstance(told, Mapping):
            counts = [_number(v) for v in told.values()]
            return sum(v for v in counts if math.isfinite(v)) if counts else NAN
        spent = [one.tokens for one in self.experiments if math.isfinite(one.tokens)]
        return sum(spent) if spent else _number(told)

    @property
    def cost(self) -> float:
        """US dollars, as reported."""
        spent = [one.cost for one in self.experiments if math.isfinite(one.cost)]
        return sum(spent) if spent else _number(self.usage.get("cost"))

    @property
    def seconds(self) -> float:
        """Wall clock from the first line of the ledger to its last, pauses included."""
        times = [_number(line.get("time")) for line in self.ledger]
        return times[-1] - times[0] if len(times) > 1 else NAN


def best_of_val(experiments: Iterable[Experiment]) -> Experiment | None:
    """The best composite on val; what is no number never is the best."""
    scored = [one for one in experiments if one.status == "ok" and math.isfinite(one.score)]
    return max(scored, key=lambda one: one.score) if scored else None


def scores_of(verdict: Mapping[str, Any], where: str) -> dict[str, float]:
    """The numbers of one split of a verdict; a verdict that is not ok has none."""
    if verdict.get("status") != "ok":
        return dict.fromkeys(PARTS, NAN)
    told = verdict.get("scores")
    one = told.get(where) if isinstance(told, Mapping) else None
    if not isinstance(one, Mapping):
        return dict.fromkeys(PARTS, NAN)
    return dict.fromkeys(PARTS, NAN) | {k: _number(v) for k, v in one.items() if _is_number(v)}


def find_sessions(paths: Iterable[Path]) -> list[Path]:
    """Session folders among paths and anywhere below them, in order of name."""
    found: dict[Path, None] = {}
    for path in paths:
        if (path / "session.json").is_file():
            found[path] = None
            continue
        if not path.is_dir():
            raise ValueError(f"no folder {path}; name sessions, or a folder that holds some")
        for below in sorted(path.glob("**/session.json")):
            found[below.parent] = None
    if not found:
        raise ValueError("no session.json in what was named; make one with `cosmolabe arena new`")
    return list(found)


def read_session(folder: Path) -> Session:
    """One session; a ledger whose chain is broken is refused."""
    facts = read_json(folder / "session.json")
    if not isinstance(facts, dict):
        raise ValueError(f"{folder / 'session.json'}: expected an object")
    path = folder / "ledger.jsonl"
    ledger = read_ledger(path) if path.exists() else []
    who = facts.get("agent")
    settings = who if isinstance(who, Mapping) else {"agent": who}
    start = folder / "starter"
    ended = next((line for line in reversed(ledger) if line["kind"] == "end"), {})
    chosen = next((line for line in reversed(ledger) if line["kind"] == "submit"), ended)
    budget = facts.get("budget")
    return Session(
        folder=folder,
        game=str(facts.get("game", "")),
        model=str(facts.get("model", "")),
        agent=str(settings.get("agent") or "nobody"),
        llm=_known(settings.get("llm") or facts.get("llm")),
        harness=PurePath(_known(settings.get("preset") or facts.get("harness"))).name,
        seed=int(_number(facts.get("seed", 0)) if _is_number(facts.get("seed", 0)) else 0),
        budget=budget if isinstance(budget, Mapping) else {},
        starter=text_of(start / "train.py") or text_of(folder / "task" / "train.py"),
        starter_config=_object(start / "config.json"),
        experiments=_experiments(folder, ledger),
        chosen=str(chosen.get("experiment") or ""),
        ended=bool(ended),
        verdict=_object(folder / "verdict.json"),
        starter_verdict=_object(start / "verdict.json"),
        ledger=ledger,
        usage=_object(folder / "transcript" / "usage.json"),
        facts=facts,
    )


def _experiments(folder: Path, ledger: Sequence[Mapping[str, Any]]) -> tuple[Experiment, ...]:
    scores = {line.get("experiment"): line for line in ledger if line["kind"] == "score"}
    found = []
    for line in ledger:
        if line["kind"] != "experiment":
            continue
        name = _plain_name(str(line.get("experiment")), folder)
        score = scores.get(name, {})
        status = str(line.get("status", ""))
        told = score.get("val") or line.get("val") or {}
        val = {part: _number(told.get(part)) for part in PARTS}
        if status == "ok":
            unscored = "ok" if math.isfinite(val["composite"]) else "unscored"
            status = str(score.get("status", unscored))
        found.append(
            Experiment(
                name=name,
                status=status,
                train=code_of(folder, name, str(line.get("code_hash") or "")),
                config=line.get("config") or {},
                note=str(line.get("note") or ""),
                seed=int(line.get("seed") or 0),
                val=val,
                wall=_number(line.get("wall")) + _zero(score.get("wall")),
                cpu=_number(line.get("cpu")),
                tokens=_number(line.get("tokens")),
                cost=_number(line.get("cost")),
                code_hash=str(line.get("code_hash") or ""),
                weights_hash=str(line.get("weights_hash") or ""),
                time=_number(line.get("time")),
            )
        )
    return tuple(found)


def _plain_name(name: str, folder: Path) -> str:
    if not name or "/" in name or "\\" in name or name in (".", ".."):
        raise ValueError(f"{folder}: an experiment is named {name[:60]!r}, which is no plain name")
    return name


def _object(path: Path) -> dict[str, Any]:
    if path.is_symlink() or not path.is_file():
        return {}
    tree = read_json(path)
    if not isinstance(tree, dict):
        raise ValueError(f"{path}: expected an object, got {type(tree).__name__}")
    return tree


def _known(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A name; agents without a language model have the one called "none"."""
    return "" if value in (None, "", "none") else str(value)


def _is_number(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float:  # noqa: ANN401 - any JSON value
    return float(value) if _is_number(value) else NAN


def _zero(value: Any) -> float:  # noqa: ANN401 - any JSON value
    return float(value) if _is_number(value) else 0.0
