"""Scenarios of frogger: hops, rides, deaths, bays, lanes and clocks, one mechanism each.

A start is a level some ticks old, with one lane slid along to where the mechanism needs it.
Where a start must meet something at a given tick, it looks ahead in a copy of the world.
"""

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.fields import ALIVE, X
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
    risen,
    shifted,
    stays,
    travels,
    trembling,
    undead,
    vanished,
)
from cosmolabe.engine.game import LIVES, LOST, OVER, PHASE, PLAYING, SCORE, TICK
from cosmolabe.engine.motion import wrap, wrapped_gap
from cosmolabe.games.frogger import (
    ADVANCED,
    BACK,
    BAY,
    BAY_X,
    CELL,
    CLOCK,
    COOLDOWN,
    COUNT,
    CROUCHED,
    DIVE_CYCLE,
    FACING,
    FIRST,
    FLY,
    FLY_POINTS,
    FROG_ALIVE,
    FROG_HALF,
    FROG_LANE,
    FROG_VX,
    FROG_VY,
    FROG_X,
    FROG_Y,
    GAME,
    HALF_WIDTH,
    HOME_POINTS,
    HOMES,
    HOP_POINTS,
    LANE_MEAN,
    LANE_TYPE,
    LEFT,
    LEVEL_POINTS,
    MEDIAN,
    NUM_BAYS,
    OBJECT,
    OBJECT_VX,
    OBJECT_X,
    ON_GROUND,
    PERIOD,
    REACHED,
    ROW,
    SECOND_POINTS,
    START,
    TICKS_PER_SECOND,
    TURTLE_AGE,
    TURTLE_ALIVE,
    UNDER,
    UP,
    VISIT,
    VISITOR,
)

Draws = np.random.Generator

HOME_LOGS, PAIRS, LONG_LOGS, SMALL_LOGS, TRIOS = range(1, 6)  # rows of the river
LORRIES, SEDANS, CARS = 7, 9, 11  # rows of the road
TAKE_OFF = 2  # steps on the ground after the key is first held
LANDING = 8  # step in which that hop lands
SECONDS = 8  # left on the clock when a frog gets home here
HOME_SCORE = HOP_POINTS + HOME_POINTS + SECOND_POINTS * SECONDS
DIVER, DIVER_ROW, DIVER_PLACE = 1, PAIRS, 1  # the turtles that dive on level 1: `turtle_pair_1`
LORRY_REACH = (FROG_HALF + HALF_WIDTH[LORRIES]) * CELL

LATE = delayed(2)
TREMBLING = trembling()
NO_HOP = Change("a key must be held for half a second", {"crouch_ticks": 30.0})
NO_CROUCH = Change("a touch of a key makes a hop", {"crouch_ticks": 1.0})
SLOW_HOP = Change("a hop takes 18 ticks", {"hop_ticks": 18.0})
LONG_REST = Change("a frog rests 12 ticks", {"rest_ticks": 12.0})
NO_GRIP = Change("logs slide away under the frog", {"grip": 0.0})
EVEN_FLOW = Change("lanes flow evenly", {"surge": 0.0})
CALMER = Change("lanes surge half as much", {"surge": 0.5})
GHOST_CARS = Change("cars are ghosts", {"cars_kill": 0.0})
SWIMMER = Change("the frog swims", {"water_kills": 0.0})
NO_DIVES = Change("turtles never dive", {"turtles_dive": 0.0})
SHORT_CLOCK = Change("the next frog has five seconds", {"frog_time": 300.0})


# Starts.


def _later(world: np.ndarray, ticks: int) -> np.ndarray:
    """The world so many ticks on, in a copy."""
    world, constants = world.copy(), GAME.default_parameters()
    for _ in range(ticks):
        GAME.step(world, 0, constants)
    return world


