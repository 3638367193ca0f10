"""What one session gained: over its starter, of the headroom, beside the luck of seeds."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cosmolabe.arena.analysis.robust import best_of, best_so_far
from cosmolabe.arena.analysis.sessions import HORIZONS, NAN, Session, scores_of

BANDS = ((0.10, "large"), (0.03, "middling"), (0.0, "small"))
"""Gain on test at and above which it has this name; large is the paper's, the middle ours."""
NONE, UNKNOWN = "none", "unknown"
NULL = "null"
"""The agent whose runs are the starter with other seeds."""


@dataclass(frozen=True)
class Start:
    """What the starter of a cell scores before anything is changed."""

    test: float = NAN
    scenario: float = NAN
    parts: Mapping[str, float] = field(default_factory=dict)
    """c1, c10 and c20 on test."""
    seed_sd: float = NAN
    """Standard deviation over trainings of the starter with other seeds, on val."""
    runs: int = 0
    """Trainings of the starter that `seed_sd` is of."""
    source: str = ""


@dataclass(frozen=True)
class Gain:
    """One session in numbers."""

    session: str
    game: str
    model: str
    agent: str
    llm: str
    seed: int
    status: str
    """Of the verdict; "unverified" where there is none."""
    valid: bool
    flags: tuple[str, ...]
    experiments: int
    failed: int
    winner: str
    val: float
    test: float
    scenario: float
    start_test: float
    start_val: float
    delta_test: float
    delta_scenario: float
    delta_val: float
    delta_parts: Mapping[str, float]
    """Gain on test at 1, 10 and 20 steps."""
    band: str
    headroom: float
    """Share of the way from the starter to the stochastic ceiling that was gone."""
    headroom_to_one: float
    """The same with 1 for the ceiling, as where no ceiling is known."""
    gap: float
    """Val − test of what was submitted."""
    gap_in_se: float
    replicated: float
    """Mean of the same code trained again with fresh seeds, on test."""
    replicated_sd: float
    delta_replicated: float
    over_spread: float
    """Gain on test ÷ spread of the starter's seeds."""
    agrees: bool | None
    """Whether test and scenario moved the same way; None where one is unknown."""
    seconds: float
    cpu: float
    tokens: float
    cost: float
    best_of: tuple[float, ...]
    """Expected best of k on val, k = 1, 2, …"""
    over_time: tuple[tuple[float, float], ...]
    """(seconds of experiments until then, best val score)."""
    over_tokens: tuple[tuple[float, float], ...]
    over_cost: tuple[tuple[float, float], ...]

    @property
    def cell(self) -> str:
        """Game and base model."""
        return f"{self.game} / {self.model}"

    @property
    def who(self) -> str:
        """Agent and language model."""
        return f"{self.agent} ({self.llm})" if self.llm else self.agent


def starts_of(sessions: Sequence[Session]) -> dict[str, Start]:
    """The starter's scores of each cell, from the best source there is.

    A verdict on the starter's own checkpoint, else what null sessions of the cell had verified. The
    spread over seeds comes from every unchanged run in the cell, null agents' and others'.
    """
    cells: dict[str, list[Session]] = {}
    for session in sessions:
        cells.setdefault(session.cell, []).append(session)
    return {cell: _start(group) for cell, group in cells.items()}


def _start(group: Sequence[Session]) -> Start:
    sources = (
        ("starter's verdict", [s.starter_verdict for s in group]),
        ("null sessions", [s.verdict for s in group if s.agent == NULL]),
    )
    runs = [one.score for s in group for one in s.starters if math.isfinite(one.score)]
    spread = float(np.std(runs, ddof=1)) if len(runs) > 1 else NAN
    for name, verdicts in sources:
        tests = [scores_of(verdict, "test") for verdict in verdicts]
        if any(math.isfinite(test["composite"]) for test in tests):
            return Start(
                _mean([test["composite"] for test in tests]),
                _mean([scores_of(v, "scenario")["composite"] for v in verdicts]),
                {part: _mean([test[part] for test in tests]) for part in HORIZONS},
                spread,
                len(runs),
                name,
            )
    return Start(seed_sd=spread, runs=len(runs))


