"""Run four agents on three cells of the arena, verify them, keep the sessions, write the page.

    python recipes/arena_examples.py

Needs bubblewrap and the extras `torch` and `arena`; about 25 minutes of one core. Writes
docs/tables/recipes/arena-examples.json before anything runs, then docs/examples/sessions/,
docs/tables/arena.json and the tables of docs/arena/example.md. Stopped, the same command goes on.
"""

import difflib
import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from scipy import stats

from cosmolabe.arena.analysis.record import arena_record
from cosmolabe.arena.analysis.sessions import Session, read_session
from cosmolabe.arena.grid import Entrant, GridPlan, run_grid
from cosmolabe.arena.places import find_store
from cosmolabe.arena.sandbox import scratch_folder
from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verdicts import Asked, held_out_beds
from cosmolabe.arena.verifier.held_out import overlap
from cosmolabe.arena.verifier.scoring import score_on, without
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.bench.bed import Bed
from cosmolabe.bench.readings import finals_of
from cosmolabe.core import bootstrap
from cosmolabe.core.figures import with_span
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import plain, read_json, versions, write_json
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import WindowScores

HERE = Path(__file__).resolve().parents[1]
EXAMPLES = HERE / "docs" / "examples"
SCHEMA = 1
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
KEPT = ("train.py", "config.json", "log.txt", "note.md", "val.json")
LARGEST_WEIGHTS = 100_000  # bytes; larger ones are left out, for a replay makes them again
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Cell:
    """A game, a base model, and what one of its experiments costs."""

    game: str
    model: str
    steps: int
    """Training steps of the starter. A fit in closed form counts as so many."""
    script: str
    """Of the researcher."""

    @property
    def name(self) -> str:
        """For folders."""
        return f"{self.game}-{self.model}"


@dataclass(frozen=True)
class Study:
    """Every choice of the run."""

    cells: tuple[Cell, ...] = (
        Cell("racer", "linear", 10, "linear.json"),
        Cell("snake", "linear", 10, "linear.json"),
        Cell("pong", "transformer", 50, "transformer.json"),
    )
    runs: int = 6
    """Experiments of every agent, its starter among them."""
    episodes: int = 48
    max_ticks: int = 300
    windows: int = 128
    test_episodes: int = 256
    scenarios: int = 64
    replicas: int = 3
    run_seconds: float = 600.0

    def plan(self, cell: Cell, scripts: Path) -> GridPlan:
        """The grid of one cell."""
        entrants = (
            Entrant("null", {"runs": self.runs}),
            Entrant("random_search", {"runs": self.runs}),
            Entrant("tpe", {"runs": self.runs}),
            Entrant("scripted", {"script": str(scripts / cell.script)}, "researcher"),
        )
        return GridPlan(
            games=(cell.game,), models=(cell.model,), entrants=entrants, seeds=1,
            budget=f"{self.runs * cell.steps}steps", run_seconds=self.run_seconds,
            steps=cell.steps, episodes=self.episodes, max_ticks=self.max_ticks,
            windows=self.windows, test_episodes=self.test_episodes, scenarios=self.scenarios,
            replicas=self.replicas, starters=False,
        )  # fmt: skip


TINY = Study(
    cells=(Cell("racer", "linear", 10, "linear.json"),), runs=2, episodes=16, max_ticks=90,
    windows=8, test_episodes=12, scenarios=6,
)  # fmt: skip


def main(
    work: Path = HERE / "runs" / "arena-examples",
    docs: Path = HERE / "docs",
    tiny: bool = False,
    store_only: bool = False,
) -> None:
    """Run what is missing, cell by cell; the tables are written after each.

    `tiny`: one small cell, to see that everything runs; it writes to WORK/docs. `store_only` writes
    the recipe and runs nothing.
    """
    say = Console(stderr=True).print
    study = TINY if tiny else Study()
    docs = work / "docs" if tiny else docs
    write_json(docs / "tables" / "recipes" / "arena-examples.json", recipe_of(study))
    if store_only:
        return
    os.environ.setdefault("COSMOLABE_ARENA_HOME", str(work / "held-out"))
    scripts = work / "researcher"
    shutil.copytree(EXAMPLES / "researcher", scripts, dirs_exist_ok=True)
    rows: list[dict[str, Any]] = []
    for cell in study.cells:
        found = run_grid(work / cell.name, study.plan(cell, scripts))
        for row in found:
            say(f"{row['name']}: {row['status']} {row['why']}")
        rows += cell_rows(work / cell.name, cell, study)
        for path in sessions_in(work / cell.name):
            keep(path, docs / "examples" / "sessions" / path.name.removesuffix("-0"))
        table = table_of(rows, study)
        write_json(docs / "tables" / "arena.json", table)
        page = docs / "arena" / "example.md"
        if page.exists():
            show(table, page)


