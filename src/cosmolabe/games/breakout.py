"""Breakout: one bat, one ball, a wall of 48 bricks; a ball that gets past the bat costs a life."""

import numpy as np

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
from cosmolabe.engine.motion import clamp, whole
from cosmolabe.engine.rng import uniform

# Sizes, in screens (the world is square).
ROWS, COLUMNS = 6, 8
BRICKS = ROWS * COLUMNS
LEFT, RIGHT = 0.02, 0.98  # inner faces of the side walls
CEILING = 0.12  # lower face of the ceiling
CEILING_HALF_HEIGHT = 0.01
FIELD_TOP = 0.2  # upper edge of the top row
BRICK_HALF_WIDTH = 0.06  # bricks touch: the field fills the space between the walls
BRICK_HALF_HEIGHT = 0.02
BRICK_WIDTH, BRICK_HEIGHT = 2.0 * BRICK_HALF_WIDTH, 2.0 * BRICK_HALF_HEIGHT
FIELD_BOTTOM = FIELD_TOP + ROWS * BRICK_HEIGHT
PADDLE_Y = 0.93
PADDLE_HALF_WIDTH = 0.075
PADDLE_HALF_HEIGHT = 0.012
FACE = PADDLE_Y - PADDLE_HALF_HEIGHT  # where the ball meets the bat
BALL_RADIUS = 0.012
PICKUP_HALF_WIDTH = 0.026
PICKUP_HALF_HEIGHT = 0.012

# Speeds, in screens per tick (60 ticks a second).
PADDLE_SPEED = 0.02
SERVE_SPEED = 0.0165
LEVEL_SPEED = 0.08  # the serve is faster by this share with every level
SPEED_UP = 1.16  # gain of each of four stages: 4 returns, 12 returns, upper rows, top rows
TOP_SPEED = 0.034
STEEPEST = 0.85  # largest share of the speed that goes sideways, after an edge hit
PICKUP_SPEED = 0.006

LIVES_AT_START = 3
MOST_LIVES = 5
LAST_LEVEL = 2  # two walls, as in the arcade; a higher start level is built tougher still
PICKUP_CHANCE = 0.12  # of a broken brick
EXTRA_LIFE_SHARE = 0.2  # of the pickups; the others slow the ball
SERVE_WAIT = 60  # ticks until the ball starts by itself
MAX_TICKS = 3600

# Entity slots.
PADDLE, BALL, PICKUP, TOP_WALL, FIRST_BRICK = range(5)
SLOW, EXTRA_LIFE = 0.0, 1.0  # piece types of the pickup

# Places in the world vector.
PADDLE_X, PADDLE_VX = HEAD, HEAD + 1
BALL_X, BALL_Y, BALL_VX, BALL_VY = HEAD + 2, HEAD + 3, HEAD + 4, HEAD + 5
PICKUP_X, PICKUP_Y, PICKUP_ALIVE, PICKUP_VY, PICKUP_TYPE = range(HEAD + 6, HEAD + 11)
WAIT, RETURNS, SPEED, LEFT_OVER = range(HEAD + 11, HEAD + 15)
ALIVE = HEAD + 15  # of the 48 bricks, row by row from the top
HP = ALIVE + BRICKS
REACHED = HP + BRICKS  # private: highest part of the wall the ball has touched, 0, 1 or 2
STANDING = REACHED + 1  # private: bricks left
BUILT = REACHED + 2  # private: bricks this wall began with

# Parameters.
(
    P_SERVE_SPEED,
    P_SPEED_UP,
    P_PADDLE_SPEED,
    P_RESTITUTION,
    P_GRAVITY,
    P_SOLID,
    P_PICKUP_CHANCE,
    P_PICKUP_SPEED,
) = range(8)

POINTS = (7.0, 7.0, 4.0, 4.0, 1.0, 1.0)  # by row, from the top
ACTIONS = ("stay", "left", "right", "fire")


