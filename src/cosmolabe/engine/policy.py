"""A trained policy at play: what it sees of a world, a small network, a choice.

Like the rules it uses IEEE-exact operations only (rectifiers, no tanh; an own exponential), so a
policy plays the same game on any CPU. Sums run along the outputs, which vectorises without
changing the order of any addition.
"""

import numpy as np
from numba import njit, types

from cosmolabe.engine.angles import sine_cosine
from cosmolabe.engine.compiling import driver, rule
from cosmolabe.engine.game import TERMINATED
from cosmolabe.engine.kernels import NUMBERS, RULE, STEP, WORLDS, step_at
from cosmolabe.engine.rng import uniform_at

PLAIN, EQUAL, SINE, COSINE, GAP_X, GAP_Y, AHEAD, ACROSS, FORWARD, SIDEWAYS, OCCUPIED = range(11)
"""Kinds of features. One row of the table is (kind, first, second, alive): `alive` is the public
column that says whether what is looked at lives (-1: always), and a dead thing gives 0.

PLAIN     column `first`
EQUAL     1 where column `first` has the whole value `second`
SINE COSINE     of column `first`, which counts turns in units of 1 / `second`
GAP_X GAP_Y     column `first` as seen from the agent, the short way where the axis wraps
AHEAD ACROSS    the place (columns `first`, `second`) in the frame of the agent's rotation
FORWARD SIDEWAYS     the motion (columns `first`, `second`) in the same frame
OCCUPIED  1 where a body of the crowd lies (`first`, `second`) whole steps from the agent
"""

LIMIT = np.float32(5.0)
"""Features are cut to this many standard deviations."""
SAMPLING_LANE = 5  # of the player's stream; `kernels.play` uses 1 to 4
_LOG2_E, _LN_2 = 1.4426950408889634, 0.6931471805599453
_EXPONENTIAL = 16  # terms: below 1e-15 for arguments up to ln 2

ROW, ROWS = types.float32[::1], types.float32[:, ::1]
TABLE = types.int64[:, ::1]


@rule
def exponential(x):
    """Exponential of x <= 0; 0 below -40, whose chance no draw of 53 bits would notice."""
    if not x > -40.0:
        return 0.0
    halvings = np.floor(-x * _LOG2_E)
    rest = x + halvings * _LN_2  # in (-ln 2, 0]
    term, total = 1.0, 1.0
    for k in range(1, _EXPONENTIAL):
        term = term * rest / k
        total += term
    for _ in range(np.int64(halvings)):
        total *= 0.5
    return total


@rule
def _gap(a, b, period):
    """The way from b to a; on a circle of length `period` the short one, 0 means no circle."""
    gap = np.float64(a) - np.float64(b)
    if period > 0.0:
        gap = gap - np.floor(gap / period + 0.5) * period
    return gap


@rule
def _feature(row, kind, first, second, agent, period, crowd):
    """One feature of a public row before it is scaled."""
    if kind == PLAIN:
        return np.float64(row[first])
    if kind == EQUAL:
        return 1.0 if row[first] == second else 0.0
    if kind in (SINE, COSINE):
        s, c = sine_cosine(np.float64(row[first]) / second)
        return s if kind == SINE else c
    here_x = row[agent[0]] if agent[0] >= 0 else np.float32(0.0)
    here_y = row[agent[1]] if agent[1] >= 0 else np.float32(0.0)
    if kind == GAP_X:
        return _gap(row[first], here_x, period[0])
    if kind == GAP_Y:
        return _gap(row[first], here_y, period[1])
    if kind == OCCUPIED:
        for k in range(crowd.shape[0]):
            if row[crowd[k, 2]] > 0.5:
                x = _gap(_gap(row[crowd[k, 0]], here_x, period[0]), first, period[0])
                y = _gap(_gap(row[crowd[k, 1]], here_y, period[1]), second, period[1])
                if abs(x) < 0.5 and abs(y) < 0.5:
                    return 1.0
        return 0.0
    if kind in (AHEAD, ACROSS):
        x, y = _gap(row[first], here_x, period[0]), _gap(row[second], here_y, period[1])
    else:
        x, y = np.float64(row[first]), np.float64(row[second])
    s, c = sine_cosine(np.float64(row[agent[2]]))
    return s * x - c * y if kind in (AHEAD, FORWARD) else s * y + c * x


@rule
def see(row, table, agent, period, crowd, norm, features):
    """The features of one public row, scaled: (value - norm[0]) * norm[1], within LIMIT."""
    for k in range(table.shape[0]):
        alive = table[k, 3]
        value = 0.0
        if alive < 0 or row[alive] > 0.5:
            value = _feature(row, table[k, 0], table[k, 1], table[k, 2], agent, period, crowd)
        scaled = (np.float32(value) - norm[0, k]) * norm[1, k]
        features[k] = min(max(scaled, -LIMIT), LIMIT)


