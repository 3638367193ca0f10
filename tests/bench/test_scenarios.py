"""Staging scenarios and judging models on them."""

from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.bench.scenario_check import check_scenarios
from cosmolabe.bench.scenario_judging import judge_scenarios, lay_out_scenarios
from cosmolabe.bench.staging import (
    actions_of,
    constants_of,
    opening,
    prediction_of,
    stage,
    trace_of,
)
from cosmolabe.core import parts
from cosmolabe.core.record import read_json
from cosmolabe.core.rollout import Prediction
from cosmolabe.data.playing import replay
from cosmolabe.metrics.reaction import reaction
from cosmolabe.metrics.rule_consistency import rule_consistency

PONG = parts.load("games", "pong")
SCENARIOS = {scenario.name: scenario for scenario in parts.load("scenarios", "pong")}


@pytest.fixture(scope="module")
def trial():
    return lay_out_scenarios("pong", 2)


class Oracle:
    """Knows the truth of every window of a trial, by its context and actions."""

    name = "oracle"

    def __init__(self, trial, wrong=""):
        self.wrong, self.known = wrong, {}
        for scene in trial.scenes:
            for staged in (scene.as_told, scene.twin):
                future = prediction_of(staged)
                for row in range(len(staged)):
                    key = self.key(staged.windows.states[row, :8], staged.windows.actions[row])
                    self.known[key] = [
                        getattr(future, part)[row] for part in ("states", "globals", "terminal")
                    ]

    @staticmethod
    def key(states, actions):
        return states.tobytes(), actions.tobytes()

    def rollout(self, context, seed=0):
        rows = []
        for row in range(len(context)):
            actions = context.actions[row]
            if self.wrong == "deaf":
                actions = next(
                    np.frombuffer(a, np.float32).reshape(actions.shape)
                    for s, a in self.known
                    if s == context.states[row].tobytes()
                )
            known = self.known.get(self.key(context.states[row], actions))
            rows.append(known or next(iter(self.likely(context))))
        out = Prediction(*(np.stack(part).copy() for part in zip(*rows, strict=True)))
        if self.wrong == "nan":
            out.states[:, 3] = np.nan
        return out

    def likely(self, context):
        shape = context.horizon
        yield from (v for v in self.known.values() if len(v[0]) == shape)


def test_a_staged_window_is_what_the_game_plays():
    scenario = SCENARIOS["miss"]
    staged = stage(PONG, scenario, [5])
    played = replay(
        PONG,
        opening(PONG, scenario, 5),
        actions_of(PONG, scenario)[:-1],
        constants_of(PONG, scenario),
        every=100,
    )
    assert np.array_equal(staged.windows.states[0], played.states)
    assert np.array_equal(staged.windows.globals[0], played.globals)
    assert np.array_equal(staged.windows.terminal[0], played.terminal)


def test_an_episode_that_ends_early_keeps_its_last_state():
    staged = stage(PONG, SCENARIOS["last_point_won"], range(3))
    for row in range(3):
        ended = int(staged.windows.terminal[row].argmax())
        assert ended > 8
        assert staged.windows.terminal[row, ended:].all()
        assert np.array_equal(staged.windows.globals[row, ended], staged.windows.globals[row, -1])


def test_same_seeds_stage_the_same_bytes_whatever_else_is_staged():
    scenario = SCENARIOS["serve_waits"]
    all_three, one = stage(PONG, scenario, range(3), 0.25), stage(PONG, scenario, [2], 0.25)
    assert np.array_equal(all_three.windows.states[2], one.windows.states[0])


def test_a_sticky_world_repeats_actions_and_the_model_is_told_the_intended_ones():
    scenario = replace(SCENARIOS["bat_moves"], script=",".join(["up", "down"] * 20))
    still, sticky = stage(PONG, scenario, range(50)), stage(PONG, scenario, range(50), sticky=0.25)
    assert np.array_equal(still.executed, still.actions)
    assert np.array_equal(still.windows.actions, sticky.windows.actions)
    repeated = (sticky.executed[:, 1:] == sticky.executed[:, :-1]).mean()
    # stuck once: a repeat; the tick after a stuck one, if free, repeats too: 2 p (1 - p) + p²...
    assert 0.2 < repeated < 0.55
    assert not np.array_equal(still.windows.states, sticky.windows.states)
    with pytest.raises(ValueError, match="sticky"):
        stage(PONG, scenario, [0], sticky=1.0)


