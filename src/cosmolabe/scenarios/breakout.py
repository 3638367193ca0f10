"""Scenarios of breakout: bricks, walls, bat, serves, capsules and lives, one mechanism each."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.fields import X, Y
from cosmolabe.core.scenario import LEAD, Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import (
    counted,
    endless,
    ends,
    gains,
    given,
    keeps,
    undead,
    vanished,
)
from cosmolabe.core.traces import (
    back_from,
    doubled,
    drifting,
    global_edit,
    kept,
    life_edit,
    pace,
    place_edit,
    speed,
    straight,
)
from cosmolabe.engine.game import LIVES, OVER, PHASE, PLAYING, SCORE, WON
from cosmolabe.games.breakout import (
    ALIVE,
    BALL_RADIUS,
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    BRICK_HEIGHT,
    BRICK_WIDTH,
    BRICKS,
    BUILT,
    CEILING,
    COLUMNS,
    EXTRA_LIFE,
    FACE,
    FIELD_TOP,
    HP,
    LEFT,
    LEFT_OVER,
    PADDLE_HALF_HEIGHT,
    PADDLE_HALF_WIDTH,
    PADDLE_SPEED,
    PADDLE_X,
    PADDLE_Y,
    PICKUP_ALIVE,
    PICKUP_HALF_HEIGHT,
    PICKUP_SPEED,
    PICKUP_TYPE,
    PICKUP_VY,
    PICKUP_X,
    PICKUP_Y,
    REACHED,
    RETURNS,
    RIGHT,
    ROWS,
    SERVE_SPEED,
    SLOW,
    SPEED,
    SPEED_UP,
    STANDING,
    WAIT,
)

REST = FACE - BALL_RADIUS  # height of the ball's centre on the bat
REACH = PADDLE_HALF_WIDTH + BALL_RADIUS  # farthest from the bat's middle that still meets it
SIDE = LEFT + BALL_RADIUS  # the ball's centre where it meets the left wall
FAR_SIDE = RIGHT - BALL_RADIUS
ROOF = CEILING + BALL_RADIUS  # the ball's centre where it meets the ceiling
STOP = LEFT + PADDLE_HALF_WIDTH  # the bat's centre where it meets the left wall
CONTACT = 10  # steps from the last context state to a contact
SLACK = 0.02  # screens that a good model may be off

Draws = np.random.Generator


def _slot(row: int, column: int) -> str:
    return f"brick_{row}_{column}"


WALL = tuple(_slot(row, column) for row in range(ROWS) for column in range(COLUMNS))

FASTER_BAT = Change("the bat is a quarter faster", {"paddle_speed": 1.25 * PADDLE_SPEED})
GHOSTS = Change("bricks are ghosts", {"bricks_solid": 0.0})
LITTLE_GRAVITY = Change("a little gravity", {"gravity": 0.0001})
SOFT_WALLS = Change("walls take a third of the speed", {"wall_restitution": 0.67})


# Starts.


def _fly(
    world: np.ndarray, at: tuple[float, float], move: tuple[float, float], steps: int = CONTACT
) -> None:
    """A ball in play that flies freely to `at`, where it is `steps` after the last context.

    It has been in the upper rows before, so that bricks do not speed it up.
    """
    ticks = LEAD + steps
    world[BALL_X], world[BALL_Y] = at[0] - ticks * move[0], at[1] - ticks * move[1]
    world[BALL_VX], world[BALL_VY] = move
    world[SPEED], world[REACHED] = np.hypot(*move), 2.0
    world[WAIT], world[RETURNS], world[PHASE] = 0.0, 0.0, PLAYING


def _wall_of(world: np.ndarray, cells: Iterable[int], hits: float = 1.0) -> None:
    """Only these bricks stand."""
    world[ALIVE : ALIVE + BRICKS], world[HP : HP + BRICKS] = 0.0, 0.0
    for cell in cells:
        world[ALIVE + cell], world[HP + cell] = 1.0, hits
    world[STANDING] = world[ALIVE : ALIVE + BRICKS].sum()
    world[LEFT_OVER] = world[STANDING] / world[BUILT]


def _bystanders(column: int) -> list[int]:
    """The top row away from a column: they keep the level going."""
    return [cell for cell in range(COLUMNS) if abs(cell - column) > 1]


def _up_to_row(world: np.ndarray, draws: Draws, row: int, pace_up: float = 0.0) -> int:
    """A steep ball that meets the middle of a brick of this row from below; gives its cell."""
    column = int(draws.integers(1, COLUMNS - 1))
    x = LEFT + (column + 0.5 + draws.uniform(-0.25, 0.25)) * BRICK_WIDTH
    y = FIELD_TOP + (row + 1) * BRICK_HEIGHT + BALL_RADIUS
    drift = draws.uniform(-0.001, 0.001)
    _fly(world, (x, y), (drift, -(pace_up or draws.uniform(0.017, 0.02))))
    return row * COLUMNS + column


def _to_bottom_row(world: np.ndarray, draws: Draws) -> None:
    _up_to_row(world, draws, ROWS - 1)


def _to_top_row(world: np.ndarray, draws: Draws) -> None:
    cell = _up_to_row(world, draws, 0)
    _wall_of(world, [cell, *_bystanders(cell % COLUMNS)])


def _first_in_top_row(world: np.ndarray, draws: Draws) -> None:
    """At the speed of a serve, as after one."""
    cell = _up_to_row(world, draws, 1, SERVE_SPEED)
    _wall_of(world, [cell, *_bystanders(cell % COLUMNS)])
    world[SPEED], world[REACHED] = SERVE_SPEED, 0.0


def _to_tough_brick(world: np.ndarray, draws: Draws) -> None:
    cell = _up_to_row(world, draws, 0)
    _wall_of(world, [cell, *_bystanders(cell % COLUMNS)], 2.0)


def _to_cracked_brick(world: np.ndarray, draws: Draws) -> None:
    cell = _up_to_row(world, draws, 0)
    _wall_of(world, [cell, *_bystanders(cell % COLUMNS)], 2.0)
    world[HP + cell] = 1.0


def _to_last_brick(world: np.ndarray, draws: Draws) -> None:
    _wall_of(world, [_up_to_row(world, draws, ROWS - 1)])


def _to_brick_side(world: np.ndarray, draws: Draws) -> None:
    """Flat, through an empty field, to a column of bricks at the right."""
    row = int(draws.integers(1, ROWS - 1))
    _wall_of(world, [r * COLUMNS + c for r in range(ROWS) for c in (6, 7)])
    x = LEFT + 6 * BRICK_WIDTH - BALL_RADIUS
    y = FIELD_TOP + (row + 0.5 + draws.uniform(-0.2, 0.2)) * BRICK_HEIGHT
    _fly(world, (x, y), (draws.uniform(0.017, 0.02), draws.uniform(-0.0003, 0.0003)))


def _to_wall(world: np.ndarray, draws: Draws, left: bool) -> None:
    """In the open space between bricks and bat."""
    way = -1.0 if left else 1.0
    move = (way * draws.uniform(0.013, 0.017), draws.uniform(-0.005, 0.001))
    _fly(world, (SIDE if left else FAR_SIDE, draws.uniform(0.68, 0.74)), move)


def _to_ceiling(world: np.ndarray, draws: Draws) -> None:
    _wall_of(world, range(5 * COLUMNS, 6 * COLUMNS, 7))
    x = draws.uniform(0.4, 0.6)
    _fly(world, (x, ROOF), (draws.uniform(-0.006, 0.006), -draws.uniform(0.015, 0.018)))


def _to_soft_ceiling(world: np.ndarray, draws: Draws) -> None:
    """It has just lost half its way across at the left wall, in the third tick of the context."""
    _wall_of(world, [cell for cell in range(BRICKS) if cell % COLUMNS == COLUMNS - 1])
    across, up = draws.uniform(0.01, 0.014), draws.uniform(0.014, 0.018)
    _fly(world, (SIDE, ROOF), (-across, -up))
    world[BALL_X] = SIDE + 2.5 * across


def _to_bat(world: np.ndarray, draws: Draws, off: float, pace_down: float = 0.0) -> None:
    """Down to the bat; `off` is where on the bat, -1..1."""
    x = draws.uniform(0.42, 0.58)
    drift = draws.uniform(-0.004, 0.004)
    _fly(world, (x, REST), (drift, pace_down or draws.uniform(0.017, 0.02)))
    world[PADDLE_X] = x - off * REACH


def _to_bat_middle(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.1, 0.1))


def _to_bat_left(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.85, -0.7))


def _to_bat_right(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(0.7, 0.85))


def _fourth_return(world: np.ndarray, draws: Draws) -> None:
    _to_bat(world, draws, draws.uniform(-0.1, 0.1), SERVE_SPEED)
    world[BALL_X] += (LEAD + CONTACT) * world[BALL_VX]
    world[BALL_VX] = 0.0
    world[SPEED], world[RETURNS], world[REACHED] = SERVE_SPEED, 3.0, 0.0


def _past_the_bat(world: np.ndarray, draws: Draws) -> None:
    """The bat is too far left, but could get there."""
    x = draws.uniform(0.45, 0.6)
    _fly(world, (x, REST), (draws.uniform(-0.003, 0.003), draws.uniform(0.017, 0.02)))
    world[PADDLE_X] = x - draws.uniform(0.19, 0.21)
    _wall_of(world, range(int(draws.integers(2 * COLUMNS, BRICKS))))


def _past_the_bat_at_last(world: np.ndarray, draws: Draws) -> None:
    _past_the_bat(world, draws)
    world[LIVES] = 1.0


def _on_the_bat(world: np.ndarray, draws: Draws, ticks: float = 58.0) -> None:
    world[PADDLE_X] = world[BALL_X] = draws.uniform(0.4, 0.6)
    world[BALL_Y], world[WAIT] = REST, ticks
    world[SCORE] = draws.integers(0, 40)


def _soon_served(world: np.ndarray, draws: Draws) -> None:
    _on_the_bat(world, draws, float(LEAD + draws.integers(9, 12)))


def _capsule(world: np.ndarray, draws: Draws, what: float) -> None:
    """A capsule that the bat meets if it steps aside to the left; the ball is fast and far off."""
    pace_across = np.sqrt((SERVE_SPEED * SPEED_UP**2) ** 2 - 0.003**2)
    way = draws.choice([-1.0, 1.0])
    _fly(world, (0.5 - 0.05 * way, draws.uniform(0.62, 0.7)), (way * pace_across, -0.003))
    world[PADDLE_X] = draws.uniform(0.4, 0.6)
    world[PICKUP_X] = world[PADDLE_X] - 0.1 + draws.uniform(-0.03, 0.03)
    meets = PADDLE_Y - PADDLE_HALF_HEIGHT - PICKUP_HALF_HEIGHT
    world[PICKUP_Y] = meets - (LEAD + CONTACT - 1.5) * PICKUP_SPEED
    world[PICKUP_ALIVE], world[PICKUP_VY], world[PICKUP_TYPE] = 1.0, PICKUP_SPEED, what


def _slowing_capsule(world: np.ndarray, draws: Draws) -> None:
    _capsule(world, draws, SLOW)


def _life_capsule(world: np.ndarray, draws: Draws) -> None:
    _capsule(world, draws, EXTRA_LIFE)
    world[LIVES] = draws.integers(1, 4)


def _free(world: np.ndarray, draws: Draws) -> None:
    """Between bricks and bat, mostly across."""
    way = draws.choice([-1.0, 1.0])
    _fly(world, (0.5, 0.65), (way * draws.uniform(0.015, 0.019), draws.uniform(-0.005, 0.005)))
    world[PADDLE_X] = draws.uniform(0.4, 0.6)


def _near_the_wall(world: np.ndarray, draws: Draws) -> None:
    _free(world, draws)
    world[PADDLE_X] = STOP + draws.uniform(0.1, 0.2)


# Readings of a trace.


def _standing(trace: Trace) -> Float[np.ndarray, "batch step"]:
    """Bricks that stand."""
    return np.sum([trace.alive(slot) for slot in WALL], axis=0).astype(float)


def _breaks(trace: Trace, count: int) -> Bool[np.ndarray, " batch"]:
    """So many bricks go in all, and none comes back."""
    standing = _standing(trace)
    return (standing[:, 0] - standing[:, -1] == count) & _none_returns(trace)


def _none_returns(trace: Trace) -> Bool[np.ndarray, " batch"]:
    alive = np.stack([trace.alive(slot) for slot in WALL], -1)
    return ~(alive[:, 1:] & ~alive[:, :-1]).any((1, 2))


def _hits_left(trace: Trace) -> Float[np.ndarray, "batch step"]:
    """Hits that the standing bricks take in all."""
    return np.sum([trace.field(slot, "hp") * trace.alive(slot) for slot in WALL], axis=0)


def _lean(trace: Trace, start: int, stop: int) -> Float[np.ndarray, " batch"]:
    """Share of the ball's speed that goes to the right."""
    way = pace(trace.x("ball"), start, stop)
    return way / np.maximum(speed(trace, "ball", start, stop), 1e-6)


