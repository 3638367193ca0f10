"""The platformer's scenarios of memory: the same last state, another outcome."""

from dataclasses import replace

import numpy as np

from cosmolabe.bench.staging import stage
from cosmolabe.games.platformer import GAME
from cosmolabe.scenarios.platformer import SCENARIOS

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


def test_when_the_jump_was_pressed_shows_in_the_context_alone():
    late = BY_NAME["early_press_jumps"]
    early = replace(late, script=BY_NAME["too_early_press"].script, horizon=late.horizon)
    jumps, stays = (stage(GAME, scenario, range(30)).trace for scenario in (late, early))
    np.testing.assert_array_equal(jumps.states[:, 0], stays.states[:, 0])
    assert (jumps.y("player")[:, 6:].min(1) < stays.y("player")[:, 6:].min(1) - 0.08).all()


def test_a_held_button_looks_like_a_free_one_in_the_last_state():
    scenario = BY_NAME["held_button"]
    held = stage(GAME, scenario, range(10)).trace
    free = stage(GAME, scenario, range(10), script="stay*7,jump*25").trace
    np.testing.assert_array_equal(held.states[:, 0], free.states[:, 0])
    assert (free.y("player").min(1) < held.y("player").min(1) - 0.15).all()


def test_no_scenario_gathers_coins_in_its_context():
    for scenario in SCENARIOS:
        scores = stage(GAME, scenario, range(40)).windows.globals[:, :8, 0]
        assert (scores == 0).all(), scenario.name
