"""Asteroids: a ship with inertia among drifting rocks, on a world that wraps both ways.

Every rock slot belongs to one size (3 large, 4 medium, 6 small), so a slot's radius is constant.
A rock breaks into two of the next size; a fragment that finds no free slot crumbles to dust.
"""

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
from cosmolabe.engine.motion import wrap, wrapped_gap
from cosmolabe.engine.rng import uniform

# Sizes, in screens (the world is square).
SHIP_RADIUS = 0.02
SAUCER_RADIUS = 0.028
BULLET_RADIUS = 0.006
RADII = (0.022, 0.042, 0.07)  # rocks: small, medium, large
CLEARANCE = 0.25  # least distance of a new rock from the ship

# Motion; lengths in screens, 60 ticks a second.
TURN_RATE = 0.011  # turns per tick
THRUST = 0.0003  # screens per tick per tick
DRAG = 0.008  # share of the speed lost per tick
TOP_SPEED = 0.016  # screens per tick
BULLET_SPEED = 0.018  # screens per tick, beyond the ship's own
BULLET_LIFE = 32  # ticks
RELOAD = 10  # ticks between shots
ROCK_SPEED = 0.0032  # screens per tick, large rocks of the first level
SIZE_SPEED = (2.0, 1.45, 1.0)  # small, medium, large: times that
LEVEL_SPEED = 0.15  # rocks are faster by this share with every level
SAUCER_SPEED = 0.0045  # screens per tick
SHOT_SPEED = 0.012  # screens per tick, of the saucer's bullet
SHOT_LIFE = 60  # ticks

LIVES_AT_START = 3
MOST_LIVES = 6
EXTRA_LIFE_EVERY = 3000  # points
POINTS = (100.0, 50.0, 20.0)  # small, medium, large
SAUCER_POINTS = 200.0
LAST_LEVEL = 4
RESPAWN_WAIT = 60  # ticks
SHIELD_TIME = 120  # ticks
WAVE_WAIT = 60  # ticks between the last rock and the next wave
SAUCER_WAIT = 420.0  # ticks, shortest time between saucers; the longest is twice that
SAUCER_RELOAD = 70  # ticks
MAX_TICKS = 3600

# Entity slots.
SHIP, SAUCER, BULLET, SHOT, ROCK = 0, 1, 2, 6, 7
NUM_BULLETS = 4
NUM_LARGE, NUM_MEDIUM, NUM_SMALL = 3, 4, 6
NUM_ROCKS = NUM_LARGE + NUM_MEDIUM + NUM_SMALL

# Places in the world vector: every body starts with x, y, alive, vx, vy.
X, Y, ALIVE, VX, VY, AGE = range(6)
SHIP_AT = HEAD
ROTATION, TAGGED, BURNS = SHIP_AT + 5, SHIP_AT + 6, SHIP_AT + 7
SAUCER_AT = SHIP_AT + 8
BULLETS_AT = SAUCER_AT + 5  # four of the ship, then the saucer's shot; six columns each
SHOT_AT = BULLETS_AT + 6 * NUM_BULLETS
ROCKS_AT = SHOT_AT + 6  # five columns each
WAIT = ROCKS_AT + 5 * NUM_ROCKS  # ticks until the ship is back
SHIELD, SPEED = WAIT + 1, WAIT + 2
COOLDOWN = WAIT + 3  # private: ticks until the next shot
STANDING = WAIT + 4  # private: rocks left
NEXT_WAVE = WAIT + 5  # private: ticks until the next wave
NEXT_SAUCER = WAIT + 6  # private: ticks
SAUCER_GUN = WAIT + 7  # private: ticks until it shoots
SAUCER_TURN = WAIT + 8  # private: ticks until it changes course
SAUCER_WAY = WAIT + 9  # private: screens it has flown

# Parameters.
(
    P_TURN_RATE,
    P_THRUST,
    P_DRAG,
    P_BULLET_SPEED,
    P_ROCK_SPEED,
    P_SAUCER_SPEED,
    P_GRAVITY,
    P_SOLID,
) = range(8)

