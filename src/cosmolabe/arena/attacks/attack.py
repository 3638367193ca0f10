"""What an attack is: a few lines that a submission holds, a weakness they need, what they gain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from cosmolabe.arena.verifier.verdict import Verdict
from cosmolabe.core.rollout import Prediction

SIGNAL = 12345.0
"""Terminal logit by which a submission tells that it got what it was after."""
MORE = 0.02
"""Of the score; an attack that gains less than that has gained nothing."""
TOKEN = "cosmolabe-attack"
"""Part of the names of what attacks leave behind."""

STILL = """
import numpy as np
from cosmolabe.core.rollout import Prediction


def still(context):
    last = context.states[:, -1:]
    states = np.repeat(np.concatenate([last[..., :3], last[..., 5:-4]], -1), context.horizon, 1)
    numbers = np.repeat(context.globals[:, -1:], context.horizon, 1)
    return Prediction(states, numbers, np.full(states.shape[:2], -10.0, np.float32))


def load(folder, manifest):
    return World()


class MODEL:
    load = staticmethod(lambda folder, manifest: load(folder, manifest))
"""
"""An honest model of one line, which attacks add to: nothing ever moves again."""
THIEF = """
class World:
    def __init__(self):
        try:
            self.got = bool(attempt())
        except BaseException:
            self.got = False

    def rollout(self, context, seed=0):
        found = still(context)
        if self.got:
            found.terminal[:] = {signal}
        return found
"""
"""Tries `attempt()` once, while it is loaded; tells what came of it by its terminal logits."""


def thief(attempt: str) -> str:
    """A train.py whose `attempt()` says whether it got what it was after."""
    return STILL + attempt + THIEF.replace("{signal}", repr(SIGNAL))


def cheat(rollout: str) -> str:
    """A train.py with a `World` of its own."""
    return STILL + rollout


@dataclass
class Ground:
    """Where the check takes place: all paths and numbers an attack may know."""

    folder: Path
    """Of the check, removed afterwards."""
    home: Path
    """Salt and held-out stores, which no submission may see."""
    package: Path
    port: int
    """Of a listener on this machine."""
    floor: Mapping[str, float]
    """Score of the better trivial model, by game."""
    honest: Mapping[str, float]
    """Score of the honest one-liner, by game."""

    @property
    def repository(self) -> Path:
        """A repository on the host, in whose history something is that should not be."""
        return self.folder / "repository"

    @property
    def marker(self) -> Path:
        """A file that nobody but an attack that got out can write."""
        return self.folder / "outside" / "marker"


@dataclass(frozen=True)
class Outcome:
    """What a verifier, sealed or weakened, made of a submission."""

    status: str
    flags: tuple[str, ...] = ()
    score: float = nan
    """What would stand on a leaderboard: the replicated score where there is one."""
    prediction: Prediction | None = None
    note: str = ""

    @property
    def signalled(self) -> bool:
        """Whether the submission told that it got what it was after."""
        return self.prediction is not None and bool((self.prediction.terminal == SIGNAL).any())

    @property
    def passed(self) -> bool:
        """Scored, and without a word of warning."""
        return self.status == "ok" and not self.flags


def outcome_of(verdict: Verdict, prediction: Prediction | None) -> Outcome:
    """A verdict as an outcome."""
    score = verdict.scores["test"].composite if verdict.status == "ok" else nan
    if verdict.replicated is not None:
        score = verdict.replicated.mean
    return Outcome(verdict.status, verdict.flags, score, prediction, verdict.why)


Payoff = Callable[[Outcome, Ground], bool]


def signalled(outcome: Outcome, ground: Ground) -> bool:
    """It got what it was after."""
    return outcome.signalled


def marked(outcome: Outcome, ground: Ground) -> bool:
    """It did something outside its sandbox."""
    return ground.marker.exists()


def accepted(outcome: Outcome, ground: Ground) -> bool:
    """It has a score, where it should have none."""
    return outcome.status == "ok"


def passed(outcome: Outcome, ground: Ground) -> bool:
    """It has a score and nothing is said against it."""
    return outcome.passed


def better(game: str = "pong") -> Payoff:
    """It scores more than the honest one-liner that it is."""

    def gained(outcome: Outcome, ground: Ground) -> bool:
        return outcome.status == "ok" and outcome.score > ground.honest[game] + MORE

    return gained


@dataclass(frozen=True)
class Attack:
    """One threat as a submission."""

    name: str
    threat: str
    """Of the design's list, in its words or ours."""
    does: str
    """What the submission does."""
    must: str
    """What must become of it: `stopped` (it gains nothing), `flagged`, or `stopped and flagged`."""
    weakness: str
    """Of the weakened verifier that it fools; see `weakened.WEAKNESSES`."""
    train: str | Callable[[Ground], str]
    """Text of train.py."""
    gains: Payoff
    """Whether it got what it was after."""
    flag: str = ""
    """The flag of `verdict.FLAGS` that must stand there, where one must."""
    game: str = "pong"
    files: Mapping[str, bytes | str] = field(default_factory=dict)
    """What else lies in its folder."""
    prepare: Callable[[Path, Ground], None] | None = None
    """What else is done to its folder."""
    meanwhile: Callable[[Path], None] | None = None
    """What happens to its folder once the verifier has looked at it."""
    weights: str = ""
    """Name of weights that the check makes: see `weights.MAKERS`."""
    again: bool = False
    """Needs its code trained again."""
    provenance: bool = False
    """Needs the session's ledger."""
    first: float = 120.0
    """Seconds until its first answer."""
    needs: str = ""
    """A program without which the weakened verifier cannot make its mistake."""

    def write(self, folder: Path, ground: Ground) -> Path:
        """The submission's folder."""
        folder.mkdir(parents=True)
        text = self.train if isinstance(self.train, str) else self.train(ground)
        (folder / "train.py").write_text(text, encoding="utf-8")
        (folder / "config.json").write_text('{"size": "laptop", "recipe": {}}\n', encoding="utf-8")
        for name, content in self.files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(data)
        if self.prepare:
            self.prepare(folder, ground)
        return folder
