"""Scenarios of asteroids: flight, shots, rocks, crashes, the saucer and waves, one mechanism each.

A start is empty space with a ship, what the mechanism needs, and one small rock far away that
keeps the wave going. Rotations are in turns, 0 up, clockwise; the rest in screens and ticks.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.fields import ALIVE as TRACE_ALIVE
from cosmolabe.core.fields import X as TRACE_X
from cosmolabe.core.fields import Y as TRACE_Y
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
    straight_on,
    trembling,
    undead,
    vanished,
)
from cosmolabe.engine.angles import sine_cosine
from cosmolabe.engine.game import LIVES, LOST, OVER, PHASE, PLAYING, SCORE, TICK, WON
from cosmolabe.engine.motion import wrap
from cosmolabe.games.asteroids import (
    AGE,
    ALIVE,
    BULLET_LIFE,
    BULLET_SPEED,
    BULLETS_AT,
    COOLDOWN,
    EXTRA_LIFE_EVERY,
    LAST_LEVEL,
    NEXT_SAUCER,
    NUM_LARGE,
    NUM_MEDIUM,
    NUM_ROCKS,
    POINTS,
    RADII,
    ROCK_SPEED,
    ROCKS_AT,
    ROTATION,
    SAUCER_AT,
    SAUCER_GUN,
    SAUCER_POINTS,
    SAUCER_SPEED,
    SAUCER_TURN,
    SAUCER_WAY,
    SHIELD,
    SHIELD_TIME,
    SHIP_AT,
    SHIP_RADIUS,
    SHOT_AT,
    SHOT_SPEED,
    SPEED,
    STANDING,
    TAGGED,
    THRUST,
    TOP_SPEED,
    TURN_RATE,
    VX,
    VY,
    WAIT,
    X,
    Y,
)

Draws = np.random.Generator

LARGE, MEDIUM, SMALL, FAR = 0, NUM_LARGE, NUM_LARGE + NUM_MEDIUM, NUM_ROCKS - 1  # rocks by number
FAR_ROCK = "small_rock_5"
CONTACT = 9  # steps from the last context state until something meets something

LATE = delayed(2)
TREMBLING = trembling()
ELSEWHERE = shifted(FAR_ROCK, 0.1)
NO_ENGINE = Change("the engine is off", {"thrust": 0.0})
NO_DRAG = Change("nothing slows the ship", {"drag": 0.0})
GRAVITY = Change("the ship falls", {"gravity": THRUST})
FAINT_GRAVITY = Change("the ship falls a little", {"gravity": 0.1 * THRUST})
QUICK_TURN = Change("the ship turns twice as fast", {"turn_rate": 2 * TURN_RATE})
SLOW_SHOTS = Change("bullets fly at half speed", {"bullet_speed": 0.5 * BULLET_SPEED})
GHOST_ROCKS = Change("rocks are ghosts", {"rocks_solid": 0.0})
SLOW_FRAGMENTS = Change("fragments are slower", {"rock_speed": 0.5 * ROCK_SPEED})
SLOW_SAUCER = Change("the saucer is slow", {"saucer_speed": 0.2 * SAUCER_SPEED})


# Starts.


def _space(world: np.ndarray, draws: Draws) -> None:
    """A ship at rest anywhere, nose anywhere, one small rock as far away as can be."""
    world[SAUCER_AT + ALIVE], world[NEXT_SAUCER] = 0.0, 2000.0
    for k in range(NUM_ROCKS):
        at = ROCKS_AT + 5 * k
        world[at + X : at + VY + 1] = (0.5, 0.5, 0.0, 0.0, 0.0)
    world[STANDING] = 0.0
    world[TICK], world[PHASE] = draws.integers(0, 500), PLAYING
    world[SHIELD], world[TAGGED] = 0.0, 0.0
    world[SHIP_AT + X], world[SHIP_AT + Y] = draws.uniform(size=2)
    world[ROTATION] = draws.uniform()
    place = world[SHIP_AT + X] + 0.5, world[SHIP_AT + Y] + 0.5
    _rock(world, FAR, place, draws.uniform(), 0.001)


def _rock(
    world: np.ndarray, k: int, place: tuple[float, float], course: float, speed: float
) -> None:
    """Rock number k on its way."""
    at = ROCKS_AT + 5 * k
    s, c = sine_cosine(course)
    world[at + X], world[at + Y] = wrap(place[0]), wrap(place[1])
    world[at + VX], world[at + VY] = speed * s, -speed * c
    world[at + ALIVE] = 1.0
    world[STANDING] += 1.0


def _drifting(world: np.ndarray, course: float, speed: float) -> None:
    """The ship moves on a course, wherever its nose points; the far rock stands aside."""
    s, c = sine_cosine(course)
    world[SHIP_AT + VX], world[SHIP_AT + VY], world[SPEED] = speed * s, -speed * c, speed
    at = ROCKS_AT + 5 * FAR
    world[at + X] = wrap(world[SHIP_AT + X] + 0.5 * c)
    world[at + Y] = wrap(world[SHIP_AT + Y] + 0.5 * s)


def _ahead(world: np.ndarray, far: float, aside: float = 0.0) -> tuple[float, float]:
    """The place so far ahead of the ship's centre, and so far to the right of it."""
    s, c = sine_cosine(world[ROTATION])
    return (
        float(world[SHIP_AT + X] + far * s + aside * c),
        float(world[SHIP_AT + Y] - far * c + aside * s),
    )


