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
    REWARD,
    SCORE,
    TERMINATED,
    WON,
    Appearance,
)
from cosmolabe.engine.render import draw_frames
from cosmolabe.games import frogger
from cosmolabe.games.frogger import CELL, GAME

STAY, UP, RIGHT, DOWN, LEFT = range(5)
HOP = int(frogger.CROUCH_TICKS - 1 + frogger.HOP_TICKS)  # ticks from the key to the landing
CAR_ROW, LOG_ROW, TURTLE_ROW = 11, 3, 5


def simulate(world, actions, **changes):
    """Plays in place; the public rows, first state included."""
    actions = np.asarray([actions], np.uint8)
    public = np.zeros((1, actions.shape[1] + 1, GAME.num_public), np.float32)
    lengths = np.zeros(1, np.int64)
    worlds = world[None].copy()
    kernels.simulate(
        GAME.step, worlds, actions, GAME.default_parameters(**changes)[None], public, lengths
    )
    world[:] = worlds[0]
    return public[0, : lengths[0]]


def play(randomness, num=12):
    worlds = GAME.new_worlds(np.arange(num))
    keys = np.stack([np.arange(num) + 7, np.arange(num) + 11], 1).astype(np.uint64)
    ticks = GAME.manifest.max_ticks
    kernels.play(
        GAME.step,
        GAME.decide,
        worlds,
        GAME.default_parameters()[None],
        keys,
        len(GAME.actions),
        randomness,
        2,
        np.zeros((num, ticks), np.uint8),
        np.zeros((num, worlds.shape[1])),
        ticks,
        np.zeros(num, np.int64),
    )
    return worlds


def world_at(row, x, seed=0, level=1):
    """The frog rests on a row at a place; the first lane object of the row is right there."""
    world = GAME.new_world(seed, level)
    world[frogger.ROW] = row
    world[frogger.FROG_X], world[frogger.FROG_Y] = x, (row + 1.5) * CELL
    world[frogger.FROG_LANE] = frogger.LANE_TYPE[row]
    count = frogger.COUNT[row]
    for k in range(count):
        world[frogger.OBJECT_X + frogger.FIRST[row] + k] = (x + k / count) % 1.0
    return world


def world_below_bay(bay=2, **changes):
    """The frog on a log of the top river row, below a bay's middle when the hop takes off."""
    x = frogger.BAY_X[bay] * CELL
    world = world_at(frogger.FIRST_RIVER, x, **changes)
    drift = world[frogger.OBJECT_VX] * (frogger.CROUCH_TICKS - 1)
    world[frogger.FROG_X] -= drift
    return world


def test_a_hop_takes_a_held_key_and_some_ticks_in_the_air():
    world = GAME.new_world(0)
    rows = simulate(world, [UP] * HOP, cars_kill=0.0)
    y = rows[:, frogger.FROG_Y]
    assert (np.diff(y)[:2] == 0).all()
    assert (np.diff(y)[2:] < 0).all()
    assert y[-1] == pytest.approx((frogger.START - 1 + 1.5) * CELL)
    assert world[frogger.ON_GROUND] == 1


def test_a_tapped_key_does_nothing_and_a_held_one_never_skips_a_row():
    world = GAME.new_world(0)
    simulate(world, [UP, UP, STAY, UP, UP, STAY], cars_kill=0.0)
    assert world[frogger.FROG_Y] == (frogger.START + 1.5) * CELL
    rows = simulate(world, [UP] * 60, cars_kill=0.0)
    assert np.abs(np.diff(rows[:, frogger.FROG_Y])).max() < 1.01 * CELL / frogger.HOP_TICKS
    assert rows[-1, frogger.ROW] == frogger.START - 6


def test_each_row_scores_ten_once_per_frog():
    world = GAME.new_world(0)
    cycle = [STAY] * 4
    simulate(world, [UP] * HOP + cycle, cars_kill=0.0)
    assert world[SCORE] == 10
    simulate(world, [DOWN] * HOP + cycle + [UP] * HOP + cycle, cars_kill=0.0)
    assert world[frogger.ROW] == frogger.START - 1
    assert world[SCORE] == 10


