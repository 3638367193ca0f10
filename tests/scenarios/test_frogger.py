"""What the scenarios of frogger promise beyond what every scenario does."""

import numpy as np
import pytest

from cosmolabe.bench.staging import stage
from cosmolabe.core.fields import ALIVE, HISTORY, STATE_COLUMNS, VX, X
from cosmolabe.core.scenario import LEAD
from cosmolabe.games.frogger import COUNT, FIRST, GAME, OBJECT
from cosmolabe.scenarios.frogger import SCENARIOS, SEDANS

NAMED = {scenario.name: scenario for scenario in SCENARIOS}
OVER = [STATE_COLUMNS.index(name) for name in HISTORY if name.startswith("dx")]


@pytest.mark.parametrize("name", NAMED)
def test_the_frog_comes_to_no_harm_before_the_last_context_state(name):
    windows = stage(GAME, NAMED[name], range(40)).windows
    lives = windows.globals[:, : LEAD + 1, GAME.manifest.profile.global_fields.index("lives")]
    assert (lives == lives[:, :1]).all()
    assert (windows.states[:, : LEAD + 1, 0, ALIVE] == (name != "next_frog")).all()


def test_a_resting_lane_shows_in_the_context_alone_which_way_it_ran():
    windows = stage(GAME, NAMED["lane_remembered"], range(40)).windows
    first = OBJECT + FIRST[SEDANS]
    lane = windows.states[:, :, first : first + COUNT[SEDANS]]
    assert (lane[:, LEAD, :, [VX, *OVER]] == 0).all()
    ran = lane[:, LEAD, :, X] - lane[:, 0, :, X]
    assert (ran - np.round(ran) > 0.005).all()  # to the right, while sedans run to the left


def test_of_the_same_hop_luck_decides_nothing_but_where_the_lanes_are():
    one, other = (stage(GAME, NAMED["hop"], range(20), stream=k).trace for k in (1, 2))
    np.testing.assert_array_equal(one.states, other.states)