ACTIONS = (
    "stay",
    "left",
    "right",
    "thrust",
    "fire",
    "thrust_left",
    "thrust_right",
    "fire_left",
    "fire_right",
    "fire_thrust",
)


@rule
def reset(world, level, parameters):
    """The ship in the middle, shielded, and the level's first wave."""
    world[LIVES] = LIVES_AT_START
    world[LEVEL] = level
    for k in range(NUM_BULLETS + 1):
        world[BULLETS_AT + 6 * k + X], world[BULLETS_AT + 6 * k + Y] = 0.5, 0.5
    for k in range(NUM_ROCKS):
        world[ROCKS_AT + 5 * k + X], world[ROCKS_AT + 5 * k + Y] = 0.5, 0.5
    world[SAUCER_AT + X], world[SAUCER_AT + Y] = 0.0, 0.5
    world[NEXT_SAUCER] = SAUCER_WAIT
    _place_ship(world)
    _send_wave(world, parameters)
    world[PHASE] = READY


@rule
def _place_ship(world):
    """The ship at rest in the middle, nose up, safe for two seconds."""
    world[SHIP_AT + X], world[SHIP_AT + Y], world[SHIP_AT + ALIVE] = 0.5, 0.5, 1.0
    world[SHIP_AT + VX], world[SHIP_AT + VY], world[ROTATION] = 0.0, 0.0, 0.0
    world[SHIELD], world[TAGGED] = SHIELD_TIME, 1.0
    world[WAIT], world[COOLDOWN] = 0.0, 0.0


@rule
def _send_wave(world, parameters):
    """Three large rocks from the edges; with every level one medium rock more, up to four."""
    for k in range(NUM_LARGE):
        _send_rock(world, k, 2, parameters)
    for k in range(min(np.int64(world[LEVEL]) - 1, NUM_MEDIUM)):
        _send_rock(world, NUM_LARGE + k, 1, parameters)


@rule
def _send_rock(world, k, size, parameters):
    at = ROCKS_AT + 5 * k
    along = uniform(world)
    from_side = uniform(world) < 0.5
    x, y = (0.0 if from_side else along), (along if from_side else 0.0)
    dx, dy = wrapped_gap(x, world[SHIP_AT + X]), wrapped_gap(y, world[SHIP_AT + Y])
    if dx * dx + dy * dy < CLEARANCE * CLEARANCE:
        x, y = wrap(x + 0.5), wrap(y + 0.5)
    _set_rock(world, at, x, y, size, parameters)


@rule
def _set_rock(world, at, x, y, size, parameters):
    """A rock at a place, on a random course at about its size's speed."""
    s, c = sine_cosine(uniform(world))
    speed = parameters[P_ROCK_SPEED] * SIZE_SPEED[size] * (0.7 + 0.6 * uniform(world))
    speed *= 1.0 + LEVEL_SPEED * (world[LEVEL] - 1.0)
    world[at + X], world[at + Y], world[at + ALIVE] = x, y, 1.0
    world[at + VX], world[at + VY] = speed * s, speed * c
    world[STANDING] += 1.0


