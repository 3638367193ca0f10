"""Pong's rules: serve, rails, returns that speed up and steer, points, and the end at eleven."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.engine import kernels
from cosmolabe.engine.game import OVER, PHASE, PLAYING, READY, REWARD, SCORE, TERMINATED, TICK, WON
from cosmolabe.games import pong
from cosmolabe.games.pong import (
    BALL_VX,
    BALL_VY,
    BALL_X,
    BALL_Y,
    GAME,
    OPPONENT_SCORE,
    OPPONENT_Y,
    PLAYER_Y,
    RALLY,
    SPEED,
    WAIT,
)

LOW = 2 * pong.WALL_HALF_HEIGHT + pong.BALL_RADIUS


def rally(x=0.5, y=0.5, vx=0.01, vy=0.0):
    world = GAME.new_world(0)
    world[[WAIT, PHASE, BALL_X, BALL_Y, BALL_VX, BALL_VY]] = 0.0, PLAYING, x, y, vx, vy
    world[SPEED] = np.hypot(vx, vy)
    return world


def go(world, action=0, ticks=1, **changes):
    parameters = GAME.default_parameters(**changes)[None]
    kernels.advance(GAME.step, world[None], np.full((1, ticks), action, np.uint8), parameters)
    return world


def test_the_ball_waits_then_is_served_at_serving_speed():
    world = go(GAME.new_world(3), ticks=pong.SERVE_WAIT - 1)
    assert (world[PHASE], world[BALL_X]) == (READY, 0.5)
    go(world)
    assert world[PHASE] == PLAYING
    assert np.hypot(world[BALL_VX], world[BALL_VY]) == pytest.approx(pong.SERVE_SPEED)


def test_seeds_serve_to_both_sides():
    sides = {np.sign(go(GAME.new_world(seed), ticks=31)[BALL_VX]) for seed in range(12)}
    assert sides == {-1.0, 1.0}


@pytest.mark.parametrize(("y", "vy"), [(LOW + 0.001, -0.01), (1 - LOW - 0.001, 0.01)])
def test_a_rail_turns_the_ball_back_with_its_restitution(y, vy):
    assert go(rally(y=y, vy=vy))[BALL_VY] == -vy
    assert go(rally(y=y, vy=vy), rail_restitution=0.5)[BALL_VY] == pytest.approx(-vy / 2)


def test_a_return_speeds_the_ball_up_to_a_limit_and_counts():
    face = pong.BAT_X + pong.BAT_HALF_WIDTH + pong.BALL_RADIUS
    world = go(rally(x=face + 0.005, vx=-0.01))
    assert world[BALL_VX] == pytest.approx(0.01 * pong.SPEED_UP)
    assert world[RALLY] == 1
    world = go(rally(x=face + 0.005, vx=-pong.TOP_SPEED))
    assert world[SPEED] == pong.TOP_SPEED


@pytest.mark.parametrize("off", [-0.8, 0.8])
def test_where_the_bat_is_hit_steers_the_ball(off):
    face = pong.BAT_X + pong.BAT_HALF_WIDTH + pong.BALL_RADIUS
    world = rally(x=face + 0.005, vx=-0.01)
    world[PLAYER_Y] = 0.5 - off * pong.BAT_HALF_HEIGHT
    assert np.sign(go(world)[BALL_VY]) == np.sign(off)


def test_a_ghost_bat_lets_the_ball_through():
    world = go(rally(x=0.1, vx=-0.02), ticks=8, bats_solid=0.0)
    assert world[OPPONENT_SCORE] == 1


def test_a_ball_past_the_left_bat_is_a_point_against_and_a_new_serve():
    world = rally(x=0.0, vx=-0.02)
    go(world)
    assert (world[REWARD], world[OPPONENT_SCORE], world[SCORE]) == (-1, 1, 0)
    assert (world[PHASE], world[BALL_X], world[WAIT]) == (READY, 0.5, pong.SERVE_WAIT)


def test_a_ball_past_the_right_bat_is_a_point():
    world = go(rally(x=1.0, vx=0.02))
    assert (world[REWARD], world[SCORE]) == (1, 1)


@pytest.mark.parametrize(
    ("column", "x", "vx", "phase"),
    [(SCORE, 1.0, 0.02, WON), (OPPONENT_SCORE, 0.0, -0.02, OVER)],
)
def test_eleven_points_end_the_game(column, x, vx, phase):
    world = rally(x=x, vx=vx)
    world[column] = pong.POINTS_TO_WIN - 1
    go(world)
    assert (world[PHASE], world[TERMINATED]) == (phase, 1)
    before = world.copy()
    assert np.array_equal(go(world, 1, 5), before)


def test_the_clock_ends_a_long_game():
    world = rally()
    world[TICK] = pong.MAX_TICKS - 1
    assert (go(world)[PHASE], world[TERMINATED]) == (OVER, 1)


def test_bats_move_at_their_speed_and_stop_at_the_rails():
    world = go(rally(), 1)
    assert world[PLAYER_Y] == pytest.approx(0.5 - pong.BAT_SPEED)
    go(world, 1, 100)
    assert world[PLAYER_Y] == pytest.approx(2 * pong.WALL_HALF_HEIGHT + pong.BAT_HALF_HEIGHT)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=10))
def test_bats_and_ball_stay_between_the_rails(seed, actions):
    world = GAME.new_world(seed)
    for action in actions:
        for _ in range(8):
            go(world, action, 5)
            assert LOW - 1e-9 <= world[BALL_Y] <= 1 - LOW + 1e-9
            for bat in (PLAYER_Y, OPPONENT_Y):
                assert pong.BAT_HALF_HEIGHT <= world[bat] <= 1 - pong.BAT_HALF_HEIGHT
