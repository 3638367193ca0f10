"""A player that practised in what a model imagines plays the true game.

Needs the extra `rl`.
"""

from dataclasses import replace

import pytest

pytest.importorskip("stable_baselines3", reason="pip install 'cosmolabe[rl]'")

from cosmolabe.bench.planning.players import USUAL, train_inside
from cosmolabe.core import parts
from cosmolabe.data.collect import collect

FEW = replace(USUAL, episodes=8, ticks=120)


@pytest.fixture(scope="module")
def pong(tmp_path_factory):
    return collect("pong", tmp_path_factory.mktemp("pong"), 32, split="train", max_ticks=400)


def test_a_player_of_a_model_is_measured_beside_one_of_the_true_game(pong):
    model = parts.load("models", "constant_velocity").create(pong.manifest)
    row, again = (train_inside(model, pong, 4096, 32, protocol=FEW) for _ in range(2))
    same = {name: value for name, value in row.items() if not name.startswith("seconds")}
    for name, value in same.items():
        assert again[name] == value or value != value
    assert row["decisions"] == 4096
    assert row["return_heuristic"] > row["return_random"]
    assert row["return_inside"] != row["return_true"]
