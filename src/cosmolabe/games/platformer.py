"""Platformer: run, jump, stomp; gather the coins of a screen, then reach its raised flag."""

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.engine import canvas
from cosmolabe.engine.angles import sine
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
from cosmolabe.engine.motion import boxes_meet, clamp, whole
from cosmolabe.engine.rng import uniform

# Sizes, in screens (the world is square).
BODY_HALF_WIDTH = 0.024
BODY_HALF_HEIGHT = 0.032
WALKER_HALF_WIDTH = 0.026
WALKER_HALF_HEIGHT = 0.022
BEE_RADIUS = 0.022
COIN_RADIUS = 0.018
SPIKE_HALF_WIDTH = 0.026
SPIKE_HALF_HEIGHT = 0.018
FLAG_HALF_WIDTH = 0.026
FLAG_HALF_HEIGHT = 0.045
GROUND_TOP = 0.92
GROUND_HALF_WIDTH = 0.3
GROUND_HALF_HEIGHT = 0.04
PLATFORM_HALF_HEIGHT = 0.014
MOVER_HALF_WIDTH = 0.075
FOOTING = 0.6  # share of the body's half width that may stand over an edge
LIFT = 0.05  # a coin's centre above the surface it lies on

# Speeds, in screens per tick (60 ticks a second), and accelerations per tick.
RUN_SPEED = 0.0075
ACCELERATION = 0.0006
FRICTION = 0.0007
AIR_CONTROL = 0.75  # share of the acceleration left in the air
AIR_FRICTION = 0.25  # share of the friction left in the air
GRAVITY = 0.0009
HEAVY = 1.7  # gravity grows by this unless the body rises with the jump held
JUMP_SPEED = 0.0195
STOMP_BOUNCE = 0.75  # upward speed after a stomp / jump speed
TOP_FALL = 0.02
WALKER_SPEED = 0.0026
BEE_SPEED = 0.0032
BEE_SWING = 0.035  # screens up and down
BEE_PERIOD = 96.0  # ticks
MOVER_SPEED = 0.003
FASTER = 0.1  # gain of the enemies' speed with every level
FASTEST = 2.0

# Times, in ticks.
COYOTE = 5.0  # a jump still counts so long after leaving an edge
BUFFER = 6.0  # and so long before landing
READY_WAIT = 20.0
LOST_WAIT = 40.0
WON_WAIT = 30.0
WHIM_EVERY = 32  # how often a walker may turn of its own accord
WHIM = 0.35  # chance of that
LEVEL_TICKS = 1200.0
MAX_TICKS = 3600

COIN_POINTS = 10.0
STOMP_POINTS = 20.0
FLAG_POINTS = 50.0  # and as much again for a full clock
NUM_LIVES = 3.0
LAST_LEVEL = 8.0

# Entity slots.
PLAYER = 0
WALKERS, NUM_WALKERS = 1, 3
BEE = 4
COINS, NUM_COINS = 5, 6
SPIKES, NUM_SPIKES = 11, 3
MOVER = 14
FLAG = 15
GROUNDS = 16  # two
PLATFORMS, NUM_PLATFORMS = 18, 6
NUM_SURFACES = 9  # two grounds, six platforms, the mover: in this order
MOVING = 8  # the mover among the surfaces

# Places in the world vector.
X, Y, VX, VY, ON_GROUND, FACING, ALIVE = range(HEAD, HEAD + 7)
WALKER = HEAD + 7  # x y alive vx direction, each
BEE_X, BEE_Y, BEE_ALIVE, BEE_VX, BEE_VY, BEE_FACING = range(WALKER + 15, WALKER + 21)
COIN = WALKER + 21  # x y alive, each
SPIKE = COIN + 18  # x y, each
MOVER_X, MOVER_Y, MOVER_VX, MOVER_VY = range(SPIKE + 6, SPIKE + 10)
FLAG_X, FLAG_Y, FLAG_UP = range(SPIKE + 10, SPIKE + 13)
GROUND_X = SPIKE + 13  # two
PLATFORM = GROUND_X + 2  # x y, each
TIME, NEEDED, WAIT = range(PLATFORM + 12, PLATFORM + 15)
# Private.
HELD, JUMP_BUFFER, COYOTE_LEFT, SUPPORT = range(WAIT + 1, WAIT + 5)
WALKER_ON = WAIT + 5  # the surface of each walker
BEE_HOME = WAIT + 8
MOVER_FROM_X, MOVER_FROM_Y, MOVER_TO_X, MOVER_TO_Y = range(WAIT + 9, WAIT + 13)
TARGET_COINS, MOVER_WAY = WAIT + 13, WAIT + 14

# Parameters.
(
    P_GRAVITY,
    P_RUN_SPEED,
    P_ACCELERATION,
    P_FRICTION,
    P_JUMP_SPEED,
    P_STOMP_BOUNCE,
    P_WALKER_SPEED,
    P_MOVER_SPEED,
    P_SOLID,
) = range(9)

ACTIONS = ("stay", "left", "right", "jump", "jump_left", "jump_right", "drop")
STAY, LEFT, RIGHT, JUMP, JUMP_LEFT, JUMP_RIGHT, DROP = range(7)

# Half widths of the surfaces, in their order.
HALF_WIDTHS = np.array(
    [GROUND_HALF_WIDTH, GROUND_HALF_WIDTH, 0.16, 0.16, 0.11, 0.11, 0.075, 0.075, MOVER_HALF_WIDTH]
)

