"""Kong's scenarios know the girders, and what the last state does not tell."""

import numpy as np
import pytest

from cosmolabe.bench.staging import stage
from cosmolabe.games import kong
from cosmolabe.scenarios.kong import SCENARIOS, top

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.mark.parametrize("floor", range(kong.TOP + 1))
def test_the_scenarios_girders_are_the_games(floor):
    for x in np.linspace(0, 1, 11):
        assert top(floor, x) == pytest.approx(kong._top(floor, x), abs=1e-12)


def test_a_held_button_looks_like_a_free_one_in_the_last_state():
    scenario, fresh = BY_NAME["held_jump"], "stay*7,jump*25"
    held = stage(kong.GAME, scenario, range(10)).trace
    free = stage(kong.GAME, scenario, range(10), script=fresh).trace
    np.testing.assert_array_equal(held.states[:, 0], free.states[:, 0])
    assert (free.y("player").min(1) < held.y("player").min(1) - 0.04).all()


def test_barrels_fall_or_climb_down_to_every_kind_of_girder_without_meeting_the_player():
    for name in ("barrels_roll_downhill", "barrel_falls", "barrel_takes_ladder"):
        assert stage(kong.GAME, BY_NAME[name], range(50)).trace.alive("player").all()
