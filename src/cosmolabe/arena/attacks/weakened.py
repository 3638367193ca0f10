"""Verifiers with one mistake each, so that an attack can be seen to work before it is stopped.

Every mistake was made by somebody in public. They live here alone: nothing outside `arena check`
imports this file, and no setting of the sealed verifier leads to it.
"""

import contextlib
import json
import multiprocessing
import pickle
import runpy
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.arena.attacks.attack import Attack, Ground, Outcome, outcome_of
from cosmolabe.arena.attacks.reading import SOURCE
from cosmolabe.arena.sandbox import Box, Child, Enforced, Limits
from cosmolabe.arena.sandbox.start import Local
from cosmolabe.arena.verifier import rooms, scoring
from cosmolabe.arena.verifier.asking import Answering, Asked, Broken, Patience, ask
from cosmolabe.arena.verifier.copying import Copied, copy_submission
from cosmolabe.arena.verifier.verdict import Score, Verdict
from cosmolabe.arena.verifier.verify import Verifier
from cosmolabe.bench.bed import Bed
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.rollout import Context, Prediction
from cosmolabe.judges.state import scored_slots

KEY = "COSMOLABE_FAKE_API_KEY"
LAX = Limits(wall=60.0, memory=16 << 30, processes=4096, file_bytes=8 << 30, disk=64 << 30)


@dataclass(frozen=True)
class Watched(Verifier):
    """The sealed verifier, with the predictions kept for whoever checks it."""

    seen: dict[str, Prediction] = field(default_factory=dict)

    def ask(self, copied: Copied, beds: Mapping[str, Bed], scratch: Path) -> tuple[Asked, Enforced]:
        """As it is; what came back first is kept."""
        asked, enforced = super().ask(copied, beds, scratch)
        if not self.seen:
            self.seen.update(asked.predictions)
        return asked, enforced


@dataclass(frozen=True)
class Weakened(Watched):
    """One with a mistake; `run` gives what it makes of a submission."""

    ground: Ground | None = None
    attack: Attack | None = None

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """Verify, without the ledger and without training again."""
        verdict = self.verify(submission, self.beds(beds))
        return outcome_of(verdict, self.seen.get("test"))

    def beds(self, beds: Mapping[str, Bed]) -> Mapping[str, Bed]:
        """What it scores on."""
        return beds

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """What it takes for the score; NaN: what the sealed one says."""
        return float("nan")

    def judge(self, beds: Any, predictions: Any, overlaps: Any) -> Verdict:  # noqa: ANN401
        """The sealed one's verdict, with this one's score and without its flags."""
        verdict = super().judge(beds, predictions, overlaps)
        mine = self.scores(beds, predictions)
        if np.isnan(mine):
            return verdict
        scores = {**verdict.scores, "test": replace(verdict.scores["test"], composite=mine)}
        return replace(verdict, scores=scores, flags=())

    def audit(self, copied: Any, beds: Any, predictions: Any, scratch: Any) -> tuple[str, ...]:  # noqa: ANN401
        """None; it is what some attacks are flagged by."""
        return ()