@rule
def reset(world, level, parameters):
    """A new game: a full set of lives, the level's wall, the ball on the bat."""
    world[LIVES] = LIVES_AT_START
    world[LEVEL] = level
    world[PADDLE_X] = 0.5
    world[PICKUP_X], world[PICKUP_Y] = 0.5, FIELD_BOTTOM
    _build_wall(world)
    _hold_ball(world, parameters)
    world[PHASE] = READY


@rule
def _build_wall(world):
    """The first wall is full; later ones have holes, mirrored, and tough rows on top."""
    level = np.int64(world[LEVEL])
    built = 0.0
    for row in range(ROWS):
        hits = 2.0 if level > 1 and row < min(level, 4) else 1.0
        for column in range(COLUMNS):
            half = min(column, COLUMNS - 1 - column)
            mixed = (level * 7919 + row * 10473 + half * 26713) % 65521
            mixed = mixed * mixed % 65521
            stands = level == 1 or mixed % 5 > 1
            cell = row * COLUMNS + column
            world[ALIVE + cell] = 1.0 if stands else 0.0
            world[HP + cell] = hits if stands else 0.0
            built += 1.0 if stands else 0.0
    world[BUILT], world[STANDING] = built, built
    world[LEFT_OVER] = 1.0


@rule
def _hold_ball(world, parameters):
    """Put the ball on the bat, slow again, to wait for the serve."""
    world[BALL_X], world[BALL_Y] = world[PADDLE_X], FACE - BALL_RADIUS
    world[BALL_VX], world[BALL_VY] = 0.0, 0.0
    world[WAIT] = SERVE_WAIT
    world[RETURNS], world[REACHED] = 0.0, 0.0
    _set_speed(world, parameters)


@rule
def _set_speed(world, parameters):
    """The speed belongs to the level and to the stages passed since the serve."""
    speed = parameters[P_SERVE_SPEED] * (1.0 + LEVEL_SPEED * (world[LEVEL] - 1.0))
    stages = world[REACHED] + (1.0 if world[RETURNS] >= 4.0 else 0.0)
    stages += 1.0 if world[RETURNS] >= 12.0 else 0.0
    while stages > 0.0:
        speed *= parameters[P_SPEED_UP]
        stages -= 1.0
    world[SPEED] = min(speed, TOP_SPEED)


