"""Snake: eat, grow, never bite; a body of 46 segments fills the board's slots and wins.

The head turns at once and moves with the next grid step; 46 segments, head and food make N = 48.
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
from cosmolabe.engine.motion import whole
from cosmolabe.engine.rng import integer

CELLS = 20  # cells of the board's side
CELL = 1.0 / CELLS  # side of a cell, screens
NUM_SEGMENTS = 46  # a full body

# Ticks (60 a second).
MOVE_PERIOD = 7.0  # ticks a grid step takes on level 1
PERIOD_DROP = 1.0  # ticks less for each further level
FASTEST_PERIOD = 3.0
WAIT = 30.0  # before the first step, and after a crash
MAX_TICKS = 3600

LIVES_AT_START = 3
START_LENGTH = 3  # segments behind the head on level 1
FOOD_PER_LEVEL = 8
COIL_WIDTH, COIL_RIGHT, COIL_TOP = 10, 11, 8  # where a new snake lies folded, cells

# Directions, as the field `direction` counts them, and what a step adds.
UP, RIGHT, DOWN, LEFT = range(4)
STEP_X = (0.0, 1.0, 0.0, -1.0)
STEP_Y = (-1.0, 0.0, 1.0, 0.0)

# Entity slots.
HEAD_SLOT, FOOD, BODY = range(3)

# Places in the world vector; positions are in cells, cell centres end in .5.
HEAD_X, HEAD_Y, HEAD_VX, HEAD_VY, HEADING = range(HEAD, HEAD + 5)
FOOD_X, FOOD_Y = HEAD + 5, HEAD + 6
COOLDOWN, EATEN, SPEED, LENGTH = range(HEAD + 7, HEAD + 11)
BODY_X = HEAD + 11
BODY_Y = BODY_X + NUM_SEGMENTS
BODY_ALIVE = BODY_Y + NUM_SEGMENTS
BODY_DIRECTION = BODY_ALIVE + NUM_SEGMENTS
TO_GROW = BODY_DIRECTION + NUM_SEGMENTS  # private: segments still to come out of the tail

# Parameters.
(
    P_MOVE_PERIOD,
    P_PERIOD_DROP,
    P_WALLS_KILL,
    P_BODY_SOLID,
    P_GROWTH,
    P_FOOD_PER_LEVEL,
    P_REVERSE_KILLS,
) = range(7)

DIRECTION_COLUMN = AWM.state_columns.index("direction")  # of the dense state
SKIN_ROW, SKIN_COLUMN = 6, 5  # texel of the character that colours the body
TIGHT = 60.0  # heuristic player: cells of detour that a pocket is worth

ACTIONS = ("stay", "up", "right", "down", "left")


@rule
def reset(world, level, parameters):
    """A folded snake in the middle, food on a random free cell."""
    world[LIVES] = LIVES_AT_START
    world[LEVEL] = level
    for k in range(NUM_SEGMENTS):
        _lay_segment(world, k)
    _lay_snake(world, parameters)
    _place_food(world)


@rule
def _lay_segment(world, k):
    """Segment k's place in the folded snake: rows of ten cells, to and fro."""
    band, along = k // COIL_WIDTH, k % COIL_WIDTH
    forward = band % 2 == 0
    column = COIL_RIGHT - along if forward else COIL_RIGHT - COIL_WIDTH + 1 + along
    world[BODY_X + k] = column + 0.5
    world[BODY_Y + k] = COIL_TOP + band + 0.5
    turns = along == 0 and band > 0
    world[BODY_DIRECTION + k] = UP if turns else (RIGHT if forward else LEFT)


@rule
def _lay_snake(world, parameters):
    """As long as this level starts; segments beyond that die where they are."""
    grown = parameters[P_GROWTH] * parameters[P_FOOD_PER_LEVEL] * (world[LEVEL] - 1.0)
    length = np.int64(min(START_LENGTH + grown, NUM_SEGMENTS - 1.0))
    for k in range(NUM_SEGMENTS):
        if k < length:
            _lay_segment(world, k)
        world[BODY_ALIVE + k] = 1.0 if k < length else 0.0
    world[LENGTH] = length
    world[HEAD_X] = COIL_RIGHT + 1.5
    world[HEAD_Y] = COIL_TOP + 0.5
    world[HEADING] = RIGHT
    world[HEAD_VX], world[HEAD_VY], world[SPEED] = 0.0, 0.0, 0.0
    world[EATEN], world[TO_GROW] = 0.0, 0.0
    world[COOLDOWN] = WAIT
    world[PHASE] = READY