def gain_of(session: Session, start: Start) -> Gain:
    """One session beside the starter of its cell."""
    winner, verdict = session.winner, session.verdict
    test, scenario = session.scored("test"), session.scored("scenario")
    scored = [one for one in session.experiments if math.isfinite(one.score)]
    values = [one.score for one in scored]
    val = winner.score if winner else NAN
    start_val = _mean([one.score for one in session.starters])
    delta, delta_scenario = test["composite"] - start.test, scenario["composite"] - start.scenario
    known = math.isfinite(delta) and math.isfinite(delta_scenario)
    again = verdict.get("replicated")
    again = again if isinstance(again, Mapping) else {}
    mean = again.get("mean")
    replicated = float(mean) if isinstance(mean, int | float) else NAN
    spread = again.get("sd")
    own = session.scored("val").get("composite", NAN)
    gap = (own if math.isfinite(own) else val) - test["composite"]
    error = math.hypot(test.get("se", NAN), session.scored("val").get("se", 0.0) or 0.0)
    return Gain(
        session=session.folder.name,
        game=session.game,
        model=session.model,
        agent=session.agent,
        llm=session.llm,
        seed=session.seed,
        status=str(verdict.get("status") or "unverified"),
        valid=verdict.get("valid") is True,
        flags=tuple(str(flag) for flag in verdict.get("flags") or ()),
        experiments=len(session.experiments),
        failed=sum(one.status != "ok" for one in session.experiments),
        winner=winner.name if winner else "",
        val=val,
        test=test["composite"],
        scenario=scenario["composite"],
        start_test=start.test,
        start_val=start_val,
        delta_test=delta,
        delta_scenario=delta_scenario,
        delta_val=val - start_val,
        delta_parts={part: test[part] - start.parts.get(part, NAN) for part in HORIZONS},
        band=band(delta),
        headroom=_share(delta, test.get("ceiling", NAN) - start.test),
        headroom_to_one=_share(delta, 1.0 - start.test),
        gap=gap,
        gap_in_se=_share(gap, error),
        replicated=replicated,
        replicated_sd=float(spread) if isinstance(spread, int | float) else NAN,
        delta_replicated=replicated - start.test,
        over_spread=_share(delta, start.seed_sd),
        agrees=(delta > 0) == (delta_scenario > 0) if known else None,
        seconds=sum(one.wall for one in session.experiments if math.isfinite(one.wall)),
        cpu=sum(one.cpu for one in session.experiments if math.isfinite(one.cpu)),
        tokens=session.tokens,
        cost=session.cost,
        best_of=tuple(float(x) for x in best_of(values)),
        over_time=tuple(best_so_far([one.wall for one in session.experiments], _scores(session))),
        over_tokens=_over(session, "tokens"),
        over_cost=_over(session, "cost"),
    )


def band(delta: float) -> str:
    """The name of a gain on test."""
    if not math.isfinite(delta):
        return UNKNOWN
    named = (name for least, name in BANDS if delta >= least and delta > 0)
    return next(named, NONE)


def bands(gains: Sequence[Gain]) -> dict[str, int]:
    """How many sessions gained how much."""
    counts = Counter(gain.band for gain in gains)
    return {name: counts[name] for name in (*(n for _, n in BANDS), NONE, UNKNOWN)}


def plain_gain(gain: Gain) -> dict[str, Any]:
    """A gain as a row of a record."""
    return {**asdict(gain), "cell": gain.cell, "who": gain.who}


def _scores(session: Session) -> list[float]:
    return [one.score for one in session.experiments]


def _over(session: Session, what: str) -> tuple[tuple[float, float], ...]:
    spent = [getattr(one, what) for one in session.experiments]
    if not any(map(math.isfinite, spent)):
        return ()
    return tuple(best_so_far(spent, _scores(session)))


def _share(part: float, whole: float) -> float:
    return part / whole if math.isfinite(part) and whole > 1e-9 else NAN


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else NAN
