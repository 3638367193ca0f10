"""Kong: climb the sloping girders to the princess, over and past the barrels an ape rolls down."""

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
from cosmolabe.engine.motion import boxes_meet, clamp, whole, wrap
from cosmolabe.engine.rng import uniform

# Sizes, in screens (the world is square).
BODY_HALF_WIDTH = 0.02
BODY_HALF_HEIGHT = 0.028
BARREL_RADIUS = 0.018
FLAME_HALF_WIDTH = 0.016
FLAME_HALF_HEIGHT = 0.022
APE_HALF = 0.055
APE_X = 0.13
PRINCESS_HALF = 0.03
PRINCESS_X = 0.45
HAMMER_HALF = 0.018
HAMMER_LIFT = 0.08  # above its girder: a jump away
LADDER_HALF_WIDTH = 0.018
LADDER_HALF_HEIGHT = 0.056
LADDER_GRIP = 0.02  # how far from its middle a ladder can be entered
THICKNESS = 0.018  # of a girder
OIL_X = 0.05  # the drum at the end of all barrels
FALL_LIMIT = 0.07  # a deeper fall kills

# Six girders from the bottom up, odd ones falling to the right; the seventh is the princess's.
FLOORS = np.array([0.93, 0.80, 0.67, 0.54, 0.41, 0.28, 0.16])  # height of the top at mid-screen
LEFT_ENDS = np.array([0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.4])
RIGHT_ENDS = np.array([1.0, 0.9, 1.0, 0.9, 1.0, 0.9, 0.62])
DOWNHILL = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 0.0])
SLOPE = 0.03  # screens down for a screen across
TOP = 6
HAMMER_FLOOR = 2

# Speeds, in screens per tick (60 ticks a second), and gravity per tick.
WALK_SPEED = 0.0055
CLIMB_SPEED = 0.0036
JUMP_SPEED = 0.0085
GRAVITY = 0.0006
BARREL_SPEED = 0.0062
BARREL_RESTITUTION = 0.35
LADDER_SHARE = 0.75  # speed of a barrel on a ladder / on a girder
FLAME_SPEED = 0.0028
FASTER = 0.1  # gain of barrels and throws with every level
SLOWEST_BOUNCE = 0.002  # a barrel that lands slower stays down

# Times, in ticks.
THROW_EVERY = 150.0
WIND_UP = 28.0
FIRST_THROW = 40.0
HAMMER_TICKS = 320.0
SWING = 7.0
READY_WAIT = 20.0
LOST_WAIT = 40.0
WON_WAIT = 40.0
LEVEL_TICKS = 1500.0
MAX_TICKS = 3600

LADDER_CHANCE = 0.25  # that a barrel above the player takes the ladder it passes
FLAME_CHANCE = 0.4  # that a barrel which reaches the drum sets off the flame
FLAME_CLIMB = 0.5  # that the flame takes the ladder it passes
FLAME_TURN = 0.004  # that it turns, each tick
FLAME_FLOOR = 3  # it climbs no higher

JUMP_POINTS = 100.0
SMASH_POINTS = 300.0
BONUS = 5000.0  # for a full clock, in steps of 100
NUM_LIVES = 3.0
LAST_LEVEL = 4.0

# Entity slots.
PLAYER = 0
BARRELS, NUM_BARRELS = 1, 5
APE, PRINCESS, HAMMER, FLAME = 6, 7, 8, 9
LADDERS, NUM_LADDERS = 10, 6

# Places in the world vector.
X, Y, VX, VY, ON_GROUND, CLIMBING, FACING, ALIVE = range(HEAD, HEAD + 8)
BARREL = HEAD + 8  # x y vx vy alive tagged rotation, each
WINDING = BARREL + 35
HAMMER_X, HAMMER_Y, HAMMER_ALIVE, HELD_HAMMER, HAMMER_TURN = range(WINDING + 1, WINDING + 6)
FLAME_X, FLAME_Y, FLAME_VX, FLAME_VY, FLAME_ALIVE, FLAME_CLIMBS = range(WINDING + 6, WINDING + 12)
LADDER = WINDING + 12  # x y, each
TIME, HAMMER_LEFT, WAIT = range(LADDER + 12, LADDER + 15)
# Private.
FLOOR = WAIT + 1  # the girder stood on, -1 in the air or on a ladder
RUNG = WAIT + 2  # the ladder held
FELL_FROM = WAIT + 3  # height of the feet when they left the girder
JUMPED = WAIT + 4  # barrels (and the flame) already paid in this jump, a bit each
HELD = WAIT + 5  # whether the jump was pressed a tick ago
THROW = WAIT + 6  # ticks to the next barrel
BARREL_FLOOR = WAIT + 7  # the girder of each barrel, or the one it falls to
BARREL_FALLS = BARREL_FLOOR + 5
FLAME_FLOOR_NOW = BARREL_FALLS + 5
FLAME_UP = FLAME_FLOOR_NOW + 1  # -1 climbs up, 1 down

# Parameters.
(
    P_GRAVITY,
    P_WALK_SPEED,
    P_CLIMB_SPEED,
    P_JUMP_SPEED,
    P_BARREL_SPEED,
    P_RESTITUTION,
    P_LADDER_CHANCE,
    P_SOLID,
) = range(8)

ACTIONS = ("stay", "left", "right", "up", "down", "jump", "jump_left", "jump_right")
STAY, LEFT, RIGHT, UP, DOWN, JUMP, JUMP_LEFT, JUMP_RIGHT = range(8)


