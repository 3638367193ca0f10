"""Comparing runs: refusal of unlike runs, verdicts, correction, and the gate."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.bench import significance
from cosmolabe.bench.bed import lay_out
from cosmolabe.bench.compare import Paired, compare, regressed, row_of
from cosmolabe.bench.evaluate import judge_model, write_run
from cosmolabe.bench.rolling import roll
from cosmolabe.bench.significance import holm, sign_flip_p
from cosmolabe.core import parts
from cosmolabe.core.record import write_jsonl, write_readings
from cosmolabe.judges.state import judge


@pytest.fixture(scope="module")
def runs(pong, tmp_path_factory):
    """Runs of still models with more and more noise, on one bed."""

    from dataclasses import dataclass

    @dataclass
    class Shaken:
        amount: float
        name: str = "shaken"

        def rollout(self, context, seed=0):
            still = parts.load("models", "still").create(pong.manifest, "laptop", 0)
            out = still.rollout(context, seed)
            shift = np.random.default_rng(5).normal(0, self.amount, out.states[..., :2].shape)
            out.states[..., :2] += shift
            return out

    bed = lay_out(pong)
    folder = tmp_path_factory.mktemp("runs")
    for name, amount in {"good": 0.0, "alike": 0.001, "bad": 0.2}.items():
        judgement = judge_model(Shaken(amount), pong, bed=bed, num_pictures=0, num_clips=0)
        write_run(judgement, folder / name)
    return folder


def test_a_run_compared_with_itself_is_the_same_everywhere(runs):
    result = compare(runs / "good", runs / "good")
    assert {row.verdict for row in result.rows} == {"same"}
    assert all(row.difference == 0 and row.p == 1 for row in result.rows)
    assert regressed(result) == []


def test_a_worse_run_is_found_worse_and_the_other_way_round_better(runs):
    down, up = compare(runs / "good", runs / "bad"), compare(runs / "bad", runs / "good")
    assert [row.verdict for row in down.rows] == ["worse"] * 4
    assert [row.verdict for row in up.rows] == ["better"] * 4
    assert len(regressed(down)) == 4
    for one, other in zip(down.rows, up.rows, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert one.low <= one.difference <= one.high


def test_a_change_within_the_margin_is_the_same(runs):
    assert regressed(compare(runs / "good", runs / "alike", margin=0.01)) == []
    rows = compare(runs / "good", runs / "alike", margin=0.01).rows
    assert {row.verdict for row in rows} == {"same"}


def test_the_episodes_that_changed_most_stand_at_both_ends(runs):
    changes = [row["difference"] for row in compare(runs / "bad", runs / "good").episodes]
    assert len(changes) == 10
    assert changes == sorted(changes)


@pytest.mark.parametrize(
    ("field", "words"), [("protocol", "different protocols"), ("data", "different windows")]
)
def test_unlike_runs_are_refused_with_an_explanation(runs, tmp_path, field, words):
    for name in ("readings.json", "clips.jsonl"):
        (tmp_path / name).write_bytes((runs / "good" / name).read_bytes())
    rows = json.loads((tmp_path / "readings.json").read_text())
    for row in rows:
        row[field] = "0123456789abcdef"
    (tmp_path / "readings.json").write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=words):
        compare(runs / "good", tmp_path)


def test_runs_of_different_games_have_nothing_to_compare(runs, tmp_path):
    for name in ("readings.json", "clips.jsonl"):
        text = (runs / "good" / name).read_text().replace('"pong"', '"chess"')
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(runs / "good", tmp_path)


def test_invalid_windows_stay_in_the_comparison_as_zeros(runs, tmp_path):
    for name in ("readings.json", "clips.jsonl"):
        (tmp_path / name).write_bytes((runs / "good" / name).read_bytes())
    rows = [json.loads(line) for line in (tmp_path / "clips.jsonl").read_text().splitlines()]
    for row in rows[:12]:
        row.update(status="invalid", final=0.0, composite=dict.fromkeys(row["composite"], 0.0))
    (tmp_path / "clips.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    result = compare(runs / "good", tmp_path)
    assert result.rows[0].n == 24
    assert result.rows[0].verdict == "worse"
    assert result.notes == ["pong: 12 window(s) invalid after, scored 0"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_equals_its_definition(p):
    order = np.argsort(p, kind="stable")
    expected, highest = np.zeros(len(p)), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p[place] * (len(p) - rank)))
        expected[place] = highest
    np.testing.assert_allclose(holm(p), expected)


def test_holm_leaves_a_missing_p_missing_and_uncounted():
    out = holm([0.01, np.nan, 0.04])
    assert out[0] == pytest.approx(0.02)
    assert np.isnan(out[1])
    assert out[2] == pytest.approx(0.04)


def test_sign_flips_drawn_in_pieces_are_those_drawn_at_once(monkeypatch):
    sums = np.random.default_rng(0).normal(0.1, 1, 37)
    whole = sign_flip_p(sums, 3)
    monkeypatch.setattr(significance, "MOST_AT_ONCE", 50 * len(sums))
    assert sign_flip_p(sums, 3) == whole


def test_sign_flips_agree_with_the_exact_test():
    sums = np.array([0.3, 0.1, -0.05, 0.2, 0.15, 0.4])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    exact = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12)
    assert sign_flip_p(sums) == pytest.approx(exact, abs=0.01)
    assert sign_flip_p(np.zeros(5)) == 1.0


def test_p_is_even_where_nothing_differs():
    random = np.random.default_rng(0)
    p = [sign_flip_p(random.normal(0, 1, 20), seed) for seed in range(200)]
    assert 0.02 <= np.mean(np.array(p) < 0.05) + 0.01 <= 0.12


@pytest.mark.parametrize("episodes", [[0, 0, 0], [0, 1, 2]])
def test_a_mean_over_games_has_an_interval_where_each_game_has_several_episodes(episodes):
    key = ("final", None)
    games = [
        Paired({key: np.zeros(3)}, {key: np.array([0.1, 0.2, 0.3])}, np.array(names), [])
        for names in ([0, 1, 2], episodes)
    ]
    row = row_of("", key, games, 0)
    assert row.difference == pytest.approx(0.2)
    assert (row.low < 0.2 < row.high) == (len(set(episodes)) > 1)
    assert np.isnan(row.low) == np.isnan(row.high) == (len(set(episodes)) == 1)


def test_a_negative_margin_is_refused(runs):
    with pytest.raises(ValueError, match="margin"):
        compare(runs / "good", runs / "good", margin=-0.1)


def test_a_comparison_can_be_written_as_json(runs):
    from cosmolabe.core.record import plain

    text = json.dumps(plain(compare(runs / "good", runs / "bad")), allow_nan=False)
    assert dataclasses.is_dataclass(compare(runs / "good", runs / "good"))
    assert '"worse"' in text


def test_rollouts_that_were_judged_can_be_compared(pong, tmp_path):
    for name in ("still", "constant_velocity"):
        model = parts.load("models", name).create(pong.manifest, "laptop", 0)
        readings, rows = judge(roll(model, pong, num_episodes=4))
        write_readings(tmp_path / name / "readings.json", readings)
        write_jsonl(tmp_path / name / "clips.jsonl", rows)
    found = compare(tmp_path / "still", tmp_path / "constant_velocity")
    assert found.rows[0].n == 4
    assert all(row["before"] < row["after"] for row in found.episodes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"episode": None}, "line 1: 'episode' is 'None', expected int"),
        ({"final": "good"}, "'final' is 'good'"),
        ({"composite": []}, r"'composite' is '\[\]', expected dict"),
        ({"composite": {"1": "x"}}, "composite: '1' is 'x'"),
        ({"game": "chess"}, "has no final score"),
        ({"id": []}, "'id'"),
    ],
)
def test_an_edited_row_is_named_by_line_and_column(runs, tmp_path, changes, words):
    for name in ("readings.json", "clips.jsonl"):
        (tmp_path / name).write_bytes((runs / "good" / name).read_bytes())
    rows = [json.loads(line) for line in (tmp_path / "clips.jsonl").read_text().splitlines()]
    rows[0] |= changes
    (tmp_path / "clips.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(ValueError, match=words):
        compare(runs / "good", tmp_path)