# One screen a row; x and the top of what carries. The pit's two edges; two wide, two middling
# and two narrow platforms; the mover's two ends; coins; spikes; the walkers' surfaces; the bee's
# height; the flag; where the player starts.
G, R1, R2, R3, R4 = GROUND_TOP, 0.77, 0.62, 0.47, 0.32
# fmt: off
LAYOUTS = np.array([
    # The meadow.
    (0.5, 0.5, 0.22, R1, 0.78, R1, 0.5, R2, 0.18, R3, 0.82, R3, 0.5, R4, 0.36, R3, 0.64, R3,
     0.22, R1, 0.78, R1, 0.5, R2, 0.16, R3, 0.82, R3, 0.5, R4,
     0.46, G, 0.5, G, 0.54, G, 3.0, 2.0, 1.0, 0.2, 0.93, G, 0.06),
    # The chasm.
    (0.38, 0.62, 0.2, R1, 0.8, R1, 0.5, R3, 0.14, R2, 0.84, R2, 0.5, R4, 0.42, R1, 0.58, R1,
     0.2, R1, 0.8, R1, 0.12, R2, 0.84, R2, 0.44, R3, 0.5, R4,
     0.26, G, 0.74, G, 0.58, R3, 3.0, 2.0, 1.0, 0.38, 0.94, G, 0.06),
    # The tower.
    (0.5, 0.5, 0.5, R1, 0.3, R3, 0.12, R2, 0.62, R2, 0.66, R4, 0.24, R4, 0.9, 0.8, 0.9, 0.36,
     0.5, R1, 0.1, R2, 0.68, R2, 0.22, R3, 0.24, R4, 0.9, G,
     0.3, G, 0.72, G, 0.52, G, 2.0, 3.0, 1.0, 0.22, 0.66, R4, 0.06),
    # The stairs.
    (0.5, 0.66, 0.18, R3, 0.78, R3, 0.5, R2, 0.42, R4, 0.28, R1, 0.9, R1, 0.5, 0.78, 0.72, 0.78,
     0.28, R1, 0.5, R2, 0.86, R3, 0.42, R4, 0.08, R3, 0.9, R1,
     0.4, G, 0.84, G, 0.7, R3, 1.0, 3.0, 2.0, 0.2, 0.26, R3, 0.06),
    # The islands.
    (0.32, 0.68, 0.2, R2, 0.8, R3, 0.12, R1, 0.88, R1, 0.5, R1, 0.6, R2, 0.3, R3, 0.54, R3,
     0.1, R1, 0.5, R1, 0.88, R1, 0.12, R2, 0.6, R2, 0.72, R3,
     0.24, G, 0.28, R2, 0.82, R3, 2.0, 3.0, 1.0, 0.34, 0.92, R3, 0.06),
])
# fmt: on
NUM_LAYOUTS = 5


@rule
def reset(world, level, parameters):
    """Three lives; the level's screen, from its start."""
    world[LIVES] = NUM_LIVES
    world[LEVEL] = level
    _start_level(world, parameters)


@rule
def _across(x, mirrored):
    return 1.0 - x if mirrored else x


