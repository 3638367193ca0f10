"""Racer's rules: engine and tyres, checkpoints in order, bumps, races won and lost."""

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
)
from cosmolabe.games import racer
from cosmolabe.games.racer import (
    ACTIONS,
    AHEAD,
    CAR,
    CAR_RADIUS,
    GAME,
    GATE_INDEX,
    GATE_X,
    GATE_Y,
    HEAD,
    HEADING,
    LAPS,
    NUM_GATES,
    NUM_LAPS,
    NUM_RACES,
    OFF_TRACK,
    OIL_X,
    OIL_Y,
    PASSED,
    PROGRESS,
    SPEED,
    TOP_SPEED,
    VX,
    VY,
    WAIT,
    X,
    Y,
)

GAS, BRAKE, LEFT, RIGHT = (ACTIONS.index(word) for word in ("gas", "brake", "left", "right"))


def fresh(seed=0, level=1, lights_out=True):
    world = GAME.new_world(seed, level)
    if lights_out:
        world[WAIT] = 0.0
    return world


def go(world, action=0, ticks=1, **changes):
    parameters = GAME.default_parameters(**changes)[None]
    actions = np.full((1, ticks), action, np.uint8)
    kernels.advance(GAME.step, world[None], actions, parameters)
    return world


def put(world, car, x, y, heading=0.0, vx=0.0, vy=0.0):
    at = HEAD + CAR * car
    world[at : at + 5] = x, y, vx, vy, heading


def park_rivals(world):
    """Rivals out of the way, in three corners of the grass."""
    for car, (x, y) in enumerate(((0.03, 0.03), (0.97, 0.03), (0.97, 0.97)), 1):
        put(world, car, x, y)


def at_gate(world, gate):
    """A point just behind a checkpoint, on the centre line."""
    return racer._centre_line(gate - 0.04, 0.0, *world[racer.A2 : racer.A3 + 1])


def played(num_worlds, randomness, ticks=3600):
    worlds = GAME.new_worlds(np.arange(num_worlds))
    keys = np.stack([np.arange(num_worlds), np.arange(num_worlds) + 1000], 1).astype(np.uint64)
    frames = np.zeros((num_worlds, GAME.num_world))
    lengths = np.zeros(num_worlds, np.int64)
    kernels.play(
        GAME.step,
        GAME.decide,
        worlds,
        GAME.default_parameters()[None],
        keys,
        len(ACTIONS),
        randomness,
        2,
        np.zeros((num_worlds, ticks), np.uint8),
        frames,
        ticks,
        lengths,
    )
    return worlds


def test_nobody_moves_before_the_lights_go_out():
    world = fresh(lights_out=False)
    before = world[HEAD : HEAD + 4 * CAR].copy()
    go(world, GAS, racer.COUNTDOWN - 1)
    assert world[PHASE] == READY
    assert np.array_equal(world[HEAD : HEAD + 4 * CAR], before)
    go(world, GAS, 2)
    assert world[PHASE] == PLAYING
    assert world[HEAD + VY] < 0


def test_the_player_starts_last_and_the_grid_stands_on_the_asphalt_below_the_line():
    for level in range(1, 30):
        world = fresh(level=level)
        assert world[AHEAD] == 3
        for car in range(4):
            x, y = world[HEAD + CAR * car + X], world[HEAD + CAR * car + Y]
            off = racer._place_on_track(x, y, *world[racer.A2 : racer.A3 + 1])[0]
            assert abs(off) < racer.TRACK_HALF_WIDTH - CAR_RADIUS / 2
            assert y > 0.5
            assert np.hypot(world[HEAD + VX], world[HEAD + VY]) == 0


def test_full_throttle_ends_at_the_speed_where_drag_eats_the_engine():
    world = fresh()
    park_rivals(world)
    put(world, 0, 0.5, 0.9)
    for _ in range(400):
        put(world, 0, 0.1, 0.5, 0.0, world[HEAD + VX], world[HEAD + VY])
        world[HEAD + OFF_TRACK] = 0.0
        go(world, GAS)
    assert world[SPEED] == pytest.approx(TOP_SPEED * (1 - racer.DRAG), rel=0.01)


def test_braking_stops_the_car_and_then_backs_it_up_slowly():
    world = fresh()
    put(world, 0, 0.5, 0.5, 0.0, 0.0, -0.004)
    go(world, BRAKE, 10)
    assert abs(world[HEAD + VY]) < 0.004
    go(world, BRAKE, 60)
    assert 0 < world[HEAD + VY] <= racer.REVERSE_SPEED