def _gains_speed(trace: Trace) -> Float[np.ndarray, " batch"]:
    """Speed well after the contact over speed before it."""
    return speed(trace, "ball", 13, 22) / np.maximum(speed(trace, "ball", 0, 9), 1e-6)


def _on_bat(trace: Trace, start: int) -> Bool[np.ndarray, " batch"]:
    x, y = trace.x("ball")[:, start:], trace.y("ball")[:, start:]
    beside = np.abs(x - trace.x("paddle")[:, start:])
    return np.asarray(((beside < 2 * SLACK) & (np.abs(y - REST) < 2 * SLACK)).all(1))


# Planted changes.


SCORE_TWICE = counted("score", 2.0)
PASSES_UP = Change("the ball passes on", edit=place_edit("ball", Y, straight))
PASSES_ACROSS = Change("the ball passes on", edit=place_edit("ball", X, straight))
REBUILT = Change("bricks come back", edit=life_edit(WALL, alive=True, start=16))
ROW_GONE = Change("a row is gone", edit=life_edit(WALL[:COLUMNS], alive=False, start=8))
LEVEL_STAYS = Change("the level stays", edit=global_edit("level", kept))
HANGS = Change("the ball hangs there", edit=place_edit("ball", Y, kept))
FLIES_OFF = Change("the ball flies at once", edit=place_edit("ball", Y, drifting(-SERVE_SPEED, 2)))
LEFT_BEHIND = Change("the ball is left behind", edit=place_edit("ball", X, kept))
BAT_SLIDES_ON = Change("the bat goes on", edit=place_edit("paddle", X, drifting(-PADDLE_SPEED, 8)))

