"""Platformer: running, jumping, landing, coins, stomps, deaths, the flag, levels and its player."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.data.dense import dense
from cosmolabe.engine import kernels
from cosmolabe.engine.game import (
    LEVEL,
    LIVES,
    LOST,
    OVER,
    PHASE,
    PLAYING,
    REWARD,
    SCORE,
    TERMINATED,
    WON,
)
from cosmolabe.engine.render import draw_frames
from cosmolabe.games import platformer as p
from cosmolabe.games.platformer import GAME

DEFAULT = GAME.default_parameters()
moves = st.lists(st.integers(0, 6), min_size=1, max_size=60)


def playing(level=1, seed=0):
    """A level just begun, without enemies."""
    world = GAME.new_world(seed, level)
    world[p.WAIT], world[PHASE] = 0, PLAYING
    world[p.WALKER + 2 : p.WALKER + 15 : 5] = 0
    world[p.BEE_ALIVE] = 0
    return world


def put(world, x, feet, vy=0.0):
    world[p.X], world[p.Y], world[p.VY] = x, feet - p.BODY_HALF_HEIGHT, vy
    world[p.SUPPORT], world[p.ON_GROUND] = -1, 0


def run(world, *actions, parameters=DEFAULT):
    for action in actions:
        GAME.step(world, action, parameters)
    return world


def play(randomness, worlds=16, ticks=p.MAX_TICKS):
    batch = GAME.new_worlds(np.arange(worlds))
    keys = np.random.default_rng(1).integers(0, 2**32, (worlds, 2)).astype(np.uint64)
    actions = np.zeros((worlds, ticks), np.uint8)
    frames = np.zeros((worlds * (-(-ticks // 64)), GAME.num_world))
    lengths = np.zeros(worlds, np.int64)
    kernels.play(
        GAME.step,
        GAME.decide,
        batch,
        DEFAULT[None],
        keys,
        len(GAME.actions),
        randomness,
        2,
        actions,
        frames,
        64,
        lengths,
    )
    return batch


def test_the_hero_gains_speed_up_to_his_top_and_slides_to_a_halt():
    world = run(playing(), *[p.RIGHT] * 5)
    assert 0 < world[p.VX] < p.RUN_SPEED
    run(world, *[p.RIGHT] * 10)
    assert world[p.VX] == p.RUN_SPEED
    x = world[p.X]
    run(world, *[p.STAY] * 30)
    assert world[p.VX] == 0
    assert world[p.X] > x


def test_holding_the_jump_goes_higher_than_a_tap():
    held, tapped = playing(), playing()
    high = min(run(held, p.JUMP)[p.Y] for _ in range(40))
    run(tapped, p.JUMP)
    low = min(run(tapped, p.STAY)[p.Y] for _ in range(40))
    assert high < low - 0.04
    ground = p.GROUND_TOP - p.BODY_HALF_HEIGHT
    assert 0.19 < ground - high < 0.24


def test_a_held_jump_does_not_jump_again_on_landing():
    world = run(playing(), *[p.JUMP] * 80)
    assert world[p.ON_GROUND] == 1
    run(world, p.STAY, p.JUMP)
    assert world[p.ON_GROUND] == 0


def test_a_jump_still_counts_just_after_the_edge():
    world = playing()
    put(world, 0.5, 0.5)
    world[p.COYOTE_LEFT] = 3
    run(world, p.JUMP)
    assert world[p.VY] < 0
    world[p.VY], world[p.HELD], world[p.COYOTE_LEFT] = 0, 0, 0
    run(world, p.JUMP)
    assert world[p.VY] > 0


def test_platforms_let_pass_from_below_and_carry_from_above():
    world = playing()
    x, top = world[p.PLATFORM], world[p.PLATFORM + 1] - p.PLATFORM_HALF_HEIGHT
    put(world, x, p.GROUND_TOP)
    world[p.SUPPORT] = 0
    run(world, *[p.JUMP] * 50)
    assert world[p.ON_GROUND] == 1
    assert world[p.Y] == pytest.approx(top - p.BODY_HALF_HEIGHT)


def test_drop_falls_through_a_platform_but_not_through_the_ground():
    world = playing()
    top = world[p.PLATFORM + 1] - p.PLATFORM_HALF_HEIGHT
    put(world, world[p.PLATFORM], top - 0.01)
    run(world, *[p.STAY] * 15)
    assert world[p.SUPPORT] == 2
    run(world, *[p.DROP] * 40)
    assert world[p.Y] == pytest.approx(p.GROUND_TOP - p.BODY_HALF_HEIGHT)


def test_the_mover_takes_along_who_stands_on_it():
    world = playing()
    put(world, world[p.MOVER_X], world[p.MOVER_Y] - p.PLATFORM_HALF_HEIGHT - 0.005)
    run(world, *[p.STAY] * 10)
    assert world[p.SUPPORT] == p.MOVING
    gap = world[p.X] - world[p.MOVER_X]
    seen = [run(world, p.STAY)[p.X] for _ in range(200)]
    assert np.ptp(seen) > 0.1
    assert world[p.X] - world[p.MOVER_X] == pytest.approx(gap)


def test_the_mover_keeps_between_its_ends():
    for level in range(1, 7):
        world = playing(level)
        ends = world[[p.MOVER_FROM_X, p.MOVER_FROM_Y]], world[[p.MOVER_TO_X, p.MOVER_TO_Y]]
        low, high = np.minimum(*ends) - 1e-9, np.maximum(*ends) + 1e-9
        for _ in range(300):
            place = run(world, p.STAY)[[p.MOVER_X, p.MOVER_Y]]
            assert (low <= place).all()
            assert (place <= high).all()


def test_a_coin_pays_and_enough_coins_raise_the_flag():
    world = playing()
    for k in range(4):
        assert world[p.FLAG_UP] == 0
        put(world, world[p.COIN + 3 * k], world[p.COIN + 3 * k + 1])
        run(world, p.STAY)
        assert world[REWARD] == p.COIN_POINTS
        assert world[p.COIN + 3 * k + 2] == 0
    assert world[p.FLAG_UP] == 1
    assert world[p.NEEDED] == 0
    assert world[SCORE] == 4 * p.COIN_POINTS


def test_the_flag_finishes_the_level_only_when_it_is_up():
    world = playing()
    put(world, world[p.FLAG_X], p.GROUND_TOP - 0.005)
    run(world, p.STAY)
    assert world[PHASE] == PLAYING
    world[p.FLAG_UP] = 1
    run(world, p.STAY)
    assert world[PHASE] == WON
    assert p.FLAG_POINTS < world[REWARD] <= 2 * p.FLAG_POINTS
    run(world, *[p.STAY] * int(p.WON_WAIT))
    assert world[LEVEL] == 2
    assert world[p.COIN + 2 : p.COIN + 18 : 3].all()


def test_the_last_flag_wins_the_game():
    world = playing(int(p.LAST_LEVEL))
    put(world, world[p.FLAG_X], world[p.FLAG_Y])
    world[p.FLAG_UP] = 1
    run(world, p.STAY)
    assert world[PHASE] == WON
    assert world[TERMINATED] == 1


def meet_walker(above, vy):
    world = playing()
    world[p.WALKER + 2] = 1
    world[p.COIN + 2 : p.COIN + 18 : 3] = 0
    put(world, world[p.WALKER], world[p.WALKER + 1] + p.BODY_HALF_HEIGHT - above, vy)
    return run(world, p.STAY)


def test_coming_down_on_a_walker_stomps_it_and_bounces():
    world = meet_walker(above=0.045, vy=0.005)
    assert world[p.WALKER + 2] == 0
    assert world[REWARD] == p.STOMP_POINTS
    assert world[p.VY] == -p.STOMP_BOUNCE * p.JUMP_SPEED
    assert world[p.ALIVE] == 1


def test_meeting_a_walker_from_the_side_costs_a_life_and_restarts_the_level():
    world = meet_walker(above=0.0, vy=-0.001)
    assert world[p.ALIVE] == 0
    assert world[LIVES] == p.NUM_LIVES - 1
    assert world[PHASE] == LOST
    x = world[p.X]
    run(world, *[p.RIGHT] * int(p.LOST_WAIT - 1))
    assert world[p.X] == x
    run(world, p.STAY)
    assert world[p.ALIVE] == 1
    assert world[LEVEL] == 1


def test_spikes_and_the_pit_and_the_clock_kill():
    world = playing()
    put(world, world[p.SPIKE], p.GROUND_TOP - 0.02, 0.005)
    assert run(world, p.STAY)[p.ALIVE] == 0
    world = playing(2)
    put(world, 0.5, 0.95)
    assert run(world, *[p.STAY] * 12)[p.ALIVE] == 0
    world = playing()
    world[p.TIME] = 1
    assert run(world, p.STAY)[PHASE] == LOST


def test_the_last_life_ends_the_game():
    world = playing()
    world[LIVES], world[p.TIME] = 1, 1
    run(world, p.STAY)
    assert world[TERMINATED] == 1
    assert world[PHASE] == OVER


def test_walkers_turn_at_the_edges_of_their_surface():
    world = GAME.new_world(3)
    world[p.WAIT], world[PHASE] = 0, PLAYING
    world[p.TIME] = 1e9
    seen = []
    for _ in range(600):
        world[p.X], world[p.Y], world[p.SUPPORT] = 0.06, p.GROUND_TOP - p.BODY_HALF_HEIGHT, 0
        seen.append(run(world, p.STAY)[[p.WALKER, p.WALKER + 3]])
    x, vx = np.array(seen).T
    low, high = p._walk.py_func(world, int(world[p.WALKER_ON]))
    assert x.min() == low
    assert x.max() == high
    assert (np.sign(vx) > 0).any()
    assert (np.sign(vx) < 0).any()


def test_layouts_differ_come_back_mirrored_and_get_faster():
    screens = [GAME.new_world(0, level)[p.PLATFORM : p.PLATFORM + 12] for level in range(1, 9)]
    assert len({screen.tobytes() for screen in screens}) == 8
    np.testing.assert_allclose(screens[5][::2], 1 - screens[0][::2])
    np.testing.assert_array_equal(screens[5][1::2], screens[0][1::2])
    slow, fast = GAME.new_world(0, 1), GAME.new_world(0, 6)
    assert abs(fast[p.WALKER + 3]) > 1.4 * abs(slow[p.WALKER + 3])


def test_a_layout_follows_from_the_level_alone():
    one, other = GAME.new_world(1, 4), GAME.new_world(2, 4)
    np.testing.assert_array_equal(one[p.COIN : p.NEEDED], other[p.COIN : p.NEEDED])
    assert (one[p.WALKER : p.BEE_X] != other[p.WALKER : p.BEE_X]).any()


def test_every_coin_and_flag_of_every_layout_stands_on_a_surface():
    for level in range(1, 6):
        world = GAME.new_world(0, level)
        places = [*world[p.COIN : p.COIN + 18].reshape(6, 3)[:, :2], world[[p.FLAG_X, p.FLAG_Y]]]
        for x, y in places:
            surface = p._surface_under.py_func(world, x, y)
            assert surface >= 0
            assert p._top.py_func(world, surface) - y < 0.06


@given(seed=st.integers(0, 99), level=st.integers(1, 8), actions=moves)
def test_everything_stays_on_the_screen_and_points_never_fall(seed, level, actions):
    world = GAME.new_world(seed, level)
    score, coins = 0.0, world[p.COIN + 2 : p.COIN + 18 : 3].copy()
    for action in actions:
        for _ in range(8):
            before, lives = world[LEVEL], world[LIVES]
            run(world, action)
            now = world[p.COIN + 2 : p.COIN + 18 : 3].copy()
            assert world[SCORE] >= score
            if world[LEVEL] == before and world[LIVES] == lives and world[PHASE] == PLAYING:
                assert (now <= coins).all()
            score, coins = world[SCORE], now
            places = [world[p.X], world[p.Y], *world[p.WALKER : p.BEE_X : 5], world[p.BEE_X]]
            assert all(0 <= place <= 1 for place in places)
            assert np.isfinite(world).all()
            assert world[p.ON_GROUND] == (world[p.SUPPORT] >= 0)


CHANGES = {
    "gravity": 0.002,
    "run_speed": 0.003,
    "acceleration": 0.0002,
    "friction": 0.0001,
    "jump_speed": 0.012,
    "stomp_bounce": 0.1,
    "walker_speed": 0.006,
    "mover_speed": 0.008,
    "platforms_solid": 0.0,
}


@pytest.mark.parametrize("name", GAME.parameters)
def test_every_parameter_changes_the_world(name):
    other = GAME.default_parameters(**{name: CHANGES[name]})
    ends = []
    for parameters in (DEFAULT, other):
        world = playing()
        world[p.WALKER + 2] = 1
        put(world, world[p.WALKER], world[p.WALKER + 1] - 0.03, 0.005)
        script = [p.STAY] * 6 + [p.RIGHT] * 12 + [p.STAY] * 12 + [p.JUMP_RIGHT] * 9 + [p.STAY] * 20
        ends.append(run(world, *script, parameters=parameters).tobytes())
    assert ends[0] != ends[1]


def test_the_heuristic_player_reaches_the_late_game_and_beats_chance():
    skilled, lucky = play(0.05), play(1.0)
    assert skilled[:, SCORE].mean() > 4 * lucky[:, SCORE].mean()
    assert np.mean(skilled[:, LEVEL] >= 3) >= 0.3


def test_the_picture_shows_the_hero_only_while_he_lives_and_the_flag_once_it_is_up():
    world = playing()
    hidden, raised = world.copy(), world.copy()
    hidden[p.ALIVE], raised[p.FLAG_UP] = 0, 1
    rows = np.stack([w[: GAME.num_public] for w in (world, hidden, raised)]).astype(np.float32)
    states, numbers, _ = dense(GAME, rows)
    alive, dead, up = draw_frames(GAME, states, numbers, size=112)
    hero = np.abs(alive.astype(int) - dead).sum(-1) > 0
    flag = np.abs(alive.astype(int) - up).sum(-1) > 0
    rows, columns = np.nonzero(hero)
    assert rows.min() > 90
    assert columns.max() < 14
    assert np.nonzero(flag)[1].min() > 95
