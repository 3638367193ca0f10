"""Scenarios of the platformer: running, jumps, platforms, coins, enemies and the flag."""

import numpy as np
from jaxtyping import Bool, Float

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
    stays,
    stays_dead,
    straight_on,
    trembling,
    undead,
    vanished,
)
from cosmolabe.engine.angles import sine
from cosmolabe.engine.game import PHASE, PLAYING, TICK, WON
from cosmolabe.games import platformer
from cosmolabe.games.platformer import (
    ACCELERATION,
    BODY_HALF_HEIGHT,
    BODY_HALF_WIDTH,
    FRICTION,
    GRAVITY,
    GROUND_TOP,
    HEAVY,
    JUMP_SPEED,
    MOVER_SPEED,
    R1,
    R2,
    R3,
    RUN_SPEED,
    WALKER_HALF_HEIGHT,
    WALKER_HALF_WIDTH,
    WALKER_SPEED,
)

Draws = np.random.Generator
ROUGH = 0.015  # screens that a good model may be off
RIGHT, LEFT = 1.0, 3.0  # ways to face
AIR, GROUND_LEFT, GROUND_RIGHT = -1, 0, 1  # what the player stands on
LOW_LEFT, LOW_RIGHT, MIDDLE = 2, 3, 4  # platforms of the first level, at R1, R1 and R2
LOW_RIGHT_X, MIDDLE_X = 0.78, 0.5
EDGE = MIDDLE_X + platformer.HALF_WIDTHS[MIDDLE] + platformer.FOOTING * BODY_HALF_WIDTH
"""How far right the middle platform carries the player."""
LOW_LEFT_COIN_X = 0.22
LOW_RIGHT_COIN, MIDDLE_COIN = 1, 2
SPIKE_X = 0.46 - 0.8 * BODY_HALF_WIDTH - 0.6 * platformer.SPIKE_HALF_WIDTH  # where they hurt
FLAG_X = 0.93 - 0.8 * BODY_HALF_WIDTH - 0.5 * platformer.FLAG_HALF_WIDTH  # where it counts
MOVER_ENDS = 0.36, 0.64  # first level
PIT_LEFT = 0.38  # second level
BEE_HOME = 0.38  # second level
FALL = HEAVY * GRAVITY

SLOWER_MOVER = Change("the mover is a fifth slower", {"mover_speed": 0.8 * MOVER_SPEED})


# Starts.


def _begin(world: np.ndarray, draws: Draws, x: float, feet: float, on: int, vx: float = 0) -> None:
    """In play, no enemy about; the player stands, runs or is in the air."""
    world[PHASE], world[platformer.WAIT] = PLAYING, 0.0
    world[TICK] = 1.0  # no whim of a walker before tick 32
    world[platformer.TIME] = draws.integers(300, 1100)
    for k in range(platformer.NUM_WALKERS):
        world[platformer.WALKER + 5 * k + 2] = 0.0
    world[platformer.BEE_ALIVE] = 0.0
    world[platformer.X], world[platformer.Y] = x, feet - BODY_HALF_HEIGHT
    world[platformer.VX], world[platformer.FACING] = vx, LEFT if vx < 0 else RIGHT
    world[platformer.SUPPORT], world[platformer.ON_GROUND] = on, float(on != AIR)


def _running(
    world: np.ndarray, draws: Draws, goal: float, steps: float, feet: float, on: int, way: int = 1
) -> None:
    """At full speed, so many steps after the last context state before a place."""
    x = goal - way * RUN_SPEED * (LEAD + steps)
    _begin(world, draws, x, feet, on, way * RUN_SPEED)


def _fallen(ticks: float) -> float:
    """How deep one falls from rest."""
    return FALL * ticks * (ticks + 1) / 2


def _walker(world: np.ndarray, x: float, way: float, on: int, top: float) -> None:
    """The first walker walks on a surface, and is at x in the last context state."""
    place = platformer.WALKER
    world[place] = x - LEAD * way * WALKER_SPEED
    world[place + 1], world[place + 2] = top - WALKER_HALF_HEIGHT, 1.0
    world[place + 3], world[place + 4] = way * WALKER_SPEED, RIGHT if way > 0 else LEFT
    world[platformer.WALKER_ON] = on