# Rules that several scenarios share.

NONE_RETURNS = Predicate(
    "what is broken stays broken",
    "No brick comes back.",
    _none_returns,
    REBUILT,
    LITTLE_GRAVITY,
)
ONE_BRICK = Predicate(
    "one brick breaks",
    "One brick goes, no more and no fewer.",
    lambda t: _breaks(t, 1),
    GHOSTS,
    FASTER_BAT,
)
TURNS_DOWN = Predicate(
    "turns down",
    "The brick sends the ball down.",
    lambda t: pace(t.y("ball"), 12, 20) > 0.008,
    GHOSTS,
    FASTER_BAT,
)
COMES_UP = Predicate(
    "comes back up",
    "The bat sends the ball up again.",
    lambda t: (t.y("ball").max(1) < REST + 0.05) & (pace(t.y("ball"), 13, 22) < -0.004),
    PASSES_UP,
    LITTLE_GRAVITY,
)


def _points(points: float) -> Predicate:
    return Predicate(
        "pays once",
        f"The score goes up by {points:g}, once.",
        gains("score", points),
        SCORE_TWICE,
        FASTER_BAT,
    )


def _side_wall(way: float) -> tuple[Predicate, ...]:
    return (
        Predicate(
            "turns at the wall",
            "After the wall the ball flies the other way across, about as fast.",
            lambda t: np.abs(pace(t.x("ball"), 13, 23) / pace(t.x("ball"), 0, 8) + 1.0) < 0.2,
            SOFT_WALLS,
            FASTER_BAT,
        ),
        Predicate(
            "stays between the walls",
            "The ball never passes a wall.",
            lambda t: (t.x("ball").min(1) > SIDE - SLACK) & (t.x("ball").max(1) < FAR_SIDE + SLACK),
            PASSES_ACROSS,
            SOFT_WALLS,
        ),
        Predicate(
            "flies away from the wall",
            "Well after the wall the ball is farther from it than at the wall.",
            lambda t: way * (t.x("ball")[:, 23] - t.x("ball")[:, CONTACT]) > 0.07,
            Change("the ball sticks to the wall", {"wall_restitution": 0.0}),
            SOFT_WALLS,
        ),
    )


