"""Scenarios of snake: steps, turns, bites, crashes, edges and ends, one mechanism each.

A start is told as the snake will lie at the last context state: on level 1 the lead of seven
ticks always holds exactly one step. Lengths are in cells, as in the game.
"""

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.fields import ALIVE, X, Y
from cosmolabe.core.scenario import LEAD, Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import (
    Rule,
    adrift,
    born_once,
    both,
    counted,
    delayed,
    dies_once,
    endless,
    ends,
    frozen,
    gains,
    game_ends,
    given,
    keeps,
    lives,
    shifted,
    stays,
    travels,
    trembling,
    undead,
    vanished,
)
from cosmolabe.engine.game import LEVEL, LIVES, LOST, OVER, PHASE, PLAYING, TICK, WON
from cosmolabe.engine.rng import integer
from cosmolabe.games.snake import (
    BODY_ALIVE,
    BODY_DIRECTION,
    BODY_X,
    BODY_Y,
    CELL,
    CELLS,
    COIL_RIGHT,
    COIL_TOP,
    COIL_WIDTH,
    COOLDOWN,
    EATEN,
    FASTEST_PERIOD,
    FOOD_PER_LEVEL,
    FOOD_X,
    FOOD_Y,
    HEAD_VX,
    HEAD_VY,
    HEAD_X,
    HEAD_Y,
    HEADING,
    LENGTH,
    MAX_TICKS,
    MOVE_PERIOD,
    NUM_SEGMENTS,
    PERIOD_DROP,
    RIGHT,
    SPEED,
    START_LENGTH,
    STEP_X,
    STEP_Y,
    UP,
)

Draws = np.random.Generator
Cell = tuple[int, int]

WAYS = tuple((int(x), int(y)) for x, y in zip(STEP_X, STEP_Y, strict=True))
STEPS = 4  # grid steps in 28 ticks of level 1, whichever of them is the first
NEXT_FOOD = 8  # cells, at least, from the food eaten to the next one

LATE = delayed(2)
TREMBLING = trembling()
TORUS = Change("the board is a torus", {"walls_kill": 0.0})
WALLED = Change("the edge kills", {"walls_kill": 1.0})
SLOWER = Change("a step takes four ticks more", {"move_period": MOVE_PERIOD + 4})
HURRIED = Change("a step takes three ticks", {"move_period": FASTEST_PERIOD})
UNGROWING = Change("a bite does not feed", {"growth": 0.0})
GREEDY = Change("a bite grows two segments", {"growth": 2.0})
GHOST = Change("the body is a ghost", {"body_solid": 0.0})
REVERSIBLE = Change("a turn back bites the neck", {"reverse_kills": 1.0})
HUNGRIER = Change("a level takes twenty bites", {"food_per_level": 20.0})
EVEN_PACE = Change("levels keep their pace", {"period_drop": 0.0})


# Starts.


def _lay(world: np.ndarray, path: list[Cell], food: Cell, wait: int) -> None:
    """A snake on the way along `path`, tail last; the lead brings its head to the first cell.

    Its next step comes `wait` ticks after the last context state (1 .. 7 on level 1).
    """
    body = path[2:]
    columns, rows = np.array(body, float).T + 0.5
    ahead = np.array(path[1:-1]) - np.array(body)
    ahead -= CELLS * np.sign(ahead) * (np.abs(ahead) > 1)  # round the edge of a torus
    world[BODY_X : BODY_X + len(body)] = columns
    world[BODY_Y : BODY_Y + len(body)] = rows
    world[BODY_DIRECTION : BODY_DIRECTION + len(body)] = [WAYS.index((x, y)) for x, y in ahead]
    world[BODY_ALIVE : BODY_ALIVE + NUM_SEGMENTS] = np.arange(NUM_SEGMENTS) < len(body)
    world[LENGTH] = len(body)
    world[HEAD_X], world[HEAD_Y] = path[1][0] + 0.5, path[1][1] + 0.5
    first = (np.array(path[0]) - path[1] + 1) % CELLS - 1
    period = max(MOVE_PERIOD - PERIOD_DROP * (world[LEVEL] - 1.0), FASTEST_PERIOD)
    world[HEADING], world[SPEED] = WAYS.index((int(first[0]), int(first[1]))), CELL / period
    world[HEAD_VX], world[HEAD_VY] = first * world[SPEED]
    world[FOOD_X], world[FOOD_Y] = food[0] + 0.5, food[1] + 0.5
    world[COOLDOWN], world[PHASE] = wait, PLAYING