def _across(world: np.ndarray, draws: Draws) -> None:
    """Coasting left or right, more or less."""
    _space(world, draws)
    _drifting(world, draws.choice([0.25, 0.75]) + draws.uniform(-0.08, 0.08), 0.012)


def _backwards(world: np.ndarray, draws: Draws) -> None:
    _space(world, draws)
    _drifting(world, world[ROTATION] + 0.5, draws.uniform(0.0055, 0.0065))


def _sideways(world: np.ndarray, draws: Draws) -> None:
    _space(world, draws)
    side = draws.choice([-1.0, 1.0])
    _drifting(world, world[ROTATION] + 0.25 * side, 0.01)
    at = ROCKS_AT + 5 * FAR
    behind = _ahead(world, -0.25, -0.2 * side)  # where the bullet does not go
    world[at + X], world[at + Y] = wrap(behind[0]), wrap(behind[1])


def _fast(world: np.ndarray, draws: Draws) -> None:
    """Nearly at top speed, down and to the right, nose ahead."""
    _space(world, draws)
    world[ROTATION] = draws.uniform(0.29, 0.46)
    _drifting(world, world[ROTATION], 0.98 * TOP_SPEED)


def _to_an_edge(world: np.ndarray, draws: Draws) -> None:
    """One of the four edges is crossed about 10 steps after the last context state."""
    _space(world, draws)
    edge, place = int(draws.integers(4)), draws.uniform(0.3, 0.7)
    far = 0.012 * (LEAD + 10)
    world[SHIP_AT + X] = (place, 1.0 - far, place, far)[edge]
    world[SHIP_AT + Y] = (far, place, 1.0 - far, place)[edge]
    _drifting(world, edge / 4 + draws.uniform(-0.04, 0.04), 0.0125)


def _facing_rock(world: np.ndarray, draws: Draws, k: int, far: float) -> None:
    _space(world, draws)
    _rock(world, k, _ahead(world, far, draws.uniform(-0.01, 0.01)), draws.uniform(), 0.0008)


def _facing_large(world: np.ndarray, draws: Draws) -> None:
    _facing_rock(world, draws, LARGE, 0.25)


def _facing_medium(world: np.ndarray, draws: Draws) -> None:
    _facing_rock(world, draws, MEDIUM, 0.22)


def _facing_small(world: np.ndarray, draws: Draws) -> None:
    _facing_rock(world, draws, SMALL, 0.18)


def _near_an_extra_life(world: np.ndarray, draws: Draws) -> None:
    _facing_small(world, draws)
    world[SCORE] = EXTRA_LIFE_EVERY - draws.choice([20, 50, 90])


def _facing_the_very_last(world: np.ndarray, draws: Draws) -> None:
    _facing_small(world, draws)
    world[ROCKS_AT + 5 * FAR + ALIVE] = 0.0
    world[STANDING] -= 1.0


def _rock_shot_at_once(world: np.ndarray, draws: Draws) -> None:
    """A small rock so near that a bullet fired in the third tick is gone after the fourth."""
    _space(world, draws)
    _rock(world, SMALL, _ahead(world, 0.08), draws.uniform(), 0.0005)


def _rock_comes(world: np.ndarray, draws: Draws) -> None:
    """A large rock that touches the ship CONTACT steps after the last context state."""
    _space(world, draws)
    course, speed = world[ROTATION] + draws.choice([0.25, 0.75]), draws.uniform(0.003, 0.0042)
    s, c = sine_cosine(course)
    far = SHIP_RADIUS + RADII[2] + speed * (LEAD + CONTACT - 0.5)
    place = world[SHIP_AT + X] - far * s, world[SHIP_AT + Y] + far * c
    _rock(world, LARGE, (float(place[0]), float(place[1])), course, speed)


def _last_ship(world: np.ndarray, draws: Draws) -> None:
    _rock_comes(world, draws)
    world[LIVES] = 1


def _shielded(world: np.ndarray, draws: Draws) -> None:
    _rock_comes(world, draws)
    world[SHIELD], world[TAGGED] = draws.integers(60, 100), 1.0


def _shield_runs_out(world: np.ndarray, draws: Draws) -> None:
    """The ship is inside a rock; its shield ends 8 to 11 steps after the last context state."""
    _space(world, draws)
    _rock(world, LARGE, _ahead(world, 0.0, draws.uniform(-0.03, 0.03)), draws.uniform(), 0.001)
    world[SHIELD], world[TAGGED] = LEAD + draws.integers(8, 12), 1.0


def _ship_is_gone(world: np.ndarray, draws: Draws) -> None:
    """The next one comes 8 to 11 steps after the last context state."""
    _space(world, draws)
    rock = ROCKS_AT + 5 * FAR
    world[rock + X], world[rock + Y] = 0.1, 0.1
    world[SHIP_AT + ALIVE], world[LIVES], world[PHASE] = 0.0, 2, LOST
    world[WAIT] = LEAD + draws.integers(8, 12)


