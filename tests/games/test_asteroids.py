"""Asteroids: flight, shots, breaking rocks, the saucer, lives, waves and its player."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.fields import REGISTRY_COLUMNS
from cosmolabe.engine import kernels
from cosmolabe.engine.game import (
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
    layout_of,
)
from cosmolabe.engine.render import draw_frames
from cosmolabe.games import asteroids as a
from cosmolabe.games.asteroids import GAME

STAY, LEFT, RIGHT, THRUST, FIRE = range(5)
DEFAULT = GAME.default_parameters()
LARGE, MEDIUM, SMALL = 0, a.NUM_LARGE, a.NUM_LARGE + a.NUM_MEDIUM  # first rock of each size
ROCKS = slice(a.ROCKS_AT, a.ROCKS_AT + 5 * a.NUM_ROCKS)
moves = st.lists(st.integers(0, 9), min_size=1, max_size=300)


def body(world, at):
    return world[at : at + 5]


def rocks(world):
    return world[ROCKS].reshape(-1, 5)


def empty_space(level=1):
    """A world whose only rock is a small one, at rest in the corner; the ship is unshielded."""
    world = GAME.new_world(0, level)
    rocks(world)[:, a.ALIVE :] = 0
    world[a.STANDING], world[a.SHIELD], world[a.TAGGED] = 0, 0, 0
    put_rock(world, SMALL + 5, 0.02, 0.02)
    return world


def put_rock(world, k, x, y, vx=0.0, vy=0.0):
    rocks(world)[k] = x, y, 1, vx, vy
    world[a.STANDING] += 1


def run(world, actions, parameters=DEFAULT):
    for action in actions:
        if world[TERMINATED]:
            break
        GAME.step(world, action, parameters)
    return world


def play(randomness, worlds=16, ticks=a.MAX_TICKS, parameters=DEFAULT):
    """Final worlds and whether each reached the late game."""
    state = GAME.new_worlds(np.arange(worlds), parameters=parameters)
    actions = np.zeros((worlds, ticks), np.uint8)
    keyframes = np.zeros((worlds * -(-ticks // 60), GAME.num_world))
    lengths = np.zeros(worlds, np.int64)
    kernels.play(
        GAME.step,
        GAME.decide,
        state,
        parameters[None],
        np.arange(2 * worlds, dtype=np.uint64).reshape(worlds, 2),
        len(GAME.actions),
        randomness,
        2,
        actions,
        keyframes,
        60,
        lengths,
    )
    keyframes = keyframes.reshape(worlds, -1, GAME.num_world)
    late = [any(a.late(row) for row in one if row[TICK] > 0) for one in keyframes]
    return state, np.array(late)


def test_every_rock_slot_has_its_own_size():
    assert GAME.manifest.num_slots == 20
    registry, template = GAME.manifest.registry(), layout_of(GAME).template
    radius = REGISTRY_COLUMNS.index("radius")
    sizes = template[a.ROCK :, 16].astype(int)
    assert list(sizes) == [2] * 3 + [1] * 4 + [0] * 6
    assert np.allclose(registry[a.ROCK :, radius], np.array(a.RADII)[sizes])


def test_the_engine_pushes_where_the_nose_points_and_drag_slows_the_ship():
    world = empty_space()
    run(world, [THRUST] * 10)
    assert world[a.SHIP_AT + a.VY] < 0 == world[a.SHIP_AT + a.VX]
    assert world[a.BURNS] == 1
    speed = world[a.SPEED]
    run(world, [STAY] * 10)
    assert world[a.BURNS] == 0
    assert np.isclose(world[a.SPEED], speed * (1 - a.DRAG) ** 10)


def test_turning_right_goes_clockwise_and_left_brings_the_nose_back():
    world = empty_space()
    run(world, [RIGHT] * 20)
    assert np.isclose(world[a.ROTATION], 20 * a.TURN_RATE)
    run(world, [THRUST])
    assert world[a.SHIP_AT + a.VX] > 0
    run(world, [LEFT] * 25)
    assert np.isclose(world[a.ROTATION], 1 - 5 * a.TURN_RATE)


def test_the_ship_leaves_at_the_top_and_comes_back_at_the_bottom():
    world = empty_space()
    body(world, a.SHIP_AT)[:] = 0.5, 0.003, 1, 0, -0.01
    run(world, [STAY])
    assert 0.99 < world[a.SHIP_AT + a.Y] < 1


def test_a_shot_starts_at_the_nose_lives_its_time_and_at_most_four_fly():
    world = run(empty_space(), [FIRE])
    bullet = world[a.BULLETS_AT : a.BULLETS_AT + 6]
    assert bullet[a.ALIVE] == 1
    assert np.isclose(bullet[a.Y], 0.5 - a.SHIP_RADIUS - a.BULLET_SPEED)
    age = bullet[a.AGE]
    run(world, [STAY] * int(a.BULLET_LIFE - age))
    assert bullet[a.ALIVE] == 0
    slow = GAME.default_parameters(bullet_speed=0.0)
    for _ in range(100):
        run(world, [FIRE], slow)
        alive = world[a.BULLETS_AT : a.SHOT_AT].reshape(4, 6)[:, a.ALIVE].sum()
        assert alive <= 4


@pytest.mark.parametrize(("rock", "points", "fragments"), [
    (LARGE, 20, (MEDIUM, SMALL)),
    (MEDIUM, 50, (SMALL, a.NUM_ROCKS)),
    (SMALL, 100, None),
])  # fmt: skip
def test_a_shot_rock_pays_and_breaks_into_two_of_the_next_size(rock, points, fragments):
    world = empty_space()
    put_rock(world, rock, 0.5, 0.3)
    run(world, [FIRE])
    while not world[SCORE]:
        run(world, [STAY])
    assert world[SCORE] == world[REWARD] == points
    assert rocks(world)[rock, a.ALIVE] == 0
    assert world[a.BULLETS_AT + a.ALIVE] == 0
    assert world[a.STANDING] == 1 + (2 if fragments else 0)
    if fragments:
        new = rocks(world)[slice(*fragments)]
        new = new[(new[:, a.ALIVE] == 1) & (new[:, a.X] > 0.1)]
        assert len(new) == 2
        assert np.allclose(new[:, :2], [0.5, 0.3])


def test_fragments_without_a_free_slot_are_dust():
    world = empty_space()
    put_rock(world, LARGE, 0.5, 0.3)
    for k in range(3):
        put_rock(world, MEDIUM + k, 0.1, 0.9)
    run(world, [FIRE] + [STAY] * 12)
    assert world[SCORE] == 20
    assert rocks(world)[MEDIUM:SMALL, a.ALIVE].all()
    assert world[a.STANDING] == rocks(world)[:, a.ALIVE].sum() == 5


def test_a_crash_costs_a_ship_and_the_next_one_comes_shielded():
    world = empty_space()
    put_rock(world, LARGE, 0.5, 0.58)
    run(world, [STAY])
    assert world[LIVES] == 2
    assert world[PHASE] == LOST
    assert world[a.SHIP_AT + a.ALIVE] == 0
    run(world, [THRUST] * a.RESPAWN_WAIT)
    assert world[a.SHIP_AT + a.ALIVE] == world[a.TAGGED] == 1
    put_rock(world, LARGE, 0.5, 0.5)
    run(world, [STAY] * (a.SHIELD_TIME - 1))
    assert world[LIVES] == 2
    run(world, [STAY] * 2)
    assert world[LIVES] == 1


def test_a_crash_is_noticed_across_the_edge():
    world = empty_space()
    body(world, a.SHIP_AT)[:2] = 0.99, 0.5
    put_rock(world, LARGE, 0.03, 0.5)
    assert run(world, [STAY])[LIVES] == 2


def test_a_ghost_rock_lets_the_ship_through():
    world = empty_space()
    put_rock(world, LARGE, 0.5, 0.5)
    assert run(world, [STAY] * 5, GAME.default_parameters(rocks_solid=0.0))[LIVES] == 3


def test_the_last_crash_ends_the_game():
    world = empty_space()
    world[LIVES] = 1
    put_rock(world, LARGE, 0.5, 0.5)
    run(world, [STAY])
    assert world[TERMINATED] == 1
    assert world[PHASE] == OVER


def test_the_saucer_comes_shoots_and_leaves():
    world = empty_space()
    rocks(world)[SMALL + 5, :2] = 0.5, 0.9
    world[a.NEXT_SAUCER], world[a.SHIELD] = 1, 10_000
    seen, shots = 0, 0
    for _ in range(400):
        shots += world[a.SHOT_AT + a.AGE] == 1
        run(world, [STAY])
        seen += world[a.SAUCER_AT + a.ALIVE]
    assert 0 < seen < 260
    assert world[a.SAUCER_AT + a.ALIVE] == 0 < world[a.NEXT_SAUCER]
    assert shots >= 1


def test_the_saucer_pays_and_its_shot_costs_a_ship():
    world = empty_space()
    body(world, a.SAUCER_AT)[:] = 0.5, 0.4, 1, 0, 0
    world[a.SAUCER_GUN], world[a.SAUCER_TURN] = 100, 100
    run(world, [FIRE] + [STAY] * 8)
    assert world[SCORE] == a.SAUCER_POINTS
    assert world[a.SAUCER_AT + a.ALIVE] == 0
    world[a.SHOT_AT : a.SHOT_AT + 6] = 0.5, 0.46, 1, 0, 0.012, 0
    run(world, [STAY] * 3)
    assert world[LIVES] == 2
    assert world[a.SHOT_AT + a.ALIVE] == 0


def test_three_thousand_points_bring_a_ship():
    world = empty_space()
    world[SCORE] = 2950
    put_rock(world, MEDIUM, 0.5, 0.3)
    run(world, [FIRE] + [STAY] * 9)
    assert world[SCORE] == 3000
    assert world[LIVES] == 4


@pytest.mark.parametrize("level", range(1, a.LAST_LEVEL + 1))
def test_a_cleared_wave_brings_a_larger_one_and_the_last_wins(level):
    world = empty_space(level)
    rocks(world)[SMALL + 5, :2] = 0.5, 0.42
    run(world, [FIRE] + [STAY] * 5)
    assert world[a.STANDING] == 0
    assert world[PHASE] == (WON if level == a.LAST_LEVEL else READY)
    assert world[TERMINATED] == (level == a.LAST_LEVEL)
    if level < a.LAST_LEVEL:
        run(world, [STAY] * a.WAVE_WAIT)
        assert world[LEVEL] == level + 1
        assert world[PHASE] == PLAYING
        assert world[a.STANDING] == 3 + level == rocks(world)[:, a.ALIVE].sum()


@given(seed=st.integers(0, 2**32 - 1), level=st.integers(1, 9))
def test_a_wave_starts_away_from_the_ship(seed, level):
    wave = rocks(GAME.new_world(seed, level))
    wave = wave[wave[:, a.ALIVE] == 1, :2]
    assert (np.hypot(*(wave - 0.5).T) >= a.CLEARANCE).all()


@given(seed=st.integers(0, 2**32 - 1), actions=moves)
def test_everything_stays_on_the_world_and_points_only_grow(seed, actions):
    world = GAME.new_world(seed)
    for action in actions:
        score = world[SCORE]
        GAME.step(world, action, DEFAULT)
        places = np.concatenate(
            [
                body(world, a.SHIP_AT)[:2],
                body(world, a.SAUCER_AT)[:2],
                world[a.BULLETS_AT : a.ROCKS_AT].reshape(5, 6)[:, :2].ravel(),
                rocks(world)[:, :2].ravel(),
            ]
        )
        assert places.min() >= 0
        assert places.max() < 1
        assert world[SCORE] == score + world[REWARD] >= score
        assert world[a.SPEED] <= a.TOP_SPEED + 1e-12
        assert world[a.STANDING] == rocks(world)[:, a.ALIVE].sum()
        assert (rocks(world)[rocks(world)[:, a.ALIVE] == 0, a.VX :] == 0).all()
        if world[TERMINATED]:
            break


@pytest.mark.parametrize(("name", "value"), [
    ("turn_rate", 0.02),
    ("thrust", 0.0006),
    ("drag", 0.05),
    ("bullet_speed", 0.01),
    ("rock_speed", 0.005),
    ("saucer_speed", 0.009),
    ("gravity", 0.0001),
    ("rocks_solid", 0.0),
])  # fmt: skip
def test_every_parameter_changes_the_world(name, value):
    base, _ = play(0.5, 3, 1500)
    changed, _ = play(0.5, 3, 1500, GAME.default_parameters(**{name: value}))
    assert not np.array_equal(base, changed)


def test_the_player_beats_chance_and_reaches_the_late_game():
    skilled, late = play(0.05)
    random, _ = play(1.0)
    assert skilled[:, SCORE].mean() > 2 * random[:, SCORE].mean()
    assert late.mean() > 0.5
    assert (skilled[:, PHASE] == WON).any()


def test_a_rock_on_the_edge_is_drawn_on_both_sides():
    states = layout_of(GAME).template[None].copy()
    states[0, :, 2] = 0
    numbers = np.zeros((1, 17), np.float32)
    nothing = draw_frames(GAME, states, numbers)[0]
    states[0, a.ROCK, :3] = 0.0, 0.5, 1
    changed = np.argwhere((draw_frames(GAME, states, numbers)[0] != nothing).any(-1))
    assert changed[:, 1].min() == 0
    assert changed[:, 1].max() == 223
    assert set(changed[:, 1]).isdisjoint(range(20, 204))