@rule
def reset(world, level, parameters):
    """Three lives; the level from its start."""
    world[LIVES] = NUM_LIVES
    world[LEVEL] = level
    _start_level(world)


@rule
def _chance_of_level(world, which):
    """A number in [0, 1) that follows from the level alone."""
    mixed = np.int64(world[LEVEL]) * 7919 + which * 10473 + 1234
    mixed = (mixed * mixed) % 1000003
    return (mixed % 1000) / 1000.0


@rule
def _top(floor, x):
    """Height of a girder's top at x."""
    return FLOORS[floor] + DOWNHILL[floor] * SLOPE * (x - 0.5)


@rule
def _start_level(world):
    """Ladders where the level puts them, no barrels, the player at the bottom."""
    for k in range(NUM_LADDERS):
        share = _chance_of_level(world, k)
        x = 0.66 + 0.2 * share if k % 2 == 0 else 0.14 + 0.2 * share
        if k == NUM_LADDERS - 1:
            x = 0.52 + 0.07 * share
        world[LADDER + 2 * k] = x
        world[LADDER + 2 * k + 1] = 0.5 * (_top(k, x) + _top(k + 1, x))
    for k in range(NUM_BARRELS):
        place = BARREL + 7 * k
        for column in range(2, 7):
            world[place + column] = 0.0
        if world[place] == 0.0:
            world[place], world[place + 1] = APE_X + APE_HALF, _top(5, APE_X) - BARREL_RADIUS
    world[HAMMER_X] = 0.4 + 0.2 * _chance_of_level(world, 9)
    world[HAMMER_Y] = _top(HAMMER_FLOOR, world[HAMMER_X]) - HAMMER_LIFT
    world[HAMMER_ALIVE], world[HELD_HAMMER], world[HAMMER_TURN] = 1.0, 0.0, 0.0
    world[HAMMER_LEFT] = 0.0
    world[FLAME_X], world[FLAME_Y] = OIL_X, _top(0, OIL_X) - FLAME_HALF_HEIGHT
    world[FLAME_VX], world[FLAME_VY] = 0.0, 0.0
    world[FLAME_ALIVE], world[FLAME_CLIMBS] = 0.0, 0.0
    world[WINDING], world[THROW] = 0.0, FIRST_THROW
    world[X], world[Y] = 0.14, _top(0, 0.14) - BODY_HALF_HEIGHT
    world[VX], world[VY] = 0.0, 0.0
    world[FLOOR], world[RUNG], world[JUMPED], world[HELD] = 0.0, -1.0, 0.0, 0.0
    world[ON_GROUND], world[CLIMBING], world[FACING], world[ALIVE] = 1.0, 0.0, 1.0, 1.0
    world[TIME] = LEVEL_TICKS
    world[PHASE], world[WAIT] = READY, READY_WAIT


@rule
def _faster(world):
    return 1.0 + FASTER * (world[LEVEL] - 1.0)


@rule
def step(world, action, parameters):
    """The ape throws, barrels and flame move, then the player; then see who met whom."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    if world[WAIT] > 0.0:
        _wait(world, action)
    else:
        _throw(world, parameters)
        _move_barrels(world, parameters)
        _move_flame(world)
        _move_player(world, action, parameters)
        if world[PHASE] == PLAYING:
            _carry_hammer(world)
            _pay_jumps(world)
            _meet(world, parameters)
            world[TIME] -= 1.0
            if world[TIME] <= 0.0 and world[PHASE] == PLAYING:
                _lose_life(world)
    world[SCORE] += world[REWARD]
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _wait(world, action):
    """Nothing moves before a start, after a death and at the princess."""
    world[HELD] = 1.0 if action >= JUMP else 0.0
    world[WAIT] -= 1.0
    if world[WAIT] > 0.0:
        return
    if world[PHASE] == READY:
        world[PHASE] = PLAYING
        return
    if world[PHASE] == WON:
        world[LEVEL] += 1.0
    _start_level(world)


@rule
def _throw(world, parameters):
    """Count down to the next barrel, raise it for all to see, let it roll."""
    slot = -1
    for k in range(NUM_BARRELS):
        if world[BARREL + 7 * k + 4] < 0.5:
            slot = k
            break
    if slot < 0:
        return
    world[THROW] -= 1.0
    world[WINDING] = 1.0 if world[THROW] <= WIND_UP else 0.0
    if world[THROW] > 0.0:
        return
    world[THROW] = THROW_EVERY * (0.6 + 0.8 * uniform(world)) / _faster(world)
    world[WINDING] = 0.0
    place = BARREL + 7 * slot
    world[place] = APE_X + APE_HALF
    world[place + 1] = _top(5, world[place]) - BARREL_RADIUS
    world[place + 2] = parameters[P_BARREL_SPEED] * _faster(world)
    world[place + 3], world[place + 4] = 0.0, 1.0
    world[place + 5], world[place + 6] = 0.0, 0.0
    world[BARREL_FLOOR + slot], world[BARREL_FALLS + slot] = 5.0, 0.0


@rule
def _move_barrels(world, parameters):
    speed = parameters[P_BARREL_SPEED] * _faster(world)
    for k in range(NUM_BARRELS):
        place = BARREL + 7 * k
        if world[place + 4] < 0.5:
            continue
        if world[place + 5] > 0.5:
            _descend(world, k, place, speed)
        elif world[BARREL_FALLS + k] > 0.5:
            _drop(world, k, place, speed, parameters)
        else:
            _roll(world, k, place, speed, parameters)


@rule
def _descend(world, k, place, speed):
    """Down a ladder, then on along the girder below."""
    floor = whole(world[BARREL_FLOOR + k], 1, TOP) - 1
    world[place + 3] = LADDER_SHARE * speed
    world[place + 1] += world[place + 3]
    bottom = _top(floor, world[place]) - BARREL_RADIUS
    if world[place + 1] >= bottom:
        world[place + 1] = bottom
        world[place + 2], world[place + 3] = DOWNHILL[floor] * speed, 0.0
        world[place + 5] = 0.0
        world[BARREL_FLOOR + k] = floor * 1.0


@rule
def _drop(world, k, place, speed, parameters):
    """Off a girder's end: fall, bounce, roll the other way."""
    floor = whole(world[BARREL_FLOOR + k], 0, TOP)
    world[place + 3] += parameters[P_GRAVITY]
    world[place] = clamp(world[place] + world[place + 2], BARREL_RADIUS, 1.0 - BARREL_RADIUS)
    world[place + 1] += world[place + 3]
    world[place + 6] = wrap(world[place + 6] + world[place + 2] / (6.2832 * BARREL_RADIUS))
    bottom = _top(floor, world[place]) - BARREL_RADIUS
    if world[place + 1] < bottom:
        return
    world[place + 1] = bottom
    world[place + 2] = DOWNHILL[floor] * speed
    if world[place + 3] > SLOWEST_BOUNCE:
        world[place + 3] = -parameters[P_RESTITUTION] * world[place + 3]
    else:
        world[place + 3] = 0.0
        world[BARREL_FALLS + k] = 0.0


