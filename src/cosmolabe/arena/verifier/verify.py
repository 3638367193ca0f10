"""The sealed verifier: copy, run the copy apart, ask, score outside; once, and all or nothing."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.arena.sandbox import Box, Enforced, Limits, open_child, scratch_folder
from cosmolabe.arena.verifier import rooms
from cosmolabe.arena.verifier.asking import Answering, Asked, Broken, Patience, ask
from cosmolabe.arena.verifier.copying import Copied, Refused, copy_submission
from cosmolabe.arena.verifier.held_out import Overlap
from cosmolabe.arena.verifier.replicating import (
    Retraining,
    fresh_seeds,
    replicated_of,
    retrain,
    stands_out,
)
from cosmolabe.arena.verifier.scoring import best_floor, better_by, score_on, without
from cosmolabe.arena.verifier.scrambling import scramble
from cosmolabe.arena.verifier.signs import signs_of, spoilt
from cosmolabe.arena.verifier.verdict import Replicated, Score, Verdict
from cosmolabe.bench.bed import Bed
from cosmolabe.bench.driving import CHUNK
from cosmolabe.core.episode import Windows
from cosmolabe.core.record import plain, write_json
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.judges.state import shown_context

TOO_MANY_ERRORS = 3.0
"""Standard errors; a gap between val and test beyond it is told."""
Admit = Callable[[Copied], str]
"""Says why no run in the ledger made these files, or ""."""


@dataclass(frozen=True)
class Verifier:
    """All choices of a verification but what is verified."""

    package: Path
    """Folder of the slim package (`arena.tasks.slim.write_slim`)."""
    level: str = "auto"
    """Rung of the sandbox ladder; `unsafe-local` never gives a valid record."""
    limits: Limits = rooms.ANSWERING
    patience: Patience = field(default_factory=Patience)
    seed: int = 0
    """Of what a model draws in a rollout; `judge` has the same."""
    chunk: int = CHUNK
    gpu: bool = False

    def verify(
        self,
        submission: Path,
        beds: Mapping[str, Bed],
        *,
        admit: Admit | None = None,
        overlaps: Mapping[str, Overlap] | None = None,
        audit: bool = True,
        again: Retraining | None = None,
    ) -> Verdict:
        """Score a submission folder on the beds, `test` among them.

        `admit` refuses what no ledgered run made; windows of `overlaps` are left out; `audit` asks
        once more with scrambled weights, to see whether any learnt number matters; `again` trains
        the code with fresh seeds.
        """
        began = time.monotonic()
        with scratch_folder("verifier") as scratch:
            try:
                copied = self.take(submission, scratch / "submission")
            except Refused as error:
                return Verdict("refused", str(error))
            known: dict[str, Any] = {
                "files": copied.hashes,
                "parameters": copied.parameters,
                "ignored": copied.ignored,
            }
            why = admit(copied) if admit else ""
            if why:
                return Verdict("inadmissible", why, **known)
            beds = {name: _clean(bed, (overlaps or {}).get(name)) for name, bed in beds.items()}
            try:
                asked, enforced = self.ask(copied, beds, scratch)
            except Broken as error:
                return Verdict("verifier_error", str(error), **known)
            verdict = self.judge(beds, asked.predictions, overlaps or {})
            seconds = {"model": asked.waited, "whole": time.monotonic() - began}
            flags = verdict.flags
            if audit:
                start = time.monotonic()
                flags += self.audit(copied, beds, asked.predictions, scratch)
                seconds["audit"] = time.monotonic() - start
            replicated = None
            if again:
                start = time.monotonic()
                replicated = self.replicate(copied, beds, again, scratch)
                if stands_out(verdict.scores["test"], replicated):
                    flags += ("not_replicated",)
                seconds["again"] = time.monotonic() - start
        if not enforced.valid:
            flags += ("unsafe",)
        return replace(
            verdict,
            flags=flags,
            replicated=replicated,
            **known,
            enforced=plain(enforced),
            level=enforced.level,
            seconds=seconds,
            valid=enforced.valid,
        )

    # Each step is a method of its own, so that `arena check` can weaken one and show what for.

    def take(self, submission: Path, target: Path) -> Copied:
        """A copy that nobody can change any more."""
        return copy_submission(submission, target)

    def ask(self, copied: Copied, beds: Mapping[str, Bed], scratch: Path) -> tuple[Asked, Enforced]:
        """The predictions for all windows of all beds, from one fresh sandbox."""
        contexts = {name: self.context(bed) for name, bed in beds.items()}
        manifest = scratch / "manifest.json"
        write_json(manifest, next(iter(beds.values())).store.manifest)
        box, command = self.room(copied, manifest)
        with open_child(box, command, self.level) as child:
            try:
                asked = self.answers(child, contexts)
            except Broken as error:
                child.kill()
                child.wait()
                raise Broken(_with_last_words(str(error), child.said)) from None
        return asked, child.enforced

    def room(self, copied: Copied, manifest: Path) -> tuple[Box, list[str]]:
        """The sandbox, and the command that is run in it."""
        return rooms.answering(copied.folder, self.package, manifest, self.limits, self.gpu)

    def context(self, bed: Bed) -> Context:
        """What a submission is shown of a bed: nothing of the future but the actions."""
        return shown_context(bed.windows, bed.protocol)

    def answers(self, process: Answering, contexts: Mapping[str, Context]) -> Asked:
        """All predictions, through the pipe."""
        return ask(process, contexts, self.seed, self.chunk, self.patience)

    def judge(
        self,
        beds: Mapping[str, Bed],
        predictions: Mapping[str, Prediction],
        overlaps: Mapping[str, Overlap],
    ) -> Verdict:
        """Scores and what the numbers alone tell; truth is here and nowhere else."""
        scores = {name: score_on(bed, predictions[name])[0] for name, bed in beds.items()}
        flags: dict[str, None] = {}
        for name, bed in beds.items():
            why = spoilt(predictions[name], bed.windows)
            flags |= dict.fromkeys(signs_of(predictions[name], bed.windows, bed.protocol, why))
        if _is_gap(scores.get("val"), scores["test"]):
            flags["val_test_gap"] = None
        told = {name: one.told for name, one in overlaps.items()}
        return Verdict("ok", "", tuple(flags), scores, overlap=told)

    def audit(
        self,
        copied: Copied,
        beds: Mapping[str, Bed],
        predictions: Mapping[str, Prediction],
        scratch: Path,
    ) -> tuple[str, ...]:
        """`analytic` where the test goes better than the floor and the weights do not matter."""
        bed, found = beds["test"], predictions["test"]
        _, mine = score_on(bed, found)
        gap, error = better_by(mine, best_floor(bed), bed)
        if not gap > max(TOO_MANY_ERRORS * np.nan_to_num(error), 1e-9):  # in doubt it is asked
            return ()
        return ("analytic",) if self._unmoved(copied, bed, found, scratch) else ()

    def replicate(
        self, copied: Copied, beds: Mapping[str, Bed], again: Retraining, scratch: Path
    ) -> Replicated:
        """The score on test of the same code, trained with fresh seeds."""
        seeds, scores, failed = fresh_seeds(again.seeds), {}, []
        for seed in seeds:
            try:
                target = scratch / f"again-{seed}"
                other = retrain(copied, self.package, again, seed, target, self.level, self.gpu)
                asked, _ = self.ask(other, {"test": beds["test"]}, scratch)
            except (Refused, Broken) as error:
                failed.append(str(error))
                continue
            scores[seed] = score_on(beds["test"], asked.predictions["test"])[0].composite
        return replicated_of(seeds, scores, tuple(failed))

    def _unmoved(self, copied: Copied, bed: Bed, found: Prediction, scratch: Path) -> bool:
        """Whether other weights give the same predictions, to the bit."""
        if not copied.parameters:
            return True
        other = replace(copied, folder=scratch / "scrambled")
        scramble(copied.folder, other.folder)
        rows = np.minimum(np.arange(self.chunk), len(bed.windows) - 1)
        few = replace(bed, windows=_rows(bed.windows, rows))
        try:
            asked, _ = self.ask(other, {"test": few}, scratch)
        except Broken:
            return False
        return np.array_equal(asked.predictions["test"].states, found.states[rows], equal_nan=True)


def _with_last_words(error: str, said: str) -> str:
    """The error and the last line the submission wrote to stderr, which is its own to choose."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"{error}; it said: {lines[-1][:200]!r}" if lines else error


def _rows(windows: Windows, rows: np.ndarray) -> Windows:
    names = ("registry", "states", "actions", "globals", "terminal", "episodes", "starts")
    parts: dict[str, Any] = {name: getattr(windows, name)[rows] for name in names}
    return Windows(**parts, masks=windows.masks.take(rows))


def _clean(bed: Bed, found: Overlap | None) -> Bed:
    if found is None or not found.windows:
        return bed
    if found.rows.all():
        raise ValueError(
            "every window of the test lies in the session's data; play test episodes under a "
            "salt of their own"
        )
    return without(bed, found.rows)


def _is_gap(val: Score | None, test: Score) -> bool:
    if val is None:
        return False
    return val.composite - test.composite > TOO_MANY_ERRORS * float(np.hypot(val.se, test.se))