def test_a_car_kills_and_the_next_frog_starts_from_the_bottom():
    world = world_at(CAR_ROW, 0.5)
    simulate(world, [STAY])
    assert world[LIVES] == frogger.LIVES_AT_START - 1
    assert world[PHASE] == LOST
    assert world[frogger.FROG_ALIVE] == 0
    simulate(world, [UP] * int(frogger.WAIT))
    assert world[frogger.FROG_ALIVE] == 1
    assert world[frogger.ROW] == frogger.START
    assert world[frogger.FROG_X] == 0.5


def test_ghost_cars_drive_through_the_frog():
    world = world_at(CAR_ROW, 0.5)
    simulate(world, [STAY] * 30, cars_kill=0.0)
    assert world[LIVES] == frogger.LIVES_AT_START


def test_a_log_carries_the_frog_as_far_as_it_moves():
    world = world_at(LOG_ROW, 0.4)
    log = frogger.OBJECT_X + frogger.FIRST[LOG_ROW]
    before = world[log]
    simulate(world, [STAY] * 10)
    assert world[frogger.FROG_X] - 0.4 == pytest.approx(world[log] - before)
    assert world[frogger.FROG_X] > 0.4


def test_half_the_grip_carries_half_as_far():
    ends = []
    for grip in (1.0, 0.5):
        world = world_at(LOG_ROW, 0.4)
        simulate(world, [STAY] * 8, grip=grip)
        ends.append(world[frogger.FROG_X] - 0.4)
    assert ends[1] == pytest.approx(ends[0] / 2)


def test_open_water_drowns_unless_the_frog_swims():
    for kills in (1.0, 0.0):
        world = world_at(LOG_ROW, 0.4)
        world[frogger.FROG_X] = 0.65  # between two long logs
        simulate(world, [STAY], water_kills=kills)
        assert world[LIVES] == frogger.LIVES_AT_START - kills


def test_a_diving_turtle_drowns_its_rider():
    for under in (False, True):
        world = world_at(TURTLE_ROW, 0.5)
        for turtle in range(3, 6):
            world[frogger.TURTLE_AGE + turtle] = frogger.UNDER - 0.0001 if under else 0.1
        # The group that dives on level 1 comes under the frog.
        ages = world[frogger.TURTLE_AGE + 3 : frogger.TURTLE_AGE + 6].copy()
        simulate(probe := world.copy(), [STAY])
        moved = probe[frogger.TURTLE_AGE + 3 : frogger.TURTLE_AGE + 6] != ages
        assert moved.sum() == 1
        first = frogger.OBJECT_X + frogger.FIRST[TURTLE_ROW]
        world[first : first + 3] = np.roll(world[first : first + 3], int(np.flatnonzero(moved)[0]))
        simulate(world, [STAY] * 2)
        assert world[LIVES] == frogger.LIVES_AT_START - under


def test_turtles_come_back_up_after_their_dive():
    world = GAME.new_world(0)
    rows = simulate(world, [STAY] * int(frogger.DIVE_CYCLE))
    alive = rows[:, frogger.TURTLE_ALIVE : frogger.TURTLE_ALIVE + 6]
    dives = (alive == 0).any(0)
    assert dives.sum() == 2
    under = (alive == 0).sum(0)[dives]
    assert np.abs(under - (frogger.BACK - frogger.UNDER) * frogger.DIVE_CYCLE).max() <= 1.5
    level_2 = simulate(GAME.new_world(0, level=2), [STAY] * int(frogger.DIVE_CYCLE))
    assert (level_2[:, frogger.TURTLE_ALIVE : frogger.TURTLE_ALIVE + 6] == 0).any(0).sum() == 4


def test_a_log_carries_a_sleeper_off_the_screen():
    world = world_at(LOG_ROW, 0.98)
    simulate(world, [STAY] * 30)
    assert world[LIVES] == frogger.LIVES_AT_START - 1
    assert 0 <= world[frogger.FROG_X] <= 1


