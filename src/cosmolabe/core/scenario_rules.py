"""Rules and planted changes that the scenarios of several games share.

A rule is a function from a batch of rollouts to one truth value each; written so that NaN, as any
other nonsense, breaks it. A planted change imitates what goes wrong in models: freezing, drifting,
ghosts, what is dead and returns, points counted twice.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.scenario import Change, Trace

Number = float | int
Rule = Callable[[Trace], Bool[np.ndarray, " batch"] | np.bool]


def gains(name: str, points: Number, slack: Number | None = None) -> Rule:
    """A global ends `points` above its first value and never goes far beyond either."""
    room = 0.3 * abs(points) if slack is None else slack
    low, high = min(points, 0.0) - room, max(points, 0.0) + room

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        gain = trace.number(name) - trace.number(name)[:, :1]
        within = ((gain >= low) & (gain <= high)).all(1)
        return within & (np.abs(gain[:, -1] - points) <= room)

    return holds


def keeps(name: str, slack: Number) -> Rule:
    """A global stays at its first value."""
    return gains(name, 0.0, slack)


def _is_known(trace: Trace, slot: str) -> Bool[np.ndarray, " batch"]:
    """Whether life is a number in every step: NaN is neither alive nor dead."""
    return np.all(np.isfinite(trace.states[:, :, trace.slot(slot), ALIVE]), axis=1)


def lives(*slots: str) -> Rule:
    """They live all along."""
    return lambda trace: np.all([trace.alive(slot).all(1) for slot in slots], axis=0)


def dies_once(slot: str, first: int, last: int) -> Rule:
    """It lives until it dies in steps first..last, and is then dead to the end."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        alive = trace.alive(slot)
        changes = np.diff(alive, axis=1).sum(1)
        ends = alive[:, :first].all(1) & ~alive[:, last:].any(1)
        return ends & (changes == 1) & _is_known(trace, slot)

    return holds


def born_once(slot: str, first: int, last: int) -> Rule:
    """It is dead until it comes to life in steps first..last, and then lives to the end."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        alive = trace.alive(slot)
        return (
            ~alive[:, :first].any(1) & alive[:, last:].all(1) & (np.diff(alive, axis=1).sum(1) == 1)
        )

    return holds


def ends(name: str, value: Number, slack: Number) -> Rule:
    """A global has about this value at the last step."""
    return lambda trace: np.abs(trace.number(name)[:, -1] - value) <= slack


def game_ends(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The game is over at the last step and was not at the first."""
    return trace.terminal[:, -1] & ~trace.terminal[:, 0]


def travels(slot: str, dx: Number, dy: Number, slack: Number = 0.02) -> Rule:
    """At the last step it is so far from where it began, counted along its way where axes wrap."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        over, down = trace.dx(slot).sum(1), trace.dy(slot).sum(1)
        return (np.abs(over - dx) <= slack) & (np.abs(down - dy) <= slack)

    return holds


def stays_dead(slot: str) -> Rule:
    """It dies and does not come back."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        alive = trace.alive(slot)
        returns = (~alive[:, :-1] & alive[:, 1:]).any(1)
        return ~alive[:, -1] & ~returns & _is_known(trace, slot)

    return holds


def comes(slot: str, step: int, dx: Number, dy: Number, slack: Number = 0.02) -> Rule:
    """After `step` steps it is dx and dy from where it was."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        gone_x = trace.dx(slot)[:, :step].sum(1)
        gone_y = trace.dy(slot)[:, :step].sum(1)
        return (np.abs(gone_x - dx) < slack) & (np.abs(gone_y - dy) < slack)

    return holds


def keeps_x(slot: str, start: int = 1, stop: int | None = None, slack: Number = 0.015) -> Rule:
    """It does not move across between two steps."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        x = trace.x(slot)[:, start:stop]
        return (np.abs(x - x[:, :1]) < slack).all(1)

    return holds


def stays(slot: str, slack: Number = 0.015, start: int = 0) -> Rule:
    """It keeps the place it has at step `start`."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        x, y = trace.x(slot)[:, start:], trace.y(slot)[:, start:]
        return ((np.abs(x - x[:, :1]) < slack) & (np.abs(y - y[:, :1]) < slack)).all(1)

    return holds


def both(*rules: Rule) -> Rule:
    """All of them hold."""
    return lambda trace: np.all([rule(trace) for rule in rules], axis=0)


def trembling(size: Number = 0.003) -> Change:
    """All that can move is seen up to `size` beside its place."""

    def edit(trace: Trace) -> Trace:
        states, mutable = trace.states.copy(), trace.manifest.masks().mutable
        shape = (*states.shape[:2], int(mutable.sum()), 2)
        noise = np.random.default_rng(0).uniform(-size, size, shape).astype(states.dtype)
        states[:, :, mutable, X : Y + 1] += noise
        states[:, 0] = trace.states[:, 0]
        return trace.with_states(states)

    return Change("places tremble", edit=edit)


def shifted(slot: str, dx: Number, dy: Number = 0.0) -> Change:
    """One slot is seen somewhere else."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        states[:, 1:, trace.slot(slot), X] += dx
        states[:, 1:, trace.slot(slot), Y] += dy
        return trace.with_states(states)

    return Change(f"{slot} is elsewhere", edit=edit)


