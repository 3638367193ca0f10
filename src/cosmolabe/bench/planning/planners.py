"""Planners over discrete decisions: random shooting, CEM and MPPI, many games side by side.

All share one search: rounds of candidates, each imagined at once. They differ in where the next
round's candidates come from and in what they settle on. `imagine(plans)` says what candidates are
worth; a planner knows nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int64, UInt8

from cosmolabe.bench.planning.futures import Plans

Imagine = Callable[[Plans], Float[np.ndarray, "episode candidate"]]
Chances = Float[np.ndarray, "episode decision action"]

STICK = 0.5  # chance that a first candidate's decision repeats the one before
ELITES = 0.15  # share of candidates that CEM learns from
KEPT = 0.2  # share of CEM's old chances in the new
WIDE = 0.05  # share of even chances that stays in the mixture
WARMTH = 0.5  # MPPI's temperature, in standard deviations of the round's returns


@dataclass(frozen=True)
class Effort:
    """How much a planner may imagine."""

    decisions: int = 6
    candidates: int = 32
    """A round's; a divisor of 64 keeps those of a game in one chunk, hence under one luck."""
    rounds: int = 2

    def __post_init__(self) -> None:
        if min(self.decisions, self.candidates, self.rounds) < 1:
            raise ValueError(
                f"decisions, candidates and rounds are at least 1; got {self.decisions}, "
                f"{self.candidates}, {self.rounds}"
            )


@dataclass(frozen=True)
class Plan:
    """What a planner settles on, and its first look around."""

    decisions: UInt8[np.ndarray, "episode decision"]
    worth: Float[np.ndarray, " episode"]
    """Highest return imagined."""
    looked: Plans
    """Candidates of the first round."""
    worths: Float[np.ndarray, "episode candidate"]
    """What they were imagined to be worth."""


Planner = Callable[
    [Imagine, int, Effort, UInt8[np.ndarray, "episode decision"], np.random.Generator], Plan
]


def random_shooting(
    imagine: Imagine, num_actions: int, effort: Effort, start: np.ndarray, dice: np.random.Generator
) -> Plan:
    """The best of candidates drawn evenly."""
    return _search(imagine, num_actions, effort, start, dice)


def cem(
    imagine: Imagine, num_actions: int, effort: Effort, start: np.ndarray, dice: np.random.Generator
) -> Plan:
    """Cross-entropy method: chances move to those of the best candidates; the best ever seen."""

    def learn(chances: Chances, plans: Plans, worths: np.ndarray) -> Chances:
        count = max(1, round(ELITES * plans.shape[1]))
        best = np.argsort(-worths, axis=1, kind="stable")[:, :count]
        elites = np.take_along_axis(plans, best[..., None], 1)
        return KEPT * chances + (1 - KEPT) * _onehot(elites, chances.shape[-1]).mean(1)

    return _search(imagine, num_actions, effort, start, dice, learn)


def mppi(
    imagine: Imagine, num_actions: int, effort: Effort, start: np.ndarray, dice: np.random.Generator
) -> Plan:
    """Path integral: chances are the softmax-weighted candidates; settles on the likeliest."""

    def learn(chances: Chances, plans: Plans, worths: np.ndarray) -> Chances:
        spread = np.maximum(worths.std(1, keepdims=True), 1e-9)
        weights = np.exp((worths - worths.max(1, keepdims=True)) / (WARMTH * spread))
        weights /= weights.sum(1, keepdims=True)
        return (_onehot(plans, chances.shape[-1]) * weights[..., None, None]).sum(1)

    return _search(imagine, num_actions, effort, start, dice, learn, likeliest=True)


PLANNERS: dict[str, Planner] = {"random_shooting": random_shooting, "cem": cem, "mppi": mppi}


def planner_named(name: str) -> Planner:
    """The planner; an unknown name is refused with those there are."""
    if name not in PLANNERS:
        raise ValueError(f"no planner '{name}'; have {list(PLANNERS)}")
    return PLANNERS[name]


def _search(
    imagine: Imagine,
    num_actions: int,
    effort: Effort,
    start: UInt8[np.ndarray, "episode decision"],
    dice: np.random.Generator,
    learn: Callable[[Chances, Plans, np.ndarray], Chances] | None = None,
    likeliest: bool = False,
) -> Plan:
    """`start` is the plan to beat: what remains of the last one, or doing nothing."""
    even = np.full((*start.shape, num_actions), 1.0 / num_actions)
    chances, best, worth, look = even, start, np.full(len(start), -np.inf), None
    for turn in range(effort.rounds):
        stick = STICK if turn == 0 or learn is None else 0.0
        plans = _draw(chances, effort.candidates, stick, dice)
        plans[:, 0] = best
        if turn == 0:
            _hold_each(plans, num_actions)
        worths = imagine(plans)
        look = look or (plans, worths)
        top = worths.argmax(1)
        found = worths[np.arange(len(start)), top]
        better = found > worth
        best = np.where(better[:, None], plans[np.arange(len(start)), top], best)
        worth = np.where(better, found, worth)
        if learn is not None:
            chances = (1 - WIDE) * learn(chances, plans, worths) + WIDE * even
    assert look is not None
    chosen = chances.argmax(-1).astype(np.uint8) if likeliest else best
    return Plan(chosen, worth, *look)


def _hold_each(plans: Plans, num_actions: int) -> None:
    """The next candidates hold one action each: no draw finds a long push by chance."""
    for action in range(min(num_actions, plans.shape[1] - 1)):
        plans[:, 1 + action] = action


def _draw(chances: Chances, count: int, stick: float, dice: np.random.Generator) -> Plans:
    episodes, decisions, _ = chances.shape
    draws = dice.random((episodes, count, decisions, 1))
    plans = (draws > chances.cumsum(-1)[:, None, :, :-1]).sum(-1)
    again = dice.random((episodes, count, decisions)) < stick
    for k in range(1, decisions):
        plans[..., k] = np.where(again[..., k], plans[..., k - 1], plans[..., k])
    return plans.astype(np.uint8)


def _onehot(plans: Plans, num_actions: int) -> np.ndarray:
    actions: Int64[np.ndarray, " action"] = np.arange(num_actions)
    return (plans[..., None] == actions).astype(np.float64)
