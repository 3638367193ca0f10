"""One experiment: train what was proposed in a sandbox of its own, then score what it left on val.

Everything that counts is done outside: the code is kept before it runs, the weights are copied out
and hashed, and the score comes from predictions alone, as the sealed verifier's does.
"""

import hashlib
import json
import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cosmolabe.arena.sandbox import Limits, run, scratch_folder
from cosmolabe.arena.tasks.slim import covering
from cosmolabe.arena.verifier import rooms
from cosmolabe.arena.verifier.asking import Broken, Patience
from cosmolabe.arena.verifier.copying import Refused, copy_submission
from cosmolabe.arena.verifier.scoring import score_on
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.bench.bed import Bed
from cosmolabe.core.agent import Proposal
from cosmolabe.core.record import plain, write_json

TRAIN, CONFIG, WEIGHTS = "train.py", "config.json", "weights.safetensors"
SUBMISSION = (TRAIN, CONFIG, WEIGHTS)
VAL = ("c1", "c10", "c20", "composite", "skill")
NO_SCORE: Mapping[str, float] = dict.fromkeys(VAL, math.nan)
LONGEST_CODE = 2 << 20  # bytes of train.py
LONGEST_CONFIG = 256 << 10  # bytes of config.json


@dataclass(frozen=True)
class Rules:
    """What holds for every experiment of a session."""

    task: Path
    """The task folder: package and data are taken from it."""
    level: str = "auto"
    """Rung of the sandbox ladder."""
    limits: Limits = field(default_factory=Limits)
    gpu: bool = False


@dataclass(frozen=True)
class Trained:
    """How a training ended."""

    status: str
    """ok, failed, timeout, no_weights."""
    exit: int
    wall: float
    cpu: float
    killed: str
    weights_hash: str
    enforced: Mapping[str, Any]


@dataclass(frozen=True)
class Scored:
    """What a checkpoint got on val."""

    status: str
    """ok or invalid."""
    val: Mapping[str, float]
    wall: float
    why: str = ""


def check(proposal: Proposal) -> None:
    """Refuse what no training could be started with."""
    if len(proposal.train.encode("utf-8", "backslashreplace")) > LONGEST_CODE:
        raise ValueError(f"train.py may have {LONGEST_CODE} bytes at most")
    if not isinstance(proposal.config, Mapping):
        raise ValueError(f"config.json holds an object; got {type(proposal.config).__name__}")
    if len(json.dumps(plain(proposal.config))) > LONGEST_CONFIG:
        raise ValueError(f"config.json may have {LONGEST_CONFIG} bytes at most")


def code_hash(proposal: Proposal) -> str:
    """sha256 of train.py as it is written."""
    return hashlib.sha256(_text(proposal)).hexdigest()


def train(
    folder: Path, proposal: Proposal, seed: int, seconds: int | float, rules: Rules
) -> Trained:
    """Run a proposal in the new folder of an experiment; the weights, if any, end up there."""
    folder.mkdir(parents=True)
    _write(folder, proposal)
    (folder / "note.md").write_text(proposal.note + "\n", "utf-8", "backslashreplace")
    with scratch_folder("work") as scratch:
        work = scratch / "work"
        work.mkdir(mode=0o777)
        _write(work, proposal)
        limits = replace(rules.limits, wall=max(seconds, 0.1))
        data, package = rules.task / "data", rules.task / "package"
        box, command = rooms.training(work, package, data, seed, limits, rules.gpu)
        box = replace(box, readable=(*box.readable, *covering(package)))
        ended = run(box, command, level=rules.level, log=folder / "log.txt")
        weights = _take_weights(work, scratch / "taken", folder)
    status = (
        "timeout"
        if ended.killed in ("wall", "cpu")
        else "failed"
        if ended.code or ended.killed
        else "ok"
        if weights
        else "no_weights"
    )
    if status != "ok":
        (folder / WEIGHTS).unlink(missing_ok=True)
        weights = ""
    return Trained(
        status, ended.code, ended.wall, ended.cpu, ended.killed, weights, plain(ended.enforced)
    )


def score(folder: Path, bed: Bed, rules: Rules, seconds: int | float) -> Scored:
    """Score the checkpoint of an experiment on val, as the verifier will on test."""
    began = time.monotonic()
    patience = Patience(first=seconds, each=seconds, whole=seconds)
    limits = replace(rooms.ANSWERING, wall=seconds + 5)
    verifier = Verifier(rules.task / "package", rules.level, limits, patience, gpu=rules.gpu)
    with scratch_folder("val") as scratch:
        try:
            copied = verifier.take(folder, scratch / "submission")
            asked, _ = verifier.ask(copied, {"val": bed}, scratch)
        except (Broken, Refused) as error:
            return Scored("invalid", NO_SCORE, time.monotonic() - began, str(error))
    found, _ = score_on(bed, asked.predictions["val"])
    val = {name: float(getattr(found, name)) for name in VAL}
    status = "ok" if math.isfinite(val["composite"]) else "invalid"
    return Scored(status, val, time.monotonic() - began)


def _text(proposal: Proposal) -> bytes:
    return proposal.train.encode("utf-8", "backslashreplace")


def _write(folder: Path, proposal: Proposal) -> None:
    (folder / TRAIN).write_bytes(_text(proposal))
    write_json(folder / CONFIG, dict(proposal.config))


def _take_weights(work: Path, scratch: Path, folder: Path) -> str:
    """Copy the weights out of reach: a plain file of a sensible size, or none at all."""
    try:
        copied = copy_submission(work, scratch)
    except Refused:
        return ""
    if WEIGHTS not in copied.hashes:
        return ""
    shutil.copyfile(copied.folder / WEIGHTS, folder / WEIGHTS)
    return copied.hashes[WEIGHTS]
