"""Verifies a session: its submission, on episodes played here under a secret salt, once."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.places import find_store
from cosmolabe.arena.sandbox import Limits, scratch_folder
from cosmolabe.arena.session import STARTER, ledger_of, made_by, val_bed
from cosmolabe.arena.session import read_session as agreed_on
from cosmolabe.arena.tasks.data import write_data
from cosmolabe.arena.tasks.slim import write_slim
from cosmolabe.arena.verifier.copying import Copied
from cosmolabe.arena.verifier.held_out import (
    Overlap,
    held_out_bed,
    held_out_store,
    overlap,
    seeds_shared,
)
from cosmolabe.arena.verifier.replicating import LEAST_SEEDS, Retraining
from cosmolabe.arena.verifier.verdict import Verdict
from cosmolabe.arena.verifier.verify import Admit, Verifier
from cosmolabe.bench.bed import Bed
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.store import Store

VERDICT = "verdict.json"
SUBMISSION = "submission"
EPISODES = 256
"""Test episodes, one window each; as many as `judge` looks at."""


@dataclass(frozen=True)
class Asked:
    """How a session is verified."""

    episodes: int = EPISODES
    scenarios: int = 64
    """Episodes of the scenario split; 0 leaves it out."""
    seeds: int = LEAST_SEEDS
    """Trainings with fresh seeds; 0 leaves the replicated score out."""
    level: str = "auto"
    gpu: bool = False
    home: Path | None = None
    """Where salt and held-out stores lie; `held_out.home()` where none is named."""
    once_more: bool = False
    """Verify a session that has a verdict already."""


@dataclass(frozen=True)
class Tests:
    """What a session's checkpoints are scored on: each of them on the same windows."""

    store: Store
    """The session's own episodes."""
    beds: Mapping[str, Bed]
    """Test, and scenario where asked for."""
    overlaps: Mapping[str, Overlap]
    """What of them stands in the session's data, and so is left out."""


def verify_session(folder: Path, asked: Asked = Asked(), tests: Tests | None = None) -> Verdict:
    """The verdict on a session that has ended; also written to its `verdict.json`."""
    facts, lines = _ended(folder, asked)
    tests = tests or tests_of(folder, asked)
    store, played = tests.store, tests.beds
    beds = {**played, "val": val_bed(store, facts["windows"], facts["protocol"])}
    with scratch_folder("verify") as scratch:
        package = write_slim(scratch / "package")
        verdict = Verifier(package, asked.level, gpu=asked.gpu).verify(
            folder / SUBMISSION,
            beds,
            admit=admitting(folder),
            overlaps=tests.overlaps,
            again=_again(store, facts, asked, scratch) if asked.seeds else None,
        )
    seeds = {name: seeds_shared(store, bed.store) for name, bed in played.items()}
    told = {name: {**verdict.overlap.get(name, {}), "seeds": seeds[name]} for name in played}
    verdict = replace(verdict, overlap=told, ledger=lines[-1]["hash"])
    write_json(folder / VERDICT, verdict)
    return verdict


def verify_starter(folder: Path, asked: Asked = Asked(), tests: Tests | None = None) -> None:
    """Write `starter/verdict.json`, which gains are counted from: the session's own unchanged run.

    On the windows of the submission, once; nothing where the session never ran its starter as it
    was.
    """
    path = folder / STARTER / VERDICT
    unchanged = [one.name for one in read_session(folder).starters if one.status == "ok"]
    if not unchanged or (path.exists() and not asked.once_more):
        return
    tests = tests or tests_of(folder, asked)
    with scratch_folder("starter") as scratch:
        package = write_slim(scratch / "package")
        verdict = Verifier(package, asked.level, gpu=asked.gpu).verify(
            folder / "experiments" / unchanged[0],
            tests.beds,
            admit=admitting(folder),
            overlaps=tests.overlaps,
            audit=False,
        )
    write_json(path, verdict)


def verify_both(folder: Path, asked: Asked = Asked()) -> Verdict:
    """The verdict on the submission, beside one on the starter where it was ever run.

    The starter comes first: what is cut short between the two goes on with the same command.
    """
    _ended(folder, asked)
    tests = tests_of(folder, asked)
    verify_starter(folder, asked, tests)
    return verify_session(folder, asked, tests)


def tests_of(folder: Path, asked: Asked) -> Tests:
    """The held-out windows of a session, and what of them its own data hold."""
    facts = agreed_on(folder)
    store = find_store(folder, facts)
    beds = held_out_beds(store, asked, facts["protocol"])
    shared = {name: overlap(bed, [(store, "train"), (store, "val")]) for name, bed in beds.items()}
    return Tests(store, beds, shared)


def _ended(folder: Path, asked: Asked) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What was agreed and the ledger of a session that may be verified."""
    facts, lines = agreed_on(folder), ledger_of(folder)
    if not lines or lines[-1]["kind"] != "end":
        raise ValueError(f"{folder} has not ended; `arena run` goes on with it")
    if (folder / VERDICT).exists() and not asked.once_more:
        raise ValueError(
            f"{folder} has a verdict; a test that is looked at twice is no test "
            "(--once-more looks all the same)"
        )
    if not (folder / SUBMISSION).exists():
        raise ValueError(f"{folder} submitted nothing: no experiment of it has a score")
    return facts, lines


def held_out_beds(store: Store, asked: Asked, protocol: str) -> dict[str, Bed]:
    """Test, and scenario where asked for, like the session's own data but for the salt."""
    ticks = getattr(store, "record", {}).get("max_ticks")
    sizes = {"test": asked.episodes, "scenario": asked.scenarios}
    beds = {}
    for split, count in sizes.items():
        if count:
            played = held_out_store(store.game, split, count, folder=asked.home, max_ticks=ticks)
            beds[split] = held_out_bed(played, split, protocol, asked.home)
    return beds


def admitting(folder: Path) -> Admit:
    """Admits what a scored run in the session's ledger made: code, config and weights together."""
    known = made_by(folder)

    def admit(copied: Copied) -> str:
        config = json.dumps(read_json(copied.folder / "config.json"), sort_keys=True)
        key = (copied.hashes["train.py"], config, copied.hashes.get("weights.safetensors", ""))
        if key in known:
            return ""
        if any(code == key[0] for code, _, _ in known):
            return "no run in the ledger made these weights with this code and config"
        return "no run in the ledger had this code"

    return admit


def _again(store: Store, facts: Mapping[str, Any], asked: Asked, scratch: Path) -> Retraining:
    data = scratch / "data"
    write_data(store, data)
    seconds = facts["budget"].get("run_seconds") or math.inf
    limits = Limits(memory=facts["memory"])
    return Retraining(data, float(seconds), asked.seeds, limits)
