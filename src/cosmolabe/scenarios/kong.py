"""Scenarios of kong: girders, ladders, jumps, barrels, hammer and flame, one mechanism each."""

import numpy as np
from jaxtyping import Bool, Float, Int

from cosmolabe.core.scenario import LEAD, Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import (
    Rule,
    adrift,
    both,
    comes,
    counted,
    dies_once,
    frozen,
    gains,
    given,
    hopping,
    keeps,
    keeps_x,
    lives,
    mirrored,
    risen,
    shifted,
    stays,
    stays_dead,
    straight_on,
    trembling,
    undead,
    vanished,
)
from cosmolabe.engine.game import PHASE, PLAYING, WON
from cosmolabe.games import kong
from cosmolabe.games.kong import (
    BARREL_RADIUS,
    BARREL_SPEED,
    BODY_HALF_HEIGHT,
    CLIMB_SPEED,
    FLAME_HALF_HEIGHT,
    FLAME_SPEED,
    GRAVITY,
    JUMP_SPEED,
    WALK_SPEED,
)

Draws = np.random.Generator
ROUGH = 0.015  # screens that a good model may be off
NEVER = 1000.0  # ticks to a barrel that shall not come
RIGHT, LEFT = 1.0, 3.0  # ways to face
LADDERS = kong.GAME.new_world(0, 1)[kong.LADDER : kong.LADDER + 2 * kong.NUM_LADDERS : 2]
"""Across, from the bottom up; the first level's."""

SLOWER_WALK = Change("walks a tenth slower", {"walk_speed": 0.9 * WALK_SPEED})
SLOWER_BARRELS = Change("barrels are a twentieth slower", {"barrel_speed": 0.95 * BARREL_SPEED})


# Girders.


def top(floor: int | np.ndarray, x: float | np.ndarray) -> np.ndarray:
    """Height of a girder's top at x."""
    return kong.FLOORS[floor] + kong.DOWNHILL[floor] * kong.SLOPE * (x - 0.5)


def height_over(
    trace: Trace, slot: str, floor: int | Int[np.ndarray, "batch 1"], half: float
) -> Float[np.ndarray, "batch step"]:
    """How far a slot's lower end is above a girder."""
    return top(floor, trace.x(slot)) - half - trace.y(slot)


def on_girder(slot: str, floor: int, half: float, start: int = 0, stop: int | None = None) -> Rule:
    """It stands or rolls on a girder from step `start` to `stop`."""
    steps = slice(start, stop)
    return lambda trace: np.all(
        np.abs(height_over(trace, slot, floor, half)[:, steps]) < ROUGH, axis=1
    )


def above_girder(slot: str, floor: int, half: float) -> Rule:
    """It never sinks into a girder."""
    return lambda trace: np.all(height_over(trace, slot, floor, half) > -ROUGH, axis=1)


def _first_girder(trace: Trace, slot: str, half: float) -> Int[np.ndarray, "batch 1"]:
    """The girder it stands on in the last context state."""
    feet = trace.y(slot)[:, :1] + half
    floors = np.arange(kong.TOP)[None]
    return np.abs(top(floors, trace.x(slot)[:, :1]) - feet).argmin(1)[:, None]


def on_own_girder(slot: str, half: float, start: int = 0) -> Rule:
    """From step `start` on it stands on the girder it began on."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        begun = _first_girder(trace, slot, half)
        height = height_over(trace, slot, begun, half)[:, start:]
        return np.all(np.abs(height) < ROUGH, axis=1)

    return holds


def _on_next_girder(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The player ends one girder above the one he began on."""
    begun = _first_girder(trace, "player", BODY_HALF_HEIGHT)
    return np.abs(height_over(trace, "player", begun + 1, BODY_HALF_HEIGHT)[:, -1]) < ROUGH


# Starts.


def _begin(world: np.ndarray, draws: Draws, floor: int, x: float, facing: float = RIGHT) -> None:
    """In play, no barrel about; the player stands on a girder."""
    world[PHASE], world[kong.WAIT], world[kong.THROW] = PLAYING, 0.0, NEVER
    world[kong.TIME] = draws.integers(400, 1400)
    world[kong.X], world[kong.Y] = x, top(floor, x) - BODY_HALF_HEIGHT
    world[kong.FLOOR], world[kong.FACING] = floor, facing


