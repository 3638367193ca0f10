"""Breakout: bounces, bricks, points, lives, walls, pickups and its player."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from cosmolabe.games import breakout as b
from cosmolabe.games.breakout import GAME

STAY, LEFT, RIGHT, FIRE = range(4)
DEFAULT = GAME.default_parameters()
moves = st.lists(st.integers(0, 3), min_size=1, max_size=400)


def world_with_ball(x, y, vx, vy, level=1):
    world = GAME.new_world(0, level)
    world[b.WAIT], world[PHASE] = 0, PLAYING
    world[[b.BALL_X, b.BALL_Y, b.BALL_VX, b.BALL_VY]] = x, y, vx, vy
    return world


def leave_one_brick(world, cell):
    world[b.ALIVE : b.HP + b.BRICKS] = 0
    world[b.ALIVE + cell] = world[b.HP + cell] = world[b.STANDING] = 1


def play(randomness, worlds=16, ticks=b.MAX_TICKS, parameters=DEFAULT):
    """Final worlds and whether each reached the late game."""
    state = GAME.new_worlds(np.arange(worlds), parameters=parameters)
    actions = np.zeros((worlds, ticks), np.uint8)
    keyframes = np.zeros((worlds * -(-ticks // 60), GAME.num_world))
    lengths = np.zeros(worlds, np.int64)
    keys = np.arange(2 * worlds, dtype=np.uint64).reshape(worlds, 2)
    kernels.play(
        GAME.step,
        GAME.decide,
        state,
        parameters[None],
        keys,
        len(GAME.actions),
        randomness,
        2,
        actions,
        keyframes,
        60,
        lengths,
    )
    keyframes = keyframes.reshape(worlds, -1, GAME.num_world)
    late = [any(b.late(row) for row in one if row[TICK] > 0) for one in keyframes]
    return state, np.array(late)


def run(world, actions, parameters=DEFAULT):
    for action in actions:
        if world[TERMINATED]:
            break
        GAME.step(world, action, parameters)
    return world


def test_the_first_wall_is_full_and_every_slot_has_its_place():
    assert GAME.manifest.num_slots == 52
    world = GAME.new_world(5)
    assert (world[b.ALIVE : b.ALIVE + 48] == 1).all()
    assert (world[b.HP : b.HP + 48] == 1).all()
    template = layout_of(GAME).template
    assert np.allclose(template[b.FIRST_BRICK, :2], [0.08, 0.22])
    assert np.allclose(template[-1, :2], [0.92, 0.42])


def test_the_ball_waits_on_the_bat_for_fire():
    world = run(GAME.new_world(1), [LEFT] * 10)
    assert world[b.BALL_X] == world[b.PADDLE_X] < 0.5
    assert world[PHASE] == READY
    run(world, [FIRE, STAY])
    assert world[PHASE] == PLAYING
    assert world[b.BALL_VY] < 0


def test_the_ball_serves_itself_after_a_second():
    assert run(GAME.new_world(1), [STAY] * 59)[PHASE] == READY
    assert run(GAME.new_world(1), [STAY] * 60)[PHASE] == PLAYING


@pytest.mark.parametrize("row", range(6))
def test_a_broken_brick_pays_its_row(row):
    y = b.FIELD_TOP + (row + 1) * b.BRICK_HEIGHT + b.BALL_RADIUS + 0.001
    world = world_with_ball(0.56, y, 0.0, -0.0165)
    world[b.ALIVE + 8 * (row + 1) : b.HP] = 0  # nothing below it
    run(world, [STAY])
    cell = 8 * row + 4
    assert world[b.ALIVE + cell] == world[b.HP + cell] == 0
    assert world[SCORE] == world[REWARD] == b.POINTS[row]
    assert world[b.BALL_VY] > 0
    assert world[b.STANDING] == 47
    assert run(world, [STAY])[REWARD] == 0


def test_a_tough_brick_takes_two_hits_and_pays_once():
    world = GAME.new_world(0, level=2)
    cell = int(np.flatnonzero(world[b.HP : b.HP + 8] == 2)[0])
    for hit in (1, 0):
        x = b.LEFT + (cell + 0.5) * b.BRICK_WIDTH
        world[[b.BALL_X, b.BALL_Y]] = x, b.FIELD_TOP - b.BALL_RADIUS - 0.001
        world[[b.BALL_VX, b.BALL_VY, b.WAIT]] = 0.0, 0.0165, 0
        run(world, [STAY])
        assert world[b.HP + cell] == hit
        assert world[b.ALIVE + cell] == (hit > 0)
        assert world[SCORE] == (0 if hit else 7)


def test_a_brick_hit_from_the_side_turns_the_ball_sideways():
    world = world_with_ball(0.5, b.FIELD_BOTTOM - 0.02, 0.0165, 0.0)
    leave_one_brick(world, 5 * 8 + 5)  # its left face stands at 0.62
    world[b.STANDING] = 2  # so that the wall is not cleared
    run(world, [STAY] * 7)
    assert world[b.BALL_VX] < 0
    assert world[SCORE] == 1


@pytest.mark.parametrize(("x", "y", "vx", "vy", "column"), [
    (0.04, 0.6, -0.0165, 0.0, b.BALL_VX),
    (0.96, 0.6, 0.0165, 0.0, b.BALL_VX),
    (0.5, 0.14, 0.0, -0.0165, b.BALL_VY),
])  # fmt: skip
def test_walls_turn_the_ball_and_restitution_slows_it(x, y, vx, vy, column):
    for restitution in (1.0, 0.5):
        world = world_with_ball(x, y, vx, vy)
        before = world[column]
        run(world, [STAY], GAME.default_parameters(wall_restitution=restitution))
        assert world[column] == -before * restitution


def test_where_the_ball_meets_the_bat_decides_where_it_goes():
    for off in (-0.9, -0.3, 0.0, 0.5, 0.9):
        x = 0.5 + off * (b.PADDLE_HALF_WIDTH + b.BALL_RADIUS)
        world = run(world_with_ball(x, b.FACE - b.BALL_RADIUS - 0.001, 0.0, 0.0165), [STAY])
        assert world[b.BALL_VY] < 0
        assert np.isclose(world[b.BALL_VX], 0.0165 * 0.85 * off)
        assert np.isclose(np.hypot(world[b.BALL_VX], world[b.BALL_VY]), world[b.SPEED])


def test_the_ball_gains_speed_after_four_and_twelve_returns_and_in_the_upper_rows():
    world = GAME.new_world(0)
    speeds = []
    for returns in (3, 11):
        world[[b.BALL_X, b.BALL_Y]] = world[b.PADDLE_X], b.FACE - b.BALL_RADIUS - 0.001
        world[[b.BALL_VY, b.WAIT, b.RETURNS]] = world[b.SPEED], 0, returns
        speeds.append(run(world, [STAY])[b.SPEED])
    world = world_with_ball(0.56, b.FIELD_TOP - 0.013, 0.0, 0.0165)
    world[b.RETURNS] = 12
    speeds.append(run(world, [STAY])[b.SPEED])
    gains = np.array(speeds) / b.SERVE_SPEED
    assert np.allclose(gains, [b.SPEED_UP, b.SPEED_UP**2, b.SPEED_UP**4])
    assert np.isclose(world[b.BALL_VY], -speeds[-1])


def test_a_missed_ball_costs_a_life_and_the_wall_stays():
    world = world_with_ball(0.9, 0.99, 0.0, 0.0165)
    world[b.ALIVE + 3] = 0
    run(world, [STAY] * 3)
    assert world[LIVES] == 2
    assert world[PHASE] == LOST
    assert world[b.ALIVE + 3] == 0
    assert world[b.BALL_X] == world[b.PADDLE_X]
    assert world[b.BALL_VY] == 0


def test_the_last_missed_ball_ends_the_game():
    world = world_with_ball(0.9, 0.99, 0.0, 0.0165)
    world[LIVES] = 1
    run(world, [STAY] * 3)
    assert world[TERMINATED]
    assert world[PHASE] == OVER
    assert world[LIVES] == 0


@pytest.mark.parametrize(("level", "phase"), [(1, READY), (2, WON)])
def test_a_cleared_wall_brings_the_next_and_the_second_wins(level, phase):
    world = world_with_ball(0.56, b.FIELD_BOTTOM + 0.013, 0.0, -0.0165, level)
    leave_one_brick(world, 5 * 8 + 4)
    run(world, [STAY])
    assert world[PHASE] == phase
    assert world[TERMINATED] == (phase == WON)
    assert world[LEVEL] == 2
    assert world[LIVES] == 3
    assert (world[b.STANDING] > 20) == (phase == READY)
    if phase == READY:
        assert (world[b.HP : b.HP + 16].max(), world[b.HP + 16 : b.HP + 48].max()) == (2, 1)


@given(level=st.integers(1, 30), seed=st.integers(0, 1000))
def test_a_wall_follows_from_its_level_alone(level, seed):
    wall = GAME.new_world(seed, level)[b.ALIVE : b.HP + b.BRICKS].reshape(2, 6, 8)
    assert np.array_equal(
        wall, GAME.new_world(seed + 1, level)[b.ALIVE : b.HP + 48].reshape(2, 6, 8)
    )
    assert np.array_equal(wall, wall[:, :, ::-1])
    assert wall[0].sum() >= 10


def test_a_caught_capsule_gives_a_life_or_slows_the_ball():
    for kind in (b.EXTRA_LIFE, b.SLOW):
        world = world_with_ball(0.5, 0.6, 0.0, -0.02)
        world[[b.SPEED, b.REACHED, b.RETURNS]] = 0.0165 * b.SPEED_UP**3, 2, 5
        world[[b.PICKUP_X, b.PICKUP_Y, b.PICKUP_VY]] = 0.5, 0.9, 0.006
        world[[b.PICKUP_ALIVE, b.PICKUP_TYPE]] = 1, kind
        run(world, [STAY] * 2)
        assert world[b.PICKUP_ALIVE] == 0
        assert world[LIVES] == 3 + (kind == b.EXTRA_LIFE)
        assert (world[b.SPEED] == b.SERVE_SPEED) == (kind == b.SLOW)
        assert (world[b.BALL_VY] > -0.02) == (kind == b.SLOW)


def test_a_missed_capsule_is_gone():
    world = world_with_ball(0.5, 0.6, 0.0, -0.001)
    world[[b.PICKUP_X, b.PICKUP_Y, b.PICKUP_VY, b.PICKUP_ALIVE]] = 0.9, 0.95, 0.006, 1
    run(world, [STAY] * 20)
    assert world[b.PICKUP_ALIVE] == 0
    assert world[LIVES] == 3


@given(seed=st.integers(0, 2**32 - 1), actions=moves)
def test_ball_and_bat_stay_between_the_walls_and_nothing_comes_back_to_life(seed, actions):
    world = GAME.new_world(seed)
    for action in actions:
        alive, score = world[b.ALIVE : b.HP].copy(), world[SCORE]
        GAME.step(world, action, DEFAULT)
        assert b.LEFT + 0.075 <= world[b.PADDLE_X] <= b.RIGHT - 0.075
        assert b.LEFT <= world[b.BALL_X] <= b.RIGHT
        assert b.CEILING <= world[b.BALL_Y] < 1.05
        assert (world[b.ALIVE : b.HP] <= alive).all()
        assert world[SCORE] == score + world[REWARD]
        assert world[REWARD] >= 0
        assert np.array_equal(world[b.ALIVE : b.HP] > 0, world[b.HP : b.HP + 48] > 0)
        assert world[b.STANDING] == world[b.ALIVE : b.HP].sum()
        if world[TERMINATED]:
            break


@pytest.mark.parametrize(("name", "value"), [
    ("serve_speed", 0.02),
    ("speed_up", 1.4),
    ("paddle_speed", 0.01),
    ("wall_restitution", 0.8),
    ("gravity", 0.0002),
    ("bricks_solid", 0.0),
    ("pickup_chance", 1.0),
    ("pickup_speed", 0.012),
])  # fmt: skip
def test_every_parameter_changes_the_world(name, value):
    base, _ = play(0.05, 2, 500)
    changed, _ = play(0.05, 2, 500, GAME.default_parameters(**{name: value}))
    assert not np.array_equal(base, changed)


def test_a_ghost_wall_lets_the_ball_through():
    ghost = GAME.default_parameters(bricks_solid=0.0)
    world = run(world_with_ball(0.56, 0.5, 0.0, -0.0165), [STAY] * 20, ghost)
    assert world[b.BALL_Y] < b.FIELD_TOP
    assert world[SCORE] == 0


def test_the_player_beats_chance_and_reaches_the_late_game():
    skilled, late = play(0.05)
    random, _ = play(1.0)
    assert skilled[:, SCORE].mean() > 10 * random[:, SCORE].mean()
    assert late.mean() > 0.9
    assert (skilled[:, PHASE] == WON).any()


def test_the_clock_ends_a_long_game():
    world = GAME.new_world(0)
    world[TICK] = b.MAX_TICKS - 1
    run(world, [STAY])
    assert world[TERMINATED]
    assert world[PHASE] == OVER


def test_a_broken_brick_leaves_the_picture():
    layout = layout_of(GAME)
    pictures = []
    for alive in (1.0, 0.0):
        states = layout.template[None].copy()
        states[0, b.FIRST_BRICK + 9, 2] = alive
        pictures.append(draw_frames(GAME, states, np.zeros((1, 17), np.float32))[0])
    changed = np.argwhere((pictures[0] != pictures[1]).any(-1)) / 224
    assert changed.size
    assert (abs(changed.mean(0) - [0.26, 0.2]) < 0.01).all()
