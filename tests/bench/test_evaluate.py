"""Judging a model end to end: floors, ceiling, skill, failures, and the run folder."""

import dataclasses
import json

import numpy as np
import pytest

from cosmolabe.bench.bed import lay_out
from cosmolabe.bench.ceiling import simulated
from cosmolabe.bench.driving import imagine
from cosmolabe.bench.evaluate import judge_model, write_run, write_runs
from cosmolabe.core.fields import PREDICTED
from cosmolabe.core.record import read_json, read_readings
from cosmolabe.judges.state import JUDGE


@pytest.fixture(scope="module")
def bed(pong):
    return lay_out(pong)


class Truth:
    """Cheats: it is given the store."""

    name = "truth"

    def __init__(self, bed, stream=None):
        self.bed, self.stream = bed, stream

    def rollout(self, context, seed=0):
        windows = self.bed.windows
        now = windows.starts + context.window - 1
        all_of_them = simulated(self.bed.store, windows.episodes, now, context.horizon, self.stream)
        rows = np.minimum(np.arange(len(context)), len(windows) - 1)
        return dataclasses.replace(
            all_of_them,
            states=all_of_them.states[rows],
            globals=all_of_them.globals[rows],
            terminal=all_of_them.terminal[rows],
        )


def test_the_simulator_with_its_own_luck_is_the_truth_to_the_last_bit(bed):
    windows = bed.windows
    future = simulated(bed.store, windows.episodes, windows.starts + 7, 20)
    np.testing.assert_array_equal(future.states, windows.states[:, 8:][..., list(PREDICTED)])
    np.testing.assert_array_equal(future.globals, windows.globals[:, 8:])


def test_the_truth_is_the_ceiling_and_stands_above_the_floors(bed):
    judgement = judge_model(Truth(bed), bed.store, bed=bed, num_pictures=4, num_clips=0)
    assert judgement.final == pytest.approx(1.0)
    assert judgement.skill >= 1.0 - 1e-9
    assert judgement.reading("psnr", 20).value == pytest.approx(100.0)
    assert judgement.reading("ssim", 20).value == pytest.approx(1.0)
    assert judgement.reading("global_error", 20).value == pytest.approx(0.0, abs=1e-6)


def test_other_luck_scores_no_more_than_the_truth_and_more_than_the_floors(bed):
    final = {name: np.nanmean(scores.final) for name, scores in bed.floors.items()}
    top = np.nanmean(bed.ceiling.final)
    assert max(final.values()) < top <= 1.0


def test_a_floor_judged_as_a_model_has_no_skill_and_the_score_of_its_floor(bed, still):
    judgement = judge_model(still, bed.store, bed=bed, num_pictures=0, num_clips=0)
    assert judgement.final == pytest.approx(judgement.reading("final_still").value)
    assert judgement.skill <= 0.0


def test_readings_carry_interval_floor_ceiling_protocol_and_data(bed, noisy):
    judgement = judge_model(noisy(), bed.store, bed=bed, num_pictures=0, num_clips=0)
    final = judgement.reading("final")
    assert final.low <= final.value <= final.high
    assert final.floor < final.ceiling
    assert final.protocol == JUDGE.protocol("state/1").fingerprint
    assert final.data == bed.data
    assert final.n == 24
    weighted = sum(
        weight * judgement.reading("composite", horizon).value
        for horizon, weight in bed.protocol.weights
    )
    assert final.value == pytest.approx(weighted)


def test_a_model_that_raises_midway_scores_zero_where_it_did_and_is_named(bed, breaks, still):
    whole = judge_model(still, bed.store, bed=bed, num_pictures=0, num_clips=0).scores
    judgement = judge_model(breaks(1), bed.store, bed=bed, chunk=8, num_pictures=0, num_clips=0)
    assert judgement.final == pytest.approx(whole.final[:8].sum() / 24)
    broken = [row for row in judgement.clips if row["status"] == "invalid"]
    assert len(broken) == 16
    assert broken[0]["why"] == "model raised RuntimeError: out of memory, say"
    assert broken[0]["final"] == 0.0
    assert "16 window(s) invalid" in judgement.reading("final").why


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_of_numbers_that_are_none_scores_zero_everywhere(bed, noisy, bad):
    class Spoiled(noisy):
        def rollout(self, context, seed=0):
            out = super().rollout(context, seed)
            out.states[:, 3] = bad
            return out

    judgement = judge_model(Spoiled(), bed.store, bed=bed, num_pictures=2, num_clips=1)
    assert judgement.final == 0.0
    assert np.isnan(judgement.reading("position_l1", 20).value)
    assert all(row["status"] == "invalid" for row in judgement.clips)


