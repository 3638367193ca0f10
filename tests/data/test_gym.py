"""The Gymnasium environments: checked by Gymnasium itself, and the batch equals the single ones."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from cosmolabe.core import parts
from cosmolabe.data.gym import environment_id, register_games
from cosmolabe.engine import kernels
from cosmolabe.engine.game import HEAD, LIVES, OVER, PHASE, TERMINATED, TICK, WON, layout_of
from cosmolabe.games.pong import GAME as PONG

GAMES = parts.names("games")
PONG_ID = environment_id("pong")


def test_names_become_camel_case():
    assert environment_id("pong") == "cosmolabe/Pong-v0"
    assert environment_id("big_maze") == "cosmolabe/BigMaze-v0"


def test_a_fresh_process_can_make_an_environment_by_module_and_name():
    code = (
        "import gymnasium;"
        "print(gymnasium.make('cosmolabe.data.gym:cosmolabe/Pong-v0').reset(seed=3)[1]['seed'])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert int(printed) == gymnasium.make(PONG_ID).reset(seed=3)[1]["seed"]


def test_the_guide_is_a_script_that_runs_by_itself(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "gymnasium.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "script.py").write_text(block + "print(picture.shape, rewards.shape)\n")
    printed = subprocess.run(
        [sys.executable, "-W", "error", "script.py"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert printed == "(224, 224, 3) (64,)\n"


def test_registering_twice_changes_nothing():
    before = {name: id(spec) for name, spec in gymnasium.registry.items()}
    register_games()
    assert before == {name: id(spec) for name, spec in gymnasium.registry.items()}


@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_finds_nothing_wrong_with(game):
    for observation in ("state", "flat", "rgb"):
        env = gymnasium.make(
            environment_id(game), observation=observation, render_mode="rgb_array", size=64
        )
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("game", GAMES)
def test_a_long_random_game_never_leaves_its_observation_space(game):
    env = gymnasium.make(environment_id(game)).unwrapped
    env.reset(seed=5)
    env.action_space.seed(5)
    for _ in range(300):
        seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert seen in env.observation_space
        assert np.isfinite(reward)
        if terminated or truncated:
            env.reset()


@pytest.mark.parametrize("game", GAMES)
def test_the_state_observation_is_what_an_envelope_would_hold(game):
    env = gymnasium.make(environment_id(game)).unwrapped
    seen, info = env.reset(seed=1)
    made = parts.load("games", game)
    actions = np.random.default_rng(0).integers(0, len(made.actions), (1, 40)).astype(np.uint8)
    observations = [seen, *(env.step(int(action))[0] for action in actions[0])]
    public = np.zeros((1, 41, made.num_public), np.float32)
    lengths = np.zeros(1, np.int64)
    worlds = made.new_worlds(np.array([info["seed"]]))
    kernels.simulate(made.step, worlds, actions, made.default_parameters()[None], public, lengths)
    length, layout, profile = int(lengths[0]), layout_of(made), made.manifest.profile
    states = np.zeros((length, made.manifest.num_slots, profile.num_state), np.float32)
    numbers = np.zeros((length, len(profile.global_fields)), np.float32)
    kernels.expand(
        public[0, :length], layout.target, layout.scale, layout.template, layout.wrap, 0,
        states, numbers, np.zeros(length, bool),
    )  # fmt: skip
    for t in range(length):
        assert np.array_equal(observations[t]["states"], states[t])
        assert np.array_equal(observations[t]["globals"], numbers[t])


def equal_play(batch, singles, actions):
    first, second = batch.reset(seed=11), singles.reset(seed=11)
    assert data_equivalence(first, second, exact=True)
    ends = 0
    for row in actions:
        first, second = batch.step(row), singles.step(row)
        infos = first[4], second[4]
        for ours, theirs in zip(first[:4], second[:4], strict=True):
            assert data_equivalence(ours, theirs, exact=True)
        assert set(infos[0]) == set(infos[1])
        for name in ("score", "lives", "level", "phase", "tick", "seed", "_score"):
            assert np.array_equal(infos[0][name], infos[1][name])
        if "final_info" in infos[0]:
            for name, value in infos[0]["final_info"].items():
                assert np.array_equal(value, infos[1]["final_info"][name]), name
            for place in np.flatnonzero(infos[0]["_final_obs"]):
                pair = (infos[0]["final_obs"][place], infos[1]["final_obs"][place])
                assert data_equivalence(*pair, exact=True)
        ends += int((first[2] | first[3]).sum())
    return ends


@pytest.mark.parametrize("game", GAMES)
def test_the_batch_equals_single_environments_step_by_step(game):
    name = environment_id(game)
    batch = gymnasium.make_vec(name, 3, observation="flat", max_episode_steps=90)
    singles = SyncVectorEnv(
        [lambda: gymnasium.make(name, observation="flat", max_episode_steps=90)] * 3
    )
    num_actions = batch.single_action_space.n
    actions = np.random.default_rng(2).integers(0, num_actions, (220, 3))
    assert equal_play(batch, singles, actions) >= 6
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("observation", ["state", "rgb"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_every_autoreset_mode_equals_gymnasiums_own(observation, mode):
    chosen = {"observation": observation, "size": 32}
    batch = gymnasium.make_vec(PONG_ID, 2, max_episode_steps=30, autoreset_mode=mode, **chosen)
    singles = SyncVectorEnv(
        [lambda: gymnasium.make(PONG_ID, max_episode_steps=30, **chosen)] * 2,
        autoreset_mode=AutoresetMode(mode),
    )
    actions = np.random.default_rng(2).integers(0, 3, (100, 2))
    assert equal_play(batch, singles, actions) >= 4


def test_without_autoreset_the_user_resets_the_worlds_that_ended():
    batch = gymnasium.make_vec(PONG_ID, 3, max_episode_steps=4, autoreset_mode="Disabled")
    batch.reset(seed=0)
    for _ in range(4):
        _, _, _, truncated, info = batch.step(np.zeros(3, int))
    assert truncated.all()
    with pytest.raises(ValueError, match="have ended; reset them"):
        batch.step(np.zeros(3, int))
    seeds = info["seed"].copy()
    mask = np.array([True, True, False])
    batch.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match=r"worlds \[2\] have ended"):
        batch.step(np.zeros(3, int))
    _, info = batch.reset(options={"reset_mask": ~mask})
    assert (info["_seed"] == ~mask).all()
    _, _, _, truncated, info = batch.step(np.zeros(3, int))
    assert not truncated.any()
    assert (info["seed"] != seeds).all()
    assert (info["tick"] == 1).all()


def test_seeds_make_the_worlds_and_no_seed_makes_another():
    env = gymnasium.make(PONG_ID)
    first, again, other = (env.reset(seed=seed)[1]["seed"] for seed in (3, 3, 4))
    assert first == again != other
    assert env.reset()[1]["seed"] not in (first, other)
    batch = gymnasium.make_vec(PONG_ID, 2)
    assert batch.reset(seed=3)[1]["seed"].tolist() == [first, other]
    assert batch.reset(seed=[4, 3])[1]["seed"].tolist() == [other, first]
    assert batch.np_random_seed == (4, 3)


def ending(columns):
    env = gymnasium.make(PONG_ID).unwrapped
    env.reset(seed=0)
    for place, value in columns.items():
        env.worlds.vectors[0, place] = value
    return env.step(0)[2:4]


def test_the_games_clock_truncates_and_the_rules_terminate():
    clock = PONG.manifest.max_ticks
    assert ending({}) == (False, False)
    assert ending({TICK: clock - 1}) == (False, True)
    assert ending({TERMINATED: 1, PHASE: OVER, TICK: 50}) == (True, False)
    assert ending({TERMINATED: 1, PHASE: OVER, TICK: clock, LIVES: 0}) == (True, False)
    assert ending({TERMINATED: 1, PHASE: WON, TICK: clock}) == (True, False)


def test_a_world_that_ended_stands_still_and_pays_nothing():
    env = gymnasium.make(PONG_ID).unwrapped
    env.reset(seed=0)
    env.worlds.vectors[0, TERMINATED] = 1.0
    env.worlds.vectors[0, 1] = 5.0  # the reward of the last tick
    before = env.worlds.vectors.copy()
    _, reward, terminated, _, info = env.step(1)
    assert (reward, terminated, info["tick"]) == (0.0, True, 0)
    assert np.array_equal(env.worlds.vectors, before)


def test_parameters_level_theme_and_character_reach_the_world():
    env = gymnasium.make(PONG_ID, parameters={"bat_speed": 0.0}, observation="flat").unwrapped
    before, _ = env.reset(seed=0)
    after = env.step(1)[0]
    assert before[HEAD] == after[HEAD]
    _, info = env.reset(options={"level": 4})
    assert info["level"] == 4
    looks = [
        gymnasium.make(PONG_ID, render_mode="rgb_array", **look).unwrapped
        for look in ({}, {"theme": "paper"}, {"characters": ("bat_ice", "bat_gold")})
    ]
    for env in looks:
        env.reset(seed=0)
    pictures = [env.render() for env in looks]
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])
    assert pictures[0].shape == (224, 224, 3)


def test_vector_rendering_gives_each_worlds_picture():
    batch = gymnasium.make_vec(PONG_ID, 2, render_mode="rgb_array", size=48)
    batch.reset(seed=0)
    for _ in range(60):
        batch.step(np.array([1, 2]))
    up, down = batch.render()
    assert up.shape == (48, 48, 3)
    assert not np.array_equal(up, down)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observation": "sound"}, "no observation 'sound'"),
        ({"size": 4}, "at least 16 pixels"),
        ({"render_mode": "human"}, "render_mode must be"),
        ({"parameters": {"wind": 1.0}}, r"no parameter \['wind'\]"),
    ],
)
def test_wrong_choices_are_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(PONG_ID, 2, **change)


@pytest.mark.parametrize("actions", [[0, 3], [0], [0.5, 1.0], [-1, 0]])
def test_actions_outside_the_game_are_refused(actions):
    batch = gymnasium.make_vec(PONG_ID, 2)
    batch.reset(seed=0)
    with pytest.raises(ValueError, match=r"pong wants 2 whole numbers 0\.\.2"):
        batch.step(np.array(actions))


def test_a_single_environment_refuses_an_action_the_game_does_not_have():
    env = gymnasium.make(PONG_ID).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"pong has actions 0\.\.2; got 7"):
        env.step(7)


@pytest.mark.parametrize("level", [0, "high", 1.5])
def test_a_level_that_is_no_whole_number_from_one_is_refused(level):
    env = gymnasium.make(PONG_ID).unwrapped
    with pytest.raises(ValueError, match="whole number from 1 on"):
        env.reset(options={"level": level})