def _last_rock_hit_in_the_lead(world: np.ndarray, draws: Draws) -> None:
    """A bullet in the air ends the wave between the first and the fifth tick."""
    _space(world, draws)
    world[SHIP_AT + X], world[SHIP_AT + Y] = 0.5, 0.5
    rock = ROCKS_AT + 5 * FAR
    far = 0.06 + 0.018 * (draws.integers(1, 5) + 0.5)
    world[rock + X], world[rock + Y] = _ahead(world, far)
    world[rock + VX], world[rock + VY] = 0.0, 0.0
    world[BULLETS_AT + X], world[BULLETS_AT + Y] = _ahead(world, 0.038)
    s, c = sine_cosine(world[ROTATION])
    world[BULLETS_AT + VX], world[BULLETS_AT + VY] = BULLET_SPEED * s, -BULLET_SPEED * c
    world[BULLETS_AT + ALIVE], world[BULLETS_AT + AGE], world[COOLDOWN] = 1.0, 1.0, 9.0


def _saucer(world: np.ndarray, place: tuple[float, float], way: float) -> None:
    """A saucer that flies left or right and will neither turn nor shoot for long."""
    at = SAUCER_AT
    world[at + X], world[at + Y], world[at + ALIVE] = wrap(place[0]), wrap(place[1]), 1.0
    world[at + VX], world[at + VY] = way * SAUCER_SPEED, 0.0
    world[SAUCER_WAY], world[SAUCER_TURN], world[SAUCER_GUN] = 0.3, 58.0, 58.0


def _saucer_ahead(world: np.ndarray, draws: Draws) -> None:
    """It crosses before the nose, which points up or down, as the bullet gets there."""
    _space(world, draws)
    world[ROTATION] = draws.choice([0.0, 0.5])
    way, (x, y) = draws.choice([-1.0, 1.0]), _ahead(world, 0.2)
    _saucer(world, (x - way * SAUCER_SPEED * (LEAD + CONTACT), y), way)


def _saucer_about_to_leave(world: np.ndarray, draws: Draws) -> None:
    _space(world, draws)
    way = draws.choice([-1.0, 1.0])
    ticks = LEAD + int(draws.integers(8, 12)) - 0.5
    _saucer(world, (-way * SAUCER_SPEED * ticks, world[SHIP_AT + Y] + 0.3), way)
    world[SAUCER_WAY] = 1.0 - SAUCER_SPEED * ticks


def _saucer_shot_comes(world: np.ndarray, draws: Draws) -> None:
    """From the side; it meets the ship about CONTACT steps after the last context state."""
    _space(world, draws)
    course = world[ROTATION] + draws.choice([0.25, 0.75])
    s, c = sine_cosine(course)
    far = SHIP_RADIUS + SHOT_SPEED * (LEAD + CONTACT - 0.5)
    world[SHOT_AT + X] = wrap(world[SHIP_AT + X] - far * s)
    world[SHOT_AT + Y] = wrap(world[SHIP_AT + Y] + far * c)
    world[SHOT_AT + VX], world[SHOT_AT + VY] = SHOT_SPEED * s, -SHOT_SPEED * c
    world[SHOT_AT + ALIVE], world[SHOT_AT + AGE] = 1.0, 10.0


def _rocks_fly(world: np.ndarray, draws: Draws) -> None:
    """A rock of each size crosses the right or the left edge, well above or below the ship."""
    _space(world, draws)
    world[SHIP_AT + X], world[SHIP_AT + Y] = 0.5, 0.5
    far = ROCKS_AT + 5 * FAR
    world[far + X], world[far + Y] = 0.5, 0.9
    for k, y in zip((LARGE, MEDIUM, SMALL), (0.15, 0.3, 0.75), strict=True):
        way, speed = draws.choice([-1.0, 1.0]), draws.uniform(0.003, 0.006)
        start = (1.0 if way > 0 else 0.0) - way * speed * (LEAD + 15)
        _rock(world, k, (start, y), way * 0.25 + draws.uniform(-0.02, 0.02), speed)


# Rules and changes of asteroids alone.