def recipe_of(study: Study) -> dict[str, Any]:
    """What is written down before the run."""
    folder = EXAMPLES / "researcher"
    scripts = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    told = {"choices": plain(asdict(study)), "scripts": scripts}
    return {
        "schema": SCHEMA, "study": "arena-examples", "hash": fingerprint(told), **told,
        "agents": ["null", "random-search", "tpe", "researcher (scripted)"],
        "command": "python recipes/arena_examples.py",
    }  # fmt: skip


def sessions_in(folder: Path) -> list[Path]:
    """Session folders of a cell's grid that have a verdict."""
    return sorted(path.parent for path in folder.glob("sessions/*/verdict.json"))


# What each session gained.


def cell_rows(folder: Path, cell: Cell, study: Study) -> list[dict[str, Any]]:
    """One row a session: its gain over the starter on the same test windows, with intervals."""
    path = folder / "gains.json"
    if path.exists():
        return read_json(path)
    sessions = [read_session(path) for path in sessions_in(folder)]
    null = next(session for session in sessions if session.agent == "null")
    beds, shared = test_beds(sessions[0], study)
    start = asked(null.folder / "experiments" / "001", beds, shared, null.folder / "starter")
    told = read_json(null.folder / "starter" / "verdict.json")
    for session in sessions:  # its first experiment: the same code and seed, so the same weights
        assert made_first(session) == made_first(null)
        write_json(session.folder / "starter" / "verdict.json", told)
    sessions = [read_session(path) for path in sessions_in(folder)]
    record = arena_record(sessions)
    bed, rows = beds["test"], []
    floor = max(float(np.nanmean(one.final)) for one in bed.floors.values())
    for told, session in zip(record["sessions"], sessions, strict=True):
        mine = asked(session.folder / "submission", {"test": bed}, shared)
        assert abs(score_on(bed, mine)[0].composite - told["test"]) < 1e-6
        rows.append(
            {
                "cell": cell.name, "agent": agent_of(session), "floor": floor,
                **{key: told[key] for key in TOLD},
                "category": told["whole"]["category"], "beside": told["whole"]["beside"],
                **gain(score_on(bed, mine)[1], score_on(bed, start)[1], bed),
                **again(session, null),
                "vals": [one.score for one in session.experiments],
                "notes": [one.note for one in session.experiments],
                "edits": told["runs"] and [run["category"] for run in told["runs"]],
            }
        )  # fmt: skip
    write_json(path, plain(rows))
    return read_json(path)


def made_first(session: Session) -> tuple[str, str]:
    """Hashes of code and weights of the first experiment."""
    return session.experiments[0].code_hash, session.experiments[0].weights_hash


def agent_of(session: Session) -> str:
    """How the study calls it: the scripted agent is the researcher."""
    return "researcher" if session.agent == "scripted" else session.agent.replace("_", "-")


TOLD = (
    "session", "winner", "experiments", "failed", "val", "test", "scenario", "start_test",
    "start_val", "delta_val", "delta_scenario", "delta_parts", "band", "headroom", "gap", "flags",
    "valid", "replicated", "replicated_sd", "cpu", "seconds", "best_of",
)  # fmt: skip


def test_beds(session: Session, study: Study) -> tuple[dict[str, Bed], dict[str, Any]]:
    """The held-out windows as the verifier had them, and what they had in common with the data."""
    store = find_store(session.folder, session.facts)
    how = Asked(study.test_episodes, study.scenarios)
    beds = held_out_beds(store, how, session.facts["protocol"])
    shared = {name: overlap(bed, [(store, "train"), (store, "val")]) for name, bed in beds.items()}
    clean = {
        name: without(bed, shared[name].rows) if shared[name].windows else bed
        for name, bed in beds.items()
    }
    return clean, shared


def asked(
    folder: Path, beds: Mapping[str, Bed], shared: Mapping[str, Any], verdict: Path | None = None
) -> Prediction:
    """What a checkpoint predicts for the test; with `verdict`, its scores are written there."""
    with scratch_folder("example") as scratch:
        verifier = Verifier(write_slim(scratch / "package"))
        copied = verifier.take(folder, scratch / "submission")
        found, enforced = verifier.ask(copied, beds, scratch)
    if verdict is not None:
        told = verifier.judge(beds, found.predictions, shared)
        told = replace(told, files=copied.hashes, level=enforced.level, valid=enforced.valid)
        write_json(verdict / "verdict.json", told)
    return found.predictions["test"]


