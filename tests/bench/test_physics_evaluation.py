"""The evaluation of a scorer of violation: what it counts, what it must not depend on."""

import json

import numpy as np
import pytest

from cosmolabe.bench.physics.evaluation import evaluate, evaluate_pair_judge, swaps
from cosmolabe.bench.physics.references import REFERENCES
from cosmolabe.bench.physics.scored import pairs_of, table_of
from cosmolabe.core.bootstrap import resamples
from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.core.record import plain

NUM = 200  # resamples


def world(num=30, noise=0.1, seed=0, name="videophy2"):
    dice = np.random.default_rng(seed)
    levels = dice.choice([0.0, 0.5, 2 / 3, 5 / 6, 1.0], num)
    clips = [
        ClipRow(
            f"{name}/{i}",
            name,
            prompt=f"p{i // 3}",
            kind="real" if levels[i] == 0 else "generated",
            violation=float(levels[i]),
        )
        for i in range(num)
    ]
    scores = {c.id: float(levels[i] + noise * dice.normal()) for i, c in enumerate(clips)}
    pairs = []
    for _ in range(3 * num):
        a, b = (int(x) for x in dice.choice(num, 2, replace=False))
        p = 0.5 if levels[a] == levels[b] else float(levels[a] > levels[b])
        meet = "text" if a // 3 == b // 3 else "none"
        pairs.append(PairRow(clips[a].id, clips[b].id, p, abs(levels[a] - levels[b]), name, meet))
    return scores, clips, pairs


def reading(found, metric, game=""):
    (one,) = [r for r in found.readings if r.metric == metric and r.game == game]
    return one


@pytest.fixture(scope="module")
def found():
    return evaluate(*world(), num=NUM)


def test_a_scorer_that_knows_the_label_is_right_and_far_from_chance(found):
    for metric, least in (("pairwise_accuracy", 0.85), ("auc", 0.95), ("cohens_d", 2.0)):
        one = reading(found, metric)
        assert least < one.value
        assert one.low <= one.value <= one.high
        assert one.floor < one.low
    assert reading(found, "spearman", "videophy2").value > 0.8
    assert reading(found, "fisher_mean_pearson").value > 0.8


def test_turning_the_scores_round_turns_every_measure_round():
    scores, clips, pairs = world()
    good = evaluate(scores, clips, pairs, num=NUM)
    bad = evaluate({k: -v for k, v in scores.items()}, clips, pairs, num=NUM)
    for metric, game, middle in (
        ("pairwise_accuracy", "", 0.5), ("auc", "", 0.5), ("cohens_d", "", 0.0),
        ("spearman", "videophy2", 0.0), ("pearson", "videophy2", 0.0),
    ):  # fmt: skip
        one, other = reading(good, metric, game), reading(bad, metric, game)
        assert one.value - middle == pytest.approx(middle - other.value)


def test_the_order_of_clips_and_the_naming_of_pairs_change_no_value():
    scores, clips, pairs = world()
    turned = [
        PairRow(p.second, p.first, 1 - p.p_first_worse, p.gap, p.source, p.corresponds)
        for p in pairs[::-1]
    ]
    one = evaluate(scores, clips, pairs, num=NUM)
    other = evaluate(scores, clips[::-1], turned, num=NUM)
    for a, b in zip(one.readings, other.readings, strict=True):
        assert (a.metric, a.n, a.game) == (b.metric, b.n, b.game)
        assert a.value == pytest.approx(b.value, nan_ok=True), a.metric


def test_a_score_that_is_missing_is_counted_and_not_taken_for_zero():
    scores, clips, pairs = world()
    lost = clips[0].id
    mine = [p for p in pairs if lost not in (p.first, p.second)]
    assert len(mine) < len(pairs)
    without = evaluate({k: v for k, v in scores.items() if k != lost}, clips, pairs, num=NUM)
    never = evaluate(scores, clips[1:], mine, num=NUM)
    one, other = (reading(e, "pairwise_accuracy") for e in (without, never))
    assert (one.value, one.n) == (other.value, other.n)
    assert one.skipped == len(pairs) - len(mine)
    assert without.rows["range"][0]["n_missing"] == 1


def test_accuracy_is_told_apart_by_what_clips_share_and_who_made_them(found):
    cells = [r for r in found.rows["pairs"] if r["scores"] == "raw" and r["set"] == "videophy2"]
    whole = [r for r in cells if r["sides"] == "any"]
    rest = [r for r in cells if r["sides"] != "any"]
    assert {r["corresponds"] for r in rest} == {"text", "none"}
    assert {r["sides"] for r in rest} >= {"real-generated", "generated-generated"}
    assert sum(r["n"] for r in rest) == whole[0]["n"]
    mean = sum(r["accuracy"] * r["n"] for r in rest if r["n"]) / whole[0]["n"]
    assert mean == pytest.approx(whole[0]["accuracy"])