class Unboxed(Weakened):
    """Runs a submission as any other program of this user."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """As above, on the last rung of the ladder."""
        other = replace(self, level="unsafe-local", limits=LAX)
        return Weakened.run(other, submission, beds)


class WritablePackage(Unboxed):
    """Lets a submission write where others import from."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """On a copy of the package, so that the check can go on."""
        assert self.ground is not None
        copy = self.ground.folder / "package-of-the-weakened"
        shutil.copytree(self.package, copy)
        return Unboxed.run(replace(self, package=copy), submission, beds)


class WholePackage(Weakened):
    """Hands out the package with the games in it."""

    def room(self, copied: Copied, manifest: Path) -> tuple[Box, list[str]]:
        """The whole package where the slim one should lie."""
        return rooms.answering(copied.folder, Path(SOURCE), manifest, self.limits)


class WholeEnvironment(Weakened):
    """Hands its own environment on."""

    def room(self, copied: Copied, manifest: Path) -> tuple[Box, list[str]]:
        """A key among it."""
        box, command = super().room(copied, manifest)
        return replace(box, env={**box.env, KEY: "sk-0123456789"}), command


class LeakyDescriptors(Weakened):
    """Leaves a file open that only it may read."""

    def ask(self, copied: Copied, beds: Mapping[str, Bed], scratch: Path) -> tuple[Asked, Enforced]:
        """Started by hand, with one descriptor too many."""
        manifest = scratch / "manifest.json"
        from cosmolabe.core.record import write_json

        write_json(manifest, next(iter(beds.values())).store.manifest)
        secret = scratch / "secret"
        secret.write_text("secret")
        words = [sys.executable, "-I", "-B", str(rooms.predict.__file__)]
        words += [str(copied.folder), str(self.package), str(manifest)]
        with secret.open("rb") as file:

            def start(stdout: Any, stderr: Any) -> Local:  # noqa: ANN401
                process = subprocess.Popen(
                    words, stdin=subprocess.PIPE,
                    bufsize=0, stdout=stdout, stderr=stderr, env=rooms.environment(),
                    pass_fds=[file.fileno()], start_new_session=True,
                )  # fmt: skip
                return Local(process, Enforced("unsafe-local"))

            with Child(start, LAX, ()) as child:
                asked = self.answers(child, {k: self.context(bed) for k, bed in beds.items()})
        self.seen.update(asked.predictions)
        return asked, Enforced("unsafe-local")


class EnvironmentFromConfig(Weakened):
    """Takes variables from the submission, and an interpreter that heeds them."""

    def take(self, submission: Path, target: Path) -> Copied:
        """The whole folder."""
        return whole_folder(submission, target)

    def room(self, copied: Copied, manifest: Path) -> tuple[Box, list[str]]:
        """Without -I."""
        box, command = super().room(copied, manifest)
        told = json.loads((copied.folder / "config.json").read_text()).get("env", {})
        return replace(box, env={**box.env, **told}), [w for w in command if w != "-I"]


class WholeWindows(Weakened):
    """Hands out states after the context."""

    def context(self, bed: Bed) -> Context:
        """All 28 states, and actions enough for 20 more."""
        windows = bed.windows
        actions = np.concatenate([windows.actions, windows.actions[:, -bed.protocol.horizon :]], 1)
        return Context(windows.registry, windows.states, windows.globals, actions, windows.masks)


class FutureGlobals(WholeWindows):
    """Hands out the globals of the steps to predict."""

    def context(self, bed: Bed) -> Context:
        """Globals of all 28 states, states of 8."""
        whole, seen = super().context(bed), bed.protocol.window
        states = whole.states.copy()
        states[:, seen:] = states[:, seen - 1 : seen]
        return replace(whole, states=states)


class Overlapping(Weakened):
    """Cuts windows one after another from the same episodes, in file order."""

    def beds(self, beds: Mapping[str, Bed]) -> Mapping[str, Bed]:
        """Every fourth state begins a window."""
        store = beds["test"].store
        numbers = np.repeat(store.split("test")[:4], 16)
        starts = np.tile(np.arange(16) * 4, 4)
        keep = starts + 28 <= store.lengths[numbers]
        return {"test": scoring.bed_of(beds["test"], numbers[keep], starts[keep])}


class ScoresVal(Weakened):
    """Takes the score of val for the score."""

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """Of val."""
        return scoring.score_on(beds["val"], predictions["val"])[0].composite


class PublicSalt(Weakened):
    """Plays test episodes that everybody can play."""

    def beds(self, beds: Mapping[str, Bed]) -> Mapping[str, Bed]:
        """Windows of the public store's test."""
        return {"test": beds["public"]}


class InProcess(Weakened):
    """Imports a submission into the process that holds the truth."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """In a fork, so that the check itself stays whole."""
        ours, theirs = multiprocessing.Pipe(duplex=False)
        context: Any = multiprocessing.get_context("fork")
        process = context.Process(target=self._inside, args=(submission, beds["test"], theirs))
        process.start()
        theirs.close()
        with contextlib.suppress(EOFError):
            score = ours.recv()
            process.join()
            return Outcome("ok", (), score)
        process.join()
        return Outcome("verifier_error")

    def _inside(self, submission: Path, bed: Bed, answer: Any) -> None:  # noqa: ANN401
        model = runpy.run_path(str(submission / "train.py"))["MODEL"].load(submission, None)
        found = model.rollout(bed.windows.context(bed.protocol.window))
        answer.send(float(self.measured(bed, found)))
        answer.close()

    def measured(self, bed: Bed, found: Prediction) -> float:
        """The score, as the process that holds the submission finds it."""
        return scoring.score_on(bed, found)[0].composite


class ToldByItsProcess(InProcess):
    """Believes the report that the submission's process writes."""

    def measured(self, bed: Bed, found: Prediction) -> float:
        """As JSON, as such reports are."""
        report = json.dumps({"composite": float(super().measured(bed, found))})
        return json.JSONDecoder().decode(report)["composite"]