def test_other_luck_changes_what_is_drawn_and_nothing_before():
    scenario = SCENARIOS["serve_waits"]
    one, other = stage(PONG, scenario, range(6)), stage(PONG, scenario, range(6), stream=1)
    assert np.array_equal(one.windows.states[:, :16], other.windows.states[:, :16])
    assert not np.array_equal(one.windows.states[:, -1], other.windows.states[:, -1])


def test_a_prediction_of_the_truth_is_the_true_trace():
    staged = stage(PONG, SCENARIOS["miss"], range(2))
    trace = trace_of(prediction_of(staged), staged)
    for part in ("states", "globals", "terminal", "actions"):
        assert np.array_equal(getattr(trace, part), getattr(staged.trace, part))


def test_what_decides_a_serve_does_not_show_in_the_last_context_state():
    left, right = (
        stage(PONG, replace(SCENARIOS[name], name="both"), range(20)).trace
        for name in ("served_left", "served_right")
    )
    assert np.array_equal(left.states[:, 0], right.states[:, 0])
    scores = [PONG.manifest.profile.global_fields.index(n) for n in ("score", "opponent_score")]
    rest = np.delete(np.arange(left.globals.shape[-1]), scores)
    assert np.array_equal(left.globals[:, 0][:, rest], right.globals[:, 0][:, rest])


def test_who_knows_the_truth_keeps_every_rule_and_reacts_in_full(trial):
    judged = judge_scenarios(Oracle(trial), trial)
    found = {reading.metric: reading for reading in judged.readings}
    assert found["scenario_score"].value == pytest.approx(1.0)
    assert found["rule_consistency"].value == 1.0
    assert found["reaction"].value == pytest.approx(1.0)
    assert all(row["kept"] == 1 and row["example"] is None for row in judged.rows)


def test_who_ignores_actions_does_not_react(trial):
    judged = judge_scenarios(Oracle(trial, "deaf"), trial)
    found = {reading.metric: reading.value for reading in judged.readings}
    assert found["reaction"] == 0.0
    assert found["rule_consistency"] > 0.9


def test_a_rollout_that_is_not_finite_scores_0_and_keeps_no_rule(trial):
    judged = judge_scenarios(Oracle(trial, "nan"), trial)
    found = {reading.metric: reading for reading in judged.readings}
    for metric in ("scenario_score", "rule_consistency", "reaction"):
        assert found[metric].value == 0.0
    assert "invalid" in found["rule_consistency"].why


class Wild:
    """Places are those of the last context state, all else is what it is told."""

    name = "wild"

    def __init__(self, number, everywhere=True):
        self.number, self.everywhere = number, everywhere

    def rollout(self, context, seed=0):
        from cosmolabe.models.still import Still

        told = Still().rollout(context, seed)
        if self.everywhere:
            told.states[...] = self.number
            told.states[::2] *= -1
            told.globals[...] = -self.number
        return replace(told, terminal=np.full_like(told.terminal, self.number))


@pytest.mark.parametrize("game", ["pong", "snake", "platformer"])
def test_numbers_of_any_size_are_judged_without_a_warning(game):
    judged = judge_scenarios(Wild(np.float32(3e38)), lay_out_scenarios(game, 1))
    found = {reading.metric: reading.value for reading in judged.readings}
    assert all(np.isfinite(list(found.values())))
    assert found["scenario_score"] < 0.1


def test_a_rollout_that_breaks_all_rules_because_its_end_is_no_number_says_so(trial):
    judged = judge_scenarios(Wild(np.nan, everywhere=False), trial)
    found = {reading.metric: reading for reading in judged.readings}
    assert found["rule_consistency"].value == 0.0
    assert "invalid" in found["rule_consistency"].why
    assert found["scenario_score"].value > 0


