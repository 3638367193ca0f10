"""What the verifier says about a submission: one JSON file, complete or not there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

from cosmolabe.core.record import versions

SCHEMA = 1
STATUSES = {
    "ok": "scored",
    "refused": "the files of the submission are not taken; nothing of them was run",
    "inadmissible": "no run in the ledger made these weights with this code",
    "verifier_error": "the submission did not answer as the protocol asks; there is no score",
}
FLAGS = {
    "invalid_predictions": "numbers that are not finite, or far outside any world: those windows "
    "score 0",
    "ignores_context": "the same states are imagined whatever was shown",
    "everyone_alive": "nobody is ever imagined dead, though some of those shown are",
    "nobody_alive": "nobody is ever imagined alive, though some of those shown are",
    "analytic": "better than what moves on by itself, and no learnt number matters to it: a "
    "simulator written by hand (allowed, and told)",
    "val_test_gap": "better on val than on test by more than 3 standard errors",
    "not_replicated": "better than every training of the same code with a fresh seed, by more than "
    "3 standard deviations; or such a training fails",
    "unsafe": "run without a sandbox, so the record is not valid",
}
"""What is told beside a score, and never changes it."""


@dataclass(frozen=True)
class Score:
    """How a submission does on one set of windows; skill and intervals as the state judge has."""

    c1: float = nan
    c10: float = nan
    c20: float = nan
    composite: float = nan
    """0.1 c1 + 0.2 c10 + 0.7 c20."""
    low: float = nan
    high: float = nan
    """95 % interval of `composite`, resampling episodes."""
    se: float = nan
    """Standard error of `composite`, of the same resamples."""
    skill: float = nan
    floor: float = nan
    """The better one of `still` and `constant_velocity`, on the same windows."""
    ceiling: float = nan
    windows: int = 0
    invalid: int = 0
    """Windows that score 0 because their prediction cannot be used; they count."""
    protocol: str = ""
    data: str = ""
    """Fingerprints; scores compare where both are equal."""


@dataclass(frozen=True)
class Replicated:
    """The same code trained again, with seeds the agent never saw, on the same test windows."""

    scores: tuple[float, ...]
    seeds: tuple[int, ...]
    mean: float
    sd: float
    se: float
    """Standard error of the mean over seeds."""
    failed: tuple[str, ...] = ()
    """Why trainings left no weights that can be scored; they are in no mean, and flagged."""


@dataclass(frozen=True)
class Verdict:
    """The verifier's whole answer."""

    status: str
    """One of `STATUSES`; only `ok` has scores."""
    why: str = ""
    flags: tuple[str, ...] = ()
    """Of `FLAGS`."""
    scores: Mapping[str, Score] = field(default_factory=dict)
    """By name of the windows: test, val, scenario."""
    replicated: Replicated | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """sha256 of what was run."""
    parameters: int = 0
    ignored: tuple[str, ...] = ()
    """Other files that lay in the submission's folder; nothing looks at them."""
    overlap: Mapping[str, Any] = field(default_factory=dict)
    """What the drawn windows had in common with the session's data; such windows were left out."""
    enforced: Mapping[str, str] = field(default_factory=dict)
    """What held the sandbox; see `sandbox.Enforced`."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """`model`: waited for its answers, starting included; `verifier`: all else."""
    level: str = ""
    valid: bool = False
    """Whether the record may stand beside others: scored, and in a sandbox."""
    ledger: str = ""
    """Hash of the newest line of the session's ledger, and so of them all."""
    versions: Mapping[str, str] = field(default_factory=versions)
    schema: int = SCHEMA

    @property
    def reward(self) -> float:
        """Composite on test; 0 where there is no score, for a learner that needs a number."""
        return self.scores["test"].composite if self.status == "ok" else 0.0