class MeasuredByTorch(InProcess):
    """Measures with torch, in the submission's process."""

    def measured(self, bed: Bed, found: Prediction) -> float:
        """1 - 4 L1 of all places."""
        import torch

        true = bed.windows.states[:, bed.protocol.window :, :, :2]
        said = torch.from_numpy(np.array(found.states[..., :2]))
        return 1 - 4 * float(torch.nn.functional.l1_loss(said, torch.from_numpy(np.array(true))))


class Unpickles(Weakened):
    """Opens weights with pickle."""

    def take(self, submission: Path, target: Path) -> Copied:
        """As torch.load did for years."""
        pickle.loads((submission / "weights.safetensors").read_bytes())
        return copy_submission(submission, target)


class FollowsLinks(Weakened):
    """Copies with whatever links lead to, of any size."""

    def take(self, submission: Path, target: Path) -> Copied:
        """As `cp -r` does."""
        return whole_folder(submission, target)


class OpensAnything(Weakened):
    """Opens what it finds without looking at what it is."""

    def take(self, submission: Path, target: Path) -> Copied:
        """Marks where it would hang for ever."""
        assert self.ground is not None
        path = submission / "config.json"
        reader = threading.Thread(target=path.read_bytes, daemon=True)
        reader.start()
        reader.join(1.0)
        if reader.is_alive():
            self.ground.marker.touch()
            path.write_bytes(b"{}")  # lets the reader go
            reader.join()
        return copy_submission(submission, target)


class CopiesWhatIsNamed(Weakened):
    """Lets a submission say which files are its own."""

    def take(self, submission: Path, target: Path) -> Copied:
        """The names in config.json, wherever they lead."""
        copied = copy_submission(submission, target)
        for name in json.loads((submission / "config.json").read_text()).get("files", []):
            if not (target / Path(name).name).exists():
                shutil.copyfile(submission / name, target / Path(name).name)
        return copied


class ScorerInItsFolder(Weakened):
    """Starts its scorer in the submission's folder."""

    before = ""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """Whose modules it then imports."""
        code = f"{self.before}\nimport json; print(json.dumps({{'composite': 0.5}}))"
        told = subprocess.run(
            [sys.executable, "-B", "-c", code], cwd=submission, capture_output=True, check=False
        )
        return Outcome("ok", (), json.loads(told.stdout)["composite"])


class ScorerTakesItsSite(ScorerInItsFolder):
    """Takes the submission's folder up as a site, so that what lies there can be imported."""

    before = "import site; site.addsitedir('.')"


class ScorerIsATestRun(ScorerInItsFolder):
    """Scores by a test run in the submission's folder; first comes conftest.py, as pytest does."""

    before = "import os, runpy\nif os.path.exists('conftest.py'): runpy.run_path('conftest.py')"


class AsksGit(Weakened):
    """Asks git what was changed in a submission."""

    def take(self, submission: Path, target: Path) -> Copied:
        """Git heeds the settings that lie there."""
        words = ["git", "-C", str(submission), "status", "--porcelain"]
        subprocess.run(words, capture_output=True, check=False)
        return copy_submission(submission, target)


class HashesThenRuns(Weakened):
    """Hashes a submission where it lies, and copies it later."""

    def take(self, submission: Path, target: Path) -> Copied:
        """In between, anything may happen."""
        before = copy_submission(submission, target.with_name("hashed"))
        assert self.attack is not None
        assert self.attack.meanwhile is not None
        self.attack.meanwhile(submission)
        return replace(copy_submission(submission, target), hashes=before.hashes)


class HorizonsFromConfig(Weakened):
    """Scores the steps that the submission wants scored."""

    def judge(self, beds: Any, predictions: Any, overlaps: Any) -> Verdict:  # noqa: ANN401
        """Only one asks for one."""
        verdict = super().judge(beds, predictions, overlaps)
        test = verdict.scores["test"]
        return replace(verdict, scores={"test": replace(test, composite=test.c1)}, flags=())


class WindowsFromConfig(Weakened):
    """Scores the windows of a cache that the submission names."""

    def take(self, submission: Path, target: Path) -> Copied:
        """The cache, too."""
        copied = copy_submission(submission, target)
        name = json.loads((submission / "config.json").read_text())["cache"]
        rows = np.load(submission / name, allow_pickle=False)
        object.__setattr__(self, "rows", rows)
        return copied

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """On those rows."""
        out = np.ones(len(beds["test"].windows), bool)
        out[getattr(self, "rows")] = False  # noqa: B009 - set in `take`
        return on_the_rest(beds["test"], predictions["test"], out)


