"""Stable-Baselines3 learns in our worlds, and what is exported is what it learnt.

Needs the extra `rl`.
"""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="pip install 'cosmolabe[rl]'")

import torch

from cosmolabe.core import parts
from cosmolabe.data.policy import read_policy, write_policy
from cosmolabe.nets.practice import measure
from cosmolabe.nets.reinforce import LearnConfig, PracticeVecEnv, learn, logits_of


def rows_of(game, count=500):
    """Random public rows: what no game would show is as good a test."""
    rows = np.random.default_rng(2).normal(0, 1, (count, game.num_public))
    rows[:, ::3] = rows[:, ::3] > 0
    return rows.astype(np.float32)


@pytest.fixture(scope="module", params=["ppo", "dqn"])
def learnt(request):
    game = parts.load("games", "pong")
    config = LearnConfig(request.param, steps=16384, seed=1, num_worlds=32)
    if request.param == "dqn":
        config = LearnConfig("dqn", 16384, 1, 32, settings={"learning_starts": 2000})
    return game, config, *learn(game, config)


def test_the_exported_policy_is_the_one_that_was_trained(learnt):
    game, config, policy, model = learnt
    rows = rows_of(game)
    features = policy.features(rows)
    ours, theirs = policy.logits(rows), logits_of(model, features)
    if config.algorithm == "ppo":
        ours = torch.log_softmax(torch.as_tensor(ours), 1).numpy()
    assert np.abs(ours - theirs).max() <= 1e-5
    assert policy.record.sampled == (config.algorithm == "ppo")
    best, _ = model.predict(features, deterministic=True)
    sure = np.abs(np.diff(np.sort(ours, 1)[:, -2:], axis=1))[:, 0] > 1e-4
    assert np.array_equal(ours.argmax(1)[sure], best[sure])


def test_training_twice_gives_the_same_policy(learnt):
    game, config, policy, _ = learnt
    again, _ = learn(game, config)
    assert again.fingerprint == policy.fingerprint


def test_what_is_kept_on_disk_plays_on(learnt, tmp_path):
    game, _, policy, _ = learnt
    write_policy(tmp_path, policy)
    assert read_policy(tmp_path, game).fingerprint == policy.fingerprint
    assert policy.record.versions["stable-baselines3"]


def test_a_little_practice_helps():
    game = parts.load("games", "pong")
    little, _ = learn(game, LearnConfig(steps=4096, num_worlds=32, seed=3))
    more, _ = learn(game, LearnConfig(steps=120_000, num_worlds=32, seed=3))
    before, after = (measure(game, policy, 0.02)["shaped_return"] for policy in (little, more))
    assert after > before + 3


def test_the_adapter_keeps_the_promises_of_a_vec_env(learnt):
    _, _, _, model = learnt
    room = model.get_env()
    assert isinstance(room.unwrapped if hasattr(room, "unwrapped") else room, PracticeVecEnv)
    seen = room.reset()
    assert room.observation_space.contains(seen[0])
    ended = False
    for _ in range(1000):
        seen, rewards, over, infos = room.step(np.zeros(room.num_envs, np.int64))
        for place in np.flatnonzero(over):
            assert infos[place]["terminal_observation"].shape == seen[place].shape
            assert isinstance(infos[place]["TimeLimit.truncated"], bool)
        ended |= bool(over.any())
    assert ended
    assert rewards.shape == (room.num_envs,)


def test_unknown_algorithms_are_refused():
    with pytest.raises(ValueError, match="no algorithm 'sarsa'; have \\['ppo', 'dqn'\\]"):
        LearnConfig("sarsa")