@rule
def step(world, action, parameters):
    """Move the bat, then the ball, then what falls."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    before = world[PADDLE_X]
    push = -1.0 if action == 1 else (1.0 if action == 2 else 0.0)
    world[PADDLE_X] = clamp(
        before + push * parameters[P_PADDLE_SPEED],
        LEFT + PADDLE_HALF_WIDTH,
        RIGHT - PADDLE_HALF_WIDTH,
    )
    world[PADDLE_VX] = world[PADDLE_X] - before
    if world[WAIT] > 0.0:
        world[BALL_X] = world[PADDLE_X]
        world[BALL_VX] = world[PADDLE_VX]
        world[WAIT] = 0.0 if action == 3 else world[WAIT] - 1.0
        if world[WAIT] == 0.0:
            _serve(world)
    else:
        _move_ball(world, parameters)
    if world[PICKUP_ALIVE] > 0.0:
        _move_pickup(world, parameters)
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _serve(world):
    slope = (2.0 * uniform(world) - 1.0) * 0.6
    world[BALL_VX] = world[SPEED] * slope
    world[BALL_VY] = -world[SPEED] * np.sqrt(1.0 - slope * slope)
    world[PHASE] = PLAYING


@rule
def _move_ball(world, parameters):
    """One axis after the other, so that each bounce knows which face it met."""
    old_x, old_y, speed = world[BALL_X], world[BALL_Y], world[SPEED]
    vx, vy = world[BALL_VX], world[BALL_VY] + parameters[P_GRAVITY]
    solid = parameters[P_SOLID] > 0.0
    x = old_x + vx
    if x < LEFT + BALL_RADIUS:
        x = 2.0 * (LEFT + BALL_RADIUS) - x
        vx = -vx * parameters[P_RESTITUTION]
    elif x > RIGHT - BALL_RADIUS:
        x = 2.0 * (RIGHT - BALL_RADIUS) - x
        vx = -vx * parameters[P_RESTITUTION]
    if solid and old_y > FIELD_TOP and old_y < FIELD_BOTTOM:
        cell = _brick_at(world, x + (BALL_RADIUS if vx > 0.0 else -BALL_RADIUS), old_y)
        if cell >= 0:
            x, vx = old_x, -vx
            _hit(world, cell, parameters)
    y = old_y + vy
    if y < CEILING + BALL_RADIUS:
        y = 2.0 * (CEILING + BALL_RADIUS) - y
        vy = -vy * parameters[P_RESTITUTION]
    edge = y + (BALL_RADIUS if vy > 0.0 else -BALL_RADIUS)
    if solid and edge > FIELD_TOP and edge < FIELD_BOTTOM:
        cell = _brick_touched(world, x, edge)
        if cell >= 0:
            y, vy = old_y, -vy
            _hit(world, cell, parameters)
    world[BALL_X], world[BALL_Y] = x, y
    if world[SPEED] != speed:
        vx *= world[SPEED] / speed
        vy *= world[SPEED] / speed
    world[BALL_VX], world[BALL_VY] = vx, clamp(vy, -TOP_SPEED, TOP_SPEED)
    if y + BALL_RADIUS > FACE:
        _meet_paddle(world, old_y, parameters)
    if world[STANDING] <= 0.0:
        _clear_level(world, parameters)


@rule
def _brick_at(world, x, y):
    """Number of the standing brick at a point, else -1."""
    column = whole((x - LEFT) / BRICK_WIDTH, 0, COLUMNS)
    row = whole((y - FIELD_TOP) / BRICK_HEIGHT, 0, ROWS)
    if x < LEFT or column >= COLUMNS or row >= ROWS:
        return np.int64(-1)
    cell = row * COLUMNS + column
    return cell if world[ALIVE + cell] > 0.0 else np.int64(-1)


@rule
def _brick_touched(world, x, edge):
    """The standing brick that the ball's upper or lower edge touches: the middle one first."""
    cell = _brick_at(world, x, edge)
    if cell < 0:
        cell = _brick_at(world, x - 0.7 * BALL_RADIUS, edge)
    if cell < 0:
        cell = _brick_at(world, x + 0.7 * BALL_RADIUS, edge)
    return cell


@rule
def _hit(world, cell, parameters):
    """A hit takes one hp; the last one breaks the brick and pays its row's points."""
    row = cell // COLUMNS
    part = 2.0 if row < 2 else (1.0 if row < 4 else 0.0)
    if part > world[REACHED]:
        world[REACHED] = part
        _set_speed(world, parameters)
    world[HP + cell] -= 1.0
    if world[HP + cell] > 0.0:
        return
    world[ALIVE + cell] = 0.0
    points = POINTS[row]
    world[SCORE] += points
    world[REWARD] += points
    world[STANDING] -= 1.0
    world[LEFT_OVER] = world[STANDING] / world[BUILT]
    if world[PICKUP_ALIVE] == 0.0 and uniform(world) < parameters[P_PICKUP_CHANCE]:
        world[PICKUP_X] = LEFT + (np.float64(cell % COLUMNS) + 0.5) * BRICK_WIDTH
        world[PICKUP_Y] = FIELD_TOP + (np.float64(row) + 0.5) * BRICK_HEIGHT
        world[PICKUP_VY] = parameters[P_PICKUP_SPEED]
        world[PICKUP_ALIVE] = 1.0
        world[PICKUP_TYPE] = EXTRA_LIFE if uniform(world) < EXTRA_LIFE_SHARE else SLOW


