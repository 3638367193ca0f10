"""What the scenarios of asteroids promise beyond what every scenario does."""

import numpy as np
import pytest

from cosmolabe.bench.staging import opening, stage
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.scenario import LEAD
from cosmolabe.engine import kernels
from cosmolabe.games.asteroids import (
    ACTIONS,
    BULLET,
    BULLETS_AT,
    COOLDOWN,
    GAME,
    NUM_BULLETS,
    ROCK,
    WAVE_WAIT,
)
from cosmolabe.games.asteroids import ALIVE as ALIVE_AT
from cosmolabe.scenarios.asteroids import SCENARIOS

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
CONSTANTS = GAME.default_parameters()[None]


@pytest.mark.parametrize("name", NAMED)
def test_no_ship_is_lost_before_the_last_context_state(name):
    windows = stage(GAME, NAMED[name], range(40)).windows
    lives = windows.globals[:, : LEAD + 1, GAME.manifest.profile.global_fields.index("lives")]
    assert (lives == lives[:, :1]).all()
    assert (windows.states[:, : LEAD + 1, 0, ALIVE] == (name != "next_ship")).all()


def world_after_the_lead(name, seed):
    world = opening(GAME, NAMED[name], seed)[None].copy()
    fire = ACTIONS.index("fire")
    lead = np.array([[0, 0, fire, 0, 0, 0, 0]], np.uint8)
    kernels.advance(GAME.step, world, lead, CONSTANTS)
    return world


@pytest.mark.parametrize("remembered", [True, False])
def test_without_the_shot_in_the_context_the_same_state_would_shoot_at_once(remembered):
    for seed in range(20):
        world = world_after_the_lead("reload_remembered", seed)
        bullets = slice(BULLETS_AT + ALIVE_AT, BULLETS_AT + 6 * NUM_BULLETS, 6)
        assert not world[0, bullets].any()
        if not remembered:
            world[0, COOLDOWN] = 0.0
        kernels.advance(GAME.step, world, np.array([[ACTIONS.index("fire")]], np.uint8), CONSTANTS)
        assert world[0, bullets].any() != remembered


def test_the_shot_to_remember_is_seen_in_the_context():
    states = stage(GAME, NAMED["reload_remembered"], range(20)).windows.states
    shots = states[:, : LEAD + 1, BULLET : BULLET + NUM_BULLETS, ALIVE]
    assert shots.any((1, 2)).all()
    assert not shots[:, LEAD].any()


def test_the_next_wave_comes_so_long_after_the_last_rock_went_and_not_at_a_fixed_step():
    windows = stage(GAME, NAMED["next_wave"], range(40)).windows
    went = np.argmin(windows.states[:, :, ROCK:, ALIVE].any(2), axis=1)
    level = windows.globals[:, :, GAME.manifest.profile.global_fields.index("level")]
    came = np.argmax(level > level[:, :1], axis=1)
    assert (went <= LEAD).all()
    np.testing.assert_array_equal(came - went, WAVE_WAIT)
    assert len(set(came)) > 2
