"""Pong: two bats, one ball that gains speed with every return; eleven points win."""

import numpy as np

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.engine import canvas
from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import (
    HEAD,
    LEVEL,
    LIVES,
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
from cosmolabe.engine.motion import clamp
from cosmolabe.engine.rng import uniform

# Sizes, in screens (the world is square).
BAT_X = 0.06  # distance of each bat's centre from its wall
BAT_HALF_WIDTH = 0.012
BAT_HALF_HEIGHT = 0.09
BALL_RADIUS = 0.016
WALL_HALF_HEIGHT = 0.012  # the rails at top and bottom

# Speeds, in screens per tick (60 ticks a second).
BAT_SPEED = 0.016
OPPONENT_SPEED = 0.0105
SERVE_SPEED = 0.016
SPEED_UP = 1.05  # gain of each return
TOP_SPEED = 0.03
STEEPEST = 0.85  # largest share of the speed that goes up or down after an edge hit

POINTS_TO_WIN = 11
SERVE_WAIT = 30  # ticks before a serve
MAX_TICKS = 3600

# Entity slots.
PLAYER, OPPONENT, BALL, TOP_RAIL, BOTTOM_RAIL = range(5)

# Places in the world vector.
PLAYER_Y, PLAYER_VY = HEAD, HEAD + 1
OPPONENT_Y, OPPONENT_VY = HEAD + 2, HEAD + 3
BALL_X, BALL_Y, BALL_VX, BALL_VY = HEAD + 4, HEAD + 5, HEAD + 6, HEAD + 7
RALLY, OPPONENT_SCORE, WAIT, SPEED = HEAD + 8, HEAD + 9, HEAD + 10, HEAD + 11
SERVE_TO = HEAD + 12  # private: -1 serves to the left, 1 to the right
AIM = HEAD + 13  # private: where on its bat the opponent means to meet the ball, -1..1

# Parameters.
P_SPEED_UP, P_BAT_SPEED, P_OPPONENT_SPEED, P_RAIL_RESTITUTION, P_GRAVITY, P_SOLID = range(6)

ACTIONS = ("stay", "up", "down")


@rule
def reset(world, level, parameters):
    """Bats in the middle, the ball waits to be served to a random side."""
    world[LIVES] = 1.0
    world[LEVEL] = level
    world[PHASE] = READY
    world[PLAYER_Y] = 0.5
    world[OPPONENT_Y] = 0.5
    _place_ball(world, 1.0 if uniform(world) < 0.5 else -1.0)


@rule
def _place_ball(world, to):
    world[BALL_X], world[BALL_Y] = 0.5, 0.5
    world[BALL_VX], world[BALL_VY] = 0.0, 0.0
    world[RALLY], world[SPEED] = 0.0, 0.0
    world[WAIT] = SERVE_WAIT
    world[SERVE_TO] = to
    world[PHASE] = READY


@rule
def step(world, action, parameters):
    """Move the bats, then the ball."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    _move_bats(world, action, parameters)
    if world[WAIT] > 0.0:
        world[WAIT] -= 1.0
        if world[WAIT] == 0.0:
            _serve(world)
    else:
        _move_ball(world, parameters)
    if world[TICK] >= MAX_TICKS:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _move_bats(world, action, parameters):
    push = -1.0 if action == 1 else (1.0 if action == 2 else 0.0)
    low = WALL_HALF_HEIGHT * 2.0 + BAT_HALF_HEIGHT
    before = world[PLAYER_Y]
    world[PLAYER_Y] = clamp(before + push * parameters[P_BAT_SPEED], low, 1.0 - low)
    world[PLAYER_VY] = world[PLAYER_Y] - before
    # The opponent chases the ball while it comes, else drifts home; it is slower than the ball.
    coming = world[BALL_VX] > 0.0
    goal = world[BALL_Y] + world[AIM] * BAT_HALF_HEIGHT if coming else 0.5
    reach = parameters[P_OPPONENT_SPEED] * (1.0 if coming else 0.5)
    before = world[OPPONENT_Y]
    world[OPPONENT_Y] = clamp(before + clamp(goal - before, -reach, reach), low, 1.0 - low)
    world[OPPONENT_VY] = world[OPPONENT_Y] - before


@rule
def _serve(world):
    slope = (2.0 * uniform(world) - 1.0) * 0.6
    flat = np.sqrt(1.0 - slope * slope)
    world[BALL_VX] = SERVE_SPEED * flat * world[SERVE_TO]
    world[BALL_VY] = SERVE_SPEED * slope
    world[SPEED] = SERVE_SPEED
    world[AIM] = 1.6 * uniform(world) - 0.8
    world[PHASE] = PLAYING


@rule
def _move_ball(world, parameters):
    world[BALL_VY] += parameters[P_GRAVITY]
    old_x = world[BALL_X]
    world[BALL_X] += world[BALL_VX]
    world[BALL_Y] += world[BALL_VY]
    low = WALL_HALF_HEIGHT * 2.0 + BALL_RADIUS
    if world[BALL_Y] < low:
        world[BALL_Y] = low + (low - world[BALL_Y])
        world[BALL_VY] = -world[BALL_VY] * parameters[P_RAIL_RESTITUTION]
    elif world[BALL_Y] > 1.0 - low:
        world[BALL_Y] = (1.0 - low) - (world[BALL_Y] - (1.0 - low))
        world[BALL_VY] = -world[BALL_VY] * parameters[P_RAIL_RESTITUTION]
    if parameters[P_SOLID] > 0.0:
        _meet_bat(world, parameters, old_x, BAT_X, PLAYER_Y, 1.0)
        _meet_bat(world, parameters, old_x, 1.0 - BAT_X, OPPONENT_Y, -1.0)
    if world[BALL_X] < -BALL_RADIUS:
        _score(world, -1.0)
    elif world[BALL_X] > 1.0 + BALL_RADIUS:
        _score(world, 1.0)


@rule
def _meet_bat(world, parameters, old_x, bat_x, bat_y, facing):
    """Return the ball when its leading edge crosses the bat's face; edge hits go steep."""
    face = bat_x + facing * (BAT_HALF_WIDTH + BALL_RADIUS)
    if world[BALL_VX] * facing >= 0.0:
        return
    crossed = (old_x - face) * facing >= 0.0 and (world[BALL_X] - face) * facing < 0.0
    off = (world[BALL_Y] - world[bat_y]) / (BAT_HALF_HEIGHT + BALL_RADIUS)
    if not crossed or abs(off) > 1.0:
        return
    speed = min(world[SPEED] * parameters[P_SPEED_UP], TOP_SPEED)
    rise = off * STEEPEST
    world[SPEED] = speed
    world[BALL_VX] = facing * speed * np.sqrt(1.0 - rise * rise)
    world[BALL_VY] = speed * rise
    world[BALL_X] = face + (face - world[BALL_X])
    world[RALLY] += 1.0
    if facing > 0.0:
        world[AIM] = 1.6 * uniform(world) - 0.8


@rule
def _score(world, to):
    """A point: +1 for the player, -1 against; the loser of the point is served to."""
    world[REWARD] = to
    if to > 0.0:
        world[SCORE] += 1.0
    else:
        world[OPPONENT_SCORE] += 1.0
    _place_ball(world, to)
    if world[SCORE] >= POINTS_TO_WIN or world[OPPONENT_SCORE] >= POINTS_TO_WIN:
        world[PHASE] = WON if to > 0.0 else OVER
        world[TERMINATED] = 1.0


@rule
def decide(world, parameters, luck):
    """Meet the ball, rails included, off the bat's middle so that it leaves the opponent behind."""
    goal = 0.5
    if world[BALL_VX] < 0.0:
        ticks = (world[BALL_X] - BAT_X) / -world[BALL_VX]
        low = WALL_HALF_HEIGHT * 2.0 + BALL_RADIUS
        span = 1.0 - 2.0 * low
        folded = (world[BALL_Y] + world[BALL_VY] * ticks - low) / (2.0 * span)
        folded = folded - np.floor(folded)
        goal = low + span * (2.0 * folded if folded < 0.5 else 2.0 - 2.0 * folded)
        away = 1.0 if world[OPPONENT_Y] < 0.5 else -1.0
        goal += ((luck[0] - 0.5) * 0.5 - 0.75 * away) * BAT_HALF_HEIGHT
    gap = goal - world[PLAYER_Y]
    if gap < -BAT_SPEED:
        return 1
    if gap > BAT_SPEED:
        return 2
    return 0


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """Rails, net, score."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for rail in range(TOP_RAIL, BOTTOM_RAIL + 1):
        canvas.box(
            frame,
            state[rail, 0] * width + dx,
            state[rail, 1] * height + dy,
            0.5 * width,
            WALL_HALF_HEIGHT * height,
            palette[2],
        )
    for dash in range(12):
        y = (dash + 0.5) / 12.0 * height + dy
        canvas.box(frame, 0.5 * width + dx, y, 0.004 * width, 0.02 * height, palette[2])
    dot = height / 64.0
    canvas.number(
        frame, 0.42 * width + dx, 0.06 * height + dy, dot, np.int64(numbers[0] + 0.5), palette[2]
    )
    canvas.number(
        frame, 0.65 * width + dx, 0.06 * height + dy, dot, np.int64(numbers[14] + 0.5), palette[2]
    )


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Bats as their characters, ball."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    for bat in range(2):
        if state[bat, 2] > 0.5:
            canvas.sprite(
                frame,
                sprites[bat],
                state[bat, 0] * width + dx,
                state[bat, 1] * height + dy,
                3.0 * BAT_HALF_WIDTH * width,
                BAT_HALF_HEIGHT * height,
                0.0,
                1.0,
                bat == 1,
            )
    if state[BALL, 2] > 0.5:
        canvas.disc(
            frame,
            state[BALL, 0] * width + dx,
            state[BALL, 1] * height + dy,
            BALL_RADIUS * height,
            palette[3],
        )


@rule
def late(public):
    """Either side has six points."""
    return public[SCORE] >= 6.0 or public[OPPONENT_SCORE] >= 6.0


GAME = Game(
    manifest=Manifest(
        game="pong",
        version=1,
        slots=(
            Slot(
                "player",
                "player",
                layer="player",
                half_width=BAT_HALF_WIDTH,
                half_height=BAT_HALF_HEIGHT,
                controllable=True,
                solid=True,
                restitution=1.0,
            ),
            Slot(
                "opponent",
                "opponent",
                layer="enemy",
                half_width=BAT_HALF_WIDTH,
                half_height=BAT_HALF_HEIGHT,
                solid=True,
                restitution=1.0,
            ),
            Slot("ball", "ball", "circle", "projectile", radius=BALL_RADIUS, restitution=1.0),
            Slot(
                "top_rail",
                "platform",
                layer="solid",
                half_width=0.5,
                half_height=WALL_HALF_HEIGHT,
                mutable=False,
                solid=True,
            ),
            Slot(
                "bottom_rail",
                "platform",
                layer="solid",
                half_width=0.5,
                half_height=WALL_HALF_HEIGHT,
                mutable=False,
                solid=True,
            ),
        ),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "combo",
            "opponent_score",
            "cooldown",
            "speed",
        ),
        actions=("move_y",),
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *entity(PLAYER, "y", "vy"),
        *entity(OPPONENT, "y", "vy"),
        *entity(BALL, "x", "y", "vx", "vy"),
        Column(None, "combo"),
        Column(None, "opponent_score"),
        Column(None, "cooldown", 1.0 / SERVE_WAIT),
        Column(None, "speed"),
    ),
    private=("serve_to", "aim"),
    parameters={
        "speed_up": Parameter(SPEED_UP, "ball speed after a return / before"),
        "bat_speed": Parameter(BAT_SPEED, "screens per tick"),
        "opponent_speed": Parameter(OPPONENT_SPEED, "screens per tick"),
        "rail_restitution": Parameter(1.0, "vertical speed after a rail / before"),
        "gravity": Parameter(0.0, "screens per tick per tick, down"),
        "bats_solid": Parameter(1.0, "1 solid, 0 ghost"),
    },
    actions=ACTIONS,
    action_table=((0,) * 7, (0, -1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0, 0)),
    action_keys={"up": "up", "down": "down"},
    characters=("bat_plain", "bat_striped", "bat_neon", "bat_wood", "bat_gold", "bat_ice"),
    themes=(
        Theme("classic", ((12, 14, 24), (20, 24, 40), (200, 204, 214), (250, 250, 245))),
        Theme("court", ((30, 92, 60), (36, 104, 68), (230, 240, 230), (250, 230, 60)), "stripes"),
        Theme("dusk", ((36, 20, 56), (120, 50, 80), (240, 200, 180), (255, 240, 200)), "gradient"),
        Theme("grid", ((10, 10, 14), (20, 60, 60), (90, 220, 210), (255, 255, 255)), "grid", 1.0),
        Theme("paper", ((236, 230, 214), (224, 216, 196), (60, 60, 66), (190, 50, 50)), "speckle"),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=(
        Column(None, "score"),
        Column(None, "opponent_score"),
        *entity(TOP_RAIL, "x", "y"),
        *entity(BOTTOM_RAIL, "x", "y"),
    ),
    late=late,
    roles=("player", "opponent"),
    words={
        "player": "the left bat",
        "opponent": "the right bat",
        "goal": "return the ball past the right bat",
        "stay": "the left bat stays where it is",
        "up": "the left bat moves up",
        "down": "the left bat moves down",
    },
    constants={
        (PLAYER, "x"): BAT_X,
        (OPPONENT, "x"): 1.0 - BAT_X,
        (TOP_RAIL, "x"): 0.5,
        (TOP_RAIL, "y"): WALL_HALF_HEIGHT,
        (BOTTOM_RAIL, "x"): 0.5,
        (BOTTOM_RAIL, "y"): 1.0 - WALL_HALF_HEIGHT,
    },
)