@rule
def _meet_paddle(world, old_y, parameters):
    """Return the ball if its lower edge crossed the bat's face; where it met decides the way."""
    off = (world[BALL_X] - world[PADDLE_X]) / (PADDLE_HALF_WIDTH + BALL_RADIUS)
    if old_y + BALL_RADIUS <= FACE and abs(off) <= 1.0:
        world[RETURNS] += 1.0
        if world[RETURNS] == 4.0 or world[RETURNS] == 12.0:
            _set_speed(world, parameters)
        side = off * STEEPEST
        world[BALL_VX] = world[SPEED] * side
        world[BALL_VY] = -world[SPEED] * np.sqrt(1.0 - side * side)
        world[BALL_Y] = 2.0 * (FACE - BALL_RADIUS) - world[BALL_Y]
    elif world[BALL_Y] > 1.0 + BALL_RADIUS:
        _lose_ball(world, parameters)


@rule
def _lose_ball(world, parameters):
    """The ball is gone and so is what was falling; the wall stays as it is."""
    world[LIVES] -= 1.0
    world[PICKUP_ALIVE], world[PICKUP_VY] = 0.0, 0.0
    if world[LIVES] <= 0.0:
        world[BALL_VX], world[BALL_VY] = 0.0, 0.0
        world[PHASE] = OVER
        world[TERMINATED] = 1.0
        return
    _hold_ball(world, parameters)
    world[PHASE] = LOST


@rule
def _clear_level(world, parameters):
    """The next wall, or the end of the game after the last."""
    world[PICKUP_ALIVE], world[PICKUP_VY] = 0.0, 0.0
    if world[LEVEL] >= LAST_LEVEL:
        world[PHASE] = WON
        world[TERMINATED] = 1.0
        return
    world[LEVEL] += 1.0
    _build_wall(world)
    _hold_ball(world, parameters)
    world[PHASE] = READY


@rule
def _move_pickup(world, parameters):
    """What falls is caught by the bat or lost."""
    world[PICKUP_Y] += world[PICKUP_VY]
    y = world[PICKUP_Y]
    near = abs(world[PICKUP_X] - world[PADDLE_X]) < PADDLE_HALF_WIDTH + PICKUP_HALF_WIDTH
    high = abs(y - PADDLE_Y) < PADDLE_HALF_HEIGHT + PICKUP_HALF_HEIGHT
    if near and high:
        world[PICKUP_ALIVE], world[PICKUP_VY] = 0.0, 0.0
        if world[PICKUP_TYPE] == EXTRA_LIFE:
            world[LIVES] = min(world[LIVES] + 1.0, MOST_LIVES * 1.0)
        else:
            _slow_down(world, parameters)
    elif y > 1.0 + PICKUP_HALF_HEIGHT:
        world[PICKUP_ALIVE], world[PICKUP_VY] = 0.0, 0.0


@rule
def _slow_down(world, parameters):
    """The ball keeps its way and falls back to the speed of a serve."""
    speed = world[SPEED]
    world[RETURNS], world[REACHED] = 0.0, 0.0
    _set_speed(world, parameters)
    world[BALL_VX] *= world[SPEED] / speed
    world[BALL_VY] *= world[SPEED] / speed


@rule
def decide(world, parameters, luck):
    """Go where the ball will come down, and meet it so that it flies at a brick."""
    if world[WAIT] > 0.0:
        return 3
    goal = world[BALL_X]
    if world[BALL_VY] > 0.0 and world[BALL_Y] > FIELD_BOTTOM:
        ticks = (FACE - BALL_RADIUS - world[BALL_Y]) / world[BALL_VY]
        low, span = LEFT + BALL_RADIUS, RIGHT - LEFT - 2.0 * BALL_RADIUS
        folded = (world[BALL_X] + world[BALL_VX] * ticks - low) / (2.0 * span)
        folded = folded - np.floor(folded)
        land = low + span * (2.0 * folded if folded < 0.5 else 2.0 - 2.0 * folded)
        goal = land - _aim(world, land, luck[0]) * (PADDLE_HALF_WIDTH + BALL_RADIUS)
    gap = goal - world[PADDLE_X]
    if gap < -0.6 * PADDLE_SPEED:
        return 1
    if gap > 0.6 * PADDLE_SPEED:
        return 2
    return 0


