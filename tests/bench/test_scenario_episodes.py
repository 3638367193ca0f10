"""The scenario split is made of scenarios alone, and plays again from its first keyframes."""

import numpy as np
import pytest

from cosmolabe.bench.scenario_episodes import ScenarioEpisodes
from cosmolabe.bench.staging import actions_of, opening
from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.core.scenario import LEAD
from cosmolabe.data.collect import collect
from cosmolabe.data.coverage import coverage
from cosmolabe.data.damage import Damage
from cosmolabe.data.replay import SCRIPT
from cosmolabe.data.store import open_store
from cosmolabe.data.twins import twins

GAME = "pong"
EPISODES = 90
SHARES = {"train": 1, "scenario": 3}


@pytest.fixture(scope="module")
def starts():
    return ScenarioEpisodes(GAME)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, starts):
    folder = tmp_path_factory.mktemp("scenarios") / "store"
    collect(
        GAME, folder, EPISODES, shares=SHARES, shard_size=16, max_ticks=120, starts=starts,
        players=("random",),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def store(folder):
    return open_store(folder)


def test_every_scenario_takes_its_turn(store, starts):
    numbers = store.split("scenario")
    assert len(numbers) > 2 * len(starts.names), "scripts and twins both"
    told = [store.scenario(number) for number in numbers]
    assert told == [starts.names[k % len(starts.names)] for k in range(len(numbers))]
    assert {store.player(number) for number in numbers} == {SCRIPT}
    assert store.scenario(store.split("train")[0]) == ""
    assert store.player(store.split("train")[0]) == "random"


def test_an_episode_starts_and_goes_as_its_scenario_says(store, starts):
    game = parts.load("games", GAME)
    numbers = store.split("scenario")
    every = {scenario.name: scenario for scenario in parts.load("scenarios", GAME)}
    count = len(starts.names)
    for index in (0, 5, count, count + 5, 2 * count + 1):
        scenario = every[starts.names[index % count]]
        start = store.worlds(numbers[[index]], np.zeros(1, np.int64))[0]
        assert np.array_equal(start, opening(game, scenario, index // count // 2))
        script = actions_of(game, scenario, scenario.twin if index // count % 2 else None)
        played = store.actions(numbers[index])
        assert np.array_equal(played, script[: len(played)])
        whole = len(played) == LEAD + scenario.horizon
        assert whole or store.terminated(numbers[index])


def test_an_episode_and_its_twin_begin_alike_and_part(store, starts):
    numbers, count = store.split("scenario"), len(starts.names)
    parted = 0
    for index in range(count):
        true, twin = (store.episode(numbers[k]) for k in (index, index + count))
        assert np.array_equal(true.states[: LEAD + 1], twin.states[: LEAD + 1])
        length = min(len(true), len(twin))
        parted += not np.array_equal(true.states[:length], twin.states[:length])
    assert parted > count / 2


def test_every_episode_plays_again_and_a_moved_start_is_noticed(store, folder):
    assert store.verify() == EPISODES
    shard = store._load(len(store.rows) - 1)
    shard.arrays["keyframes"][shard.key_starts[0], 7] += 0.01
    with pytest.raises(ValueError, match="do not play again"):
        store._verify_states(shard, folder, scripted=True)
    shard.arrays["keyframes"][shard.key_starts[0], 7] -= 0.01


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_two_workers_and_an_interruption_change_no_byte(folder, tmp_path, starts):
    plan = {"shares": SHARES, "shard_size": 16, "max_ticks": 120, "players": ("random",)}
    collect(GAME, tmp_path / "a", EPISODES, **plan, starts=starts, workers=2)
    assert contents(tmp_path / "a") == contents(folder)
    (tmp_path / "a" / "index.json").unlink()
    sorted((tmp_path / "a").glob("scenario*.shard"))[1].unlink()
    collect(GAME, tmp_path / "a", EPISODES, **plan, starts=ScenarioEpisodes(GAME))
    assert contents(tmp_path / "a") == contents(folder)


def test_another_salt_starts_elsewhere(starts):
    mine, other = starts.episode("public", 0)[0], starts.episode("secret", 0)[0]
    assert not np.array_equal(mine, other)


def test_coverage_counts_scenarios_apart(store):
    rows = {row.player: row for row in coverage(store)}
    assert rows[SCRIPT].episodes == len(store.split("scenario"))
    assert rows["all"].episodes == EPISODES


def test_a_scenario_can_be_damaged_like_any_episode(store):
    number = next(n for n in store.split("scenario") if store.scenario(n) == "free_flight")
    pair = twins(store, number, Damage("freeze", 1.0, 10, "ball"))
    assert np.array_equal(pair.true.states[:10], pair.damaged.states[:10])
    assert not np.array_equal(pair.true.states[11:20], pair.damaged.states[11:20])


def test_the_split_is_refused_without_scenarios(tmp_path):
    with pytest.raises(ValueError, match="holds scenarios alone"):
        collect(GAME, tmp_path / "a", 4, split="scenario")
    assert not (tmp_path / "a").exists()


def test_a_record_with_nonsense_for_scenarios_is_refused(folder, tmp_path):
    record = read_json(folder / "record.json")
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    write_json(tmp_path / "record.json", {**record, "scenarios": 7})
    with pytest.raises(ValueError, match="scenarios is 7"):
        open_store(tmp_path)
