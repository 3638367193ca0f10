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
    layout_of,
)
from cosmolabe.engine.render import Appearance, draw_frames
from cosmolabe.games import snake
from cosmolabe.games.snake import GAME

STAY, UP, RIGHT, DOWN, LEFT = range(5)


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


def play(randomness, num=12, seed=0):
    worlds = GAME.new_worlds(np.arange(seed, seed + num))
    keys = np.stack([np.arange(num) + 7, np.arange(num) + 11], 1).astype(np.uint64)
    ticks = GAME.manifest.max_ticks
    actions = np.zeros((num, ticks), np.uint8)
    kernels.play(
        GAME.step,
        GAME.decide,
        worlds,
        GAME.default_parameters()[None],
        keys,
        len(GAME.actions),
        randomness,
        2,
        actions,
        np.zeros((num, worlds.shape[1])),
        ticks,
        np.zeros(num, np.int64),
    )
    return worlds


def head(world):
    return world[snake.HEAD_X], world[snake.HEAD_Y]


def moving_world(seed=0):
    """Just after the first grid step, going right, food out of the way."""
    world = GAME.new_world(seed)
    world[snake.FOOD_X], world[snake.FOOD_Y] = 0.5, 19.5
    simulate(world, [STAY] * int(snake.WAIT))
    return world


def put_food_ahead(world):
    heading = int(world[snake.HEADING])
    world[snake.FOOD_X] = world[snake.HEAD_X] + snake.STEP_X[heading]
    world[snake.FOOD_Y] = world[snake.HEAD_Y] + snake.STEP_Y[heading]


def test_the_head_moves_one_cell_each_period_and_not_in_between():
    world = moving_world()
    rows = simulate(world, [STAY] * 14)
    x = rows[:, snake.HEAD_X]
    assert list(np.flatnonzero(np.diff(x)) + 1) == [7, 14]
    assert x[-1] - x[0] == 2


def test_a_held_key_turns_once_and_does_not_hurry():
    world = moving_world()
    x, y = head(world)
    rows = simulate(world, [DOWN] * 7)
    assert head(world) == (x, y + 1)
    assert rows[1, snake.HEADING] == snake.DOWN


def test_the_body_follows_the_head():
    world = moving_world()
    simulate(world, [DOWN] * 7)
    before = world.copy()
    simulate(world, [RIGHT] * 7)
    length = int(world[snake.LENGTH])
    for k in range(1, length):
        assert world[snake.BODY_X + k] == before[snake.BODY_X + k - 1]
        assert world[snake.BODY_Y + k] == before[snake.BODY_Y + k - 1]
    assert (world[snake.BODY_X], world[snake.BODY_Y]) == head(before)


def test_turning_straight_back_is_refused():
    world = moving_world()
    x, y = head(world)
    simulate(world, [LEFT] * 7)
    assert head(world) == (x + 1, y)


def test_a_bite_scores_grows_and_places_new_food():
    world = moving_world()
    put_food_ahead(world)
    eaten = world[snake.FOOD_X], world[snake.FOOD_Y]
    length = world[snake.LENGTH]
    rows = simulate(world, [STAY] * 7)
    assert world[SCORE] == 1
    assert rows[-1, REWARD] == 1
    assert rows[:, REWARD].sum() == 1
    assert world[snake.LENGTH] == length + 1
    assert world[snake.BODY_ALIVE : snake.BODY_ALIVE + snake.NUM_SEGMENTS].sum() == length + 1
    assert (world[snake.FOOD_X], world[snake.FOOD_Y]) != eaten


def test_the_eighth_bite_starts_a_faster_level():
    world = moving_world()
    world[snake.EATEN] = snake.FOOD_PER_LEVEL - 1
    speed = world[snake.SPEED]
    put_food_ahead(world)
    simulate(world, [STAY] * 7)
    assert world[LEVEL] == 2
    assert world[snake.EATEN] == 0
    assert world[snake.COOLDOWN] == snake.MOVE_PERIOD - snake.PERIOD_DROP
    assert world[snake.SPEED] > speed


def test_the_wall_costs_a_life_and_the_snake_comes_back():
    world = moving_world()
    world[snake.HEAD_X] = 19.5
    simulate(world, [STAY] * 7)
    assert world[LIVES] == snake.LIVES_AT_START - 1
    assert world[PHASE] == LOST
    assert world[snake.HEAD_X] == 19.5
    simulate(world, [UP] * int(snake.WAIT))
    assert head(world) == (snake.COIL_RIGHT + 1.5, snake.COIL_TOP + 0.5)
    assert world[TERMINATED] == 0


def test_open_walls_wrap_around():
    world = moving_world()
    world[snake.HEAD_X] = 19.5
    y = world[snake.HEAD_Y]
    simulate(world, [STAY] * 7, walls_kill=0.0)
    assert head(world) == (0.5, y)
    assert world[LIVES] == snake.LIVES_AT_START


def bite_own_body(**changes):
    world = GAME.new_world(0, level=5)
    world[snake.FOOD_X], world[snake.FOOD_Y] = 0.5, 19.5
    simulate(world, [DOWN] * int(snake.WAIT) + [LEFT] * 5, **changes)
    return world


