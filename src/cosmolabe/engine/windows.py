"""Dense windows straight from keyframes: replay to the start, play on, write the tensors once."""

import numpy as np
from numba import njit, types

from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import SKIP, TERMINATED, Layout
from cosmolabe.engine.kernels import _NUMBERS, _STEP, _WORLDS

_LATE = types.FunctionType(types.boolean(types.float32[::1]))
_COUNTS = types.int64[::1]


def alive_columns(layout: Layout, num_state: int) -> np.ndarray:
    """Per public column, which public column tells whether its entity lives; -1 where none does."""
    place_of = {int(place): index for index, place in enumerate(layout.target)}
    found = [
        place_of.get(int(place) // num_state * num_state + 2, -1) if place >= 0 else -1
        for place in layout.target
    ]
    return np.array(found, np.int64)


@rule
def _copy_row(public, t, world):
    for c in range(public.shape[1]):
        public[t, c] = world[c]


@rule
def _write_state(flat, numbers, row, target, scale, template):
    """One state's row of every slot and its globals; a plain loop, which LLVM makes a memcpy."""
    for i in range(template.shape[0]):
        flat[i] = template[i]
    for g in range(numbers.shape[0]):
        numbers[g] = 0.0
    for c in range(target.shape[0]):
        place = target[c]
        if place >= 0:
            flat[place] = row[c] * scale[c]
        elif place != SKIP:
            numbers[-1 - place] = row[c] * scale[c]


@rule
def _write_motion(flat, public, newest, target, scale, wrap, alive, num_state):
    """The two history deltas of one state, newest first; 0 where dead at either end."""
    for c in range(target.shape[0]):
        place = target[c]
        if place < 0 or place % num_state > 1:
            continue
        axis = place % num_state
        for lag in range(1, 3):
            newer, older = newest - lag + 1, newest - lag
            if older < 0:
                break
            living = alive[c]
            if living >= 0 and (public[newer, living] < 0.5 or public[older, living] < 0.5):
                continue
            delta = np.float32(public[newer, c] * scale[c]) - np.float32(
                public[older, c] * scale[c]
            )
            if wrap[axis]:
                delta = delta - np.floor(delta + np.float32(0.5))
            flat[place - axis + num_state - 6 + 2 * lag + axis] = delta


@njit(
    types.void(
        _STEP,
        _WORLDS,
        _COUNTS,
        _COUNTS,
        _COUNTS,
        types.uint8[::1],
        _COUNTS,
        _COUNTS,
        _NUMBERS,
        types.float32[:, ::1],
        types.int64[::1],
        types.float64[::1],
        types.float32[::1],
        types.boolean[::1],
        types.int64[::1],
        types.int64,
        types.float32[:, :, ::1],
        types.float32[:, :, ::1],
        types.float32[:, :, ::1],
        types.boolean[:, ::1],
    ),
    cache=True,
    nogil=True,
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
    target,
    scale,
    template,
    wrap,
    alive,
    num_state,
    states,
    numbers,
    moves,
    terminal,
):
    """Replay to each window's start, then write its tensors.

    Window m begins at tick starts[m] of an episode whose actions begin at action_starts[m], one
    for every state. It replays from keyframes[key_rows[m]], which stands at tick key_ticks[m], no
    later than starts[m] - 2 where there is such a tick, and lands in row rows[m] of states
    (B, L, N * S), numbers (B, L, G), moves (B, L, A) and terminal (B, L). `alive` comes from
    `alive_columns`. An action outside the table stands for none: its row of moves is zero. The
    caller knows that the episode is long enough.
    """
    num_columns = target.shape[0]
    length = states.shape[1]
    public = np.zeros((length + 2, num_columns), np.float32)
    world = np.zeros(keyframes.shape[1])
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
            state = public[t + skip]
            _write_state(states[row, t], numbers[row, t], state, target, scale, template)
            _write_motion(states[row, t], public, t + skip, target, scale, wrap, alive, num_state)
            terminal[row, t] = state[TERMINATED] != 0.0
            for k in range(action_table.shape[1]):
                moves[row, t, k] = 0.0
            choice = np.int64(actions[log + starts[m] + t])
            if choice < action_table.shape[0]:
                for k in range(action_table.shape[1]):
                    moves[row, t, k] = action_table[choice, k]


@njit(types.void(_LATE, types.float32[:, :, ::1], _COUNTS, _COUNTS), cache=True, nogil=True)
def count_late(late, public, lengths, counts):
    """How many of each episode's states belong to the late game; public (B, T, P)."""
    for b in range(public.shape[0]):
        counts[b] = 0
        for t in range(lengths[b]):
            if late(public[b, t]):
                counts[b] += 1
