"""Does a scenario test what it says? Every predicate is tried on the truth and on planted changes.

    for row in check_scenarios(load("games", "pong")): print(row)

A predicate must hold in every true continuation, fail where the change it must catch is planted,
hold where something else is changed and where all places tremble a little; and script and twin
must differ in truth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.bench.staging import Staged, stage
from cosmolabe.core import parts
from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.scenario import Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import trembling
from cosmolabe.engine.game import Game

LEAST = 0.9
"""Share of seeds in which a planted change must be caught, and in which the twin must differ."""
TREMBLING = 0.003  # world sizes: what a good model's places may jitter by (our choice)
MOST_SEEDS = 10_000
FELT = 1e-3
"""Difference of place (world sizes) or of a global that counts as one."""


@dataclass(frozen=True)
class PredicateCheck:
    """How one predicate of one scenario fared over the seeds."""

    game: str
    scenario: str
    predicate: str
    true_pass: float
    """Share of seeds whose true continuation keeps the rule; must be 1."""
    planted: str
    planted_fail: float
    """Share of seeds in which the rule breaks under the planted change; at least 0.9."""
    survives: str
    survives_pass: float
    """Share of seeds in which the rule holds under a change of something else; must be 1."""
    reacts: float
    """Share of seeds in which script and twin differ in truth; at least 0.9."""
    trembling_pass: float
    """Share of seeds in which the rule holds while all places tremble by up to `TREMBLING`; at
    least 0.9, so that a good model is not failed for its last digit."""
    survives_changes: float
    """Share of seeds in which the change that the rule must survive changes anything at all."""

    @property
    def why(self) -> str:
        """What is wrong with it, in words; empty where it is sound."""
        faults = {
            f"fails on {1 - self.true_pass:.1%} of true continuations": self.true_pass < 1,
            f"misses '{self.planted}' on {1 - self.planted_fail:.1%}": self.planted_fail < LEAST,
            f"fails under '{self.survives}' on {1 - self.survives_pass:.1%}": (
                self.survives_pass < 1
            ),
            f"'{self.survives}' changes nothing": self.survives_changes == 0,
            f"too strict: trembling places break it on {1 - self.trembling_pass:.1%}": (
                self.trembling_pass < LEAST
            ),
            f"the twin differs in {self.reacts:.1%} of seeds only": self.reacts < LEAST,
        }
        return "; ".join(fault for fault, wrong in faults.items() if wrong)

    @property
    def ok(self) -> bool:
        """Whether it tests what it says."""
        return not self.why


def check_scenarios(
    game: Game | str, seeds: int = 200, scenarios: Sequence[Scenario] | None = None
) -> list[PredicateCheck]:
    """One row per predicate of a game's scenarios."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds must be at least 1 and at most {MOST_SEEDS}; got {seeds}")
    played = parts.load("games", game) if isinstance(game, str) else game
    chosen = parts.load("scenarios", played.name) if scenarios is None else scenarios
    return [row for scenario in chosen for row in check_scenario(played, scenario, seeds)]


def check_scenario(game: Game, scenario: Scenario, seeds: int = 200) -> list[PredicateCheck]:
    """One row per predicate of one scenario."""
    true = stage(game, scenario, range(seeds))
    twin = stage(game, scenario, range(seeds), script=scenario.twin)
    reacts = float(differ(true.trace, twin.trace, scenario.reacts).mean())
    worlds: dict[tuple[tuple[str, float], ...], Trace] = {}  # rules often share a changed physics

    def under(change: Change) -> Trace:
        key = tuple(sorted(change.parameters.items()))
        if not key:
            return changed(true, change)
        if key not in worlds:
            worlds[key] = changed(true, change)
        return worlds[key]

    shaken = changed(true, trembling(TREMBLING))
    return [_check(true, rule, reacts, shaken, under) for rule in scenario.predicates]


def differ(a: Trace, b: Trace, what: str) -> Bool[np.ndarray, " batch"]:
    """Whether the place or life of a slot, or the value of a global, differs at any step."""
    return np.asarray((np.abs(gap_of(a, b, what)) > FELT).any((1, 2)))


def gap_of(a: Trace, b: Trace, what: str) -> Float[np.ndarray, "batch step channel"]:
    """The gap b − a in what reacts: x, y and life of a slot, or a global as the one channel.

    Places go the short way where an axis wraps and count only while it lives in both.
    """
    if what not in {slot.name for slot in a.manifest.slots}:
        with np.errstate(all="ignore"):
            return (b.number(what) - a.number(what))[..., None]
    slot = a.slot(what)
    with np.errstate(all="ignore"):  # a model may imagine any number
        gap = b.states[:, :, slot, X : Y + 1] - a.states[:, :, slot, X : Y + 1]
        wraps = (a.manifest.wrap_x, a.manifest.wrap_y)
        gap = gap - np.where(wraps, np.round(gap), 0.0)
        lives = [t.states[:, :, slot, ALIVE] > 0.5 for t in (a, b)]
    gap = np.where((lives[0] & lives[1])[..., None], gap, 0.0)
    born = lives[1].astype(float) - lives[0].astype(float)
    return np.concatenate([gap, born[..., None]], -1)


def changed(true: Staged, change: Change) -> Trace:
    """The continuation under a planted change."""
    if change.edit is not None:
        return change.edit(true.trace)
    return stage(true.game, true.scenario, true.seeds, parameters=change.parameters).trace


def verdicts(predicate: Predicate, trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Whether each rollout keeps the rule; a predicate that gives anything else is refused."""
    with np.errstate(all="ignore"):  # a model may imagine any number
        held: Any = predicate.holds(trace)
    if not (isinstance(held, np.ndarray) and held.dtype == bool and held.shape == (len(trace),)):
        kind = f"{getattr(held, 'dtype', type(held).__name__)} {np.shape(held)}"
        raise ValueError(f"predicate '{predicate.name}' gave {kind}; expected bool ({len(trace)},)")
    return held


def _check(
    true: Staged,
    predicate: Predicate,
    reacts: float,
    shaken: Trace,
    under: Callable[[Change], Trace],
) -> PredicateCheck:
    caught, other = under(predicate.catches), under(predicate.survives)
    return PredicateCheck(
        game=true.game.name,
        scenario=true.scenario.name,
        predicate=predicate.name,
        true_pass=float(verdicts(predicate, true.trace).mean()),
        planted=predicate.catches.name,
        planted_fail=float((~verdicts(predicate, caught)).mean()),
        survives=predicate.survives.name,
        survives_pass=float(verdicts(predicate, other).mean()),
        reacts=reacts,
        trembling_pass=float(verdicts(predicate, shaken).mean()),
        survives_changes=float(_unlike(true.trace, other).mean()),
    )


def _unlike(a: Trace, b: Trace) -> Bool[np.ndarray, " batch"]:
    states = (a.states != b.states).any((1, 2, 3))
    return states | (a.globals != b.globals).any((1, 2)) | (a.terminal != b.terminal).any(1)