def test_a_frog_at_home_scores_fifty_and_ten_per_second_left():
    world = world_below_bay()
    world[frogger.ADVANCED] = frogger.START - 1
    world[frogger.CLOCK] = 5 * 60 + HOP
    simulate(world, [UP] * HOP)
    assert world[frogger.REACHED + 2] == 1
    assert world[SCORE] == 10 + 50 + 50
    assert world[REWARD] == 110
    assert world[frogger.ROW] == frogger.START
    assert world[frogger.CLOCK] == frogger.FROG_TIME


def test_a_fly_is_worth_two_hundred():
    scores = []
    for visitor in (0.0, frogger.FLY):
        world = world_below_bay()
        world[frogger.VISITOR + 2] = visitor
        simulate(world, [UP] * HOP)
        scores.append(world[SCORE])
    assert scores[1] - scores[0] == 200


@pytest.mark.parametrize("spoiled", ["hedge", "filled", "crocodile"])
def test_hedge_filled_bay_and_crocodile_kill(spoiled):
    world = world_below_bay()
    if spoiled == "hedge":
        world[frogger.FROG_X] += 1.5 * CELL
    elif spoiled == "filled":
        world[frogger.REACHED + 2] = 1.0
    else:
        world[frogger.VISITOR + 2] = frogger.CROCODILE
    simulate(world, [UP] * HOP)
    assert world[LIVES] == frogger.LIVES_AT_START - 1


def test_five_homes_make_a_level_and_the_lanes_go_faster():
    world = world_below_bay()
    world[frogger.REACHED : frogger.REACHED + 5] = (1, 1, 0, 1, 1)
    world[frogger.HOMES] = 4
    speeds = np.abs(world[frogger.LANE_MEAN : frogger.LANE_MEAN + 13])
    score = world[SCORE]
    simulate(world, [UP] * HOP)
    assert world[LEVEL] == 2
    assert world[SCORE] - score >= 1050
    assert world[frogger.REACHED : frogger.REACHED + 5].sum() == 0
    faster = np.abs(world[frogger.LANE_MEAN : frogger.LANE_MEAN + 13])
    assert faster.mean() > speeds.mean()


def test_the_last_level_wins_the_game():
    world = world_below_bay(level=frogger.LAST_LEVEL)
    world[frogger.REACHED : frogger.REACHED + 5] = (1, 1, 0, 1, 1)
    world[frogger.HOMES] = 4
    simulate(world, [UP] * HOP)
    assert world[PHASE] == WON
    assert world[TERMINATED] == 1


def test_filled_bays_stay_filled_when_a_frog_dies():
    world = world_at(CAR_ROW, 0.5)
    world[frogger.REACHED], world[frogger.HOMES] = 1.0, 1.0
    simulate(world, [STAY] * 60)
    assert world[LIVES] == frogger.LIVES_AT_START - 1
    assert world[frogger.REACHED] == 1
    assert world[frogger.HOMES] == 1


def test_the_clock_kills_and_the_last_life_ends_the_game():
    world = GAME.new_world(0)
    world[LIVES], world[frogger.CLOCK] = 1, 3
    rows = simulate(world, [STAY] * 10)
    assert len(rows) == 4
    assert world[PHASE] == OVER
    assert world[TERMINATED] == 1


def test_the_same_level_has_the_same_speeds_whatever_the_seed():
    a, b = GAME.new_world(1, level=2), GAME.new_world(2, level=2)
    places = slice(frogger.OBJECT_VX, frogger.OBJECT_VX + frogger.NUM_OBJECTS)
    np.testing.assert_array_equal(a[places], b[places])
    assert not np.array_equal(a[places], GAME.new_world(1, level=3)[places])
    objects = slice(frogger.OBJECT_X, frogger.OBJECT_X + frogger.NUM_OBJECTS)
    assert not np.array_equal(a[objects], b[objects])


def test_lanes_surge_about_their_mean_and_flow_evenly_without():
    places = slice(frogger.OBJECT_VX, frogger.OBJECT_VX + frogger.NUM_OBJECTS)
    even = simulate(GAME.new_world(0), [STAY] * 400, surge=0.0)[1:, places]
    surging = simulate(GAME.new_world(0), [STAY] * 400)[1:, places]
    assert np.ptp(even, axis=0).max() < 1e-9
    assert (np.ptp(surging, axis=0) > 1.5 * np.abs(even[0])).all()
    np.testing.assert_allclose(surging.mean(0), even[0], rtol=0.1)