def _mover(world: np.ndarray, x: float) -> None:
    """The mover is on its way to its second end, and at x in the last context state."""
    world[platformer.MOVER_X] = x - LEAD * MOVER_SPEED


def _on_open_ground(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.66, 0.74), GROUND_TOP, GROUND_RIGHT)


def _still_pressing(world: np.ndarray, draws: Draws) -> None:
    _on_open_ground(world, draws)
    world[platformer.HELD] = 1.0


def _at_full_speed(world: np.ndarray, draws: Draws) -> None:
    _running(world, draws, draws.uniform(0.7, 0.74), 0, GROUND_TOP, GROUND_RIGHT)


def _under_platform(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.1, 0.16), GROUND_TOP, GROUND_LEFT)


def _above_platform(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.555, 0.59), R2 - draws.uniform(0.17, 0.2), AIR)


def _just_above_platform(world: np.ndarray, draws: Draws) -> None:
    """Lands in one of the second to the fourth steps."""
    height = draws.uniform(_fallen(LEAD + 1.2), _fallen(LEAD + 3.8))
    _begin(world, draws, draws.uniform(0.555, 0.59), R2 - height, AIR)


def _on_low_platform(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.66, 0.72), R1, LOW_RIGHT)


def _to_the_edge(world: np.ndarray, draws: Draws, steps: float) -> None:
    """Runs to the right on the middle platform; the coins on the way are gathered."""
    _running(world, draws, EDGE, steps, R2, MIDDLE)
    for coin in (LOW_RIGHT_COIN, MIDDLE_COIN):
        world[platformer.COIN + 3 * coin + 2] = 0.0
    world[platformer.NEEDED] = 0.5


def _before_the_edge(world: np.ndarray, draws: Draws) -> None:
    _to_the_edge(world, draws, draws.uniform(7, 10))


def _just_off_the_edge(world: np.ndarray, draws: Draws) -> None:
    """The last context state is the second or third in the air."""
    _to_the_edge(world, draws, -draws.choice([1, 2]) - draws.uniform(0.1, 0.9))


def _long_off_the_edge(world: np.ndarray, draws: Draws) -> None:
    """The last context state is the sixth or seventh in the air."""
    _to_the_edge(world, draws, -draws.choice([5, 6]) - draws.uniform(0.1, 0.9))


def _before_the_wall(world: np.ndarray, draws: Draws) -> None:
    _running(world, draws, BODY_HALF_WIDTH, draws.uniform(3, 8), GROUND_TOP, GROUND_LEFT, -1)


def _before_the_coin(world: np.ndarray, draws: Draws) -> None:
    reach = 0.8 * BODY_HALF_WIDTH + platformer.COIN_RADIUS
    _running(world, draws, LOW_LEFT_COIN_X - reach, draws.uniform(4, 8), R1, LOW_LEFT)


def _before_the_spikes(world: np.ndarray, draws: Draws) -> None:
    _running(world, draws, SPIKE_X, draws.uniform(5, 8), GROUND_TOP, GROUND_LEFT)


def _before_the_pit(world: np.ndarray, draws: Draws) -> None:
    _running(world, draws, PIT_LEFT, draws.uniform(0, 2), GROUND_TOP, GROUND_LEFT)


def _before_the_bare_pole(world: np.ndarray, draws: Draws) -> None:
    _running(world, draws, FLAG_X, draws.uniform(3, 6), GROUND_TOP, GROUND_RIGHT)


def _before_the_flag(world: np.ndarray, draws: Draws) -> None:
    _before_the_bare_pole(world, draws)
    world[platformer.NEEDED], world[platformer.FLAG_UP] = 0.0, 1.0
    for k in range(4):
        world[platformer.COIN + 3 * k + 2] = 0.0


def _above_walker(world: np.ndarray, draws: Draws) -> None:
    contact = GROUND_TOP - 1.8 * WALKER_HALF_HEIGHT
    ticks, way = draws.uniform(9, 11), draws.choice([-1, 1])
    x = draws.uniform(0.67, 0.73)
    _begin(world, draws, x, contact - _fallen(ticks), AIR)
    _walker(world, x - way * WALKER_SPEED * (ticks - LEAD), way, GROUND_RIGHT, GROUND_TOP)


