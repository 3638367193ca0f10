"""Scenarios of the racer: engine, tyres, checkpoints, contact, rivals, start and finish."""

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.scenario import LEAD, Change, Predicate, Scenario, Trace
from cosmolabe.core.scenario_rules import (
    Rule,
    adrift,
    both,
    counted,
    field_counted,
    frozen,
    gains,
    given,
    keeps,
    shifted,
    stays,
    straight_on,
    trembling,
)
from cosmolabe.engine.game import PHASE, PLAYING
from cosmolabe.games import racer
from cosmolabe.games.racer import (
    BRAKING,
    CAR,
    CAR_RADIUS,
    DRAG,
    GRIP,
    HEAD,
    HEADING,
    LAPS,
    MEAN_RADIUS,
    NUM_GATES,
    OFF_TRACK,
    PLAYER,
    POWER,
    RIVAL_1,
    RIVAL_2,
    RIVAL_3,
    TRACK_HALF_WIDTH,
    TURN_RATE,
    VX,
    VY,
    X,
    Y,
)

Draws = np.random.Generator
ROUGH = 0.015  # screens that a good model may be off
RIVALS = (RIVAL_1, RIVAL_2, RIVAL_3)
PACE = 0.007  # screens per tick, of a rival on its way
FIRST = racer.GAME.new_world(0, 1)  # the grid of the first race
SECOND = racer.GAME.new_world(0, 2)
A2, B2, A3 = FIRST[[racer.A2, racer.B2, racer.A3]]

SLOWER_RIVALS = Change("rivals have a tenth less power", {"rival_power": 0.9})
LESS_POWER = Change("a tenth less power", {"power": 0.9 * POWER})
SLIPPERIER = Change("a tenth less grip", {"grip": 0.9 * GRIP})


# The first circuit.