@rule
def _length(world):
    """Body segments; a world that was not made by these rules may say any number."""
    return whole(world[LENGTH], 0, NUM_SEGMENTS)


@rule
def _occupied(world, x, y, length):
    """How many of the first `length` segments lie on a cell."""
    hits = 0
    for k in range(length):
        if world[BODY_X + k] == x and world[BODY_Y + k] == y:
            hits += 1
    return hits


@rule
def _place_food(world):
    """On an evenly drawn cell that neither head nor body covers."""
    length = _length(world)
    while True:
        cell = integer(world, CELLS * CELLS)
        x, y = cell % CELLS + 0.5, cell // CELLS + 0.5
        on_head = x == world[HEAD_X] and y == world[HEAD_Y]
        if not on_head and _occupied(world, x, y, length) == 0:
            world[FOOD_X], world[FOOD_Y] = x, y
            return


@rule
def step(world, action, parameters):
    """Turn the head at once; move one cell whenever the cooldown has run out."""
    world[REWARD] = 0.0
    world[TICK] += 1.0
    if action > 0 and world[PHASE] != LOST:
        _turn(world, action - 1, parameters)
    world[COOLDOWN] -= 1.0
    if world[COOLDOWN] <= 0.0:
        if world[PHASE] == LOST:
            _lay_snake(world, parameters)
            if _occupied(world, world[FOOD_X], world[FOOD_Y], _length(world)) > 0 or (
                world[FOOD_X] == world[HEAD_X] and world[FOOD_Y] == world[HEAD_Y]
            ):
                _place_food(world)
        else:
            _move(world, parameters)
    if world[TICK] >= MAX_TICKS and world[TERMINATED] == 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def _turn(world, heading, parameters):
    """Look where the key says; looking straight back at the neck is refused."""
    back = (heading + 2) % 4 == whole(world[BODY_DIRECTION], 0, 3)
    if back and parameters[P_REVERSE_KILLS] == 0.0:
        return
    world[HEADING] = heading
    world[HEAD_VX] = STEP_X[heading] * world[SPEED]
    world[HEAD_VY] = STEP_Y[heading] * world[SPEED]


@rule
def _period(level, parameters):
    """Ticks of one grid step on a level."""
    return max(
        parameters[P_MOVE_PERIOD] - parameters[P_PERIOD_DROP] * (level - 1.0), FASTEST_PERIOD
    )


@rule
def _move(world, parameters):
    """One grid step: crash, or eat and grow, or just go on."""
    heading = whole(world[HEADING], 0, 3)
    length = _length(world)
    x, y = world[HEAD_X] + STEP_X[heading], world[HEAD_Y] + STEP_Y[heading]
    if x < 0.0 or x > CELLS or y < 0.0 or y > CELLS:
        if parameters[P_WALLS_KILL] > 0.0:
            _crash(world)
            return
        x -= CELLS * np.floor(x / CELLS)
        y -= CELLS * np.floor(y / CELLS)
    eats = x == world[FOOD_X] and y == world[FOOD_Y]
    if eats:
        world[TO_GROW] += parameters[P_GROWTH]
    grows = world[TO_GROW] >= 1.0 and length < NUM_SEGMENTS
    # The tail leaves its cell in this very step unless the snake grows.
    if parameters[P_BODY_SOLID] > 0.0 and _occupied(world, x, y, length - (0 if grows else 1)) > 0:
        _crash(world)
        return
    if grows:
        world[BODY_ALIVE + length] = 1.0
        world[TO_GROW] -= 1.0
        length += 1
        world[LENGTH] = length
    for k in range(length - 1, 0, -1):
        world[BODY_X + k] = world[BODY_X + k - 1]
        world[BODY_Y + k] = world[BODY_Y + k - 1]
        world[BODY_DIRECTION + k] = world[BODY_DIRECTION + k - 1]
    world[BODY_X], world[BODY_Y] = world[HEAD_X], world[HEAD_Y]
    world[BODY_DIRECTION] = heading
    world[HEAD_X], world[HEAD_Y] = x, y
    world[PHASE] = PLAYING
    if eats:
        _eat(world, parameters)
    period = _period(world[LEVEL], parameters)
    world[COOLDOWN] += period
    world[SPEED] = CELL / period
    world[HEAD_VX] = STEP_X[heading] * world[SPEED]
    world[HEAD_VY] = STEP_Y[heading] * world[SPEED]