def adrift(slot: str, dx: Number, dy: Number = 0.0) -> Change:
    """One slot drifts so much a step on top of its true move."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        steps = np.arange(states.shape[1], dtype=states.dtype)
        states[:, :, trace.slot(slot), X] += dx * steps
        states[:, :, trace.slot(slot), Y] += dy * steps
        return trace.with_states(states)

    return Change(f"{slot} drifts", edit=edit)


def frozen(*slots: str) -> Change:
    """They stay as they were in the last true state, fields and all."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        for slot in slots:
            states[:, :, trace.slot(slot)] = states[:, :1, trace.slot(slot)]
        return trace.with_states(states)

    return Change(f"{' and '.join(slots)} frozen", edit=edit)


def straight_on(slot: str, start: int = 0) -> Change:
    """From step `start` on it repeats that step's move for ever, whatever is in the way."""

    def edit(trace: Trace) -> Trace:
        states, column = trace.states.copy(), trace.slot(slot)
        places = states[:, :, column, X : Y + 1]
        move = places[:, start + 1] - places[:, start]
        steps = np.arange(states.shape[1] - start, dtype=states.dtype)[None, :, None]
        places[:, start:] = places[:, start, None] + steps * move[:, None]
        states[:, start:, column, ALIVE] = states[:, start, None, column, ALIVE]
        return trace.with_states(states)

    return Change(f"{slot} goes straight on", edit=edit)


def hopping(slot: str, speed: Number, gravity: Number, start: int = 0) -> Change:
    """From step `start` on it makes a jump on top of its true move."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        ticks = np.maximum(np.arange(states.shape[1], dtype=states.dtype) - start, 0)
        states[:, :, trace.slot(slot), Y] -= np.maximum(speed * ticks - 0.5 * gravity * ticks**2, 0)
        return trace.with_states(states)

    return Change(f"{slot} jumps", edit=edit)


def mirrored(slot: str, start: int) -> Change:
    """From step `start` on it moves the other way across."""

    def edit(trace: Trace) -> Trace:
        states, column = trace.states.copy(), trace.slot(slot)
        pivot = states[:, start, None, column, X]
        states[:, start:, column, X] = 2 * pivot - states[:, start:, column, X]
        return trace.with_states(states)

    return Change(f"{slot} goes the other way", edit=edit)


def undead(slot: str) -> Change:
    """It lives all along."""
    return _with_life(f"{slot} never dies", slot, lambda alive: np.ones_like(alive))


def vanished(slot: str, start: int = 1) -> Change:
    """It is dead from step `start` on."""

    def life(alive: np.ndarray) -> np.ndarray:
        return alive & (np.arange(alive.shape[1]) < start)

    return _with_life(f"{slot} vanishes", slot, life)


def risen(slot: str, steps: int = 4) -> Change:
    """It lives again so many steps after it died."""

    def life(alive: np.ndarray) -> np.ndarray:
        dead = np.cumsum(~alive, axis=1)
        return alive | (dead > steps)

    return _with_life(f"{slot} returns from the dead", slot, life)


def _with_life(name: str, slot: str, life: Callable[[np.ndarray], np.ndarray]) -> Change:
    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        states[:, :, trace.slot(slot), ALIVE] = life(trace.alive(slot))
        return trace.with_states(states)

    return Change(name, edit=edit)


def counted(name: str, times: Number) -> Change:
    """Every gain of a global counts so many times: 2 doubles it, 0 loses it."""

    def edit(trace: Trace) -> Trace:
        numbers = trace.globals.copy()
        column = trace.manifest.profile.global_fields.index(name)
        first = numbers[:, :1, column].copy()
        numbers[:, :, column] = first + times * (numbers[:, :, column] - first)
        return trace.with_globals(numbers)

    return Change(f"{name} counts {times:g} times", edit=edit)


def given(name: str, amount: Number, step: int = 5) -> Change:
    """A global gets an amount it should not get."""

    def edit(trace: Trace) -> Trace:
        numbers = trace.globals.copy()
        numbers[:, step:, trace.manifest.profile.global_fields.index(name)] += amount
        return trace.with_globals(numbers)

    return Change(f"{name} changes by {amount:g}", edit=edit)


def delayed(ticks: int = 2) -> Change:
    """Everything happens so many ticks later."""

    def edit(trace: Trace) -> Trace:
        then = np.maximum(np.arange(trace.states.shape[1]) - ticks, 0)
        return replace(
            trace,
            states=trace.states[:, then],
            globals=trace.globals[:, then],
            terminal=trace.terminal[:, then],
        )

    return Change(f"all comes {ticks} ticks late", edit=edit)


def endless() -> Change:
    """The end of the game is never noticed."""

    def edit(trace: Trace) -> Trace:
        return replace(trace, terminal=np.zeros_like(trace.terminal))

    return Change("the game never ends", edit=edit)


def field_counted(slot: str, name: str, times: Number) -> Change:
    """Every gain of a slot's field counts so many times."""

    def edit(trace: Trace) -> Trace:
        states = trace.states.copy()
        column = ALIVE + 1 + trace.manifest.profile.game_fields.index(name)
        values = states[:, :, trace.slot(slot), column]
        values[:] = values[:, :1] + times * (values - values[:, :1])
        return trace.with_states(states)

    return Change(f"{name} of {slot} counts {times:g} times", edit=edit)