@rule
def _roll(world, k, place, speed, parameters):
    """Down the slope; perhaps down a ladder, over the end, or into the drum."""
    floor = whole(world[BARREL_FLOOR + k], 0, TOP)
    before = world[place]
    x = before + DOWNHILL[floor] * speed
    world[place] = x
    world[place + 2], world[place + 3] = DOWNHILL[floor] * speed, SLOPE * speed
    world[place + 1] = _top(floor, x) - BARREL_RADIUS
    world[place + 6] = wrap(world[place + 6] + world[place + 2] / (6.2832 * BARREL_RADIUS))
    if floor == 0:
        if x < OIL_X + 0.02:
            world[place + 4] = 0.0
            if world[FLAME_ALIVE] < 0.5 and uniform(world) < FLAME_CHANCE:
                _light(world)
        return
    ladder = world[LADDER + 2 * (floor - 1)]
    crosses = (before - ladder) * (x - ladder) <= 0.0 and before != ladder
    if crosses and world[Y] > world[place + 1] and uniform(world) < parameters[P_LADDER_CHANCE]:
        world[place] = ladder
        world[place + 2], world[place + 3] = 0.0, LADDER_SHARE * speed
        world[place + 5] = 1.0
    elif x < LEFT_ENDS[floor] or x > RIGHT_ENDS[floor]:
        world[BARREL_FALLS + k] = 1.0
        world[BARREL_FLOOR + k] = floor - 1.0
        world[place + 2] *= 0.6
        world[place + 3] = 0.0


@rule
def _light(world):
    """The flame leaps out of the drum."""
    world[FLAME_ALIVE], world[FLAME_CLIMBS] = 1.0, 0.0
    world[FLAME_X], world[FLAME_Y] = OIL_X, _top(0, OIL_X) - FLAME_HALF_HEIGHT
    world[FLAME_VX], world[FLAME_VY] = FLAME_SPEED, 0.0
    world[FLAME_FLOOR_NOW] = 0.0


@rule
def _move_flame(world):
    """Wander along a girder, turn at whim, sometimes take a ladder."""
    if world[FLAME_ALIVE] < 0.5:
        return
    floor = whole(world[FLAME_FLOOR_NOW], 0, FLAME_FLOOR)
    if world[FLAME_CLIMBS] > 0.5:
        ladder = floor if world[FLAME_UP] < 0.0 else floor - 1
        goal = ladder + 1 if world[FLAME_UP] < 0.0 else ladder
        world[FLAME_VY] = world[FLAME_UP] * FLAME_SPEED
        world[FLAME_Y] += world[FLAME_VY]
        end = _top(goal, world[FLAME_X]) - FLAME_HALF_HEIGHT
        if (end - world[FLAME_Y]) * world[FLAME_UP] <= 0.0:
            world[FLAME_Y], world[FLAME_VY] = end, 0.0
            world[FLAME_CLIMBS] = 0.0
            world[FLAME_FLOOR_NOW] = goal * 1.0
            world[FLAME_VX] = FLAME_SPEED if uniform(world) < 0.5 else -FLAME_SPEED
        return
    before = world[FLAME_X]
    if uniform(world) < FLAME_TURN:
        world[FLAME_VX] = -world[FLAME_VX]
    x = before + world[FLAME_VX]
    low, high = LEFT_ENDS[floor] + 0.03, RIGHT_ENDS[floor] - 0.03
    if (x < low and world[FLAME_VX] < 0.0) or (x > high and world[FLAME_VX] > 0.0):
        world[FLAME_VX] = -world[FLAME_VX]
    world[FLAME_X], world[FLAME_Y] = x, _top(floor, x) - FLAME_HALF_HEIGHT
    for way in range(2):  # the ladder up, the ladder down
        ladder = floor if way == 0 else floor - 1
        if ladder < 0 or (way == 0 and floor >= FLAME_FLOOR):
            continue
        rung = world[LADDER + 2 * ladder]
        if (before - rung) * (x - rung) < 0.0 and uniform(world) < FLAME_CLIMB:
            world[FLAME_X], world[FLAME_VX] = rung, 0.0
            world[FLAME_CLIMBS] = 1.0
            world[FLAME_UP] = -1.0 if way == 0 else 1.0
            return