@rule
def _eat(world, parameters):
    """Points by level; the eighth bite of a level starts the next, a full body wins."""
    world[REWARD] = world[LEVEL]
    world[SCORE] += world[LEVEL]
    world[EATEN] += 1.0
    if world[LENGTH] >= NUM_SEGMENTS:
        world[PHASE] = WON
        world[TERMINATED] = 1.0
        return
    if world[EATEN] >= parameters[P_FOOD_PER_LEVEL]:
        world[LEVEL] += 1.0
        world[EATEN] = 0.0
    _place_food(world)


@rule
def _crash(world):
    """A life less; the snake lies still a while, then the level starts again."""
    world[LIVES] -= 1.0
    world[HEAD_VX], world[HEAD_VY], world[SPEED] = 0.0, 0.0, 0.0
    world[COOLDOWN] = WAIT
    world[PHASE] = LOST
    if world[LIVES] <= 0.0:
        world[PHASE] = OVER
        world[TERMINATED] = 1.0


@rule
def decide(world, parameters, luck):
    """The safe turn that comes nearest to the food, wary of pockets without room."""
    if world[PHASE] != PLAYING and world[PHASE] != READY:
        return 0
    length = _length(world)
    best, choice = 1e9, whole(world[HEADING], 0, 3)
    for heading in range(4):
        if (heading + 2) % 4 == whole(world[BODY_DIRECTION], 0, 3):
            continue
        x, y = world[HEAD_X] + STEP_X[heading], world[HEAD_Y] + STEP_Y[heading]
        if _blocked(world, x, y, length, parameters):
            continue
        cost = abs(x - world[FOOD_X]) + abs(y - world[FOOD_Y])
        cost += _tightness(world, x, y, heading, length, parameters) + 0.1 * luck[0]
        if cost < best:
            best, choice = cost, np.int64(heading)
    return 0 if choice == whole(world[HEADING], 0, 3) else choice + 1


@rule
def _blocked(world, x, y, length, parameters):
    """Whether a cell kills the head; the last segment will have moved on."""
    if x < 0.0 or x > CELLS or y < 0.0 or y > CELLS:
        return parameters[P_WALLS_KILL] > 0.0
    return _occupied(world, x, y, length - 1) > 0


@rule
def _tightness(world, x, y, heading, length, parameters):
    """Cost of having little room: the longest free run from a cell ahead, left or right."""
    far = CELLS * 1.0 if parameters[P_WALLS_KILL] == 0.0 else 0.0
    up, down = max(far, y - 0.5), max(far, CELLS - 0.5 - y)
    left, right = max(far, x - 0.5), max(far, CELLS - 0.5 - x)
    for k in range(length - 1):
        over, under = world[BODY_X + k] - x, world[BODY_Y + k] - y
        if over == 0.0 and under < 0.0:
            up = min(up, -under - 1.0)
        elif over == 0.0:
            down = min(down, under - 1.0)
        elif under == 0.0 and over < 0.0:
            left = min(left, -over - 1.0)
        elif under == 0.0:
            right = min(right, over - 1.0)
    if heading == UP:
        room = max(up, left, right)
    elif heading == DOWN:
        room = max(down, left, right)
    elif heading == LEFT:
        room = max(left, up, down)
    else:
        room = max(right, up, down)
    if room < 1.0:
        return 1000.0
    return TIGHT / room if room < 5.0 else 0.0


