"""Lags of actions and frames are found exactly; where nothing shows, none is claimed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.episode import Episode
from cosmolabe.core.manifest import Manifest, Slot
from cosmolabe.data.alignment import (
    Alignment,
    align,
    align_episodes,
    held_out_errors,
    sample,
    verdict,
)
from cosmolabe.data.collect import collect
from cosmolabe.data.envelopes import export_envelopes, import_envelopes
from cosmolabe.data.frame_alignment import agreement, verdict_of
from cosmolabe.data.pack import PackedWriter, pack_store

ANSWERING = [name for name in parts.names("games") if name in (
    "asteroids", "breakout", "frogger", "kong", "platformer", "pong", "racer", "snake"
)]  # fmt: skip


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    return {
        name: collect(name, folder / name, 24, max_ticks=400, players=("random",))
        for name in ANSWERING
    }


def shifted(episode: Episode, by: int) -> Episode:
    """The episode with its actions moved `by` rows down, as a log that is off has them."""
    return replace(episode, actions=np.roll(episode.actions, by, axis=0))


@pytest.mark.parametrize("name", ANSWERING)
def test_our_own_games_are_aligned(name, stores):
    assert verdict(align(stores[name])).best == 0


@settings(max_examples=10)
@given(name=st.sampled_from(ANSWERING), by=st.sampled_from([-2, -1, 1, 2]))
def test_a_log_that_is_off_is_found_out_to_the_row(name, by, stores):
    episodes = [shifted(episode, by) for episode in sample(stores[name], 48, 0)]
    found = verdict(align_episodes(stores[name].manifest, episodes))
    assert found.best == by
    assert not found.ok


def test_a_packed_store_says_the_same_as_the_replay_store_it_came_from(stores, tmp_path):
    packed = pack_store(stores["pong"], tmp_path / "packed")
    one, other = align(stores["pong"]), align(packed)
    assert [a.lags for a in one] == [a.lags for a in other]


def test_a_packed_store_that_is_off_is_found_out(stores, tmp_path):
    source = stores["pong"]
    writer = PackedWriter(tmp_path / "off", source.manifest)
    for number in range(len(source)):
        actions = np.roll(source.episode(number).actions, 1, axis=0)
        actions[-1] = 0
        writer.add(replace(source.episode(number), actions=actions), "train", str(number), "random")
    assert verdict(align(writer.finish())).best == 1


@pytest.mark.parametrize("how", ["none", "another episode's"])
def test_actions_that_do_nothing_leave_it_open(how, stores):
    for name in ("pong", "asteroids", "racer"):
        episodes = sample(stores[name], 48, 0)
        if how == "none":
            episodes = [replace(e, actions=np.zeros_like(e.actions)) for e in episodes]
        else:
            length = min(len(e) for e in episodes)
            others = [*episodes[1:], episodes[0]]
            episodes = [
                Episode(
                    e.registry, e.states[:length], o.actions[:length], e.globals[:length],
                    e.terminal[:length],
                )
                for e, o in zip(episodes, others, strict=True)
            ]  # fmt: skip
        found = verdict(align_episodes(stores[name].manifest, episodes))
        assert found.best is None
        assert found.ok
        assert found.why.startswith("cannot tell")


def test_a_store_in_which_nothing_moves_leaves_it_open():
    manifest = Manifest("stone", 1, (Slot("stone", "hazard"),), actions=("fire",))
    episode = Episode(
        manifest.registry(), np.ones((20, 1, 23), np.float32), np.ones((20, 7), np.float32),
        np.zeros((20, 17), np.float32), np.zeros(20, bool),
    )  # fmt: skip
    found = align_episodes(manifest, [episode] * 8)
    assert all(isinstance(one, Alignment) and one.best is None for one in found)


def test_a_store_of_too_few_episodes_says_so(stores):
    episodes = [stores["pong"].episode(0)]
    for found in align_episodes(stores["pong"].manifest, episodes):
        assert found.best is None
        assert found.why == "cannot tell: it takes 4 episodes of 9 states or more, found 1"


def test_too_few_episodes_are_refused(stores):
    with pytest.raises(ValueError, match="needs 4 episodes or more; got 2"):
        align(stores["pong"], num_episodes=2)


def test_noise_explains_nothing_of_episodes_it_was_not_fitted_on():
    luck = np.random.default_rng(0)
    features = [luck.normal(size=(50, 30)) for _ in range(8)]
    targets = [luck.normal(size=(50, 1)) for _ in range(8)]
    base = held_out_errors([x[:, :1] for x in features], targets).sum()
    assert held_out_errors(features, targets).sum() > base


def drawn(states, size=48):
    """A white box of 6 pixels at each state's place."""
    frames = np.zeros((len(states), size, size, 3), np.uint8)
    for frame, (x, y) in zip(frames, states, strict=True):
        frame[
            round(y * size) - 3 : round(y * size) + 3, round(x * size) - 3 : round(x * size) + 3
        ] = 255
    return frames


@settings(max_examples=10)
@given(lag=st.sampled_from([-2, -1, 0, 1, 2]), seed=st.integers(0, 99))
def test_the_lag_of_frames_is_found_to_the_frame(lag, seed):
    manifest = Manifest("walk", 1, (Slot("it", "player", half_width=3 / 48, half_height=3 / 48),))
    luck, rows = np.random.default_rng(seed), []
    for _ in range(3):
        walk = 0.5 + np.cumsum(luck.integers(-1, 2, (60, 2)) * 2 / 48, 0)
        walk = np.clip(walk, 0.2, 0.8)
        states = np.zeros((60, 1, 23), np.float32)
        states[:, 0, :2], states[:, 0, 2] = walk, 1
        episode = Episode(
            manifest.registry(), states, np.zeros((60, 7), np.float32),
            np.zeros((60, 17), np.float32), np.zeros(60, bool),
        )  # fmt: skip
        frames = np.roll(drawn(walk), lag, axis=0)
        rows.append(agreement(manifest, episode, frames).mean(0))
    found = verdict_of(np.array(rows), 3, 0)
    assert found.best == lag


def test_pictures_that_never_change_leave_it_open():
    manifest = Manifest("walk", 1, (Slot("it", "player", half_width=0.1, half_height=0.1),))
    states = np.zeros((30, 1, 23), np.float32)
    states[:, 0, 0], states[:, 0, 2] = np.linspace(0.2, 0.8, 30), 1
    episode = Episode(
        manifest.registry(), states, np.zeros((30, 7), np.float32),
        np.zeros((30, 17), np.float32), np.zeros(30, bool),
    )  # fmt: skip
    rows = [agreement(manifest, episode, np.zeros((30, 32, 32, 3), np.uint8)).mean(0)] * 3
    assert verdict_of(np.array(rows), 3, 0).best is None


def test_as_many_actions_as_states_are_refused_with_both_counts(stores, tmp_path):
    export_envelopes(stores["pong"], tmp_path / "handed", limit=1)
    path = tmp_path / "handed" / "envelopes.jsonl"
    lines = path.read_text().splitlines()
    last = json.loads(lines[-1])
    last["action"] = dict.fromkeys(stores["pong"].manifest.actions, 0)
    path.write_text("\n".join([*lines[:-1], json.dumps(last)]) + "\n")
    count = len(lines)
    with pytest.raises(ValueError, match=f"{count} states and {count} actions.*{count - 1}"):
        import_envelopes(path.parent, tmp_path / "store")