def _line(head: Cell, way: int, length: int) -> list[Cell]:
    """Head, neck and so many segments, straight behind one another."""
    return [(head[0] - WAYS[way][0] * k, head[1] - WAYS[way][1] * k) for k in range(length + 2)]


def _wait(draws: Draws) -> int:
    """Ticks to the next step, so that no step falls on the end of 28 ticks."""
    return int(draws.integers(2, 6))


def _middle(draws: Draws) -> Cell:
    return int(draws.integers(8, 12)), int(draws.integers(7, 13))


def _far_food(draws: Draws) -> Cell:
    """On the top or bottom row, where these snakes never come."""
    return int(draws.integers(CELLS)), int(draws.choice([0, CELLS - 1]))


def _straight(world: np.ndarray, draws: Draws) -> None:
    """Any of the four ways, with room ahead."""
    path = _line(_middle(draws), int(draws.integers(4)), 5)
    _lay(world, path, _far_food(draws), _wait(draws))


def _rightwards(world: np.ndarray, draws: Draws, length: int = 5, wait: int = 0) -> None:
    path = _line(_middle(draws), RIGHT, length)
    _lay(world, path, _far_food(draws), wait or _wait(draws))


def _long(world: np.ndarray, draws: Draws) -> None:
    _rightwards(world, draws, length=8)


def _short(world: np.ndarray, draws: Draws) -> None:
    _rightwards(world, draws, length=3)


def _early_in_the_wait(world: np.ndarray, draws: Draws) -> None:
    _rightwards(world, draws, wait=int(draws.integers(4, 6)))


def _before_the_wall(world: np.ndarray, draws: Draws) -> None:
    head = (CELLS - 2, int(draws.integers(6, 14)))
    _lay(world, _line(head, RIGHT, 4), _far_food(draws), _wait(draws))
    world[LIVES] = draws.integers(2, 4)


def _last_life_before_the_wall(world: np.ndarray, draws: Draws) -> None:
    _before_the_wall(world, draws)
    world[LIVES] = 1


def _before_an_edge(world: np.ndarray, draws: Draws) -> None:
    way, along = int(draws.integers(4)), int(draws.integers(3, 17))
    far = CELLS - 2 if max(WAYS[way]) > 0 else 1
    head = (far, along) if WAYS[way][0] else (along, far)
    _lay(world, _line(head, way, 5), (int(draws.integers(8, 12)), (along + 10) % CELLS), 4)
    world[COOLDOWN] = _wait(draws)


def _lying_crashed(world: np.ndarray, draws: Draws) -> None:
    """Six segments at the right wall; the wait ends 6 to 9 ticks after the last context state."""
    head = (CELLS - 1, int(draws.integers(11, 16)))
    _lay(world, _line((head[0] + 1, head[1]), RIGHT, 6), _far_food(draws), 1)
    world[HEAD_VX], world[HEAD_VY], world[SPEED] = 0.0, 0.0, 0.0
    world[COOLDOWN] = LEAD + draws.integers(6, 10)
    world[PHASE], world[LIVES] = LOST, 2


def _food_ahead(
    world: np.ndarray, draws: Draws, ahead: int = 2, aside: int = 0, head: Cell | None = None
) -> None:
    """Three segments heading right, food so many cells ahead; the next food falls far from it."""
    head = head or _middle(draws)
    food = (head[0] + ahead, head[1] + aside)
    _lay(world, _line(head, RIGHT, START_LENGTH), food, _wait(draws))
    _next_food_is_far(world)


