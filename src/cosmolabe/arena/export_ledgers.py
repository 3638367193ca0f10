"""Sessions as a Hugging Face data set: tables of experiments, of sessions, of ledger lines.

Parquet files and a card, written without the library that reads them by
`datasets.load_dataset(FOLDER, "experiments")`. A trajectory of research is then rows in order:
code, config, note, score, class of the edit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.arena.analysis.gains import gain_of, plain_gain, starts_of
from cosmolabe.arena.analysis.lineage import edits_of
from cosmolabe.arena.analysis.sessions import Session
from cosmolabe.core.record import plain, written_whole

CARD = """---
configs:
{configs}---
# Sessions of the Cosmolabe arena

{sessions} sessions, {experiments} experiments. `experiments` has one row a training run, in order:
`train` and `config` are what ran, `note` the agent's own words, `val_*` its score on val, `parent`
the earlier run it grew from, `category` the class of the edit by rules. `sessions` has what was
verified; `ledger` every line of every ledger as JSON, with its chain of hashes.
"""
TEXT = ("session", "game", "model", "agent", "llm")


def export_ledgers(sessions: Sequence[Session], out: Path) -> dict[str, int]:
    """Write the data set into a folder; gives rows by table."""
    names = [session.folder.name for session in sessions]
    if len(set(names)) < len(names):
        raise ValueError("two sessions have one folder name; export them into two data sets")
    starts = starts_of(sessions)
    tables = {
        "experiments": [row for session in sessions for row in _experiments(session)],
        "sessions": [_session(session, starts[session.cell]) for session in sessions],
        "ledger": [row for session in sessions for row in _ledger(session)],
    }
    for name, rows in tables.items():
        if rows:
            _write(out / name / "train.parquet", rows)
    configs = "".join(
        f"- config_name: {name}\n  data_files: {name}/train.parquet\n"
        for name, rows in tables.items()
        if rows
    )
    counts = {name: len(rows) for name, rows in tables.items()}
    card = CARD.format(configs=configs, **{k: counts[k] for k in ("sessions", "experiments")})
    (out / "README.md").write_text(card, encoding="utf-8")
    return counts


def _who(session: Session) -> dict[str, Any]:
    told = {name: getattr(session, name) for name in TEXT[1:]}
    return {"session": session.folder.name, **told, "session_seed": session.seed}


def _experiments(session: Session) -> list[dict[str, Any]]:
    return [
        {
            **_who(session),
            "experiment": edit.experiment.name,
            "status": edit.experiment.status,
            "train": edit.experiment.train,
            "config": json.dumps(plain(edit.experiment.config), sort_keys=True),
            "note": edit.experiment.note,
            "seed": edit.experiment.seed,
            **{f"val_{name}": float(value) for name, value in edit.experiment.val.items()},
            "wall": edit.experiment.wall,
            "cpu": edit.experiment.cpu,
            "tokens": edit.experiment.tokens,
            "cost": edit.experiment.cost,
            "parent": edit.parent,
            "over_starter": edit.over_starter,
            "over_parent": edit.over_parent,
            "category": edit.sorted.category,
            "beside": list(edit.sorted.beside),
            "analytic": edit.sorted.analytic,
            "diff": edit.found.text if edit.found is not None else "",
            "code_hash": edit.experiment.code_hash,
            "weights_hash": edit.experiment.weights_hash,
        }
        for edit in edits_of(session)
    ]


def _session(session: Session, start: Any) -> dict[str, Any]:  # noqa: ANN401 - a Start
    gain = plain_gain(gain_of(session, start))
    simple = {k: v for k, v in gain.items() if isinstance(v, str | int | float | bool)}
    told = {key: value for key, value in simple.items() if key not in ("seed", "session")}
    return {
        **_who(session), **told, "harness": session.harness, "flags": list(gain["flags"]),
        "budget": json.dumps(plain(session.budget)), "start": json.dumps(plain(asdict(start))),
        "verdict": json.dumps(plain(session.verdict)),
    }  # fmt: skip


def _ledger(session: Session) -> list[dict[str, Any]]:
    return [
        {"session": session.folder.name, "n": line["n"], "kind": line["kind"],
         "hash": line["hash"], "line": json.dumps(line, sort_keys=True)}
        for line in session.ledger
    ]  # fmt: skip


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: pa.array([_clean(row.get(name)) for row in rows]) for name in rows[0]}
    with written_whole(path) as part:
        pq.write_table(pa.table(columns), part)


def _clean(value: Any) -> Any:  # noqa: ANN401 - any value of a row
    """Text that Parquet can hold: half a character becomes its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value
