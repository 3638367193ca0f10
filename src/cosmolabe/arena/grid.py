"""Games × base models × agents × seeds: one session each, resumed wherever it was cut short.

A grid's folder holds `grid.json` (what was planned), `stores/<game>`, `sessions/<name>` and, of a
session that came to nothing, `sessions/<name>.failed.txt`. What is finished is never done again;
running the same grid once more does the rest. In a budget of steps equal seeds give equal bytes,
however busy the machine is, so that is what shared machines should use.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe.arena.recorded import recorded
from cosmolabe.core.record import plain, read_json, require_columns, write_json
from cosmolabe.core.spread import check_engine, spread

SCHEMA = 1
LONGEST = 200  # bytes of a session's name; file systems take 255
PLAN, SESSIONS = "grid.json", "sessions"
Hook = Callable[[Path, Mapping[str, Any]], None]
"""hook(session folder, job): leaves a session there, as `arena new`, `run` and `verify` do."""


@dataclass(frozen=True)
class Entrant:
    """One agent of a grid, with what it is told."""

    agent: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    """How its sessions are called; the agent's own name where nothing is said."""

    @property
    def label(self) -> str:
        """A plain name."""
        return (self.name or self.agent).replace("_", "-")


@dataclass(frozen=True)
class GridPlan:
    """Everything that a grid's sessions follow from."""

    games: tuple[str, ...]
    models: tuple[str, ...]
    entrants: tuple[Entrant, ...]
    seeds: int = 3
    budget: str = "6h"
    """Of each session, as `arena new` takes it: 90s, 30m, 6h or 2000steps."""
    run_seconds: float = 600.0
    steps: int | None = None
    """Gradient steps of the starter; a budget of steps needs them."""
    size: str = "laptop"
    episodes: int = 64
    max_ticks: int | None = None
    windows: int = 256
    test_episodes: int = 256
    scenarios: int = 64
    replicas: int = 3
    """Fresh seeds that what was submitted is trained with again; 0 leaves it out."""
    starters: bool = True
    """Whether each session's own run of the starter is verified too."""
    hooks: Mapping[str, str] = field(default_factory=dict)
    """Base models that are run by other code, as `module:function`; see `Hook`. So a cell of
    pixels enters the grid: its sessions have the same ledger and verdict."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        from cosmolabe.arena.budget import parse_budget

        if not (self.games and self.models and self.entrants) or self.seeds < 1:
            raise ValueError("a grid has at least one game, model, agent and seed")
        labels = [entrant.label for entrant in self.entrants]
        if len(set(labels)) < len(labels):
            raise ValueError(
                f"two agents of a grid have one name: {labels}; call one otherwise, as AGENT:NAME"
            )
        if parse_budget(self.budget).steps and not self.steps:
            raise ValueError("a budget of steps needs --steps, the starter's own number of them")
        for model, hook in self.hooks.items():
            if hook.count(":") != 1:
                raise ValueError(f"the hook of '{model}' is module:function; got {hook!r}")
        names = Counter(job["name"] for job in self.jobs)
        if bad := [name for name in names if not _is_plain(name)]:
            raise ValueError(
                f"a session of a grid is one folder in it, which cannot be called "
                f"{bad[0][:80]!r}; name agents and models in letters, as AGENT:NAME"
            )
        if twice := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"two sessions of a grid would be one folder: {twice[:3]}")

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """One a session, seeds outermost: an unfinished grid has whole replicates."""
        return [
            {"name": f"{game}-{model}-{entrant.label}-{seed}", "game": game, "model": model,
             "agent": entrant.agent, "settings": dict(entrant.settings), "seed": seed,
             "hook": self.hooks.get(model, "")}
            for seed in range(self.seeds)
            for game in self.games
            for model in self.models
            for entrant in self.entrants
        ]  # fmt: skip


def run_grid(
    folder: Path,
    plan: GridPlan,
    *,
    workers: int = 1,
    engine: str = "local",
    level: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """One row a session: name, status, why. Sessions that fail stop no other.

    Over Ray all workers need the folder and the same installation. A grid of seconds with more
    workers than free processors measures the machine, not the agents.
    """
    check_engine(engine, workers)
    agree(folder, plan)
    for game in plan.games:
        _store(folder, game, plan)
    jobs = plan.jobs
    told = plain(asdict(plan))
    work = [(str(folder), told, job, level) for job in jobs]
    rows: list[dict[str, Any]] = [{} for _ in jobs]
    with closing(spread(one_session, work, workers, engine)) as done:
        for count, (place, row) in enumerate(done, 1):
            rows[place] = row
            if progress is not None:
                progress(count, len(jobs))
    return rows


def agree(folder: Path, plan: GridPlan) -> None:
    """Write the plan down, or refuse a folder that was planned otherwise; more seeds may be had."""
    told, path = _without_places(plain(asdict(plan))), folder / PLAN
    if path.exists():
        was = _without_places(_planned(path))
        changed = [key for key in told if key != "seeds" and was.get(key) != told[key]]
        if changed:
            raise ValueError(f"{folder} is a grid planned otherwise: {changed} differ")
        if was["seeds"] >= plan.seeds:
            return
    write_json(path, told)


def _planned(path: Path) -> dict[str, Any]:
    """A plan from the disk, as far as it is read before it is compared."""
    tree = read_json(path)
    if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
        raise ValueError(
            f"{path} is no plan of a grid of schema {SCHEMA}; is {path.parent} a grid?"
        )
    require_columns(tree, str(path), {"seeds": (int,), "entrants": (list,)})
    for place, one in enumerate(tree["entrants"]):
        where = f"{path}, agent {place}"
        if not isinstance(one, dict):
            raise ValueError(f"{where}: expected an object, got {str(one)[:60]!r}")
        require_columns(one, where, {"agent": (str,), "settings": (dict,), "name": (str,)})
    return tree


def _without_places(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as it is written down: a script is told by its name and what it holds."""
    entrants = [
        {**one, "settings": recorded(one["agent"], one["settings"])}
        for one in tree.get("entrants", ())
    ]
    return {**tree, "entrants": entrants}


