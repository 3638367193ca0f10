"""Racer: three laps of a winding circuit against three rivals; the first two race on."""

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.engine import canvas
from cosmolabe.engine.angles import sine_cosine
from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import (
    HEAD,
    LEVEL,
    LIVES,
    LOST,
    OVER,
    PHASE,
    PLAYING,
    READY,
    REWARD,
    SCORE,
    TERMINATED,
    TICK,
    WON,
    Column,
    Game,
    Parameter,
    Theme,
    entity,
)
from cosmolabe.engine.motion import clamp, wrap, wrapped_gap
from cosmolabe.engine.rng import uniform

# The circuit: its centre line runs clockwise around the middle of the screen at the distance
# MEAN_RADIUS + a2 cos 2t + b2 sin 2t + a3 cos 3t + b3 sin 3t, t the direction seen from there.
MEAN_RADIUS = 0.325  # screens
TRACK_HALF_WIDTH = 0.07  # screens, asphalt from the centre line to the grass
KERB_HALF_WIDTH = 0.009  # screens
BEND_A2 = (-0.030, -0.015, 0.015, 0.030)  # screens; a level picks one of each
BEND_B2 = (-0.036, 0.018, -0.018, 0.036)
BEND_A3 = (0.022, -0.015, 0.015, -0.022)
NUM_GATES = 8  # checkpoints of a lap, at eighths of a turn about the middle
GATE_REACH = 0.1  # screens from the centre line within which a checkpoint counts
NUM_LAPS = 3
NUM_RACES = 3  # levels to win

# Cars, lengths in screens, speeds in screens per tick (60 ticks a second).
NUM_CARS = 4  # the player and three rivals
CAR_RADIUS = 0.022  # how far apart cars keep
CAR_HALF_LENGTH = 0.029  # as drawn
POWER = 0.0002  # forward speed gained in a tick of full throttle
BRAKING = 0.0003  # forward speed lost in a tick of braking
DRAG = 0.02  # share of the forward speed lost in a tick; top speed = POWER / DRAG
GRASS_DRAG = 0.05  # more of it off the track
GRIP = 0.14  # share of the sideways speed lost in a tick
GRASS_GRIP = 0.5  # grip off the track, share of the grip on it
OIL_GRIP = 0.08  # grip and steering on oil, shares
TURN_RATE = 0.01  # turns per tick at full steering
STEERING_SPEED = 0.004  # forward speed from which the wheels turn the car fully
REVERSE_SPEED = 0.002  # fastest way backwards
BUMP_RESTITUTION = 0.6
OIL_RADIUS = 0.036
TOP_SPEED = POWER / DRAG

# Rivals: their power as a share of the player's, and where between the kerbs they like to drive.
RIVAL_POWER = (0.80, 0.86, 0.92)
POWER_PER_LEVEL = 0.03
LANE_REACH = 0.04  # screens either side of the centre line
LANE_TICKS = 110  # a rival thinks of another lane this often

# Points.
GATE_POINTS = 1.0
OVERTAKE_POINTS = 3.0  # for each rival passed for the first time in a race
FINISH_POINTS = (20.0, 10.0)  # first, second

LIVES_AT_START = 3  # races that may be lost
QUALIFYING_PLACES = 2
COUNTDOWN = 45  # ticks before the lights go out
MAX_TICKS = 3600

# Entity slots.
PLAYER, RIVAL_1, RIVAL_2, RIVAL_3, GATE, OIL = range(6)

# Places in the world vector: seven columns a car, then the rest.
CAR = 7
X, Y, VX, VY, HEADING, OFF_TRACK, LAPS = range(CAR)
GATE_X, GATE_Y, GATE_INDEX = (HEAD + NUM_CARS * CAR + k for k in range(3))
OIL_X, OIL_Y = GATE_INDEX + 1, GATE_INDEX + 2
PROGRESS, SPEED, AHEAD, WAIT = (OIL_Y + k for k in range(1, 5))
PASSED = WAIT + 1  # private, a car each: checkpoints passed since the start, in order
LANE = PASSED + NUM_CARS  # private, a rival each: its lane, screens from the centre line
A2, B2, A3 = LANE + 3, LANE + 4, LANE + 5  # private: the level's bends
BEST_AHEAD = LANE + 6  # private: fewest rivals that were ahead in this race

