"""The published tables: floors of a game, the resumable grid, and the quick check."""

import pytest

from cosmolabe.bench.callback import quick_check
from cosmolabe.bench.headroom import headroom_table
from cosmolabe.bench.tables import GridRecipe, fill
from cosmolabe.core.record import read_json

RECIPE = GridRecipe(
    "tiny",
    games=("pong",),
    models=("still", "constant_velocity"),
    seeds=(0, 1),
    steps=1,
    seconds=None,
    train_episodes=2,
    test_episodes=6,
)


def test_floors_and_ceiling_of_a_game_become_one_row(tmp_path):
    told = []
    rows = headroom_table(tmp_path, tmp_path / "floors.json", ["pong"], 6, told.append)
    assert rows == told
    assert [row["game"] for row in read_json(tmp_path / "floors.json")] == ["pong"]
    row = rows[0]
    best = max(row["still"], row["constant_velocity"])
    assert row["headroom"] == pytest.approx(row["stochastic_ceiling"] - best)
    assert row["headroom_low"] <= row["headroom"] <= row["headroom_high"]
    assert row["n"] + row["skipped"] == 6


def test_the_grid_fills_every_cell_once_and_goes_on_where_it_stopped(tmp_path):
    out, told = tmp_path / "models.json", []

    def stop_after_two(row):
        told.append(row)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(RECIPE, tmp_path / "work", out, stop_after_two)
    assert len(read_json(out)) == 2
    rows = fill(RECIPE, tmp_path / "work", out, told.append)
    cells = [(row["model"], row["seed"]) for row in rows]
    assert cells == [(m, s) for s in (0, 1) for m in ("still", "constant_velocity")]
    assert len(told) == 4
    assert fill(RECIPE, tmp_path / "work", out, told.append) == rows
    assert len(told) == 4
    still = rows[0]
    assert still["final"] == pytest.approx(still["still"])
    assert {"skill", "ceiling", "headroom", "recipe", "steps", "seconds"} <= set(still)


def test_a_recipe_is_stored_first_and_its_name_cannot_mean_two_things(tmp_path):
    out = tmp_path / "models.json"
    fill(RECIPE, tmp_path / "work", out)
    stored = read_json(tmp_path / "recipes" / "tiny.json")
    assert stored["fingerprint"] == RECIPE.fingerprint
    other = GridRecipe("tiny", games=("pong",), models=("still",), steps=2, seconds=None)
    with pytest.raises(ValueError, match="another recipe"):
        fill(other, tmp_path / "work", out)


def test_a_grid_without_an_end_or_a_model_is_refused():
    with pytest.raises(ValueError, match="needs an end"):
        GridRecipe(steps=None, seconds=None)
    with pytest.raises(ValueError, match="at least one model"):
        GridRecipe(models=())


def test_a_quick_check_judges_the_same_windows_every_time(pong, noisy):
    check = quick_check(pong, seconds=5.0, split="test")
    good, bad = check(noisy(0.0)), check(noisy(0.2), "a trainer's own argument")
    assert bad.value < good.value
    assert good.data == bad.data
    assert good.floor == pytest.approx(max(good.floor, good.value))
    assert check.history == [good, bad]


def test_a_quick_check_of_a_slow_model_takes_fewer_windows(pong, noisy):
    class Slow(noisy):
        def rollout(self, context, seed=0):
            import time

            time.sleep(0.1)
            return super().rollout(context, seed)

    assert quick_check(pong, seconds=0.05, split="test")(Slow()).n == 16
    with pytest.raises(ValueError, match="above 0"):
        quick_check(pong, seconds=0.0)
