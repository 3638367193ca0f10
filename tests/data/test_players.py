"""A trained player plays without torch, sees what it should, and fills stores like any other."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.collect import collect
from cosmolabe.data.playing import play_script
from cosmolabe.data.policy import Policy, policy_of, read_policy, trained_games, write_policy
from cosmolabe.data.sight import sight_of
from cosmolabe.engine import policy as kernels

GAMES = parts.names("games")
GOLDEN = Path(__file__).parents[1] / "golden" / "policies.json"


def load(game):
    return parts.load("games", game)


def some_rows(game, count=60, seed=5):
    """Public rows of a game as random play meets them."""
    public = []
    for number in range(3):
        played = play_script(load(game), "random", seed=seed + number, num_ticks=240, every=240)
        part = load(game)
        world = part.new_world(seed + number)
        for action in played.actions:
            public.append(world[: part.num_public].astype(np.float32))
            part.step(world, int(action), part.default_parameters())
    return np.stack(public)[:: max(1, len(public) // count)][:count]


def by_hand(policy: Policy, rows):
    """The forward pass in plain numpy, with the features as given."""
    values = policy.features(rows).astype(np.float64)
    for layer in (policy.first, policy.second):
        values = np.maximum(values @ layer[:-1] + layer[-1], 0)
    return values @ policy.third[:-1] + policy.third[-1]


def test_every_game_of_ours_has_a_trained_player():
    assert trained_games() == GAMES


@pytest.mark.parametrize("game", GAMES)
def test_logits_are_those_of_the_day_the_policy_was_exported(game):
    golden = json.loads(GOLDEN.read_text())[game]
    policy = policy_of(game)
    assert policy.fingerprint == golden["fingerprint"]
    rows = np.array(golden["rows"], np.float32)
    assert np.abs(policy.logits(rows) - np.array(golden["logits"])).max() <= 1e-5


@pytest.mark.parametrize("game", GAMES)
def test_the_compiled_forward_pass_is_that_of_plain_numpy(game):
    policy, rows = policy_of(game), some_rows(game)
    assert np.abs(policy.logits(rows) - by_hand(policy, rows)).max() < 1e-4
    assert np.abs(policy.logits(rows)).max() > 0.1, "it has an opinion"


@pytest.mark.parametrize("game", GAMES)
def test_features_are_named_scaled_and_bounded(game):
    policy, rows = policy_of(game), some_rows(game)
    sight = sight_of(load(game))
    assert policy.record.features == sight.names
    assert np.array_equal(policy.sight.table, sight.table)
    assert len(set(sight.names)) == len(sight.names)
    seen = policy.features(rows)
    assert np.abs(seen).max() <= kernels.LIMIT
    assert (seen.std(0) > 0).sum() > 8, "the view changes as the game goes on"


def unscaled(sight):
    return np.stack([np.zeros(len(sight)), np.ones(len(sight))]).astype(np.float32)


def test_another_entity_is_seen_from_the_agent_the_short_way_around():
    game = load("frogger")
    sight = sight_of(game)
    row = np.zeros((1, game.num_public), np.float32)
    row[0, [7, 31]] = (0.9, 0.2)  # the frog near the right edge, an object beyond it
    seen = dict(zip(sight.names, sight.features(row, unscaled(sight))[0], strict=True))
    name = next(name for name in sight.names if name.endswith("x from agent"))
    assert seen[name] == pytest.approx(0.3, abs=1e-6)


def test_a_snake_whose_walls_kill_sees_no_way_through_them():
    game = load("snake")
    sight = sight_of(game)
    row = np.zeros((1, game.num_public), np.float32)
    row[0, [7, 8, 12, 13]] = (19.5, 10.5, 15.5, 10.5)  # head in the last column, food to its left
    row[0, [18, 64, 110]] = (18.5, 10.5, 1)  # the first segment, left of the head
    row[0, [19, 65, 111]] = (0.5, 10.5, 1)  # another one, on the far side
    seen = dict(zip(sight.names, sight.features(row, unscaled(sight))[0], strict=True))
    assert seen["food x from agent"] == -4
    assert seen["food y from agent"] == 0
    assert seen["body at -1 0"] == 1
    assert seen["body at 1 0"] == 0
    assert seen["body at 0 1"] == 0


def test_the_dead_are_not_seen():
    game = load("kong")
    sight = sight_of(game)
    row = np.zeros((1, game.num_public), np.float32)
    place = sight.names.index("barrel_1 x from agent")
    row[0, 15] = 0.7
    assert sight.features(row, unscaled(sight))[0, place] == 0
    row[0, 19] = 1
    assert sight.features(row, unscaled(sight))[0, place] == np.float32(0.7)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_what_lies_ahead_does_not_depend_on_which_way_is_up(x, y, turn):
    game = load("asteroids")
    sight = sight_of(game)
    row = np.zeros((1, game.num_public), np.float32)
    row[0, [7, 8]], row[0, 17] = 0.5, 1
    angle = 2 * np.pi * turn  # 0 points up, clockwise
    ahead, across = 0.3 * (x - 0.5), 0.3 * (y - 0.5)
    row[0, 15] = 0.5 + ahead * np.sin(angle) + across * np.cos(angle)
    row[0, 16] = 0.5 - ahead * np.cos(angle) + across * np.sin(angle)
    row[0, 12] = turn
    seen = dict(zip(sight.names, sight.features(row, unscaled(sight))[0], strict=True))
    assert seen["saucer ahead"] == pytest.approx(ahead, abs=1e-5)
    assert seen["saucer across"] == pytest.approx(across, abs=1e-5)


@given(st.floats(-80, 0))
def test_the_own_exponential_is_the_exponential(x):
    assert kernels.exponential(x) == pytest.approx(np.exp(x), rel=1e-13, abs=1e-17)


@given(st.lists(st.floats(-6, 6, width=32), min_size=2, max_size=5))
def test_draws_follow_the_softmax(logits):
    logits = np.array(logits, np.float32)
    draws = (np.arange(2000) + 0.5) / 2000
    chosen = np.bincount([kernels.choose(logits, draw) for draw in draws], minlength=len(logits))
    shares = np.exp(logits.astype(np.float64) - logits.max())
    assert np.abs(chosen / 2000 - shares / shares.sum()).max() <= 1e-3
    assert kernels.choose(logits, -1.0) == logits.argmax()


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_trained_player_fills_a_store_the_same_with_two_workers(tmp_path):
    plan = {"num_episodes": 12, "max_ticks": 200, "shard_size": 3, "players": ("rl", "random")}
    one = collect("pong", tmp_path / "one", **plan)
    collect("pong", tmp_path / "two", workers=2, **plan)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert one.record["policy"] == policy_of("pong").fingerprint
    assert [one.player(number) for number in range(2)] == ["rl", "random"]
    assert one.verify() == 12


def test_a_store_of_another_policy_is_not_gone_on_with(tmp_path, monkeypatch):
    plan = {"num_episodes": 4, "max_ticks": 60, "players": ("rl",)}
    collect("pong", tmp_path / "a", **plan)
    monkeypatch.setattr("cosmolabe.data.collect.policy_behind", lambda *_: "0" * 16)
    with pytest.raises(ValueError, match="another collection \\(policy is"):
        collect("pong", tmp_path / "a", **plan)


def test_a_store_without_a_trained_player_says_nothing_of_policies(tmp_path):
    collect("pong", tmp_path / "a", 4, max_ticks=60)
    assert not {"policy", "scenarios", "starts"} & set(read_json(tmp_path / "a" / "record.json"))


@pytest.mark.parametrize("game", GAMES)
def test_a_trained_player_plays_by_script_and_holds_its_decisions(game):
    played = play_script(load(game), "rl", seed=3, num_ticks=200, every=200)
    hold = policy_of(game).record.hold
    whole = len(played.actions) // hold * hold
    assert (played.actions[:whole].reshape(-1, hold).std(1) == 0).all()
    assert len(set(played.actions.tolist())) > 1


def test_playing_needs_no_torch():
    code = (
        "import sys, tempfile\n"
        "from cosmolabe.data.collect import collect\n"
        "collect('pong', tempfile.mkdtemp() + '/x', 3, max_ticks=40, players=('rl',))\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('torch', 'stable_baselines3')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_policy_survives_the_disk(tmp_path):
    policy = policy_of("pong")
    write_policy(tmp_path, policy)
    again = read_policy(tmp_path, load("pong"))
    assert again.record == policy.record
    assert again.fingerprint == policy.fingerprint
    rows = some_rows("pong")
    assert np.array_equal(again.logits(rows), policy.logits(rows))


def changed(policy, name, array):
    if name in ("norm", "first", "second", "third"):
        return replace(policy, **{name: array})
    return replace(policy, sight=replace(policy.sight, **{name: array}))


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("first", lambda a: a[:-1], "has shape"),
        ("third", lambda a: a[:, :-1], "has shape"),
        ("first", lambda a: a * np.float32(np.nan), "must be finite"),
        ("second", lambda a: a.astype(np.float64), "must be finite float32"),
        ("table", lambda a: a + [[0, 10**9, 0, 0]], "does not show"),
        ("table", lambda a: a + [[0, 0, 0, 10**6]], "does not show"),
        ("table", lambda a: a + [[99, 0, 0, 0]], "does not show"),
        ("table", lambda a: a - [[0, 10**3, 0, 0]], "does not show"),
        ("agent", lambda a: a + 10**6, "does not show"),
        ("norm", lambda a: a[:1], "has shape"),
    ],
    ids=[
        "fewer_inputs",
        "fewer_actions",
        "no_number",
        "other_dtype",
        "column_far_out",
        "alive_far_out",
        "unknown_kind",
        "column_below_0",
        "agent_far_out",
        "half_a_norm",
    ],
)
def test_a_policy_that_does_not_fit_is_refused(tmp_path, name, change, told):
    policy = policy_of("pong")
    write_policy(tmp_path, policy)
    arrays = {**policy.arrays, name: change(policy.arrays[name])}
    np.savez_compressed(tmp_path / "pong.npz", **arrays)
    with pytest.raises(ValueError, match=told):
        read_policy(tmp_path, load("pong"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("features", 5),
        ("features", None),
        ("actions", "up"),
        ("actions", {}),
        ("hold", 10**30),
        ("hold", 0),
        ("hold", True),
        ("sampled", 1),
    ],
)
def test_a_record_of_strange_values_is_refused(tmp_path, name, value):
    write_policy(tmp_path, policy_of("pong"))
    record = tmp_path / "pong.json"
    write_json(record, {**read_json(record), name: value})
    with pytest.raises(ValueError, match=name):
        read_policy(tmp_path, load("pong"))


def test_a_pickle_is_not_opened(tmp_path):
    write_policy(tmp_path, policy_of("pong"))
    np.savez(tmp_path / "pong.npz", table=np.array([{"run": "me"}], object))
    with pytest.raises(ValueError, match="cannot be read"):
        read_policy(tmp_path, load("pong"))


def test_a_policy_of_other_rules_is_refused(tmp_path):
    policy = policy_of("pong")
    write_policy(tmp_path, replace(policy, record=replace(policy.record, version=99)))
    with pytest.raises(ValueError, match="learnt pong version 99"):
        read_policy(tmp_path, load("pong"))


def test_a_game_without_a_trained_player_is_refused_with_those_that_have_one():
    with pytest.raises(ValueError, match="no trained player of 'chess'; have \\['asteroids'"):
        policy_of("chess")