@rule
def step(world, action, parameters):
    """Ship, saucer, bullets and rocks move; then whatever touches breaks."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    if world[SHIP_AT + ALIVE] > 0.0:
        _fly(world, action, parameters)
    else:
        world[WAIT] -= 1.0
        if world[WAIT] <= 0.0:
            _place_ship(world)
    _move_saucer(world, parameters)
    _move_bullets(world)
    for k in range(NUM_ROCKS):
        if world[ROCKS_AT + 5 * k + ALIVE] > 0.0:
            _drift(world, ROCKS_AT + 5 * k)
    _meet_bullets(world, parameters)
    _meet_saucer(world, parameters)
    if world[SHIP_AT + ALIVE] > 0.0 and world[SHIELD] == 0.0:
        _meet_ship(world, parameters)
    _set_phase(world, parameters)


@rule
def _drift(world, at):
    world[at + X] = wrap(world[at + X] + world[at + VX])
    world[at + Y] = wrap(world[at + Y] + world[at + VY])


@rule
def _fly(world, action, parameters):
    """Turn, burn, lose a little speed to drag, move, and shoot."""
    turn = 0.0
    if action == 1 or action == 5 or action == 7:
        turn = -1.0
    elif action == 2 or action == 6 or action == 8:
        turn = 1.0
    burns = action == 3 or action == 5 or action == 6 or action == 9
    world[ROTATION] = wrap(world[ROTATION] + turn * parameters[P_TURN_RATE])
    s, c = sine_cosine(world[ROTATION])
    keep = 1.0 - parameters[P_DRAG]
    push = parameters[P_THRUST] if burns else 0.0
    vx = world[SHIP_AT + VX] * keep + push * s
    vy = world[SHIP_AT + VY] * keep - push * c + parameters[P_GRAVITY]
    speed = np.sqrt(vx * vx + vy * vy)
    if speed > TOP_SPEED:
        vx, vy, speed = vx * TOP_SPEED / speed, vy * TOP_SPEED / speed, TOP_SPEED
    world[SHIP_AT + VX], world[SHIP_AT + VY] = vx, vy
    world[SPEED], world[BURNS] = speed, 1.0 if burns else 0.0
    _drift(world, SHIP_AT)
    if world[SHIELD] > 0.0:
        world[SHIELD] -= 1.0
        world[TAGGED] = 1.0 if world[SHIELD] > 0.0 else 0.0
    if world[COOLDOWN] > 0.0:
        world[COOLDOWN] -= 1.0
    elif action == 4 or action >= 7:
        _shoot(world, s, c, parameters)


@rule
def _shoot(world, s, c, parameters):
    """A bullet from the nose, if fewer than four are in the air."""
    for k in range(NUM_BULLETS):
        at = BULLETS_AT + 6 * k
        if world[at + ALIVE] > 0.0:
            continue
        world[at + X] = wrap(world[SHIP_AT + X] + s * SHIP_RADIUS)
        world[at + Y] = wrap(world[SHIP_AT + Y] - c * SHIP_RADIUS)
        world[at + VX] = world[SHIP_AT + VX] + s * parameters[P_BULLET_SPEED]
        world[at + VY] = world[SHIP_AT + VY] - c * parameters[P_BULLET_SPEED]
        world[at + ALIVE], world[at + AGE] = 1.0, 0.0
        world[COOLDOWN] = RELOAD
        return


@rule
def _move_bullets(world):
    for k in range(NUM_BULLETS + 1):
        at = BULLETS_AT + 6 * k
        if world[at + ALIVE] == 0.0:
            continue
        _drift(world, at)
        world[at + AGE] += 1.0
        if world[at + AGE] >= (BULLET_LIFE if k < NUM_BULLETS else SHOT_LIFE):
            _remove(world, at)


@rule
def _remove(world, at):
    """A body is gone; it keeps its last place."""
    world[at + ALIVE], world[at + VX], world[at + VY] = 0.0, 0.0, 0.0


@rule
def _move_saucer(world, parameters):
    """It comes from a side at times, crosses the screen in zigzags, shoots, and leaves."""
    at = SAUCER_AT
    if world[at + ALIVE] == 0.0:
        world[NEXT_SAUCER] -= 1.0
        if world[NEXT_SAUCER] <= 0.0:
            way = 1.0 if uniform(world) < 0.5 else -1.0
            world[at + X], world[at + Y], world[at + ALIVE] = 0.0, uniform(world), 1.0
            world[at + VX], world[at + VY] = way * parameters[P_SAUCER_SPEED], 0.0
            world[SAUCER_WAY], world[SAUCER_TURN], world[SAUCER_GUN] = 0.0, 60.0, 40.0
        return
    _drift(world, at)
    world[SAUCER_WAY] += parameters[P_SAUCER_SPEED]
    world[SAUCER_TURN] -= 1.0
    if world[SAUCER_TURN] <= 0.0:
        world[SAUCER_TURN] = 60.0
        world[at + VY] = (np.floor(3.0 * uniform(world)) - 1.0) * 0.7 * parameters[P_SAUCER_SPEED]
    world[SAUCER_GUN] -= 1.0
    if world[SAUCER_GUN] <= 0.0:
        world[SAUCER_GUN] = SAUCER_RELOAD
        if world[SHIP_AT + ALIVE] > 0.0 and world[SHOT_AT + ALIVE] == 0.0:
            _saucer_shoots(world)
    if world[SAUCER_WAY] >= 1.0:
        _end_saucer(world)


@rule
def _end_saucer(world):
    _remove(world, SAUCER_AT)
    world[NEXT_SAUCER] = np.floor(SAUCER_WAIT * (1.0 + uniform(world)))


@rule
def _saucer_shoots(world):
    """Towards the ship, with an error that shrinks from level to level."""
    dx = wrapped_gap(world[SHIP_AT + X], world[SAUCER_AT + X])
    dy = wrapped_gap(world[SHIP_AT + Y], world[SAUCER_AT + Y])
    far = np.sqrt(dx * dx + dy * dy) + 1e-9
    error = max(0.12 - 0.025 * (world[LEVEL] - 1.0), 0.02)
    s, c = sine_cosine(error * (2.0 * uniform(world) - 1.0))
    world[SHOT_AT + X], world[SHOT_AT + Y] = world[SAUCER_AT + X], world[SAUCER_AT + Y]
    world[SHOT_AT + VX] = (dx * c - dy * s) / far * SHOT_SPEED
    world[SHOT_AT + VY] = (dx * s + dy * c) / far * SHOT_SPEED
    world[SHOT_AT + ALIVE], world[SHOT_AT + AGE] = 1.0, 0.0


@rule
def _touch(world, a, b, reach):
    """Whether body b is there and closer to body a than `reach`, across the edges as well."""
    if world[b + ALIVE] == 0.0:
        return False
    dx, dy = abs(world[a + X] - world[b + X]), abs(world[a + Y] - world[b + Y])
    dx, dy = min(dx, 1.0 - dx), min(dy, 1.0 - dy)
    return dx * dx + dy * dy < reach * reach


@rule
def _size_of(k):
    return 2 if k < NUM_LARGE else (1 if k < NUM_LARGE + NUM_MEDIUM else 0)


@rule
def _rock_touched(world, at, radius):
    """Number of the first rock that a body touches, else -1."""
    for k in range(NUM_ROCKS):
        rock = ROCKS_AT + 5 * k
        if _touch(world, at, rock, radius + RADII[_size_of(k)]):
            return k
    return -1


@rule
def _meet_bullets(world, parameters):
    """Any bullet breaks a rock; only the ship's own score."""
    for k in range(NUM_BULLETS + 1):
        at = BULLETS_AT + 6 * k
        if world[at + ALIVE] == 0.0:
            continue
        own = k < NUM_BULLETS
        if own and _touch(world, at, SAUCER_AT, BULLET_RADIUS + SAUCER_RADIUS):
            _remove(world, at)
            _end_saucer(world)
            _score(world, SAUCER_POINTS)
            continue
        rock = _rock_touched(world, at, BULLET_RADIUS)
        if rock >= 0:
            _remove(world, at)
            _break_rock(world, rock, parameters)
            if own:
                _score(world, POINTS[_size_of(rock)])


