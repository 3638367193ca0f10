"""Planners, the returns they plan for, and what a model is worth to them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.bench.bed import lay_out
from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.bench.planning.diagnosis import Diagnosis, mechanism, rank_correlations
from cosmolabe.bench.planning.futures import InsideModel, InsideRules, frames_of, simulated
from cosmolabe.bench.planning.judging import (
    can_plan,
    judge_dreamer,
    judge_planning,
    lay_out_planning,
    share_of,
)
from cosmolabe.bench.planning.planners import PLANNERS, Effort, planner_named
from cosmolabe.bench.planning.playing import PlanProtocol, play_plain, play_planned, starts
from cosmolabe.bench.planning.returns import WORST, gains
from cosmolabe.core import parts
from cosmolabe.core.record import read_json
from cosmolabe.engine.game import SCORE
from cosmolabe.nets.shaping import shaped

GAMES = parts.names("games")
SMALL = PlanProtocol(
    episodes=4, ticks=64, effort=Effort(candidates=32, rounds=2), streams=2, looks=2
)

SOUND = Diagnosis(
    ranks=0.9,
    ranks_of={"score": 0.9, "lives": 0.9, "progress": 0.9},
    stakes_of={"score": 0.5, "lives": 0.5, "progress": 0.5},
    top_quarter=0.9,
    optimism=0.0,
    state_score=0.9,
    state_score_still=0.8,
    reaction=1.0,
    moments=40,
)


def game_of(name):
    return parts.load("games", name)


def still_of(name):
    return parts.load("models", "still").create(game_of(name).manifest)


@pytest.mark.parametrize("name", PLANNERS)
def test_every_planner_finds_the_best_plan_of_a_toy_world(name):
    wanted = np.array([[2, 2, 0, 1], [1, 0, 0, 2]], np.uint8)
    start = np.zeros_like(wanted)
    effort = Effort(decisions=4, candidates=64, rounds=16)
    found = PLANNERS[name](
        lambda plans: (plans == wanted[:, None]).sum(-1).astype(float),
        3, effort, start, np.random.default_rng(0),
    )  # fmt: skip
    assert np.array_equal(found.decisions, wanted)


def test_a_plan_to_beat_stays_where_nothing_is_better():
    start = np.array([[1, 2, 0]], np.uint8)
    flat = planner_named("cem")(
        lambda plans: np.zeros(plans.shape[:2]), 3, Effort(decisions=3), start,
        np.random.default_rng(0),
    )  # fmt: skip
    assert np.array_equal(flat.decisions, start)


def test_cem_beats_random_shooting_with_equal_effort():
    wanted = np.random.default_rng(5).integers(0, 4, (20, 8)).astype(np.uint8)
    effort = Effort(decisions=8, candidates=64, rounds=6)

    def reached(name):
        found = PLANNERS[name](
            lambda plans: (plans == wanted[:, None]).sum(-1).astype(float),
            4, effort, np.zeros_like(wanted), np.random.default_rng(1),
        )  # fmt: skip
        return (found.decisions == wanted).mean()

    assert reached("cem") > reached("random_shooting") + 0.1


def test_unknown_planners_and_protocols_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="no planner 'dream'; have"):
        planner_named("dream")
    with pytest.raises(ValueError, match="whole rounds of 8"):
        PlanProtocol(ticks=100)
    with pytest.raises(ValueError, match="cannot be followed"):
        PlanProtocol(effort=Effort(decisions=1))


@pytest.mark.parametrize("name", GAMES)
def test_a_true_return_is_what_players_practise_with(name):
    game = game_of(name)
    start = starts(game, SMALL)
    dice = np.random.default_rng(3)
    actions = dice.integers(0, len(game.actions), (4, 16)).repeat(4, 1).astype(np.uint8)
    public = simulated(game, start.worlds.copy(), actions)[:, ::4]
    frames = frames_of(game, public)
    unsteered = [shaped(game, public[:, k], public[:, k + 1]) for k in range(16)]
    ended = frames.over[:, :-1].T
    expected = np.where(ended, 0, np.stack(unsteered)).sum(0)
    mine = gains(game, frames).sum(1)
    if name not in ("pong", "breakout"):  # those have a steering term besides
        assert np.allclose(mine, expected, atol=1e-3)


def test_after_the_end_nothing_counts_and_what_is_no_number_is_the_worst():
    game = game_of("snake")
    public = np.repeat(starts(game, SMALL).recent[:1, -1:], 3, 1)
    public[:, 1:, SCORE] += 1
    public[:, 2:, SCORE] += 5
    frames = frames_of(game, public)
    assert gains(game, frames)[0, 0] == pytest.approx(6)
    over = np.array([[False, True, True]])
    assert gains(game, replace(frames, over=over))[0, 0] == pytest.approx(1)
    assert gains(game, frames, discount=0.5)[0, 0] == pytest.approx(1 + 0.5 * 5)
    states = frames.states.copy()
    states[0, 1, 0, 0] = np.nan
    assert (gains(game, replace(frames, states=states)) == WORST).all()


@given(st.integers(0, 1000))
def test_an_order_is_ranked_alike_or_reversed_whatever_the_scale(seed):
    truth = np.random.default_rng(seed).normal(size=(2, 9, 3))
    assert np.allclose(rank_correlations(3 * truth, truth)[:, 1:], 1)
    assert np.allclose(rank_correlations(-truth, truth), -1)
    assert (rank_correlations(0 * truth, truth) == 0).all()
    assert np.isnan(rank_correlations(truth, 0 * truth)).all()


def test_no_share_is_given_where_the_ceiling_is_within_noise_of_the_floor():
    floor = np.array([0.0, 1.0, 2.0, 3.0])
    assert np.isnan(share_of(floor, floor, floor + [1, -1, 1, -1])).all()
    share, low, high = share_of(floor + 1, floor, floor + [2, 2.1, 1.9, 2])
    assert low <= share <= high
    assert share == pytest.approx(0.5)


def test_the_planner_with_the_true_rules_beats_chance_in_most_games():
    better = 0
    for name in GAMES:
        start = starts(game_of(name), SMALL)
        true = play_planned(start, InsideRules(2), "cem", SMALL).value
        chance = play_plain(start, "random", SMALL).value
        better += bool((true - chance).mean() > 2 * (true - chance).std() / np.sqrt(len(true)))
    assert better >= 5


class Oracle:
    """A world model that is the true simulator: it knows the worlds it is asked about."""

    name = "oracle"

    def futures(self, moment, plans, hold, seed):
        return InsideRules(1).futures(moment, plans, hold, seed + 1)


@pytest.mark.parametrize("name", ["racer", "pong"])
def test_a_model_that_is_the_game_reaches_the_whole_share_and_a_still_one_does_not(name):
    ground = lay_out_planning(name, SMALL)
    whole = judge_dreamer(Oracle(), ground).row
    still = judge_planning(still_of(name), ground).row
    assert whole["share"] == pytest.approx(1, abs=0.1)
    assert whole["mechanism"] == ""
    assert whole["diagnosis"]["ranks"] > 0.9
    assert whole["diagnosis"]["top_quarter"] > 0.9
    assert still["share"] < 0.6
    assert "ranked poorly" in still["mechanism"]
    assert still["diagnosis"]["reaction"] == pytest.approx(0, abs=1e-4)
    assert whole["diagnosis"]["reaction"] == pytest.approx(1, abs=0.01)


def test_the_planner_without_the_true_luck_is_no_clairvoyant():
    game = game_of("asteroids")
    start = starts(game, SMALL)
    plans = np.zeros((4, 2, 30), np.uint8)
    known, guessed = (InsideRules(n).futures(start, plans, 4, 0)[0].frames.states for n in (0, 1))
    true = frames_of(game, simulated(game, start.worlds.copy(), plans[:, 0].repeat(4, 1))[:, ::4])
    assert np.array_equal(known[::2], true.states)
    assert not np.array_equal(guessed[::2], true.states)
    assert np.array_equal(guessed[::2], guessed[1::2])  # one luck for all candidates


def test_the_same_seed_plays_the_same_and_another_does_not():
    start = starts(game_of("racer"), SMALL)
    first, again = (play_planned(start, InsideRules(1), "mppi", SMALL).parts for _ in range(2))
    other = play_planned(start, InsideRules(1), "mppi", replace(SMALL, seed=1)).parts
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_model_is_told_what_any_rollout_is_told():
    seen = []

    class Notes:
        name = "notes"

        def rollout(self, context, seed=0):
            seen.append(context)
            return still_of("pong").rollout(context, seed)

    game = game_of("pong")
    start = starts(game, SMALL)
    plans = np.tile(np.array([1, 2, 0], np.uint8), (4, 16, 1))
    InsideModel(Notes()).futures(start, plans, 4, 0)
    context = seen[0]
    assert context.states.shape[:2] == (64, 8)
    assert context.horizon == 12
    table = np.array(game.action_table, np.float32)
    assert np.array_equal(context.actions[0, 7:19], table[[1] * 4 + [2] * 4 + [0] * 4])
    first = start.recent[0, -1]
    columns = [k for k, column in enumerate(game.columns) if column.field == "y"]
    assert first[7 + columns[0]] == pytest.approx(context.states[0, -1, 0, 1])


def test_a_model_that_breaks_is_counted_and_costs_only_itself(breaks):
    judged = judge_planning(breaks(after=0), lay_out_planning("pong", SMALL))
    assert judged.row["broken"] == judged.row["imagined"] * SMALL.episodes
    assert "out of memory" in judged.row["why"][0]
    assert np.isfinite(judged.row["return"])


def test_futures_that_are_no_numbers_are_counted_as_broken():
    class Dark:
        name = "dark"

        def rollout(self, context, seed=0):
            told = still_of("pong").rollout(context, seed)
            return replace(told, terminal=np.full_like(told.terminal, np.nan))

    judged = judge_planning(Dark(), lay_out_planning("pong", SMALL))
    assert judged.row["broken"] == judged.row["imagined"] * SMALL.episodes
    assert judged.row["why"] == ["not finite"]


def test_a_game_without_a_return_is_judged_and_told_that_no_plans_were_made(pong, still):
    class Chess:
        game, manifest = "chess", replace(pong.manifest, game="chess")

        def __getattr__(self, name):
            return getattr(pong, name)

    bed = replace(lay_out(pong), store=Chess())
    judged = judge_model(still, bed.store, bed=bed, plan=1, num_pictures=0, num_clips=0)
    assert judged.planning == []
    assert judged.record.notes == ("no plans were made: there is no return for 'chess'",)


def test_only_games_with_a_return_can_be_planned_in():
    manifest = game_of("pong").manifest
    assert can_plan(manifest)
    assert not can_plan(replace(manifest, game="chess"))
    assert not can_plan(replace(manifest, version=99))
    with pytest.raises(ValueError, match="no return is defined for plans in 'chess'"):
        lay_out_planning("chess", SMALL)


def test_what_fails_is_said_only_below_the_aim():
    ground = lay_out_planning("pong", SMALL)
    found = judge_planning(still_of("pong"), ground)
    assert [r.metric for r in found.readings] == [
        "planning_return", "planning_score", "planning_share",
    ]  # fmt: skip
    assert found.readings[0].ceiling == found.row["return_true"]
    told = mechanism(float("nan"), SOUND)
    assert told.startswith("the true simulator's planner is not told apart")
    assert mechanism(0.7, SOUND) == ""
    assert "beyond the plan" in mechanism(0.3, SOUND)
    assert "the search finds the model's errors" in mechanism(0.3, replace(SOUND, optimism=2.0))
    assert "if nothing moved (0.500 against 0.800)" in mechanism(
        0.3, replace(SOUND, state_score=0.5)
    )
    assert "spread 10% as far as they should" in mechanism(0.3, replace(SOUND, reaction=0.1))
    low = replace(SOUND, ranks_of={"score": 0.1, "lives": 0.9, "progress": 0.9})
    assert (
        mechanism(0.3, low) == "score is ranked poorly (0.10 of 1, at stake in 50% of the moments)"
    )
    never = replace(low, stakes_of={"score": 0.0, "lives": 0.5, "progress": 0.5})
    assert "score" not in mechanism(0.3, never)


def test_judging_adds_plans_where_asked_and_the_run_folder_keeps_them(pong, still, tmp_path):
    shared = {"num_episodes": 4, "num_pictures": 0, "num_clips": 0}
    judged = judge_model(still, pong, plan=2, **shared)
    assert judged.reading("planning_return").ceiling > judged.reading("planning_return").floor
    assert judged.record.config["planning_episodes"] == 2
    folder = write_run(judged, tmp_path / "run")
    assert read_json(folder / "planning.json")[0]["planner"] == "cem"
    without = judge_model(still, pong, **shared)
    assert without.planning == []
    assert not any(r.metric.startswith("planning") for r in without.readings)