def _on_ladder(world: np.ndarray, draws: Draws, ladder: int, below: float) -> None:
    """The player holds a ladder, his feet so far below the girder above."""
    x = world[kong.LADDER + 2 * ladder]
    _begin(world, draws, ladder, x)
    world[kong.Y] = top(ladder + 1, x) - BODY_HALF_HEIGHT + below
    world[kong.FLOOR], world[kong.RUNG] = -1.0, ladder
    world[kong.CLIMBING], world[kong.ON_GROUND] = 1.0, 0.0


def _barrel(world: np.ndarray, k: int, floor: int, x: float) -> None:
    """A barrel rolls along a girder, and is at x in the last context state."""
    way, place = kong.DOWNHILL[floor], kong.BARREL + 7 * k
    x = x - LEAD * way * BARREL_SPEED
    world[place : place + 2] = x, top(floor, x) - BARREL_RADIUS
    world[place + 2], world[place + 4] = way * BARREL_SPEED, 1.0
    world[kong.BARREL_FLOOR + k] = floor


def _hammer(world: np.ndarray, draws: Draws) -> None:
    """The player holds the hammer, overhead at first."""
    world[kong.HELD_HAMMER], world[kong.HAMMER_LEFT] = 1.0, draws.integers(120, 300)
    world[kong.HAMMER_X], world[kong.HAMMER_Y] = world[kong.X], world[kong.Y] - 0.046


def _flame(world: np.ndarray, floor: int, x: float, way: float) -> None:
    world[kong.FLAME_ALIVE], world[kong.FLAME_FLOOR_NOW] = 1.0, floor
    world[kong.FLAME_X], world[kong.FLAME_Y] = x, top(floor, x) - FLAME_HALF_HEIGHT
    world[kong.FLAME_VX] = way * FLAME_SPEED


def _at_ladder(world: np.ndarray, draws: Draws) -> None:
    ladder = draws.choice([0, 1, 3])
    _begin(world, draws, ladder, LADDERS[ladder] + draws.uniform(-0.01, 0.01))


def _between_ladders(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 1, draws.uniform(0.4, 0.58))


def _in_the_open(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, int(draws.integers(0, 4)), draws.uniform(0.35, 0.6))


def _still_pressing(world: np.ndarray, draws: Draws) -> None:
    _in_the_open(world, draws)
    world[kong.HELD] = 1.0


def _half_up(world: np.ndarray, draws: Draws) -> None:
    _on_ladder(world, draws, draws.choice([0, 1, 3]), draws.uniform(0.045, 0.07))


def _below_princess(world: np.ndarray, draws: Draws) -> None:
    _on_ladder(world, draws, kong.TOP - 1, CLIMB_SPEED * (LEAD + draws.uniform(3, 8)))


def _before_the_end(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 1, kong.RIGHT_ENDS[1] - WALK_SPEED * (LEAD + draws.uniform(2, 6)))


def _barrel_comes(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 1, draws.uniform(0.35, 0.5), LEFT)
    _barrel(world, 0, 1, world[kong.X] - draws.uniform(0.08, 0.095))


def _barrel_and_hammer(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 1, draws.uniform(0.4, 0.5), LEFT)
    _hammer(world, draws)
    _barrel(world, 0, 1, world[kong.X] - draws.uniform(0.12, 0.14))


def _two_barrels_far_off(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.35, 0.6))
    _barrel(world, 0, 4, draws.uniform(0.45, 0.6))
    _barrel(world, 1, 3, draws.uniform(0.25, 0.4))


def _barrel_at_the_end(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.4, 0.6))
    _barrel(world, 0, 3, kong.RIGHT_ENDS[3] - draws.uniform(0.01, 0.03))


def _barrel_at_ladder(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.3, 0.5))
    _barrel(world, 0, 3, LADDERS[2] - draws.uniform(0.02, 0.04))


def _barrel_at_drum(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.4, 0.6))
    _barrel(world, 0, 0, kong.OIL_X + 0.02 + draws.uniform(0.04, 0.06))


def _ape_winds_up(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.4, 0.6))
    world[kong.THROW], world[kong.WINDING] = LEAD + draws.integers(8, 13), 1.0


def _below_hammer(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, kong.HAMMER_FLOOR, world[kong.HAMMER_X] + draws.uniform(-0.01, 0.01))


