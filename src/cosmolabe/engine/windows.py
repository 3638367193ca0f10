"""Dense windows straight from keyframes: replay to the start, play on, write the tensors once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, types

from cosmolabe.core.fields import ALIVE, NUM_HISTORY
from cosmolabe.engine.compiling import driver, rule, taken_as
from cosmolabe.engine.game import SKIP, TERMINATED, Layout
from cosmolabe.engine.kernels import NUMBERS, RULE, STEP, WORLDS, step_at

_LATE = types.FunctionType(types.boolean(types.float32[::1]))
_late_at = taken_as(_LATE)
_COUNTS = types.int64[::1]
_PLACES = types.int64[:, ::1]


@dataclass(frozen=True)
class WindowPlan:
    """A layout sorted by what its columns become, so that the kernel need not ask."""

    template: np.ndarray
    """What never changes, float32 (slot * state,)."""
    states: np.ndarray
    """Public column and flat place of each state value, int64 (2, n)."""
    globals: np.ndarray
    """Public column and place of each global, int64 (2, n)."""
    scale: np.ndarray
    """Of every public column, float64."""
    moving: np.ndarray
    """Public column, flat place of its newest history delta, public column of its entity's alive
    flag (-1 where it never dies) and whether its axis wraps, int64 (4, n)."""


def alive_columns(layout: Layout, num_state: int) -> np.ndarray:
    """Per public column, which public column tells whether its entity lives; -1 where none does."""
    column_at = {int(place): column for column, place in enumerate(layout.target)}
    found = [
        column_at.get(int(place) // num_state * num_state + ALIVE, -1) if place >= 0 else -1
        for place in layout.target
    ]
    return np.array(found, np.int64)


def plan_windows(layout: Layout, num_state: int) -> WindowPlan:
    """The plan of a game's layout."""
    target = layout.target
    living = alive_columns(layout, num_state)
    states = [(c, int(p)) for c, p in enumerate(target) if p >= 0]
    numbers = [(c, -1 - int(p)) for c, p in enumerate(target) if p < 0 and p != SKIP]
    moving = []
    for column, place in states:
        slot, axis = divmod(place, num_state)
        if axis < 2:
            newest = (slot + 1) * num_state - NUM_HISTORY + axis
            moving.append((column, newest, int(living[column]), int(layout.wrap[axis])))
    return WindowPlan(
        template=layout.template.reshape(-1),
        states=_table(states, 2),
        globals=_table(numbers, 2),
        scale=layout.scale,
        moving=_table(moving, 4),
    )


def _table(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray:
    return np.ascontiguousarray(np.array(rows, np.int64).reshape(-1, width).T)


@rule
def _copy_row(public, t, world):
    for c in range(public.shape[1]):
        public[t, c] = world[c]


@rule
def _write_states(states, row, public, skip, template, places, scale):
    """The states of one window; plain loops, which LLVM makes a memcpy."""
    for t in range(states.shape[1]):
        for i in range(template.shape[0]):
            states[row, t, i] = template[i]
        for k in range(places.shape[1]):
            c = places[0, k]
            states[row, t, places[1, k]] = public[t + skip, c] * scale[c]


@rule
def _write_globals(numbers, row, public, skip, places, scale):
    for t in range(numbers.shape[1]):
        for g in range(numbers.shape[2]):
            numbers[row, t, g] = 0.0
        for k in range(places.shape[1]):
            c = places[0, k]
            numbers[row, t, places[1, k]] = public[t + skip, c] * scale[c]


@rule
def _write_moves(moves, row, actions, first, table):
    for t in range(moves.shape[1]):
        choice = np.int64(actions[first + t])
        for k in range(table.shape[1]):
            moves[row, t, k] = table[choice, k] if choice < table.shape[0] else 0.0


@rule
def _write_motion(states, row, public, skip, moving, scale):
    """History deltas of one window, newest first; 0 where the entity was dead at either end."""
    length = states.shape[1]
    for k in range(moving.shape[1]):
        c, place, living, wraps = moving[0, k], moving[1, k], moving[2, k], moving[3, k]
        for newer in range(1, length + skip):
            older = newer - 1
            if living >= 0 and (public[newer, living] < 0.5 or public[older, living] < 0.5):
                continue
            delta = np.float32(public[newer, c] * scale[c]) - np.float32(
                public[older, c] * scale[c]
            )
            if wraps != 0:
                delta = delta - np.floor(delta + np.float32(0.5))
            t = newer - skip
            if t >= 0:
                states[row, t, place] = delta
            if -1 <= t < length - 1:
                states[row, t + 1, place + 2] = delta


@driver(STEP)
@njit(
    types.void(
        RULE,
        WORLDS,
        _COUNTS,
        _COUNTS,
        _COUNTS,
        types.uint8[::1],
        _COUNTS,
        _COUNTS,
        NUMBERS,
        types.float32[:, ::1],
        types.float32[::1],
        _PLACES,
        _PLACES,
        _PLACES,
        NUMBERS,
        NUMBERS,
        types.float32[:, ::1],
        types.float32[:, :, ::1],
        types.float32[:, :, ::1],
        types.float32[:, :, ::1],
        types.boolean[:, ::1],
    ),
    cache=True,
    nogil=True,
    _nrt=False,
)
def cut_windows(
    step,
    keyframes,
    key_rows,
    key_ticks,
    starts,
    actions,
    action_starts,
    rows,
    parameters,
    action_table,
    template,
    state_places,
    global_places,
    moving,
    scale,
    world,
    public,
    states,
    numbers,
    moves,
    terminal,
):
    """Replay to each window's start, then write its tensors.

    Window m begins at tick starts[m] of an episode whose actions begin at action_starts[m], one
    for every state. It replays from keyframes[key_rows[m]], which stands at tick key_ticks[m], no
    later than starts[m] - 2 where there is such a tick, and lands in row rows[m] of states
    (B, L, N * S), numbers (B, L, G), moves (B, L, A) and terminal (B, L). The places come from
    `plan_windows`. An action outside the table stands for none: its row of moves is zero. The
    caller knows that the episode is long enough. `world` (D,) and `public` (L + 2, P) are scratch:
    without allocation there is no reference counting.
    """
    step = step_at(step)
    length = states.shape[1]
    for m in range(key_rows.shape[0]):
        for c in range(world.shape[0]):
            world[c] = keyframes[key_rows[m], c]
        skip = min(starts[m], 2)
        tick = key_ticks[m]
        log = action_starts[m]
        while tick < starts[m] - skip:
            step(world, np.int64(actions[log + tick]), parameters)
            tick += 1
        for t in range(length + skip):
            if t > 0:
                step(world, np.int64(actions[log + tick]), parameters)
                tick += 1
            _copy_row(public, t, world)
        row = rows[m]
        for t in range(length):
            terminal[row, t] = public[t + skip, TERMINATED] != 0.0
        _write_states(states, row, public, skip, template, state_places, scale)
        _write_globals(numbers, row, public, skip, global_places, scale)
        _write_moves(moves, row, actions, log + starts[m], action_table)
        _write_motion(states, row, public, skip, moving, scale)


@driver(_LATE)
@njit(types.void(RULE, types.float32[:, :, ::1], _COUNTS, _COUNTS), cache=True, nogil=True)
def count_late(late, public, lengths, counts):
    """How many of each episode's states belong to the late game; public (B, T, P)."""
    late = _late_at(late)
    for b in range(public.shape[0]):
        counts[b] = 0
        for t in range(lengths[b]):
            if late(public[b, t]):
                counts[b] += 1