@rule
def _move_player(world, action, parameters):
    fresh = action >= JUMP and world[HELD] == 0.0
    world[HELD] = 1.0 if action >= JUMP else 0.0
    if world[CLIMBING] > 0.5:
        _climb(world, action, parameters)
    elif world[FLOOR] >= 0.0:
        _walk(world, action, fresh, parameters)
    else:
        _fly(world, parameters)
    world[ON_GROUND] = 1.0 if world[FLOOR] >= 0.0 else 0.0


@rule
def _push(action):
    if action in (LEFT, JUMP_LEFT):
        return -1.0
    return 1.0 if action in (RIGHT, JUMP_RIGHT) else 0.0


@rule
def _climb(world, action, parameters):
    """Up and down the ladder held; at its ends step onto the girder."""
    ladder = whole(world[RUNG], 0, TOP - 1)
    way = -1.0 if action == UP else (1.0 if action == DOWN else 0.0)
    world[VX], world[VY] = 0.0, way * parameters[P_CLIMB_SPEED]
    world[Y] += world[VY]
    feet = world[Y] + BODY_HALF_HEIGHT
    floor = -1
    if feet <= _top(ladder + 1, world[X]):
        floor = ladder + 1
    elif feet >= _top(ladder, world[X]) and way > 0.0:
        floor = ladder
    if floor < 0:
        return
    world[Y], world[VY] = _top(floor, world[X]) - BODY_HALF_HEIGHT, 0.0
    world[FLOOR], world[RUNG], world[CLIMBING] = floor * 1.0, -1.0, 0.0
    if floor == TOP:
        _finish_level(world)


@rule
def _walk(world, action, fresh, parameters):
    """Along the girder; take a ladder, jump, or step over the end."""
    floor = whole(world[FLOOR], 0, TOP)
    push = _push(action)
    if push != 0.0:
        world[FACING] = 1.0 if push > 0.0 else 3.0
    if (action in (UP, DOWN)) and world[HELD_HAMMER] < 0.5:
        ladder = floor if action == UP else floor - 1
        if ladder >= 0 and abs(world[X] - world[LADDER + 2 * ladder]) < LADDER_GRIP:
            world[X] = world[LADDER + 2 * ladder]
            world[RUNG], world[FLOOR], world[CLIMBING] = ladder * 1.0, -1.0, 1.0
            _climb(world, action, parameters)
            return
    world[VX] = push * parameters[P_WALK_SPEED]
    world[VY] = 0.0
    feet = world[Y] + BODY_HALF_HEIGHT
    if fresh and world[HELD_HAMMER] < 0.5:
        world[VY] = -parameters[P_JUMP_SPEED]
        world[FLOOR], world[FELL_FROM], world[JUMPED] = -1.0, feet, 0.0
        _fly(world, parameters)
        return
    before = world[X]
    low = 0.1 if floor == 0 else BODY_HALF_WIDTH
    world[X] = clamp(before + world[VX], low, 1.0 - BODY_HALF_WIDTH)
    world[VX] = world[X] - before
    if world[X] < LEFT_ENDS[floor] or world[X] > RIGHT_ENDS[floor]:
        world[FLOOR], world[FELL_FROM], world[JUMPED] = -1.0, feet, 0.0
    else:
        world[Y] = _top(floor, world[X]) - BODY_HALF_HEIGHT


@rule
def _fly(world, parameters):
    """A jump keeps its course; a deep fall kills on landing."""
    feet_before = world[Y] + BODY_HALF_HEIGHT
    world[VY] += parameters[P_GRAVITY]
    world[X] = clamp(world[X] + world[VX], BODY_HALF_WIDTH, 1.0 - BODY_HALF_WIDTH)
    world[Y] += world[VY]
    feet = world[Y] + BODY_HALF_HEIGHT
    if world[VY] < 0.0:
        return
    for floor in range(TOP):
        top = _top(floor, world[X])
        inside = LEFT_ENDS[floor] <= world[X] <= RIGHT_ENDS[floor]
        if inside and feet >= top and feet_before <= top + 0.001:
            world[Y], world[VY] = top - BODY_HALF_HEIGHT, 0.0
            world[FLOOR] = floor * 1.0
            if top - world[FELL_FROM] > FALL_LIMIT:
                _lose_life(world)
            return


@rule
def _touches(world, x, y, half_width, half_height):
    return boxes_meet(
        world[X], world[Y], BODY_HALF_WIDTH * 0.7, BODY_HALF_HEIGHT, x, y, half_width, half_height
    )


@rule
def _carry_hammer(world):
    """Take it with a jump; it swings up and down until its time is over."""
    if world[HAMMER_ALIVE] < 0.5:
        return
    if world[HELD_HAMMER] < 0.5:
        if _touches(world, world[HAMMER_X], world[HAMMER_Y], HAMMER_HALF, HAMMER_HALF):
            world[HELD_HAMMER], world[HAMMER_LEFT] = 1.0, HAMMER_TICKS
        return
    world[HAMMER_LEFT] -= 1.0
    if world[HAMMER_LEFT] <= 0.0:
        world[HAMMER_ALIVE], world[HELD_HAMMER] = 0.0, 0.0
        return
    down = np.floor(world[HAMMER_LEFT] / SWING) % 2.0 == 0.0
    way = 1.0 if world[FACING] == 1.0 else -1.0
    world[HAMMER_TURN] = 0.0
    world[HAMMER_X], world[HAMMER_Y] = world[X], world[Y] - BODY_HALF_HEIGHT - HAMMER_HALF
    if down:
        world[HAMMER_TURN] = 0.25 if way > 0.0 else 0.75
        world[HAMMER_X] = world[X] + way * (BODY_HALF_WIDTH + HAMMER_HALF)
        world[HAMMER_Y] = world[Y] + 0.4 * BODY_HALF_HEIGHT


