"""What the scenarios of snake promise beyond what every scenario does."""

import numpy as np
import pytest

from cosmolabe.bench.staging import stage
from cosmolabe.core.fields import ALIVE, STATE_COLUMNS, X, Y
from cosmolabe.core.scenario import LEAD
from cosmolabe.games.snake import CELL, GAME, STEP_X, STEP_Y
from cosmolabe.scenarios.snake import SCENARIOS

DIRECTION = STATE_COLUMNS.index("direction")
NAMED = {scenario.name: scenario for scenario in SCENARIOS}
CHAIN = [0, *range(2, 48)]


@pytest.mark.parametrize("name", NAMED)
def test_a_laid_snake_is_one_that_the_rules_could_have_made(name):
    states = stage(GAME, NAMED[name], range(20)).windows.states[:, : LEAD + 1, CHAIN]
    places, alive = states[..., [X, Y]], states[:, :, 1:, ALIVE] > 0.5
    ahead = places[:, :, :-1] - places[:, :, 1:]
    ahead = (ahead - np.round(ahead)) / CELL
    ways = states[:, :, 1:, DIRECTION].astype(int)
    expected = np.stack([np.array(STEP_X)[ways], np.array(STEP_Y)[ways]], -1)
    np.testing.assert_allclose(ahead[alive], expected[alive], atol=1e-3)


@pytest.mark.parametrize("name", NAMED)
def test_nothing_is_eaten_and_no_life_lost_before_the_last_context_state(name):
    numbers = stage(GAME, NAMED[name], range(20)).windows.globals[:, : LEAD + 1]
    for wanted in ("score", "lives", "level"):
        column = GAME.manifest.profile.global_fields.index(wanted)
        assert (numbers[:, :, column] == numbers[:, :1, column]).all()


def test_only_the_context_shows_that_the_board_is_a_torus():
    staged = stage(GAME, NAMED["torus_remembered"], range(20))
    x, y = (staged.windows.states[:, : LEAD + 1, [0, 2], axis] for axis in (X, Y))
    assert (np.abs(np.diff(x[:, :, 0], axis=1)) > 0.5).any(1).all()  # the head crossed an edge
    last = np.hypot(*(place[:, -1, 0] - place[:, -1, 1] for place in (x, y)))
    np.testing.assert_allclose(last, CELL, atol=1e-3)  # and all of its body with it