class LeavesOut(Weakened):
    """Leaves windows without numbers out of the mean."""

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """As `nanmean` does."""
        found = predictions["test"]
        lost = np.asarray(~np.isfinite(found.states).all((1, 2, 3)))
        return on_the_rest(beds["test"], found, lost)


class WhatCame(LeavesOut):
    """Scores what came until the submission ended."""

    def answers(self, process: Answering, contexts: Mapping[str, Context]) -> Asked:
        """One byte after another; the rest is missing."""
        lost = {name: _nothing(context) for name, context in contexts.items()}
        context, states = contexts["test"], lost["test"].states
        single = states[0].nbytes
        with contextlib.suppress(EOFError, TimeoutError):
            from cosmolabe.arena.verifier.wire import frame_of

            data = process.exchange(frame_of(context.take(slice(0, self.chunk)), 0), single, 20.0)
            states[0] = np.frombuffer(data, np.float32).reshape(states[0].shape)
        return Asked(lost, 0.0)


class IgnoresExtra(Weakened):
    """Reads as many bytes as it needs, and asks no further."""

    def answers(self, process: Answering, contexts: Mapping[str, Context]) -> Asked:
        """Whatever follows is the next answer, or none."""
        return ask(_NoEnd(process), contexts, self.seed, self.chunk, Patience(20.0, 20.0, 40.0))


class DropsLate(LeavesOut):
    """Scores the chunks that were in time."""

    def answers(self, process: Answering, contexts: Mapping[str, Context]) -> Asked:
        """The others are left out."""
        kept = _Remembering(process)
        with contextlib.suppress(Broken):
            return ask(kept, {"test": contexts["test"]}, self.seed, self.chunk, self.patience)
        found = _nothing(contexts["test"])
        size = found.states[: self.chunk].nbytes
        for number, data in enumerate(kept.answers):
            part = np.frombuffer(data[:size], np.float32)
            rows = slice(number * self.chunk, (number + 1) * self.chunk)
            found.states[rows] = part.reshape(found.states[rows].shape)
        return Asked({"test": found}, 0.0)

    def beds(self, beds: Mapping[str, Bed]) -> Mapping[str, Bed]:
        """Test alone."""
        return {"test": beds["test"]}


class LazyClock(Weakened):
    """Begins to count when the submission has been imported."""

    def answers(self, process: Answering, contexts: Mapping[str, Context]) -> Asked:
        """As if starting up took no time."""
        return ask(process, contexts, self.seed, self.chunk, Patience(60.0, 20.0, 80.0))


class FallsBack(Weakened):
    """Takes the best row of a table where the submission fails."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """The submission's own table."""
        outcome = super().run(submission, beds)
        if outcome.status == "ok":
            return outcome
        rows = (submission / "summary.tsv").read_text().splitlines()[1:]
        return Outcome("ok", (), max(float(row.split("\t")[3]) for row in rows))