@rule
def _smashed(world, x, y):
    """Whether the swinging hammer hits a point's neighbourhood."""
    return world[HELD_HAMMER] > 0.5 and boxes_meet(
        world[HAMMER_X], world[HAMMER_Y], HAMMER_HALF, HAMMER_HALF, x, y, 0.02, 0.02
    )


@rule
def _pay_jumps(world):
    """100 points for each barrel, or the flame, that passes below a jump."""
    if world[ON_GROUND] > 0.5 or world[CLIMBING] > 0.5:
        return
    feet, paid = world[Y] + BODY_HALF_HEIGHT, np.int64(world[JUMPED])
    for k in range(NUM_BARRELS + 1):
        place = BARREL + 7 * k
        x, y, alive = world[FLAME_X], world[FLAME_Y], world[FLAME_ALIVE]
        if k < NUM_BARRELS:
            x, y, alive = world[place], world[place + 1], world[place + 4]
        under = abs(x - world[X]) < 0.012 and -0.005 < y - feet < 0.07
        if alive > 0.5 and under and (paid >> k) & 1 == 0:
            paid += 1 << k
            world[REWARD] += JUMP_POINTS
    world[JUMPED] = paid * 1.0


@rule
def _meet(world, parameters):
    """Barrels, flame and ape kill; the hammer smashes the first two."""
    killed = _touches(world, APE_X, _top(5, APE_X) - APE_HALF, 0.8 * APE_HALF, APE_HALF)
    for k in range(NUM_BARRELS):
        place = BARREL + 7 * k
        if world[place + 4] < 0.5:
            continue
        if _smashed(world, world[place], world[place + 1]):
            world[place + 4] = 0.0
            world[REWARD] += SMASH_POINTS
        elif parameters[P_SOLID] > 0.0 and _touches(
            world, world[place], world[place + 1], 0.8 * BARREL_RADIUS, 0.8 * BARREL_RADIUS
        ):
            killed = True
    if world[FLAME_ALIVE] > 0.5:
        if _smashed(world, world[FLAME_X], world[FLAME_Y]):
            world[FLAME_ALIVE] = 0.0
            world[REWARD] += SMASH_POINTS
        elif _touches(
            world, world[FLAME_X], world[FLAME_Y], 0.8 * FLAME_HALF_WIDTH, 0.8 * FLAME_HALF_HEIGHT
        ):
            killed = True
    if killed:
        _lose_life(world)


@rule
def _lose_life(world):
    world[LIVES] -= 1.0
    world[ALIVE] = 0.0
    world[VX], world[VY] = 0.0, 0.0
    world[PHASE], world[WAIT] = LOST, LOST_WAIT
    if world[LIVES] <= 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _finish_level(world):
    """The princess pays for the time left; the last level wins the game."""
    world[REWARD] += 100.0 * np.floor(BONUS / 100.0 * world[TIME] / LEVEL_TICKS)
    world[PHASE], world[WAIT] = WON, WON_WAIT
    if world[LEVEL] >= LAST_LEVEL:
        world[TERMINATED] = 1.0


@rule
def _floor_of(feet, x):
    """The girder nearest below the feet."""
    for floor in range(TOP - 1, -1, -1):
        if _top(floor, x) >= feet - 0.012:
            return floor
    return 0


@rule
def _threat(world, floor):
    """Signed way to the nearest barrel or flame on the same girder that comes closer; 9 if none."""
    nearest = 9.0
    feet = world[Y] + BODY_HALF_HEIGHT
    for k in range(NUM_BARRELS + 1):
        place = BARREL + 7 * k
        x, y, vx, alive = world[FLAME_X], world[FLAME_Y], world[FLAME_VX], world[FLAME_ALIVE]
        if k < NUM_BARRELS:
            x, y, vx, alive = world[place], world[place + 1], world[place + 2], world[place + 4]
        off = x - world[X]
        level = abs(_top(floor, x) - y) < 0.06
        if alive < 0.5 or not level or feet - y < -0.02:
            continue
        closing = off * vx < 0.0 or abs(off) < 0.045
        if closing and abs(off) < abs(nearest):
            nearest = off
    return nearest


@rule
def _coming_down(world):
    """Signed way to a barrel that comes down a ladder to the player's girder; 9 if none."""
    for k in range(NUM_BARRELS):
        place = BARREL + 7 * k
        above = world[Y] - world[place + 1]
        if world[place + 4] > 0.5 and world[place + 5] > 0.5 and -0.02 < above < 0.13:
            return world[place] - world[X]
    return 9.0


@rule
def _ladder_is_safe(world, ladder, left):
    """Whether no barrel will be at the ladder's head, or on it, in the ticks left on it."""
    x = world[LADDER + 2 * ladder]
    for k in range(NUM_BARRELS):
        place = BARREL + 7 * k
        if world[place + 4] < 0.5:
            continue
        y = world[place + 1]
        if abs(world[place] - x) < 0.03 and world[place + 5] > 0.5 and y < world[Y]:
            return False
        off = (x - world[place]) * DOWNHILL[ladder + 1]
        above = abs(_top(min(ladder + 1, 5), world[place]) - y - BARREL_RADIUS) < 0.06
        ahead = (left + 14.0) * BARREL_SPEED * _faster(world)
        if above and -0.03 < off < ahead:
            return False
    on_head = abs(world[FLAME_X] - x) < 0.12 and world[FLAME_Y] < world[Y] - 0.02
    return not (world[FLAME_ALIVE] > 0.5 and on_head and world[FLAME_Y] > world[Y] - 0.16)


