"""What leaves a store as Minari datasets is loaded and sampled by Minari itself.

Needs the extra `minari`.
"""

import os

import numpy as np
import pytest
from gymnasium import spaces

minari = pytest.importorskip("minari", reason="pip install 'cosmolabe[minari]'")
pytest.importorskip("h5py", reason="pip install 'cosmolabe[minari]'")

from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data import minari_export
from cosmolabe.data.collect import collect
from cosmolabe.data.minari_export import export_minari
from cosmolabe.data.pack import PackedWriter, pack_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("breakout", tmp_path_factory.mktemp("minari") / "store", 12, max_ticks=90)


def load(folder, name, monkeypatch):
    monkeypatch.setenv(minari_export.ROOT, str(folder))
    return minari.load_dataset(name)


@pytest.mark.parametrize("kind", ["replay", "packed"])
def test_minari_reads_every_step(store, tmp_path, monkeypatch, kind):
    source = store if kind == "replay" else pack_store(store, tmp_path / "packed")
    monkeypatch.setattr(minari_export, "TOGETHER", 3)
    steps = export_minari(source, tmp_path / "out")
    assert steps == (store.lengths - 1).sum()
    reward = source.manifest.profile.global_fields.index("reward")
    for split in ("train", "val", "test"):
        found = load(tmp_path / "out", f"breakout/{split}-v1", monkeypatch)
        numbers = source.split(split)
        assert found.total_episodes == len(numbers)
        for number, got in zip(numbers, found.iterate_episodes(), strict=True):
            episode = source.episode(number)
            np.testing.assert_array_equal(got.observations["states"], episode.states)
            np.testing.assert_array_equal(got.observations["globals"], episode.globals)
            np.testing.assert_array_equal(got.rewards, episode.globals[1:, reward])
            np.testing.assert_array_equal(got.terminations, episode.terminal[1:])
            assert got.truncations.tolist() == [False] * (len(episode) - 2) + [episode.truncated]
            assert found.observation_space.contains(
                {name: value[0] for name, value in got.observations.items()}
            )
            assert all(found.action_space.contains(action) for action in got.actions)
            if kind == "replay":
                np.testing.assert_array_equal(got.actions, source.actions(number))
            else:
                moves = [source.manifest.profile.action_fields.index(n) for n in found_actions()]
                np.testing.assert_array_equal(got.actions, episode.actions[:-1, moves])
    assert isinstance(found.action_space, spaces.Discrete if kind == "replay" else spaces.Box)


def found_actions():
    from cosmolabe.core import parts
    from cosmolabe.data.exporting import action_names

    return action_names(parts.load("games", "breakout").manifest)


def test_seeds_players_and_names_are_told(store, tmp_path, monkeypatch):
    export_minari(store, tmp_path / "out", split="train")
    found = load(tmp_path / "out", "breakout/train-v1", monkeypatch)
    told = list(found.storage.get_episode_metadata(range(found.total_episodes)))
    numbers = store.split("train")
    assert [one["seed"] for one in told] == [store.seed(number) for number in numbers]
    assert [one["options"]["player"] for one in told] == [store.player(n) for n in numbers]
    assert "state_columns: x, y, alive" in found.storage.metadata["description"]
    assert not (tmp_path / "out" / "breakout" / "val-v1").exists()


def test_the_users_own_datasets_are_left_alone(store, tmp_path, monkeypatch):
    monkeypatch.setenv(minari_export.ROOT, str(tmp_path / "own"))
    export_minari(store, tmp_path / "out", split="test")
    assert os.environ[minari_export.ROOT] == str(tmp_path / "own")
    assert not (tmp_path / "own" / "breakout").exists()


def test_a_game_without_rewards_is_refused(tmp_path, store):
    manifest = Manifest("quiet", 1, (Slot("a", "player"),), globals=())
    writer = PackedWriter(tmp_path / "quiet", manifest)
    one = store.episode(0)
    writer.add(
        type(one)(
            manifest.registry(), one.states[:, :1], one.actions, one.globals, one.terminal, True
        )
    )
    with pytest.raises(ValueError, match="no global 'reward'"):
        export_minari(writer.finish(), tmp_path / "out")