# Parameters.
(
    P_POWER,
    P_BRAKING,
    P_DRAG,
    P_GRASS_DRAG,
    P_GRIP,
    P_TURN_RATE,
    P_RESTITUTION,
    P_RIVAL_POWER,
    P_SOLID,
    P_OIL_GRIP,
) = range(10)

ACTIONS = (
    "coast",
    "gas",
    "brake",
    "left",
    "right",
    "gas_left",
    "gas_right",
    "brake_left",
    "brake_right",
)
TURN_OF = (0.0, 0.0, 0.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0)
GAS_OF = (0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
BRAKE_OF = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)


@rule
def _bends(level):
    """(a2, b2, a3) of a level's circuit; b3 = 2/3 b2 makes the start line's stretch run upwards."""
    mixed = (np.int64(level) * 2654435761 + 1013904223) % 4294967296
    mixed = (mixed ^ (mixed >> 15)) * 73244475 % 4294967296
    mixed = mixed ^ (mixed >> 16)
    return BEND_A2[mixed % 4], BEND_B2[(mixed // 4) % 4], BEND_A3[(mixed // 16) % 4]


@rule
def _radius(c, s, a2, b2, a3):
    """The centre line's distance in direction (c, s), and how it changes per radian."""
    b3 = b2 * (2.0 / 3.0)
    c2, s2 = c * c - s * s, 2.0 * c * s
    c3, s3 = c2 * c - s2 * s, s2 * c + c2 * s
    radius = MEAN_RADIUS + a2 * c2 + b2 * s2 + a3 * c3 + b3 * s3
    slope = 2.0 * (b2 * c2 - a2 * s2) + 3.0 * (b3 * c3 - a3 * s3)
    return radius, slope


@rule
def _place_on_track(x, y, a2, b2, a3):
    """Outward offset from the centre line, and the unit vector of the way ahead."""
    dx, dy = x - 0.5, y - 0.5
    far = np.sqrt(dx * dx + dy * dy) + 1e-12
    c, s = dx / far, dy / far
    radius, slope = _radius(c, s, a2, b2, a3)
    length = np.sqrt(radius * radius + slope * slope)
    return (
        (far - radius) * radius / length,
        (slope * c - radius * s) / length,
        (slope * s + radius * c) / length,
    )


@rule
def _along(x, y):
    """Where around the middle, 0..1 from the start line (left), clockwise."""
    dx, dy = x - 0.5, y - 0.5
    lean = dy / (abs(dx) + abs(dy) + 1e-12)
    if dx < 0.0:
        return wrap(-0.25 * lean)
    return 0.5 + 0.25 * lean


@rule
def _centre_line(eighths, lane, a2, b2, a3):
    """The point of the track at a number of eighths from the start line, `lane` outwards."""
    s, c = sine_cosine(0.5 + eighths * 0.125)
    radius, _slope = _radius(c, s, a2, b2, a3)
    return 0.5 + (radius + lane) * c, 0.5 + (radius + lane) * s


@rule
def reset(world, level, parameters):
    """The grid of the first race: three rivals, then the player."""
    world[LIVES] = LIVES_AT_START
    world[LEVEL] = level
    _line_up(world)


@rule
def _line_up(world):
    """All cars on the grid below the start line, a new circuit where the level is new."""
    a2, b2, a3 = _bends(world[LEVEL])
    world[A2], world[B2], world[A3] = a2, b2, a3
    for car in range(NUM_CARS):
        row = 3.0 if car == PLAYER else car - 1.0
        back = 0.035 + 0.052 * row
        side = 0.028 if car % 2 == 0 else -0.028
        x = 0.5 - MEAN_RADIUS
        for _ in range(4):
            off, ahead_x, _ahead_y = _place_on_track(x, 0.5 + back, a2, b2, a3)
            x += off - side
        at = HEAD + CAR * car
        world[at + X], world[at + Y] = x, 0.5 + back
        world[at + VX], world[at + VY] = 0.0, 0.0
        world[at + HEADING] = wrap(ahead_x / 6.0)  # near the upright this is the angle in turns
        world[at + OFF_TRACK], world[at + LAPS] = 0.0, 0.0
        world[PASSED + car] = -1.0
        if car != PLAYER:
            world[LANE + car - 1] = -side
    turn = np.int64(world[LEVEL])
    oil_lane = 0.03 if turn % 2 == 0 else -0.03
    world[OIL_X], world[OIL_Y] = _centre_line(2.5 + (turn * 3) % 5, oil_lane, a2, b2, a3)
    world[AHEAD], world[BEST_AHEAD] = NUM_CARS - 1.0, NUM_CARS - 1.0
    world[SPEED], world[PROGRESS] = 0.0, 0.0
    world[WAIT] = COUNTDOWN
    world[PHASE] = READY
    _place_gate(world)


@rule
def _place_gate(world):
    """The next checkpoint stands on the centre line."""
    following = np.int64(world[PASSED] + 1.0) % NUM_GATES
    world[GATE_INDEX] = following * 1.0
    world[GATE_X], world[GATE_Y] = _centre_line(
        following * 1.0, 0.0, world[A2], world[B2], world[A3]
    )


@rule
def step(world, action, parameters):
    """Drive all cars, let them bump, count checkpoints, then see who is ahead."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    if world[WAIT] > 0.0:
        world[WAIT] -= 1.0
        if world[WAIT] == 0.0:
            world[PHASE] = PLAYING
    else:
        _race(world, action, parameters)
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _race(world, action, parameters):
    world[PHASE] = PLAYING
    _drive(
        world, PLAYER, TURN_OF[action], GAS_OF[action], BRAKE_OF[action], parameters[P_POWER],
        parameters,
    )  # fmt: skip
    for car in range(1, NUM_CARS):
        _drive_rival(world, car, parameters)
    if parameters[P_SOLID] > 0.0:
        for a in range(NUM_CARS):
            for b in range(a + 1, NUM_CARS):
                _bump(world, HEAD + CAR * a, HEAD + CAR * b, parameters[P_RESTITUTION])
    for car in range(NUM_CARS):
        _mark(world, car, parameters)
    vx, vy = world[HEAD + VX], world[HEAD + VY]
    world[SPEED] = np.sqrt(vx * vx + vy * vy)
    _compare(world)
    _finish(world)


@rule
def _drive(world, car, turn, gas, brake, power, parameters):
    """One tick of one car: steering, engine, brakes, drag and the grip of its tyres."""
    at = HEAD + CAR * car
    grass = world[at + OFF_TRACK] > 0.0
    oil_x, oil_y = world[at + X] - world[OIL_X], world[at + Y] - world[OIL_Y]
    oil = oil_x * oil_x + oil_y * oil_y < OIL_RADIUS * OIL_RADIUS
    grip = parameters[P_GRIP] * (GRASS_GRIP if grass else 1.0)
    steering = turn * parameters[P_TURN_RATE]
    if oil:
        grip *= parameters[P_OIL_GRIP]
        steering *= parameters[P_OIL_GRIP]
    vx, vy = world[at + VX], world[at + VY]
    s, c = sine_cosine(world[at + HEADING])
    forward = vx * s - vy * c
    world[at + HEADING] = wrap(
        world[at + HEADING] + steering * clamp(forward / STEERING_SPEED, -1.0, 1.0)
    )
    s, c = sine_cosine(world[at + HEADING])
    forward, sideways = vx * s - vy * c, vx * c + vy * s
    forward += gas * power
    if brake > 0.0:
        forward = max(forward - parameters[P_BRAKING], min(forward, -REVERSE_SPEED))
    forward -= forward * (parameters[P_DRAG] + (parameters[P_GRASS_DRAG] if grass else 0.0))
    sideways -= sideways * grip
    _move(world, at, forward * s + sideways * c, sideways * s - forward * c, parameters)


@rule
def _move(world, at, vx, vy, parameters):
    """Move a car; the fence around the screen throws it back."""
    x, y = world[at + X] + vx, world[at + Y] + vy
    if x < CAR_RADIUS or x > 1.0 - CAR_RADIUS:
        x, vx = clamp(x, CAR_RADIUS, 1.0 - CAR_RADIUS), -vx * parameters[P_RESTITUTION]
    if y < CAR_RADIUS or y > 1.0 - CAR_RADIUS:
        y, vy = clamp(y, CAR_RADIUS, 1.0 - CAR_RADIUS), -vy * parameters[P_RESTITUTION]
    world[at + X], world[at + Y], world[at + VX], world[at + VY] = x, y, vx, vy


@rule
def _steer(x, y, vx, vy, heading, lane, look, a2, b2, a3):
    """How to hold a lane: the sine of the angle still to turn, and its cosine."""
    seen_x, seen_y = x + vx * look, y + vy * look
    off, ahead_x, ahead_y = _place_on_track(seen_x, seen_y, a2, b2, a3)
    # Outwards is to the left of the way ahead: (ahead_y, -ahead_x).
    lean = clamp((lane - off) * 9.0, -0.9, 0.9)
    goal_x, goal_y = ahead_x + lean * ahead_y, ahead_y - lean * ahead_x
    length = np.sqrt(goal_x * goal_x + goal_y * goal_y)
    s, c = sine_cosine(heading)
    return (c * goal_x + s * goal_y) / length, (s * goal_x - c * goal_y) / length


@rule
def _drive_rival(world, car, parameters):
    at, lane_at = HEAD + CAR * car, LANE + car - 1
    if (np.int64(world[TICK]) + 37 * car) % LANE_TICKS == 0:
        world[lane_at] = (2.0 * uniform(world) - 1.0) * LANE_REACH
    off_line, facing = _steer(
        world[at + X], world[at + Y], world[at + VX], world[at + VY], world[at + HEADING],
        world[lane_at], 8.0, world[A2], world[B2], world[A3],
    )  # fmt: skip
    turn = clamp(off_line * 6.0, -1.0, 1.0)
    if facing < 0.0:
        turn = 1.0 if off_line > 0.0 else -1.0
    share = RIVAL_POWER[car - 1] + POWER_PER_LEVEL * min(world[LEVEL] - 1.0, 4.0)
    gas = 1.0 if facing > 0.8 else 0.45
    power = parameters[P_POWER] * parameters[P_RIVAL_POWER] * share
    _drive(world, car, turn, gas, 0.0, power, parameters)


@rule
def _bump(world, a, b, restitution):
    """Two cars of equal mass part along the line between them."""
    dx, dy = world[b + X] - world[a + X], world[b + Y] - world[a + Y]
    gap = dx * dx + dy * dy
    if gap >= 4.0 * CAR_RADIUS * CAR_RADIUS:
        return
    far = np.sqrt(gap)
    if far < 1e-9:
        dx, dy, far = 1.0, 0.0, 1.0
        push = CAR_RADIUS
    else:
        push = (2.0 * CAR_RADIUS - far) * 0.5
    dx, dy = dx / far, dy / far
    low, high = CAR_RADIUS, 1.0 - CAR_RADIUS
    world[a + X] = clamp(world[a + X] - dx * push, low, high)
    world[a + Y] = clamp(world[a + Y] - dy * push, low, high)
    world[b + X] = clamp(world[b + X] + dx * push, low, high)
    world[b + Y] = clamp(world[b + Y] + dy * push, low, high)
    closing = (world[a + VX] - world[b + VX]) * dx + (world[a + VY] - world[b + VY]) * dy
    if closing <= 0.0:
        return
    kick = 0.5 * (1.0 + restitution) * closing
    world[a + VX] -= kick * dx
    world[a + VY] -= kick * dy
    world[b + VX] += kick * dx
    world[b + VY] += kick * dy


@rule
def _mark(world, car, parameters):
    """Note whether a car has left the asphalt, and the checkpoints it passes in their order."""
    at = HEAD + CAR * car
    x, y = world[at + X], world[at + Y]
    off, _ahead_x, _ahead_y = _place_on_track(x, y, world[A2], world[B2], world[A3])
    world[at + OFF_TRACK] = 1.0 if abs(off) > TRACK_HALF_WIDTH else 0.0
    following = np.int64(world[PASSED + car] + 1.0) % NUM_GATES
    if abs(off) > GATE_REACH or np.int64(_along(x, y) * NUM_GATES) != following:
        return
    world[PASSED + car] += 1.0
    world[at + LAPS] = np.floor(world[PASSED + car] / NUM_GATES)
    if car == PLAYER:
        _earn(world, GATE_POINTS)
        _place_gate(world)


@rule
def _earn(world, points):
    world[REWARD] += points
    world[SCORE] += points


@rule
def _distance(world, car):
    """How far a car has come, in laps: checkpoints and the way since the last."""
    at = HEAD + CAR * car
    passed = world[PASSED + car] / NUM_GATES
    return passed + wrapped_gap(_along(world[at + X], world[at + Y]), passed)


@rule
def _compare(world):
    """Count the rivals ahead; passing one for the first time in a race earns points."""
    mine = _distance(world, PLAYER)
    ahead = 0.0
    for car in range(1, NUM_CARS):
        if _distance(world, car) > mine:
            ahead += 1.0
    world[AHEAD] = ahead
    if ahead < world[BEST_AHEAD]:
        _earn(world, OVERTAKE_POINTS * (world[BEST_AHEAD] - ahead))
        world[BEST_AHEAD] = ahead
    world[PROGRESS] = clamp(mine / NUM_LAPS, 0.0, 1.0)


@rule
def _finish(world):
    """The race ends when the player is home, or when a place among the first two is gone."""
    home = 0
    for car in range(1, NUM_CARS):
        if world[HEAD + CAR * car + LAPS] >= NUM_LAPS:
            home += 1
    if world[HEAD + LAPS] >= NUM_LAPS and home < QUALIFYING_PLACES:
        _earn(world, FINISH_POINTS[home])
        if world[LEVEL] >= NUM_RACES:
            world[PHASE] = WON
            world[TERMINATED] = 1.0
            return
        world[LEVEL] += 1.0
        _line_up(world)
    elif home >= QUALIFYING_PLACES:
        world[LIVES] -= 1.0
        if world[LIVES] <= 0.0:
            world[PHASE] = OVER
            world[TERMINATED] = 1.0
            return
        _line_up(world)
        world[PHASE] = LOST


@rule
def decide(world, parameters, luck):
    """Full throttle along the centre line, out of it to pass a slower car or to miss the oil."""
    a2, b2, a3 = _bends(world[LEVEL])
    x, y, vx, vy = world[HEAD + X], world[HEAD + Y], world[HEAD + VX], world[HEAD + VY]
    lane = (luck[0] - 0.5) * 0.02 - 0.008
    nearest = 0.15
    for k in range(NUM_CARS):
        other_x, other_y, room = world[OIL_X], world[OIL_Y], OIL_RADIUS + CAR_RADIUS
        if k > 0:
            at = HEAD + CAR * k
            other_x, other_y, room = world[at + X], world[at + Y], 2.3 * CAR_RADIUS
        off, _ahead_x, _ahead_y = _place_on_track(other_x, other_y, a2, b2, a3)
        dx, dy = other_x - x, other_y - y
        in_front = dx * vx + dy * vy > 0.0
        far = np.sqrt(dx * dx + dy * dy)
        if in_front and far < nearest:
            nearest = far
            lane = off - room if off > -0.005 else off + room
    lane = clamp(lane, -0.052, 0.052)
    off_line, facing = _steer(x, y, vx, vy, world[HEAD + HEADING], lane, 9.0, a2, b2, a3)
    turn = 1 if off_line > 0.04 else (-1 if off_line < -0.04 else 0)
    if facing < 0.0:
        turn = 1 if off_line > 0.0 else -1
    if facing < 0.7 and world[SPEED] > 0.55 * TOP_SPEED:
        return 2 if turn == 0 else (7 if turn < 0 else 8)
    return 1 if turn == 0 else (5 if turn < 0 else 6)


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """The circuit with its kerbs, and the scoreboard on the infield."""
    dx, dy = camera[0], camera[1]
    a2, b2, a3 = _bends(clamp(np.floor(numbers[3] * 1.0 + 0.5), 0.0, 1e6))
    _draw_track(frame, a2, b2, a3, dx, dy, palette)
    _draw_start(frame, a2, b2, a3, dx, dy, palette)
    _draw_board(frame, state, numbers, palette, sprites, dx, dy)


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Oil, the next gate, the start's lights, the race's gauge, cars."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    if state[OIL, 2] > 0.5:
        x, y = state[OIL, 0] * width + dx, state[OIL, 1] * height + dy
        canvas.disc(frame, x, y, OIL_RADIUS * height, palette[6])
        canvas.disc(
            frame, x + 0.35 * OIL_RADIUS * height, y - 0.3 * OIL_RADIUS * height,
            0.3 * OIL_RADIUS * height, palette[7],
        )  # fmt: skip
    if state[GATE, 2] > 0.5:
        x, y = state[GATE, 0] * width + dx, state[GATE, 1] * height + dy
        canvas.ring(frame, x, y, 0.022 * height, 0.01 * height, palette[8])
    _draw_gauges(frame, numbers, palette, dx, dy)
    for k in range(NUM_CARS):
        car = NUM_CARS - 1 - k
        if state[car, 2] > 0.5:
            s, c = sine_cosine(state[car, 7 + 4] * 1.0)
            canvas.sprite(
                frame, sprites[car], state[car, 0] * width + dx, state[car, 1] * height + dy,
                CAR_HALF_LENGTH * height, CAR_HALF_LENGTH * height, s, c, False,
            )  # fmt: skip


@rule
def _offset_at(column, row, scale_x, scale_y, a2, b2, a3):
    """Outward offset from the centre line at a corner between pixels."""
    return _place_on_track(column * scale_x, row * scale_y, a2, b2, a3)[0]


@rule
def _draw_track(frame, a2, b2, a3, dx, dy, palette):
    """Asphalt and kerbs, in square cells.

    The distance to the centre line is exact at a cell's corners and bilinear between them; cells
    that lie on one side of both edges are filled or left at once.
    """
    height, width = frame.shape[0], frame.shape[1]
    scale_x, scale_y = 1.0 / width, 1.0 / height
    cell = min(max(height // 28, 2), 8)
    per_cell = 1.0 / cell
    inside = TRACK_HALF_WIDTH - KERB_HALF_WIDTH - scale_y
    outside = TRACK_HALF_WIDTH + KERB_HALF_WIDTH + scale_y
    for top in range(0, height, cell):
        y, below = top - dy, top + cell - dy
        upper = _offset_at(-dx, y, scale_x, scale_y, a2, b2, a3)
        lower = _offset_at(-dx, below, scale_x, scale_y, a2, b2, a3)
        for left in range(0, width, cell):
            a, c = upper, lower
            upper = _offset_at(left + cell - dx, y, scale_x, scale_y, a2, b2, a3)
            lower = _offset_at(left + cell - dx, below, scale_x, scale_y, a2, b2, a3)
            least, most = min(a, c, upper, lower), max(a, c, upper, lower)
            if least > outside or most < -outside:
                continue
            right, bottom = min(left + cell, width), min(top + cell, height)
            if least > -inside and most < inside:
                _fill(frame, top, bottom, left, right, palette[2])
                continue
            for row in range(top, bottom):
                share = (row + 0.5 - top) * per_cell
                first, last = a + (c - a) * share, upper + (lower - upper) * share
                if min(first, last) > outside or max(first, last) < -outside:
                    continue
                if min(first, last) > -inside and max(first, last) < inside:
                    _fill(frame, row, row + 1, left, right, palette[2])
                    continue
                for column in range(left, right):
                    off = first + (last - first) * ((column + 0.5 - left) * per_cell)
                    _edge_pixel(frame, row, column, abs(off), dx, dy, palette)


@rule
def _fill(frame, top, bottom, left, right, colour):
    red, green, blue = colour[0], colour[1], colour[2]
    for row in range(top, bottom):
        for column in range(left, right):
            frame[row, column, 0] = red
            frame[row, column, 1] = green
            frame[row, column, 2] = blue


@rule
def _edge_pixel(frame, row, column, off, dx, dy, palette):
    """One pixel near the edge: asphalt, then the kerb's two colours by turns over it."""
    height, width = frame.shape[0], frame.shape[1]
    beyond = off - TRACK_HALF_WIDTH
    share = (KERB_HALF_WIDTH - abs(beyond)) * height + 0.5
    if share <= 0.0 and beyond > 0.0:
        return
    if share < 1.0 and beyond < 0.0:
        frame[row, column, 0] = palette[2, 0]
        frame[row, column, 1] = palette[2, 1]
        frame[row, column, 2] = palette[2, 2]
    if share <= 0.0:
        return
    # The way around, as in `_along`, in stripes; the picture's aspect is 1.
    x, y = column + 0.5 - dx - 0.5 * width, row + 0.5 - dy - 0.5 * height
    lean = 18.0 * y / (abs(x) + abs(y) + 1e-9)
    stripe = 3 + (np.int64(36.0 - lean if x < 0.0 else 72.0 + lean) & 1)
    if share < 1.0:
        canvas.blend(frame, row, column, palette[stripe], share)
    else:
        frame[row, column, 0] = palette[stripe, 0]
        frame[row, column, 1] = palette[stripe, 1]
        frame[row, column, 2] = palette[stripe, 2]


@rule
def _draw_start(frame, a2, b2, a3, dx, dy, palette):
    """The chequered line at the left."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    radius, _slope = _radius(-1.0, 0.0, a2, b2, a3)
    tile = TRACK_HALF_WIDTH / 5.0
    for k in range(10):
        for j in range(2):
            x = 0.5 - radius + (k - 4.5) * tile
            canvas.box(
                frame, x * width + dx, (0.5 + (j - 0.5) * tile) * height + dy,
                0.5 * tile * width, 0.5 * tile * height, palette[4 if (k + j) % 2 == 0 else 6],
            )  # fmt: skip


@rule
def _draw_board(frame, state, numbers, palette, sprites, dx, dy):
    """Score, races that may be lost, place, and each car's laps."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dot = height / 80.0
    score = np.int64(clamp(numbers[0] * 1.0 + 0.5, 0.0, 1e6))
    canvas.number(frame, 0.985 * width + dx, 0.02 * height + dy, dot, score, palette[5])
    for life in range(np.int64(clamp(numbers[2] * 1.0 + 0.5, 0.0, 9.0))):
        canvas.disc(
            frame, (0.03 + 0.04 * life) * width + dx, 0.03 * height + dy, 0.014 * height,
            palette[3],
        )  # fmt: skip
    place = np.int64(clamp(numbers[14] * 1.0 + 1.5, 1.0, 9.0))
    canvas.number(frame, 0.47 * width + dx, 0.44 * height + dy, 1.8 * dot, place, palette[5])
    for car in range(NUM_CARS):
        y = (0.44 + 0.04 * car) * height + dy
        canvas.sprite(
            frame, sprites[car], 0.51 * width + dx, y, 0.016 * height, 0.016 * height, 0.0, 1.0,
            False,
        )  # fmt: skip
        for lap in range(np.int64(clamp(state[car, 5 + 13] * 1.0 + 0.5, 0.0, 5.0))):
            canvas.disc(
                frame, (0.545 + 0.03 * lap) * width + dx, y, 0.01 * height, palette[8]
            )  # fmt: skip


@rule
def _draw_gauges(frame, numbers, palette, dx, dy):
    """Lights of the start, and how far the race has come."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    lights = np.int64(np.ceil(clamp(numbers[10] * 1.0, 0.0, 1.0) * 3.0 - 1e-6))
    for k in range(lights):
        canvas.disc(
            frame, (0.46 + 0.04 * k) * width + dx, 0.36 * height + dy, 0.015 * height, palette[3]
        )
    share = clamp(numbers[9] * 1.0, 0.0, 1.0)
    canvas.box(frame, 0.5 * width + dx, 0.63 * height + dy, 0.1 * width, 0.012 * height, palette[2])
    canvas.box(
        frame, (0.4 + 0.1 * share) * width + dx, 0.63 * height + dy, 0.1 * share * width,
        0.008 * height, palette[8],
    )  # fmt: skip


@rule
def late(public):
    """The second race or a later one."""
    return public[LEVEL] >= 2.0


def _car_slot(name: str, kind: str, layer: str) -> Slot:
    return Slot(
        name,
        kind,
        "circle",
        layer,
        radius=CAR_RADIUS,
        controllable=kind == "player",
        solid=True,
        restitution=BUMP_RESTITUTION,
        friction=GRIP,
    )


_CAR_FIELDS = ("x", "y", "vx", "vy", "rotation", "tagged", "tagged_count")

GAME = Game(
    manifest=Manifest(
        game="racer",
        version=1,
        slots=(
            _car_slot("player", "player", "player"),
            *(_car_slot(f"rival_{k}", "opponent", "enemy") for k in (1, 2, 3)),
            Slot("gate", "goal", "circle", "pickup", radius=0.022),
            Slot("oil", "hazard", "circle", "hazard", radius=OIL_RADIUS, mutable=False),
        ),
        fields=("piece_type", "rotation", "tagged", "tagged_count"),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "progress",
            "speed",
            "opponent_score",
            "cooldown",
        ),
        actions=("turn", "thrust", "brake"),
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *(column for car in range(NUM_CARS) for column in entity(car, *_CAR_FIELDS)),
        *entity(GATE, "x", "y", "piece_type"),
        *entity(OIL, "x", "y"),
        Column(None, "progress"),
        Column(None, "speed"),
        Column(None, "opponent_score"),
        Column(None, "cooldown", 1.0 / COUNTDOWN),
    ),
    private=(
        *(f"passed_{k}" for k in range(NUM_CARS)),
        "lane_1",
        "lane_2",
        "lane_3",
        "a2",
        "b2",
        "a3",
        "best_ahead",
    ),
    parameters={
        "power": Parameter(POWER, "forward speed gained in a tick, screens per tick"),
        "braking": Parameter(BRAKING, "forward speed lost in a tick, screens per tick"),
        "drag": Parameter(DRAG, "share of the forward speed lost in a tick"),
        "grass_drag": Parameter(GRASS_DRAG, "further share lost in a tick off the track"),
        "grip": Parameter(GRIP, "share of the sideways speed lost in a tick"),
        "turn_rate": Parameter(TURN_RATE, "turns per tick"),
        "restitution": Parameter(BUMP_RESTITUTION, "speed after a bump / before"),
        "rival_power": Parameter(1.0, "rivals' power / their usual power"),
        "cars_solid": Parameter(1.0, "1 solid, 0 ghost"),
        "oil_grip": Parameter(OIL_GRIP, "grip and steering on oil / off it"),
    },
    actions=ACTIONS,
    action_table=tuple(
        (0, 0, 0, 0, turn, gas, brake)
        for turn, gas, brake in zip(TURN_OF, GAS_OF, BRAKE_OF, strict=True)
    ),
    action_keys={
        "up": "gas",
        "down": "brake",
        "left": "left",
        "right": "right",
    },
    characters=("car_coupe", "car_formula", "car_buggy", "car_truck", "car_van", "car_racer"),
    themes=(
        Theme(
            "classic",
            (
                (60, 140, 62),
                (68, 152, 70),
                (92, 94, 104),
                (214, 48, 48),
                (240, 240, 236),
                (250, 250, 245),
                (22, 22, 30),
                (92, 80, 128),
                (252, 220, 70),
            ),
            "stripes",
        ),
        Theme(
            "desert",
            (
                (222, 184, 120),
                (208, 168, 104),
                (120, 98, 84),
                (60, 90, 170),
                (246, 240, 226),
                (60, 40, 30),
                (30, 22, 24),
                (90, 110, 140),
                (255, 250, 150),
            ),
            "speckle",
        ),
        Theme(
            "night",
            (
                (14, 20, 38),
                (22, 34, 60),
                (46, 48, 66),
                (230, 60, 160),
                (90, 220, 230),
                (220, 230, 255),
                (4, 4, 8),
                (110, 60, 140),
                (255, 240, 120),
            ),
            "grid",
            1.0,
        ),
        Theme(
            "snow",
            (
                (232, 240, 248),
                (214, 226, 240),
                (128, 138, 156),
                (206, 66, 70),
                (250, 250, 252),
                (40, 60, 100),
                (28, 30, 44),
                (90, 120, 170),
                (255, 196, 60),
            ),
            "checker",
        ),
        Theme(
            "dusk",
            (
                (92, 60, 110),
                (40, 96, 90),
                (70, 62, 84),
                (244, 150, 60),
                (250, 236, 210),
                (255, 240, 214),
                (20, 14, 26),
                (120, 90, 150),
                (140, 240, 190),
            ),
            "gradient",
            1.5,
        ),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=(
        *(Column(None, name) for name in ("score", "lives", "level", "opponent_score")),
        *(column for car in range(NUM_CARS) for column in entity(car, "tagged_count")),
    ),
    late=late,
    roles=("player", "rival_1", "rival_2", "rival_3"),
    words={
        "player": "the player's car",
        "rival_1": "the first rival car",
        "rival_2": "the second rival car",
        "rival_3": "the third rival car",
        "goal": f"finish {NUM_LAPS} laps among the first {QUALIFYING_PLACES}",
        "coast": "the player's car rolls on and slows down",
        "gas": "the player's car speeds up straight ahead",
        "brake": "the player's car brakes",
        "left": "the player's car turns to its left without gas",
        "right": "the player's car turns to its right without gas",
        "gas_left": "the player's car speeds up and turns to its left",
        "gas_right": "the player's car speeds up and turns to its right",
        "brake_left": "the player's car brakes and turns to its left",
        "brake_right": "the player's car brakes and turns to its right",
    },
)
