"""Kong: girders, ladders, jumps, barrels, hammer, flame, the princess, levels and its player."""

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
from cosmolabe.games import kong as g
from cosmolabe.games.kong import GAME

DEFAULT = GAME.default_parameters()
moves = st.lists(st.integers(0, 7), min_size=1, max_size=50)


def top(floor, x):
    return g._top.py_func(floor, x)


def playing(level=1, seed=0):
    """A level just begun, the ape asleep."""
    world = GAME.new_world(seed, level)
    world[g.WAIT], world[PHASE], world[g.THROW] = 0, PLAYING, 1e9
    return world


def stand(world, floor, x):
    world[g.X], world[g.Y] = x, top(floor, x) - g.BODY_HALF_HEIGHT
    world[g.FLOOR] = floor
    return world


def barrel(world, floor, x, slot=0):
    place = g.BARREL + 7 * slot
    world[place : place + 2] = x, top(floor, x) - g.BARREL_RADIUS
    world[place + 4], world[g.BARREL_FLOOR + slot], world[g.BARREL_FALLS + slot] = 1, floor, 0
    return place


def run(world, *actions, parameters=DEFAULT):
    for action in actions:
        GAME.step(world, action, parameters)
    return world


def play(randomness, worlds=12, ticks=g.MAX_TICKS):
    batch = GAME.new_worlds(np.arange(worlds))
    keys = np.random.default_rng(1).integers(0, 2**32, (worlds, 2)).astype(np.uint64)
    actions = np.zeros((worlds, ticks), np.uint8)
    frames = np.zeros((worlds * (-(-ticks // 64)), GAME.num_world))
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
        np.zeros(worlds, np.int64),
    )
    return batch


def test_the_climber_follows_the_slope_and_looks_where_he_goes():
    world = run(stand(playing(), 1, 0.5), *[g.RIGHT] * 20)
    assert world[g.X] == pytest.approx(0.5 + 20 * g.WALK_SPEED)
    assert world[g.Y] == top(1, world[g.X]) - g.BODY_HALF_HEIGHT
    assert world[g.FACING] == 1
    assert run(world, g.LEFT)[g.FACING] == 3


def test_a_ladder_leads_up_and_down_and_shows_the_climbing():
    world = playing()
    x = world[g.LADDER]
    stand(world, 0, x + 0.01)
    run(world, g.UP)
    assert world[g.CLIMBING] == 1
    assert world[g.ON_GROUND] == 0
    assert world[g.X] == x
    run(world, *[g.UP] * 45)
    assert world[g.CLIMBING] == 0
    assert world[g.FLOOR] == 1
    assert world[g.Y] == top(1, x) - g.BODY_HALF_HEIGHT
    run(world, *[g.DOWN] * 50)
    assert world[g.FLOOR] == 0
    assert world[g.ON_GROUND] == 1


def test_away_from_a_ladder_up_and_down_do_nothing():
    world = stand(playing(), 2, 0.5)
    before = world[[g.X, g.Y]].copy()
    run(world, g.UP, g.DOWN, g.UP)
    np.testing.assert_allclose(world[[g.X, g.Y]], before, atol=1e-12)


def test_a_jump_keeps_its_course_and_comes_down_on_the_same_girder():
    world = run(stand(playing(), 3, 0.5), g.JUMP_RIGHT)
    heights = []
    while world[g.ON_GROUND] == 0:
        heights.append(run(world, g.LEFT)[g.Y])
    assert world[g.FLOOR] == 3
    assert world[g.X] > 0.6
    assert 0.045 < top(3, 0.5) - g.BODY_HALF_HEIGHT - min(heights) < 0.07


def test_a_held_jump_does_not_jump_again():
    world = run(stand(playing(), 3, 0.5), *[g.JUMP] * 60)
    assert world[g.ON_GROUND] == 1


def test_stepping_over_an_end_is_a_deadly_fall():
    world = run(stand(playing(), 3, 0.89), *[g.RIGHT] * 30)
    assert world[PHASE] == LOST
    assert world[LIVES] == g.NUM_LIVES - 1


def test_a_barrel_rolls_down_every_girder_into_the_drum():
    still = GAME.default_parameters(ladder_chance=0)
    world = stand(playing(), 0, 0.14)
    world[g.HELD_HAMMER], world[g.HAMMER_LEFT] = 0, 0
    still[g.P_SOLID] = 0
    place = barrel(world, 5, 0.2)
    floors, ticks = [5.0], 0
    while world[place + 4] == 1 and ticks < 1200:
        run(world, g.STAY, parameters=still)
        ticks += 1
        if world[g.BARREL_FLOOR] != floors[-1]:
            floors.append(world[g.BARREL_FLOOR])
    assert floors == [5, 4, 3, 2, 1, 0]
    assert world[place] < g.OIL_X + 0.03
    assert 600 < ticks < 1100


def test_a_barrel_bounces_where_it_lands():
    world = stand(playing(), 0, 0.3)
    place = barrel(world, 5, 0.895)
    speeds = [run(world, g.STAY)[place + 3] for _ in range(60)]
    assert max(speeds) > 0.008
    assert min(speeds) < -0.2 * max(speeds)


@pytest.mark.parametrize(("chance", "takes"), [(1.0, 1), (0.0, 0)])
def test_a_barrel_may_take_the_ladder_above_the_climber(chance, takes):
    parameters = GAME.default_parameters(ladder_chance=chance)
    world = stand(playing(), 0, 0.3)
    ladder = world[g.LADDER + 4]
    place = barrel(world, 3, ladder - 0.01)
    run(world, *[g.STAY] * 4, parameters=parameters)
    assert world[place + 5] == takes
    assert (world[place] == ladder) == bool(takes)
    stand(world, 5, 0.5)
    barrel(world, 3, ladder - 0.01)
    world[place + 5] = 0
    run(world, *[g.STAY] * 4, parameters=parameters)
    assert world[place + 5] == 0


def test_jumping_a_barrel_pays_once():
    world = stand(playing(), 2, 0.5)
    barrel(world, 2, 0.58)
    run(world, *[g.JUMP] * 30)
    assert world[SCORE] == g.JUMP_POINTS
    assert world[g.ALIVE] == 1


def test_a_barrel_kills_and_the_level_starts_afresh():
    world = stand(playing(), 2, 0.5)
    place = barrel(world, 2, 0.55)
    while world[PHASE] == PLAYING:
        run(world, g.STAY)
    assert world[PHASE] == LOST
    assert world[g.ALIVE] == 0
    x = world[g.X]
    run(world, *[g.LEFT] * int(g.LOST_WAIT - 1))
    assert world[g.X] == x
    run(world, g.STAY)
    assert world[g.ALIVE] == 1
    assert world[g.FLOOR] == 0
    assert world[place + 4] == 0
    assert world[LEVEL] == 1


def test_ghost_barrels_do_no_harm():
    world = stand(playing(), 2, 0.5)
    barrel(world, 2, 0.55)
    run(world, *[g.STAY] * 20, parameters=GAME.default_parameters(barrels_solid=0))
    assert world[g.ALIVE] == 1


def test_the_hammer_is_taken_with_a_jump_smashes_and_wears_out():
    world = playing()
    stand(world, g.HAMMER_FLOOR, world[g.HAMMER_X])
    run(world, *[g.JUMP] * 30)
    assert world[g.HELD_HAMMER] == 1
    place = barrel(world, 2, world[g.X] + 0.12)
    while world[place + 4] == 1:
        run(world, g.STAY)
    assert world[REWARD] == g.SMASH_POINTS
    assert world[g.ALIVE] == 1
    x = world[g.LADDER + 4]
    stand(world, 2, x)
    run(world, g.UP, g.JUMP)
    assert world[g.ON_GROUND] == 1
    run(world, *[g.STAY] * int(g.HAMMER_TICKS))
    assert world[g.HELD_HAMMER] == 0
    assert world[g.HAMMER_ALIVE] == 0


def test_the_flame_kills_and_stays_on_girders_and_ladders():
    world = stand(playing(seed=4), 5, 0.5)
    g._light.py_func(world)
    world[g.TIME] = 1e9
    climbed, floors = False, set()
    for _ in range(2500):
        stand(world, 5, 0.5)
        run(world, g.STAY)
        climbed = climbed or world[g.FLAME_CLIMBS] == 1
        floor = int(world[g.FLAME_FLOOR_NOW])
        floors.add(floor)
        if world[g.FLAME_CLIMBS] == 0:
            bottom = world[g.FLAME_Y] + g.FLAME_HALF_HEIGHT
            assert bottom == pytest.approx(top(floor, world[g.FLAME_X]), abs=1e-9)
    assert climbed
    assert len(floors) > 1
    assert max(floors) <= g.FLAME_FLOOR
    world[g.FLAME_CLIMBS], world[g.FLAME_FLOOR_NOW] = 0, 2
    stand(world, 2, 0.5)
    world[g.FLAME_X] = 0.5
    assert run(world, g.STAY)[PHASE] == LOST


def test_the_princess_pays_for_the_time_left_and_opens_the_next_level():
    world = playing()
    x = world[g.LADDER + 10]
    stand(world, 5, x)
    run(world, *[g.UP] * 40)
    assert world[PHASE] == WON
    assert world[SCORE] == 100 * np.floor(50 * world[g.TIME] / g.LEVEL_TICKS)
    run(world, *[g.STAY] * int(g.WON_WAIT))
    assert world[LEVEL] == 2
    assert world[g.FLOOR] == 0


def test_the_last_princess_wins_and_the_last_life_loses():
    world = playing(int(g.LAST_LEVEL))
    stand(world, 5, world[g.LADDER + 10])
    run(world, *[g.UP] * 40)
    assert world[PHASE] == WON
    assert world[TERMINATED] == 1
    world = playing()
    world[LIVES], world[g.TIME] = 1, 1
    run(world, g.STAY)
    assert world[PHASE] == OVER
    assert world[TERMINATED] == 1


def test_the_ape_winds_up_before_it_throws_and_throws_more_often_later():
    world = GAME.new_world(1)
    seen = []
    for _ in range(200):
        run(world, g.STAY)
        seen.append((world[g.WINDING], world[g.BARREL + 4]))
    first = [alive for _, alive in seen].index(1)
    assert all(winding for winding, _ in seen[first - 10 : first])
    counts = []
    for level in (1, 4):
        total = 0
        for seed in range(6):
            world = stand(GAME.new_world(seed, level), 0, 0.5)
            world[LIVES] = 99
            ghost = GAME.default_parameters(barrels_solid=0)
            before = 0
            for _ in range(600):
                run(world, g.STAY, parameters=ghost)
                now = world[g.BARREL + 4 : g.BARREL + 35 : 7].sum()
                total += max(now - before, 0)
                before = now
        counts.append(total)
    assert counts[1] > counts[0]


def test_ladders_follow_from_the_level_alone_and_join_their_girders():
    one, other, next_level = GAME.new_world(1, 2), GAME.new_world(2, 2), GAME.new_world(1, 3)
    ladders = slice(g.LADDER, g.LADDER + 12)
    np.testing.assert_array_equal(one[ladders], other[ladders])
    assert (one[ladders][::2] != next_level[ladders][::2]).any()
    for k, (x, y) in enumerate(one[ladders].reshape(6, 2)):
        assert g.LEFT_ENDS[k] < x < g.RIGHT_ENDS[k]
        assert g.LEFT_ENDS[k + 1] < x < g.RIGHT_ENDS[k + 1]
        assert abs(top(k, x) - y - g.LADDER_HALF_HEIGHT) < 0.01


@given(seed=st.integers(0, 99), level=st.integers(1, 4), actions=moves)
def test_everything_stays_on_the_screen_and_points_never_fall(seed, level, actions):
    world = GAME.new_world(seed, level)
    score = 0.0
    for action in actions:
        for _ in range(8):
            run(world, action)
            assert world[SCORE] >= score
            score = world[SCORE]
            xs = [world[g.X], *world[g.BARREL : g.BARREL + 35 : 7], world[g.FLAME_X]]
            ys = [world[g.Y], *world[g.BARREL + 1 : g.BARREL + 35 : 7], world[g.FLAME_Y]]
            assert all(0 <= place <= 1 for place in (*xs, *ys, world[g.HAMMER_Y]))
            assert np.isfinite(world).all()
            assert world[g.ON_GROUND] == (world[g.FLOOR] >= 0)
            assert not (world[g.ON_GROUND] and world[g.CLIMBING])


CHANGES = {
    "gravity": 0.001,
    "walk_speed": 0.003,
    "climb_speed": 0.002,
    "jump_speed": 0.006,
    "barrel_speed": 0.01,
    "barrel_restitution": 0.9,
    "ladder_chance": 1.0,
    "barrels_solid": 0.0,
}


@pytest.mark.parametrize("name", GAME.parameters)
def test_every_parameter_changes_the_world(name):
    other = GAME.default_parameters(**{name: CHANGES[name]})
    script = [g.RIGHT] * 4 + [g.LEFT] * 4 + [g.JUMP] * 30 + [g.UP] * 12
    paths = []
    for parameters in (DEFAULT, other):
        world = stand(playing(), 2, GAME.new_world(0)[g.LADDER + 4])
        barrel(world, 5, 0.89, slot=0)
        for slot in (1, 2, 3):
            barrel(world, 4, world[g.LADDER + 6] + 0.06 * slot, slot)
        barrel(world, 2, world[g.X] + 0.27, slot=4)
        path = [run(world, action, parameters=parameters).tobytes() for action in script]
        paths.append(path)
    assert paths[0] != paths[1]


def test_the_heuristic_player_climbs_to_the_top_and_beats_chance():
    skilled, lucky = play(0.05), play(1.0)
    assert skilled[:, SCORE].mean() > 4 * lucky[:, SCORE].mean()
    assert np.mean(skilled[:, LEVEL] >= 2) >= 0.7
    assert np.mean(skilled[:, LEVEL] >= 3) >= 0.3


def test_the_picture_shows_the_barrel_the_ape_winds_up_with_and_the_climber_while_alive():
    world = playing()
    winding, dead = world.copy(), world.copy()
    winding[g.WINDING], dead[g.ALIVE] = 1, 0
    rows = np.stack([w[: GAME.num_public] for w in (world, winding, dead)]).astype(np.float32)
    states, numbers, _ = dense(GAME, rows)
    plain, raised, gone = draw_frames(GAME, states, numbers, size=112).astype(int)
    rows, _ = np.nonzero(np.abs(plain - raised).sum(-1))
    assert rows.max() < 40
    rows, columns = np.nonzero(np.abs(plain - gone).sum(-1))
    assert rows.min() > 90
    assert columns.max() < 25
