"""The real games nobody here wrote; each test is skipped where its libraries are missing."""

import numpy as np
import pytest

from cosmolabe.core.fields import ALIVE, VX
from cosmolabe.data.alignment import align, verdict
from cosmolabe.data.frame_alignment import align_frames, videos_of
from cosmolabe.data.outside import outside_game
from cosmolabe.data.outside.collecting import collect_outside

NEEDS = {
    "atari/Pong": "ocatari",
    "atari/Breakout": "ocatari",
    "atari/Asteroids": "ocatari",
    "atari/Frogger": "ocatari",
    "box2d/LunarLander": "Box2D",
    "mujoco/InvertedPendulum": "mujoco",
    "mujoco/Hopper": "mujoco",
    "mujoco/Reacher": "mujoco",
}
# Importing these libraries warns of their own, older ways.
pytestmark = pytest.mark.filterwarnings("ignore")


def game_of(name, frameskip=2, ticks=80):
    pytest.importorskip(NEEDS[name])
    return outside_game(name, frameskip, ticks)


@pytest.mark.parametrize("name", NEEDS)
def test_a_store_of_it_has_the_same_bytes_every_time(name, tmp_path):
    game = game_of(name)
    one = collect_outside(game, tmp_path / "one", 4)
    assert one.verify() == 4
    assert one.fingerprint == collect_outside(game, tmp_path / "other", 4).fingerprint


@pytest.mark.parametrize("name", NEEDS)
def test_an_episode_does_not_depend_on_those_played_before(name, tmp_path):
    game = game_of(name)
    more = collect_outside(game, tmp_path / "more", 3, split="train")
    one = collect_outside(game, tmp_path / "one", 1, split="train")
    np.testing.assert_array_equal(more.episode(0).states, one.episode(0).states)
    again = collect_outside(game, tmp_path / "again", 3, split="train")
    np.testing.assert_array_equal(more.episode(2).states, again.episode(2).states)


@pytest.mark.parametrize("name", [name for name in NEEDS if name.startswith("atari")])
def test_nobody_teleports_and_something_moves(name, tmp_path):
    game = game_of(name, ticks=200)
    episode = collect_outside(game, tmp_path / "s", 1, split="train").episode(0)
    assert np.abs(episode.states[:, :, VX : VX + 2]).max() <= game.reach
    assert (episode.states[:, :, VX : VX + 2] != 0).any()
    alive = episode.states[..., ALIVE] > 0.5
    places = episode.states[..., :2][alive]
    assert (places > -0.1).all()
    assert (places < 1.1).all()


def test_the_frames_of_pong_are_those_of_its_states_and_its_answer_comes_a_frame_late(tmp_path):
    pytest.importorskip("av")
    store = collect_outside(game_of("atari/Pong", 1, 250), tmp_path / "s", 12, frames=True)
    assert align_frames(store, videos_of(store)).best == 0
    assert verdict(align(store)).best == -1


def test_breakout_begins_with_a_whole_wall(tmp_path):
    store = collect_outside(game_of("atari/Breakout"), tmp_path / "s", 1, split="train")
    bricks = [k for k, slot in enumerate(store.manifest.slots) if slot.kind == "brick"]
    assert len(bricks) == 108
    assert (store.episode(0).states[0, bricks, ALIVE] > 0.5).all()