@rule
def _break_rock(world, k, parameters):
    """Two rocks of the next size where slots are free; the rest is dust."""
    at = ROCKS_AT + 5 * k
    _remove(world, at)
    world[STANDING] -= 1.0
    size = _size_of(k)
    if size == 0:
        return
    first = NUM_LARGE if size == 2 else NUM_LARGE + NUM_MEDIUM
    count = NUM_MEDIUM if size == 2 else NUM_SMALL
    fragments = 0
    for other in range(first, first + count):
        if fragments < 2 and world[ROCKS_AT + 5 * other + ALIVE] == 0.0:
            _set_rock(
                world,
                ROCKS_AT + 5 * other,
                world[at + X],
                world[at + Y],
                size - 1,
                parameters,
            )
            fragments += 1


@rule
def _meet_saucer(world, parameters):
    """A saucer that flies into a rock takes it along."""
    if world[SAUCER_AT + ALIVE] > 0.0:
        rock = _rock_touched(world, SAUCER_AT, 0.7 * SAUCER_RADIUS)
        if rock >= 0:
            _break_rock(world, rock, parameters)
            _end_saucer(world)


@rule
def _meet_ship(world, parameters):
    """Rocks, the saucer and its shot each cost the ship; a rock or saucer is lost with it."""
    if _touch(world, SHIP_AT, SHOT_AT, SHIP_RADIUS + BULLET_RADIUS):
        _remove(world, SHOT_AT)
        _lose_ship(world)
        return
    if _touch(world, SHIP_AT, SAUCER_AT, SHIP_RADIUS + SAUCER_RADIUS):
        _end_saucer(world)
        _score(world, SAUCER_POINTS)
        _lose_ship(world)
        return
    if parameters[P_SOLID] > 0.0:
        rock = _rock_touched(world, SHIP_AT, SHIP_RADIUS)
        if rock >= 0:
            _break_rock(world, rock, parameters)
            _score(world, POINTS[_size_of(rock)])
            _lose_ship(world)


