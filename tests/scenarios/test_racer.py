"""The racer's scenarios know the circuit, and what was passed before the last state."""

import numpy as np
import pytest

from cosmolabe.bench.staging import actions_of, constants_of, opening, stage
from cosmolabe.core.fields import GLOBAL_FIELDS
from cosmolabe.core.scenario import LEAD
from cosmolabe.engine import kernels
from cosmolabe.engine.game import SCORE
from cosmolabe.games import racer
from cosmolabe.scenarios.racer import A2, A3, B2, SCENARIOS, off_line, track

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.mark.parametrize("eighths", np.linspace(0, 8, 17))
def test_the_scenarios_circuit_is_the_games(eighths):
    place, ahead = track(eighths, 0.02)
    assert place == pytest.approx(racer._centre_line(eighths, 0.02, A2, B2, A3), abs=1e-9)
    _off, ahead_x, ahead_y = racer._place_on_track(*track(eighths)[0], A2, B2, A3)
    assert ahead == pytest.approx((ahead_x, ahead_y), abs=1e-9)


def test_cars_start_on_the_asphalt_unless_the_scenario_is_about_grass():
    for scenario in SCENARIOS:
        trace = stage(racer.GAME, scenario, range(20)).trace
        on_grass = np.abs(off_line(trace, "player"))[:, 0] > racer.TRACK_HALF_WIDTH
        assert on_grass.all() == (scenario.name in ("roll_on_grass", "shortcut")), scenario.name
        assert on_grass.all() == on_grass.any(), scenario.name


def test_whether_a_rival_was_passed_before_decides_and_no_state_shows_it():
    again = BY_NAME["pass_it_again"]
    known = np.stack([opening(racer.GAME, again, seed) for seed in range(10)])
    actions = np.tile(actions_of(racer.GAME, again), (10, 1))
    constants = constants_of(racer.GAME, again)[None]
    kernels.advance(racer.GAME.step, known, actions[:, :LEAD].copy(), constants)
    fresh = known.copy()
    fresh[:, racer.BEST_AHEAD] = 3.0
    num_public = racer.GAME.num_public
    np.testing.assert_array_equal(known[:, :num_public], fresh[:, :num_public])
    for worlds, points in ((known, 0), (fresh, racer.OVERTAKE_POINTS)):
        kernels.advance(racer.GAME.step, worlds, actions[:, LEAD:-1].copy(), constants)
        assert (worlds[:, SCORE] == points).all()


def test_the_rival_to_pass_again_is_passed_in_the_context():
    windows = stage(racer.GAME, BY_NAME["pass_it_again"], range(40)).windows
    ahead = windows.globals[..., list(GLOBAL_FIELDS).index("opponent_score")]
    assert (ahead[:, 0] == 2).all()
    assert (ahead[:, 7] == 3).all()