def _walker_comes(world: np.ndarray, draws: Draws) -> None:
    _on_open_ground(world, draws)
    way = draws.choice([-1, 1])
    reach = 0.8 * (BODY_HALF_WIDTH + WALKER_HALF_WIDTH)
    off = reach + WALKER_SPEED * draws.uniform(6, 10)
    _walker(world, world[platformer.X] - way * off, way, GROUND_RIGHT, GROUND_TOP)


def _walker_at_the_edge(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.1, 0.2), GROUND_TOP, GROUND_LEFT)
    _walker(world, WALKER_TURN - WALKER_SPEED * draws.uniform(4, 8), 1.0, LOW_RIGHT, R1)


def _on_the_mover(world: np.ndarray, draws: Draws) -> None:
    _mover(world, draws.uniform(0.42, 0.5))
    x = world[platformer.MOVER_X] + draws.uniform(-0.04, 0.04)
    _begin(world, draws, x, R3, platformer.MOVING)


def _mover_at_its_end(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.1, 0.2), GROUND_TOP, GROUND_LEFT)
    _mover(world, MOVER_ENDS[1] - MOVER_SPEED * draws.uniform(5, 10))


def _bee_about(world: np.ndarray, draws: Draws) -> None:
    _begin(world, draws, draws.uniform(0.1, 0.15), GROUND_TOP, GROUND_LEFT)
    way, tick = draws.choice([-1.0, 1.0]), float(draws.integers(1, 1000))
    world[TICK], world[platformer.BEE_ALIVE] = tick, 1.0
    world[platformer.BEE_X] = draws.uniform(0.4, 0.6)
    world[platformer.BEE_Y] = BEE_HOME + platformer.BEE_SWING * sine(tick / platformer.BEE_PERIOD)
    world[platformer.BEE_VX] = way * BEE_SPEED
    world[platformer.BEE_FACING] = RIGHT if way > 0 else LEFT


def _clock_runs_out(world: np.ndarray, draws: Draws) -> None:
    _on_open_ground(world, draws)
    world[platformer.TIME] = LEAD + draws.integers(10, 14)


WALKER_TURN = LOW_RIGHT_X + platformer.HALF_WIDTHS[LOW_RIGHT] - WALKER_HALF_WIDTH
BEE_SPEED = platformer.BEE_SPEED * (1 + platformer.FASTER)  # second level


# Rules.


def feet(trace: Trace) -> Float[np.ndarray, "batch step"]:
    """Height of the player's feet."""
    return trace.y("player") + BODY_HALF_HEIGHT


def stands_at(top: float, start: int = 0) -> Rule:
    """From step `start` on the player's feet are at a surface's height."""
    return lambda trace: np.all(np.abs(feet(trace)[:, start:] - top) < ROUGH, axis=1)


def rises(low: float, high: float, ground: float, start: int = 0) -> Rule:
    """From step `start` on the feet come at most so high above a ground: low..high."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        height = ground - feet(trace)[:, start:].min(1)
        return (height > low) & (height < high)

    return holds


def moves(steps: slice, dx: float, slack: float = 0.015) -> Rule:
    """The player's moves of these steps add up to dx."""
    return lambda trace: np.abs(trace.dx("player")[:, steps].sum(1) - dx) < slack


def _says_it_stands(trace: Trace) -> Bool[np.ndarray, " batch"]:
    stands = trace.field("player", "on_ground")
    return (stands[:, 1] < 0.5) & (stands[:, 15:] > 0.5).all(1)


def _never_below(top: float) -> Rule:
    return lambda trace: np.all(feet(trace) < top + ROUGH, axis=1)