@rule
def decide(world, parameters, luck):
    """To the next ladder and up it when no barrel waits above; jump over what rolls along."""
    if world[WAIT] > 0.0:
        return STAY
    feet = world[Y] + BODY_HALF_HEIGHT
    if world[CLIMBING] > 0.5:
        return _decide_on_ladder(world, parameters)
    if world[ON_GROUND] < 0.5:
        return STAY
    floor = _floor_of(feet, world[X])
    goal = world[LADDER + 2 * floor]
    gap = goal - world[X]
    threat = _threat(world, floor)
    way = 1.0 if gap > 0.0 else -1.0
    walking = abs(gap) > 0.012
    ticks = (feet - _top(min(floor + 1, TOP), goal)) / parameters[P_CLIMB_SPEED]
    if world[HELD_HAMMER] > 0.5:
        facing = 1.0 if world[FACING] == 1.0 else -1.0
        if abs(threat) < 0.12 and threat * facing > 0.0:
            return STAY
        if abs(threat) < 0.15:
            return RIGHT if threat > 0.0 else LEFT
        return (RIGHT if way > 0.0 else LEFT) if abs(gap) > 0.1 else STAY
    coming = _coming_down(world)
    if abs(coming) < 0.1 and abs(threat) > 0.12:
        return LEFT if coming > 0.0 else RIGHT
    if abs(coming) < 0.14 and abs(threat) > 0.12 and coming * way > 0.0:
        return STAY
    if not walking and _ladder_is_safe(world, floor, ticks):
        return UP
    towards = threat * way > 0.0
    reach = 0.12 if walking and towards else 0.075
    if abs(threat) < reach and luck[1] > 0.1:
        landing = world[X] + (0.15 if threat > 0.0 else -0.15)
        if abs(threat) < 0.09 or not LEFT_ENDS[floor] < landing < RIGHT_ENDS[floor]:
            return JUMP
        return JUMP_RIGHT if threat > 0.0 else JUMP_LEFT
    if walking:
        return RIGHT if way > 0.0 else LEFT
    return STAY


@rule
def _decide_on_ladder(world, parameters):
    """Climb on, unless a barrel comes down the ladder and the way back is shorter."""
    x, feet = world[X], world[Y] + BODY_HALF_HEIGHT
    ladder = 0
    for k in range(NUM_LADDERS):
        held = abs(world[LADDER + 2 * k] - x) < 0.005
        if held and _top(k + 1, x) - 0.005 < feet <= _top(k, x) + 0.005:
            ladder = k
    left = (feet - _top(ladder + 1, x)) / parameters[P_CLIMB_SPEED]
    if _ladder_is_safe(world, ladder, left):
        return UP
    bottom = (_top(ladder, x) - feet) / parameters[P_CLIMB_SPEED]
    return UP if left < 6.0 else (DOWN if bottom > 0.5 else STAY)


@rule
def late(public):
    """The third level or a later one."""
    return public[LEVEL] >= 3.0


DIRECTION, REACHED, ROTATION, TAGGED = 7, 12, 13, 17  # columns of a state row


@rule
def _draw_girders(frame, palette, height, width, dx, dy):
    """Sloping girders with their rivets, and the oil drum."""
    thick, step = 0.5 * THICKNESS * height, 1.0 / 24.0
    for floor in range(TOP + 1):
        for k in range(np.int64((RIGHT_ENDS[floor] - LEFT_ENDS[floor]) / step + 0.5)):
            across = LEFT_ENDS[floor] + (k + 0.5) * step
            x, y = across * width + dx, _top(floor, across) * height + thick + dy
            half = 0.5 * step * width + 0.5  # no seams
            canvas.box(frame, x, y, half, thick, palette[2])
            canvas.box(frame, x, y - 0.8 * thick, half, 0.2 * thick, palette[3])
            canvas.box(frame, x, y + 0.8 * thick, half, 0.2 * thick, palette[3])
            canvas.box(frame, x, y, 0.006 * width, 0.4 * thick, palette[0])
    x, y = OIL_X * width + dx, (_top(0, OIL_X) - 0.026) * height + dy
    canvas.box(frame, x, y, 0.022 * width, 0.026 * height, palette[4])
    canvas.box(frame, x, y - 0.01 * height, 0.022 * width, 0.003 * height, palette[5])
    canvas.box(frame, x, y + 0.01 * height, 0.022 * width, 0.003 * height, palette[5])


@rule
def _draw_ladder(frame, state, palette, height, width, dx, dy):
    x, y = state[0] * width + dx, state[1] * height + dy
    half = LADDER_HALF_HEIGHT * height
    for side in range(2):
        rail = x + (2.0 * side - 1.0) * LADDER_HALF_WIDTH * width
        canvas.box(frame, rail, y, 0.003 * width, half, palette[4])
    for k in range(7):
        rung = y + ((k + 0.5) / 3.5 - 1.0) * half
        canvas.box(frame, x, rung, LADDER_HALF_WIDTH * width, 0.0025 * height, palette[4])