def _hammer_at_ladder(world: np.ndarray, draws: Draws) -> None:
    _at_ladder(world, draws)
    _hammer(world, draws)


def _flame_on_ladder(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.3, 0.45))
    _flame(world, 0, LADDERS[0], 0.0)
    world[kong.FLAME_Y] = top(1, LADDERS[0]) - FLAME_HALF_HEIGHT + draws.uniform(0.075, 0.09)
    world[kong.FLAME_CLIMBS], world[kong.FLAME_UP] = 1.0, -1.0


def _flame_at_the_end(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, 0, draws.uniform(0.4, 0.6))
    _flame(world, 0, 0.03 + FLAME_SPEED * (LEAD + draws.uniform(4, 8)), -1.0)


def _clock_runs_out(world: np.ndarray, draws: Draws) -> None:
    _in_the_open(world, draws)
    world[kong.TIME] = LEAD + draws.integers(10, 14)


# Rules of one scenario each.


def _jumps_a_body_high(trace: Trace) -> Bool[np.ndarray, " batch"]:
    rise = (trace.y("player")[:, :1] - trace.y("player")).max(1)
    return (rise > 0.04) & (rise < 0.08)


def _climbs_evenly(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dy("player")[:, 1:21].sum(1) + 20 * CLIMB_SPEED) < 0.02


def _keeps_course(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dx("player")[:, :25].sum(1) - 25 * WALK_SPEED) < 0.025


