"""Frogger: five lanes of traffic, five rows of logs and diving turtles, five bays to fill.

Lanes are circles as long as the screen is wide, so what leaves on one side enters on the other.
Turtles swim in strokes and cars stop and go: with even speeds a straight line would foretell all
but the frog.
"""

import numpy as np

from cosmolabe.core.fields import AWM
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.engine import canvas
from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import (
    HEAD,
    LEVEL,
    LIVES,
    LOST,
    OVER,
    PHASE,
    PLAYING,
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
from cosmolabe.engine.motion import clamp, whole, wrap, wrapped_gap
from cosmolabe.engine.rng import integer, uniform

CELL = 1.0 / 15.0  # side of a cell, screens; 15 columns, 13 rows and a bar above and below
TICKS_PER_SECOND = 60.0

# Rows from the top; the frog starts on the last.
HOME, MEDIAN, START = 0, 6, 12
FIRST_RIVER, LAST_RIVER = 1, 5
FIRST_ROAD, LAST_ROAD = 7, 11

# Of every row: first lane object, how many, half width in cells, speed in cells per second.
#        home  medium log, turtles, long log, small log, turtles; lorry, racer, sedan, dozer, car
FIRST = (0, 0, 2, 5, 7, 9, 0, 12, 14, 15, 17, 19, 0)
COUNT = (0, 2, 3, 2, 2, 3, 0, 2, 1, 2, 2, 3, 0)
HALF_WIDTH = (0.0, 2.25, 1.0, 2.75, 1.75, 1.5, 0.0, 1.1, 0.6, 0.6, 0.55, 0.5, 0.0)
SPEED = (0.0, 3.5, -3.2, 4.6, 2.8, -3.4, 0.0, -3.0, 6.5, -3.6, 2.8, -3.3, 0.0)
LANE_TYPE = (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
NAMES = ("", "medium_log", "turtle_pair", "long_log", "small_log", "turtle_trio")
NAMES += ("", "lorry", "racer", "sedan", "bulldozer", "car", "")
NUM_OBJECTS = 22
HALF_HEIGHT = 0.4  # of a lane object, cells
PERIOD = (1, 44, 40, 52, 48, 42, 1, 50, 44, 40, 46, 54, 1)  # of a lane's surge, ticks
SURGE = 1.0  # how far a lane's speed swings about its mean: turtles stroke, cars stop and go
SURGE_STEEPNESS = 1.6  # above 1 the swing rests at its ends
LEVEL_SPEED_UP = 0.12  # share of the speed each level adds
SPEED_SPREAD = 0.2  # lanes differ by this share from level to level

FROG_HALF = 0.3  # half side of the frog where cars meet it, cells
GRIP = 0.3  # how far beyond a log's end the frog's centre still holds on, cells
BAY_X = (1.5, 4.5, 7.5, 10.5, 13.5)  # cells
BAY_REACH = 0.7  # how far off a bay's middle a landing counts, cells
NUM_BAYS = 5

# Ticks.
HOP_TICKS = 6.0
REST_TICKS = 2.0  # on the ground before the next crouch
CROUCH_TICKS = 3.0  # a key held so long starts a hop, let go earlier it does nothing
FROG_TIME = 900.0  # clock of one frog
WAIT = 45.0  # after a death
DIVE_CYCLE = 320.0  # a diving turtle: up, sinking, under water, rising
VISIT_EVERY, VISIT_STAYS = 260.0, 160.0  # a fly or a crocodile in an open bay
MAX_TICKS = 3600

# Shares of the dive cycle at which the turtle begins to sink, is under, and is back.
SINKS, UNDER, BACK = 0.5, 0.68, 0.88

LIVES_AT_START = 3
LAST_LEVEL = 3
HOP_POINTS, HOME_POINTS, SECOND_POINTS, FLY_POINTS, LEVEL_POINTS = 10.0, 50.0, 10.0, 200.0, 1000.0

FLY, CROCODILE = 1.0, 2.0  # `piece_type` of a bay
UP, RIGHT, DOWN, LEFT = range(4)

# Entity slots.
FROG, BAY, OBJECT = 0, 1, 6
TURTLES = (2, 3, 4, 9, 10, 11)  # lane objects that are turtles

# Places in the world vector; positions in screens.
FROG_X, FROG_Y, FROG_ALIVE, FROG_VX, FROG_VY = range(HEAD, HEAD + 5)
FACING, ON_GROUND, ROW, FROG_LANE, CROUCHED = range(HEAD + 5, HEAD + 10)
COOLDOWN, CLOCK, HOMES, ADVANCED = range(HEAD + 10, HEAD + 14)
REACHED = HEAD + 14
VISITOR = REACHED + NUM_BAYS
OBJECT_X = VISITOR + NUM_BAYS
OBJECT_VX = OBJECT_X + NUM_OBJECTS
TURTLE_ALIVE = OBJECT_VX + NUM_OBJECTS
TURTLE_AGE = TURTLE_ALIVE + len(TURTLES)
VISIT = TURTLE_AGE + len(TURTLES)  # private: ticks until the bay's visitor comes or goes
LANE_MEAN = VISIT + 1  # private: mean speed of every row

# Parameters.
(
    P_TRAFFIC,
    P_RIVER,
    P_SURGE,
    P_HOP,
    P_REST,
    P_CROUCH,
    P_TIME,
    P_GRIP,
    P_DIVE,
    P_CARS_KILL,
    P_WATER_KILLS,
) = range(11)

ACTIONS = ("stay", "up", "right", "down", "left")

AGE_COLUMN = AWM.state_columns.index("age")
DIRECTION_COLUMN = AWM.state_columns.index("direction")
GROUND_COLUMN = AWM.state_columns.index("on_ground")
REACHED_COLUMN = AWM.state_columns.index("reached")
CROUCH_COLUMN = AWM.state_columns.index("tagged_count")
PIECE_COLUMN = AWM.state_columns.index("piece_type")
# Fixed sprites after the one character: vehicles from the top row down, then the rest.
VEHICLE_ART, TURTLE_ART, LOG_ART, FLY_ART, FROG_ART = 1, 6, 7, 8, 9
SET_OUT = 4.0  # heuristic player: so many cells left of a bay it enters the river
LEAST_OUT = 3.6 * CELL  # but not so far left that the first turtles carry it off
NEAR_EDGE = 1.2 * CELL  # heuristic player: here it steps against the drift
LOOK = 13.0  # heuristic player: ticks it looks ahead


@rule
def _share(level, place):
    """A number in [0, 1) that follows from level and place: level geometry, not luck."""
    mixed = (np.int64(level) * 73856093 + place * 19349663 + 12345) & 0x7FFFFFFF
    for _ in range(3):
        mixed = (mixed * 1103515245 + 12345) & 0x7FFFFFFF
        mixed ^= mixed >> 13
    return (mixed & 0xFFFF) / 65536.0


@rule
def _row_y(row):
    """Height of a row's middle, screens."""
    return (row + 1.5) * CELL


@rule
def reset(world, level, parameters):
    """Lanes in motion at a random phase, bays open, the frog at the bottom."""
    world[LIVES] = LIVES_AT_START
    world[LEVEL] = level
    world[VISIT] = VISIT_EVERY
    for row in range(13):
        if COUNT[row] > 0:
            phase = uniform(world)
            gap = 1.0 / COUNT[row]
            for k in range(COUNT[row]):
                uneven = 0.2 * gap * (_share(level, 100 + FIRST[row] + k) - 0.5)
                world[OBJECT_X + FIRST[row] + k] = wrap(phase + k * gap + uneven)
    for turtle in range(6):
        world[TURTLE_AGE + turtle] = uniform(world) * SINKS
    _set_level(world, parameters)
    _place_frog(world, parameters)


@rule
def _set_level(world, parameters):
    """Speeds, divers and open bays of the level; the traffic keeps its places."""
    level = world[LEVEL]
    for row in range(13):
        world[LANE_MEAN + row] = _mean_speed(level, row, parameters)
    _set_speeds(world, parameters)
    for turtle in range(6):
        world[TURTLE_ALIVE + turtle] = 1.0
        if not _dives(level, turtle, parameters):
            world[TURTLE_AGE + turtle] = 0.0
    for bay in range(NUM_BAYS):
        world[REACHED + bay] = 0.0
        world[VISITOR + bay] = 0.0
    world[HOMES] = 0.0


@rule
def _mean_speed(level, row, parameters):
    """Mean speed of a lane on a level, screens per tick."""
    factor = parameters[P_RIVER] if row < MEDIAN else parameters[P_TRAFFIC]
    speed = SPEED[row] * CELL / TICKS_PER_SECOND * factor
    speed *= 1.0 + LEVEL_SPEED_UP * (level - 1.0)
    return speed * (1.0 + SPEED_SPREAD * (_share(level, row) - 0.5))


@rule
def _surge(tick, row):
    """Where a lane is in its swing, -1 slowest .. 1 fastest; a rounded step of the clock."""
    turns = tick / PERIOD[row] + 0.37 * row
    slope = 4.0 * abs(turns - np.floor(turns) - 0.5) - 1.0
    return clamp(SURGE_STEEPNESS * slope, -1.0, 1.0)


@rule
def _set_speeds(world, parameters):
    for row in range(FIRST_RIVER, LAST_ROAD + 1):
        speed = world[LANE_MEAN + row] * (1.0 + parameters[P_SURGE] * _surge(world[TICK], row))
        for k in range(FIRST[row], FIRST[row] + COUNT[row]):
            world[OBJECT_VX + k] = speed


@rule
def _dives(level, turtle, parameters):
    """One group of each turtle row dives on level 1, two from level 2 on."""
    rank = (turtle + np.int64(3.0 * _share(level, 50 + turtle // 3))) % 3
    return parameters[P_DIVE] > 0.0 and rank < min(level, 2.0)


@rule
def _place_frog(world, parameters):
    world[FROG_X], world[FROG_Y] = 0.5, _row_y(START)
    world[FROG_VX], world[FROG_VY] = 0.0, 0.0
    world[FROG_ALIVE], world[ON_GROUND] = 1.0, 1.0
    world[FACING], world[ROW], world[FROG_LANE] = UP, START, LANE_TYPE[START]
    world[CLOCK] = parameters[P_TIME]
    world[ADVANCED] = 0.0
    world[COOLDOWN], world[CROUCHED] = 0.0, 0.0
    world[PHASE] = PLAYING


@rule
def step(world, action, parameters):
    """Lanes first, then the frog."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    _set_speeds(world, parameters)
    for k in range(NUM_OBJECTS):
        world[OBJECT_X + k] = wrap(world[OBJECT_X + k] + world[OBJECT_VX + k])
    _dive(world, parameters)
    _visit_bays(world)
    if world[PHASE] == LOST:
        world[COOLDOWN] -= 1.0
        if world[COOLDOWN] <= 0.0:
            _place_frog(world, parameters)
    else:
        _move_frog(world, action, parameters)
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _dive(world, parameters):
    """Diving turtles go round their cycle; under water they are not alive."""
    for turtle in range(6):
        if _dives(world[LEVEL], turtle, parameters):
            age = world[TURTLE_AGE + turtle] + 1.0 / DIVE_CYCLE
            if age >= 1.0:
                age -= 1.0
            world[TURTLE_AGE + turtle] = age
            world[TURTLE_ALIVE + turtle] = 0.0 if UNDER <= age and age < BACK else 1.0


@rule
def _visit_bays(world):
    """Now and then a fly sits in an open bay; from level 2 on it may be a crocodile."""
    world[VISIT] -= 1.0
    if world[VISIT] > 0.0:
        return
    for bay in range(NUM_BAYS):
        if world[VISITOR + bay] > 0.0:
            world[VISITOR + bay] = 0.0
            world[VISIT] = VISIT_EVERY - VISIT_STAYS
            return
    bay = integer(world, NUM_BAYS)
    bites = world[LEVEL] >= 2.0 and uniform(world) < 0.5
    if world[REACHED + bay] == 0.0:
        world[VISITOR + bay] = CROCODILE if bites else FLY
    world[VISIT] = VISIT_STAYS


@rule
def _move_frog(world, action, parameters):
    """Hop, ride, and see what that led to."""
    world[CLOCK] -= 1.0
    rest = np.floor(max(parameters[P_REST], 0.0))
    _crouch(world, action, parameters)
    row = whole(world[ROW], 0, START)
    river = row >= FIRST_RIVER and row <= LAST_RIVER
    drift = _drift(world, row, parameters)
    if world[ON_GROUND] == 0.0:
        world[FROG_X] += world[FROG_VX]
        world[FROG_Y] += world[FROG_VY]
        world[COOLDOWN] -= 1.0
        if world[COOLDOWN] <= rest:
            world[ON_GROUND] = 1.0
            world[FROG_Y] = _row_y(row)
            world[FROG_VY] = 0.0
            world[FROG_VX] = drift
            _land(world, row, parameters)
    else:
        world[COOLDOWN] = max(world[COOLDOWN] - 1.0, 0.0)
        world[FROG_VX] = drift
        world[FROG_X] += drift
    if world[FROG_ALIVE] > 0.0 and world[TERMINATED] == 0.0:
        _look_for_death(world, river, parameters)


@rule
def _crouch(world, action, parameters):
    """A rested frog crouches towards a held key and leaps; another key or none starts anew."""
    if world[COOLDOWN] > 0.0 or action == 0:
        world[CROUCHED] = 0.0
        return
    facing = action - 1
    world[CROUCHED] = world[CROUCHED] + 1.0 if world[FACING] == facing else 1.0
    world[FACING] = facing
    if world[CROUCHED] >= parameters[P_CROUCH]:
        world[CROUCHED] = 0.0
        _start_hop(world, facing, parameters)


@rule
def _drift(world, row, parameters):
    """What a river row carries its rider along per tick."""
    if row < FIRST_RIVER or row > LAST_RIVER:
        return 0.0
    return world[OBJECT_VX + FIRST[row]] * parameters[P_GRIP]


@rule
def _start_hop(world, facing, parameters):
    """Take off: between rows straight through the air, along a log with the log's drift."""
    ticks = np.floor(max(parameters[P_HOP], 1.0))
    if facing == UP or (facing == DOWN and world[ROW] < START):
        way = -1.0 if facing == UP else 1.0
        world[ROW] += way
        world[FROG_LANE] = LANE_TYPE[whole(world[ROW], 0, START)]
        world[FROG_VX], world[FROG_VY] = 0.0, (_row_y(world[ROW]) - world[FROG_Y]) / ticks
    elif facing != DOWN:
        way = 1.0 if facing == RIGHT else -1.0
        goal = clamp(world[FROG_X] + way * CELL, 0.5 * CELL, 1.0 - 0.5 * CELL)
        if (goal - world[FROG_X]) * way <= 0.0:
            return
        drift = _drift(world, whole(world[ROW], 0, START), parameters)
        world[FROG_VX], world[FROG_VY] = (goal - world[FROG_X]) / ticks + drift, 0.0
    else:
        return
    world[ON_GROUND] = 0.0
    world[COOLDOWN] = ticks + np.floor(max(parameters[P_REST], 0.0))


@rule
def _land(world, row, parameters):
    """Points for a row not reached before; on the home row a bay or death."""
    if START - row > world[ADVANCED]:
        world[ADVANCED] = START - row
        _gain(world, HOP_POINTS)
    if row != HOME:
        return
    for bay in range(NUM_BAYS):
        near = abs(world[FROG_X] - BAY_X[bay] * CELL) < BAY_REACH * CELL
        if near and world[REACHED + bay] == 0.0 and world[VISITOR + bay] != CROCODILE:
            _fill_bay(world, bay, parameters)
            return
    _die(world)


@rule
def _gain(world, points):
    world[REWARD] += points
    world[SCORE] += points


@rule
def _fill_bay(world, bay, parameters):
    """A frog at home; five make a level, the last level wins."""
    seconds = np.floor(max(world[CLOCK], 0.0) / TICKS_PER_SECOND)
    _gain(world, HOME_POINTS + SECOND_POINTS * seconds)
    if world[VISITOR + bay] == FLY:
        _gain(world, FLY_POINTS)
        world[VISITOR + bay] = 0.0
        world[VISIT] = VISIT_EVERY - VISIT_STAYS
    world[REACHED + bay] = 1.0
    world[HOMES] += 1.0
    if world[HOMES] >= NUM_BAYS:
        _gain(world, LEVEL_POINTS)
        if world[LEVEL] >= LAST_LEVEL:
            world[PHASE] = WON
            world[TERMINATED] = 1.0
            return
        world[LEVEL] += 1.0
        _set_level(world, parameters)
    _place_frog(world, parameters)


@rule
def _supported(world, row, x):
    """Whether something floats under a place of a river row."""
    for k in range(FIRST[row], FIRST[row] + COUNT[row]):
        if abs(wrapped_gap(x, world[OBJECT_X + k])) <= (HALF_WIDTH[row] + GRIP) * CELL:
            under_water = False
            for turtle in range(6):
                if TURTLES[turtle] == k and world[TURTLE_ALIVE + turtle] < 0.5:
                    under_water = True
            if not under_water:
                return True
    return False


@rule
def _look_for_death(world, river, parameters):
    """Water, the screen's edge, the clock, a car."""
    if river and world[ON_GROUND] > 0.0:
        if world[FROG_X] < 0.0 or world[FROG_X] > 1.0:
            world[FROG_X] = clamp(world[FROG_X], 0.0, 1.0)
            _die(world)
            return
        row = whole(world[ROW], 0, START)
        if parameters[P_WATER_KILLS] > 0.0 and not _supported(world, row, world[FROG_X]):
            _die(world)
            return
    if world[CLOCK] <= 0.0:
        _die(world)
        return
    if parameters[P_CARS_KILL] > 0.0 and world[FROG_Y] > _row_y(MEDIAN):
        for row in range(FIRST_ROAD, LAST_ROAD + 1):
            if abs(world[FROG_Y] - _row_y(row)) < (FROG_HALF + HALF_HEIGHT) * CELL:
                reach = (FROG_HALF + HALF_WIDTH[row]) * CELL
                for k in range(FIRST[row], FIRST[row] + COUNT[row]):
                    if abs(wrapped_gap(world[FROG_X], world[OBJECT_X + k])) < reach:
                        _die(world)
                        return


@rule
def _die(world):
    """A life less; after a wait the next frog starts from the bottom, filled bays stay."""
    world[LIVES] -= 1.0
    world[FROG_ALIVE] = 0.0
    world[FROG_VX], world[FROG_VY] = 0.0, 0.0
    world[COOLDOWN] = WAIT
    world[PHASE] = LOST
    if world[LIVES] <= 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def decide(world, parameters, luck):
    """Forward when the next row will be safe, else wait, else dodge."""
    if world[PHASE] != PLAYING or world[COOLDOWN] > 0.0:
        return 0
    row = whole(world[ROW], 0, START)
    ahead = max(CROUCH_TICKS - 1.0 - world[CROUCHED], 0.0) if world[FACING] == UP else 2.0
    if row == MEDIAN and _setting_out(world) < world[FROG_X]:
        return LEFT + 1  # the river carries to the right, so set out left of the last bay
    if _row_is_safe(world, row - 1, _rider(world, row, ahead, parameters), ahead, parameters):
        return UP + 1
    if row >= FIRST_RIVER and row <= LAST_RIVER:
        return _on_the_river(world, row, parameters)
    x = world[FROG_X]
    if _row_is_safe(world, row, x, 0.0, parameters):
        return 0
    for way in (LEFT, RIGHT):
        to = clamp(x + (CELL if way == RIGHT else -CELL), 0.5 * CELL, 1.0 - 0.5 * CELL)
        if _row_is_safe(world, row, to, ahead, parameters):
            return way + 1
    if row < START and _row_is_safe(world, row + 1, x, ahead, parameters):
        return DOWN + 1
    return 0


@rule
def _travel(world, row, start, ticks, parameters):
    """How far a lane will go in some ticks, from `start` ticks after now."""
    far = 0.0
    for tick in range(np.int64(ticks)):
        far += 1.0 + parameters[P_SURGE] * _surge(world[TICK] + start + tick + 1.0, row)
    return far * _mean_speed(world[LEVEL], row, parameters)


@rule
def _rider(world, row, ticks, parameters):
    """Where the frog will be if it stays for some ticks."""
    if row < FIRST_RIVER or row > LAST_RIVER:
        return world[FROG_X]
    return world[FROG_X] + _travel(world, row, 0.0, ticks, parameters)


@rule
def _row_is_safe(world, row, x, ahead, parameters):
    """Whether a frog that leaps `ahead` ticks from now to a place of a row may stay there."""
    if row == HOME:
        return _bay_at(world, x)
    if row >= FIRST_ROAD and row <= LAST_ROAD:
        reach = (FROG_HALF + HALF_WIDTH[row] + 0.1) * CELL
        before = _travel(world, row, 0.0, ahead, parameters)
        way = _travel(world, row, ahead, LOOK, parameters)
        for k in range(FIRST[row], FIRST[row] + COUNT[row]):
            gap = wrapped_gap(world[OBJECT_X + k] + before, x)
            for turn in range(-1, 2):
                first, last = gap + turn, gap + turn + way
                if min(first, last) < reach and max(first, last) > -reach:
                    return False
        return True
    if row == FIRST_RIVER and not _bay_ahead(world, x):
        return False
    if row >= FIRST_RIVER and row <= LAST_RIVER:
        return _will_float(world, row, x, ahead + HOP_TICKS, parameters)
    return True


@rule
def _setting_out(world):
    """Where to enter the river for the rightmost open bay."""
    goal = 0.0
    for bay in range(NUM_BAYS):
        if world[REACHED + bay] == 0.0:
            goal = BAY_X[bay] * CELL
    return max(goal - SET_OUT * CELL, LEAST_OUT)


@rule
def _bay_ahead(world, x):
    """Whether the top row's drift leads past an open bay (one cell can be hopped back)."""
    way = 1.0 if SPEED[FIRST_RIVER] > 0.0 else -1.0
    for bay in range(NUM_BAYS):
        if world[REACHED + bay] == 0.0 and (BAY_X[bay] * CELL - x) * way > -CELL:
            return True
    return False


@rule
def _will_float(world, row, x, ticks, parameters):
    """Whether something firm will be under a place of a river row, not soon off the screen."""
    later = x + 40.0 * _mean_speed(world[LEVEL], row, parameters)
    if later < 0.0 or later > 1.0:
        return False
    way = _travel(world, row, 0.0, ticks, parameters)
    for k in range(FIRST[row], FIRST[row] + COUNT[row]):
        gap = wrapped_gap(x, world[OBJECT_X + k] + way)
        if abs(gap) <= HALF_WIDTH[row] * CELL and not _sinks(world, k, SINKS - 0.1, BACK):
            return True
    return False


@rule
def _sinks(world, k, start, end):
    """Whether a lane object is a turtle within a part of its dive."""
    for turtle in range(6):
        if TURTLES[turtle] == k:
            return world[TURTLE_AGE + turtle] > start and world[TURTLE_AGE + turtle] < end
    return False


@rule
def _bay_at(world, x):
    """Whether a hop from x lands in an open bay without a crocodile."""
    for bay in range(NUM_BAYS):
        near = abs(x - BAY_X[bay] * CELL) < (BAY_REACH - 0.1) * CELL
        if near and world[REACHED + bay] == 0.0 and world[VISITOR + bay] != CROCODILE:
            return True
    return False


@rule
def _on_the_river(world, row, parameters):
    """Ride on; step against the drift near the edge or past the last open bay, flee a dive."""
    x = world[FROG_X]
    against, back = (LEFT, -1.0) if SPEED[row] > 0.0 else (RIGHT, 1.0)
    to_edge = 1.0 - x if SPEED[row] > 0.0 else x
    to = x + back * CELL
    may_step = to > 0.5 * CELL and to < 1.0 - 0.5 * CELL
    turn_back = to_edge < NEAR_EDGE or (row == FIRST_RIVER and not _bay_ahead(world, x))
    if turn_back and may_step and _will_float(world, row, to, 0.0, parameters):
        return against + 1
    dives = False
    for k in range(FIRST[row], FIRST[row] + COUNT[row]):
        under = abs(wrapped_gap(x, world[OBJECT_X + k])) < (HALF_WIDTH[row] + GRIP) * CELL
        if under and _sinks(world, k, SINKS, UNDER):
            dives = True
    if turn_back or dives:
        if _row_is_safe(world, row + 1, _rider(world, row, 2.0, parameters), 2.0, parameters):
            return DOWN + 1
        if dives and may_step and _will_float(world, row, to, 0.0, parameters):
            return against + 1
    return 0


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """Hedge with bays, river, banks, road; score, level and lives at the edges."""
    side = frame.shape[0] * 1.0
    cell = side * CELL
    dx, dy = camera[0], camera[1]
    middle = 0.5 * side + dx
    canvas.box(frame, middle, 1.5 * cell + dy, 0.5 * side, 0.5 * cell, palette[4])
    canvas.box(frame, middle, 4.5 * cell + dy, 0.5 * side, 2.5 * cell, palette[2])
    canvas.box(frame, middle, 10.5 * cell + dy, 0.5 * side, 2.5 * cell, palette[3])
    for line in range(1, 5):
        for dash in range(8):
            x = (dash + 0.5) / 8.0 * side + dx
            y = (8.0 + line) * cell + dy
            canvas.box(frame, x, y, 0.25 * cell, 0.04 * cell, palette[5])
    for bay in range(BAY, BAY + NUM_BAYS):
        _draw_bay(frame, state, bay, palette, sprites, side, camera)
    _draw_bars(frame, numbers, palette, sprites, side, camera)


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """What floats, drives and hops; the clock."""
    side = frame.shape[0] * 1.0
    for k in range(NUM_OBJECTS):
        if state[OBJECT + k, 2] > 0.5:
            _draw_object(frame, state, k, sprites, side, camera)
    _draw_frog(frame, state, numbers, palette, sprites, side, camera)
    _draw_clock(frame, numbers, palette, side, camera)


@rule
def _draw_bay(frame, state, bay, palette, sprites, side, camera):
    cell = side * CELL
    x, y = state[bay, 0] * side + camera[0], state[bay, 1] * side + camera[1]
    canvas.box(frame, x, y, 0.75 * cell, 0.42 * cell, palette[2])
    piece = state[bay, PIECE_COLUMN]
    if state[bay, REACHED_COLUMN] > 0.5:
        canvas.sprite(frame, sprites[0], x, y, 0.45 * cell, 0.45 * cell, 0.0, 1.0, False)
    elif piece > 0.5 * (FLY + CROCODILE):
        # A crocodile's snout: jaw, teeth, eye.
        jaw = sprites[FROG_ART, 6, 6]
        canvas.box(frame, x, y, 0.6 * cell, 0.24 * cell, jaw)
        canvas.disc(frame, x - 0.4 * cell, y - 0.26 * cell, 0.16 * cell, palette[5])
        for tooth in range(4):
            left = x + (0.25 * tooth - 0.3) * cell
            canvas.triangle(
                frame,
                left,
                y + 0.1 * cell,
                left + 0.2 * cell,
                y + 0.1 * cell,
                left + 0.1 * cell,
                y + 0.36 * cell,
                palette[5],
            )
    elif piece > 0.5 * FLY:
        canvas.sprite(frame, sprites[FLY_ART], x, y, 0.4 * cell, 0.4 * cell, 0.0, 1.0, False)


@rule
def _draw_object(frame, state, k, sprites, side, camera):
    """A lane object; where it hangs over one edge it shows at the other too."""
    row = FIRST_RIVER
    for candidate in range(13):
        if COUNT[candidate] > 0 and FIRST[candidate] <= k:
            row = candidate if row < candidate else row
    half = HALF_WIDTH[row] * CELL * side
    x, y = state[OBJECT + k, 0] * side, state[OBJECT + k, 1] * side
    for turn in range(-1, 2):
        at = x + turn * side
        if at + half < 0.0 or at - half > side:
            continue
        _draw_one(frame, state, k, row, at + camera[0], y + camera[1], half, sprites, side)


@rule
def _draw_one(frame, state, k, row, x, y, half, sprites, side):
    cell = side * CELL
    leftward = SPEED[row] < 0.0
    if row > MEDIAN:
        # The racer's and the coupe's art points up, the others' to the right.
        art, tall = sprites[VEHICLE_ART + row - FIRST_ROAD], 0.45 * cell
        upright = row in (8, 11)
        if upright:
            turn = -1.0 if leftward else 1.0
            canvas.sprite(frame, art, x, y, tall, half, turn, 0.0, False)
        else:
            canvas.sprite(frame, art, x, y, half, tall, 0.0, 1.0, leftward)
    elif row in (2, 5):
        size = 0.46 * cell
        for turtle in range(6):
            if TURTLES[turtle] == k:
                age = state[OBJECT + k, AGE_COLUMN]
                if age > SINKS and age < UNDER:
                    size *= 1.0 - 0.55 * (age - SINKS) / (UNDER - SINKS)
                elif age >= BACK:
                    size *= 0.45 + 0.55 * (age - BACK) / (1.0 - BACK)
        number = np.int64(HALF_WIDTH[row] * 2.0)
        for place in range(number):
            at = x + (place + 0.5) * cell - half
            canvas.sprite(frame, sprites[TURTLE_ART], at, y, size, size, 0.0, 1.0, leftward)
    else:
        _draw_log(frame, x, y, half, sprites[LOG_ART], cell)


@rule
def _draw_log(frame, x, y, half, art, cell):
    """A trunk with bark lines and a sawn face at its right end, in the log sprite's colours."""
    bark, dark, wood = art[3, 4], art[4, 2], art[3, 9]
    tall = HALF_HEIGHT * cell
    canvas.line(frame, x - half + tall, y, x + half - tall, y, 2.0 * tall, bark)
    for mark in range(np.int64(half / cell * 2.0)):
        at = x - half + (mark + 0.7) * cell
        lift = (0.18 if mark % 2 == 0 else -0.16) * cell
        canvas.box(frame, at, y + lift, 0.26 * cell, 0.035 * cell, dark)
    canvas.disc(frame, x + half - tall, y, 0.9 * tall, wood)
    canvas.ring(frame, x + half - tall, y, 0.45 * tall, 0.06 * cell, bark)


@rule
def _draw_frog(frame, state, numbers, palette, sprites, side, camera):
    cell = side * CELL
    x, y = state[FROG, 0] * side + camera[0], state[FROG, 1] * side + camera[1]
    if state[FROG, 2] > 0.5:
        size = (0.48 if state[FROG, GROUND_COLUMN] > 0.5 else 0.58) * cell
        leftward = state[FROG, DIRECTION_COLUMN] > 2.5
        tall = size - 0.05 * cell * min(max(state[FROG, CROUCH_COLUMN], 0.0), 3.0)
        canvas.sprite(frame, sprites[0], x, y + size - tall, size, tall, 0.0, 1.0, leftward)
    else:
        # Bones where the frog died.
        reach = 0.34 * cell
        canvas.line(frame, x - reach, y - reach, x + reach, y + reach, 0.14 * cell, palette[5])
        canvas.line(frame, x - reach, y + reach, x + reach, y - reach, 0.14 * cell, palette[5])
        canvas.disc(frame, x, y - 0.1 * cell, 0.24 * cell, palette[5])


@rule
def _draw_bars(frame, numbers, palette, sprites, side, camera):
    """Score and level above, lives below."""
    cell = side * CELL
    dx, dy = camera[0], camera[1]
    dot = 0.13 * cell
    score, level = np.int64(max(numbers[0], 0.0) + 0.5), np.int64(max(numbers[3], 0.0) + 0.5)
    canvas.number(frame, 5.0 * cell + dx, 0.16 * cell + dy, dot, score, palette[6])
    canvas.number(frame, 14.5 * cell + dx, 0.16 * cell + dy, dot, level, palette[6])
    for life in range(np.int64(min(max(numbers[2], 0.0), 6.0) + 0.5)):
        x = (0.6 + 0.85 * life) * cell + dx
        canvas.sprite(
            frame, sprites[0], x, 14.5 * cell + dy, 0.36 * cell, 0.36 * cell, 0.0, 1.0, False
        )


@rule
def _draw_clock(frame, numbers, palette, side, camera):
    cell = side * CELL
    dx, dy = camera[0], camera[1]
    left = min(max(numbers[6], 0.0), 1.0)
    half = 0.5 * 8.0 * cell * left
    colour = palette[6] if left > 0.2 else palette[7]
    canvas.box(frame, 14.5 * cell - half + dx, 14.5 * cell + dy, half, 0.2 * cell, colour)


@rule
def late(public):
    """The second level: faster lanes, two diving groups a row, crocodiles."""
    return public[LEVEL] >= 2.0


def _slots():
    half = CELL * FROG_HALF
    yield Slot(
        "frog", "player", layer="player", half_width=half, half_height=half, controllable=True
    )
    for bay in range(NUM_BAYS):
        yield Slot(
            f"bay_{bay}", "goal", layer="pickup", half_width=0.75 * CELL, half_height=0.5 * CELL
        )
    for row in range(13):
        for k in range(COUNT[row]):
            river = row < MEDIAN
            yield Slot(
                f"{NAMES[row]}_{k}",
                "platform" if river else "hazard",
                layer="one_way" if river else "hazard",
                half_width=HALF_WIDTH[row] * CELL,
                half_height=HALF_HEIGHT * CELL,
                solid=True,
                wraps=True,
                friction=1.0 if river else 0.0,
            )


def _constants():
    for bay in range(NUM_BAYS):
        slot = BAY + bay
        yield (slot, "x"), BAY_X[bay] * CELL
        yield (slot, "y"), 1.5 * CELL
        yield (slot, "row"), float(HOME)
        yield (slot, "lane_type"), LANE_TYPE[HOME]
    for row in range(13):
        for k in range(COUNT[row]):
            slot = OBJECT + FIRST[row] + k
            yield (slot, "y"), (row + 1.5) * CELL
            yield (slot, "row"), float(row)
            yield (slot, "lane_type"), LANE_TYPE[row]


def _each(slots, name):
    return tuple(Column(slot, name) for slot in slots)


_BAYS = range(BAY, BAY + NUM_BAYS)
_OBJECTS = range(OBJECT, OBJECT + NUM_OBJECTS)
_TURTLES = tuple(OBJECT + k for k in TURTLES)

THEMES = (
    # banks, their second shade, water, road, hedge, marks, text, warning
    Theme(
        "arcade",
        ((18, 12, 34), (96, 40, 130), (20, 30, 110), (10, 10, 14),
         (40, 140, 50), (236, 236, 236), (250, 220, 80), (230, 60, 60)),
        "stripes",
    ),
    Theme(
        "meadow",
        ((96, 160, 70), (110, 176, 80), (70, 150, 210), (92, 92, 98),
         (40, 110, 50), (240, 240, 225), (40, 50, 30), (200, 50, 40)),
        "checker",
    ),
    Theme(
        "night",
        ((16, 18, 30), (120, 120, 160), (16, 50, 84), (34, 34, 44),
         (20, 60, 50), (210, 200, 120), (200, 210, 240), (240, 90, 90)),
        "stars",
    ),
    Theme(
        "autumn",
        ((196, 140, 80), (176, 116, 62), (84, 130, 140), (120, 100, 92),
         (140, 70, 40), (250, 236, 200), (70, 30, 20), (190, 30, 30)),
        "speckle",
        1.0,
    ),
    Theme(
        "winter",
        ((226, 234, 242), (206, 218, 232), (120, 176, 214), (150, 156, 168),
         (90, 130, 120), (255, 255, 255), (40, 60, 100), (200, 60, 90)),
        "grid",
    ),
)  # fmt: skip

GAME = Game(
    manifest=Manifest(
        game="frogger",
        version=1,
        slots=tuple(_slots()),
        fields=(
            "age",
            "direction",
            "lane_type",
            "on_ground",
            "piece_type",
            "reached",
            "row",
            "tagged_count",
        ),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "cooldown",
            "time_left",
            "done",
            "progress",
        ),
        actions=("move_x", "move_y"),
        wrap_x=True,
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *entity(
            FROG,
            "x",
            "y",
            "alive",
            "vx",
            "vy",
            "direction",
            "on_ground",
            "row",
            "lane_type",
            "tagged_count",
        ),
        Column(None, "cooldown", 1.0 / WAIT),
        Column(None, "time_left", 1.0 / FROG_TIME),
        Column(None, "done", 1.0 / NUM_BAYS),
        Column(None, "progress", 1.0 / START),
        *_each(_BAYS, "reached"),
        *_each(_BAYS, "piece_type"),
        *_each(_OBJECTS, "x"),
        *_each(_OBJECTS, "vx"),
        *_each(_TURTLES, "alive"),
        *_each(_TURTLES, "age"),
    ),
    private=("visit", *(f"lane_mean_{row}" for row in range(13))),
    parameters={
        "traffic_speed": Parameter(1.0, "speed of cars / the game's own"),
        "river_speed": Parameter(1.0, "speed of logs and turtles / the game's own"),
        "surge": Parameter(
            SURGE, "swing of a lane's speed / its mean; 0 is the arcade's even flow"
        ),
        "hop_ticks": Parameter(HOP_TICKS, "ticks in the air per hop"),
        "rest_ticks": Parameter(REST_TICKS, "ticks on the ground before the next hop"),
        "crouch_ticks": Parameter(CROUCH_TICKS, "ticks a key is held before the hop"),
        "frog_time": Parameter(FROG_TIME, "ticks one frog has"),
        "grip": Parameter(1.0, "share of a log's speed that its rider gets"),
        "turtles_dive": Parameter(1.0, "1 some turtles dive, 0 none does"),
        "cars_kill": Parameter(1.0, "1 solid, 0 ghost"),
        "water_kills": Parameter(1.0, "1 the frog drowns, 0 it swims"),
    },
    actions=ACTIONS,
    action_table=(
        (0,) * 7,
        (0, -1, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 0, 0),
        (0, 1, 0, 0, 0, 0, 0),
        (-1, 0, 0, 0, 0, 0, 0),
    ),
    action_keys={"up": "up", "right": "right", "down": "down", "left": "left"},
    characters=("frog", "cat", "robot", "ghost", "chick", "knight", "slime", "panda"),
    art=("lorry", "car_racer", "sedan", "bulldozer", "car_coupe", "turtle", "log", "bee", "frog"),
    themes=THEMES,
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=(
        *(Column(None, name) for name in ("score", "lives", "level")),
        *(
            column
            for bay in range(BAY, BAY + NUM_BAYS)
            for column in entity(bay, "x", "y", "piece_type", "reached")
        ),
    ),
    late=late,
    words={
        "player": "the frog",
        "goal": "hop over road and river into the five bays",
        "stay": "the frog sits still",
        "up": "the frog hops up",
        "right": "the frog hops right",
        "down": "the frog hops down",
        "left": "the frog hops left",
    },
    constants=dict(_constants()),
)