def test_the_context_has_no_future_in_memory_behind_it(bed):
    class Looks:
        name = "looks"

        def rollout(self, context, seed=0):
            for array in (context.states, context.globals, context.registry):
                owner = array
                while owner.base is not None:
                    owner = owner.base
                assert owner.size == array.size
            assert context.states.shape[1] == 8
            assert context.actions.shape[1] == 28
            raise RuntimeError("seen enough")

    _, why = imagine(Looks(), bed.windows.context(8))
    assert set(why) == {"model raised RuntimeError: seen enough"}


def test_a_model_that_writes_into_what_it_is_told_changes_only_its_own_copy(bed, still):
    class Writes:
        name = "writes"

        def rollout(self, context, seed=0):
            out = still.rollout(context, seed)
            for array in (context.states, context.actions, *vars(context.masks).values()):
                array[:] = 0
            return out

    honest = judge_model(still, bed.store, bed=bed, num_pictures=0, num_clips=0)
    written = judge_model(Writes(), bed.store, bed=bed, num_pictures=0, num_clips=0)
    assert written.final == honest.final
    assert judge_model(still, bed.store, bed=bed, num_pictures=0, num_clips=0).final == honest.final


@pytest.mark.parametrize("stop", [SystemExit, GeneratorExit])
def test_a_model_that_exits_does_not_end_the_judging(bed, stop):
    class Exits:
        name = "exits"

        def rollout(self, context, seed=0):
            raise stop(0)

    _, why = imagine(Exits(), bed.windows.context(8))
    assert set(why) == {f"model raised {stop.__name__}: 0"}


@pytest.mark.parametrize("stop", [SystemExit, RuntimeError])
def test_a_prediction_that_raises_when_it_is_read_does_not_end_the_judging(bed, stop):
    class Gone:
        @property
        def states(self):
            raise stop(0)

    class Hands:
        name = "hands"

        def rollout(self, context, seed=0):
            return Gone()

    _, why = imagine(Hands(), bed.windows.context(8))
    assert set(why) == {f"model raised {stop.__name__}: 0"}


def test_an_error_that_cannot_say_what_it_is_does_not_end_the_judging(bed):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    class Raises:
        name = "raises"

        def rollout(self, context, seed=0):
            raise Mute

    _, why = imagine(Raises(), bed.windows.context(8))
    assert set(why) == {"model raised Mute"}


@pytest.mark.parametrize(
    "asked", [{"scenarios": -1}, {"scenarios": 10**9}, {"plan": -1}, {"plan": 10**14}]
)
def test_silly_counts_are_refused_before_anything_is_imagined(bed, breaks, asked):
    with pytest.raises(ValueError, match=r"starts of each scenario are 0 to .* plans 0 to 1000"):
        judge_model(breaks(after=0), bed.store, bed=bed, **asked)


def test_models_with_names_that_no_file_can_have_keep_their_clips_apart(bed, still, tmp_path):
    names = ("../../a/b", "../../a_b", "x" * 300, "<b>")
    judgements = [
        dataclasses.replace(judge_model(still, bed.store, bed=bed, num_clips=1), model=name)
        for name in names
    ]
    write_runs(judgements, tmp_path / "run")
    assert len(list((tmp_path / "run" / "media").glob("*.npz"))) == len(names)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_changing_the_future_changes_no_prediction(bed, noisy):
    changed = dataclasses.replace(bed.windows, states=bed.windows.states.copy())
    changed.states[:, 8:] += 0.3
    one, _ = imagine(noisy(), bed.windows.context(8))
    two, _ = imagine(noisy(), changed.context(8))
    np.testing.assert_array_equal(one.states, two.states)


def test_chunks_are_filled_up_so_that_their_size_never_depends_on_the_windows(bed, still):
    sizes = []

    class Counts:
        name = "counts"

        def rollout(self, context, seed=0):
            sizes.append(len(context))
            return still.rollout(context, seed)

    prediction, why = imagine(Counts(), bed.windows.context(8), chunk=10)
    assert sizes == [10, 10, 10]
    assert len(prediction.states) == len(why) == 24


def test_the_published_protocol_runs_the_model_from_true_states(bed, noisy):
    paper = lay_out(bed.store, protocol="state/awm-1")
    judgement = judge_model(noisy(), bed.store, bed=paper, num_pictures=0, num_clips=0)
    assert 0 < judgement.final < 1
    assert judgement.reading("final").protocol != JUDGE.protocol("state/1").fingerprint
    truth = np.nanmean(paper.ceiling.final)
    assert judgement.final < truth