def _bounces_low(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """After the first contact it leaves the girder again, by much less than it fell."""
    height = height_over(trace, "barrel_1", 2, BARREL_RADIUS)
    since = np.cumsum(height < 0.008, axis=1) > 0
    after = since & (np.cumsum(since, axis=1) > 3)
    rebound = np.where(after, height, -1.0).max(1)
    return (rebound > 0.004) & (rebound < 0.035)


def _turns_back(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dx("barrel_1")[:, 45:60].sum(1) + 15 * BARREL_SPEED) < 0.025


def _down_the_ladder(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Between entering and leaving it moves down and not across."""
    x, y = trace.x("barrel_1")[:, 9:25], trace.y("barrel_1")[:, 9:25]
    fall = 15 * kong.LADDER_SHARE * BARREL_SPEED
    return (np.abs(x - LADDERS[2]) < ROUGH).all(1) & (np.abs(y[:, -1] - y[:, 0] - fall) < 0.02)


def _out_below(trace: Trace) -> Bool[np.ndarray, " batch"]:
    height = height_over(trace, "barrel_1", 2, BARREL_RADIUS)
    return (np.abs(height[:, -5:]) < ROUGH).all(1) & (
        trace.x("barrel_1")[:, -1] < LADDERS[2] - 0.05
    )


def _thrown(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Not alive at first, alive from the throw to the end."""
    alive = trace.alive("barrel_1")
    return ~alive[:, :4].any(1) & alive[:, 18:].all(1) & (np.diff(alive, axis=1).sum(1) == 1)


def _rolls_from_the_ape(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dx("barrel_1")[:, 20:].sum(1) - 20 * BARREL_SPEED) < 0.025


def _hammer_near(trace: Trace) -> Bool[np.ndarray, " batch"]:
    across = np.abs(trace.x("hammer") - trace.x("player"))[:, 10:]
    along = np.abs(trace.y("hammer") - trace.y("player"))[:, 10:]
    return ((across < 0.06) & (along < 0.07)).all(1)


def _shield_fades(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Full when taken, then less by a share of its time each step."""
    shield = trace.number("shield")
    faded = shield[:, 15] - shield[:, 45]
    return (shield[:, 15] > 0.9) & (np.abs(faded - 30 / kong.HAMMER_TICKS) < 0.03)


def _pays_for_the_time(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Points for the time left, in steps of a hundred, once."""
    score = trace.number("score")
    owed = kong.BONUS * trace.number("time_left")[:, -1]
    gain = score - score[:, :1]
    return (np.abs(gain[:, -1] - owed + 50) < 150) & (gain <= owed[:, None] + 150).all(1)


def _within_its_ends(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.all(trace.x("flame") > 0.03 - ROUGH, axis=1)


def _keeps_walking(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Moves of five steps each; the turn shortens one or two of the six."""
    moves = trace.dx("flame")[:, :30].reshape(len(trace), 6, 5).sum(2)
    return np.abs(moves).sum(1) > 0.042


def _shield_stands(trace: Trace) -> Trace:
    numbers = trace.globals.copy()
    column = trace.manifest.profile.global_fields.index("shield")
    numbers[:, 15:, column] = numbers[:, 15:16, column]
    return trace.with_globals(numbers)


ENDLESS = Change("the hammer's time stands still", edit=_shield_stands)


ONE_LIFE = Predicate(
    "one_life",
    "It costs one life.",
    gains("lives", -1),
    catches=counted("lives", 2),
    survives=SLOWER_WALK,
)

SCENARIOS = (
    Scenario(
        name="climb_ladder",
        summary="At a ladder, up climbs it at an even speed and ends on the girder above.",
        script="stay*7,up*40",
        twin="stay*47",
        reacts="player",
        horizon=40,
        set_up=_at_ladder,
        predicates=(
            Predicate(
                "even_climb",
                "Twenty steps up a ladder rise by twenty times the climbing speed.",
                _climbs_evenly,
                catches=Change("climbs half as fast", {"climb_speed": 0.5 * CLIMB_SPEED}),
                survives=trembling(),
            ),
            Predicate(
                "on_its_line",
                "Who climbs does not move across.",
                keeps_x("player"),
                catches=adrift("player", 0.001),
                survives=Change("climbs a tenth slower", {"climb_speed": 0.9 * CLIMB_SPEED}),
            ),
            Predicate(
                "onto_the_girder",
                "The climb ends on the girder above.",
                _on_next_girder,
                catches=adrift("player", 0.0, -0.001),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="no_ladder",
        summary="Between ladders, up does nothing.",
        script="stay*7,up*20",
        twin="stay*7,right*20",
        reacts="player",
        horizon=20,
        set_up=_between_ladders,
        predicates=(
            Predicate(
                "nothing_to_climb",
                "Where no ladder is, nobody climbs.",
                stays("player"),
                catches=adrift("player", 0.0, -CLIMB_SPEED),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="jump_on_ladder",
        summary="On a ladder, the jump does nothing: neither up nor off.",
        script="up*7,jump*20",
        twin="up*7,up*20",
        reacts="player",
        horizon=20,
        set_up=_half_up,
        predicates=(
            Predicate(
                "holds_the_ladder",
                "A jump on a ladder changes no place.",
                stays("player"),
                catches=hopping("player", JUMP_SPEED, GRAVITY),
                survives=trembling(),
            ),
            Predicate(
                "does_not_fall",
                "Who lets go of the buttons does not slide down.",
                lambda trace: trace.dy("player").sum(1) < ROUGH,
                catches=adrift("player", 0.0, 0.002),
                survives=shifted("hammer", 0.1),
            ),
        ),
    ),
    Scenario(
        name="walk_and_stop",
        summary="A walk is even, follows the slope and ends at once.",
        script="stay*7,right*15,stay*15",
        twin="stay*7,left*15,stay*15",
        reacts="player",
        horizon=30,
        set_up=_in_the_open,
        predicates=(
            Predicate(
                "even_walk",
                "Fifteen steps move by fifteen times the walking speed.",
                lambda trace: np.abs(trace.dx("player")[:, :15].sum(1) - 15 * WALK_SPEED) < 0.02,
                catches=Change("walks half as fast", {"walk_speed": 0.5 * WALK_SPEED}),
                survives=trembling(),
            ),
            Predicate(
                "stops_at_once",
                "Without a button he stands.",
                keeps_x("player", 17),
                catches=adrift("player", 0.002),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "follows_the_slope",
                "His feet stay on the sloping girder.",
                on_own_girder("player", BODY_HALF_HEIGHT),
                catches=adrift("player", 0.0, -0.001),
                survives=SLOWER_WALK,
            ),
        ),
    ),
    Scenario(
        name="jump_keeps_course",
        summary="A jump rises a body's height and keeps the course it began with.",
        script="stay*7,jump_right,left*33",
        twin="stay*7,jump_left,left*33",
        reacts="player",
        horizon=34,
        set_up=_in_the_open,
        predicates=(
            Predicate(
                "a_body_high",
                "The jump rises by 0.06 of the screen.",
                _jumps_a_body_high,
                catches=Change("half the gravity", {"gravity": 0.5 * GRAVITY}),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "no_steering",
                "In the air the other button turns nobody around.",
                _keeps_course,
                catches=mirrored("player", 3),
                survives=trembling(),
            ),
            Predicate(
                "lands_on_the_girder",
                "The jump ends on the girder it began on.",
                on_own_girder("player", BODY_HALF_HEIGHT, 30),
                catches=straight_on("player", 14),
                survives=SLOWER_WALK,
            ),
        ),
    ),
    Scenario(
        name="held_jump",
        summary="The jump button, held since before, does not jump again.",
        script="jump*7,jump*25",
        twin="jump*7,stay,jump*24",
        reacts="player",
        horizon=25,
        set_up=_still_pressing,
        needs_memory=True,
        predicates=(
            Predicate(
                "no_jump",
                "A button that was held before the last state starts no jump.",
                stays("player"),
                catches=hopping("player", JUMP_SPEED, GRAVITY),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="walk_off_the_end",
        summary="Over a girder's end he falls to the one below, which kills.",
        script="right*7,right*43",
        twin="right*7,stay*43",
        reacts="player",
        horizon=46,
        set_up=_before_the_end,
        predicates=(
            Predicate(
                "falls_to_the_girder",
                "The fall ends on the girder below.",
                on_girder("player", 0, BODY_HALF_HEIGHT, 34),
                catches=straight_on("player"),
                survives=trembling(),
            ),
            Predicate(
                "dies_on_landing",
                "The fall kills as it ends, not before.",
                dies_once("player", 15, 33),
                catches=Change("a third of the gravity", {"gravity": 0.33 * GRAVITY}),
                survives=SLOWER_WALK,
            ),
            ONE_LIFE,
        ),
    ),
    Scenario(
        name="jump_over_barrel",
        summary="A barrel that passes below a jump pays 100 points, once.",
        script="stay*7,jump,stay*33",
        twin="stay*7,stay*34",
        reacts="score",
        horizon=34,
        set_up=_barrel_comes,
        predicates=(
            Predicate(
                "pays_once",
                "100 points, once.",
                gains("score", kong.JUMP_POINTS),
                catches=counted("score", 2),
                survives=trembling(),
            ),
            Predicate(
                "clears_it",
                "Who jumps in time lives and keeps his lives.",
                both(lives("player"), keeps("lives", 0.4)),
                catches=Change("jumps a quarter as high", {"jump_speed": 0.5 * JUMP_SPEED}),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "rolls_on_below",
                "The barrel rolls on as if nobody were there.",
                lambda trace: (
                    np.abs(trace.dx("barrel_1")[:, :30].sum(1) - 30 * BARREL_SPEED) < 0.03
                ),
                catches=mirrored("barrel_1", 15),
                survives=shifted("player", 0.01, 0.01),
            ),
        ),
    ),
    Scenario(
        name="hit_by_barrel",
        summary="A barrel that meets the player costs a life, and all stands still.",
        script="stay*7,stay*36",
        twin="stay*7,jump*36",
        reacts="player",
        horizon=36,
        set_up=_barrel_comes,
        predicates=(
            Predicate(
                "kills",
                "The barrel kills as they meet.",
                dies_once("player", 5, 15),
                catches=Change("barrels are ghosts", {"barrels_solid": 0.0}),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "dead_stays_dead",
                "Dead stays dead while the scene waits.",
                stays_dead("player"),
                catches=risen("player"),
                survives=trembling(),
            ),
            Predicate(
                "one_life",
                "It costs one life.",
                gains("lives", -1),
                catches=counted("lives", 2),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "scene_waits",
                "After the death the barrel stands still.",
                keeps_x("barrel_1", 16),
                catches=straight_on("barrel_1"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="barrels_roll_downhill",
        summary="On each girder barrels roll the way it slopes, at an even speed.",
        script="stay*7,right*30",
        twin="stay*7,left*30",
        reacts="player",
        horizon=30,
        set_up=_two_barrels_far_off,
        predicates=(
            Predicate(
                "downhill",
                "One rolls to the left, the other to the right, both at the barrels' speed.",
                both(
                    comes("barrel_1", 30, -30 * BARREL_SPEED, 30 * BARREL_SPEED * kong.SLOPE),
                    comes("barrel_2", 30, 30 * BARREL_SPEED, 30 * BARREL_SPEED * kong.SLOPE),
                ),
                catches=Change("barrels half as fast", {"barrel_speed": 0.5 * BARREL_SPEED}),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "on_their_girders",
                "They neither sink nor take off.",
                both(
                    on_girder("barrel_1", 4, BARREL_RADIUS), on_girder("barrel_2", 3, BARREL_RADIUS)
                ),
                catches=adrift("barrel_1", 0.0, 0.001),
                survives=SLOWER_BARRELS,
            ),
        ),
    ),
    Scenario(
        name="barrel_falls",
        summary="At a girder's end a barrel falls, bounces low and rolls back on the next.",
        script="stay*7,right*60",
        twin="stay*7,left*60",
        reacts="player",
        horizon=60,
        set_up=_barrel_at_the_end,
        predicates=(
            Predicate(
                "next_girder",
                "It comes to roll on the girder below.",
                on_girder("barrel_1", 2, BARREL_RADIUS, 46),
                catches=straight_on("barrel_1", 10),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "through_nothing",
                "It never sinks into the girder below.",
                above_girder("barrel_1", 2, BARREL_RADIUS),
                catches=adrift("barrel_1", 0.0, 0.0008),
                survives=trembling(),
            ),
            Predicate(
                "bounces_low",
                "It leaves the girder once more, far less high than it fell.",
                _bounces_low,
                catches=Change("barrels keep their speed", {"barrel_restitution": 0.9}),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "turns_back",
                "Below it rolls the other way.",
                _turns_back,
                catches=mirrored("barrel_1", 22),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="barrel_takes_ladder",
        summary="A barrel above the player takes the ladder (here always) and rolls on below.",
        script="stay*7,right*50",
        twin="stay*7,left*50",
        reacts="player",
        horizon=50,
        set_up=_barrel_at_ladder,
        parameters={"ladder_chance": 1.0},
        predicates=(
            Predicate(
                "down_the_ladder",
                "On the ladder it moves down, slower than it rolls, and not across.",
                _down_the_ladder,
                catches=Change("barrels take no ladder", {"ladder_chance": 0.0}),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "rolls_on_below",
                "It leaves the ladder onto the girder below and follows its slope.",
                _out_below,
                catches=straight_on("barrel_1", 15),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="barrel_in_the_drum",
        summary="The oil drum swallows the barrel that reaches it.",
        script="stay*7,right*25",
        twin="stay*7,left*25",
        reacts="player",
        horizon=25,
        set_up=_barrel_at_drum,
        predicates=(
            Predicate(
                "swallowed",
                "The barrel is gone as it reaches the drum.",
                dies_once("barrel_1", 4, 14),
                catches=undead("barrel_1"),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "gone_stays_gone",
                "It does not come back.",
                stays_dead("barrel_1"),
                catches=risen("barrel_1"),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "pays_nothing",
                "Nobody earns points by it.",
                keeps("score", 30.0),
                catches=given("score", kong.JUMP_POINTS),
                survives=SLOWER_BARRELS,
            ),
        ),
    ),
    Scenario(
        name="ape_throws",
        summary="The ape, a barrel raised, lets it roll to the right.",
        script="stay*7,right*40",
        twin="stay*7,left*40",
        reacts="player",
        horizon=40,
        set_up=_ape_winds_up,
        predicates=(
            Predicate(
                "thrown",
                "A barrel comes to life, and stays.",
                _thrown,
                catches=vanished("barrel_1"),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "rolls_off",
                "It rolls away from the ape.",
                _rolls_from_the_ape,
                catches=frozen("barrel_1"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="take_hammer",
        summary="A jump below the hammer takes it: it stays in hand and its time runs.",
        script="stay*7,jump,right*44",
        twin="stay*7,stay,right*44",
        reacts="shield",
        horizon=45,
        set_up=_below_hammer,
        predicates=(
            Predicate(
                "in_hand",
                "The hammer goes where he goes.",
                _hammer_near,
                catches=frozen("hammer"),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "time_runs",
                "Its time starts full and runs down evenly.",
                _shield_fades,
                catches=ENDLESS,
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="smash_barrel",
        summary="The swinging hammer smashes a barrel for 300 points.",
        script="stay*7,stay*34",
        twin="stay*7,right*34",
        reacts="score",
        horizon=34,
        set_up=_barrel_and_hammer,
        predicates=(
            Predicate(
                "pays_once",
                "300 points, once.",
                gains("score", kong.SMASH_POINTS),
                catches=counted("score", 2),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "smashed",
                "The barrel dies before it reaches the player.",
                dies_once("barrel_1", 3, 24),
                catches=undead("barrel_1"),
                survives=SLOWER_BARRELS,
            ),
            Predicate(
                "smashed_stays_smashed",
                "The barrel does not come back.",
                stays_dead("barrel_1"),
                catches=risen("barrel_1"),
                survives=trembling(),
            ),
            Predicate(
                "unharmed",
                "The player lives.",
                both(lives("player"), keeps("lives", 0.4)),
                catches=vanished("player", 12),
                survives=SLOWER_BARRELS,
            ),
        ),
    ),
    Scenario(
        name="hammer_forbids_ladder",
        summary="Who holds the hammer climbs no ladder.",
        script="stay*7,up*20",
        twin="stay*7,right*20",
        reacts="player",
        horizon=20,
        set_up=_hammer_at_ladder,
        predicates=(
            Predicate(
                "stays_below",
                "At the ladder, hammer in hand, up does nothing.",
                stays("player"),
                catches=adrift("player", 0.0, -CLIMB_SPEED),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="flame_climbs",
        summary="A flame on a ladder climbs to its end and walks on above.",
        script="stay*7,right*30",
        twin="stay*7,left*30",
        reacts="player",
        horizon=30,
        set_up=_flame_on_ladder,
        predicates=(
            Predicate(
                "on_its_line",
                "On the ladder it does not move across.",
                keeps_x("flame", 1, 17),
                catches=adrift("flame", 0.0015),
                survives=SLOWER_WALK,
            ),
            Predicate(
                "onto_the_girder",
                "It ends on the girder above.",
                on_girder("flame", 1, FLAME_HALF_HEIGHT, 28),
                catches=frozen("flame"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="flame_turns",
        summary="At a girder's end the flame turns.",
        script="stay*7,right*30",
        twin="stay*7,left*30",
        reacts="player",
        horizon=30,
        set_up=_flame_at_the_end,
        predicates=(
            Predicate(
                "keeps_walking",
                "It walks all the time, one way or the other.",
                _keeps_walking,
                catches=frozen("flame"),
                survives=trembling(),
            ),
            Predicate(
                "within_its_ends",
                "It never leaves the girder.",
                _within_its_ends,
                catches=straight_on("flame"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="reach_princess",
        summary="The last ladder ends the level and pays for the time left.",
        script="up*7,up*30",
        twin="up*7,down*30",
        reacts="score",
        horizon=30,
        set_up=_below_princess,
        predicates=(
            Predicate(
                "pays_for_the_time",
                "Up to 5,000 points for the time left, in steps of 100, once.",
                _pays_for_the_time,
                catches=counted("score", 2),
                survives=trembling(),
            ),
            Predicate(
                "level_won",
                "The phase says so, to the end of the wait.",
                gains("phase", WON - PLAYING, 0.4),
                catches=counted("phase", 0),
                survives=trembling(),
            ),
            Predicate(
                "stands_above",
                "He stands on the princess's platform.",
                on_girder("player", kong.TOP, BODY_HALF_HEIGHT, 12),
                catches=adrift("player", 0.0, -0.001),
                survives=Change("climbs a tenth slower", {"climb_speed": 0.9 * CLIMB_SPEED}),
            ),
        ),
    ),
    Scenario(
        name="time_out",
        summary="The clock's end costs a life.",
        script="stay*7,right*30",
        twin="stay*7,left*30",
        reacts="player",
        horizon=30,
        set_up=_clock_runs_out,
        predicates=(
            Predicate(
                "dies_at_zero",
                "He dies when the clock is at zero, not before.",
                dies_once("player", 8, 17),
                catches=undead("player"),
                survives=SLOWER_WALK,
            ),
            ONE_LIFE,
            Predicate(
                "walk_ends",
                "The dead do not walk on.",
                keeps_x("player", 17),
                catches=straight_on("player"),
                survives=trembling(),
            ),
        ),
    ),
)