@rule
def _lose_ship(world):
    _remove(world, SHIP_AT)
    world[SPEED], world[BURNS] = 0.0, 0.0
    world[WAIT] = RESPAWN_WAIT
    world[LIVES] -= 1.0


@rule
def _score(world, points):
    """Points, and one more ship each 3,000."""
    before = np.floor(world[SCORE] / EXTRA_LIFE_EVERY)
    world[SCORE] += points
    world[REWARD] += points
    if np.floor(world[SCORE] / EXTRA_LIFE_EVERY) > before:
        world[LIVES] = min(world[LIVES] + 1.0, MOST_LIVES * 1.0)


@rule
def _set_phase(world, parameters):
    """Waves follow one another; the game ends with the last ship, the last wave or the clock."""
    alive = world[SHIP_AT + ALIVE] > 0.0
    world[PHASE] = PLAYING if alive else LOST
    if world[STANDING] == 0.0:
        if alive:
            world[PHASE] = READY
        if world[NEXT_WAVE] == 0.0:
            world[NEXT_WAVE] = WAVE_WAIT + 1.0
        world[NEXT_WAVE] -= 1.0
        if world[NEXT_WAVE] == 0.0 and world[LEVEL] < LAST_LEVEL:
            world[LEVEL] += 1.0
            _send_wave(world, parameters)
    if world[LIVES] <= 0.0 or world[TICK] >= MAX_TICKS:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0
    elif world[STANDING] == 0.0 and world[LEVEL] >= LAST_LEVEL:
        world[PHASE] = WON
        world[TERMINATED] = 1.0


@rule
def decide(world, parameters, luck):
    """Turn to where a shot would meet the most pressing target, and fire when it lies ahead."""
    if world[SHIP_AT + ALIVE] == 0.0:
        return 0
    best, aim_x, aim_y, size = 9.0, 0.0, 0.0, 0.0
    for k in range(NUM_ROCKS + 1):
        at = SAUCER_AT if k == NUM_ROCKS else ROCKS_AT + 5 * k
        if world[at + ALIVE] == 0.0:
            continue
        radius = SAUCER_RADIUS if k == NUM_ROCKS else RADII[_size_of(k)]
        dx = wrapped_gap(world[at + X], world[SHIP_AT + X])
        dy = wrapped_gap(world[at + Y], world[SHIP_AT + Y])
        vx, vy = world[at + VX] - world[SHIP_AT + VX], world[at + VY] - world[SHIP_AT + VY]
        far = np.sqrt(dx * dx + dy * dy) + 1e-9
        closing = -(dx * vx + dy * vy) / far
        cost = far - radius - 40.0 * closing
        if cost < best:
            ticks = far / BULLET_SPEED
            best, aim_x, aim_y, size = cost, dx + vx * ticks, dy + vy * ticks, radius
    if best == 9.0:
        return _brake(world)
    s, c = sine_cosine(world[ROTATION])
    far = np.sqrt(aim_x * aim_x + aim_y * aim_y) + 1e-9
    across = (s * aim_y + c * aim_x) / far  # sine of the angle from nose to aim, clockwise
    ahead = (s * aim_x - c * aim_y) / far
    narrow = max(0.7 * size / far, 0.05)
    if ahead > 0.0 and abs(across) < narrow:
        return 4 if far < BULLET_LIFE * BULLET_SPEED else 3
    if ahead > 0.0 and abs(across) < 0.3:
        return 8 if across > 0.0 else 7
    return 2 if across > 0.0 else 1