@rule
def _draw_flame(frame, x, y, height, palette):
    half, tall = FLAME_HALF_WIDTH * height, FLAME_HALF_HEIGHT * height
    canvas.triangle(frame, x - half, y, x + half, y, x + 0.2 * half, y - tall, palette[6])
    canvas.disc(frame, x, y + tall - half, half, palette[6])
    canvas.disc(frame, x, y + tall - 0.6 * half, 0.5 * half, palette[5])
    canvas.box(frame, x - 0.3 * half, y + 0.1 * tall, 0.12 * half, 0.2 * half, palette[0])
    canvas.box(frame, x + 0.3 * half, y + 0.1 * tall, 0.12 * half, 0.2 * half, palette[0])


@rule
def _draw_hammer(frame, state, height, width, dx, dy, palette):
    """A head on a handle, turned a quarter when it strikes."""
    x, y = state[0] * width + dx, state[1] * height + dy
    sin, cos = sine_cosine(state[ROTATION] * 1.0)
    half = HAMMER_HALF * height
    ax, ay = x - sin * half, y + cos * half
    bx, by = x + 0.5 * sin * half, y - 0.5 * cos * half
    canvas.line(frame, ax, ay, bx, by, 0.35 * half, palette[4])
    cx, cy = 0.8 * cos * half, 0.8 * sin * half
    canvas.line(frame, bx - cx, by - cy, bx + cx, by + cy, 0.9 * half, palette[5])