@rule
def _start_level(world, parameters):
    """Lay out the screen: five layouts, then the same five seen in a mirror, and so on."""
    turn = np.int64(world[LEVEL]) - 1
    plan = LAYOUTS[turn % NUM_LAYOUTS]
    mirrored = (turn // NUM_LAYOUTS) % 2 == 1
    left, right = plan[0], plan[1]
    if mirrored:
        left, right = 1.0 - plan[1], 1.0 - plan[0]
    world[GROUND_X] = left - GROUND_HALF_WIDTH
    world[GROUND_X + 1] = right + GROUND_HALF_WIDTH
    for k in range(NUM_PLATFORMS):
        world[PLATFORM + 2 * k] = _across(plan[2 + 2 * k], mirrored)
        world[PLATFORM + 2 * k + 1] = plan[3 + 2 * k] + PLATFORM_HALF_HEIGHT
    for k in range(2):
        world[MOVER_FROM_X + 2 * k] = _across(plan[14 + 2 * k], mirrored)
        world[MOVER_FROM_Y + 2 * k] = plan[15 + 2 * k] + PLATFORM_HALF_HEIGHT
    for k in range(NUM_COINS):
        world[COIN + 3 * k] = _across(plan[18 + 2 * k], mirrored)
        world[COIN + 3 * k + 1] = plan[19 + 2 * k] - LIFT
        world[COIN + 3 * k + 2] = 1.0
    for k in range(NUM_SPIKES):
        world[SPIKE + 2 * k] = _across(plan[30 + 2 * k], mirrored)
        world[SPIKE + 2 * k + 1] = plan[31 + 2 * k] - SPIKE_HALF_HEIGHT
    world[FLAG_X] = _across(plan[40], mirrored)
    world[FLAG_Y] = plan[41] - FLAG_HALF_HEIGHT
    world[FLAG_UP] = 0.0
    world[TARGET_COINS] = min(3.0 + world[LEVEL], NUM_COINS * 1.0)
    world[NEEDED] = 1.0
    world[TIME] = LEVEL_TICKS
    _place_movers(world, plan, mirrored, parameters)
    world[X], world[Y] = _across(plan[42], mirrored), GROUND_TOP - BODY_HALF_HEIGHT
    world[VX], world[VY] = 0.0, 0.0
    world[ALIVE], world[ON_GROUND] = 1.0, 1.0
    world[FACING] = 3.0 if mirrored else 1.0
    world[SUPPORT] = 1.0 if mirrored else 0.0
    world[HELD], world[JUMP_BUFFER], world[COYOTE_LEFT] = 0.0, 0.0, 0.0
    world[PHASE], world[WAIT] = READY, READY_WAIT


@rule
def _place_movers(world, plan, mirrored, parameters):
    """The mover at its first end; walkers and bee somewhere on their ways, by the world's luck."""
    world[MOVER_X], world[MOVER_Y] = world[MOVER_FROM_X], world[MOVER_FROM_Y]
    world[MOVER_WAY] = 1.0
    _head(world, parameters[P_MOVER_SPEED])
    faster = _faster(world)
    for k in range(NUM_WALKERS):
        place = WALKER + 5 * k
        on = plan[36 + k]
        if mirrored and on < 2.0:
            on = 1.0 - on
        world[WALKER_ON + k] = on
        surface = np.int64(on)
        low, high = _walk(world, surface)
        world[place] = low + (0.4 + 0.6 * uniform(world)) * (high - low)
        if mirrored:
            world[place] = low + high - world[place]
        world[place + 1] = _top(world, surface) - WALKER_HALF_HEIGHT
        world[place + 2] = 1.0 if k <= world[LEVEL] else 0.0  # two at first, then three
        way = 1.0 if uniform(world) < 0.5 else -1.0
        world[place + 3] = way * parameters[P_WALKER_SPEED] * faster
        world[place + 4] = 1.0 if way > 0.0 else 3.0
    world[BEE_HOME] = plan[39]
    world[BEE_X] = _across(0.4 + 0.5 * uniform(world), mirrored)
    world[BEE_Y] = plan[39]
    world[BEE_ALIVE] = 1.0 if world[LEVEL] > 1.5 else 0.0
    way = 1.0 if uniform(world) < 0.5 else -1.0
    world[BEE_VX] = way * BEE_SPEED * faster if world[BEE_ALIVE] > 0.5 else 0.0
    world[BEE_VY] = 0.0
    world[BEE_FACING] = 1.0 if way > 0.0 else 3.0


@rule
def _faster(world):
    return min(1.0 + FASTER * (world[LEVEL] - 1.0), FASTEST)


@rule
def _head(world, speed):
    """Set the mover's velocity along its way; returns the way's squared length."""
    across = world[MOVER_TO_X] - world[MOVER_FROM_X]
    down = world[MOVER_TO_Y] - world[MOVER_FROM_Y]
    length = across * across + down * down
    share = world[MOVER_WAY] * speed / np.sqrt(length)
    world[MOVER_VX], world[MOVER_VY] = across * share, down * share
    return length


@rule
def _centre(world, surface):
    if surface < 2:
        return world[GROUND_X + surface]
    if surface < MOVING:
        return world[PLATFORM + 2 * (surface - 2)]
    return world[MOVER_X]


@rule
def _top(world, surface):
    if surface < 2:
        return GROUND_TOP
    if surface < MOVING:
        return world[PLATFORM + 2 * (surface - 2) + 1] - PLATFORM_HALF_HEIGHT
    return world[MOVER_Y] - PLATFORM_HALF_HEIGHT


@rule
def _walk(world, surface):
    """Where a walker turns on a surface: (left, right)."""
    centre, half = _centre(world, surface), HALF_WIDTHS[surface] - WALKER_HALF_WIDTH
    return (max(centre - half, WALKER_HALF_WIDTH), min(centre + half, 1.0 - WALKER_HALF_WIDTH))


@rule
def step(world, action, parameters):
    """Move platform, enemies and player, then see what they met."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    if world[WAIT] > 0.0:
        _wait(world, action, parameters)
    else:
        _move_mover(world, parameters)
        _move_walkers(world, parameters)
        _move_bee(world)
        _move_player(world, action, parameters)
        _meet(world, parameters)
        world[TIME] -= 1.0
        if world[TIME] <= 0.0 and world[PHASE] == PLAYING:
            _lose_life(world)
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _wait(world, action, parameters):
    """Nothing moves before a start, after a death and at the flag."""
    world[HELD] = 1.0 if JUMP <= action <= JUMP_RIGHT else 0.0
    world[WAIT] -= 1.0
    if world[WAIT] > 0.0:
        return
    if world[PHASE] == LOST:
        _start_level(world, parameters)
    elif world[PHASE] == WON:
        world[LEVEL] += 1.0
        _start_level(world, parameters)
    else:
        world[PHASE] = PLAYING


@rule
def _move_mover(world, parameters):
    """To and fro between its two ends; who stands on it goes along."""
    before_x, before_y = world[MOVER_X], world[MOVER_Y]
    length = _head(world, parameters[P_MOVER_SPEED])
    world[MOVER_X] += world[MOVER_VX]
    world[MOVER_Y] += world[MOVER_VY]
    share = (
        (world[MOVER_X] - world[MOVER_FROM_X]) * (world[MOVER_TO_X] - world[MOVER_FROM_X])
        + (world[MOVER_Y] - world[MOVER_FROM_Y]) * (world[MOVER_TO_Y] - world[MOVER_FROM_Y])
    ) / length
    if share >= 1.0 and world[MOVER_WAY] > 0.0:
        world[MOVER_X], world[MOVER_Y] = world[MOVER_TO_X], world[MOVER_TO_Y]
        world[MOVER_WAY] = -1.0
    elif share <= 0.0 and world[MOVER_WAY] < 0.0:
        world[MOVER_X], world[MOVER_Y] = world[MOVER_FROM_X], world[MOVER_FROM_Y]
        world[MOVER_WAY] = 1.0
    if world[SUPPORT] == MOVING:
        world[X] += world[MOVER_X] - before_x
        world[Y] += world[MOVER_Y] - before_y


@rule
def _move_walkers(world, parameters):
    """Walk, turn at the edges of the surface, and now and then on a whim."""
    turned = -1
    if np.int64(world[TICK]) % WHIM_EVERY == 0 and uniform(world) < WHIM:
        turned = np.int64(uniform(world) * NUM_WALKERS)
    speed = parameters[P_WALKER_SPEED] * _faster(world)
    for k in range(NUM_WALKERS):
        place = WALKER + 5 * k
        if world[place + 2] < 0.5:
            continue
        way = 1.0 if world[place + 4] == 1.0 else -1.0
        if k == turned:
            way = -way
        low, high = _walk(world, whole(world[WALKER_ON + k], 0, MOVING))
        x = world[place] + way * speed
        if x > high:
            x, way = high, -1.0
        elif x < low:
            x, way = low, 1.0
        world[place] = x
        world[place + 3] = way * speed
        world[place + 4] = 1.0 if way > 0.0 else 3.0


@rule
def _move_bee(world):
    if world[BEE_ALIVE] < 0.5:
        return
    world[BEE_X] += world[BEE_VX]
    if (world[BEE_X] > 0.94 and world[BEE_VX] > 0.0) or (
        world[BEE_X] < 0.06 and world[BEE_VX] < 0.0
    ):
        world[BEE_VX] = -world[BEE_VX]
    before = world[BEE_Y]
    world[BEE_Y] = world[BEE_HOME] + BEE_SWING * sine(world[TICK] / BEE_PERIOD)
    world[BEE_VY] = world[BEE_Y] - before
    world[BEE_FACING] = 1.0 if world[BEE_VX] > 0.0 else 3.0


@rule
def _move_player(world, action, parameters):
    push = 0.0
    if action in (LEFT, JUMP_LEFT):
        push, world[FACING] = -1.0, 3.0
    elif action in (RIGHT, JUMP_RIGHT):
        push, world[FACING] = 1.0, 1.0
    pressed = JUMP <= action <= JUMP_RIGHT
    standing = world[SUPPORT] >= 0.0
    _run(world, push, standing, parameters)
    fresh = pressed and world[HELD] == 0.0
    world[HELD] = 1.0 if pressed else 0.0
    world[JUMP_BUFFER] = BUFFER if fresh else max(world[JUMP_BUFFER] - 1.0, 0.0)
    world[COYOTE_LEFT] = COYOTE if standing else max(world[COYOTE_LEFT] - 1.0, 0.0)
    before = world[Y]
    if world[JUMP_BUFFER] > 0.0 and world[COYOTE_LEFT] > 0.0:
        world[JUMP_BUFFER], world[COYOTE_LEFT] = 0.0, 0.0
        world[VY] = -parameters[P_JUMP_SPEED]
        world[SUPPORT] = -1.0
    elif action == DROP and world[SUPPORT] >= 2.0:
        world[Y] += 0.01  # below the top already: it will not catch again
        before = world[Y]
        world[SUPPORT] = -1.0
        world[COYOTE_LEFT] = 0.0
    world[X] += world[VX]
    if world[SUPPORT] >= 0.0:
        _stay_on(world, whole(world[SUPPORT], 0, MOVING), parameters)
    if world[SUPPORT] < 0.0:
        _fly(world, pressed, before, parameters)
    _stay_inside(world)
    world[ON_GROUND] = 1.0 if world[SUPPORT] >= 0.0 else 0.0


@rule
def _run(world, push, standing, parameters):
    """Gain speed while pushed, lose it to friction otherwise; less of both in the air."""
    brake = parameters[P_FRICTION] * (1.0 if standing else AIR_FRICTION)
    if push == 0.0 or push * world[VX] < 0.0:
        world[VX] = clamp(0.0, world[VX] - brake, world[VX] + brake)
    world[VX] += push * parameters[P_ACCELERATION] * (1.0 if standing else AIR_CONTROL)
    world[VX] = clamp(world[VX], -parameters[P_RUN_SPEED], parameters[P_RUN_SPEED])


@rule
def _carries(world, surface, parameters):
    """Whether the player is over a surface that bears him."""
    if surface >= 2 and parameters[P_SOLID] <= 0.0:
        return False
    reach = HALF_WIDTHS[surface] + FOOTING * BODY_HALF_WIDTH
    return abs(world[X] - _centre(world, surface)) < reach


@rule
def _stay_on(world, surface, parameters):
    if _carries(world, surface, parameters):
        world[Y] = _top(world, surface) - BODY_HALF_HEIGHT
        world[VY] = 0.0
    elif surface < 2 and _carries(world, 1 - surface, parameters):
        world[SUPPORT] = 1.0 - surface  # the two grounds meet without a step
        world[VY] = 0.0
    else:
        world[SUPPORT] = -1.0


@rule
def _fly(world, pressed, before, parameters):
    """Rise or fall; land on the first surface whose top the feet cross from above."""
    heavy = 1.0 if pressed and world[VY] < 0.0 else HEAVY
    world[VY] = min(world[VY] + parameters[P_GRAVITY] * heavy, TOP_FALL)
    world[Y] = before + world[VY]
    if world[VY] < 0.0 and world[MOVER_VY] >= 0.0:
        return
    feet_before, feet = before + BODY_HALF_HEIGHT, world[Y] + BODY_HALF_HEIGHT
    best, best_top = -1, 2.0
    for surface in range(NUM_SURFACES):
        top = _top(world, surface)
        rise = world[MOVER_VY] if surface == MOVING else 0.0
        if world[VY] < rise or feet_before > top - rise + 1e-6 or feet < top or top >= best_top:
            continue
        if _carries(world, surface, parameters):
            best, best_top = surface, top
    if best >= 0:
        world[SUPPORT] = best * 1.0
        world[Y] = best_top - BODY_HALF_HEIGHT
        world[VY] = 0.0


@rule
def _stay_inside(world):
    """Walls of the screen, and of the pit for who has fallen into it."""
    low, high = BODY_HALF_WIDTH, 1.0 - BODY_HALF_WIDTH
    if world[Y] + BODY_HALF_HEIGHT > GROUND_TOP + 0.001:
        low = world[GROUND_X] + GROUND_HALF_WIDTH + BODY_HALF_WIDTH
        high = max(world[GROUND_X + 1] - GROUND_HALF_WIDTH - BODY_HALF_WIDTH, low)
    if world[X] < low or world[X] > high:
        world[X] = clamp(world[X], low, high)
        world[VX] = 0.0
    if world[Y] < BODY_HALF_HEIGHT:
        world[Y] = BODY_HALF_HEIGHT
        world[VY] = max(world[VY], 0.0)


@rule
def _meet(world, parameters):
    """Coins, flag, enemies, the pit, and spikes, which hurt nobody who rises through them."""
    for k in range(NUM_COINS):
        place = COIN + 3 * k
        if world[place + 2] > 0.5 and _touches(
            world, world[place], world[place + 1], COIN_RADIUS, COIN_RADIUS
        ):
            world[place + 2] = 0.0
            world[REWARD] += COIN_POINTS
            world[NEEDED] = max(world[NEEDED] - 1.0 / world[TARGET_COINS], 0.0)
            if world[NEEDED] < 0.01:
                world[NEEDED], world[FLAG_UP] = 0.0, 1.0
    killed = world[Y] + BODY_HALF_HEIGHT > 1.0
    for k in range(NUM_WALKERS):
        if _meet_enemy(
            world,
            WALKER + 5 * k,
            0.8 * WALKER_HALF_WIDTH,
            0.8 * WALKER_HALF_HEIGHT,
            0.0,
            parameters,
        ):
            killed = True
    if _meet_enemy(world, BEE_X, 0.8 * BEE_RADIUS, 0.8 * BEE_RADIUS, world[BEE_VY], parameters):
        killed = True
    for k in range(NUM_SPIKES):
        if world[VY] >= 0.0 and _touches(
            world,
            world[SPIKE + 2 * k],
            world[SPIKE + 2 * k + 1],
            0.6 * SPIKE_HALF_WIDTH,
            0.6 * SPIKE_HALF_HEIGHT,
        ):
            killed = True
    if killed:
        _lose_life(world)
    elif world[FLAG_UP] > 0.5 and _touches(
        world, world[FLAG_X], world[FLAG_Y], FLAG_HALF_WIDTH * 0.5, FLAG_HALF_HEIGHT
    ):
        _finish_level(world)
    world[SCORE] += world[REWARD]


@rule
def _touches(world, x, y, half_width, half_height):
    return boxes_meet(
        world[X], world[Y], BODY_HALF_WIDTH * 0.8, BODY_HALF_HEIGHT, x, y, half_width, half_height
    )


@rule
def _meet_enemy(world, place, half_width, half_height, rise, parameters):
    """Stomp it when coming down on it; whether it killed the player instead."""
    if world[place + 2] < 0.5 or not _touches(
        world, world[place], world[place + 1], half_width, half_height
    ):
        return False
    if world[VY] > rise and world[Y] + BODY_HALF_HEIGHT * 0.4 < world[place + 1]:
        world[place + 2] = 0.0
        world[REWARD] += STOMP_POINTS
        world[VY] = -parameters[P_STOMP_BOUNCE] * parameters[P_JUMP_SPEED]
        world[SUPPORT] = -1.0
        world[ON_GROUND] = 0.0
        return False
    return True


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
    """Points for the flag, more the sooner; after the last level the game is won."""
    world[REWARD] += FLAG_POINTS + np.floor(FLAG_POINTS * world[TIME] / LEVEL_TICKS)
    world[VX], world[VY] = 0.0, 0.0
    world[PHASE], world[WAIT] = WON, WON_WAIT
    if world[LEVEL] >= LAST_LEVEL:
        world[TERMINATED] = 1.0


@rule
def _surface_under(world, x, y):
    """The highest surface below a point, or -1."""
    best, best_top = -1, 2.0
    for surface in range(NUM_SURFACES):
        top = _top(world, surface)
        if (
            top >= y
            and top < best_top
            and abs(x - _centre(world, surface)) <= HALF_WIDTHS[surface] + 0.02
        ):
            best, best_top = surface, top
    return best


@rule
def _gap(world, x, surface, inset):
    """How far x lies outside a surface, 0 above it."""
    return max(abs(x - _centre(world, surface)) - HALF_WIDTHS[surface] + inset, 0.0)


@rule
def _leads(world, a, b):
    """Whether a jump or a fall brings the player from surface a to surface b."""
    rise = _top(world, a) - _top(world, b)
    between = abs(_centre(world, a) - _centre(world, b)) - HALF_WIDTHS[a] - HALF_WIDTHS[b]
    if rise > 0.175:
        return False
    return between < (0.16 if rise > 0.02 else 0.22)


@rule
def _flight_reaches(world, surface, parameters):
    """Whether the player, in the air, can still come down on a surface."""
    feet, fall = world[Y] + BODY_HALF_HEIGHT, parameters[P_GRAVITY] * HEAVY
    up = max(-world[VY], 0.0)
    apex = feet - up * up / (2.0 * parameters[P_GRAVITY])
    drop = _top(world, surface) - apex
    if drop < 0.004:
        return False
    ticks = up / parameters[P_GRAVITY] + np.sqrt(2.0 * drop / fall)
    if world[VY] > 0.0:
        ticks = (np.sqrt(world[VY] * world[VY] + 2.0 * fall * drop) - world[VY]) / fall
    return _gap(world, world[X] + 0.5 * world[VX] * ticks, surface, 0.02) < 0.0055 * ticks


@rule
def _next_surface(world, target, here, parameters):
    """Search backwards from the target's surface; the next one on the way (here: -1 = flying)."""
    layer, seen = 1 << target, 1 << target
    for _ in range(NUM_SURFACES):
        best, nearest = -1, 9.0
        for b in range(NUM_SURFACES):
            if (layer >> b) & 1 == 0:
                continue
            if here == b:
                return b
            fits = _leads(world, here, b) if here >= 0 else _flight_reaches(world, b, parameters)
            gap = _gap(world, world[X], b, 0.02)
            if fits and gap < nearest:
                best, nearest = b, gap
        if best >= 0:
            return best
        grown = 0
        for a in range(NUM_SURFACES):
            if (seen >> a) & 1:
                continue
            for b in range(NUM_SURFACES):
                if (layer >> b) & 1 and _leads(world, a, b):
                    grown |= 1 << a
                    break
        if grown == 0:
            return target
        layer, seen = grown, seen | grown
    return target


@rule
def _danger(world, way, reach):
    """Whether a spike, an enemy or the pit waits within reach on the player's path."""
    feet = world[Y] + BODY_HALF_HEIGHT
    for k in range(NUM_SPIKES):
        ahead = (world[SPIKE + 2 * k] - world[X]) * way
        if 0.0 < ahead < reach and abs(world[SPIKE + 2 * k + 1] - feet) < 0.05:
            return True
    for k in range(NUM_WALKERS):
        place = WALKER + 5 * k
        if world[place + 2] > 0.5 and abs(world[place + 1] - feet) < 0.05:
            ahead = (world[place] - world[X]) * way
            closing = max(-world[place + 3] * way, 0.0) * 12.0
            if -0.05 < ahead < reach + closing:
                return True
    if feet > GROUND_TOP - 0.01:
        edge = world[GROUND_X] + GROUND_HALF_WIDTH
        far = world[GROUND_X + 1] - GROUND_HALF_WIDTH
        ahead = edge - world[X] if way > 0.0 else world[X] - far
        if far - edge > 0.03 and -0.01 < ahead < 0.03:
            return True
    return False


@rule
def decide(world, parameters, luck):
    """Fetch the nearest coin, then the flag, surface by surface; leap over or onto danger."""
    if world[WAIT] > 0.0:
        return STAY
    feet = world[Y] + BODY_HALF_HEIGHT
    tx, ty = world[FLAG_X], world[FLAG_Y]
    if world[FLAG_UP] < 0.5:
        nearest = 9.0
        for k in range(NUM_COINS):
            x, y = world[COIN + 3 * k], world[COIN + 3 * k + 1]
            far = abs(x - world[X]) + 1.5 * abs(y - feet + LIFT)
            if world[COIN + 3 * k + 2] > 0.5 and far < nearest:
                nearest, tx, ty = far, x, y
    target = max(_surface_under(world, tx, ty), 0)
    flying = world[ON_GROUND] < 0.5
    here = -1 if flying else _surface_under(world, world[X], feet - 0.005)
    hop = _next_surface(world, target, here, parameters)
    if hop == here:
        return _walk_to(world, tx, parameters, luck)
    edge = HALF_WIDTHS[hop] - 0.03
    goal = clamp(world[X], _centre(world, hop) - edge, _centre(world, hop) + edge)
    if hop == target:
        goal = clamp(tx, world[X] - 0.2, world[X] + 0.2)
        goal = clamp(goal, _centre(world, hop) - edge, _centre(world, hop) + edge)
    if flying:
        if hop != target:
            after = _next_surface(world, target, hop, parameters)
            goal = clamp(_centre(world, after), world[X] - 0.15, world[X] + 0.15)
            goal = clamp(goal, _centre(world, hop) - edge, _centre(world, hop) + edge)
        return _steer(world, goal)
    gap = _gap(world, world[X], hop, 0.03)
    way = 1.0 if goal > world[X] else -1.0
    below = _top(world, hop) > feet + 0.02
    if below and gap == 0.0:
        return _fall_to(world, goal, here, parameters, luck)
    at_edge = HALF_WIDTHS[max(here, 0)] - abs(world[X] - _centre(world, max(here, 0))) < 0.035
    run_up = max(world[VX] * way, 0.0) * 8.0
    leap = (gap < 0.08 + run_up and not below) or (at_edge and gap > 0.03)
    if not leap or luck[1] < 0.1:
        return _walk_to(world, goal, parameters, luck)
    if _guarded(world, goal, parameters):
        return _hold_still(world)
    if gap == 0.0:
        return JUMP
    return JUMP_RIGHT if way > 0.0 else JUMP_LEFT


@rule
def _fall_to(world, goal, here, parameters, luck):
    """Drop through the platform where no spike waits below."""
    for k in range(NUM_SPIKES):
        off = world[X] - world[SPIKE + 2 * k]
        below = world[SPIKE + 2 * k + 1] - world[Y]
        if 0.0 < below < 0.4 and abs(off) < 0.06:
            return RIGHT if off > 0.0 else LEFT
    return DROP if here >= 2 else _walk_to(world, goal, parameters, luck)


@rule
def _enemy(world, k):
    """Where enemy k (the walkers, then the bee) is and will soon be: (alive, left, right, y)."""
    place = WALKER + 5 * k if k < NUM_WALKERS else BEE_X
    x, soon = world[place], world[place] + 20.0 * world[place + 3]
    return world[place + 2] > 0.5, min(x, soon), max(x, soon), world[place + 1]


@rule
def _soon(world, k, ticks):
    """Where enemy k will be across the screen, its turns at edges included."""
    if k == NUM_WALKERS:
        return world[BEE_X] + world[BEE_VX] * ticks
    place = WALKER + 5 * k
    surface = max(_surface_under(world, world[place], world[place + 1]), 0)
    low, high = _walk(world, surface)
    x = world[place] + world[place + 3] * ticks
    if x > high:
        return 2.0 * high - x
    if x < low:
        return 2.0 * low - x
    return x


@rule
def _guarded(world, goal, parameters):
    """Whether a leap to the goal would come upon an enemy from below or from the side."""
    for k in range(NUM_WALKERS + 1):
        alive, _, _, enemy_y = _enemy(world, k)
        if not alive or not 0.04 < world[Y] - enemy_y < 0.3:
            continue
        for part in range(1, 12):
            ticks = 3.0 * part
            rise = parameters[P_JUMP_SPEED] * ticks - 0.5 * parameters[P_GRAVITY] * ticks * ticks
            if enemy_y > world[Y] - rise + 0.03 and part > 6:
                continue  # the player comes down on it
            way = 0.0065 * ticks
            x = world[X] + clamp(goal - world[X], -way, way)
            if abs(enemy_y - world[Y] + rise) < 0.065 and abs(_soon(world, k, ticks) - x) < 0.065:
                return True
    return False


@rule
def _hold_still(world):
    """Wait for a clear way, but hop over a walker that comes along."""
    if _danger(world, 1.0, 0.05):
        return JUMP_RIGHT
    if _danger(world, -1.0, 0.05):
        return JUMP_LEFT
    return STAY


@rule
def _walk_to(world, x, parameters, luck):
    """Walk on the surface; leap at danger."""
    gap = x - world[X]
    way = 1.0 if gap > 0.0 else -1.0
    if _danger(world, way, 0.075 + 0.02 * luck[0]) and luck[1] > 0.15:
        if _guarded(world, world[X] + 0.2 * way, parameters):
            way = -way
            return RIGHT if way > 0.0 else LEFT
        return JUMP_RIGHT if way > 0.0 else JUMP_LEFT
    stopping = world[VX] * world[VX] / (2.0 * FRICTION)
    if abs(gap) < 0.01 or (gap * world[VX] > 0.0 and abs(gap) < stopping):
        return STAY
    return RIGHT if way > 0.0 else LEFT


@rule
def _steer(world, goal):
    """In the air: to the goal, onto walkers, clear of the rest; hold a jump that rises."""
    rising = world[VY] < 0.0
    for k in range(NUM_WALKERS + 1):
        alive, left, right, y = _enemy(world, k)
        over = world[Y] - y
        near = left < world[X] + 0.07 and right > world[X] - 0.07
        if not alive or not near:
            continue
        if not rising and -0.2 < over < -0.03 and k < NUM_WALKERS:
            goal = 0.5 * (left + right)
        elif -0.03 < over < (0.16 if rising else 0.05):
            goal = world[X] - 0.1 if left + right > 2.0 * world[X] else world[X] + 0.1
            rising = False
    for k in range(NUM_SPIKES):
        below = world[SPIKE + 2 * k + 1] - world[Y]
        off = world[X] + 8.0 * world[VX] - world[SPIKE + 2 * k]
        if world[VY] > 0.004 and 0.0 < below < 0.22 and abs(off) < 0.07:
            goal = world[SPIKE + 2 * k] + (0.12 if off > 0.0 else -0.12)
    gap = goal - world[X] - 6.0 * world[VX]
    if abs(gap) < 0.008:
        return JUMP if rising else STAY
    if gap > 0.0:
        return JUMP_RIGHT if rising else RIGHT
    return JUMP_LEFT if rising else LEFT


@rule
def late(public):
    """The third level or a later one."""
    return public[LEVEL] >= 3.0


@rule
def _draw_land(frame, state, palette, camera):
    """Grounds with their turf, platforms and the mover."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for k in range(2):
        x, half = state[GROUNDS + k, 0] * width + dx, GROUND_HALF_WIDTH * width
        y = state[GROUNDS + k, 1] * height + dy
        canvas.box(frame, x, y, half, GROUND_HALF_HEIGHT * height, palette[2])
        turf = y - (GROUND_HALF_HEIGHT - 0.009) * height
        canvas.box(frame, x, turf, half, 0.009 * height, palette[3])
    for k in range(NUM_PLATFORMS + 1):
        slot = PLATFORMS + k if k < NUM_PLATFORMS else MOVER
        x, y = state[slot, 0] * width + dx, state[slot, 1] * height + dy
        half = HALF_WIDTHS[2 + k] * width
        colour, trim = palette[4], palette[3]
        if slot == MOVER:
            colour, trim = palette[6], palette[5]
        canvas.box(frame, x, y, half, PLATFORM_HALF_HEIGHT * height, colour)
        canvas.box(frame, x, y - 0.009 * height, half, 0.005 * height, trim)


@rule
def _look(slot):
    """Sprite and half sizes of a slot: (art, half width, half height)."""
    if slot == PLAYER:
        return 0, BODY_HALF_HEIGHT, BODY_HALF_HEIGHT
    if slot < BEE:
        return 1, WALKER_HALF_WIDTH * 1.15, WALKER_HALF_HEIGHT * 1.3
    if slot == BEE:
        return 2, BEE_RADIUS * 1.25, BEE_RADIUS * 1.25
    if slot < SPIKES:
        return 3, COIN_RADIUS * 1.15, COIN_RADIUS * 1.15
    return 5, SPIKE_HALF_WIDTH, SPIKE_HALF_HEIGHT


@rule
def _draw_sprite(frame, sprites, state, slot, camera):
    if state[slot, 2] < 0.5:
        return
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    x, y = state[slot, 0] * width + camera[0], state[slot, 1] * height + camera[1]
    art, half_width, half_height = _look(slot)
    mirror = state[slot, DIRECTION] == 3.0
    half_width, half_height = half_width * height, half_height * height
    canvas.sprite(frame, sprites[art], x, y, half_width, half_height, 0.0, 1.0, mirror)


@rule
def _draw_flag(frame, state, sprites, palette, camera):
    """A bare pole until enough coins are gathered, then the flag."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    x, y = state[FLAG, 0] * width + dx, state[FLAG, 1] * height + dy
    half = FLAG_HALF_HEIGHT * height
    if state[FLAG, TAGGED] > 0.5:
        canvas.sprite(frame, sprites[4], x, y, half, half, 0.0, 1.0, False)
    else:
        canvas.box(frame, x, y, 0.005 * width, half, palette[5])
        canvas.disc(frame, x, y - half, 0.01 * height, palette[5])


@rule
def _draw_numbers(frame, numbers, sprites, palette, camera):
    """Lives at the left, the clock in the middle, the score at the right."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for k in range(min(np.int64(numbers[2] + 0.5), 9)):
        x, y, half = (0.04 + 0.05 * k) * width + dx, 0.045 * height + dy, 0.02 * height
        canvas.sprite(frame, sprites[0], x, y, half, half, 0.0, 1.0, False)
    left = clamp(numbers[6] * 1.0, 0.0, 1.0)
    y = 0.04 * height + dy
    canvas.box(frame, 0.5 * width + dx, y, 0.15 * width, 0.012 * height, palette[2])
    canvas.box(
        frame, (0.35 + 0.15 * left) * width + dx, y, 0.15 * left * width, 0.008 * height, palette[5]
    )
    canvas.number(
        frame,
        0.97 * width + dx,
        0.02 * height + dy,
        height / 100.0,
        np.int64(numbers[0] + 0.5),
        palette[5],
    )


DIRECTION, TAGGED = 7, 17  # columns of a state row


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Land, spikes, flag, coins, enemies, player, then lives, clock and score."""
    _draw_land(frame, state, palette, camera)
    for k in range(NUM_SPIKES):
        _draw_sprite(frame, sprites, state, SPIKES + k, camera)
    _draw_flag(frame, state, sprites, palette, camera)
    for slot in range(WALKERS, SPIKES):
        _draw_sprite(frame, sprites, state, slot, camera)
    _draw_sprite(frame, sprites, state, PLAYER, camera)
    _draw_numbers(frame, numbers, sprites, palette, camera)


def _land(name: str, half_width: float, half_height: float, layer: str) -> Slot:
    return Slot(
        name,
        "platform",
        layer=layer,
        half_width=half_width,
        half_height=half_height,
        mutable=False,
        solid=True,
        friction=1.0,
    )


SLOTS = (
    Slot(
        "player",
        "player",
        layer="player",
        half_width=BODY_HALF_WIDTH,
        half_height=BODY_HALF_HEIGHT,
        controllable=True,
        solid=True,
        friction=1.0,
    ),
    *(
        Slot(
            f"walker_{k + 1}",
            "enemy",
            layer="enemy",
            half_width=WALKER_HALF_WIDTH,
            half_height=WALKER_HALF_HEIGHT,
            solid=True,
            restitution=STOMP_BOUNCE,
        )
        for k in range(NUM_WALKERS)
    ),
    Slot("bee", "enemy", "circle", "enemy", radius=BEE_RADIUS, restitution=STOMP_BOUNCE),
    *(
        Slot(f"coin_{k + 1}", "pickup", "circle", "pickup", radius=COIN_RADIUS)
        for k in range(NUM_COINS)
    ),
    *(
        Slot(
            f"spike_{k + 1}",
            "hazard",
            layer="hazard",
            half_width=SPIKE_HALF_WIDTH,
            half_height=SPIKE_HALF_HEIGHT,
            mutable=False,
        )
        for k in range(NUM_SPIKES)
    ),
    Slot(
        "mover",
        "platform",
        layer="one_way",
        half_width=MOVER_HALF_WIDTH,
        half_height=PLATFORM_HALF_HEIGHT,
        solid=True,
        friction=1.0,
    ),
    Slot("flag", "goal", layer="decor", half_width=FLAG_HALF_WIDTH, half_height=FLAG_HALF_HEIGHT),
    _land("ground_left", GROUND_HALF_WIDTH, GROUND_HALF_HEIGHT, "solid"),
    _land("ground_right", GROUND_HALF_WIDTH, GROUND_HALF_HEIGHT, "solid"),
    *(
        _land(f"platform_{k + 1}", float(HALF_WIDTHS[2 + k]), PLATFORM_HALF_HEIGHT, "one_way")
        for k in range(NUM_PLATFORMS)
    ),
)

COLUMNS = (
    *entity(PLAYER, "x", "y", "vx", "vy", "on_ground", "direction", "alive"),
    *(
        column
        for k in range(NUM_WALKERS)
        for column in entity(WALKERS + k, "x", "y", "alive", "vx", "direction")
    ),
    *entity(BEE, "x", "y", "alive", "vx", "vy", "direction"),
    *(column for k in range(NUM_COINS) for column in entity(COINS + k, "x", "y", "alive")),
    *(column for k in range(NUM_SPIKES) for column in entity(SPIKES + k, "x", "y")),
    *entity(MOVER, "x", "y", "vx", "vy"),
    *entity(FLAG, "x", "y", "tagged"),
    *entity(GROUNDS, "x"),
    *entity(GROUNDS + 1, "x"),
    *(column for k in range(NUM_PLATFORMS) for column in entity(PLATFORMS + k, "x", "y")),
    Column(None, "time_left", 1.0 / LEVEL_TICKS),
    Column(None, "remaining"),
    Column(None, "cooldown", 1.0 / LOST_WAIT),
)
GLOBALS = (
    "score", "reward", "lives", "level", "phase", "tick_share", "time_left", "remaining",
    "cooldown",
)  # fmt: skip
PRIVATE = (
    "held", "jump_buffer", "coyote_left", "support", "walker_on_1", "walker_on_2", "walker_on_3",
    "bee_home", "mover_from_x", "mover_from_y", "mover_to_x", "mover_to_y", "target_coins",
    "mover_way",
)  # fmt: skip


def _palette(text: str) -> tuple[tuple[int, int, int], ...]:
    """Sky, its second shade, soil, turf, platform, writing, mover."""
    return tuple((int(c[:2], 16), int(c[2:4], 16), int(c[4:], 16)) for c in text.split())


GAME = Game(
    manifest=Manifest(
        game="platformer",
        version=1,
        slots=SLOTS,
        fields=("direction", "on_ground", "tagged"),
        globals=GLOBALS,
        actions=("move_x", "move_y", "jump"),
        max_ticks=MAX_TICKS,
    ),
    columns=COLUMNS,
    private=PRIVATE,
    parameters={
        "gravity": Parameter(GRAVITY, "screens per tick per tick, down"),
        "run_speed": Parameter(RUN_SPEED, "screens per tick"),
        "acceleration": Parameter(ACCELERATION, "screens per tick per tick, while pushed"),
        "friction": Parameter(FRICTION, "screens per tick per tick, on the ground"),
        "jump_speed": Parameter(JUMP_SPEED, "screens per tick"),
        "stomp_bounce": Parameter(STOMP_BOUNCE, "upward speed after a stomp / jump speed"),
        "walker_speed": Parameter(WALKER_SPEED, "screens per tick"),
        "mover_speed": Parameter(MOVER_SPEED, "screens per tick"),
        "platforms_solid": Parameter(1.0, "1 solid from above, 0 ghost"),
    },
    actions=ACTIONS,
    action_table=(
        (0,) * 7,
        (-1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 0, 0),
        (0, 0, 1, 0, 0, 0, 0),
        (-1, 0, 1, 0, 0, 0, 0),
        (1, 0, 1, 0, 0, 0, 0),
        (0, 1, 0, 0, 0, 0, 0),
    ),
    action_keys={
        "left": "left",
        "right": "right",
        "up": "jump",
        "space": "jump",
        "q": "jump_left",
        "e": "jump_right",
        "down": "drop",
    },
    characters=("knight", "robot", "frog", "cat", "chick", "panda", "ghost", "slime"),
    art=("slug", "bee", "coin", "flag", "spike"),
    themes=(
        Theme("meadow", _palette("8cc8f5 d7eefa 7e5432 50aa46 a06e42 202236 ecbe46"), "gradient"),
        Theme("cavern", _palette("1e1826 30283c 544a62 827696 625670 f0e8d2 5aa0be"), "speckle"),
        Theme("night", _palette("0c102c e6e6c8 283a54 5a82a0 3a4c6e f0f0fa be5a82"), "stars"),
        Theme(
            "candy", _palette("fad6e2 f4c4d6 96506e fafafa c86e96 5a1e46 5abeb4"), "stripes", 1.0
        ),
        Theme("factory", _palette("c6cace b0b6bc 464a52 e69628 686c76 1c1e24 be3c32"), "grid"),
        Theme("desert", _palette("fae2aa f2d698 b0743c deaa5a c4884c 46281e 468296"), "checker"),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    late=late,
    roles=("player",),
    words={
        "player": "the hero who runs and jumps",
        "goal": "gather coins until the flag goes up, then touch the flag",
        "stay": "the hero lets go and slows down",
        "left": "the hero runs left",
        "right": "the hero runs right",
        "jump": "the hero jumps straight up",
        "jump_left": "the hero jumps to the left",
        "jump_right": "the hero jumps to the right",
        "drop": "the hero drops through the platform",
    },
    constants={
        (GROUNDS, "y"): GROUND_TOP + GROUND_HALF_HEIGHT,
        (GROUNDS + 1, "y"): GROUND_TOP + GROUND_HALF_HEIGHT,
    },
)