def test_steering_turns_a_moving_car_but_not_a_standing_one():
    world = fresh()
    put(world, 0, 0.5, 0.5)
    assert go(world, RIGHT)[HEAD + HEADING] == 0.0
    put(world, 0, 0.5, 0.5, 0.0, 0.0, -TOP_SPEED)
    assert go(world, RIGHT)[HEAD + HEADING] == pytest.approx(racer.TURN_RATE)
    put(world, 0, 0.5, 0.5, 0.0, 0.0, -TOP_SPEED)
    assert go(world, LEFT)[HEAD + HEADING] == pytest.approx(1 - racer.TURN_RATE)


def test_tyres_eat_sideways_speed_and_hold_less_on_grass_and_on_oil():
    def sideways_after(x, y, off_track=0.0):
        world = fresh()
        park_rivals(world)
        put(world, 0, x, y, 0.0, 0.004, 0.0)
        world[HEAD + OFF_TRACK] = off_track
        return go(world)[HEAD + VX]

    world = fresh()
    asphalt = sideways_after(0.5, 0.1)
    assert asphalt == pytest.approx(0.004 * (1 - racer.GRIP))
    assert sideways_after(0.5, 0.1, 1.0) > asphalt
    assert sideways_after(world[OIL_X], world[OIL_Y]) > 0.98 * 0.004


def test_leaving_the_asphalt_is_marked_and_slows_the_car_down():
    world = fresh()
    park_rivals(world)
    put(world, 0, 0.5, 0.5, 0.0, 0.0, -0.006)
    go(world)
    assert world[HEAD + OFF_TRACK] == 1.0
    before = world[SPEED]
    go(world)
    assert world[SPEED] == pytest.approx(before * (1 - racer.DRAG - racer.GRASS_DRAG))


def test_checkpoints_count_in_their_order_and_eight_make_a_lap():
    world = fresh()
    park_rivals(world)
    for lap in range(NUM_LAPS - 1):
        for gate in range(NUM_GATES):
            assert world[GATE_INDEX] == gate
            expected = racer._centre_line(gate * 1.0, 0.0, *world[racer.A2 : racer.A3 + 1])
            assert (world[GATE_X], world[GATE_Y]) == expected
            score = world[SCORE]
            put(world, 0, *racer._centre_line(gate + 0.5, 0.0, *world[racer.A2 : racer.A3 + 1]))
            go(world)
            assert world[SCORE] - score == pytest.approx(world[REWARD])
            assert world[REWARD] >= racer.GATE_POINTS
            assert world[HEAD + LAPS] == lap
    assert world[PROGRESS] == pytest.approx((NUM_LAPS - 1) / NUM_LAPS, abs=0.05)


def test_reversing_over_the_line_and_cutting_through_the_infield_earn_nothing():
    world = fresh()
    park_rivals(world)
    for eighths in (7.5, 6.5, 5.5, 4.5, 3.5, 2.5, 1.5):  # against the way of the race
        put(world, 0, *racer._centre_line(eighths, 0.0, *world[racer.A2 : racer.A3 + 1]))
        go(world)
    assert world[PASSED] == -1
    for eighths in range(16):  # tight circles about the middle
        put(world, 0, *racer._centre_line(eighths + 0.5, -0.25, *world[racer.A2 : racer.A3 + 1]))
        go(world)
    assert world[PASSED] == -1
    assert world[HEAD + LAPS] == 0


def test_passing_a_rival_earns_points_once():
    world = fresh()
    for car in (1, 2, 3):
        put(world, car, *at_gate(world, 7.0))
        world[PASSED + car] = 6.0
    world[PASSED] = 6.0
    put(world, 0, *at_gate(world, 7.6))
    go(world, cars_solid=0.0)
    assert world[AHEAD] == 0
    assert world[REWARD] == 3 * racer.OVERTAKE_POINTS + racer.GATE_POINTS
    put(world, 0, *at_gate(world, 7.0))
    go(world, cars_solid=0.0)
    put(world, 0, *at_gate(world, 7.6))
    go(world, cars_solid=0.0)
    assert world[REWARD] == 0


def test_cars_bump_with_the_given_restitution_and_keep_their_momentum():
    world = fresh()
    park_rivals(world)
    put(world, 0, 0.5, 0.5, 0.25, 0.01, 0.0)
    put(world, 1, 0.5 + 1.5 * CAR_RADIUS, 0.5, 0.25, 0.0, 0.0)
    a, b = HEAD, HEAD + CAR
    racer._bump(world, a, b, 0.6)
    assert world[a + VX] + world[b + VX] == pytest.approx(0.01)
    assert world[b + VX] - world[a + VX] == pytest.approx(0.6 * 0.01)
    assert world[b + X] - world[a + X] == pytest.approx(2 * CAR_RADIUS)