@rule
def _aim(world, land, luck):
    """Where on the bat to meet the ball, -0.85..0.85: towards a high brick in reach."""
    best, chosen = 9.0, luck - 0.5
    for cell in range(BRICKS - 1, -1, -1):
        if world[ALIVE + cell] == 0.0:
            continue
        x = LEFT + (np.float64(cell % COLUMNS) + 0.5) * BRICK_WIDTH
        dy = FACE - FIELD_TOP - (np.float64(cell // COLUMNS) + 0.5) * BRICK_HEIGHT
        for way in range(3):  # straight, off the left wall, off the right wall
            target = x if way == 0 else (2.0 * LEFT - x if way == 1 else 2.0 * RIGHT - x)
            dx = target - land
            off = dx / np.sqrt(dx * dx + dy * dy) / STEEPEST
            cost = abs(off) - dy  # a high brick is worth a steep shot: it opens the way up
            if abs(off) < 0.85 and cost < best:
                best, chosen = cost, off
    return clamp(chosen + 0.2 * (luck - 0.5), -0.85, 0.85)


@rule
def scenery(frame, state, numbers, palette, sprites, camera):
    """Walls, score and lives, bricks by row."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    _draw_walls(frame, palette, height, width, dx, dy)
    dot = height / 64.0
    canvas.number(
        frame, 0.3 * width + dx, 0.012 * height + dy, dot, np.int64(numbers[0] + 0.5), palette[2]
    )
    canvas.number(
        frame, 0.93 * width + dx, 0.012 * height + dy, dot, np.int64(numbers[3] + 0.5), palette[2]
    )
    for life in range(min(np.int64(numbers[2] + 0.5), MOST_LIVES)):
        x = (0.46 + 0.06 * life) * width + dx
        canvas.box(frame, x, 0.05 * height + dy, 0.02 * width, 0.012 * height, palette[3])
    for cell in range(BRICKS):
        _draw_brick(frame, state, palette, cell, height, width, dx, dy)


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """The capsule, the bat as its character, the ball."""
    height, width = frame.shape[0] * 1.0, frame.shape[1] * 1.0
    dx, dy = camera[0], camera[1]
    if state[PICKUP, 2] > 0.5:
        x, y = state[PICKUP, 0] * width + dx, state[PICKUP, 1] * height + dy
        shade = palette[7 if state[PICKUP, 11] > 0.5 else 5]
        canvas.box(frame, x, y, PICKUP_HALF_WIDTH * height, PICKUP_HALF_HEIGHT * height, shade)
        canvas.box(
            frame,
            x,
            y,
            0.35 * PICKUP_HALF_WIDTH * height,
            PICKUP_HALF_HEIGHT * height,
            palette[3],
        )
    if state[PADDLE, 2] > 0.5:
        canvas.sprite(
            frame,
            sprites[0],
            state[PADDLE, 0] * width + dx,
            state[PADDLE, 1] * height + dy,
            3.0 * PADDLE_HALF_HEIGHT * height,
            PADDLE_HALF_WIDTH * height,
            1.0,
            0.0,
            False,
        )
    if state[BALL, 2] > 0.5:
        x, y = state[BALL, 0] * width + dx, state[BALL, 1] * height + dy
        canvas.disc(frame, x, y, BALL_RADIUS * height, palette[3])


@rule
def _draw_walls(frame, palette, height, width, dx, dy):
    top = CEILING - 2.0 * CEILING_HALF_HEIGHT
    middle, half = 0.5 * (top + 1.0), 0.5 * (1.0 - top)
    canvas.box(
        frame,
        0.5 * width + dx,
        (CEILING - CEILING_HALF_HEIGHT) * height + dy,
        0.5 * width,
        CEILING_HALF_HEIGHT * height,
        palette[2],
    )
    for side in range(2):
        x = 0.5 * LEFT if side == 0 else 1.0 - 0.5 * LEFT
        canvas.box(
            frame,
            x * width + dx,
            middle * height + dy,
            0.5 * LEFT * width,
            half * height,
            palette[2],
        )


@rule
def _draw_brick(frame, state, palette, cell, height, width, dx, dy):
    """A brick in its row's colour; a bright bar marks one that takes another hit."""
    slot = FIRST_BRICK + cell
    if state[slot, 2] < 0.5:
        return
    x, y = state[slot, 0] * width + dx, state[slot, 1] * height + dy
    seam = 0.003 * height
    half_width, half_height = BRICK_HALF_WIDTH * height - seam, BRICK_HALF_HEIGHT * height - seam
    canvas.box(frame, x, y, half_width, half_height, palette[4 + cell // (2 * COLUMNS)])
    if cell // COLUMNS % 2 == 1:
        canvas.box(frame, x, y + 0.7 * half_height, half_width, 0.3 * half_height, palette[7])
    if state[slot, 8] > 1.5:
        canvas.box(frame, x, y, 0.75 * half_width, 0.3 * half_height, palette[3])


@rule
def late(public):
    """The second wall or later, or at most a quarter of the first one left."""
    return public[LEVEL] >= 2.0 or public[LEFT_OVER] <= 0.25


_PLACES = {
    FIRST_BRICK + cell: (
        LEFT + (cell % COLUMNS + 0.5) * BRICK_WIDTH,
        FIELD_TOP + (cell // COLUMNS + 0.5) * BRICK_HEIGHT,
    )
    for cell in range(BRICKS)
}

GAME = Game(
    manifest=Manifest(
        game="breakout",
        version=1,
        slots=(
            Slot(
                "paddle",
                "player",
                layer="player",
                half_width=PADDLE_HALF_WIDTH,
                half_height=PADDLE_HALF_HEIGHT,
                controllable=True,
                solid=True,
                restitution=1.0,
            ),
            Slot("ball", "ball", "circle", "projectile", radius=BALL_RADIUS, restitution=1.0),
            Slot(
                "pickup",
                "pickup",
                layer="pickup",
                half_width=PICKUP_HALF_WIDTH,
                half_height=PICKUP_HALF_HEIGHT,
            ),
            Slot(
                "ceiling",
                "platform",
                layer="solid",
                half_width=0.5,
                half_height=CEILING_HALF_HEIGHT,
                mutable=False,
                solid=True,
                restitution=1.0,
            ),
            *(
                Slot(
                    f"brick_{cell // COLUMNS}_{cell % COLUMNS}",
                    "brick",
                    layer="solid",
                    half_width=BRICK_HALF_WIDTH,
                    half_height=BRICK_HALF_HEIGHT,
                    solid=True,
                    restitution=1.0,
                )
                for cell in range(BRICKS)
            ),
        ),
        fields=("col", "hp", "piece_type", "row"),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "remaining",
            "cooldown",
            "speed",
            "combo",
        ),
        actions=("move_x", "fire"),
        max_ticks=MAX_TICKS,
    ),
    columns=(
        *entity(PADDLE, "x", "vx"),
        *entity(BALL, "x", "y", "vx", "vy"),
        *entity(PICKUP, "x", "y", "alive", "vy", "piece_type"),
        Column(None, "cooldown", 1.0 / SERVE_WAIT),
        Column(None, "combo"),
        Column(None, "speed"),
        Column(None, "remaining"),
        *(Column(FIRST_BRICK + cell, "alive") for cell in range(BRICKS)),
        *(Column(FIRST_BRICK + cell, "hp") for cell in range(BRICKS)),
    ),
    private=("reached", "standing", "built"),
    parameters={
        "serve_speed": Parameter(SERVE_SPEED, "screens per tick, first level"),
        "speed_up": Parameter(SPEED_UP, "ball speed after a stage / before"),
        "paddle_speed": Parameter(PADDLE_SPEED, "screens per tick"),
        "wall_restitution": Parameter(1.0, "speed across a wall after / before"),
        "gravity": Parameter(0.0, "screens per tick per tick, down"),
        "bricks_solid": Parameter(1.0, "1 solid, 0 ghost"),
        "pickup_chance": Parameter(PICKUP_CHANCE, "chance that a broken brick drops one"),
        "pickup_speed": Parameter(PICKUP_SPEED, "screens per tick"),
    },
    actions=ACTIONS,
    action_table=(
        (0,) * 7,
        (-1, 0, 0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 0, 0),
        (0, 0, 0, 1, 0, 0, 0),
    ),
    action_keys={"left": "left", "right": "right", "space": "fire"},
    characters=("bat_plain", "bat_striped", "bat_neon", "bat_wood", "bat_gold", "bat_ice"),
    themes=(
        Theme(
            "classic",
            (
                (0, 0, 0),
                (16, 16, 16),
                (142, 142, 142),
                (240, 240, 236),
                (200, 72, 72),
                (180, 122, 48),
                (72, 160, 72),
                (40, 44, 60),
            ),
        ),
        Theme(
            "harbour",
            (
                (20, 44, 70),
                (28, 60, 92),
                (196, 210, 220),
                (255, 244, 214),
                (232, 104, 80),
                (242, 184, 80),
                (96, 190, 186),
                (14, 30, 50),
            ),
            "stripes",
        ),
        Theme(
            "sunset",
            (
                (44, 22, 62),
                (150, 62, 84),
                (244, 206, 176),
                (255, 250, 236),
                (252, 120, 92),
                (252, 188, 104),
                (140, 190, 255),
                (58, 30, 74),
            ),
            "gradient",
        ),
        Theme(
            "arcade",
            (
                (8, 8, 16),
                (28, 22, 70),
                (120, 110, 240),
                (255, 255, 255),
                (255, 60, 140),
                (255, 220, 60),
                (60, 240, 190),
                (20, 16, 44),
            ),
            "grid",
            1.0,
        ),
        Theme(
            "paper",
            (
                (238, 232, 216),
                (220, 212, 190),
                (92, 88, 84),
                (44, 42, 48),
                (196, 70, 60),
                (206, 150, 50),
                (70, 130, 110),
                (150, 140, 120),
            ),
            "speckle",
        ),
        Theme(
            "night",
            (
                (10, 14, 30),
                (220, 226, 255),
                (110, 120, 160),
                (250, 250, 255),
                (150, 110, 230),
                (100, 150, 240),
                (100, 210, 230),
                (24, 30, 60),
            ),
            "stars",
        ),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    scenery=scenery,
    scenery_columns=(
        *(Column(None, name) for name in ("score", "lives", "level")),
        *(
            column
            for cell in range(BRICKS)
            for column in entity(FIRST_BRICK + cell, "x", "y", "alive", "hp")
        ),
    ),
    late=late,
    words={
        "player": "the bat at the bottom",
        "goal": "break every brick with the ball and never let it fall past the bat",
        "stay": "the bat stays where it is",
        "left": "the bat slides left",
        "right": "the bat slides right",
        "fire": "the ball is served from the bat",
    },
    constants={
        (PADDLE, "y"): PADDLE_Y,
        (TOP_WALL, "x"): 0.5,
        (TOP_WALL, "y"): CEILING - CEILING_HALF_HEIGHT,
        **{(slot, "x"): place[0] for slot, place in _PLACES.items()},
        **{(slot, "y"): place[1] for slot, place in _PLACES.items()},
        **{(FIRST_BRICK + cell, "row"): cell // COLUMNS for cell in range(BRICKS)},
        **{(FIRST_BRICK + cell, "col"): cell % COLUMNS for cell in range(BRICKS)},
    },
)
