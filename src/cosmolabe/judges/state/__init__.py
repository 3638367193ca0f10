"""The state judge: does the imagined state stay close to the true one, 1, 10 and 20 steps out?

Protocols `state/1` (ours, the default), `state/awm-1` (AutoWorldModel-Bench as published) and the
robustness variants `state/1+noise` …; docs/judges/state.md lists every difference. Nothing of the
future but the actions reaches a model (`core.rollout.Context` cannot hold more).
"""

from cosmolabe.core.judge import JudgePart
from cosmolabe.judges.state.finished import FLOORS, judge
from cosmolabe.judges.state.protocol import CLEAN, PROTOCOLS, ROBUST, RobustProtocol, StateProtocol
from cosmolabe.judges.state.readings import readings_of
from cosmolabe.judges.state.robust import every_of, shown_context, thinned, ticks_of
from cosmolabe.judges.state.scoring import (
    Totals,
    WindowScores,
    aggregate,
    all_once,
    digest_of,
    score,
    scored_slots,
    sound,
)

__all__ = [
    "CLEAN",
    "FLOORS",
    "JUDGE",
    "PROTOCOLS",
    "ROBUST",
    "RobustProtocol",
    "StateProtocol",
    "Totals",
    "WindowScores",
    "aggregate",
    "all_once",
    "digest_of",
    "every_of",
    "judge",
    "readings_of",
    "score",
    "scored_slots",
    "shown_context",
    "sound",
    "thinned",
    "ticks_of",
]

JUDGE = JudgePart(
    name="state",
    summary="Does the imagined state stay close to the true one, 1, 10 and 20 steps out?",
    protocols=PROTOCOLS,
    judge=judge,
)