def test_ghost_cars_drive_through_each_other():
    solid, ghost = fresh(), fresh()
    for world in (solid, ghost):
        put(world, 0, 0.12, 0.5, 0.0, 0.0, -0.01)
        put(world, 1, 0.12, 0.47, 0.0, 0.0, 0.0)
    go(solid)
    go(ghost, cars_solid=0.0)
    assert solid[HEAD + VY] > ghost[HEAD + VY]


def finish(world):
    world[PASSED] = NUM_GATES * NUM_LAPS - 1.0
    world[HEAD + LAPS] = NUM_LAPS - 1.0
    put(world, 0, *racer._centre_line(0.2, 0.0, *world[racer.A2 : racer.A3 + 1]))
    return go(world)


def test_winning_a_race_leads_to_a_new_circuit_with_everybody_back_on_the_grid():
    world = finish(fresh())
    assert world[LEVEL] == 2
    assert world[PHASE] == READY
    assert world[HEAD + LAPS] == 0
    assert world[REWARD] >= racer.FINISH_POINTS[0]
    assert world[LIVES] == racer.LIVES_AT_START


def test_winning_the_last_race_wins_the_game():
    world = finish(fresh(level=NUM_RACES))
    assert world[PHASE] == WON
    assert world[TERMINATED] == 1


def lose(world):
    for car in (1, 2):
        world[HEAD + CAR * car + LAPS] = NUM_LAPS
    return go(world)


def test_two_rivals_home_cost_a_life_and_the_race_starts_again():
    world = lose(fresh())
    assert world[LIVES] == racer.LIVES_AT_START - 1
    assert world[PHASE] == LOST
    assert world[LEVEL] == 1
    assert world[WAIT] == racer.COUNTDOWN


def test_the_last_lost_race_ends_the_game_and_the_world_stands_still():
    world = fresh()
    world[LIVES] = 1
    lose(world)
    assert world[PHASE] == OVER
    assert world[TERMINATED] == 1
    before = world.copy()
    assert np.array_equal(go(world, GAS, 10), before)


def test_the_clock_ends_a_game_in_which_nobody_drives():
    world = go(fresh(), 0, racer.MAX_TICKS, rival_power=0.0)
    assert world[TICK] == racer.MAX_TICKS
    assert world[PHASE] == OVER


def test_circuits_follow_from_the_level_and_fit_the_screen():
    circuits = set()
    for level in range(1, 60):
        a, b = fresh(1, level), fresh(2, level)
        assert np.array_equal(a[racer.A2 : racer.A3 + 1], b[racer.A2 : racer.A3 + 1])
        bends = tuple(a[racer.A2 : racer.A3 + 1])
        circuits.add(bends)
        for turns in np.linspace(0, 1, 97):
            s, c = racer.sine_cosine(turns)
            radius, _ = racer._radius(c, s, *bends)
            assert racer.TRACK_HALF_WIDTH + 0.1 < radius < 0.5 - racer.TRACK_HALF_WIDTH
    assert len(circuits) > 20
    assert len({tuple(fresh(0, level)[racer.A2 : racer.A3 + 1]) for level in (1, 2, 3)}) == 3


@given(st.integers(0, 10**6), st.lists(st.integers(0, 8), min_size=1, max_size=12))
def test_cars_stay_on_the_screen_and_scores_never_fall(seed, actions):
    world = fresh(seed)
    score = 0.0
    for action in actions:
        go(world, action, 20)
        cars = world[HEAD : HEAD + 4 * CAR].reshape(4, CAR)
        assert np.isfinite(world).all()
        assert (cars[:, (X, Y)] >= CAR_RADIUS - 1e-12).all()
        assert (cars[:, (X, Y)] <= 1 - CAR_RADIUS + 1e-12).all()
        assert ((cars[:, HEADING] >= 0) & (cars[:, HEADING] < 1)).all()
        assert world[SCORE] >= score
        score = world[SCORE]


@pytest.mark.parametrize("name", list(GAME.parameters))
def test_each_parameter_changes_the_race(name):
    usual, changed = GAME.new_worlds(np.arange(4)), GAME.new_worlds(np.arange(4))
    actions = np.random.default_rng(3).integers(0, 9, (4, 60)).repeat(10, 1).astype(np.uint8)
    default = GAME.parameters[name].default
    other = GAME.default_parameters(**{name: 0.0 if name == "cars_solid" else 0.5 * default})
    kernels.advance(GAME.step, usual, actions, GAME.default_parameters()[None])
    kernels.advance(GAME.step, changed, actions, other[None])
    assert not np.array_equal(usual, changed)


def test_the_heuristic_beats_the_random_player_and_sees_the_late_game():
    good, random = played(12, 0.05), played(12, 1.0)
    assert good[:, SCORE].mean() > random[:, SCORE].mean() + 50
    assert np.mean([GAME.late(world) for world in good]) >= 0.5
    assert (good[:, PHASE] == WON).any()