def test_clipping_makes_equal_scores_and_the_rows_say_so():
    found = evaluate(*world(noise=0.4), num=NUM)
    raw, clipped = (
        next(r for r in found.rows["pairs"] if r["scores"] == kind) for kind in ("raw", "clipped")
    )
    assert raw["n_equal"] == 0
    assert clipped["n_equal"] > 0
    assert clipped["accuracy"] != raw["accuracy"]


def test_both_orders_of_a_pair_agree_for_one_score_a_clip(found):
    for row in found.rows["orders"]:
        assert row["forward"] == row["backward"] == row["accuracy"]


def test_no_threshold_of_the_sweep_beats_the_one_that_knows_the_labels(found):
    best = next(r for r in found.rows["pairs"] if r["set"] == "all")["best_accuracy_ties"]
    sweep = [r["accuracy"] for r in found.rows["ties"] if r["set"] == "all"]
    assert len(sweep) == 8
    assert max(sweep) <= best


def test_the_papers_numbers_stand_beside_ours_and_only_where_the_set_is_the_same(found):
    rows = found.rows["references"]
    assert len(rows) == len(REFERENCES)
    ours = {(r["set"], r["metric"]): r["ours"] for r in rows}
    assert ours["videophy2", "spearman"] == reading(found, "spearman", "videophy2").value
    assert np.isnan(ours["implausibench", "auc"])


def test_a_constant_scorer_has_no_correlation_and_half_of_every_couple():
    scores, clips, pairs = world()
    flat = evaluate(dict.fromkeys(scores, 0.3), clips, pairs, num=NUM)
    assert reading(flat, "pairwise_accuracy").value == 0.5
    assert reading(flat, "auc").value == 0.5
    one = reading(flat, "spearman", "videophy2")
    assert np.isnan(one.value)
    assert "never varies" in one.why


def test_correlations_are_taken_within_damages_when_told_to():
    """Two damages on different scales: each ranked perfectly, together not."""
    clips = [
        ClipRow(f"{kind}{i}", "damage", violation=i / 10, group=kind)
        for kind in "ab"
        for i in range(1, 9)
    ]
    scores = {c.id: c.violation + (0.0 if c.id[0] == "a" else 5.0) for c in clips}
    strata = {c.id: c.id[0] for c in clips}
    apart = evaluate(scores, clips, [], strata=strata, num=NUM)
    mixed = evaluate(scores, clips, [], num=NUM)
    assert reading(apart, "spearman", "damage").value == pytest.approx(1.0)
    assert reading(mixed, "spearman", "damage").value < 0.9


def test_a_pair_across_clusters_comes_as_often_as_both_and_within_one_as_often_as_it():
    _, clips, pairs = world(9)
    both = pairs_of(table_of({}, clips), pairs)
    drawn = resamples(both.clips.clusters["prompt"], 20, 1)
    counts = both.weights(drawn, "prompt")
    for k in range(len(both)):
        a, b = drawn[:, both.first[k]], drawn[:, both.second[k]]
        together = both.corresponds[k] == "text"
        assert np.array_equal(counts[:, k], a if together else a * b)


def test_an_evaluation_can_be_written_down(found):
    assert json.loads(json.dumps(plain(found.rows), allow_nan=False))["pairs"]


def test_impossible_inputs_are_refused_in_words():
    scores, clips, pairs = world(6)
    with pytest.raises(ValueError, match="same id"):
        evaluate(scores, [*clips, clips[0]], pairs, num=NUM)
    with pytest.raises(ValueError, match="not given"):
        evaluate(scores, clips[1:], pairs, num=NUM)
    with pytest.raises(ValueError, match="answers each way"):
        evaluate_pair_judge([0.5], [], clips, pairs)


def test_nothing_to_evaluate_gives_missing_numbers_and_no_error():
    empty = evaluate({}, [], [], num=NUM)
    assert np.isnan(reading(empty, "pairwise_accuracy").value)
    assert reading(empty, "pairwise_accuracy").why


def test_a_judge_that_always_points_at_the_first_shown_is_found_out():
    _, clips, pairs = world()
    first, last = np.ones(len(pairs)), np.zeros(len(pairs))
    row = evaluate_pair_judge(first, last, clips, pairs, num=NUM)[0]
    assert row["consistent"] == 0
    assert row["accuracy"] == pytest.approx(0.5)
    truth = np.array([p.p_first_worse for p in pairs])
    sure = evaluate_pair_judge(truth, truth, clips, pairs, num=NUM)[0]
    assert (sure["accuracy"], sure["consistent"]) == (1.0, 1.0)


def test_the_order_pairs_are_shown_in_is_drawn_once_for_all():
    pairs = world()[2]
    assert swaps(pairs) == swaps(pairs)
    assert 0.3 < np.mean(swaps(pairs)) < 0.7