@rule
def draw(frame, state, numbers, palette, sprites, camera):
    """Wall, food, body from tail to neck, head turned its way; score, level and lives above."""
    side = frame.shape[0] * 1.0
    cell = side / CELLS
    dx, dy = camera[0], camera[1]
    edge = 0.12 * cell
    for far in range(2):
        at = edge if far == 0 else side - edge
        canvas.box(frame, at + dx, 0.5 * side + dy, edge, 0.5 * side, palette[2])
        canvas.box(frame, 0.5 * side + dx, at + dy, 0.5 * side, edge, palette[2])
    dot = side / 80.0
    canvas.number(
        frame, 0.12 * side + dx, 0.025 * side + dy, dot, np.int64(numbers[0] + 0.5), palette[3]
    )
    canvas.number(
        frame, 0.53 * side + dx, 0.025 * side + dy, dot, np.int64(numbers[3] + 0.5), palette[3]
    )
    for life in range(np.int64(min(max(numbers[2], 0.0), 9.0) + 0.5)):
        x = (0.96 - 0.05 * life) * side
        canvas.sprite(
            frame, sprites[0], x + dx, 0.045 * side + dy, 0.5 * cell, 0.5 * cell, 0.0, 1.0, False
        )
    if state[FOOD, 2] > 0.5:
        _draw_at(frame, sprites[1], state, FOOD, 0.5, 0.0, 1.0, False, side, camera)
    # A crashed snake blinks: the cooldown tells how long it still lies there.
    lost = np.int64(numbers[4] + 0.5) == LOST
    if lost and np.int64(max(numbers[10], 0.0) * WAIT) // 4 % 2 == 1:
        return
    _draw_body(frame, state, sprites, side, camera)
    if state[HEAD_SLOT, 2] > 0.5:
        heading = np.int64(min(max(state[HEAD_SLOT, DIRECTION_COLUMN], 0.0), 3.0) + 0.5)
        sine = -1.0 if heading == UP else (1.0 if heading == DOWN else 0.0)
        cosine = 1.0 if heading in (RIGHT, LEFT) else 0.0
        _draw_at(
            frame, sprites[0], state, HEAD_SLOT, 0.78, sine, cosine, heading == LEFT, side, camera
        )


@rule
def _draw_at(frame, art, state, slot, reach, sine, cosine, mirror, side, camera):
    half = reach * side / CELLS
    canvas.sprite(
        frame,
        art,
        state[slot, 0] * side + camera[0],
        state[slot, 1] * side + camera[1],
        half,
        half,
        sine,
        cosine,
        mirror,
    )


@rule
def _draw_body(frame, state, sprites, side, camera):
    """Links between neighbours in the character's colour, spots in its second colour."""
    art = sprites[0]
    skin = art[SKIN_ROW, SKIN_COLUMN]
    second = 0
    while second < art.shape[1] - 1 and (
        art[SKIN_ROW, second, 3] == 0
        or (art[SKIN_ROW, second, 0] == skin[0] and art[SKIN_ROW, second, 1] == skin[1])
    ):
        second += 1
    spot = art[SKIN_ROW, second]
    for back in range(NUM_SEGMENTS):
        slot = BODY + NUM_SEGMENTS - 1 - back
        if state[slot, 2] < 0.5:
            continue
        ahead = HEAD_SLOT if slot == BODY else slot - 1
        x, y = state[slot, 0] * side + camera[0], state[slot, 1] * side + camera[1]
        to_x, to_y = state[ahead, 0] * side + camera[0], state[ahead, 1] * side + camera[1]
        if abs(to_x - x) + abs(to_y - y) > 1.6 * side / CELLS:
            to_x, to_y = x, y  # the link goes round the board's edge
        last = slot == BODY + NUM_SEGMENTS - 1 or state[slot + 1, 2] < 0.5
        width = (0.45 if last else 0.76) * side / CELLS
        canvas.line(frame, x, y, to_x, to_y, width, skin)
        if slot % 2 == 0:
            canvas.disc(frame, x, y, 0.2 * side / CELLS, spot)


