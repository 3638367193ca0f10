"""Practice steers towards good play, and starts again when a world ends."""

import sys

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.data.players import PLAYERS
from cosmolabe.data.policy import policy_of
from cosmolabe.data.sight import sight_of
from cosmolabe.engine import kernels
from cosmolabe.engine.game import LEVEL, TERMINATED
from cosmolabe.nets.practice import HOLD, Practice, first_look, measure
from cosmolabe.nets.shaping import SHAPING, View, shaped

GAMES = parts.names("games")


def load(game):
    return parts.load("games", game)


def rows_of(game, player, num_worlds=6):
    """Public rows of whole episodes, one every HOLD ticks."""
    seeds, who = np.arange(num_worlds), PLAYERS[player]
    worlds, constants = game.new_worlds(seeds), game.default_parameters()[None]
    actions = np.zeros((num_worlds, game.manifest.max_ticks), np.uint8)
    lengths = np.zeros(num_worlds, np.int64)
    kernels.play(
        game.step, game.decide, worlds.copy(), constants,
        np.stack([seeds, seeds + 9], 1).astype(np.uint64), len(game.actions), who.randomness,
        who.hold, actions, np.zeros((num_worlds, game.num_world)), actions.shape[1], lengths,
    )  # fmt: skip
    public = np.zeros((num_worlds, actions.shape[1] + 1, game.num_public), np.float32)
    kernels.simulate(game.step, worlds, actions, constants, public, lengths)
    return [own[:length:HOLD] for own, length in zip(public, lengths, strict=True)]


@pytest.mark.parametrize("name", GAMES)
def test_the_terms_pay_good_play_more_than_chance(name):
    game = load(name)
    worth = {
        player: np.mean([shaped(game, r[:-1], r[1:]).sum() for r in rows_of(game, player)])
        for player in ("heuristic", "random")
    }
    assert worth["heuristic"] > worth["random"] + 5


def test_every_game_of_ours_has_terms_and_no_other():
    assert set(SHAPING) == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_every_term_moves_in_play(name):
    game = load(name)
    rows = [r for player in ("heuristic", "random") for r in rows_of(game, player)]
    for term in SHAPING[name]:
        assert any((np.diff(term.quantity(View(game, r))) != 0).any() for r in rows), term.name


def test_a_column_that_is_not_there_is_named():
    game = load("pong")
    with pytest.raises(ValueError, match="no column speed of ball"):
        View(game, np.zeros((1, game.num_public), np.float32)).of("ball", "speed")


def practice(name, seed=0, num_worlds=8):
    game = load(name)
    sight = sight_of(game)
    return Practice(game, sight, first_look(game, sight), num_worlds, seed)


def test_ended_worlds_start_again_and_say_what_was_seen_last():
    room = practice("breakout")
    room.reset()
    ends = 0
    for _ in range(300):
        outcome = room.step(np.zeros(8, np.int64))
        assert not (room.worlds[:, TERMINATED] != 0).any()
        ends += outcome.ended.sum()
        moved = (outcome.features != outcome.last).any(1)
        assert np.array_equal(moved, outcome.ended)
        assert not (outcome.by_clock & ~outcome.ended).any()
    assert ends > 0
    assert (room.worlds[:, LEVEL] >= 1).all()


def test_the_same_seed_is_the_same_practice():
    def story(seed):
        room, actions = practice("snake", seed), np.random.default_rng(1)
        seen = [room.reset()]
        rewards = []
        for _ in range(60):
            outcome = room.step(actions.integers(0, 5, 8))
            seen.append(outcome.features)
            rewards.append(outcome.rewards)
        return np.stack(seen), np.stack(rewards)

    first, second, other = story(3), story(3), story(4)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_the_norm_gives_what_players_see_mean_0_and_spread_1():
    game = load("pong")
    sight = sight_of(game)
    seen = sight.features(np.concatenate(rows_of(game, "heuristic")), first_look(game, sight))
    assert 0.3 < np.median(seen.std(0)[seen.std(0) > 0]) < 2


@pytest.mark.parametrize("name", GAMES)
def test_the_record_says_what_the_policy_reaches(name):
    policy = policy_of(name)
    told = policy.record.measured
    again = measure(load(name), policy, PLAYERS["rl"].randomness)
    assert again == pytest.approx(dict(told))


def test_training_without_the_extra_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.delitem(sys.modules, "cosmolabe.nets.reinforce", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'cosmolabe\[rl\]'"):
        __import__("cosmolabe.nets.reinforce")