@rule
def _brake(world):
    """Turn against the drift and burn, until the ship rests."""
    if world[SPEED] < 0.001:
        return 0
    s, c = sine_cosine(world[ROTATION])
    across = -(s * world[SHIP_AT + VY] + c * world[SHIP_AT + VX])
    ahead = -(s * world[SHIP_AT + VX] - c * world[SHIP_AT + VY])
    if ahead > 0.95 * world[SPEED]:
        return 3
    return 2 if across > 0.0 else 1


# Outline of a rock: distance of ten corners from its centre, in radii; four shapes.
_OUTLINE = np.array(
    [
        [1.0, 0.86, 1.0, 0.72, 0.98, 0.9, 0.66, 1.0, 0.92, 0.74],
        [0.94, 1.0, 0.7, 0.96, 1.0, 0.8, 0.98, 0.62, 1.0, 0.88],
        [1.0, 0.7, 0.95, 1.0, 0.82, 1.0, 0.75, 0.9, 1.0, 0.68],
        [0.9, 1.0, 0.95, 0.64, 1.0, 0.78, 1.0, 0.85, 0.7, 1.0],
    ]
)
_CORNERS = 10


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """Score, level and ships left."""
    side = frame.shape[0] * 1.0
    dot = side / 80.0
    x, y = camera[0], 0.02 * side + camera[1]
    canvas.number(frame, 0.28 * side + x, y, dot, np.int64(numbers[0] + 0.5), palette[2])
    canvas.number(frame, 0.96 * side + x, y, dot, np.int64(numbers[3] + 0.5), palette[2])
    for life in range(min(np.int64(numbers[2] + 0.5), MOST_LIVES)):
        at = (0.36 + 0.055 * life) * side + x
        half = 0.022 * side
        canvas.sprite(frame, sprites[0], at, 0.05 * side + camera[1], half, half, 0.0, 1.0, False)


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Rocks as broken outlines, the ship as its character, saucer, bullets."""
    side = frame.shape[0] * 1.0
    for slot in range(state.shape[0]):
        if state[slot, 2] < 0.5:
            continue
        reach = _reach(slot)
        for over_x in range(-1, 2):
            for over_y in range(-1, 2):
                x, y = state[slot, 0] + over_x, state[slot, 1] + over_y
                if x > -reach and x < 1.0 + reach and y > -reach and y < 1.0 + reach:
                    x, y = x * side + camera[0], y * side + camera[1]
                    _draw_body(frame, state, slot, x, y, side, palette, sprites)


@rule
def _reach(slot):
    return SAUCER_RADIUS * 1.6 if slot < ROCK else RADII[_size_of(slot - ROCK)]


@rule
def _draw_body(frame, state, slot, x, y, side, palette, sprites):
    if slot == SHIP:
        _draw_ship(frame, state, x, y, side, palette, sprites)
    elif slot == SAUCER:
        _draw_saucer(frame, x, y, SAUCER_RADIUS * side, palette)
    elif slot <= SHOT:
        shade = palette[3] if slot < SHOT else palette[5]
        canvas.disc(frame, x, y, BULLET_RADIUS * side, shade)
    else:
        radius = RADII[_size_of(slot - ROCK)] * side
        _draw_rock(frame, x, y, radius, slot % 4, max(side / 110.0, 1.0), palette)


@rule
def _draw_ship(frame, state, x, y, side, palette, sprites):
    s, c = sine_cosine(np.float64(state[SHIP, 13]))
    radius = SHIP_RADIUS * side
    if state[SHIP, 11] > 0.5:
        wide, back, tail = 0.5 * radius, 0.9 * radius, 2.0 * radius
        canvas.triangle(
            frame,
            x - s * back + c * wide,
            y + c * back + s * wide,
            x - s * back - c * wide,
            y + c * back - s * wide,
            x - s * tail,
            y + c * tail,
            palette[5],
        )
    canvas.sprite(frame, sprites[0], x, y, 1.4 * radius, 1.4 * radius, s, c, False)
    if state[SHIP, 17] > 0.5:
        canvas.ring(frame, x, y, 1.7 * radius, max(side / 160.0, 1.0), palette[6])


@rule
def _draw_saucer(frame, x, y, radius, palette):
    canvas.disc(frame, x, y - 0.3 * radius, 0.5 * radius, palette[6])
    canvas.triangle(
        frame, x - 1.2 * radius, y, x + 1.2 * radius, y, x, y - 0.75 * radius, palette[5]
    )
    canvas.triangle(
        frame, x - 1.2 * radius, y, x + 1.2 * radius, y, x, y + 0.75 * radius, palette[5]
    )
    canvas.line(frame, x - 1.2 * radius, y, x + 1.2 * radius, y, 0.2 * radius, palette[3])


@rule
def _draw_rock(frame, x, y, radius, shape, thick, palette):
    """Filled triangles about the centre (a disc hides their seams), then the outline."""
    for stroke in range(2):
        s, c = sine_cosine(0.0)
        px = x + s * radius * _OUTLINE[shape, 0]
        py = y - c * radius * _OUTLINE[shape, 0]
        for corner in range(1, _CORNERS + 1):
            s, c = sine_cosine(corner / _CORNERS)
            far = radius * _OUTLINE[shape, corner % _CORNERS]
            qx, qy = x + s * far, y - c * far
            if stroke == 0:
                canvas.triangle(frame, x, y, px, py, qx, qy, palette[4])
            else:
                canvas.line(frame, px, py, qx, qy, thick, palette[2])
            px, py = qx, qy
        if stroke == 0:
            canvas.disc(frame, x, y, 0.6 * radius, palette[4])


@rule
def late(public):
    """The third wave or the last."""
    return public[LEVEL] >= 3.0


def _rock_slots():
    counts = (("small", NUM_SMALL), ("medium", NUM_MEDIUM), ("large", NUM_LARGE))
    return tuple(
        Slot(
            f"{name}_rock_{k}",
            "hazard",
            "circle",
            "hazard",
            radius=RADII[size],
            solid=True,
            wraps=True,
            mass=float(4**size),
        )
        for size, (name, count) in reversed(list(enumerate(counts)))
        for k in range(count)
    )


def _bullet(name):
    return Slot(name, "projectile", "circle", "projectile", radius=BULLET_RADIUS, wraps=True)


_BODY = ("x", "y", "alive", "vx", "vy")
_MOVES = {  # turn, thrust, fire
    "stay": (0, 0, 0),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "thrust": (0, 1, 0),
    "fire": (0, 0, 1),
    "thrust_left": (-1, 1, 0),
    "thrust_right": (1, 1, 0),
    "fire_left": (-1, 0, 1),
    "fire_right": (1, 0, 1),
    "fire_thrust": (0, 1, 1),
}

GAME = Game(
    manifest=Manifest(
        game="asteroids",
        version=1,
        slots=(
            Slot(
                "ship",
                "player",
                "circle",
                "player",
                radius=SHIP_RADIUS,
                controllable=True,
                solid=True,
                wraps=True,
                friction=DRAG,
            ),
            Slot("saucer", "enemy", "circle", "enemy", radius=SAUCER_RADIUS, wraps=True),
            *(_bullet(f"bullet_{k}") for k in range(NUM_BULLETS)),
            _bullet("saucer_bullet"),
            *_rock_slots(),
        ),
        fields=("age", "piece_type", "rotation", "size_class", "tagged"),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "cooldown",
            "shield",
            "speed",
        ),
        actions=("fire", "thrust", "turn"),
        wrap_x=True,
        wrap_y=True,
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *entity(SHIP, *_BODY, "rotation", "tagged", "piece_type"),
        *entity(SAUCER, *_BODY),
        *(
            Column(BULLET + k, name, scale)
            for k in range(NUM_BULLETS + 1)
            for name, scale in (
                *((name, 1.0) for name in _BODY),
                ("age", 1.0 / (BULLET_LIFE if k < NUM_BULLETS else SHOT_LIFE)),
            )
        ),
        *(column for k in range(NUM_ROCKS) for column in entity(ROCK + k, *_BODY)),
        Column(None, "cooldown", 1.0 / RESPAWN_WAIT),
        Column(None, "shield", 1.0 / SHIELD_TIME),
        Column(None, "speed"),
    ),
    private=(
        "cooldown",
        "standing",
        "next_wave",
        "next_saucer",
        "saucer_gun",
        "saucer_turn",
        "saucer_way",
    ),
    parameters={
        "turn_rate": Parameter(TURN_RATE, "turns per tick"),
        "thrust": Parameter(THRUST, "screens per tick per tick"),
        "drag": Parameter(DRAG, "share of the ship's speed lost per tick"),
        "bullet_speed": Parameter(BULLET_SPEED, "screens per tick, beyond the ship's"),
        "rock_speed": Parameter(ROCK_SPEED, "screens per tick, large rocks, first level"),
        "saucer_speed": Parameter(SAUCER_SPEED, "screens per tick"),
        "gravity": Parameter(0.0, "screens per tick per tick, down, on the ship"),
        "rocks_solid": Parameter(1.0, "1 solid, 0 ghost: the ship flies through"),
    },
    actions=ACTIONS,
    action_table=tuple(
        (0, 0, 0, _MOVES[name][2], _MOVES[name][0], _MOVES[name][1], 0) for name in ACTIONS
    ),
    action_keys={"left": "left", "right": "right", "up": "thrust", "space": "fire"},
    characters=(
        "ship_arrow",
        "ship_dart",
        "ship_rocket",
        "ship_hawk",
        "ship_beetle",
        "ship_saucer",
    ),
    themes=(
        Theme(
            "vector",
            (
                (0, 0, 0),
                (10, 10, 12),
                (222, 228, 232),
                (255, 255, 255),
                (10, 11, 14),
                (255, 120, 90),
                (120, 200, 255),
            ),
        ),
        Theme(
            "deep_space",
            (
                (8, 10, 26),
                (225, 225, 255),
                (188, 170, 146),
                (255, 246, 190),
                (88, 76, 68),
                (255, 110, 80),
                (110, 220, 255),
            ),
            "stars",
        ),
        Theme(
            "nebula",
            (
                (30, 12, 52),
                (20, 74, 92),
                (240, 190, 230),
                (255, 255, 220),
                (112, 60, 120),
                (255, 160, 60),
                (140, 255, 220),
            ),
            "gradient",
        ),
        Theme(
            "radar",
            (
                (4, 18, 10),
                (10, 52, 26),
                (90, 240, 130),
                (220, 255, 220),
                (8, 40, 20),
                (250, 230, 90),
                (150, 255, 250),
            ),
            "grid",
            1.0,
        ),
        Theme(
            "chalk",
            (
                (226, 228, 220),
                (204, 206, 198),
                (60, 62, 74),
                (30, 30, 40),
                (176, 172, 160),
                (210, 70, 60),
                (40, 110, 190),
            ),
            "speckle",
        ),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=tuple(Column(None, name) for name in ("score", "lives", "level")),
    late=late,
    words={
        "player": "the ship",
        "goal": "shoot every rock and the saucer, and let nothing hit the ship",
        "stay": "the ship drifts on",
        "left": "the ship turns counter-clockwise",
        "right": "the ship turns clockwise",
        "thrust": "the ship burns its engine",
        "fire": "the ship fires ahead",
        "thrust_left": "the ship burns its engine and turns counter-clockwise",
        "thrust_right": "the ship burns its engine and turns clockwise",
        "fire_left": "the ship fires and turns counter-clockwise",
        "fire_right": "the ship fires and turns clockwise",
        "fire_thrust": "the ship fires and burns its engine",
    },
    constants={
        (ROCK + k, "size_class"): 2 if k < NUM_LARGE else (1 if k < NUM_LARGE + NUM_MEDIUM else 0)
        for k in range(NUM_ROCKS)
    },
)