def _travel(world: np.ndarray, row: int, ticks: int) -> float:
    """Screens that a lane will move in so many ticks."""
    place = OBJECT_X + FIRST[row]
    return float(wrapped_gap(_later(world, ticks)[place], world[place]))


def _slide(world: np.ndarray, row: int, x: float, ticks: int = 0, place: int = 0) -> None:
    """Slide a lane along so that an object of it is at x after so many ticks."""
    first, count = OBJECT_X + FIRST[row], COUNT[row]
    shift = x - _travel(world, row, ticks) - world[first + place]
    world[first : first + count] = [wrap(was + shift) for was in world[first : first + count]]


def _row_y(row: int) -> float:
    return (row + 1.5) * CELL


def _begin(world: np.ndarray, draws: Draws) -> None:
    """The level some ticks on, so that lanes are anywhere in their swing."""
    world[:] = _later(world, int(draws.integers(0, 120)))


def _seat(world: np.ndarray, row: int, x: float) -> None:
    """A rested frog on a row, with the points that brought it there."""
    world[FROG_X], world[FROG_Y], world[FROG_ALIVE] = x, _row_y(row), 1.0
    world[FROG_VX] = world[OBJECT_VX + FIRST[row]] if LANE_TYPE[row] == 2 else 0.0
    world[FROG_VY], world[CROUCHED], world[COOLDOWN] = 0.0, 0.0, 0.0
    world[FACING], world[ON_GROUND] = UP, 1.0
    world[ROW], world[FROG_LANE] = row, LANE_TYPE[row]
    world[ADVANCED], world[SCORE] = START - row, HOP_POINTS * (START - row)
    world[CLOCK], world[PHASE] = 700.0, PLAYING