def gain(mine: WindowScores, start: WindowScores, bed: Bed) -> dict[str, float]:
    """Of one checkpoint over the starter's, on the same windows; 95 % by resampling episodes."""
    weights = bootstrap.resamples(bed.windows.episodes)
    gaps = finals_of(mine, weights, bed.protocol) - finals_of(start, weights, bed.protocol)
    low, high = bootstrap.interval(gaps[1:])
    return {"gain": float(gaps[0]), "gain_low": float(low), "gain_high": float(high)}


def again(session: Session, null: Session) -> dict[str, float]:
    """Fresh seeds of what was submitted against fresh seeds of the starter: Welch's interval."""
    mine, start = (np.array(one.verdict["replicated"]["scores"]) for one in (session, null))
    if session is null or min(len(mine), len(start)) < 2:
        return {"again": 0.0, "again_low": np.nan, "again_high": np.nan}
    found = stats.ttest_ind(mine, start, equal_var=False)
    interval = found.confidence_interval(CONFIDENCE)
    return {
        "again": float(mine.mean() - start.mean()),
        "again_low": float(interval.low),
        "again_high": float(interval.high),
    }


# What is kept.


def keep(session: Path, target: Path) -> None:
    """Copy a session without data, task folder and large weights, and add its differences."""
    shutil.rmtree(target, ignore_errors=True)
    for folder in (session / "starter", *sorted((session / "experiments").iterdir())):
        place = target / folder.relative_to(session)
        place.mkdir(parents=True)
        for name in (*KEPT, "verdict.json"):
            if (folder / name).exists():
                shutil.copyfile(folder / name, place / name)
    starter = (session / "starter" / "train.py").read_text("utf-8")
    for train in sorted(target.glob("experiments/*/train.py")):
        text = changes(starter, train.read_text("utf-8"))
        if text:
            train.with_name("change.diff").write_text(text, "utf-8")
        else:
            train.unlink()  # the starter's, which stands there once
    for name in ("session.json", "ledger.jsonl", "clock.json", "verdict.json"):
        shutil.copyfile(session / name, target / name)
    submission = session / "submission"
    if (submission / "weights.safetensors").stat().st_size <= LARGEST_WEIGHTS:
        shutil.copytree(submission, target / "submission")


def changes(before: str, after: str) -> str:
    """The unified diff of two files; "" where they are equal."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True),
        "starter/train.py", "train.py",
    )  # fmt: skip
    return "".join(lines)


def table_of(rows: Sequence[dict[str, Any]], study: Study) -> dict[str, Any]:
    """docs/tables/arena.json."""
    return plain(
        {
            "schema": SCHEMA, "study": "arena-examples", "recipe": recipe_of(study)["hash"],
            "sessions": rows, "training_cpu_seconds": sum(row["cpu"] for row in rows),
            "versions": versions(),
        }
    )  # fmt: skip


def show(table: Mapping[str, Any], page: Path) -> None:
    """The tables between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = [
        *_gains(table["sessions"]),
        "",
        *_edits(table["sessions"]),
        "",
        *_luck(table["sessions"]),
    ]
    page.write_text(f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}", encoding="utf-8")


def _gains(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| cell | agent | val | test | starter | floor | gain on test (95 %) | "
        "fresh seeds: gain (95 %) | scenario: gain | class | flags |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        gain = with_span(row["gain"], row["gain_low"], row["gain_high"], "+.4f")
        fresh = with_span(row["again"], row["again_low"], row["again_high"], "+.4f")
        lines.append(
            f"| {row['cell']} | {row['agent']} | {row['val']:.4f} | {row['test']:.4f} | "
            f"{row['start_test']:.4f} | {row['floor']:.4f} | {gain} | "
            f"{'' if row['agent'] == 'null' else fresh} | {_number(row['delta_scenario'])} | "
            f"{row['category'] or 'none'} | {', '.join(row['flags']) or 'none'} |"
        )
    return lines


def _edits(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| cell | the researcher's edit | class | val | over its starter |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        if row["agent"] != "researcher":
            continue
        for note, edit, val in zip(row["notes"], row["edits"], row["vals"], strict=True):
            lines.append(
                f"| {row['cell']} | {note.split('.')[0]} | {edit or ''} | {_score(val)} | "
                f"{'' if val is None else format(val - row['vals'][0], '+.4f')} |"
            )
    return lines


def _luck(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    most = max(len(row["best_of"]) for row in rows)
    heads = " | ".join(f"best of {k + 1}" for k in range(most))
    lines = [f"| cell | agent | {heads} |", f"|---|---|{'---|' * most}"]
    for row in rows:
        values = [_score(value) for value in row["best_of"]]
        lines.append(
            f"| {row['cell']} | {row['agent']} | "
            f"{' | '.join(values + [''] * (most - len(values)))} |"
        )
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:+.4f}"


def _score(value: float | None) -> str:
    return "no score" if value is None else f"{value:.4f}"


if __name__ == "__main__":
    tyro.cli(main)