@rule
def late(public):
    """Level three or more: sixteen bites and a body of nineteen."""
    return public[LEVEL] >= 3.0


def _slots():
    half = 0.5 * CELL
    yield Slot(
        "head", "player", layer="player", half_width=half, half_height=half,
        controllable=True, wraps=True,
    )  # fmt: skip
    yield Slot("food", "pickup", "circle", "pickup", radius=half, wraps=True)
    for k in range(NUM_SEGMENTS):
        yield Slot(
            f"segment_{k}", "segment", layer="solid", half_width=half, half_height=half,
            solid=True, wraps=True,
        )  # fmt: skip


def _body(name, scale=1.0):
    return tuple(Column(BODY + k, name, scale) for k in range(NUM_SEGMENTS))


GAME = Game(
    manifest=Manifest(
        game="snake",
        version=1,
        slots=tuple(_slots()),
        fields=("direction", "segment_index"),
        globals=(
            "score",
            "reward",
            "lives",
            "level",
            "phase",
            "tick_share",
            "cooldown",
            "done",
            "speed",
            "progress",
        ),
        actions=("move_x", "move_y"),
        wrap_x=True,
        wrap_y=True,
        max_ticks=MAX_TICKS,
    ),
    columns=(
        Column(HEAD_SLOT, "x", CELL),
        Column(HEAD_SLOT, "y", CELL),
        *entity(HEAD_SLOT, "vx", "vy", "direction"),
        Column(FOOD, "x", CELL),
        Column(FOOD, "y", CELL),
        Column(None, "cooldown", 1.0 / WAIT),
        Column(None, "done", 1.0 / FOOD_PER_LEVEL),
        Column(None, "speed"),
        Column(None, "progress", 1.0 / NUM_SEGMENTS),
        *_body("x", CELL),
        *_body("y", CELL),
        *_body("alive"),
        *_body("direction"),
    ),
    private=("to_grow",),
    parameters={
        "move_period": Parameter(MOVE_PERIOD, "ticks per grid step on level 1"),
        "period_drop": Parameter(PERIOD_DROP, "ticks per grid step less for each level"),
        "walls_kill": Parameter(1.0, "1 the edge kills, 0 the board is a torus"),
        "body_solid": Parameter(1.0, "1 solid, 0 the head passes through the body"),
        "growth": Parameter(1.0, "segments per bite"),
        "food_per_level": Parameter(FOOD_PER_LEVEL, "bites per level"),
        "reverse_kills": Parameter(0.0, "1 a turn straight back bites the neck, 0 it is refused"),
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
    characters=(
        "head_adder",
        "head_cobra",
        "head_worm",
        "head_dragon",
        "head_caterpillar",
        "head_eel",
    ),
    art=("apple",),
    themes=(
        Theme("lawn", ((124, 176, 84), (134, 188, 92), (70, 96, 50), (250, 250, 240)), "checker"),
        Theme("handheld", ((154, 186, 98), (148, 178, 94), (40, 54, 30), (40, 54, 30)), "grid"),
        Theme("night", ((12, 14, 34), (120, 130, 190), (86, 96, 170), (240, 240, 250)), "stars"),
        Theme("sand", ((226, 200, 150), (214, 184, 132), (140, 96, 60), (80, 50, 30)), "speckle"),
        Theme(
            "candy",
            ((250, 214, 226), (244, 200, 216), (180, 80, 130), (120, 40, 90)),
            "stripes",
            1.0,
        ),
        Theme(
            "reef", ((16, 70, 100), (24, 120, 130), (240, 190, 120), (250, 240, 210)), "gradient"
        ),
    ),
    reset=reset,
    step=step,
    decide=decide,
    draw=draw,
    late=late,
    words={
        "player": "the snake",
        "goal": "eat the apple and bite neither wall nor body",
        "stay": "the snake goes straight on",
        "up": "the snake turns up",
        "right": "the snake turns right",
        "down": "the snake turns down",
        "left": "the snake turns left",
    },
    constants={(BODY + k, "segment_index"): float(k) for k in range(NUM_SEGMENTS)},
)