def _on_the_median(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    _seat(world, MEDIAN, CELL * draws.uniform(3, 8))


def _at_the_start(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    _seat(world, START, CELL * draws.uniform(6, 9))


def _at_the_right_edge(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    _seat(world, START, 1.0 - 0.5 * CELL)


def _between_lorries(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    x = CELL * draws.uniform(5, 10)
    _seat(world, LORRIES, x)
    _slide(world, LORRIES, x + 3.5 * CELL, LEAD)


def _above_the_lorries(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    x = CELL * draws.uniform(5, 10)
    _seat(world, MEDIAN, x)
    _slide(world, LORRIES, x + 3.7 * CELL, LEAD + 15)


def _before_a_lorry(world: np.ndarray, draws: Draws) -> None:
    """It comes from the right and touches the frog by step 10, not before step 3."""
    _begin(world, draws)
    while abs(_travel(_later(world, LEAD + 3), LORRIES, 7)) < 0.4 * CELL:
        world[:] = _later(world, 1)
    x = CELL * draws.uniform(5, 10)
    _seat(world, LORRIES, x)
    _slide(world, LORRIES, x + LORRY_REACH - 0.05 * CELL, LEAD + 10)


def _last_life_before_a_lorry(world: np.ndarray, draws: Draws) -> None:
    _before_a_lorry(world, draws)
    world[LIVES] = 1


def _on_a_long_log(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws)
    x = CELL * draws.uniform(3, 6)
    _seat(world, LONG_LOGS, x)
    _slide(world, LONG_LOGS, x + CELL * draws.uniform(-0.5, 0.5))


def _on_a_log_near_the_edge(world: np.ndarray, draws: Draws) -> None:
    """It leaves the screen on the right by step 12, not before step 3."""
    _begin(world, draws)
    while _travel(_later(world, LEAD + 3), LONG_LOGS, 9) < 1.0 * CELL:
        world[:] = _later(world, 1)
    x = 1.0 + 0.05 * CELL - _travel(world, LONG_LOGS, LEAD + 12)
    _seat(world, LONG_LOGS, x)
    _slide(world, LONG_LOGS, x + CELL * draws.uniform(-0.5, 0.5))


def _below_open_water(world: np.ndarray, draws: Draws) -> None:
    """On turtles that stay up; where the frog's hop lands there is no log."""
    _begin(world, draws)
    x = CELL * draws.uniform(6, 10)
    _seat(world, TRIOS, x)
    _slide(world, TRIOS, x)
    _slide(world, SMALL_LOGS, x + _travel(world, TRIOS, LEAD + TAKE_OFF) + 3.75 * CELL, LEAD + 8)


def _below_a_bay(world: np.ndarray, draws: Draws, off: float = 0.0) -> int:
    """On a log that brings the frog under a bay, or `off` cells beside it, as it takes off."""
    _begin(world, draws)
    bay = int(draws.integers(1, 4))
    goal = CELL * (BAY_X[bay] + off + draws.uniform(-0.3, 0.3))
    x = goal - _travel(world, HOME_LOGS, LEAD + TAKE_OFF)
    _seat(world, HOME_LOGS, x)
    _slide(world, HOME_LOGS, x + CELL * draws.uniform(-0.8, 0.8))
    seconds_in = TICKS_PER_SECOND * draws.uniform(0.2, 0.8)
    world[CLOCK] = np.floor(SECONDS * TICKS_PER_SECOND + seconds_in) + LEAD + LANDING
    return bay


def _below_an_open_bay(world: np.ndarray, draws: Draws) -> None:
    _below_a_bay(world, draws)


def _below_the_hedge(world: np.ndarray, draws: Draws) -> None:
    _below_a_bay(world, draws, 1.5)


def _below_a_filled_bay(world: np.ndarray, draws: Draws) -> None:
    bay = _below_a_bay(world, draws)
    world[REACHED + bay], world[HOMES] = 1.0, 1


def _below_a_fly(world: np.ndarray, draws: Draws) -> None:
    bay = _below_a_bay(world, draws)
    world[VISITOR + bay], world[VISIT] = FLY, 100.0


def _below_the_last_bay(world: np.ndarray, draws: Draws) -> None:
    bay = _below_a_bay(world, draws)
    world[REACHED : REACHED + NUM_BAYS] = 1.0
    world[REACHED + bay], world[HOMES] = 0.0, NUM_BAYS - 1


def _on_a_diver(world: np.ndarray, draws: Draws) -> None:
    """Turtles that go under 8 to 11 ticks after the last context state."""
    _begin(world, draws)
    x = CELL * draws.uniform(7, 10)
    _seat(world, DIVER_ROW, x)
    _slide(world, DIVER_ROW, x, place=DIVER_PLACE)
    world[TURTLE_AGE + DIVER] = UNDER - (LEAD + draws.integers(8, 12) - 0.5) / DIVE_CYCLE


def _beside_a_diver(world: np.ndarray, draws: Draws) -> None:
    """The frog is on the median; turtles come up 8 to 11 ticks after the last context state."""
    _on_the_median(world, draws)
    world[TURTLE_AGE + DIVER] = BACK - (LEAD + draws.integers(8, 12) - 0.5) / DIVE_CYCLE
    world[TURTLE_ALIVE + DIVER] = 0.0


def _out_of_time(world: np.ndarray, draws: Draws) -> None:
    _on_the_median(world, draws)
    world[CLOCK] = LEAD + draws.integers(8, 12)


def _dead(world: np.ndarray, draws: Draws) -> None:
    """Run over a while ago; the next frog comes 8 to 11 ticks after the last context state."""
    _begin(world, draws)
    _seat(world, int(draws.integers(LORRIES, START)), CELL * draws.uniform(2, 12))
    world[FROG_ALIVE], world[PHASE], world[LIVES] = 0.0, LOST, 2
    world[COOLDOWN] = LEAD + draws.integers(8, 12)


def _car_at_the_left_edge(world: np.ndarray, draws: Draws) -> None:
    _at_the_start(world, draws)
    _slide(world, CARS, 0.0, LEAD + int(draws.integers(15, 35)))


def _lane_against_its_habit(world: np.ndarray, draws: Draws) -> None:
    """Sedans that run to the right, not to the left, and rest in the last context states."""
    _at_the_start(world, draws)
    period = PERIOD[SEDANS]
    rest_begins = np.round(period * ((0.41 - 0.37 * SEDANS) % 1.0))  # see `_surge` of the game
    world[TICK] = rest_begins + 2 - LEAD + period * draws.integers(1, 20)
    world[LANE_MEAN + SEDANS] *= -draws.uniform(0.9, 1.3)
    first = OBJECT_VX + FIRST[SEDANS]
    world[first : first + COUNT[SEDANS]] *= -1


# Rules and changes of frogger alone.


def _hops(over: float, down: float) -> Rule:
    """The frog ends so many cells from where it was."""
    return travels("frog", over * CELL, down * CELL)


def _rests_first(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The frog is where it was in the first step, and where it ends from step 13 on."""
    y = trace.y("frog")
    return (np.abs(y[:, 1] - y[:, 0]) < 0.01) & (np.abs(y[:, 13:] - y[:, -1:]) < 0.015).all(1)


def _ends_at_the_start(trace: Trace) -> Bool[np.ndarray, " batch"]:
    x, y = trace.x("frog")[:, -1], trace.y("frog")[:, -1]
    return (np.abs(x - 0.5) < 0.02) & (np.abs(y - _row_y(START)) < 0.02)


def _shifts_on(carrier: str, over: float) -> Rule:
    """The frog ends so many cells along its carrier from where it sat."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        gap = trace.x("frog") - trace.x(carrier)
        gap = gap - np.round(gap)
        return np.abs(gap[:, -1] - gap[:, 0] - over * CELL) < 0.02

    return holds


def _carried(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The frog ends well to the right, on its row."""
    over, down = trace.dx("frog").sum(1), trace.dy("frog").sum(1)
    return (over > 0.1) & (np.abs(down) < 0.02)


def _not_run_over(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """No lorry is on a living frog."""
    gap = trace.x("lorry_0") - trace.x("frog")
    gap = np.abs(gap - np.round(gap))
    return np.all((gap > LORRY_REACH - 0.02) | ~trace.alive("frog"), axis=1)


def _at_the_edge(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The frog ends at the right edge, on its row."""
    return (np.abs(trace.x("frog")[:, -1] - 0.99) < 0.03) & (np.abs(trace.dy("frog").sum(1)) < 0.02)


def _filled(trace: Trace) -> np.ndarray:
    """Bays filled, a number a step."""
    return np.sum([trace.field(f"bay_{bay}", "reached") for bay in range(NUM_BAYS)], axis=0)


def _fills(bays: int) -> Rule:
    """So many more bays are filled at the end, and none is opened on the way."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        gain = _filled(trace) - _filled(trace)[:, :1]
        return (np.abs(gain[:, -1] - bays) < 0.4) & np.all(gain > -0.4, axis=1)

    return holds


def _bays_open_again(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return (_filled(trace)[:, 0] > NUM_BAYS - 1.4) & (np.abs(_filled(trace)[:, -1]) < 0.4)


def _no_fly_left(trace: Trace) -> Bool[np.ndarray, " batch"]:
    flies = np.sum([trace.field(f"bay_{bay}", "piece_type") for bay in range(NUM_BAYS)], axis=0)
    return (flies[:, 0] > 0.6) & (np.abs(flies[:, -1]) < 0.4)


def _looks_left(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.all(np.abs(trace.field("frog", "direction")[:, 3:] - LEFT) < 0.4, axis=1)


def _row_ends(row: int) -> Rule:
    return lambda trace: np.abs(trace.field("frog", "row")[:, -1] - row) < 0.4


def _keeps_distance(*slots: str) -> Rule:
    """Objects of one lane stay as far apart as they were."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        ways = np.cumsum([trace.dx(slot) for slot in slots], axis=2)
        return np.all(np.ptp(ways, axis=0) < 0.02, axis=1)

    return holds


def _on_the_screen(trace: Trace) -> Bool[np.ndarray, " batch"]:
    x = trace.states[:, :, OBJECT:, X]
    return np.all((x > -0.02) & (x < 1.02), axis=(1, 2))


def _stops_and_goes(slot: str) -> Rule:
    """In some six ticks it goes less than a third of what it goes in others."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        way = np.abs(np.cumsum(trace.dx(slot), axis=1))
        moves = np.abs(way[:, 6:] - way[:, :-6])
        return moves.min(1) < moves.max(1) / 3

    return holds


def _runs_right(*slots: str) -> Rule:
    """They have gone more than a cell to the right at the end."""
    return lambda trace: np.all([trace.dx(slot).sum(1) > CELL for slot in slots], axis=0)


def _habit(*slots: str) -> Change:
    """They go as far, but the way their lane usually goes."""

    def edit(trace: Trace) -> Trace:
        states, columns = trace.states.copy(), [trace.slot(slot) for slot in slots]
        first = trace.states[:, :1, columns, X]
        moves = trace.states[:, :, columns, X] - first
        states[:, :, columns, X] = first - (moves - np.round(moves))
        return trace.with_states(states)

    return Change("the lane goes its usual way", edit=edit)


def _forgets(name: str, field: str, start: int = 1) -> Change:
    """From a step on, a field of every slot is again what it was at first."""

    def edit(trace: Trace) -> Trace:
        states, column = trace.states.copy(), _column(trace, field)
        states[:, start:, :, column] = trace.states[:, :1, :, column]
        return trace.with_states(states)

    return Change(name, edit=edit)


def _fill_all(trace: Trace) -> Trace:
    states = trace.states.copy()
    states[:, LANDING:, BAY : BAY + NUM_BAYS, _column(trace, "reached")] = 1.0
    return trace.with_states(states)


def _column(trace: Trace, field: str) -> int:
    return ALIVE + 1 + trace.manifest.profile.game_fields.index(field)


BAYS_OPEN = _forgets("a filled bay opens again", "reached", 15)
BAYS_FILL = Change("all bays are filled", edit=_fill_all)


SCENARIOS = (
    Scenario(
        "hop", "A key held for three ticks makes the frog hop one row.",
        "stay*7,up*3,stay", "stay*7,stay", "frog", 24,
        (
            Predicate("one_row", "The frog ends one row up.", _hops(0, -1), NO_HOP, LATE),
            Predicate("crouches_first", "It leaves the ground after the first step, and has "
                      "landed by step 13.", _rests_first, SLOW_HOP, LATE),
            Predicate("row_counted", "Its row says so.", _row_ends(MEDIAN), NO_HOP, LATE),
            Predicate("ten_points", "A row reached first scores ten, once.",
                      gains("score", HOP_POINTS), counted("score", 2), LATE),
            Predicate("lives", "No lorry is near.", lives("frog"), vanished("frog", 12), CALMER),
        ), _between_lorries,
    ),
    Scenario(
        "tap", "A key let go after two ticks turns the frog and no more.",
        "stay*7,left*2,stay", "stay*7,left*3,stay", "frog", 24,
        (
            Predicate("stays", "The frog stays where it is.", stays("frog"), NO_CROUCH, TREMBLING),
            Predicate("looks_left", "It looks left.", _looks_left,
                      _forgets("it looks where it looked", "direction"), TREMBLING),
        ), _at_the_start,
    ),
    Scenario(
        "held_key", "A held key makes hop after hop, with a rest between.",
        "stay*7,right", "stay*7,left", "frog", 30,
        (
            Predicate("three_hops", "Three hops in 30 ticks.", _hops(3, 0), LONG_REST, LATE),
            Predicate("no_points", "Hops aside score nothing.",
                      keeps("score", 3), given("score", HOP_POINTS), LATE),
        ), _on_the_median,
    ),
    Scenario(
        "hop_back", "A hop down goes back a row and scores nothing.",
        "stay*7,down*3,stay", "stay*7,stay", "frog", 24,
        (
            Predicate("one_row", "The frog ends one row down.", _hops(0, 1), NO_HOP, LATE),
            Predicate("no_points", "The score stays.", keeps("score", 3),
                      given("score", HOP_POINTS), LATE),
        ), _above_the_lorries,
    ),
    Scenario(
        "screen_edge", "At the edge of the bank a key towards it does nothing.",
        "stay*7,right", "stay*7,left", "frog", 24,
        (
            Predicate("stays", "The frog stays where it is.",
                      stays("frog"), adrift("frog", 0.003), CALMER),
            Predicate("traffic_goes_on", "The traffic goes on meanwhile.",
                      lambda trace: trace.dx("racer_0").sum(1) > 0.5 * CELL, frozen("racer_0"),
                      LATE),
        ), _at_the_right_edge,
    ),
    Scenario(
        "ride", "A log carries the frog along.",
        "stay*7,stay", "stay*7,right*3,stay", "frog", 40,
        (
            Predicate("sits_still", "The frog keeps its place on the log.",
                      _shifts_on("long_log_0", 0), NO_GRIP, CALMER),
            Predicate("carried", "Both go to the right.", _carried, frozen("frog"), LATE),
            Predicate("lives", "The frog lives.", lives("frog"), vanished("frog", 20), CALMER),
        ), _on_a_long_log,
    ),
    Scenario(
        "hop_on_a_log", "A hop along a log goes one cell of the log, which moves meanwhile.",
        "stay*7,right*3,stay", "stay*7,left*3,stay", "frog", 24,
        (
            Predicate("one_cell", "The frog ends one cell further on the log.",
                      _shifts_on("long_log_0", 1), NO_HOP, CALMER),
            Predicate("lives", "It lives.", lives("frog"), vanished("frog", 12), CALMER),
        ), _on_a_long_log,
    ),
    Scenario(
        "water", "A hop into open water drowns the frog.",
        "stay*7,up*3,stay", "stay*7,stay", "lives", 24,
        (
            Predicate("drowns", "The frog dies as it lands, and stays dead.",
                      dies_once("frog", 5, 12), SWIMMER, LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), SWIMMER, LATE),
            Predicate("phase_lost", "The phase says so.",
                      ends("phase", LOST, 0.4), SWIMMER, LATE),
            Predicate("sinks_there", "It ends where it fell in.",
                      both(stays("frog", 0.02, 11), _row_ends(SMALL_LOGS)),
                      adrift("frog", 0.002), LATE),
        ), _below_open_water,
    ),
    Scenario(
        "car", "A car that comes runs over a frog that sits.",
        "stay*7,stay", "stay*7,up*3,stay", "frog", 40,
        (
            Predicate("dies", "The frog dies once and stays dead.",
                      dies_once("frog", 2, 14), GHOST_CARS, LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), GHOST_CARS, LATE),
            Predicate("not_run_over", "A living frog is under no lorry.",
                      _not_run_over, GHOST_CARS, TREMBLING),
            Predicate("lies_there", "It stays where it was hit.",
                      stays("frog"), adrift("frog", -0.003), LATE),
        ), _before_a_lorry,
    ),
    Scenario(
        "last_life", "The last life lost ends the game.",
        "stay*7,stay", "stay*7,up*3,stay", "frog", 24,
        (
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, endless(), LATE),
            Predicate("phase_over", "The phase says so.",
                      ends("phase", OVER, 0.4), GHOST_CARS, LATE),
            Predicate("no_life_left", "No life is left.",
                      ends("lives", 0, 0.3), GHOST_CARS, LATE),
        ), _last_life_before_a_lorry,
    ),
    Scenario(
        "next_frog", "After the wait the next frog starts from the bottom with a full clock.",
        "stay*7,stay", "stay*7,up", "frog", 30,
        (
            Predicate("comes", "The frog comes to life once.",
                      born_once("frog", 5, 15), vanished("frog"), LATE),
            Predicate("at_the_start", "It sits in the middle of the lowest row.",
                      _ends_at_the_start, frozen("frog"), LATE),
            Predicate("full_clock", "Its clock is nearly full.",
                      ends("time_left", 0.98, 0.08), SHORT_CLOCK, LATE),
            Predicate("no_more_lives_lost", "It costs nothing more.",
                      keeps("lives", 0.3), given("lives", -1), LATE),
        ), _dead,
    ),
    Scenario(
        "home", "A frog that lands in a bay fills it, scores, and the next one starts.",
        "stay*7,up*3,stay", "stay*7,stay", "score", 24,
        (
            Predicate("fills_a_bay", "One more bay is filled, and stays so.",
                      _fills(1), BAYS_OPEN, LATE),
            Predicate("points_once", "Row, bay and seconds left score once.",
                      gains("score", HOME_SCORE, 0.15 * HOME_SCORE), counted("score", 2), LATE),
            Predicate("counted", "A fifth more of the level is done.",
                      gains("done", 1 / NUM_BAYS, 0.1), NO_HOP, LATE),
            Predicate("next_frog", "The next frog sits at the start.",
                      both(_ends_at_the_start, lives("frog")), frozen("frog"), LATE),
            Predicate("no_life_lost", "No life is lost.",
                      keeps("lives", 0.3), given("lives", -1), LATE),
        ), _below_an_open_bay,
    ),
    Scenario(
        "filled_bay", "A bay that is filled kills.",
        "stay*7,up*3,stay", "stay*7,stay", "lives", 24,
        (
            Predicate("dies", "The frog dies as it lands, and stays dead.",
                      dies_once("frog", 5, 12), undead("frog"), LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), NO_HOP, LATE),
            Predicate("row_only", "Only the row scores.",
                      gains("score", HOP_POINTS), given("score", HOME_POINTS, 8), LATE),
            Predicate("stays_filled", "The bays stay as they are.",
                      _fills(0), BAYS_FILL, LATE),
        ), _below_a_filled_bay,
    ),
    Scenario(
        "hedge", "The hedge between two bays kills.",
        "stay*7,up*3,stay", "stay*7,stay", "lives", 24,
        (
            Predicate("dies", "The frog dies as it lands, and stays dead.",
                      dies_once("frog", 5, 12), risen("frog"), LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), counted("lives", 0), LATE),
            Predicate("no_bay_filled", "No bay is filled.", _fills(0), BAYS_FILL, LATE),
        ), _below_the_hedge,
    ),
    Scenario(
        "fly", "A fly in the bay scores on top, and is gone.",
        "stay*7,up*3,stay", "stay*7,stay", "score", 24,
        (
            Predicate("points_once", "Row, bay, seconds and fly score once.",
                      gains("score", HOME_SCORE + FLY_POINTS, 70), given("score", -FLY_POINTS, 9),
                      LATE),
            Predicate("fly_gone", "No fly is left in a bay.",
                      _no_fly_left, _forgets("the fly stays", "piece_type"), LATE),
            Predicate("fills_a_bay", "One more bay is filled.", _fills(1), NO_HOP, LATE),
        ), _below_a_fly,
    ),
    Scenario(
        "level_end", "The fifth frog at home ends the level: a thousand points, open bays.",
        "stay*7,up*3,stay", "stay*7,stay", "level", 24,
        (
            Predicate("one_level", "The level rises by one, once.",
                      gains("level", 1), counted("level", 2), LATE),
            Predicate("points_once", "Home and level score once.",
                      gains("score", HOME_SCORE + LEVEL_POINTS, 150), counted("score", 2), LATE),
            Predicate("bays_open", "All bays are open again.",
                      _bays_open_again, _forgets("bays stay filled", "reached"), LATE),
            Predicate("next_frog", "The next frog sits at the start.",
                      both(_ends_at_the_start, lives("frog")), frozen("frog"), LATE),
        ), _below_the_last_bay,
    ),
    Scenario(
        "dive", "Turtles that dive drown the frog on their backs.",
        "stay*7,stay", "stay*7,up*3,stay", "frog", 28,
        (
            Predicate("turtles_go", "The turtles go under once.",
                      dies_once("turtle_pair_1", 5, 15), NO_DIVES, LATE),
            Predicate("drowns", "The frog dies once and stays dead.",
                      dies_once("frog", 5, 15), NO_DIVES, LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), NO_DIVES, LATE),
        ), _on_a_diver,
    ),
    Scenario(
        "surface", "Turtles under water come up again and stay.",
        "stay*7,stay", "stay*7,right*3,stay", "frog", 28,
        (
            Predicate("turtles_come", "The turtles come up once.",
                      born_once("turtle_pair_1", 5, 15), NO_DIVES, LATE),
            Predicate("others_stay", "The other turtles of the row never go.",
                      lives("turtle_pair_0", "turtle_pair_2"), vanished("turtle_pair_2", 12),
                      CALMER),
            Predicate("in_the_lane", "They have moved with their row meanwhile.",
                      _keeps_distance("turtle_pair_0", "turtle_pair_1"), frozen("turtle_pair_1"),
                      CALMER),
        ), _beside_a_diver,
    ),
    Scenario(
        "carried_off", "A log that leaves the screen takes the frog's life.",
        "stay*7,stay", "stay*7,left*3,stay", "frog", 24,
        (
            Predicate("dies", "The frog dies once and stays dead.",
                      dies_once("frog", 2, 16), undead("frog"), LATE),
            Predicate("at_the_edge", "It ends at the edge, and does not come in on the left.",
                      _at_the_edge, NO_GRIP, LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), counted("lives", 0), LATE),
        ), _on_a_log_near_the_edge,
    ),
    Scenario(
        "time_up", "A frog whose clock runs out dies, wherever it sits.",
        "stay*7,stay", "stay*7,right", "frog", 24,
        (
            Predicate("dies", "The frog dies once and stays dead.",
                      dies_once("frog", 5, 15), undead("frog"), LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), counted("lives", 2), LATE),
            Predicate("stays", "It stays where it is.",
                      stays("frog"), shifted("frog", CELL), TREMBLING),
        ), _out_of_time,
    ),
    Scenario(
        "lane", "Cars of a lane stop and go together, and what leaves comes in on the other side.",
        "stay*7,stay", "stay*7,right", "frog", 54,
        (
            Predicate("keep_distance", "They stay as far apart as they were.",
                      _keeps_distance("car_0", "car_1", "car_2"), frozen("car_1"), CALMER),
            Predicate("on_the_screen", "All objects stay on the screen.",
                      _on_the_screen, adrift("car_0", -0.01), CALMER),
            Predicate("stop_and_go", "At times they hardly move.",
                      _stops_and_goes("car_0"), EVEN_FLOW, LATE),
        ), _car_at_the_left_edge,
    ),
    Scenario(
        "lane_remembered", "A lane that ran against its habit before it stopped goes on so.",
        "stay*7,stay", "stay*7,right", "frog", 40,
        (
            Predicate("runs_right", "The sedans run to the right, as in the context.",
                      _runs_right("sedan_0", "sedan_1"), _habit("sedan_0", "sedan_1"), LATE),
            Predicate("keep_distance", "They stay as far apart as they were.",
                      _keeps_distance("sedan_0", "sedan_1"), frozen("sedan_1"), CALMER),
        ), _lane_against_its_habit, needs_memory=True,
    ),
)  # fmt: skip
