"""Runs any game's rules over a batch of worlds, and turns compact rows into dense tensors.

The game's kernels come in by their address: one driver, compiled once, serves all games and calls
the very same `step` whether one world runs or four thousand.
"""

import numpy as np
from numba import njit, types

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY
from cosmolabe.engine.compiling import driver, rule, taken_as
from cosmolabe.engine.game import SKIP, TERMINATED
from cosmolabe.engine.rng import uniform_at

WORLD, NUMBERS = types.float64[::1], types.float64[::1]
STEP = types.FunctionType(types.void(WORLD, types.int64, NUMBERS))
DECIDE = types.FunctionType(types.int64(WORLD, NUMBERS, NUMBERS))
WORLDS = types.float64[:, ::1]
PUBLIC = types.float32[:, :, ::1]
RULE = types.int64  # the address of a game's kernel
step_at, decide_at = taken_as(STEP), taken_as(DECIDE)


@driver(STEP)
@njit(
    types.void(RULE, WORLDS, types.uint8[:, ::1], WORLDS, PUBLIC, types.int64[::1]),
    cache=True,
    nogil=True,
)
def simulate(step, worlds, actions, parameters, public, lengths):
    """Play given actions. worlds (B, D) change in place; public (B, T + 1, P) gets every state.

    `parameters` has one row for all worlds or one for each. lengths[b] counts the states written,
    the first included; a world stops where it terminates.
    """
    step = step_at(step)
    num_columns = public.shape[2]
    shared = parameters.shape[0] == 1
    for b in range(worlds.shape[0]):
        world = worlds[b]
        constants = parameters[0 if shared else b]
        for c in range(num_columns):
            public[b, 0, c] = world[c]
        t = 0
        while t < actions.shape[1] and world[TERMINATED] == 0.0:
            step(world, np.int64(actions[b, t]), constants)
            t += 1
            for c in range(num_columns):
                public[b, t, c] = world[c]
        lengths[b] = t + 1


@driver(STEP)
@njit(types.void(RULE, WORLDS, types.uint8[:, ::1], WORLDS), cache=True, nogil=True)
def advance(step, worlds, actions, parameters):
    """Play given actions without writing states; worlds (B, D) change in place."""
    step = step_at(step)
    shared = parameters.shape[0] == 1
    for b in range(worlds.shape[0]):
        world = worlds[b]
        constants = parameters[0 if shared else b]
        for t in range(actions.shape[1]):
            if world[TERMINATED] != 0.0:
                break
            step(world, np.int64(actions[b, t]), constants)


@driver(STEP, DECIDE)
@njit(
    types.void(
        RULE,
        RULE,
        WORLDS,
        WORLDS,
        types.uint64[:, ::1],
        types.int64,
        types.float64,
        types.int64,
        types.uint8[:, ::1],
        WORLDS,
        types.int64,
        types.int64[::1],
    ),
    cache=True,
    nogil=True,
)
def play(
    step,
    decide,
    worlds,
    parameters,
    player_keys,
    num_actions,
    randomness,
    hold,
    actions,
    keyframes,
    keyframe_every,
    lengths,
):
    """Let a player choose.

    Each decision stands for `hold` ticks; with chance `randomness` it is drawn evenly from all
    actions (1 makes the random player), else `decide` makes it.

    actions (B, T) and lengths (B,) (states, the first included) are written; keyframes
    (B * ceil(T / keyframe_every), D) gets the whole world at t = 0, keyframe_every, ...
    """
    step, decide = step_at(step), decide_at(decide)
    num_ticks = actions.shape[1]
    per_world = (num_ticks + keyframe_every - 1) // keyframe_every
    shared = parameters.shape[0] == 1
    luck = np.zeros(2)
    for b in range(worlds.shape[0]):
        world = worlds[b]
        constants = parameters[0 if shared else b]
        action = np.int64(0)
        t = 0
        while t < num_ticks and world[TERMINATED] == 0.0:
            if t % keyframe_every == 0:
                row = b * per_world + t // keyframe_every
                for c in range(worlds.shape[1]):
                    keyframes[row, c] = world[c]
            if t % hold == 0:
                low, high = player_keys[b, 0], player_keys[b, 1]
                tick = np.uint64(t)
                whim = uniform_at(low, high, tick, np.uint64(1))
                if whim < randomness:
                    draw = uniform_at(low, high, tick, np.uint64(2))
                    action = np.int64(draw * num_actions)
                else:
                    luck[0] = uniform_at(low, high, tick, np.uint64(3))
                    luck[1] = uniform_at(low, high, tick, np.uint64(4))
                    action = decide(world, constants, luck)
            actions[b, t] = action
            step(world, action, constants)
            t += 1
        lengths[b] = t + 1


@rule
def _fill_history(public, target, scale, wraps, skip, c, slot, column, states, history):
    alive = -1
    for k in range(target.shape[0]):
        if target[k] == slot * states.shape[2] + ALIVE:
            alive = k
    for t in range(skip, public.shape[0]):
        for lag in range(1, 3):
            newer, older = t - lag + 1, t - lag
            if older < 0:
                continue
            if alive >= 0 and (public[newer, alive] < 0.5 or public[older, alive] < 0.5):
                continue
            delta = np.float32(public[newer, c] * scale[c]) - np.float32(
                public[older, c] * scale[c]
            )
            if wraps:
                delta = delta - np.floor(delta + np.float32(0.5))
            states[t - skip, slot, history + 2 * (lag - 1) + column] = delta


@njit(
    types.void(
        types.float32[:, ::1],
        types.int64[::1],
        types.float64[::1],
        types.float32[:, ::1],
        types.boolean[::1],
        types.int64,
        types.float32[:, :, ::1],
        types.float32[:, ::1],
        types.boolean[::1],
    ),
    cache=True,
    nogil=True,
)
def expand(public, target, scale, template, wrap, skip, states, numbers, terminal):
    """Dense tensors of consecutive compact rows (T, P).

    states (T - skip, N, S), numbers (T - skip, G), terminal (T - skip,). The first `skip` rows
    (0, 1 or 2) only feed the history deltas of the rows after them. A delta is 0 where the
    entity was dead at either end.
    """
    num_slots, num_state = template.shape
    history = num_state - NUM_HISTORY
    constant = template.reshape(num_slots * num_state)
    for t in range(skip, public.shape[0]):
        out = t - skip
        flat = states[out].reshape(num_slots * num_state)
        row = public[t]
        for i in range(constant.shape[0]):  # a plain loop, which LLVM makes a memcpy
            flat[i] = constant[i]
        for g in range(numbers.shape[1]):
            numbers[out, g] = 0.0
        for c in range(target.shape[0]):
            place = target[c]
            if place >= 0:
                flat[place] = row[c] * scale[c]
            elif place != SKIP:
                numbers[out, -1 - place] = row[c] * scale[c]
        terminal[out] = row[TERMINATED] != 0.0
    for c in range(target.shape[0]):
        place = target[c]
        if place < 0:
            continue
        column = place % num_state
        if column > 1:
            continue
        _fill_history(
            public,
            target,
            scale,
            wrap[column],
            skip,
            c,
            place // num_state,
            column,
            states,
            history,
        )


assert FIELDS_START == 5, "expand relies on x, y, alive, vx, vy standing first"