class BelievesAFile(Weakened):
    """Takes the best score so far from a file in the folder."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """If it is better."""
        outcome = super().run(submission, beds)
        told = float((submission / ".best_score").read_text())
        return replace(outcome, score=max(told, outcome.score))


class Folds(Weakened):
    """Folds any distance round the world, however large."""

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """D - floor(d + 1/2), which is 0 for 1e38."""
        bed, found = beds["test"], predictions["test"]
        part = slice(bed.protocol.window, None)
        true = bed.windows.states[:, part, :, :2]
        gap = true - found.states[..., :2]
        states = found.states.copy()
        states[..., :2] = true - (gap - np.floor(gap + np.float32(0.5)))
        return scoring.score_on(bed, replace(found, states=states))[0].composite


class Recall(Weakened):
    """Asks of the living alone whether they were found."""

    wanted = True

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """Hits / (hits + misses)."""
        bed, found = beds["test"], predictions["test"]
        true = bed.windows.states[:, bed.protocol.window :, :, ALIVE] > 0.5
        said = found.states[..., ALIVE] > 0.5
        asked = (true == self.wanted) & scored_slots(bed.windows.masks)[:, None]
        return float((said == true)[asked].mean())


class FindsTheDead(Recall):
    """Asks of the dead alone whether they were found."""

    wanted = False


class CountsTheDead(Weakened):
    """Lets the dead dilute the error of the living."""

    def scores(self, beds: Mapping[str, Bed], predictions: Mapping[str, Prediction]) -> float:
        """The mean goes over all slots."""
        bed = beds["test"]
        other = replace(bed, protocol=replace(bed.protocol, alive_in_truth=False))
        return scoring.score_on(other, predictions["test"])[0].composite


class NoSigns(Weakened):
    """Looks at the score alone."""

    def judge(self, beds: Any, predictions: Any, overlaps: Any) -> Verdict:  # noqa: ANN401
        """No flags."""
        return replace(super().judge(beds, predictions, overlaps), flags=())


class TakesTheMaximum(Weakened):
    """Chooses by `max`, for which nothing is greater than what is no number."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """Python keeps the first."""
        scores = {"001": float("nan"), "002": 0.9}
        return Outcome("ok", note=max(scores, key=lambda name: scores[name]))


class ShowsComments(Weakened):
    """Shows a judge of edits the text as it is."""

    def run(self, submission: Path, beds: Mapping[str, Bed]) -> Outcome:
        """Comments, docstrings and all."""
        return Outcome("ok", note=(submission / "train.py").read_text())


WEAKNESSES: dict[str, Callable[..., Weakened]] = {
    "shows_the_host": Unboxed,
    "no_limits": Unboxed,
    "network_open": Unboxed,
    "ends_only_its_child": Unboxed,
    "package_can_be_written": WritablePackage,
    "whole_package": WholePackage,
    "inherits_environment": WholeEnvironment,
    "leaks_descriptors": LeakyDescriptors,
    "environment_from_config": EnvironmentFromConfig,
    "sends_whole_windows": WholeWindows,
    "sends_future_globals": FutureGlobals,
    "overlapping_windows": Overlapping,
    "scores_val": ScoresVal,
    "public_salt": PublicSalt,
    "in_process": InProcess,
    "unpickles_weights": Unpickles,
    "follows_links": FollowsLinks,
    "no_caps": FollowsLinks,
    "opens_anything": OpensAnything,
    "copies_what_is_named": CopiesWhatIsNamed,
    "scorer_in_its_folder": ScorerInItsFolder,
    "scorer_takes_its_site": ScorerTakesItsSite,
    "scorer_is_a_test_run": ScorerIsATestRun,
    "asks_git": AsksGit,
    "told_by_its_process": ToldByItsProcess,
    "measured_by_torch": MeasuredByTorch,
    "hashes_then_runs": HashesThenRuns,
    "horizons_from_config": HorizonsFromConfig,
    "windows_from_config": WindowsFromConfig,
    "leaves_out_nan": LeavesOut,
    "scores_what_came": WhatCame,
    "ignores_extra_bytes": IgnoresExtra,
    "does_not_wait_for_the_end": IgnoresExtra,
    "drops_late_chunks": DropsLate,
    "clock_starts_late": LazyClock,
    "falls_back_to_a_table": FallsBack,
    "believes_a_score_file": BelievesAFile,
    "folds_any_number": Folds,
    "recall_of_alive": Recall,
    "share_of_dead_found": FindsTheDead,
    "counts_the_dead": CountsTheDead,
    "no_signs": NoSigns,
    "no_audit": Weakened,
    "no_provenance": Weakened,
    "no_replication": Weakened,
    "takes_the_maximum": TakesTheMaximum,
    "shows_comments": ShowsComments,
}
"""What each mistake is made by."""


def whole_folder(submission: Path, target: Path) -> Copied:
    """All that lies there, links followed, whatever its size."""
    shutil.copytree(submission, target, symlinks=False)
    return Copied(target, {}, 0)


def on_the_rest(bed: Bed, found: Prediction, out: np.ndarray) -> float:
    """The score of some of the windows."""
    keep = np.flatnonzero(~out)
    part = Prediction(found.states[keep], found.globals[keep], found.terminal[keep])
    score: Score = scoring.score_on(scoring.without(bed, out), part)[0]
    return score.composite


def _nothing(context: Context) -> Prediction:
    from cosmolabe.arena.verifier.wire import shapes_of

    return Prediction(*(np.full(shape, np.nan, np.float32) for shape in shapes_of(context)))


@dataclass
class _NoEnd:
    """A process that nobody asks whether it has more to say."""

    process: Answering

    def exchange(self, data: bytes | memoryview, size: int, seconds: int | float) -> bytearray:
        return self.process.exchange(data, size, seconds)

    def close_stdin(self) -> None:
        return None

    def more_than_asked(self, seconds: int | float) -> bool:
        return False


@dataclass
class _Remembering(_NoEnd):
    """A process whose answers are kept."""

    answers: list[bytes] = field(default_factory=list)

    def exchange(self, data: bytes | memoryview, size: int, seconds: int | float) -> bytearray:
        found = self.process.exchange(data, size, seconds)
        self.answers.append(bytes(found))
        return found