@rule
def _draw_sprite(frame, art, x, y, half, turn, mirror):
    sin, cos = sine_cosine(turn)
    canvas.sprite(frame, art, x, y, half, half, sin, cos, mirror)


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """Ladders and girders."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for k in range(NUM_LADDERS):
        _draw_ladder(frame, state[LADDERS + k], palette, height, width, dx, dy)
    _draw_girders(frame, palette, height, width, dx, dy)


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Ape, princess, hammer, flame, barrels, player; lives, clock and score."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for slot in range(APE, PRINCESS + 1):
        x, y = state[slot, 0] * width + dx, state[slot, 1] * height + dy
        half = (APE_HALF if slot == APE else PRINCESS_HALF) * height
        if slot == APE and state[APE, TAGGED] > 0.5:
            _draw_sprite(frame, sprites[1], x + half, y, 1.2 * BARREL_RADIUS * height, 0.0, False)
        _draw_sprite(frame, sprites[2 if slot == APE else 3], x, y, half, 0.0, False)
    if state[FLAME, 2] > 0.5:
        x, y = state[FLAME, 0] * width + dx, state[FLAME, 1] * height + dy
        _draw_flame(frame, x, y, height, palette)
    for slot in range(BARRELS, BARRELS + NUM_BARRELS):
        if state[slot, 2] > 0.5:
            x, y = state[slot, 0] * width + dx, state[slot, 1] * height + dy
            half, turn = 1.15 * BARREL_RADIUS * height, state[slot, ROTATION] * 1.0
            _draw_sprite(frame, sprites[1], x, y, half, turn, False)
    if state[PLAYER, 2] > 0.5:
        x, y = state[PLAYER, 0] * width + dx, state[PLAYER, 1] * height + dy
        mirror = state[PLAYER, DIRECTION] == 3.0
        _draw_sprite(frame, sprites[0], x, y, BODY_HALF_HEIGHT * height, 0.0, mirror)
    if state[HAMMER, 2] > 0.5:
        _draw_hammer(frame, state[HAMMER], height, width, dx, dy, palette)
    _draw_numbers(frame, numbers, sprites, palette, height, width, dx, dy)


@rule
def _draw_numbers(frame, numbers, sprites, palette, height, width, dx, dy):
    """Lives at the left, the clock in the middle, the score at the right."""
    for k in range(min(np.int64(numbers[2] + 0.5), 9)):
        x, y = (0.04 + 0.05 * k) * width + dx, 0.045 * height + dy
        _draw_sprite(frame, sprites[0], x, y, 0.02 * height, 0.0, False)
    left = clamp(numbers[6] * 1.0, 0.0, 1.0)
    x, y = (0.35 + 0.15 * left) * width + dx, 0.04 * height + dy
    canvas.box(frame, 0.5 * width + dx, y, 0.15 * width, 0.012 * height, palette[2])
    canvas.box(frame, x, y, 0.15 * left * width, 0.008 * height, palette[5])
    value = np.int64(numbers[0] + 0.5)
    right, top = 0.97 * width + dx, 0.02 * height + dy
    canvas.number(frame, right, top, height / 100.0, value, palette[5])


GLOBALS = (
    "score", "reward", "lives", "level", "phase", "tick_share", "time_left", "cooldown",
    "shield",
)  # fmt: skip


def _palette(text: str) -> tuple[tuple[int, int, int], ...]:
    """Night, its second shade, girder, its edge, ladder, writing, flame."""
    return tuple((int(c[:2], 16), int(c[2:4], 16), int(c[4:], 16)) for c in text.split())


def _box(
    name: str,
    kind: str,
    layer: str,
    half_width: float,
    half_height: float,
    mutable: bool = True,
    controllable: bool = False,
) -> Slot:
    return Slot(
        name,
        kind,
        layer=layer,
        half_width=half_width,
        half_height=half_height,
        mutable=mutable,
        controllable=controllable,
        solid=kind in ("player", "enemy"),
    )


def _barrel(k: int) -> Slot:
    return Slot(
        f"barrel_{k + 1}",
        "projectile",
        "circle",
        "projectile",
        radius=BARREL_RADIUS,
        solid=True,
        restitution=BARREL_RESTITUTION,
    )


GAME = Game(
    manifest=Manifest(
        game="kong",
        version=1,
        slots=(
            _box(
                "player", "player", "player", BODY_HALF_WIDTH, BODY_HALF_HEIGHT, controllable=True
            ),
            *(_barrel(k) for k in range(NUM_BARRELS)),
            _box("ape", "enemy", "enemy", APE_HALF, APE_HALF),
            _box("princess", "goal", "decor", PRINCESS_HALF, PRINCESS_HALF, mutable=False),
            _box("hammer", "pickup", "pickup", HAMMER_HALF, HAMMER_HALF),
            _box("flame", "enemy", "enemy", FLAME_HALF_WIDTH, FLAME_HALF_HEIGHT),
            *(
                _box(
                    f"ladder_{k + 1}",
                    "ladder",
                    "decor",
                    LADDER_HALF_WIDTH,
                    LADDER_HALF_HEIGHT,
                    mutable=False,
                )
                for k in range(NUM_LADDERS)
            ),
        ),
        fields=("direction", "on_ground", "reached", "rotation", "tagged"),
        globals=GLOBALS,
        actions=("move_x", "move_y", "jump"),
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *entity(PLAYER, "x", "y", "vx", "vy", "on_ground", "tagged", "direction", "alive"),
        *(
            column
            for k in range(NUM_BARRELS)
            for column in entity(BARRELS + k, "x", "y", "vx", "vy", "alive", "tagged", "rotation")
        ),
        *entity(APE, "tagged"),
        *entity(HAMMER, "x", "y", "alive", "reached", "rotation"),
        *entity(FLAME, "x", "y", "vx", "vy", "alive", "tagged"),
        *(column for k in range(NUM_LADDERS) for column in entity(LADDERS + k, "x", "y")),
        Column(None, "time_left", 1.0 / LEVEL_TICKS),
        Column(None, "shield", 1.0 / HAMMER_TICKS),
        Column(None, "cooldown", 1.0 / LOST_WAIT),
    ),
    private=(
        "floor",
        "rung",
        "fell_from",
        "jumped",
        "held",
        "throw",
        *(f"barrel_floor_{k + 1}" for k in range(NUM_BARRELS)),
        *(f"barrel_falls_{k + 1}" for k in range(NUM_BARRELS)),
        "flame_floor",
        "flame_up",
    ),
    parameters={
        "gravity": Parameter(GRAVITY, "screens per tick per tick, down"),
        "walk_speed": Parameter(WALK_SPEED, "screens per tick"),
        "climb_speed": Parameter(CLIMB_SPEED, "screens per tick"),
        "jump_speed": Parameter(JUMP_SPEED, "screens per tick"),
        "barrel_speed": Parameter(BARREL_SPEED, "screens per tick, first level"),
        "barrel_restitution": Parameter(
            BARREL_RESTITUTION, "vertical speed after a bounce / before"
        ),
        "ladder_chance": Parameter(LADDER_CHANCE, "chance that a barrel takes a ladder"),
        "barrels_solid": Parameter(1.0, "1 solid, 0 ghost"),
    },
    actions=ACTIONS,
    action_table=(
        (0,) * 7,
        (-1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 0, 0),
        (0, -1, 0, 0, 0, 0, 0),
        (0, 1, 0, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0, 0),
        (-1, 0, 1, 0, 0, 0, 0),
        (1, 0, 1, 0, 0, 0, 0),
    ),
    action_keys={
        "left": "left",
        "right": "right",
        "up": "up",
        "down": "down",
        "space": "jump",
        "q": "jump_left",
        "e": "jump_right",
    },
    characters=("knight", "robot", "frog", "cat", "chick", "panda", "ghost", "slime"),
    art=("barrel", "ape", "princess"),
    themes=(
        Theme("arcade", _palette("08080e 1a1a2a b8285a e86a8c 40c8d8 f5f5f0 f08a28")),
        Theme("harbour", _palette("1c3048 28486a 9a6a3a d8a860 d8d0b0 fff4d0 f06a3c"), "gradient"),
        Theme("night", _palette("0c1030 e0e0c8 4a58a0 90a0e0 b0b8c8 f0f0fa f0a030"), "stars", 1.0),
        Theme("blueprint", _palette("dce8f0 c4d8e6 2c5c8c 80aacc 4a4a5a 1c2c3c d84820"), "grid"),
        Theme("jungle", _palette("203c28 2c4c30 7a5a34 b08a4c c8b878 f4f0d0 f07030"), "speckle"),
        Theme("candy", _palette("f8dce8 f0c8da 8a4a9a c890d0 40889a 5a2050 e05a30"), "stripes"),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=tuple(
        column for k in range(NUM_LADDERS) for column in entity(LADDERS + k, "x", "y")
    ),
    late=late,
    roles=("player",),
    words={
        "player": "the climber",
        "goal": "climb the ladders to the princess at the top",
        "stay": "the climber stands still",
        "left": "the climber walks left",
        "right": "the climber walks right",
        "up": "the climber climbs up the ladder",
        "down": "the climber climbs down the ladder",
        "jump": "the climber jumps straight up",
        "jump_left": "the climber jumps to the left",
        "jump_right": "the climber jumps to the right",
    },
    constants={
        (APE, "x"): APE_X,
        (APE, "y"): FLOORS[5] + SLOPE * (APE_X - 0.5) - APE_HALF,
        (PRINCESS, "x"): PRINCESS_X,
        (PRINCESS, "y"): FLOORS[6] - PRINCESS_HALF,
    },
)