@rule
def _layer(inputs, weights, outputs, rectified):
    """Write inputs @ weights[:-1] + weights[-1], negative numbers cut to 0 where rectified."""
    last = inputs.shape[0]
    for j in range(outputs.shape[0]):
        outputs[j] = weights[last, j]
    for i in range(last):
        value = inputs[i]
        for j in range(outputs.shape[0]):
            outputs[j] += value * weights[i, j]
    if rectified:
        for j in range(outputs.shape[0]):
            outputs[j] = max(outputs[j], np.float32(0.0))


@rule
def think(features, first, second, third, hidden, logits):
    """Logits of the features: two rectified layers and a plain one; `hidden` (2, H) is scratch."""
    _layer(features, first, hidden[0], True)
    _layer(hidden[0], second, hidden[1], True)
    _layer(hidden[1], third, logits, False)


@rule
def choose(logits, draw):
    """The best action, or, for a `draw` in [0, 1), one drawn by the softmax of the logits."""
    best = 0
    for j in range(1, logits.shape[0]):
        if logits[j] > logits[best]:
            best = j
    if draw < 0.0:
        return best
    total = 0.0
    for j in range(logits.shape[0]):
        total += exponential(np.float64(logits[j]) - np.float64(logits[best]))
    left = draw * total
    for j in range(logits.shape[0]):
        left -= exponential(np.float64(logits[j]) - np.float64(logits[best]))
        if left < 0.0:
            return j
    return best


@njit(
    types.void(ROWS, TABLE, types.int64[::1], NUMBERS, TABLE, ROWS, ROWS),
    cache=True,
    nogil=True,
)
def see_all(rows, table, agent, period, crowd, norm, features):
    """Features (B, F) of public rows (B, P)."""
    for b in range(rows.shape[0]):
        see(rows[b], table, agent, period, crowd, norm, features[b])


@njit(types.void(ROWS, ROWS, ROWS, ROWS, ROWS), cache=True, nogil=True)
def think_all(features, first, second, third, logits):
    """Logits (B, A) of features (B, F)."""
    hidden = np.zeros((2, second.shape[1]), np.float32)
    for b in range(features.shape[0]):
        think(features[b], first, second, third, hidden, logits[b])


@driver(STEP)
@njit(
    types.void(
        RULE,
        WORLDS,
        WORLDS,
        types.uint64[:, ::1],
        types.float64,
        types.int64,
        types.boolean,
        TABLE,
        types.int64[::1],
        NUMBERS,
        TABLE,
        ROWS,
        ROWS,
        ROWS,
        ROWS,
        types.int64,
        types.uint8[:, ::1],
        WORLDS,
        types.int64,
        types.int64[::1],
    ),
    cache=True,
    nogil=True,
)
def play_policy(
    step,
    worlds,
    parameters,
    player_keys,
    randomness,
    hold,
    sampled,
    table,
    agent,
    period,
    crowd,
    norm,
    first,
    second,
    third,
    num_public,
    actions,
    keyframes,
    keyframe_every,
    lengths,
):
    """`kernels.play` with a policy in place of the heuristic; what is written is the same.

    Each decision stands for `hold` ticks; with chance `randomness` it is drawn evenly from all
    actions, else by the policy's softmax (`sampled`) or as its best.
    """
    step = step_at(step)
    num_ticks, num_actions = actions.shape[1], third.shape[1]
    per_world = (num_ticks + keyframe_every - 1) // keyframe_every
    shared = parameters.shape[0] == 1
    row = np.zeros(num_public, np.float32)
    features = np.zeros(table.shape[0], np.float32)
    hidden = np.zeros((2, second.shape[1]), np.float32)
    logits = np.zeros(num_actions, np.float32)
    for b in range(worlds.shape[0]):
        world = worlds[b]
        constants = parameters[0 if shared else b]
        low, high = player_keys[b, 0], player_keys[b, 1]
        action = np.int64(0)
        t = 0
        while t < num_ticks and world[TERMINATED] == 0.0:
            if t % keyframe_every == 0:
                place = b * per_world + t // keyframe_every
                for c in range(worlds.shape[1]):
                    keyframes[place, c] = world[c]
            if t % hold == 0:
                tick = np.uint64(t)
                if uniform_at(low, high, tick, np.uint64(1)) < randomness:
                    whim = uniform_at(low, high, tick, np.uint64(2))
                    action = np.int64(whim * num_actions)
                else:
                    for c in range(num_public):
                        row[c] = world[c]
                    see(row, table, agent, period, crowd, norm, features)
                    think(features, first, second, third, hidden, logits)
                    draw = -1.0
                    if sampled:
                        draw = uniform_at(low, high, tick, np.uint64(SAMPLING_LANE))
                    action = np.int64(choose(logits, draw))
            actions[b, t] = action
            step(world, action, constants)
            t += 1
        lengths[b] = t + 1