def test_biting_the_body_costs_a_life():
    assert bite_own_body()[LIVES] == snake.LIVES_AT_START - 1


def test_a_ghost_body_can_be_crossed():
    assert bite_own_body(body_solid=0.0)[LIVES] == snake.LIVES_AT_START


def test_the_tails_cell_is_free_because_the_tail_moves_on():
    world = moving_world()
    x, y = head(world)
    ring = [(x, y + 1), (x + 1, y + 1), (x + 1, y)]  # neck below, tail to the right
    for k, (column, row) in enumerate(ring):
        world[snake.BODY_X + k], world[snake.BODY_Y + k] = column, row
    world[snake.BODY_DIRECTION] = snake.UP
    simulate(world, [RIGHT] * 7)
    assert head(world) == (x + 1, y)
    assert world[LIVES] == snake.LIVES_AT_START


def test_the_last_life_ends_the_game():
    world = moving_world()
    world[LIVES] = 1
    world[snake.HEAD_X] = 19.5
    rows = simulate(world, [STAY] * 20)
    assert len(rows) == 8
    assert world[PHASE] == OVER
    assert world[TERMINATED] == 1


def test_a_full_body_wins():
    world = GAME.new_world(0, level=9)
    assert world[snake.LENGTH] == snake.NUM_SEGMENTS - 1
    put_food_ahead(world)
    simulate(world, [STAY] * int(snake.WAIT))
    assert world[PHASE] == WON
    assert world[TERMINATED] == 1


def test_the_clock_ends_the_longest_episode():
    world = moving_world()
    world[5] = GAME.manifest.max_ticks - 1
    simulate(world, [STAY])
    assert world[PHASE] == OVER
    assert world[TERMINATED] == 1


@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=60, max_size=400))
def test_snake_and_food_keep_to_the_grid_and_never_overlap(seed, actions):
    world = GAME.new_world(seed, level=1 + seed % 6)
    rows = simulate(world, np.repeat(actions, 3)).astype(float)
    length = rows[:, snake.LENGTH].astype(int)
    n = snake.NUM_SEGMENTS
    xs = rows[:, [snake.HEAD_X, snake.FOOD_X, *range(snake.BODY_X, snake.BODY_X + n)]]
    ys = rows[:, [snake.HEAD_Y, snake.FOOD_Y, *range(snake.BODY_Y, snake.BODY_Y + n)]]
    assert ((xs > 0) & (xs < 20) & (xs % 1 == 0.5)).all()
    assert ((ys > 0) & (ys < 20) & (ys % 1 == 0.5)).all()
    for t in range(0, len(rows), 17):
        cells = set(zip(xs[t, : 2 + length[t]], ys[t, : 2 + length[t]], strict=True))
        assert len(cells) == 2 + length[t]
    assert (np.diff(rows[:, SCORE]) >= 0).all()
    assert (np.diff(rows[:, LIVES]) <= 0).all()
    np.testing.assert_array_equal(np.diff(rows[:, SCORE]), rows[1:, REWARD])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("move_period", 5.0),
        ("period_drop", 3.0),
        ("growth", 2.0),
        ("food_per_level", 2.0),
        ("reverse_kills", 1.0),
        ("walls_kill", 0.0),
        ("body_solid", 0.0),
    ],
)
def test_every_parameter_changes_the_world(name, value):
    def ends(**changes):
        worlds = [GAME.new_world(seed, level=4) for seed in range(5)]
        for seed, world in enumerate(worlds):
            random = np.random.Generator(np.random.Philox(seed))
            simulate(world, np.repeat(random.integers(0, 5, 60), 6), **changes)
        return np.stack(worlds)

    assert not np.array_equal(ends(), ends(**{name: value}))


def test_the_heuristic_player_beats_the_random_one_and_sees_the_late_game():
    clever, blind = play(0.05), play(1.0)
    assert clever[:, SCORE].mean() > 20 * max(blind[:, SCORE].mean(), 1)
    assert np.mean([GAME.late(world) for world in clever]) >= 0.3


def test_segments_carry_their_place_and_the_picture_shows_the_head():
    layout = layout_of(GAME)
    names = GAME.manifest.profile.state_columns
    places = layout.template[snake.BODY :, names.index("segment_index")]
    assert list(places) == list(range(snake.NUM_SEGMENTS))
    rows = simulate(moving_world(), [STAY])
    states, numbers, _ = dense(GAME, rows)
    still = draw_frames(GAME, states[:1], numbers[:1], Appearance(theme="lawn"), 100)
    gone = states[:1].copy()
    gone[0, snake.HEAD_SLOT, 2] = 0
    x, y = states[0, 0, :2] * 100
    changed = (still != draw_frames(GAME, gone, numbers[:1], Appearance(theme="lawn"), 100)).any(-1)
    rows, columns = np.nonzero(changed[0])
    assert len(rows) > 5
    assert abs(rows.mean() - y) < 4
    assert abs(columns.mean() - x) < 4