def _edge(way: float, words: str) -> tuple[Predicate, ...]:
    return (
        COMES_UP,
        Predicate(
            f"leaves to the {words}",
            f"The {words} end of the bat sends the ball to the {words}, whatever way it came.",
            lambda t: way * _lean(t, 13, 22) > 0.4,
            Change("the bat returns like a wall", edit=place_edit("ball", X, straight)),
            LITTLE_GRAVITY,
        ),
    )


def _speeds_up(low: float, high: float, faster: float) -> tuple[Predicate, ...]:
    return (
        Predicate(
            "gets faster",
            f"The ball is at least {low:g} times as fast as before.",
            lambda t: _gains_speed(t) > low,
            Change("nothing gains speed", {"speed_up": 1.0}),
            FASTER_BAT,
        ),
        Predicate(
            "but not too fast",
            f"It is at most {high:g} times as fast.",
            lambda t: _gains_speed(t) < high,
            Change("stages gain more", {"speed_up": faster}),
            FASTER_BAT,
        ),
    )


LEFTWARD, RIGHTWARD, STAY = "stay*7,left*40", "stay*7,right*40", "stay*47"


GAME_ENDS = Predicate(
    "the game ends",
    "The episode is over.",
    lambda t: t.terminal.any(1),
    endless(),
    FASTER_BAT,
)