def track(eighths: float, lane: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A point of the track so many eighths from the start line, and the unit way ahead."""
    t = np.pi * (1 + eighths / 4)
    radius = MEAN_RADIUS + A2 * np.cos(2 * t) + B2 * np.sin(2 * t)
    radius += A3 * np.cos(3 * t) + 2 / 3 * B2 * np.sin(3 * t)
    slope = 2 * (B2 * np.cos(2 * t) - A2 * np.sin(2 * t))
    slope += 3 * (2 / 3 * B2 * np.cos(3 * t) - A3 * np.sin(3 * t))
    out, around = np.array([np.cos(t), np.sin(t)]), np.array([-np.sin(t), np.cos(t)])
    ahead = slope * out + radius * around
    return 0.5 + (radius + lane) * out, ahead / np.hypot(*ahead)


def before(eighths: float, way: float) -> float:
    """The place that lies `way` screens along the centre line before another."""
    a, b = track(eighths - 0.05)[0], track(eighths)[0]
    return eighths - 0.05 * way / float(np.hypot(*(b - a)))


def off_line(trace: Trace, slot: str) -> Float[np.ndarray, "batch step"]:
    """How far a car is from the centre line, seen from the middle of the screen."""
    dx, dy = trace.x(slot) - 0.5, trace.y(slot) - 0.5
    t = np.arctan2(dy, dx)
    radius = MEAN_RADIUS + A2 * np.cos(2 * t) + B2 * np.sin(2 * t)
    radius += A3 * np.cos(3 * t) + 2 / 3 * B2 * np.sin(3 * t)
    return np.hypot(dx, dy) - radius


# Starts.


def _car(
    world: np.ndarray,
    car: int,
    place: np.ndarray,
    ahead: np.ndarray,
    speed: float,
    passed: int,
    turn: float = 0.0,
) -> None:
    """A car that drives `ahead`, turned clockwise by `turn`, after so many checkpoints."""
    at = HEAD + CAR * car
    heading = np.arctan2(ahead[0], -ahead[1]) + 2 * np.pi * turn
    world[at + X : at + Y + 1] = place
    world[at + VX], world[at + VY] = speed * np.sin(heading), -speed * np.cos(heading)
    world[at + HEADING] = heading / (2 * np.pi) % 1
    world[at + LAPS], world[racer.PASSED + car] = passed // NUM_GATES, passed
    if car == PLAYER:
        world[racer.SPEED], world[racer.PROGRESS] = speed, passed / NUM_GATES / racer.NUM_LAPS


def _on_track(
    world: np.ndarray,
    car: int,
    eighths: float,
    lane: float = 0.0,
    speed: float = PACE,
    turn: float = 0.0,
    passed: int | None = None,
) -> None:
    place, ahead = track(eighths, lane)
    _car(world, car, place, ahead, speed, int(eighths) if passed is None else passed, turn)


def _begin(world: np.ndarray, eighths: float, rivals: float = 3.0) -> None:
    """The race is on; the rivals drive `rivals` and more eighths ahead of a place."""
    world[PHASE], world[racer.WAIT] = PLAYING, 0.0
    for k, car in enumerate(RIVALS):
        _on_track(world, car, eighths + rivals + k, world[racer.LANE + k])
    world[racer.AHEAD] = world[racer.BEST_AHEAD] = 3.0
    _aim(world, int(eighths))


def _aim(world: np.ndarray, passed: int) -> None:
    """The gate is the next checkpoint."""
    index = (passed + 1) % NUM_GATES
    world[racer.GATE_INDEX] = index
    world[racer.GATE_X], world[racer.GATE_Y] = track(index)[0]


def _drive(
    world: np.ndarray, eighths: float, speed: float, lane: float = 0.0, turn: float = 0.0
) -> None:
    """The player drives along the track, the rivals far ahead."""
    _begin(world, eighths)
    _on_track(world, PLAYER, eighths, lane, speed, turn)


def _at_rest(world: np.ndarray, draws: Draws) -> None:
    _drive(world, draws.uniform(0.05, 0.3), 0.0, draws.uniform(-0.02, 0.03))


def _at_speed(world: np.ndarray, draws: Draws) -> None:
    _drive(world, draws.uniform(0.02, 0.1), draws.uniform(0.0075, 0.0085), 0.03)


def _before_the_bend(world: np.ndarray, draws: Draws) -> None:
    _drive(world, draws.uniform(0.1, 0.3), draws.uniform(0.007, 0.008), draws.uniform(0.02, 0.04))


def _towards_the_grass(world: np.ndarray, draws: Draws) -> None:
    _drive(world, draws.uniform(0.05, 0.2), 0.008, draws.uniform(-0.01, 0.005), -0.12)


def _on_the_infield(world: np.ndarray, draws: Draws) -> None:
    _begin(world, 0.5)
    heading = np.pi * draws.uniform(1.1, 1.9)
    place = np.array([draws.uniform(0.43, 0.45), draws.uniform(0.47, 0.53)])
    _car(world, PLAYER, place, np.array([np.sin(heading), -np.cos(heading)]), 0.009, 0)
    world[HEAD + OFF_TRACK] = 1.0


def _across_the_infield(world: np.ndarray, draws: Draws) -> None:
    """Straight up; crosses the line of the first checkpoint far from the track."""
    _begin(world, 0.5)
    x = draws.uniform(0.4, 0.43)
    _car(world, PLAYER, np.array([x, x + draws.uniform(0.065, 0.08)]), UP, 0.009, 0)
    world[HEAD + OFF_TRACK] = 1.0


def _towards_the_fence(world: np.ndarray, draws: Draws) -> None:
    _begin(world, 2.3)
    place = np.array([draws.uniform(0.54, 0.6), 0.157 + draws.uniform(0.045, 0.06)])
    _car(world, PLAYER, place, UP, 0.01, 2)


def _before_the_gate(world: np.ndarray, draws: Draws) -> None:
    gate = int(draws.integers(1, 4))
    _drive(world, before(gate, draws.uniform(0.135, 0.15)), 0.0085)


def _wrong_way(world: np.ndarray, draws: Draws) -> None:
    gate = int(draws.integers(1, 4))
    eighths = before(gate, -draws.uniform(0.11, 0.13))
    _drive(world, eighths, 0.0085, 0.0, 0.5)


def _before_the_line(world: np.ndarray, draws: Draws) -> None:
    _drive(world, before(8.0, draws.uniform(0.135, 0.15)), 0.0085)


def _before_the_finish(world: np.ndarray, draws: Draws) -> None:
    eighths = before(24.0, draws.uniform(0.135, 0.15))
    _begin(world, eighths, -4.0)
    _on_track(world, PLAYER, eighths, speed=0.0085)
    world[racer.AHEAD] = world[racer.BEST_AHEAD] = 0.0


def _two_rivals_home(world: np.ndarray, draws: Draws) -> None:
    """The first rival is home, the second a few steps from it."""
    _begin(world, 19.5)
    _on_track(world, PLAYER, draws.uniform(19.2, 19.6), speed=0.007)
    _on_track(world, RIVAL_1, 25.5)
    _on_track(world, RIVAL_2, before(24.0, PACE * (LEAD + draws.uniform(4, 8))))
    _on_track(world, RIVAL_3, 22.0)


def _behind_a_slow_rival(world: np.ndarray, draws: Draws) -> None:
    eighths, lane = draws.uniform(0.1, 0.2), 0.02
    _drive(world, eighths, 0.0085, lane)
    gap = 2 * CAR_RADIUS + 0.005 * (LEAD + draws.uniform(3, 6))
    place, ahead = track(eighths, lane)
    _car(world, RIVAL_1, place + gap * ahead, ahead, 0.003, 0)
    world[racer.LANE] = lane


def _past_a_rival_at_rest(world: np.ndarray, draws: Draws) -> None:
    """No rival moves in this scenario; the player stands just behind the first."""
    eighths = 0.45 + draws.uniform(0.0, 0.05)
    _begin(world, eighths)
    _on_track(world, RIVAL_1, eighths, -0.035, 0.0)
    for k in (1, 2):
        _on_track(world, RIVALS[k], eighths + 3.0 + k, speed=0.0)
    _on_track(world, PLAYER, before(eighths, draws.uniform(0.02, 0.035)), 0.035, 0.0)


def _back_behind_a_rival(world: np.ndarray, draws: Draws) -> None:
    """The player has passed the first rival and rolls back behind it in the context."""
    _past_a_rival_at_rest(world, draws)
    eighths = 0.45 + draws.uniform(0.0, 0.05)
    _on_track(world, RIVAL_1, eighths, -0.035, 0.0)
    _on_track(world, PLAYER, before(eighths, -draws.uniform(0.002, 0.004)), 0.035, 0.0)
    world[racer.AHEAD] = world[racer.BEST_AHEAD] = 2.0


def _before_the_oil(world: np.ndarray, draws: Draws) -> None:
    """At the near edge of the oil in the last context state."""
    _begin(world, 5.3)
    oil = np.array([world[racer.OIL_X], world[racer.OIL_Y]])
    ahead = track(5.5)[1]
    away = 0.03 + LEAD * 0.0058 + draws.uniform(-0.002, 0.002)
    _car(world, PLAYER, oil - away * ahead, ahead, 0.0062, 5)


def _on_the_grid(world: np.ndarray, draws: Draws) -> None:
    world[racer.WAIT] = LEAD + draws.integers(9, 13)


UP = np.array([0.0, -1.0])


# Rules.


def driven(trace: Trace, slot: str, steps: slice) -> Float[np.ndarray, " batch"]:
    """How far a car came in some steps, straight from end to end."""
    return np.hypot(trace.dx(slot)[:, steps].sum(1), trace.dy(slot)[:, steps].sum(1))


def turned(trace: Trace, steps: slice) -> Float[np.ndarray, " batch"]:
    """Turns of the player's heading in some steps, clockwise."""
    moves = np.diff(trace.field("player", "rotation"), axis=1)
    return (moves - np.round(moves))[:, steps].sum(1)


def course(trace: Trace, start: int, stop: int) -> Float[np.ndarray, " batch"]:
    """Direction from one step's place to another's, in turns."""
    dx = trace.x("player")[:, stop] - trace.x("player")[:, start]
    dy = trace.y("player")[:, stop] - trace.y("player")[:, start]
    return np.arctan2(dx, -dy) / (2 * np.pi)


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """From b to a in turns, the short way."""
    return (a - b + 0.5) % 1 - 0.5


def drives(low: float, high: float, steps: slice = slice(None), slot: str = "player") -> Rule:
    """In some steps it comes low..high screens far."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        way = driven(trace, slot, steps)
        return (way > low) & (way < high)

    return holds


def turns(amount: float, slack: float, steps: slice = slice(None)) -> Rule:
    """The heading turns by an amount in some steps."""
    return lambda trace: np.abs(turned(trace, steps) - amount) < slack


def at(slot: str, place: np.ndarray, start: int, slack: float = 0.02) -> Rule:
    """It is at a place from step `start` on."""
    return lambda trace: (
        np.hypot(trace.x(slot) - place[0], trace.y(slot) - place[1])[:, start:] < slack
    ).all(1)


def _speed_after(ticks: int) -> float:
    """Speed of a car so many ticks of full throttle from rest."""
    return POWER / DRAG * (1 - (1 - DRAG) ** ticks)


def _straight_ahead(trace: Trace) -> Bool[np.ndarray, " batch"]:
    heading = trace.field("player", "rotation")[:, 0]
    return np.abs(angle(course(trace, 0, -1), heading)) < 0.04


def _slows(trace: Trace) -> Bool[np.ndarray, " batch"]:
    first, last = driven(trace, "player", slice(0, 10)), driven(trace, "player", slice(20, 30))
    return (last < 0.93 * first) & (last > 0.4 * first)


def _backs_up(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The last steps go backwards, slowly."""
    heading = 2 * np.pi * trace.field("player", "rotation")[:, -1]
    dx = trace.x("player")[:, 30] - trace.x("player")[:, 22]
    dy = trace.y("player")[:, 30] - trace.y("player")[:, 22]
    ahead = dx * np.sin(heading) - dy * np.cos(heading)
    return (ahead < -0.002) & (ahead > -0.03)


def _bends_right(trace: Trace) -> Bool[np.ndarray, " batch"]:
    bend = angle(course(trace, 14, 20), course(trace, 0, 6))
    return (bend > 0.05) & (bend < 0.25)


def _tyres_hold(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """After the bend it goes where it points."""
    heading = trace.field("player", "rotation")[:, -1]
    return np.abs(angle(course(trace, -9, -1), heading)) < 0.06


def _says_grass(trace: Trace) -> Bool[np.ndarray, " batch"]:
    off = trace.field("player", "tagged")
    return (off[:, 1] < 0.5) & (off[:, 16:] > 0.5).all(1)


def _rolls_back(trace: Trace) -> Bool[np.ndarray, " batch"]:
    y = trace.y("player")
    return y[:, -1] - y.min(1) > 0.01


def _next_gate(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The gate ends at the checkpoint after the one it began at."""
    index = trace.field("gate", "piece_type")
    following = np.round(index[:, 0]).astype(int) + 1
    places = np.array([track(k)[0] for k in range(NUM_GATES)])[following % NUM_GATES]
    off = np.hypot(trace.x("gate")[:, -1] - places[:, 0], trace.y("gate")[:, -1] - places[:, 1])
    return (off < 0.02) & (np.abs(index[:, -1] - index[:, 0] - 1) < 0.4)


def _lap_counted(trace: Trace) -> Bool[np.ndarray, " batch"]:
    laps = trace.field("player", "tagged_count")
    gain = laps - laps[:, :1]
    return (np.abs(gain[:, -1] - 1) < 0.4) & (gain < 1.4).all(1) & (gain > -0.4).all(1)


def _laps_start_anew(trace: Trace) -> Bool[np.ndarray, " batch"]:
    laps = trace.field("player", "tagged_count")
    return (laps[:, 0] > 1.5) & (np.abs(laps[:, -8:]) < 0.4).all(1)


def _keep_apart(trace: Trace) -> Bool[np.ndarray, " batch"]:
    dx, dy = trace.x("player") - trace.x("rival_1"), trace.y("player") - trace.y("rival_1")
    return (np.hypot(dx, dy) > 2 * CAR_RADIUS - 0.012).all(1)


def _rivals_on_track(trace: Trace) -> Bool[np.ndarray, " batch"]:
    off = np.stack([off_line(trace, f"rival_{k}") for k in (1, 2, 3)])
    return np.all(np.abs(off) < TRACK_HALF_WIDTH + ROUGH, axis=(0, 2))


def _rivals_go_around(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """All go clockwise around the middle."""
    came = []
    for slot in ("rival_1", "rival_2", "rival_3"):
        t = np.arctan2(trace.y(slot) - 0.5, trace.x(slot) - 0.5) / (2 * np.pi)
        came.append(angle(t[:, -1], t[:, 0]))
    return np.all(np.array(came) > 0.1, axis=0)


def _spins(trace: Trace) -> Trace:
    """The player's heading turns at full rate."""
    states = trace.states.copy()
    column = 3 + trace.manifest.profile.game_fields.index("rotation")
    turns = TURN_RATE * np.arange(states.shape[1], dtype=states.dtype)
    states[:, :, trace.slot("player"), column] += turns
    return trace.with_states(states)


SPINS = Change("the heading turns", edit=_spins)


PAYS_NOTHING = Predicate(
    "pays_nothing",
    "No points.",
    keeps("score", 0.4),
    catches=given("score", racer.GATE_POINTS),
    survives=SLOWER_RIVALS,
)
SAME_GATE = Predicate(
    "same_gate",
    "The next checkpoint stays the same.",
    stays("gate", 0.02),
    catches=shifted("gate", 0.1, 0.1),
    survives=trembling(),
)

SCENARIOS = (
    Scenario(
        name="full_throttle",
        summary="From rest, full throttle gains speed along the heading.",
        script="coast*7,gas*40",
        twin="coast*47",
        reacts="player",
        horizon=40,
        set_up=_at_rest,
        predicates=(
            Predicate(
                "gains_speed",
                "Forty steps drive as far as power and drag say.",
                drives(0.1, 0.145),
                catches=Change("half the power", {"power": 0.5 * POWER}),
                survives=SLIPPERIER,
            ),
            Predicate(
                "says_its_speed",
                "The speed grows to that of forty ticks.",
                gains("speed", _speed_after(40), 0.001),
                catches=counted("speed", 0.5),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "straight_ahead",
                "It goes where the car points.",
                _straight_ahead,
                catches=adrift("player", 0.001),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="coast",
        summary="Without throttle drag takes a share of the speed each tick.",
        script="coast*7,coast*30",
        twin="coast*7,gas*30",
        reacts="player",
        horizon=30,
        set_up=_at_speed,
        predicates=(
            Predicate(
                "rolls",
                "Thirty steps roll as far as the drag says.",
                drives(0.12, 0.185),
                catches=Change("three times the drag", {"drag": 3 * DRAG}),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "slows",
                "The last third is shorter than the first.",
                _slows,
                catches=straight_on("player"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="brake",
        summary="Brakes stop the car, then drive it backwards slowly.",
        script="coast*7,brake*30",
        twin="coast*7,gas*30",
        reacts="player",
        horizon=30,
        set_up=_at_speed,
        predicates=(
            Predicate(
                "stops",
                "It stops within a short way.",
                drives(0.035, 0.09, slice(0, 20)),
                catches=Change("a tenth of the brakes", {"braking": 0.1 * BRAKING}),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "backs_up",
                "The last steps go backwards, slowly.",
                _backs_up,
                catches=straight_on("player", 15),
                survives=SLIPPERIER,
            ),
        ),
    ),
    Scenario(
        name="steer",
        summary="Steering turns the heading at an even rate, and the tyres turn the way with it.",
        script="coast*7,gas_right*20,gas*15",
        twin="coast*7,gas_left*20,gas*15",
        reacts="player",
        horizon=35,
        set_up=_before_the_bend,
        predicates=(
            Predicate(
                "turns",
                "Twenty steps turn by twenty times the turn rate.",
                turns(20 * TURN_RATE, 0.04, slice(0, 20)),
                catches=Change("half the turn rate", {"turn_rate": 0.5 * TURN_RATE}),
                survives=SLIPPERIER,
            ),
            Predicate(
                "way_bends",
                "The way bends to the right.",
                _bends_right,
                catches=straight_on("player"),
                survives=trembling(),
            ),
            Predicate(
                "tyres_hold",
                "Out of the bend the car goes where it points.",
                _tyres_hold,
                catches=Change("hardly any grip", {"grip": 0.05 * GRIP}),
                survives=SLOWER_RIVALS,
            ),
        ),
    ),
    Scenario(
        name="steer_at_rest",
        summary="A car at rest does not turn.",
        script="coast*7,right*20",
        twin="coast*7,gas_right*20",
        reacts="player",
        horizon=20,
        set_up=_at_rest,
        predicates=(
            Predicate(
                "keeps_heading",
                "Its heading stays.",
                turns(0.0, 0.03),
                catches=SPINS,
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "stands",
                "It stays in its place.",
                stays("player"),
                catches=adrift("player", 0.001, 0.001),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="onto_the_grass",
        summary="Off the asphalt the car is marked, and drag is more than threefold.",
        script="gas*7,gas*35",
        twin="gas*7,brake*35",
        reacts="player",
        horizon=35,
        set_up=_towards_the_grass,
        predicates=(
            Predicate(
                "marked",
                "The mark turns from 0 to 1 at the asphalt's edge.",
                _says_grass,
                catches=frozen("player"),
                survives=SLIPPERIER,
            ),
            Predicate(
                "slowed",
                "On the grass it goes half as far.",
                drives(0.05, 0.12, slice(15, 35)),
                catches=Change("grass drags as asphalt", {"grass_drag": 0.0}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="roll_on_grass",
        summary="Grass stops a car that rolls on it.",
        script="coast*7,coast*25",
        twin="coast*7,gas*25",
        reacts="player",
        horizon=25,
        set_up=_on_the_infield,
        predicates=(
            Predicate(
                "short_roll",
                "It rolls a short way.",
                drives(0.04, 0.075),
                catches=Change("grass drags as asphalt", {"grass_drag": 0.0}),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "comes_to_rest",
                "At the end it hardly moves.",
                drives(-0.01, 0.015, slice(20, 25)),
                catches=straight_on("player", 3),
                survives=SLIPPERIER,
            ),
        ),
    ),
    Scenario(
        name="fence",
        summary="The fence around the screen throws a car back.",
        script="gas*7,coast*40",
        twin="gas*7,brake*40",
        reacts="player",
        horizon=40,
        set_up=_towards_the_fence,
        predicates=(
            Predicate(
                "inside",
                "The car stays within the fence.",
                lambda trace: (trace.y("player") > CAR_RADIUS - ROUGH).all(1),
                catches=straight_on("player"),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "rolls_back",
                "It rolls back from the fence.",
                _rolls_back,
                catches=Change("the fence takes all speed", {"restitution": 0.0}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="oil",
        summary="On oil the car hardly turns; beyond it steers again.",
        script="gas*7,gas_right*22",
        twin="gas*7,gas*22",
        reacts="player",
        horizon=22,
        set_up=_before_the_oil,
        predicates=(
            Predicate(
                "hardly_turns",
                "Eight steps on oil turn hardly at all.",
                turns(0.0, 0.035, slice(0, 8)),
                catches=Change("oil grips as asphalt", {"oil_grip": 1.0}),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "steers_again",
                "Beyond it the wheels turn the car.",
                turns(8 * TURN_RATE, 0.03, slice(14, 22)),
                catches=Change("a third of the turn rate", {"turn_rate": TURN_RATE / 3}),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="gate",
        summary="The next checkpoint pays a point, once, and the one after it is next.",
        script="gas*7,gas*26",
        twin="gas*7,brake*26",
        reacts="score",
        horizon=26,
        set_up=_before_the_gate,
        predicates=(
            Predicate(
                "pays_once",
                "One point, once.",
                gains("score", racer.GATE_POINTS),
                catches=counted("score", 2),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "next_gate",
                "The gate moves on to the next checkpoint.",
                _next_gate,
                catches=frozen("gate"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="wrong_way",
        summary="Passed the wrong way, a checkpoint counts nothing.",
        script="gas*7,gas*24",
        twin="gas*7,brake*24",
        reacts="player",
        horizon=24,
        set_up=_wrong_way,
        predicates=(
            Predicate(
                "drives_past",
                "The car drives on past it.",
                drives(0.12, 0.25),
                catches=frozen("player"),
                survives=LESS_POWER,
            ),
            PAYS_NOTHING,
            SAME_GATE,
        ),
    ),
    Scenario(
        name="shortcut",
        summary="Passed far from the asphalt, a checkpoint counts nothing.",
        script="gas*7,gas*25",
        twin="gas*7,brake*25",
        reacts="player",
        horizon=25,
        set_up=_across_the_infield,
        predicates=(
            Predicate(
                "drives_past",
                "The car drives on past it.",
                drives(0.04, 0.12),
                catches=frozen("player"),
                survives=LESS_POWER,
            ),
            PAYS_NOTHING,
            SAME_GATE,
        ),
    ),
    Scenario(
        name="lap",
        summary="The start line counts a lap, once.",
        script="gas*7,gas*26",
        twin="gas*7,brake*26",
        reacts="score",
        horizon=26,
        set_up=_before_the_line,
        predicates=(
            Predicate(
                "lap_counted",
                "One lap more, once.",
                _lap_counted,
                catches=field_counted("player", "tagged_count", 2),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "pays_once",
                "It is a checkpoint like the others.",
                gains("score", racer.GATE_POINTS),
                catches=counted("score", 0),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="bump",
        summary="A faster car pushes the slower one in front, and passes through nothing.",
        script="gas*7,gas*22",
        twin="gas*7,brake*22",
        reacts="rival_1",
        horizon=22,
        set_up=_behind_a_slow_rival,
        predicates=(
            Predicate(
                "keep_apart",
                "The two never overlap.",
                _keep_apart,
                catches=Change("cars are ghosts", {"cars_solid": 0.0}),
                survives=trembling(),
            ),
            Predicate(
                "thrown_back",
                "The faster one loses speed.",
                drives(0.08, 0.16, slice(2, 22)),
                catches=straight_on("player"),
                survives=SLIPPERIER,
            ),
        ),
    ),
    Scenario(
        name="rivals_follow_the_track",
        summary="Rivals follow the bends of the track, clockwise.",
        script="coast*7,gas*60",
        twin="coast*7,coast*60",
        reacts="player",
        horizon=60,
        set_up=_at_rest,
        predicates=(
            Predicate(
                "on_the_asphalt",
                "They stay on it.",
                _rivals_on_track,
                catches=straight_on("rival_1"),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "around",
                "All three come on.",
                _rivals_go_around,
                catches=frozen("rival_3"),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="pass_a_rival",
        summary="To pass a rival for the first time pays three points.",
        script="coast*7,gas*40",
        twin="coast*7,coast*40",
        reacts="score",
        horizon=40,
        set_up=_past_a_rival_at_rest,
        parameters={"rival_power": 0.0},
        predicates=(
            Predicate(
                "pays_once",
                "Three points, once.",
                gains("score", racer.OVERTAKE_POINTS),
                catches=counted("score", 2),
                survives=LESS_POWER,
            ),
            Predicate(
                "one_fewer_ahead",
                "One rival fewer is ahead.",
                gains("opponent_score", -1),
                catches=counted("opponent_score", 0),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="pass_it_again",
        summary="To pass a rival again, after falling back behind it, pays nothing.",
        script="brake*7,gas*45",
        twin="brake*7,brake*45",
        reacts="opponent_score",
        horizon=45,
        set_up=_back_behind_a_rival,
        parameters={"rival_power": 0.0},
        needs_memory=True,
        predicates=(
            Predicate(
                "pays_nothing",
                "No points: it was passed before.",
                keeps("score", 0.9),
                catches=given("score", racer.OVERTAKE_POINTS, 25),
                survives=LESS_POWER,
            ),
            Predicate(
                "one_fewer_ahead",
                "One rival fewer is ahead at the end.",
                gains("opponent_score", -1),
                catches=counted("opponent_score", 0),
                survives=trembling(),
            ),
        ),
    ),
    Scenario(
        name="start_lights",
        summary="Nobody drives before the lights go out; then all do.",
        script="gas*7,gas*40",
        twin="gas*7,coast*40",
        reacts="player",
        horizon=40,
        set_up=_on_the_grid,
        predicates=(
            Predicate(
                "no_false_start",
                "Until then no car moves.",
                both(
                    drives(-0.01, 0.015, slice(0, 8)), drives(-0.01, 0.015, slice(0, 8), "rival_1")
                ),
                catches=adrift("player", 0.0, -0.004),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "off_they_go",
                "Then the player drives as hard as he can.",
                drives(0.04, 0.1, slice(8, 40)),
                catches=frozen("player"),
                survives=trembling(),
            ),
            Predicate(
                "rivals_too",
                "And so do the rivals.",
                both(*(drives(0.02, 0.1, slice(8, 40), f"rival_{k}") for k in (1, 2, 3))),
                catches=frozen("rival_2"),
                survives=SLIPPERIER,
            ),
        ),
    ),
    Scenario(
        name="finish_first",
        summary="The first across the line of the last lap wins 20 points and the next race.",
        script="gas*7,gas*26",
        twin="gas*7,brake*26",
        reacts="level",
        horizon=26,
        set_up=_before_the_finish,
        predicates=(
            Predicate(
                "pays_once",
                "The checkpoint and the finish, once.",
                gains("score", racer.GATE_POINTS + racer.FINISH_POINTS[0], 3.0),
                catches=counted("score", 2),
                survives=SLOWER_RIVALS,
            ),
            Predicate(
                "next_race",
                "The next race is on.",
                gains("level", 1),
                catches=counted("level", 0),
                survives=trembling(),
            ),
            Predicate(
                "on_the_grid",
                "The player is on the grid of the next circuit.",
                at("player", SECOND[HEAD : HEAD + 2], 16),
                catches=straight_on("player"),
                survives=trembling(),
            ),
            Predicate(
                "laps_anew",
                "His laps count from nothing.",
                _laps_start_anew,
                catches=frozen("player"),
                survives=SLOWER_RIVALS,
            ),
        ),
    ),
    Scenario(
        name="race_lost",
        summary="The second rival home ends the race for the rest, at the cost of a life.",
        script="gas*7,gas*24",
        twin="gas*7,brake*24",
        reacts="player",
        horizon=24,
        set_up=_two_rivals_home,
        predicates=(
            Predicate(
                "one_life",
                "It costs one of the races that may be lost.",
                gains("lives", -1),
                catches=counted("lives", 2),
                survives=SLIPPERIER,
            ),
            Predicate(
                "same_race",
                "The same race starts anew.",
                keeps("level", 0.3),
                catches=given("level", 1.0),
                survives=trembling(),
            ),
            Predicate(
                "on_the_grid",
                "The player is back on the grid.",
                at("player", FIRST[HEAD : HEAD + 2], 16),
                catches=straight_on("player"),
                survives=trembling(),
            ),
        ),
    ),
)