def test_short_episodes_are_skipped_counted_and_named(pong, still):
    class Short:
        """The store, but half of its episodes end after 20 states."""

        def __init__(self):
            self.lengths = pong.lengths.copy()
            self.lengths[::2] = 20

        def __getattr__(self, name):
            return getattr(pong, name)

    judgement = judge_model(still, Short(), num_pictures=0, num_clips=0)
    skipped = [row for row in judgement.clips if row["status"] == "skipped"]
    assert len(skipped) == judgement.reading("final").skipped == 12
    assert skipped[0]["why"] == "too short: 20 states"


def test_a_longer_curve_and_a_gap_come_on_request(bed, still):
    judgement = judge_model(
        still,
        bed.store,
        bed=bed,
        curve_horizon=60,
        gap_split="test",
        num_pictures=0,
        num_clips=0,
    )
    long = [row for row in judgement.curves if row["metric"] == "composite_long"]
    assert [row["horizon"] for row in long] == list(range(1, 61))
    assert judgement.reading("test_test_gap").value == pytest.approx(0.0)


def test_every_kind_of_mutable_entity_has_its_rows(bed, still):
    judgement = judge_model(still, bed.store, bed=bed, num_pictures=0, num_clips=0)
    assert {row["kind"] for row in judgement.kinds} == {"player", "opponent", "ball"}
    ball = next(row for row in judgement.kinds if row["kind"] == "ball" and row["horizon"] == 20)
    opponent = [r for r in judgement.kinds if r["kind"] == "opponent" and r["horizon"] == 20]
    assert ball["position_l1"] > opponent[0]["position_l1"]


def test_a_run_folder_can_be_read_again(bed, noisy, tmp_path):
    judgement = judge_model(noisy(), bed.store, bed=bed, num_pictures=2, num_clips=2)
    folder = write_run(judgement, tmp_path / "run")
    readings = read_readings(folder / "readings.json")
    assert len(readings) == len(judgement.readings)
    assert readings[0].value == judgement.final
    rows = [json.loads(line) for line in (folder / "clips.jsonl").read_text().splitlines()]
    assert len(rows) == 24
    assert {"id", "game", "episode", "start", "player", "status", "why", "final"} <= set(rows[0])
    curves = read_json(folder / "curves.json")
    assert {"value", "low", "high", "still", "constant_velocity", "ceiling"} <= set(curves[0])
    assert read_json(folder / "record.json")["schema"] == 1
    media = sorted((folder / "media").glob("*.npz"))
    assert len(media) == 2
    with np.load(media[0], allow_pickle=False) as clip:
        assert clip["true"].shape == clip["imagined"].shape
        assert clip["true"].shape[0] == 28
        np.testing.assert_array_equal(clip["true"][:8], clip["imagined"][:8])
        assert str(clip["caption"]).startswith("pong, episode")


def test_the_same_seed_gives_the_same_bytes(bed, noisy, tmp_path):
    for name in ("a", "b"):
        write_run(judge_model(noisy(), bed.store, bed=bed, num_clips=1), tmp_path / name)
    for file in ("readings.json", "clips.jsonl", "curves.json", "kinds.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_store_without_long_enough_episodes_is_refused_in_words(pong):
    with pytest.raises(ValueError, match="are shorter than"):
        lay_out(pong, horizon=5000)


def test_windows_come_from_as_many_episodes_as_there_are_and_from_all_over_them(bed):
    assert len(set(bed.windows.episodes)) == len(bed.windows) == 24
    assert np.ptp(bed.windows.starts) > 100


def test_true_globals_of_the_future_reach_no_model(bed, noisy):
    changed = dataclasses.replace(bed.windows, globals=bed.windows.globals.copy())
    changed.globals[:, 8:] += 7.0
    one, _ = imagine(noisy(), bed.windows.context(8))
    two, _ = imagine(noisy(), changed.context(8))
    np.testing.assert_array_equal(one.globals, two.globals)


def test_a_model_that_fails_everywhere_scores_zero_over_all_windows(bed, breaks):
    judgement = judge_model(breaks(0), bed.store, bed=bed, num_pictures=0, num_clips=0)
    assert judgement.final == 0.0
    assert judgement.reading("final").n == 24


def test_other_rules_under_the_same_seeds_are_other_data(pong, bed):
    class Heavier:
        """The store as it would play again had its rules changed without a new version."""

        def windows(self, *place):
            cut = pong.windows(*place)
            return dataclasses.replace(cut, states=cut.states + np.float32(1e-4))

        def __getattr__(self, name):
            return getattr(pong, name)

    assert lay_out(Heavier()).data != bed.data
    assert lay_out(pong).data == bed.data