def test_writing_into_what_is_told_changes_nothing_of_the_scenarios(trial):
    from cosmolabe.models.still import Still

    class Writes(Still):
        def rollout(self, context, seed=0):
            told = super().rollout(context, seed)
            masks = vars(context.masks).values()
            for array in (context.registry, context.states, context.globals, *masks):
                array[...] = 0
            return told

    plain, written = (judge_scenarios(model, trial).readings for model in (Still(), Writes()))
    assert [r.value for r in plain] == [r.value for r in written]


def test_floors_and_ceiling_stand_beside_every_reading(trial):
    from cosmolabe.models.still import Still

    judged = judge_scenarios(Still(), trial)
    for reading in judged.readings:
        assert reading.value <= reading.floor <= reading.ceiling <= 1.0
        assert reading.low <= reading.value <= reading.high
        assert reading.n == 2 * len(SCENARIOS)
    assert {r.metric: r.ceiling for r in judged.readings}["rule_consistency"] == 1.0


def test_the_fingerprint_knows_the_scenarios_and_the_number_of_starts(trial):
    more = lay_out_scenarios("pong", 3)
    assert more.protocol != trial.protocol
    assert more.data != trial.data
    assert lay_out_scenarios.__wrapped__("pong", 2).data == trial.data


def test_games_without_scenarios_and_foolish_counts_are_refused():
    with pytest.raises(ValueError, match="no scenarios"):
        lay_out_scenarios("chess")
    for seeds in (0, 10**9):
        with pytest.raises(ValueError, match="seeds"):
            lay_out_scenarios("pong", seeds)
        with pytest.raises(ValueError, match="seeds"):
            check_scenarios("pong", seeds)


def test_a_judged_run_says_which_rules_broke_and_shows_the_worst(store, tmp_path):
    from cosmolabe.models.still import Still
    from cosmolabe.report.page import write_report

    judged = judge_model(Still(), store, num_episodes=4, num_pictures=0, num_clips=1, scenarios=1)
    assert judged.reading("rule_consistency").floor >= judged.reading("rule_consistency").value
    folder = write_run(judged, tmp_path / "run")
    rows = read_json(folder / "scenarios.json")
    assert {row["scenario"] for row in rows} == set(SCENARIOS)
    broken = [row for row in rows if row["kept"] == 0]
    assert all(row["example"] == 0 for row in broken)
    page = write_report(folder).read_text(encoding="utf-8")
    assert "<h2>Scenarios</h2>" in page
    assert "turns at the rail" in page
    assert any("scenario" in name for name in judged.media)


def test_a_report_bears_with_rows_that_somebody_else_wrote(store, tmp_path):
    from cosmolabe.core.record import write_json
    from cosmolabe.models.still import Still
    from cosmolabe.report.page import write_report

    judged = judge_model(Still(), store, num_episodes=4, num_pictures=0, num_clips=0)
    folder = write_run(judged, tmp_path / "run")
    odd = {"horizon": 20, "game": 3, "scenario": "<b>", "kept": "all", "example": 0.5, "score": []}
    write_json(folder / "scenarios.json", [{"horizon": 20}, odd])
    page = write_report(folder).read_text(encoding="utf-8")
    assert "<h2>Scenarios</h2>" in page
    assert "<b>" not in page
    write_json(folder / "scenarios.json", [{"scenario": "no horizon"}])
    with pytest.raises(ValueError, match="horizon"):
        write_report(folder)


def test_without_scenarios_nothing_of_them_is_written(store, tmp_path):
    from cosmolabe.models.still import Still

    judged = judge_model(Still(), store, num_episodes=4, num_pictures=0, num_clips=0)
    assert not judged.scenarios
    assert not (write_run(judged, tmp_path / "run") / "scenarios.json").exists()


def test_reaction_is_the_share_of_the_true_difference():
    true = np.random.default_rng(0).normal(size=(3, 5, 2))
    assert reaction(true, true) == pytest.approx(1.0)
    assert reaction(true, 0.5 * true) == pytest.approx(0.5)
    assert reaction(true, 2.0 * true) == pytest.approx(0.5)
    assert reaction(true, -true) == pytest.approx(-1.0)
    assert reaction(true, 0.0 * true) == pytest.approx(0.0)
    assert np.isnan(reaction(0.0 * true, true)).all()


def test_rule_consistency_is_the_share_of_rules_kept():
    assert list(rule_consistency(np.array([[True, False], [True, True]]))) == [0.5, 1.0]