def test_lane_objects_pass_the_edge_without_a_jump_in_their_history():
    rows = simulate(GAME.new_world(3), [STAY] * 400)
    states, _, _ = dense(GAME, rows)
    names = GAME.manifest.profile.state_columns
    objects = slice(frogger.OBJECT, frogger.OBJECT + frogger.NUM_OBJECTS)
    x, dx = states[:, objects, 0], states[1:, objects, names.index("dx1")]
    vx = states[1:, objects, names.index("vx")]
    assert (np.abs(np.diff(x, axis=0)) > 0.5).any()
    alive = (states[1:, objects, 2] > 0) & (states[:-1, objects, 2] > 0)
    np.testing.assert_allclose(dx[alive], vx[alive], atol=1e-6)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=40, max_size=200))
def test_everything_stays_on_the_board_and_scores_only_rise(seed, actions):
    world = GAME.new_world(seed, level=1 + seed % 3)
    rows = simulate(world, np.repeat(actions, 6)).astype(float)
    objects = rows[:, frogger.OBJECT_X : frogger.OBJECT_X + frogger.NUM_OBJECTS]
    assert ((objects >= 0) & (objects <= 1)).all()
    assert ((rows[:, frogger.FROG_X] >= 0) & (rows[:, frogger.FROG_X] <= 1)).all()
    y = rows[:, frogger.FROG_Y]
    assert ((y >= 1.49 * CELL) & (y <= 13.51 * CELL)).all()
    assert (np.diff(rows[:, SCORE]) >= 0).all()
    assert (np.diff(rows[:, LIVES]) <= 0).all()
    np.testing.assert_array_equal(np.diff(rows[:, SCORE]), rows[1:, REWARD])
    on_ground = (rows[:, frogger.ON_GROUND] > 0) & (rows[:, frogger.FROG_ALIVE] > 0)
    expected = (rows[:, frogger.ROW] + 1.5) * CELL
    np.testing.assert_allclose(y[on_ground], expected[on_ground], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("traffic_speed", 1.5),
        ("river_speed", 0.5),
        ("surge", 0.0),
        ("hop_ticks", 12.0),
        ("rest_ticks", 20.0),
        ("crouch_ticks", 1.0),
        ("frog_time", 100.0),
        ("turtles_dive", 0.0),
        ("cars_kill", 0.0),
    ],
)
def test_every_parameter_changes_the_world(name, value):
    ends = []
    for changes in ({}, {name: value}):
        world = GAME.new_world(4, parameters=GAME.default_parameters(**changes))
        simulate(world, [UP] * 200, **changes)
        ends.append(world)
    assert not np.array_equal(*ends)


def test_the_heuristic_player_beats_the_random_one_and_sees_the_late_game():
    clever, blind = play(0.05), play(1.0)
    assert clever[:, SCORE].mean() > 10 * max(blind[:, SCORE].mean(), 10)
    assert np.mean([GAME.late(world) for world in clever]) >= 0.3


def test_a_filled_bay_and_a_dead_frog_show_in_the_picture():
    states, numbers, _ = dense(GAME, simulate(GAME.new_world(0), [STAY]))
    names = GAME.manifest.profile.state_columns
    plain = draw_frames(GAME, states[:1], numbers[:1], Appearance(theme="meadow"), 150)
    for slot, column, value in ((3, names.index("reached"), 1), (0, 2, 0)):
        other = states[:1].copy()
        other[0, slot, column] = value
        picture = draw_frames(GAME, other, numbers[:1], Appearance(theme="meadow"), 150)
        rows, columns = np.nonzero((picture != plain).any(-1)[0])
        x, y = states[0, slot, :2] * 150
        assert len(rows) > 10
        assert np.abs(rows - y).max() < 10
        assert np.abs(columns - x).max() < 10