def _way(trace: Trace, slot: str, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Way since step `start`: x and y of every later step, (batch, move)."""
    return (
        np.cumsum(trace.dx(slot)[:, start:], axis=1),
        np.cumsum(trace.dy(slot)[:, start:], axis=1),
    )


def _by_the_nose(trace: Trace, slot: str, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The same way along the ship's first heading, and to the right of it."""
    angle = 2 * np.pi * trace.field("ship", "rotation")[:, :1]
    s, c = np.sin(angle), np.cos(angle)
    x, y = _way(trace, slot, start)
    return s * x - c * y, c * x + s * y


def _flies_straight(*slots: str, least: float = 0.02) -> Rule:
    """All of its way lies near the line from first to last place, which is some way."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        held = np.ones(len(trace), bool)
        for slot in slots:
            x, y = _way(trace, slot)
            far = np.hypot(x[:, -1:], y[:, -1:])
            off = np.abs(x * y[:, -1:] - y * x[:, -1:]) / np.maximum(far, 1e-6)
            held &= np.all(off < 0.015, axis=1) & (far[:, 0] > least)
        return held

    return holds


def _even(*slots: str) -> Rule:
    """It goes as far in the second half as in the first."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        held = np.ones(len(trace), bool)
        for slot in slots:
            x, y = _way(trace, slot)
            half = x.shape[1] // 2
            held &= np.abs(x[:, -1] - 2 * x[:, half - 1]) < 0.02
            held &= np.abs(y[:, -1] - 2 * y[:, half - 1]) < 0.02
        return held

    return holds


def _pace(trace: Trace) -> np.ndarray:
    """How far the ship goes in each ten steps, (batch, start)."""
    x, y = _way(trace, "ship")
    return np.hypot(x[:, 10:] - x[:, :-10], y[:, 10:] - y[:, :-10])


def _slows_a_little(trace: Trace) -> Bool[np.ndarray, " batch"]:
    ratio = _pace(trace)[:, -1] / _pace(trace)[:, 0]
    return (ratio > 0.6) & (ratio < 0.93)


def _speeds_up(trace: Trace) -> Bool[np.ndarray, " batch"]:
    return _pace(trace)[:, -1] > 3 * _pace(trace)[:, 0]


def _at_top_speed(trace: Trace) -> Bool[np.ndarray, " batch"]:
    pace = _pace(trace)
    return np.all((pace > 8 * TOP_SPEED) & (pace < 10 * TOP_SPEED + 0.012), axis=1)


def _goes_ahead(slot: str, least: float, most: float, start: int = 0, steps: int = -1) -> Rule:
    """So many steps after `start` it is ahead by least..most, and little aside."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        along, aside = (way[:, steps] for way in _by_the_nose(trace, slot, start))
        return (along > least) & (along < most) & (np.abs(aside) < 0.025)

    return holds


def _turns_round(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """First it goes on backwards, in the end ahead."""
    along, _ = _by_the_nose(trace, "ship")
    return (along[:, 9] < -0.02) & (along[:, -1] - along[:, -11] > 0.02)


def _turned(turns: float) -> Rule:
    """The heading at the end, against that at first."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        gone = trace.field("ship", "rotation")[:, -1] - trace.field("ship", "rotation")[:, 0]
        off = gone - turns
        return np.abs(off - np.round(off)) < 0.06

    return holds


def _crosses_an_edge(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """It jumps from edge to edge once, and its places stay on the screen."""
    x, y = trace.x("ship"), trace.y("ship")
    jumps = (np.abs(np.diff(x, axis=1)) > 0.5) | (np.abs(np.diff(y, axis=1)) > 0.5)
    on = (x > -0.02) & (x < 1.02) & (y > -0.02) & (y < 1.02)
    return (jumps.sum(1) >= 1) & np.all(on, axis=1)


def _from_the_nose(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """The bullet's first places are a little ahead of the ship."""
    first = np.argmax(trace.alive("bullet_0"), axis=1)
    rows = np.arange(len(trace))
    gap_x = trace.x("bullet_0")[rows, first] - trace.x("ship")[rows, first]
    gap_y = trace.y("bullet_0")[rows, first] - trace.y("ship")[rows, first]
    far = np.hypot(gap_x - np.round(gap_x), gap_y - np.round(gap_y))
    return (far > SHIP_RADIUS - 0.015) & (far < SHIP_RADIUS + BULLET_SPEED + 0.03)


def _abreast(trace: Trace) -> Bool[np.ndarray, " batch"]:
    """From step 4 to 18 the bullet gains on the ship ahead, but not aside."""
    bullet, ship = _by_the_nose(trace, "bullet_0", 4), _by_the_nose(trace, "ship", 4)
    along, aside = (b[:, 13] - s[:, 13] for b, s in zip(bullet, ship, strict=True))
    return (np.abs(aside) < 0.03) & (along > 0.15)


def _alive_in(slot: str, first: int, last: int, gone: int) -> Rule:
    """It lives in steps first..last, and is dead from `gone` on."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        alive = trace.alive(slot)
        return np.all(alive[:, first : last + 1], axis=1) & ~np.any(alive[:, gone:], axis=1)

    return holds


def _ages(trace: Trace) -> Bool[np.ndarray, " batch"]:
    age = trace.field("bullet_0", "age")
    return (np.abs(age[:, 10] - 10 / BULLET_LIFE) < 0.15) & (
        np.abs(age[:, 25] - 25 / BULLET_LIFE) < 0.15
    )


def _bullets(trace: Trace) -> np.ndarray:
    """Bullets of the ship in the air, a number a step."""
    return np.sum([trace.alive(f"bullet_{k}") for k in range(4)], axis=0)


def _one_two_three(trace: Trace) -> Bool[np.ndarray, " batch"]:
    count = _bullets(trace)
    return (count[:, 8] == 1) & (count[:, 19] == 2) & (count[:, 29] == 3)


def _all_dead(*slots: str, last: int | None = None) -> Rule:
    """None lives, up to a step or to the end."""
    return lambda trace: np.all(
        trace.states[:, :last, [trace.slot(slot) for slot in slots], TRACE_ALIVE] < 0.5, axis=(1, 2)
    )


def _near_the_place_of(rock: str, *fragments: str) -> Rule:
    """At the end the fragments are not far from where the rock was at first."""

    def holds(trace: Trace) -> Bool[np.ndarray, " batch"]:
        first = trace.states[:, 0, trace.slot(rock)][:, [TRACE_X, TRACE_Y]]
        last = trace.states[:, -1, [trace.slot(slot) for slot in fragments]]
        gap = last[..., [TRACE_X, TRACE_Y]] - first[:, None]
        return np.all(np.hypot(*np.moveaxis(gap - np.round(gap), -1, 0)) < 0.2, axis=1)

    return holds


def _at(slot: str, x: float, y: float) -> Rule:
    """It is at a place at the last step."""
    return lambda trace: (
        (np.abs(trace.x(slot)[:, -1] - x) < 0.02) & (np.abs(trace.y(slot)[:, -1] - y) < 0.02)
    )


def _field(slot: str, name: str, value: float, start: int) -> Rule:
    """A field is about that from a step on."""
    return lambda trace: np.all(np.abs(trace.field(slot, name)[:, start:] - value) < 0.4, axis=1)


def _change(name: str, edit: Callable[[np.ndarray, Trace], None]) -> Change:
    """A change of a copy of the states, in place."""

    def edited(trace: Trace) -> Trace:
        states = trace.states.copy()
        edit(states, trace)
        return trace.with_states(states)

    return Change(name, edit=edited)


def _walled(states: np.ndarray, trace: Trace) -> None:
    """The ship comes to rest at the edge."""
    for column, moves in ((TRACE_X, trace.dx("ship")), (TRACE_Y, trace.dy("ship"))):
        way = states[:, :1, 0, column] + np.cumsum(moves, axis=1)
        states[:, 1:, 0, column] = np.clip(way, 0.01, 0.99)


def _steered(states: np.ndarray, trace: Trace) -> None:
    """The ship goes where its nose points."""
    angle = 2 * np.pi * trace.field("ship", "rotation")[:, 1:]
    pace = np.hypot(trace.dx("ship"), trace.dy("ship"))
    states[:, 1:, 0, TRACE_X] = states[:, :1, 0, TRACE_X] + np.cumsum(pace * np.sin(angle), 1)
    states[:, 1:, 0, TRACE_Y] = states[:, :1, 0, TRACE_Y] - np.cumsum(pace * np.cos(angle), 1)


def _gliding(states: np.ndarray, trace: Trace) -> None:
    """The ship makes the same way at an even speed."""
    share = np.linspace(0, 1, states.shape[1])
    for column, way in zip((TRACE_X, TRACE_Y), _way(trace, "ship"), strict=True):
        states[:, :, 0, column] = states[:, :1, 0, column] + way[:, -1:] * share


def _unmoved_gun(states: np.ndarray, trace: Trace) -> None:
    """The bullet has nothing of the ship's motion."""
    slot = trace.slot("bullet_0")
    for column, way in zip((TRACE_X, TRACE_Y), _way(trace, "ship"), strict=True):
        states[:, 1:, slot, column] -= way


def _resting(states: np.ndarray, trace: Trace) -> None:
    """The medium rock comes to rest half-way."""
    slot, half = trace.slot("medium_rock_0"), states.shape[1] // 2
    states[:, half:, slot] = states[:, half, None, slot]


def _hurried(states: np.ndarray, trace: Trace) -> None:
    """The bullet comes five steps early."""
    slot = trace.slot("bullet_0")
    states[:, 1:-5, slot] = trace.states[:, 6:, slot]


def _unchanged(slot: str, name: str) -> Change:
    """A field of one slot stays as it was."""

    def edit(states: np.ndarray, trace: Trace) -> None:
        column = TRACE_ALIVE + 1 + trace.manifest.profile.game_fields.index(name)
        states[:, :, trace.slot(slot), column] = states[:, :1, trace.slot(slot), column]

    return _change(f"`{name}` of the {slot} never changes", edit)


WALLED = _change("the ship stops at the edge", _walled)
STEERED = _change("the ship goes where its nose points", _steered)
GLIDING = _change("the ship goes at an even speed", _gliding)
UNMOVED_GUN = _change("bullets do not get the ship's motion", _unmoved_gun)
RESTING = _change("a rock comes to rest", _resting)
HURRIED = _change("the bullet comes five steps early", _hurried)


def _broken(rock: str, points: float, fragments: tuple[str, ...]) -> tuple[Predicate, ...]:
    """What a bullet does to a rock that breaks in two."""
    size = fragments[0].split("_")[0]
    return (
        Predicate("rock_goes", "The rock goes once and stays away.",
                  dies_once(rock, 4, 14), risen(rock), LATE),
        Predicate("two_fragments", "Two rocks of the next size come once.",
                  both(*(born_once(fragment, 4, 14) for fragment in fragments)),
                  vanished(fragments[1], 12), LATE),
        Predicate("no_third", "No third one comes.",
                  _all_dead(f"{size}_rock_2", f"{size}_rock_3"), undead(f"{size}_rock_2"),
                  SLOW_FRAGMENTS),
        Predicate("from_its_place", "They come from where the rock was.",
                  _near_the_place_of(rock, *fragments), shifted(fragments[0], 0.4),
                  SLOW_FRAGMENTS),
        Predicate("points_once", "Its points are given once.",
                  gains("score", points), counted("score", 2), LATE),
        Predicate("bullet_spent", "The bullet is gone with it.",
                  _alive_in("bullet_0", 3, 5, 14), undead("bullet_0"), LATE),
    )  # fmt: skip


SCENARIOS = (
    Scenario(
        "coast", "A ship left alone goes straight on and slows a little.",
        "stay*7,stay", "stay*7,thrust", "ship", 40,
        (
            Predicate("straight", "Its way is a straight line.",
                      _flies_straight("ship", least=0.2), GRAVITY, ELSEWHERE),
            Predicate("slows", "Drag takes a fifth of its speed.",
                      _slows_a_little, NO_DRAG, TREMBLING),
            Predicate("lives", "It lives.", lives("ship"), vanished("ship", 20), NO_DRAG),
        ), _across,
    ),
    Scenario(
        "thrust", "The engine drives the ship where its nose points, faster and faster.",
        "stay*7,thrust", "stay*7,stay", "ship", 40,
        (
            Predicate("ahead", "The ship goes ahead, not aside.",
                      _goes_ahead("ship", 0.15, 0.28), NO_ENGINE, LATE),
            Predicate("speeds_up", "It is much faster at the end.",
                      _speeds_up, GLIDING, NO_DRAG),
            Predicate("burns", "The engine is seen to burn.",
                      _field("ship", "piece_type", 1, 3), _unchanged("ship", "piece_type"), LATE),
        ), _space,
    ),
    Scenario(
        "brake", "The engine slows a ship that flies backwards, and turns its motion round.",
        "stay*7,thrust", "stay*7,stay", "ship", 40,
        (
            Predicate("turns_round", "It goes backwards at first and ahead in the end.",
                      _turns_round, NO_ENGINE, LATE),
            Predicate("lives", "It lives.", lives("ship"), vanished("ship", 20), NO_DRAG),
        ), _backwards,
    ),
    Scenario(
        "top_speed", "No engine drives the ship faster than its top speed.",
        "stay*7,thrust", "stay*7,thrust_left", "ship", 30,
        (
            Predicate("limit", "It goes at top speed, never faster.",
                      _at_top_speed, adrift("ship", 0.003, 0.003), TREMBLING),
            Predicate("ahead", "It goes ahead, not aside.",
                      _goes_ahead("ship", 0.4, 0.5), adrift("ship", 0.003, -0.003), LATE),
        ), _fast,
    ),
    Scenario(
        "turn", "A key turns the ship on the spot.",
        "stay*7,right", "stay*7,thrust_right", "ship", 24,
        (
            Predicate("turns", "It turns clockwise by a quarter and a bit.",
                      _turned(24 * TURN_RATE), QUICK_TURN, LATE),
            Predicate("stays", "It stays where it is.", stays("ship"), GRAVITY, QUICK_TURN),
        ), _space,
    ),
    Scenario(
        "turn_in_flight", "Turning does not bend the flight.",
        "stay*7,right", "stay*7,thrust_right", "ship", 30,
        (
            Predicate("straight", "Its way is a straight line.",
                      _flies_straight("ship", least=0.2), STEERED, QUICK_TURN),
            Predicate("turns", "It turns clockwise by a third.",
                      _turned(30 * TURN_RATE), _unchanged("ship", "rotation"), NO_DRAG),
        ), _across,
    ),
    Scenario(
        "edge", "What leaves one edge enters at the opposite one.",
        "stay*7,stay", "stay*7,thrust_left", "ship", 24,
        (
            Predicate("crosses", "The ship is on the other side, and always on the screen.",
                      _crosses_an_edge, WALLED, LATE),
            Predicate("no_jump", "Across the edge its way is a straight line.",
                      _flies_straight("ship", least=0.2), WALLED, LATE),
            Predicate("on_the_screen", "Its places stay on the screen.",
                      _crosses_an_edge, straight_on("ship"), TREMBLING),
        ), _to_an_edge,
    ),
    Scenario(
        "shot", "A shot leaves the nose and flies straight ahead.",
        "stay*7,fire,stay", "stay*7,stay", "bullet_0", 24,
        (
            Predicate("born", "One bullet comes and stays in the air.",
                      both(born_once("bullet_0", 1, 5), _all_dead("bullet_1")),
                      vanished("bullet_0", 10), LATE),
            Predicate("from_the_nose", "It comes from just ahead of the ship.",
                      _from_the_nose, shifted("bullet_0", 0.1, 0.1), FAINT_GRAVITY),
            Predicate("ahead", "It flies where the nose points, at a bullet's speed.",
                      _goes_ahead("bullet_0", 0.24, 0.33, 5, 16), SLOW_SHOTS, FAINT_GRAVITY),
        ), _space,
    ),
    Scenario(
        "shot_ends", "A bullet is gone after half a second.",
        "stay*7,fire,stay", "stay*7,stay", "bullet_0", 44,
        (
            Predicate("ends", "It lives half a second and is then gone.",
                      _alive_in("bullet_0", 5, 28, 38), undead("bullet_0"), LATE),
            Predicate("ages", "Its age says so meanwhile.",
                      _ages, _unchanged("bullet_0", "age"), LATE),
        ), _space,
    ),
    Scenario(
        "shot_in_flight", "A bullet has the ship's own motion on top.",
        "stay*7,fire,stay", "stay*7,stay", "bullet_0", 24,
        (
            Predicate("abreast", "It stays ahead of the nose of a ship that flies sideways.",
                      _abreast, UNMOVED_GUN, NO_DRAG),
            Predicate("born", "One bullet comes and stays in the air.",
                      born_once("bullet_0", 1, 5), vanished("bullet_0", 10), LATE),
        ), _sideways,
    ),
    Scenario(
        "reload", "A held key fires every eleventh tick.",
        "stay*7,fire", "stay*7,fire,stay", "bullet_1", 30,
        (
            Predicate("one_two_three", "One bullet, then two, then three.",
                      _one_two_three, undead("bullet_3"), LATE),
            Predicate("in_a_row", "The first flies ahead of the second.",
                      _goes_ahead("bullet_0", 0.24, 0.33, 5, 16), SLOW_SHOTS, FAINT_GRAVITY),
        ), _space,
    ),
    Scenario(
        "reload_remembered", "A shot in the context, its bullet gone since, delays the next one.",
        "stay*2,fire,stay*4,fire", "stay*2,fire,stay*5", "bullet_0", 24,
        (
            Predicate("waits", "No bullet comes in the first four steps.",
                      _all_dead(*(f"bullet_{k}" for k in range(4)), last=5), HURRIED, LATE),
            Predicate("shoots", "One comes later, and stays in the air.",
                      born_once("bullet_0", 5, 11), vanished("bullet_0", 10), LATE),
        ), _rock_shot_at_once, needs_memory=True,
    ),
    Scenario(
        "large_rock", "A bullet breaks a large rock into two medium ones.",
        "stay*7,fire,stay", "stay*7,stay", "large_rock_0", 24,
        _broken("large_rock_0", POINTS[2], ("medium_rock_0", "medium_rock_1")), _facing_large,
    ),
    Scenario(
        "medium_rock", "A bullet breaks a medium rock into two small ones.",
        "stay*7,fire,stay", "stay*7,stay", "medium_rock_0", 24,
        _broken("medium_rock_0", POINTS[1], ("small_rock_0", "small_rock_1")), _facing_medium,
    ),
    Scenario(
        "small_rock", "A bullet ends a small rock, and nothing comes of it.",
        "stay*7,fire,stay", "stay*7,stay", "small_rock_0", 24,
        (
            Predicate("rock_goes", "The rock goes once and stays away.",
                      dies_once("small_rock_0", 4, 14), risen("small_rock_0"), LATE),
            Predicate("nothing_comes", "No other rock comes.",
                      _all_dead("small_rock_1", "medium_rock_0"), undead("small_rock_1"),
                      ELSEWHERE),
            Predicate("points_once", "A hundred points are given once.",
                      gains("score", POINTS[0]), counted("score", 2), LATE),
        ), _facing_small,
    ),
    Scenario(
        "extra_life", "Each 3,000 points bring a ship.",
        "stay*7,fire,stay", "stay*7,stay", "lives", 24,
        (
            Predicate("one_ship_more", "One more life, once.",
                      gains("lives", 1), counted("lives", 2), LATE),
            Predicate("points_once", "A hundred points are given once.",
                      gains("score", POINTS[0]), counted("score", 0), LATE),
        ), _near_an_extra_life,
    ),
    Scenario(
        "crash", "A rock that meets the ship costs it, and breaks.",
        "stay*7,stay", "stay*7,thrust", "ship", 24,
        (
            Predicate("ship_goes", "The ship goes once and stays away.",
                      dies_once("ship", 4, 14), GHOST_ROCKS, LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), GHOST_ROCKS, LATE),
            Predicate("rock_breaks", "The rock breaks in two.",
                      both(dies_once("large_rock_0", 4, 14), born_once("medium_rock_0", 4, 14),
                           born_once("medium_rock_1", 4, 14)), GHOST_ROCKS, LATE),
            Predicate("phase_lost", "The phase says so.",
                      ends("phase", LOST, 0.4), GHOST_ROCKS, ELSEWHERE),
        ), _rock_comes,
    ),
    Scenario(
        "last_ship", "The last ship lost ends the game.",
        "stay*7,stay", "stay*7,thrust", "ship", 24,
        (
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, endless(), LATE),
            Predicate("phase_over", "The phase says so.",
                      ends("phase", OVER, 0.4), GHOST_ROCKS, LATE),
            Predicate("nothing_moves", "Then nothing moves.",
                      stays(FAR_ROCK, 0.015, 12), adrift(FAR_ROCK, 0.003), LATE),
        ), _last_ship,
    ),
    Scenario(
        "shield", "A shielded ship flies through a rock.",
        "stay*7,stay", "stay*7,thrust", "ship", 40,
        (
            Predicate("both_live", "Ship and rock live on.",
                      lives("ship", "large_rock_0"), vanished("ship", CONTACT), LATE),
            Predicate("no_life_lost", "No life is lost.",
                      keeps("lives", 0.3), given("lives", -1, CONTACT), LATE),
            Predicate("rock_flies_on", "The rock flies on as it did.",
                      both(_flies_straight("large_rock_0", least=0.08), _even("large_rock_0")),
                      frozen("large_rock_0"), FAINT_GRAVITY),
        ), _shielded,
    ),
    Scenario(
        "shield_ends", "A ship inside a rock is lost as its shield runs out.",
        "stay*7,stay", "stay*7,thrust", "ship", 24,
        (
            Predicate("ship_goes", "The ship goes once and stays away.",
                      dies_once("ship", 5, 16), GHOST_ROCKS, LATE),
            Predicate("shield_gone", "Nothing is left of the shield.",
                      ends("shield", 0, 0.06), given("shield", 0.1), LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), GHOST_ROCKS, LATE),
        ), _shield_runs_out,
    ),
    Scenario(
        "next_ship", "A while after a crash the next ship stands in the middle, shielded.",
        "stay*7,stay", "stay*7,thrust", "ship", 30,
        (
            Predicate("comes", "The ship comes to life once.",
                      born_once("ship", 5, 15), vanished("ship"), LATE),
            Predicate("in_the_middle", "It stands in the middle.",
                      _at("ship", 0.5, 0.5), adrift("ship", 0.002, 0.002), TREMBLING),
            Predicate("shielded", "It is shielded.",
                      both(_field("ship", "tagged", 1, 15),
                           ends("shield", (SHIELD_TIME - 20) / SHIELD_TIME, 0.1)),
                      _unchanged("ship", "tagged"), LATE),
            Predicate("no_more_lives_lost", "It costs nothing more.",
                      keeps("lives", 0.3), given("lives", -1), LATE),
        ), _ship_is_gone,
    ),
    Scenario(
        "next_wave", "A second after the last rock went, in the context, the next wave comes.",
        "stay*7,stay", "stay*7,thrust", "ship", 70,
        (
            Predicate("one_level", "The level rises by one, once.",
                      gains("level", 1), counted("level", 2), LATE),
            Predicate("three_large", "Three large rocks come when their time has come.",
                      both(*(born_once(f"large_rock_{k}", 50, 64) for k in range(3))),
                      undead("large_rock_0"), LATE),
            Predicate("one_medium", "One medium rock comes with them.",
                      both(born_once("medium_rock_0", 50, 64), _all_dead("medium_rock_1")),
                      vanished("medium_rock_0"), LATE),
        ), _last_rock_hit_in_the_lead, needs_memory=True,
    ),
    Scenario(
        "win", "The last rock of the fourth wave wins.",
        "stay*7,fire,stay", "stay*7,stay", "phase", 24,
        (
            Predicate("won", "The phase says so.", ends("phase", WON, 0.4),
                      counted("phase", 0), LATE),
            Predicate("terminal", "The game is over at the end, and was not at the start.",
                      game_ends, endless(), LATE),
        ), _facing_the_very_last, level=LAST_LEVEL,
    ),
    Scenario(
        "saucer_hit", "A bullet ends the saucer.",
        "stay*7,fire,stay", "stay*7,stay", "saucer", 24,
        (
            Predicate("saucer_goes", "The saucer goes once and stays away.",
                      dies_once("saucer", 4, 14), risen("saucer"), LATE),
            Predicate("points_once", "Two hundred points are given once.",
                      gains("score", SAUCER_POINTS), counted("score", 2), LATE),
            Predicate("bullet_spent", "The bullet is gone with it.",
                      _alive_in("bullet_0", 3, 5, 14), undead("bullet_0"), LATE),
        ), _saucer_ahead,
    ),
    Scenario(
        "saucer_leaves", "The saucer leaves when it has crossed the screen.",
        "stay*7,stay", "stay*7,thrust", "ship", 24,
        (
            Predicate("saucer_goes", "The saucer goes once and stays away.",
                      dies_once("saucer", 5, 15), SLOW_SAUCER, LATE),
            Predicate("no_points", "That scores nothing.",
                      keeps("score", 20), given("score", SAUCER_POINTS), LATE),
        ), _saucer_about_to_leave,
    ),
    Scenario(
        "saucer_shoots", "The saucer's bullet costs the ship.",
        "stay*7,stay", "stay*7,thrust", "ship", 24,
        (
            Predicate("ship_goes", "The ship goes once and stays away.",
                      dies_once("ship", 4, 14), undead("ship"), LATE),
            Predicate("bullet_spent", "The bullet is gone with it.",
                      dies_once("saucer_bullet", 4, 14), undead("saucer_bullet"), LATE),
            Predicate("one_life_lost", "Exactly one life is lost.",
                      gains("lives", -1), counted("lives", 2), LATE),
        ), _saucer_shot_comes,
    ),
    Scenario(
        "rock_flight", "Rocks of all sizes fly straight on at an even speed, across the edges.",
        "stay*7,stay", "stay*7,thrust", "ship", 40,
        (
            Predicate("straight", "Their ways are straight lines.",
                      _flies_straight("large_rock_0", "medium_rock_0", "small_rock_0", least=0.08),
                      frozen("medium_rock_0"), FAINT_GRAVITY),
            Predicate("even", "They go as far in the second half as in the first.",
                      _even("large_rock_0", "medium_rock_0", "small_rock_0"),
                      RESTING, LATE),
            Predicate("live", "None goes.", lives("large_rock_0", "medium_rock_0", "small_rock_0"),
                      vanished("small_rock_0", 20), FAINT_GRAVITY),
        ), _rocks_fly,
    ),
)  # fmt: skip