SCENARIOS = (
    Scenario(
        "brick_from_below",
        "A brick hit from below breaks, pays and sends the ball down.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (ONE_BRICK, _points(1.0), TURNS_DOWN, NONE_RETURNS),
        _to_bottom_row,
    ),
    Scenario(
        "brick_from_the_side",
        "A brick hit from the side breaks and sends the ball back across.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            ONE_BRICK,
            Predicate(
                "turns across",
                "The ball flies left after the brick.",
                lambda t: pace(t.x("ball"), 13, 22) < -0.008,
                GHOSTS,
                FASTER_BAT,
            ),
            Predicate(
                "goes no higher or lower",
                "The side of a brick does not turn the ball up or down.",
                lambda t: np.ptp(t.y("ball"), 1) < 0.06,
                Change("it bounces off down", edit=place_edit("ball", Y, drifting(0.01, CONTACT))),
                FASTER_BAT,
            ),
        ),
        _to_brick_side,
    ),
    Scenario(
        "top_row_pays_more",
        "A brick of the top row pays seven points.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (ONE_BRICK, _points(7.0), NONE_RETURNS),
        _to_top_row,
    ),
    Scenario(
        "upper_rows_speed",
        "The first hit in the two top rows makes the ball a third faster.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (TURNS_DOWN, *_speeds_up(1.2, 1.5, 1.35)),
        _first_in_top_row,
    ),
    Scenario(
        "tough_brick",
        "A tough brick takes its first hit and stands.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            Predicate(
                "stands",
                "No brick breaks.",
                lambda t: _breaks(t, 0),
                ROW_GONE,
                FASTER_BAT,
            ),
            Predicate(
                "loses a hit",
                "The bricks take one hit fewer in all than before.",
                lambda t: np.abs(_hits_left(t)[:, -1] - _hits_left(t)[:, 0] + 1.0) < 0.4,
                GHOSTS,
                FASTER_BAT,
            ),
            Predicate(
                "pays nothing yet",
                "The score stays.",
                keeps("score", 0.4),
                given("score", 7.0, CONTACT + 1),
                FASTER_BAT,
            ),
            TURNS_DOWN,
        ),
        _to_tough_brick,
        level=2,
    ),
    Scenario(
        "cracked_brick",
        "The second hit breaks a tough brick and pays its points.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (ONE_BRICK, _points(7.0), TURNS_DOWN),
        _to_cracked_brick,
        level=2,
    ),
    Scenario(
        "left_wall",
        "The ball bounces off the left wall.",
        LEFTWARD, RIGHTWARD, "paddle", 24, _side_wall(1.0),
        lambda world, draws: _to_wall(world, draws, left=True),
    ),
    Scenario(
        "right_wall",
        "The ball bounces off the right wall.",
        LEFTWARD, RIGHTWARD, "paddle", 24, _side_wall(-1.0),
        lambda world, draws: _to_wall(world, draws, left=False),
    ),
    Scenario(
        "ceiling",
        "The ball bounces off the ceiling.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            Predicate(
                "turns at the ceiling",
                "After the ceiling the ball falls about as fast as it rose.",
                lambda t: np.abs(pace(t.y("ball"), 13, 23) / pace(t.y("ball"), 0, 8) + 1.0) < 0.2,
                SOFT_WALLS,
                FASTER_BAT,
            ),
            Predicate(
                "stays below the ceiling",
                "The ball never passes the ceiling.",
                lambda t: t.y("ball").min(1) > ROOF - SLACK,
                PASSES_UP,
                SOFT_WALLS,
            ),
            Predicate(
                "breaks nothing",
                "No brick breaks.",
                lambda t: _breaks(t, 0),
                Change("all bricks go", edit=life_edit(WALL, alive=False, start=12)),
                FASTER_BAT,
            ),
        ),
        _to_ceiling,
    ),
    Scenario(
        "soft_walls",
        "Walls that took half the speed across, early in the context, take half at the ceiling.",
        LEFTWARD, RIGHTWARD, "paddle", 28,
        (
            Predicate(
                "the ceiling is soft too",
                "The ball falls about half as fast as it rose.",
                lambda t: np.abs(pace(t.y("ball"), 13, 26) / pace(t.y("ball"), 0, 8) + 0.5) < 0.25,
                Change("walls are hard again", {"wall_restitution": 1.0}),
                FASTER_BAT,
            ),
            Predicate(
                "stays below the ceiling",
                "The ball never passes the ceiling.",
                lambda t: t.y("ball").min(1) > ROOF - SLACK,
                PASSES_UP,
                FASTER_BAT,
            ),
        ),
        _to_soft_ceiling,
        needs_memory=True,
        parameters={"wall_restitution": 0.5},
    ),
    Scenario(
        "bat_middle",
        "The middle of the bat sends the ball straight up.",
        STAY, RIGHTWARD, "ball", 24,
        (
            COMES_UP,
            Predicate(
                "leaves straight",
                "Little of the speed after the bat goes across.",
                lambda t: np.abs(_lean(t, 13, 22)) < 0.25,
                Change("it leaves aslant", edit=place_edit("ball", X, drifting(0.012, CONTACT))),
                LITTLE_GRAVITY,
            ),
            Predicate(
                "counts the return",
                "The count of returns goes up by one.",
                gains("combo", 1.0),
                counted("combo", 0.0),
                LITTLE_GRAVITY,
            ),
        ),
        _to_bat_middle,
    ),
    Scenario(
        "bat_left_end",
        "The left end of the bat sends the ball to the left.",
        STAY, RIGHTWARD, "ball", 24, _edge(-1.0, "left"), _to_bat_left,
    ),
    Scenario(
        "bat_right_end",
        "The right end of the bat sends the ball to the right.",
        STAY, LEFTWARD, "ball", 24, _edge(1.0, "right"), _to_bat_right,
    ),
    Scenario(
        "fourth_return",
        "The fourth return makes the ball a sixth faster.",
        "stay*7,left*1,stay*40", RIGHTWARD, "ball", 24,
        _speeds_up(1.07, 1.28, 1.4), _fourth_return,
    ),
    Scenario(
        "life_lost",
        "A ball that gets past the bat costs a life, and the next one lies on the bat.",
        LEFTWARD, RIGHTWARD, "ball", 30,
        (
            Predicate(
                "costs one life",
                "The lives go down by one, once.",
                gains("lives", -1.0),
                counted("lives", 2.0),
                FASTER_BAT,
            ),
            Predicate(
                "lies on the bat",
                "The next ball lies on the bat and goes with it.",
                lambda t: _on_bat(t, 22),
                PASSES_UP,
                FASTER_BAT,
            ),
            Predicate(
                "the wall stays",
                "No brick goes, none comes.",
                lambda t: _breaks(t, 0),
                Change("the wall is built again", edit=life_edit(WALL, alive=True, start=18)),
                FASTER_BAT,
            ),
        ),
        _past_the_bat,
    ),
    Scenario(
        "last_life",
        "A ball that gets past the bat with the last life ends the game.",
        LEFTWARD, RIGHTWARD, "ball", 24,
        (
            GAME_ENDS,
            Predicate(
                "lost",
                "The phase says that the game is lost.",
                ends("phase", OVER, 0.4),
                Change("the phase stays", edit=global_edit("phase", kept)),
                FASTER_BAT,
            ),
        ),
        _past_the_bat_at_last,
    ),
    Scenario(
        "level_cleared",
        "The last brick of the first wall brings the second wall, the ball back on the bat.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            Predicate(
                "next level",
                "The level goes up by one, once.",
                gains("level", 1.0),
                LEVEL_STAYS,
                FASTER_BAT,
            ),
            Predicate(
                "a new wall",
                "Many bricks stand again.",
                lambda t: _standing(t)[:, -1] > 10,
                Change("nothing is built", edit=life_edit(WALL, alive=False, start=CONTACT)),
                FASTER_BAT,
            ),
            Predicate(
                "lies on the bat",
                "The ball lies on the bat and goes with it.",
                lambda t: _on_bat(t, 14),
                PASSES_UP,
                FASTER_BAT,
            ),
        ),
        _to_last_brick,
    ),
    Scenario(
        "last_wall",
        "The last brick of the last wall wins the game.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            GAME_ENDS,
            Predicate(
                "won",
                "The phase says that the game is won.",
                ends("phase", WON, 0.4),
                Change("the phase stays", edit=global_edit("phase", kept)),
                FASTER_BAT,
            ),
        ),
        _to_last_brick,
        level=2,
    ),
    Scenario(
        "ball_rides",
        "Before the serve the ball rides on the bat.",
        "stay*7,left*12,stay*30", "stay*7,right*12,stay*30", "ball", 24,
        (
            Predicate(
                "goes with the bat",
                "The ball lies on the bat and goes with it.",
                lambda t: _on_bat(t, 0),
                LEFT_BEHIND,
                FASTER_BAT,
            ),
            Predicate(
                "goes as far as told",
                "Twelve ticks to the left are a quarter of the screen, more or less.",
                lambda t: np.abs(pace(t.x("ball"), 0, 12) / PADDLE_SPEED + 1.0) < 0.2,
                Change("the bat is half as fast", {"paddle_speed": 0.5 * PADDLE_SPEED}),
                Change("the bat is a tenth faster", {"paddle_speed": 1.1 * PADDLE_SPEED}),
            ),
            Predicate(
                "stops with the bat",
                "It lies still once the word changes.",
                lambda t: np.ptp(t.x("ball")[:, 14:], 1) < SLACK,
                Change("it slides on", edit=place_edit("ball", X, drifting(-PADDLE_SPEED, 12))),
                FASTER_BAT,
            ),
        ),
        _on_the_bat,
    ),
    Scenario(
        "fire_serves",
        "Fire serves the ball, and not before.",
        "stay*11,fire*2,stay*30", STAY, "ball", 24,
        (
            Predicate(
                "waits for fire",
                "The ball lies on the bat until then.",
                lambda t: np.ptp(t.y("ball")[:, :5], 1) < SLACK,
                FLIES_OFF,
                LITTLE_GRAVITY,
            ),
            Predicate(
                "flies up",
                "Then it flies up.",
                lambda t: pace(t.y("ball"), 8, 22) < -0.008,
                HANGS,
                LITTLE_GRAVITY,
            ),
            Predicate(
                "at the speed of a serve",
                "It flies at the speed of a serve.",
                lambda t: np.abs(speed(t, "ball", 8, 22) / SERVE_SPEED - 1.0) < 0.25,
                Change("it flies twice as far", edit=place_edit("ball", Y, doubled)),
                LITTLE_GRAVITY,
            ),
        ),
        _on_the_bat,
    ),
    Scenario(
        "serves_itself",
        "A ball that is not served starts by itself when the waiting time is over.",
        LEFTWARD, RIGHTWARD, "paddle", 26,
        (
            Predicate(
                "waits",
                "The ball lies on the bat as long as the waiting time lasts.",
                lambda t: _on_bat(t, 0) | (np.ptp(t.y("ball")[:, :9], 1) < SLACK),
                FLIES_OFF,
                FASTER_BAT,
            ),
            Predicate(
                "starts",
                "Then it flies up.",
                lambda t: pace(t.y("ball"), 14, 24) < -0.008,
                HANGS,
                FASTER_BAT,
            ),
        ),
        _soon_served,
    ),
    Scenario(
        "slowing_capsule",
        "A capsule that the bat catches slows the ball to the speed of a serve.",
        "stay*7,left*5,stay*40", "stay*7,right*12,stay*40", "ball", 26,
        (
            Predicate(
                "is caught",
                "The capsule is gone after the bat met it.",
                lambda t: t.alive("pickup")[:, 3] & ~t.alive("pickup")[:, 16:].any(1),
                undead("pickup"),
                FASTER_BAT,
            ),
            Predicate(
                "slows the ball",
                "The ball is a quarter slower.",
                lambda t: np.abs(speed(t, "ball", 14, 24) / speed(t, "ball", 0, 8) - 0.74) < 0.13,
                Change("serves are fast", {"serve_speed": SERVE_SPEED * SPEED_UP**2}),
                FASTER_BAT,
            ),
            Predicate(
                "does not turn the ball",
                "The ball keeps its way.",
                lambda t: pace(t.x("ball"), 14, 24) * pace(t.x("ball"), 0, 8) > 0,
                Change("it turns back in the air", edit=place_edit("ball", X, back_from(CONTACT))),
                FASTER_BAT,
            ),
        ),
        _slowing_capsule,
    ),
    Scenario(
        "extra_life",
        "A capsule of the other kind is a life.",
        "stay*7,left*5,stay*40", "stay*7,right*12,stay*40", "lives", 24,
        (
            Predicate(
                "a life more",
                "The lives go up by one, once.",
                gains("lives", 1.0),
                counted("lives", 0.0),
                FASTER_BAT,
            ),
            Predicate(
                "falls until it is caught",
                "The capsule is there until the bat meets it.",
                lambda t: t.alive("pickup")[:, :8].all(1),
                vanished("pickup", 4),
                FASTER_BAT,
            ),
        ),
        _life_capsule,
    ),
    Scenario(
        "free_flight",
        "A ball that meets nothing flies straight on at one speed.",
        LEFTWARD, RIGHTWARD, "paddle", 22,
        (
            Predicate(
                "falls nowhere",
                "It moves as far up or down in the next ten steps as in the first ten.",
                lambda t: np.abs(pace(t.y("ball"), 10, 20) - pace(t.y("ball"), 0, 10)) < 0.004,
                Change("gravity", {"gravity": 0.0008}),
                FASTER_BAT,
            ),
            Predicate(
                "goes on across",
                "It moves as far across in the next ten steps as in the first ten.",
                lambda t: np.abs(pace(t.x("ball"), 10, 20) - pace(t.x("ball"), 0, 10)) < 0.004,
                Change("it turns back in the air", edit=place_edit("ball", X, back_from(CONTACT))),
                LITTLE_GRAVITY,
            ),
        ),
        _free,
    ),
    Scenario(
        "bat_at_wall",
        "The bat stops at the wall.",
        LEFTWARD, RIGHTWARD, "paddle", 24,
        (
            Predicate(
                "stops at the wall",
                "The bat never leaves the space between the walls.",
                lambda t: t.x("paddle").min(1) > STOP - 1.5 * SLACK,
                BAT_SLIDES_ON,
                LITTLE_GRAVITY,
            ),
            Predicate(
                "gets to the wall",
                "It ends at the wall.",
                lambda t: t.x("paddle")[:, -1] < STOP + 1.5 * SLACK,
                Change("the bat creeps", {"paddle_speed": 0.002}),
                FASTER_BAT,
            ),
        ),
        _near_the_wall,
    ),
)  # fmt: skip
