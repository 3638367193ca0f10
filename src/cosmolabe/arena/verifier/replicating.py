"""Trains a submission's code again, with seeds nobody could have picked."""

import secrets
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from cosmolabe.arena.sandbox import Limits, run, scratch_folder
from cosmolabe.arena.verifier import rooms
from cosmolabe.arena.verifier.copying import WEIGHTS, Copied, Refused, copy_submission
from cosmolabe.arena.verifier.verdict import Replicated, Score

LEAST_SEEDS = 3
TOO_MUCH = 3.0
"""Standard deviations over seeds (or standard errors of the test, where those are larger)."""


@dataclass(frozen=True)
class Retraining:
    """What the code is trained with again."""

    data: Path
    """The session's train and val episodes."""
    seconds: float
    """Limit of one training, that of the session's experiments."""
    seeds: int = LEAST_SEEDS
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.seeds < LEAST_SEEDS:
            raise ValueError(f"a replicated score needs {LEAST_SEEDS} seeds or more")


def fresh_seeds(count: int) -> tuple[int, ...]:
    """Seeds of the operating system's own randomness; two are never equal."""
    found: dict[int, None] = {}
    while len(found) < count:
        found[secrets.randbits(31)] = None
    return tuple(found)


def retrain(
    copied: Copied,
    package: Path,
    again: Retraining,
    seed: int,
    target: Path,
    level: str = "auto",
    gpu: bool = False,
) -> Copied:
    """The submission with weights that its code made with this seed, in the new folder `target`.

    Raises:
        Refused: The training failed, or left no weights that are taken; says why.
    """
    with scratch_folder("again") as scratch:
        work = scratch / "work"
        work.mkdir(mode=0o777)
        for name in copied.hashes:
            if name != WEIGHTS:
                shutil.copyfile(copied.folder / name, work / name)
        limits = replace(again.limits, wall=again.seconds)
        box, command = rooms.training(work, package, again.data, seed, limits, gpu)
        ended = run(box, command, level=level)
        if ended.killed or ended.code:
            how = f"it was ended ({ended.killed})" if ended.killed else f"exit code {ended.code}"
            raise Refused(f"training with a fresh seed failed: {how}")
        made = copy_submission(work, scratch / "taken")
        if WEIGHTS not in made.hashes:
            raise Refused("training with a fresh seed left no weights")
        # Its own code may have changed what stands beside the weights: only they are taken.
        target.mkdir(mode=0o700)
        for name in copied.hashes:
            source = made if name == WEIGHTS else copied
            shutil.copyfile(source.folder / name, target / name)
    hashes = {**copied.hashes, WEIGHTS: made.hashes[WEIGHTS]}
    return Copied(target, hashes, made.parameters)


def replicated_of(
    seeds: tuple[int, ...], scores: dict[int, float], failed: tuple[str, ...]
) -> Replicated:
    """Mean and spread over the seeds whose training ended."""
    values = np.array([scores[seed] for seed in seeds if seed in scores])
    sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    mean = float(values.mean()) if len(values) else float("nan")
    error = sd / len(values) ** 0.5 if len(values) else float("nan")
    return Replicated(tuple(values.tolist()), seeds, mean, sd, error, failed)


def stands_out(score: Score, again: Replicated) -> bool:
    """Whether the submitted weights are better than chance makes them, or the code fails at all."""
    if again.failed or not again.scores:
        return True
    gap = score.composite - again.mean
    return score.composite > max(again.scores) and gap > TOO_MUCH * max(again.sd, score.se)