def _next_food_is_far(world: np.ndarray) -> None:
    """Skip the world's luck until the next food falls clear of snake and way."""
    while True:
        ahead = world.copy()
        cell = integer(ahead, CELLS * CELLS)
        far = abs(cell % CELLS + 0.5 - world[FOOD_X]) + abs(cell // CELLS + 0.5 - world[FOOD_Y])
        if far >= NEXT_FOOD and abs(cell // CELLS + 0.5 - world[HEAD_Y]) > 1:
            return
        integer(world, 2)


def _food_beside(world: np.ndarray, draws: Draws) -> None:
    _food_ahead(world, draws, 2, int(draws.choice([-1, 1])))


def _last_bite_of_a_level(world: np.ndarray, draws: Draws) -> None:
    head = (int(draws.integers(5, 9)), int(draws.integers(5, 15)))
    _food_ahead(world, draws, 1, head=head)
    world[EATEN] = FOOD_PER_LEVEL - 1


def _last_bite_of_all(world: np.ndarray, draws: Draws) -> None:
    """45 segments folded as a new snake folds, one bite from the 46th."""
    right, top = COIL_RIGHT + int(draws.integers(-1, 5)), COIL_TOP + int(draws.integers(-6, 6))
    path = [(right + 2, top), (right + 1, top)]
    for k in range(NUM_SEGMENTS - 1):
        band, along = divmod(k, COIL_WIDTH)
        back = along if band % 2 == 0 else COIL_WIDTH - 1 - along
        path.append((right - back, top + band))
    _lay(world, path, (right + 3, top), _wait(draws))


def _over_the_edge_already(world: np.ndarray, draws: Draws) -> None:
    """On level 5 (three ticks a step), one segment: the lead takes it over the right edge."""
    row, last = int(draws.integers(1, 3)), CELLS - 1
    food = (int(draws.integers(8, 12)), int(draws.integers(8, 12)))
    _lay(world, [(0, row), (last, row), (last - 1, row)], food, 1)


def _out_of_time(world: np.ndarray, draws: Draws) -> None:
    _rightwards(world, draws)
    world[TICK] = MAX_TICKS - LEAD - draws.integers(9, 13)


# Rules and changes of snake alone.


def _goes(cells_x: int, cells_y: int) -> Rule:
    """The head ends so many cells from where it began."""
    return travels("head", cells_x * CELL, cells_y * CELL)


def _goes_far(least: float, most: float) -> Rule:
    """The head's way, in cells, whatever its direction."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        way = np.hypot(trace.dx("head").sum(1), trace.dy("head").sum(1)) / CELL
        return (way >= least) & (way <= most)

    return holds


def _on_the_grid(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The head is near a cell's centre at every step."""
    off = [np.abs(place / CELL % 1.0 - 0.5) for place in (trace.x("head"), trace.y("head"))]
    return (np.maximum(*off) * CELL < 0.016).all(1)


def _in_one_piece(length: int) -> Rule:
    """At the last step each of the segments is one cell from the one before it."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        chain = trace.states[:, -1][:, [0, *range(2, 2 + length)]][..., [X, Y]]
        gaps = np.diff(chain, axis=1)
        gaps = np.abs(gaps - np.round(gaps))
        return (np.abs(gaps.sum(2) - CELL) < 0.02).all(1)

    return holds


def _inside_no_segment(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The head is on no cell of its body, at any step."""
    places = trace.states[:, :, :, [X, Y]]
    gaps = np.abs(places[:, :, 2:] - places[:, :, :1]).max(3)
    return ((gaps > 0.6 * CELL) | (trace.states[:, :, 2:, ALIVE] < 0.5)).all((1, 2))


def _looks(way: int, start: int) -> Rule:
    """The head's direction, from a step on."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        off = np.abs(trace.field("head", "direction")[:, start:] - way)
        return np.all(off < 0.4, axis=1)

    return holds


def _never_higher(trace: Trace) -> Bool[np.ndarray, " batch"]:
    rise = trace.y("head")[:, :1] - trace.y("head")
    return (rise < 0.02).all(1)


def _unborn(segment: str) -> Rule:
    """It never lives."""
    return lambda trace: np.all(trace.states[:, :, trace.slot(segment), ALIVE] < 0.5, axis=1)


def _food_elsewhere(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The food lives, ends away from where it was, and not on the head."""
    was, now = (trace.states[:, step][:, [0, 1]][..., [X, Y]] for step in (0, -1))
    moved = np.abs(now[:, 1] - was[:, 1]).max(1) > 1.5 * CELL
    return moved & (np.abs(now[:, 1] - now[:, 0]).max(1) > 0.6 * CELL) & trace.alive("food")[:, -1]


def _at_the_opposite_edge(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The head has left one edge and come in at the other, and is on the board."""
    x, y = trace.x("head"), trace.y("head")
    jumps = np.maximum(np.abs(x[:, -1] - x[:, 0]), np.abs(y[:, -1] - y[:, 0]))
    return (jumps > 0.5) & ((x > -0.02) & (x < 1.02) & (y > -0.02) & (y < 1.02)).all(1)


def _at_the_start(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """From step 14 to 32 the head lies where a level begins."""
    x, y = trace.x("head")[:, 14:33], trace.y("head")[:, 14:33]
    at_x, at_y = (COIL_RIGHT + 1.5) * CELL, (COIL_TOP + 0.5) * CELL
    return ((np.abs(x - at_x) < 0.02) & (np.abs(y - at_y) < 0.02)).all(1)


def _gliding(trace: Trace) -> Trace:
    """The head at an even speed from its first place to its last."""
    states, share = trace.states.copy(), np.linspace(0, 1, trace.states.shape[1])[None, :, None]
    first, last = trace.states[:, :1, 0, : Y + 1], trace.states[:, -1:, 0, : Y + 1]
    states[:, :, 0, : Y + 1] = first + share * (last - first)
    return trace.with_states(states)


def _blind(trace: Trace) -> Trace:
    """The head looks where it looked."""
    states = trace.states.copy()
    states[:, :, 0, Y + 2 :] = trace.states[:, :1, 0, Y + 2 :]
    return trace.with_states(states)


GLIDING = Change("the head glides", edit=_gliding)
BLIND = Change("the head keeps its direction", edit=_blind)

SCENARIOS = (
    Scenario(
        "straight_on", "Without a key the snake goes on, one cell at a time.",
        "stay*7,stay", "stay*7,up*14,left", "head", 28,
        (
            Predicate("on_the_grid", "The head is always on a cell, never between two.",
                      _on_the_grid, GLIDING, TREMBLING),
            Predicate("four_steps", "Four steps in 28 ticks.", _goes_far(3.6, 4.4), HURRIED, LATE),
            Predicate("tail_follows", "Each segment ends next to the one before it.",
                      _in_one_piece(5), frozen("segment_2"), SLOWER),
            Predicate("all_live", "Head and body live on.",
                      lives("head", *(f"segment_{k}" for k in range(5))),
                      vanished("segment_4", 9), LATE),
        ), _straight,
    ),
    Scenario(
        "turn", "A key turns the head at once, and the next step goes there.",
        "stay*7,up", "stay*7,down", "head", 28,
        (
            Predicate("looks_up", "The head looks up two ticks after the key, before it moves.",
                      _looks(UP, 2), BLIND, SLOWER),
            Predicate("goes_up", "Four steps go up, none aside.",
                      _goes(0, -STEPS), frozen("head"), LATE),
            Predicate("body_turns", "Each segment ends next to the one before it.",
                      _in_one_piece(5), frozen("segment_3"), SLOWER),
        ), _rightwards,
    ),
    Scenario(
        "last_key", "Of two keys before a step the last one counts.",
        "stay*7,up*2,down", "stay*7,up", "head", 28,
        (
            Predicate("goes_down", "Four steps go down.", _goes(0, STEPS), frozen("head"), LATE),
            Predicate("never_up", "The first key moves nothing.",
                      _never_higher, shifted("head", 0, -CELL), SLOWER),
        ), _early_in_the_wait,
    ),
    Scenario(
        "reverse_refused", "A key straight back is refused.",
        "stay*7,left", "stay*7,up", "head", 28,
        (
            Predicate("goes_on", "Four steps go on as before.",
                      _goes(STEPS, 0), REVERSIBLE, LATE),
            Predicate("looks_ahead", "The head never looks back.",
                      _looks(RIGHT, 1), REVERSIBLE, SLOWER),
            Predicate("no_life_lost", "The neck is not bitten.",
                      keeps("lives", 0.3), REVERSIBLE, LATE),
        ), _rightwards,
    ),
    Scenario(
        "wall", "The wall costs a life, and the snake lies still before it.",
        "stay*7,stay", "stay*7,up", "lives", 28,
        (
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), TORUS, LATE),
            Predicate("stops_at_the_wall", "One step, then the head stays on the last cell.",
                      both(_goes(1, 0), stays("head", 0.02, 16)), TORUS, LATE),
            Predicate("phase_lost", "The game says that a life is lost.",
                      ends("phase", LOST, 0.4), TORUS, TREMBLING),
        ), _before_the_wall,
    ),
    Scenario(
        "last_life", "The last life lost ends the game.",
        "stay*7,stay", "stay*7,up", "lives", 28,
        (
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, TORUS, LATE),
            Predicate("phase_over", "The phase says so.", ends("phase", OVER, 0.4),
                      TORUS, TREMBLING),
            Predicate("no_life_left", "No life is left.", ends("lives", 0, 0.3),
                      counted("lives", 2), LATE),
        ), _last_life_before_the_wall,
    ),
    Scenario(
        "restart", "Some time after a crash the snake lies folded where a level begins.",
        "stay*7,stay", "stay*7,up", "head", 48,
        (
            Predicate("at_the_start", "The head lies where a level begins, until the wait is over.",
                      _at_the_start, frozen("head"), LATE),
            Predicate("lies_still", "It lies still there.",
                      _at_the_start, adrift("head", 0.0, 0.004), TREMBLING),
            Predicate("short_again", "What it had grown is lost.",
                      both(*(dies_once(f"segment_{k}", 4, 13) for k in range(3, 6))),
                      undead("segment_4"), LATE),
            Predicate("no_more_lives_lost", "It costs nothing more.",
                      keeps("lives", 0.3), given("lives", -1), LATE),
        ), _lying_crashed,
    ),
    Scenario(
        "eat", "A bite scores, grows one segment, and the next food lies elsewhere.",
        "stay*7,stay", "stay*7,up", "score", 28,
        (
            Predicate("one_point", "The score rises by one, once.",
                      gains("score", 1), counted("score", 2), LATE),
            Predicate("grows", "The fourth segment is born and stays.",
                      born_once("segment_3", 4, 15), UNGROWING, LATE),
            Predicate("grows_by_one", "The fifth is not.",
                      _unborn("segment_4"), GREEDY, LATE),
            Predicate("food_elsewhere", "The next food is neither there nor under the head.",
                      _food_elsewhere, frozen("food"), GREEDY),
            Predicate("goes_on", "The bite does not stop the snake.",
                      _goes(STEPS, 0), frozen("head"), GREEDY),
        ), _food_ahead,
    ),
    Scenario(
        "near_miss", "Food beside the way is no food.",
        "stay*7,stay", "stay*7,up", "head", 28,
        (
            Predicate("no_point", "The score stays.", keeps("score", 0.3), given("score", 1), LATE),
            Predicate("food_stays", "The food stays where it is.",
                      both(stays("food"), lives("food")), vanished("food", 12), LATE),
            Predicate("no_growth", "No segment is born.",
                      _unborn("segment_3"), undead("segment_3"), LATE),
            Predicate("goes_on", "The snake goes on.", _goes(STEPS, 0), frozen("head"), LATE),
        ), _food_beside,
    ),
    Scenario(
        "level_up", "The eighth bite of a level begins the next one, which is faster.",
        "stay*7,stay", "stay*7,up", "level", 50,
        (
            Predicate("one_level", "The level rises by one, once.",
                      gains("level", 1), HUNGRIER, LATE),
            Predicate("bites_count_anew", "The bites of the level are counted anew.",
                      ends("done", 0, 0.1), HUNGRIER, LATE),
            Predicate("faster", "More steps than level 1 would have.",
                      _goes_far(7.5, 9.5), EVEN_PACE, LATE),
            Predicate("one_point", "The bite itself still scores one.",
                      gains("score", 1), counted("score", 2), EVEN_PACE),
        ), _last_bite_of_a_level,
    ),
    Scenario(
        "bite_itself", "A long snake that curls up bites itself.",
        "stay*7,up*7,left*7,down", "stay*7,up*7,left", "lives", 28,
        (
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), GHOST, LATE),
            Predicate("stops", "The head ends before the segment it bit.",
                      _goes(-1, -1), GHOST, LATE),
            Predicate("body_is_solid", "The head is never inside its body.",
                      _inside_no_segment, GHOST, TREMBLING),
            Predicate("body_lies_still", "Then the body lies still.",
                      stays("segment_1", 0.02, 14), adrift("segment_1", 0.002), LATE),
        ), _long,
    ),
    Scenario(
        "chase_the_tail", "The tail leaves its cell in the very step in which the head comes.",
        "stay*7,up*7,left*7,down", "stay*7,up*7,left", "head", 28,
        (
            Predicate("no_life_lost", "No life is lost.", keeps("lives", 0.3),
                      given("lives", -1, 18), LATE),
            Predicate("goes_round", "The head ends one cell below where the tail was.",
                      _goes(-1, 1), frozen("head"), LATE),
            Predicate("in_one_piece", "Each segment ends next to the one before it.",
                      _in_one_piece(3), frozen("segment_2"), LATE),
        ), _short,
    ),
    Scenario(
        "torus", "Where walls do not kill, what leaves one edge enters at the opposite one.",
        "stay*7,stay", "stay*7,up*14,left", "head", 28,
        (
            Predicate("enters_opposite", "The head ends at the opposite edge, on the board.",
                      _at_the_opposite_edge, WALLED, LATE),
            Predicate("four_steps", "The edge takes no time.", _goes_far(3.6, 4.4), WALLED, LATE),
            Predicate("no_life_lost", "No life is lost.", keeps("lives", 0.3), WALLED, LATE),
            Predicate("tail_follows", "The body follows across the edge.",
                      _in_one_piece(5), frozen("segment_1"), SLOWER),
        ), _before_an_edge, parameters={"walls_kill": 0.0},
    ),
    Scenario(
        "torus_remembered", "The snake has crossed an edge in the context: so it will again.",
        "stay*7,up", "stay*7,stay", "head", 20,
        (
            Predicate("enters_opposite", "The head ends near the bottom, on the board.",
                      _at_the_opposite_edge, WALLED, LATE),
            Predicate("no_life_lost", "No life is lost.", keeps("lives", 0.3), WALLED, LATE),
        ), _over_the_edge_already, level=5, needs_memory=True, parameters={"walls_kill": 0.0},
    ),
    Scenario(
        "win", "The bite that fills the body wins.",
        "stay*7,stay", "stay*7,up", "phase", 20,
        (
            Predicate("won", "The phase says so.", ends("phase", WON, 0.4), UNGROWING, LATE),
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, endless(), LATE),
            Predicate("last_segment", "The 46th segment is born and stays.",
                      born_once(f"segment_{NUM_SEGMENTS - 1}", 1, 9), UNGROWING, LATE),
        ), _last_bite_of_all,
    ),
    Scenario(
        "time_out", "After 3,600 ticks the game is over, whatever goes on.",
        "stay*7,stay", "stay*7,up", "head", 28,
        (
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, endless(), SLOWER),
            Predicate("phase_over", "The phase says so.", ends("phase", OVER, 0.4),
                      counted("phase", 0), LATE),
            Predicate("nothing_moves", "Then nothing moves.",
                      stays("head", 0.02, 15), adrift("head", 0.003, 0.003), SLOWER),
        ), _out_of_time,
    ),
)  # fmt: skip