def _never_rises(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.all(feet(trace)[:, 1:] > feet(trace)[:, :1] - ROUGH, axis=1)


def _level_to_the_edge(trace: Trace) -> Bool[np.ndarray, " batch"]:
    beyond = trace.x("player") >= MIDDLE_X + platformer.HALF_WIDTHS[MIDDLE]
    return np.all(beyond | (np.abs(feet(trace) - R2) < ROUGH), axis=1)


def _rides(trace: Trace) -> Bool[np.ndarray, " batch"]:
    off = trace.x("player") - trace.x("mover")
    return np.all(np.abs(off - off[:, :1]) < ROUGH, axis=1)


def _mover_within(trace: Trace) -> Bool[np.ndarray, " batch"]:
    x = trace.x("mover")
    return np.all((x > MOVER_ENDS[0] - ROUGH) & (x < MOVER_ENDS[1] + ROUGH), axis=1)


def _mover_comes_back(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dx("mover")[:, 15:35].sum(1) + 20 * MOVER_SPEED) < 0.02


def _walker_within(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.all(trace.x("walker_1") < WALKER_TURN + ROUGH, axis=1)


def _walker_comes_back(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(trace.dx("walker_1")[:, 9:24].sum(1) + 15 * WALKER_SPEED) < 0.015


def _bee_swings(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Not beyond its swing, and through a good part of it."""
    y, swing = trace.y("bee"), platformer.BEE_SWING
    return (np.abs(y - BEE_HOME) < swing + ROUGH).all(1) & (y.max(1) - y.min(1) > swing)


def _bee_crosses(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return np.abs(np.abs(trace.dx("bee").sum(1)) - 60 * BEE_SPEED) < 0.03


def _pays_for_the_time(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """Points of the flag and for the time left, once."""
    score = trace.number("score")
    owed = platformer.FLAG_POINTS * (1 + trace.number("time_left")[:, -1])
    gain = score - score[:, :1]
    return (np.abs(gain[:, -1] - owed) < 12) & (gain <= owed[:, None] + 12).all(1)


# Planted changes.


def _bumps(trace: Trace) -> Trace:
    """The platform at R1 stops a head from below."""
    states, slot = trace.states.copy(), trace.slot("player")
    lowest = R1 + 2 * platformer.PLATFORM_HALF_HEIGHT + BODY_HALF_HEIGHT
    states[:, :, slot, 1] = np.maximum(states[:, :, slot, 1], lowest)
    return trace.with_states(states)


def _stays_down(trace: Trace) -> Trace:
    """The player never gets higher again."""
    states, slot = trace.states.copy(), trace.slot("player")
    states[:, :, slot, 1] = np.maximum.accumulate(states[:, :, slot, 1], axis=1)
    return trace.with_states(states)


BUMPS = Change("the head bumps into the platform", edit=_bumps)
STAYS_DOWN = Change("the player does not jump", edit=_stays_down)


DEAD_STAYS_DEAD = Predicate(
    "dead_stays_dead",
    "Dead stays dead while the scene waits.",
    stays_dead("player"),
    catches=risen("player"),
    survives=trembling(),
)
ONE_LIFE = Predicate(
    "one_life",
    "It costs one life.",
    gains("lives", -1),
    catches=counted("lives", 2),
    survives=SLOWER_MOVER,
)

SCENARIOS = (
    Scenario(
        name="speed_up",
        summary="From rest, a run gains speed evenly up to its top speed.",
        script="stay*7,right*25",
        twin="stay*7,left*25",
        reacts="player",
        horizon=25,
        set_up=_on_open_ground,
        predicates=(
            Predicate(
                "gains_speed",
                "25 steps move as far as the acceleration and the top speed say.",
                moves(slice(0, 25), 18.75 * RUN_SPEED, 0.025),
                catches=Change("a third of the acceleration", {"acceleration": ACCELERATION / 3}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "top_speed",
                "Then it moves by its top speed each step.",
                moves(slice(17, 25), 8 * RUN_SPEED),
                catches=Change("two thirds of the top speed", {"run_speed": 0.66 * RUN_SPEED}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="slide_to_a_stop",
        summary="Without a button friction takes the speed within a dozen steps.",
        script="right*7,stay*25",
        twin="right*7,right*25",
        reacts="player",
        horizon=25,
        set_up=_at_full_speed,
        predicates=(
            Predicate(
                "slides",
                "The slide is as long as friction says.",
                moves(slice(0, 25), RUN_SPEED**2 / (2 * FRICTION), 0.02),
                catches=Change("a third of the friction", {"friction": FRICTION / 3}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "comes_to_rest",
                "After it nothing moves.",
                keeps_x("player", 14),
                catches=adrift("player", 0.0025),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="wall",
        summary="The side of the screen stops a run.",
        script="left*7,left*25",
        twin="left*7,right*25",
        reacts="player",
        horizon=25,
        set_up=_before_the_wall,
        predicates=(
            Predicate(
                "reaches_it",
                "The run ends at the wall.",
                lambda trace: np.abs(trace.x("player")[:, 12:] - BODY_HALF_WIDTH).max(1) < ROUGH,
                catches=frozen("player"),
                survives=trembling(),
            ),
            Predicate(
                "inside",
                "The player stays on the screen.",
                lambda trace: (trace.x("player") > BODY_HALF_WIDTH - ROUGH).all(1),
                catches=straight_on("player"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "no_bounce",
                "He stays at the wall while he runs against it.",
                keeps_x("player", 9),
                catches=adrift("player", 0.002),
                survives=Change("a tenth slower", {"run_speed": 0.9 * RUN_SPEED}),
            ),
        ),
    ),
    Scenario(
        name="held_jump_height",
        summary="A jump with the button held rises by 0.2 of the screen.",
        script="stay*7,jump*30,stay*10",
        twin="stay*7,jump,stay*39",
        reacts="player",
        horizon=40,
        set_up=_on_open_ground,
        predicates=(
            Predicate(
                "height",
                "It rises as high as jump speed and gravity say.",
                rises(0.17, 0.24, GROUND_TOP),
                catches=Change("half as much gravity again", {"gravity": 1.5 * GRAVITY}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "straight_up",
                "It does not move across.",
                keeps_x("player"),
                catches=adrift("player", 0.001),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="short_hop",
        summary="A jump whose button is let go at once rises little more than half as high.",
        script="stay*7,jump,stay*31",
        twin="stay*7,jump*32",
        reacts="player",
        horizon=32,
        set_up=_on_open_ground,
        predicates=(
            Predicate(
                "height",
                "It rises by about 0.13.",
                rises(0.1, 0.16, GROUND_TOP),
                catches=Change("half the gravity", {"gravity": 0.5 * GRAVITY}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "back_on_the_ground",
                "It ends on the ground.",
                stands_at(GROUND_TOP, 29),
                catches=straight_on("player", 12),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="held_button",
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
        name="land_on_platform",
        summary="A fall ends on the platform below.",
        script="stay*32",
        twin="stay*7,right*25",
        reacts="player",
        horizon=25,
        set_up=_above_platform,
        predicates=(
            Predicate(
                "lands",
                "His feet come to rest on its top.",
                stands_at(R2, 13),
                catches=Change("platforms are ghosts", {"platforms_solid": 0.0}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "never_through",
                "They are never below it.",
                _never_below(R2),
                catches=straight_on("player"),
                survives=trembling(),
            ),
            Predicate(
                "says_so",
                "on_ground turns from 0 to 1.",
                _says_it_stands,
                catches=frozen("player"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="jump_through_platform",
        summary="A jump from below passes through a platform and lands on it.",
        script="stay*7,jump*24,stay*16",
        twin="stay*7,jump*3,stay*37",
        reacts="player",
        horizon=40,
        set_up=_under_platform,
        predicates=(
            Predicate(
                "passes",
                "The feet come above the platform.",
                lambda trace: feet(trace).min(1) < R1 - 0.02,
                catches=BUMPS,
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "lands_on_top",
                "The fall ends on the platform.",
                stands_at(R1, 35),
                catches=Change("platforms are ghosts", {"platforms_solid": 0.0}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="drop_through",
        summary="On a platform, drop falls through it to the ground.",
        script="stay*7,drop*4,stay*22",
        twin="stay*33",
        reacts="player",
        horizon=26,
        set_up=_on_low_platform,
        predicates=(
            Predicate(
                "falls",
                "The fall ends on the ground.",
                stands_at(GROUND_TOP, 20),
                catches=frozen("player"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "straight_down",
                "It does not move across.",
                keeps_x("player"),
                catches=adrift("player", 0.001),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="no_drop_on_ground",
        summary="Nobody drops through the ground.",
        script="stay*7,drop*20",
        twin="stay*7,right*20",
        reacts="player",
        horizon=20,
        set_up=_on_open_ground,
        predicates=(
            Predicate(
                "stands",
                "Drop does nothing there.",
                stays("player"),
                catches=adrift("player", 0.0, 0.003),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="off_the_edge",
        summary="A run off a platform's edge falls to what is below.",
        script="right*7,right*12,stay*28",
        twin="right*7,left*12,stay*28",
        reacts="player",
        horizon=40,
        set_up=_before_the_edge,
        predicates=(
            Predicate(
                "level_to_the_edge",
                "Nobody falls while the platform is below him.",
                _level_to_the_edge,
                catches=Change("platforms are ghosts", {"platforms_solid": 0.0}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "falls",
                "Beyond it he falls to the platform below.",
                stands_at(R1, 31),
                catches=straight_on("player"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="coyote_jump",
        summary="Up to five steps off an edge a jump still counts.",
        script="right*7,jump_right*20,stay*10",
        twin="right*7,right*20,stay*10",
        reacts="player",
        horizon=30,
        set_up=_just_off_the_edge,
        predicates=(
            Predicate(
                "jumps",
                "In the air, yet just off the edge, the jump rises.",
                rises(0.1, 0.25, R2),
                catches=STAYS_DOWN,
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "keeps_running",
                "It takes the run along.",
                moves(slice(0, 20), 20 * RUN_SPEED, 0.02),
                catches=Change("two thirds of the top speed", {"run_speed": 0.66 * RUN_SPEED}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="too_late_to_jump",
        summary="Longer off the edge, a jump does nothing.",
        script="right*7,jump_right,stay*29",
        twin="right*7,left,left*29",
        reacts="player",
        horizon=30,
        set_up=_long_off_the_edge,
        predicates=(
            Predicate(
                "no_jump",
                "The fall goes on.",
                _never_rises,
                catches=hopping("player", 1.5 * JUMP_SPEED, FALL),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "falls",
                "It ends on the platform below.",
                stands_at(R1, 14),
                catches=straight_on("player", 4),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="early_press_jumps",
        summary="A jump pressed up to six steps before landing is made on landing.",
        script="stay*6,jump,stay*30",
        twin="stay*6,jump,jump*30",
        reacts="player",
        horizon=30,
        set_up=_just_above_platform,
        needs_memory=True,
        predicates=(
            Predicate(
                "jumps_on_landing",
                "He jumps though the button is no longer pressed.",
                rises(0.08, 0.16, R2, 6),
                catches=STAYS_DOWN,
                survives=SLOWER_MOVER,
            ),
        ),
    ),
    Scenario(
        name="too_early_press",
        summary="A jump pressed longer before landing is forgotten.",
        script="stay,jump,stay*30",
        twin="stay,jump,stay*5,right*25",
        reacts="player",
        horizon=25,
        set_up=_just_above_platform,
        needs_memory=True,
        predicates=(
            Predicate(
                "stays_down",
                "He lands and stands.",
                stands_at(R2, 5),
                catches=hopping("player", JUMP_SPEED, FALL, 5),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="coin",
        summary="A coin pays ten points, once, and is gone.",
        script="right*7,right*12,stay*13",
        twin="right*7,left*12,stay*13",
        reacts="score",
        horizon=25,
        set_up=_before_the_coin,
        predicates=(
            Predicate(
                "pays_once",
                "Ten points, once.",
                gains("score", platformer.COIN_POINTS),
                catches=counted("score", 2),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "taken",
                "The coin is gone as they touch.",
                dies_once("coin_1", 2, 13),
                catches=undead("coin_1"),
                survives=Change("a twentieth slower", {"run_speed": 0.95 * RUN_SPEED}),
            ),
            Predicate(
                "gone_stays_gone",
                "It does not come back.",
                stays_dead("coin_1"),
                catches=risen("coin_1"),
                survives=trembling(),
            ),
            Predicate(
                "brings_the_flag_nearer",
                "One coin fewer of the four is needed.",
                gains("remaining", -0.25),
                catches=counted("remaining", 0),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "others_wait",
                "The other coins stay.",
                lives("coin_2", "coin_3", "coin_4", "coin_5", "coin_6"),
                catches=vanished("coin_3", 8),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="spikes",
        summary="Spikes kill who runs into them.",
        script="right*7,right*36",
        twin="right*7,jump_right*36",
        reacts="player",
        horizon=36,
        set_up=_before_the_spikes,
        predicates=(
            Predicate(
                "kill",
                "He dies as he touches them.",
                dies_once("player", 3, 13),
                catches=undead("player"),
                survives=SLOWER_MOVER,
            ),
            DEAD_STAYS_DEAD,
            ONE_LIFE,
            Predicate(
                "scene_waits",
                "After the death the mover stands still.",
                keeps_x("mover", 14),
                catches=straight_on("mover"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="stomp",
        summary="Coming down on a walker stomps it for 20 points, and bounces.",
        script="stay*37",
        twin="stay*7,left*30",
        reacts="player",
        horizon=30,
        set_up=_above_walker,
        predicates=(
            Predicate(
                "pays_once",
                "Twenty points, once.",
                gains("score", platformer.STOMP_POINTS),
                catches=counted("score", 2),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "stomped",
                "The walker dies as they meet.",
                dies_once("walker_1", 1, 8),
                catches=undead("walker_1"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "stomped_stays_stomped",
                "It does not come back.",
                stays_dead("walker_1"),
                catches=risen("walker_1"),
                survives=trembling(),
            ),
            Predicate(
                "bounces",
                "The player is thrown up by a fraction of a jump.",
                rises(0.07, 0.15, GROUND_TOP, 7),
                catches=Change("no bounce", {"stomp_bounce": 0.1}),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "unharmed",
                "He lives.",
                both(lives("player"), keeps("lives", 0.4)),
                catches=vanished("player", 6),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="walker_kills",
        summary="A walker that meets him otherwise kills.",
        script="stay*7,stay*34",
        twin="stay*7,jump*34",
        reacts="player",
        horizon=34,
        set_up=_walker_comes,
        predicates=(
            Predicate(
                "kills",
                "He dies as they touch.",
                dies_once("player", 3, 15),
                catches=undead("player"),
                survives=SLOWER_MOVER,
            ),
            DEAD_STAYS_DEAD,
            ONE_LIFE,
            Predicate(
                "scene_waits",
                "After the death the walker stands still.",
                keeps_x("walker_1", 16),
                catches=straight_on("walker_1"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="walker_turns",
        summary="A walker turns at the edge of its platform.",
        script="stay*7,right*24",
        twin="stay*7,left*24",
        reacts="player",
        horizon=24,
        set_up=_walker_at_the_edge,
        predicates=(
            Predicate(
                "on_its_platform",
                "It never leaves the platform.",
                _walker_within,
                catches=straight_on("walker_1"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "walks_back",
                "It walks back at the same speed.",
                _walker_comes_back,
                catches=Change("walkers half as fast", {"walker_speed": 0.5 * WALKER_SPEED}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="ride_mover",
        summary="Who stands on the mover goes along.",
        script="stay*37",
        twin="stay*7,jump*30",
        reacts="player",
        horizon=30,
        set_up=_on_the_mover,
        predicates=(
            Predicate(
                "mover_moves",
                "The mover moves evenly.",
                comes("mover", 30, 30 * MOVER_SPEED, 0.0),
                catches=Change("the mover is half as fast", {"mover_speed": 0.5 * MOVER_SPEED}),
                survives=trembling(),
            ),
            Predicate(
                "goes_along",
                "The player stays over the same part of it.",
                _rides,
                catches=frozen("player"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "stands",
                "His feet stay at its height.",
                stands_at(R3),
                catches=adrift("player", 0.0, 0.001),
                survives=SLOWER_MOVER,
            ),
        ),
    ),
    Scenario(
        name="mover_turns",
        summary="At its end the mover turns back.",
        script="stay*7,right*35",
        twin="stay*7,left*35",
        reacts="player",
        horizon=35,
        set_up=_mover_at_its_end,
        predicates=(
            Predicate(
                "within_its_ends",
                "It never goes beyond its ends.",
                _mover_within,
                catches=straight_on("mover"),
                survives=trembling(),
            ),
            Predicate(
                "comes_back",
                "It comes back at the same speed.",
                _mover_comes_back,
                catches=Change("the mover is half as fast", {"mover_speed": 0.5 * MOVER_SPEED}),
                survives=Change("a tenth slower", {"run_speed": 0.9 * RUN_SPEED}),
            ),
        ),
    ),
    Scenario(
        name="bee",
        summary="The bee crosses the screen evenly and swings up and down.",
        script="stay*7,right*8,stay*52",
        twin="stay*7,left*8,stay*52",
        reacts="player",
        horizon=60,
        set_up=_bee_about,
        level=2,
        predicates=(
            Predicate(
                "swings",
                "It swings about its height, no farther than its swing.",
                _bee_swings,
                catches=frozen("bee"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "crosses",
                "Sixty steps cross as far as its speed says.",
                _bee_crosses,
                catches=mirrored("bee", 30),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="pit",
        summary="Who runs off the ground falls into the pit and dies at the bottom.",
        script="right*7,right*40",
        twin="right*7,jump_right*40",
        reacts="player",
        horizon=40,
        set_up=_before_the_pit,
        level=2,
        predicates=(
            Predicate(
                "dies_below",
                "He dies at the bottom of the screen.",
                dies_once("player", 6, 22),
                catches=undead("player"),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "falls",
                "His feet end below the screen.",
                lambda trace: feet(trace)[:, -1] > 1.0 - ROUGH,
                catches=straight_on("player"),
                survives=trembling(),
            ),
            ONE_LIFE,
        ),
    ),
    Scenario(
        name="bare_pole",
        summary="Without the coins, the pole pays nothing.",
        script="right*7,right*25",
        twin="right*7,left*25",
        reacts="player",
        horizon=25,
        set_up=_before_the_bare_pole,
        predicates=(
            Predicate(
                "runs_past",
                "The player runs on past it.",
                lambda trace: trace.x("player")[:, -1] > FLAG_X + 0.03,
                catches=frozen("player"),
                survives=trembling(),
            ),
            Predicate(
                "plays_on",
                "The level goes on.",
                keeps("phase", 0.4),
                catches=given("phase", WON - PLAYING),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "pays_nothing",
                "No points.",
                keeps("score", 5.0),
                catches=given("score", platformer.FLAG_POINTS),
                survives=Change("a tenth slower", {"run_speed": 0.9 * RUN_SPEED}),
            ),
        ),
    ),
    Scenario(
        name="flag",
        summary="The raised flag ends the level and pays for the time left.",
        script="right*7,right*25",
        twin="right*7,left*25",
        reacts="score",
        horizon=25,
        set_up=_before_the_flag,
        predicates=(
            Predicate(
                "pays_for_the_time",
                "50 points and up to 50 for the time left, once.",
                _pays_for_the_time,
                catches=counted("score", 2),
                survives=trembling(),
            ),
            Predicate(
                "level_won",
                "The phase says so.",
                gains("phase", WON - PLAYING, 0.4),
                catches=counted("phase", 0),
                survives=SLOWER_MOVER,
            ),
            Predicate(
                "stops",
                "The run ends there.",
                keeps_x("player", 9),
                catches=straight_on("player"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="time_out",
        summary="The clock's end costs a life.",
        script="stay*7,left*30",
        twin="stay*7,right*30",
        reacts="player",
        horizon=30,
        set_up=_clock_runs_out,
        predicates=(
            Predicate(
                "dies_at_zero",
                "He dies when the clock is at zero, not before.",
                dies_once("player", 8, 17),
                catches=undead("player"),
                survives=SLOWER_MOVER,
            ),
            ONE_LIFE,
            Predicate(
                "run_ends",
                "The dead do not run on.",
                keeps_x("player", 17),
                catches=straight_on("player", 7),
                survives=trembling(),
            ),
        ),
    ),
)