def _is_plain(name: str) -> bool:
    """Whether this is the name of one folder, which lies where it is made."""
    return "/" not in name and name.isprintable() and len(name.encode()) <= LONGEST


def plan_of(tree: Mapping[str, Any]) -> GridPlan:
    """A plan as it was written down."""
    told: dict[str, Any] = dict(tree)
    told |= {"games": tuple(tree["games"]), "models": tuple(tree["models"])}
    told["entrants"] = tuple(Entrant(**one) for one in tree["entrants"])
    return GridPlan(**told)


def one_session(
    folder: str, told: Mapping[str, Any], job: Mapping[str, Any], level: str
) -> dict[str, Any]:
    """Bring one session to its verdict, from wherever it stands; errors are told, not raised."""
    top, plan = Path(folder), plan_of(told)
    session = top / SESSIONS / job["name"]
    failed = top / SESSIONS / f"{job['name']}.failed.txt"
    try:
        if job["hook"] and not (session / "verdict.json").exists():
            _hook(job["hook"])(session, {**job, "plan": dict(told), "level": level})
        elif not job["hook"]:
            for step in (_make, _run, _verify, _verify_starter):
                step(top, session, job, plan, level)
    except (ValueError, OSError, ArithmeticError, LookupError, RuntimeError) as error:
        failed.parent.mkdir(parents=True, exist_ok=True)
        failed.write_text(f"{type(error).__name__}: {error}\n", "utf-8", "backslashreplace")
        return {"name": job["name"], "status": "failed", "why": str(error)}
    failed.unlink(missing_ok=True)
    return {"name": job["name"], **_status(session)}


def statuses(folder: Path) -> Iterator[dict[str, Any]]:
    """Where each session of a grid stands, without doing anything."""
    for job in plan_of(_planned(folder / PLAN)).jobs:
        failed = folder / SESSIONS / f"{job['name']}.failed.txt"
        if failed.exists():
            yield {"name": job["name"], "status": "failed", "why": failed.read_text().strip()}
        else:
            yield {"name": job["name"], **_status(folder / SESSIONS / job["name"])}


def _make(top: Path, session: Path, job: Mapping, plan: GridPlan, level: str) -> None:
    from dataclasses import replace

    from cosmolabe.arena.budget import parse_budget
    from cosmolabe.arena.places import STORES
    from cosmolabe.arena.session import Agreement, new_session
    from cosmolabe.data.store import open_store

    if (session / "session.json").exists():
        return
    budget = replace(parse_budget(plan.budget), run_seconds=plan.run_seconds)
    agreement = Agreement(
        job["game"], job["model"], budget, seed=job["seed"], size=plan.size, steps=plan.steps,
        windows=plan.windows,
    )  # fmt: skip
    new_session(session, agreement, open_store(top / STORES / job["game"]))


def _run(top: Path, session: Path, job: Mapping, plan: GridPlan, level: str) -> None:
    from cosmolabe.arena.driving import run_session
    from cosmolabe.arena.session import ledger_of

    lines = ledger_of(session) if (session / "ledger.jsonl").exists() else []
    if not lines or lines[-1]["kind"] != "end":
        run_session(session, job["agent"], job["settings"], level=level)


def _verify(top: Path, session: Path, job: Mapping, plan: GridPlan, level: str) -> None:
    from cosmolabe.arena.verdicts import verify_session

    if (session / "submission").is_dir() and not (session / "verdict.json").exists():
        verify_session(session, _asked(plan, level))


def _verify_starter(top: Path, session: Path, job: Mapping, plan: GridPlan, level: str) -> None:
    """Score the session's own unchanged run as what was submitted is scored, but once."""
    from cosmolabe.arena.verdicts import verify_starter

    if plan.starters:
        verify_starter(session, _asked(plan, level))


def _asked(plan: GridPlan, level: str) -> Any:  # noqa: ANN401 - an Asked, loaded lazily
    from cosmolabe.arena.verdicts import Asked

    return Asked(plan.test_episodes, plan.scenarios, plan.replicas, level)


def _status(session: Path) -> dict[str, Any]:
    if not (session / "session.json").exists():
        return {"status": "not begun", "why": ""}
    verdict = session / "verdict.json"
    if verdict.exists():
        told = read_json(verdict)
        return {"status": f"verified: {told.get('status')}", "why": str(told.get("why") or "")}
    ended = (session / "submission").is_dir()
    return {"status": "submitted" if ended else "begun", "why": ""}


def _store(folder: Path, game: str, plan: GridPlan) -> None:
    from cosmolabe.arena.places import STORES
    from cosmolabe.data.collect import collect

    if set(plan.models) <= set(plan.hooks):
        return
    collect(game, folder / STORES / game, plan.episodes, max_ticks=plan.max_ticks)


def _hook(name: str) -> Hook:
    """The user's own function, which was named with --trust."""
    module, function = name.split(":")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"no hook '{name}' ({error}); is its folder on PYTHONPATH?") from None


def entrants_of(words: Sequence[str], given: Mapping[str, Any]) -> tuple[Entrant, ...]:
    """Agents as the command line names them, `agent` or `agent:name`; settings they know."""
    from cosmolabe.arena.named import agent_named

    found = []
    for word in words:
        agent, _, name = word.partition(":")
        part = agent_named(agent)
        settings = {key: value for key, value in given.items() if key in part.settings}
        found.append(Entrant(part.name, settings, name))
    return tuple(found)
