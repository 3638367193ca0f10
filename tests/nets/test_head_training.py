"""Head training: what it learns, that it can be interrupted, and what its parts do."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head_losses import domain_loss
from cosmolabe.nets.head_pairs import draw_shares, labels_of, pool_of
from cosmolabe.nets.head_recipe import OTHER_WEIGHT, PAPER_WEIGHTS, HeadRecipe
from cosmolabe.nets.head_training import begin, fit_head, fitting, rate_at

WIDTH = 6
QUICK = HeadRecipe(hidden=16, steps=60, warmup=5, redraw=25, rate=3e-3)


def world(num=40, seed=0, times=8, uneven=False, sources=("damage",)):
    """Features that show the violation along one direction, with noise."""
    dice = np.random.default_rng(seed)
    worst = dice.random(num)
    lengths = dice.integers(1, times + 1, num) if uneven else np.full(num, times)
    along = np.ones(WIDTH, np.float32)
    features = {
        f"c{i}": (dice.normal(size=(lengths[i], WIDTH)) * 0.1 + worst[i] * along).astype(np.float32)
        for i in range(num)
    }
    clips = [
        ClipRow(f"c{i}", sources[i % len(sources)], violation=float(worst[i])) for i in range(num)
    ]
    pairs = []
    for _ in range(4 * num):
        a, b = (int(x) for x in dice.choice(num, 2, replace=False))
        gap = float(abs(worst[a] - worst[b]))
        source = sources[a % len(sources)]
        pairs.append(PairRow(f"c{a}", f"c{b}", float(worst[a] > worst[b]), gap, source))
    return features, clips, pairs, worst


def states(descent):
    return {k: v.detach().numpy().copy() for k, v in descent.mean.items()}


@pytest.mark.parametrize("kind", ["stats", "mean", "events"])
def test_a_head_learns_what_the_features_show(kind):
    features, clips, pairs, worst = world()
    recipe = HeadRecipe(kind=kind, hidden=16, steps=200, warmup=20, rate=5e-3, window=4, stride=2)
    head = fit_head(features, clips, pairs, recipe)
    scores = head.score([features[c.id] for c in clips])
    assert np.corrcoef(scores, worst)[0, 1] > 0.95
    assert np.abs(scores - worst).mean() < 0.15


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("kind", ["stats", "events"])
def test_a_resumed_training_ends_where_an_uninterrupted_one_does(tmp_path, kind, uneven):
    features, clips, pairs, _ = world(uneven=uneven)
    recipe = dials(kind=kind, members=2, steps=120)

    def drawn(seed):
        return [pairs[k] for k in np.random.default_rng(seed).permutation(len(pairs))[:50]]

    whole = begin(features, clips, drawn, recipe)
    list(fitting(whole))
    first = begin(features, clips, drawn, recipe)
    going = fitting(first, tmp_path)
    next(going)
    going.close()
    assert 0 < first.step < recipe.steps
    second = begin(features, clips, drawn, recipe)
    list(fitting(second, tmp_path, resume=True))
    for name, value in states(whole).items():
        assert np.array_equal(value, states(second)[name]), name


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    features, clips, pairs, _ = world()
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        fit_head(features, clips, pairs, QUICK, seed).save(tmp_path / name)
    a, b, c = ((tmp_path / n / "head.safetensors").read_bytes() for n in "abc")
    assert a == b
    assert a != c


def test_a_saved_head_scores_as_before(tmp_path):
    features, clips, pairs, _ = world()
    head = fit_head(features, clips, pairs, QUICK, encoder="eye")
    head.save(tmp_path)
    again = FittedHead.load(tmp_path)
    some = [features[c.id] for c in clips]
    assert np.array_equal(head.member_scores(some), again.member_scores(some))
    assert (again.encoder, again.recipe, again.steps) == ("eye", QUICK, QUICK.steps)


def test_scores_do_not_depend_on_company_or_order():
    features, clips, pairs, _ = world(uneven=True)
    some = [features[c.id] for c in clips]
    for kind in ("stats", "events"):
        recipe = dials(kind=kind, window=4, stride=2, steps=5)
        head = fit_head(features, clips, pairs, recipe)
        together = head.score(some)
        alone = np.array([head.score([clip])[0] for clip in some])
        backwards = head.score(some[::-1])[::-1]
        assert np.array_equal(together, alone)
        assert np.array_equal(together, backwards)


def dials(**changes):
    return replace(QUICK, **changes)


def test_an_attention_head_learns_too_and_resumes(tmp_path):
    features, clips, pairs, worst = world(uneven=True)
    recipe = dials(kind="attention", heads=2, steps=100)
    whole = fit_head(features, clips, pairs, recipe, folder=tmp_path / "a")
    going = fitting(begin(features, clips, pairs, recipe), tmp_path / "b")
    next(going)
    going.close()
    again = fit_head(features, clips, pairs, recipe, folder=tmp_path / "b", resume=True)
    some = [features[c.id] for c in clips]
    assert np.array_equal(whole.score(some), again.score(some))
    assert np.corrcoef(whole.score(some), worst)[0, 1] > 0.8


def test_members_trained_together_are_those_trained_one_by_one():
    """Up to the order in which sums are taken."""
    features, clips, pairs, _ = world()
    together = begin(features, clips, pairs, dials(members=3))
    list(fitting(together))
    alone = begin(features, clips, pairs, dials(members=1))
    list(fitting(alone))
    for name, value in states(alone).items():
        np.testing.assert_allclose(states(together)[name][0], value[0], atol=2e-4, err_msg=name)
    members = together.fitted().member_scores([features["c0"], features["c1"]])
    assert len(np.unique(members[0])) == 3


def test_the_interval_of_an_ensemble_holds_its_mean_and_one_head_has_none():
    features, clips, pairs, _ = world()
    some = [features[c.id] for c in clips]
    many = fit_head(features, clips, pairs, dials(members=3))
    low, high = many.interval(many.member_scores(some))
    assert ((low < many.score(some)) & (many.score(some) < high)).all()
    one = fit_head(features, clips, pairs, QUICK)
    assert np.isnan(one.interval(one.member_scores(some))).all()


def test_corpora_are_drawn_by_their_weights_over_those_that_are_present():
    shares = draw_shares(["videofeedback2", "travl", "damage"], dict(PAPER_WEIGHTS), OTHER_WEIGHT)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["videofeedback2"] == pytest.approx(5 / 9.5)
    assert shares["damage"] == pytest.approx(1.5 / 9.5)
    _, clips, pairs, _ = world(sources=("videofeedback2", "travl", "travl", "travl"))
    pool = pool_of(pairs, {c.id: k for k, c in enumerate(clips)}, HeadRecipe(), 0)
    drawn = pool.draw(2000, 8, 42, 0, 0)
    first = pool.sources[0]
    assert first == "travl"
    assert (drawn < pool.counts[0]).mean() == pytest.approx(3 / 8, abs=0.02)
    assert len(np.unique(drawn)) == len(pairs)


def test_pairs_are_drawn_again_every_round_and_members_draw_their_own():
    asked = []
    features, clips, pairs, _ = world()

    def drawn(seed):
        asked.append(seed)
        return pairs

    descent = begin(features, clips, drawn, dials(steps=60, redraw=25, members=2))
    list(fitting(descent))
    assert len(asked) == len(set(asked)) == 3
    rounds = [descent.pool.draw(25, 8, 42, r, m) for r in (0, 1) for m in (0, 1)]
    assert len({r.tobytes() for r in rounds}) == 4


def test_clips_left_out_are_not_learnt_from():
    features, clips, pairs, _ = world(sources=("damage", "travl"))
    descent = begin(features, clips, pairs, dials(leave_out=("travl",)))
    assert len(descent.labels.ids) == 20
    assert descent.pool.sources == ("damage",)
    assert descent.pool.dropped > 0


def test_a_clip_without_features_leaves_its_pairs_out():
    features, clips, pairs, _ = world()
    del features["c3"]
    descent = begin(features, clips, pairs, QUICK)
    with_it = sum("c3" in (p.first, p.second) for p in pairs)
    assert descent.pool.dropped == with_it
    with pytest.raises(ValueError, match="none of"):
        begin({"other": features["c0"]}, clips, pairs, QUICK)


def test_anchors_can_be_switched_off_by_set_or_group():
    clips = [
        ClipRow("a", "kinetics", anchor=0),
        ClipRow("b", "damage", anchor=1),
        ClipRow("c", "damage", anchor=0, group="rare"),
    ]
    anchors = labels_of(clips, HeadRecipe(no_anchor=("kinetics", "rare"))).anchor
    np.testing.assert_array_equal(anchors, [np.nan, 1, np.nan])
    np.testing.assert_array_equal(labels_of(clips, HeadRecipe()).anchor, [0, 1, 0])


def test_the_linear_ablation_moves_human_ratings_alone():
    clips = [ClipRow("a", "videophy2", violation=0.5), ClipRow("b", "damage", violation=0.5)]
    assert list(labels_of(clips, HeadRecipe(labels="linear")).violation) == [0.25, 0.5]


def test_a_fraction_of_the_pairs_is_that_many_and_the_same_ones():
    _, clips, pairs, _ = world(num=100)
    places = {c.id: k for k, c in enumerate(clips)}
    some = pool_of(pairs, places, HeadRecipe(fraction=0.5), 1)
    again = pool_of(pairs[::-1], places, HeadRecipe(fraction=0.5), 1)
    assert len(some.first) / len(pairs) == pytest.approx(0.5, abs=0.1)
    assert sorted(some.first) == sorted(again.first)


def test_standardised_inputs_are_what_the_training_clips_say(tmp_path):
    features, clips, pairs, worst = world()
    wild = {k: v * np.array([1, 1e3, 1, 1, 1e-3, 1], np.float32) + 50 for k, v in features.items()}
    head = fit_head(wild, clips, pairs, dials(standardise=True, steps=300))
    rows = np.stack([head.heads[0].prepare(torch.from_numpy(wild[c.id])[None])[0] for c in clips])
    np.testing.assert_allclose(head.heads[0].shift, rows[:, 0, 0].mean(0), rtol=1e-4)
    some = [wild[c.id] for c in clips]
    assert np.corrcoef(head.score(some), worst)[0, 1] > 0.9
    head.save(tmp_path)
    assert np.array_equal(FittedHead.load(tmp_path).score(some), head.score(some))


def test_weight_decay_spares_what_is_no_matrix():
    """With a loss of no slope only the decay moves anything."""
    features, clips, pairs, _ = world()
    still = {"rank_weight": 0.0, "magnitude_weight": 0.0, "anchor_weight": 0.0}
    descent = begin(features, clips, pairs, dials(**still, steps=3, weight_decay=0.5))
    before = {k: v.detach().clone() for k, v in descent.weights.items()}
    list(fitting(descent))
    for name, value in descent.weights.items():
        moved = not torch.equal(value, before[name])
        assert moved == name.endswith("weight"), name


def told_apart(strength):
    """How far the last layer knows the set, where a mark tells it and nothing else does."""
    features, clips, pairs, worst = world(sources=("damage", "travl"))
    for clip in clips:
        features[clip.id][:, 0] = worst[int(clip.id[1:])] + (clip.dataset == "travl")
    fitted = fit_head(features, clips, pairs, dials(domain_weight=strength, steps=150, rate=1e-2))
    every = np.stack([features[c.id] for c in clips])
    head = fitted.heads[0]
    seen = head.hidden(*head.prepare(torch.from_numpy(every)))[:, 0]
    mine = torch.tensor([int(c.dataset == "travl") for c in clips])
    share = domain_loss(seen, mine, torch.from_numpy(worst).float())
    return float(share), np.corrcoef(fitted.score(list(every)), worst)[0, 1]


def test_the_domain_term_makes_sets_harder_to_tell_apart():
    (bare, _), (hidden, still_right) = told_apart(0.0), told_apart(3.0)
    assert hidden < 0.2 * bare
    assert still_right > 0.95


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 43}, "seed"),
        ({"rate": 1e-4}, "rate"),
        ({"clips": True}, "data"),
        ({"pairs": True}, "pairs"),
    ],
)
def test_a_training_that_changed_is_not_resumed(tmp_path, change, words):
    features, clips, pairs, _ = world()
    going = fitting(begin(features, clips, pairs, QUICK), tmp_path)
    next(going)
    going.close()
    recipe, seed = QUICK, change.get("seed", 42)
    if "rate" in change:
        recipe = dials(**change)
    if "clips" in change:
        clips = [replace(clips[0], violation=0.123), *clips[1:]]
    if "pairs" in change:
        pairs = pairs[1:]
    with pytest.raises(ValueError, match=words):
        list(fitting(begin(features, clips, pairs, recipe, seed), tmp_path, resume=True))


def test_progress_is_told_and_ends_finished():
    features, clips, pairs, _ = world()
    told = []
    fit_head(features, clips, pairs, dials(steps=120), on_progress=told.append)
    assert [p.step for p in told] == [50, 100, 120]
    assert [p.finished for p in told] == [False, False, True]
    assert set(told[-1].parts) == {"total", "rank", "magnitude", "anchor"}
    assert told[-1].rate < 1e-2 * QUICK.rate


def test_the_rate_rises_then_falls_to_nothing():
    recipe = HeadRecipe()
    rates = [rate_at(step, recipe) for step in range(recipe.steps)]
    assert rates[499] == rates[500] == max(rates) == recipe.rate
    assert rates[0] == recipe.rate / 500
    assert rates[-1] < 1e-9
    assert all(a >= b for a, b in pairwise(rates[500:]))


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (np.full((3, WIDTH), np.nan, np.float32), "not a finite"),
        (np.zeros((3, WIDTH + 1), np.float32), "time, 6"),
        (np.zeros((0, WIDTH), np.float32), "time, 6"),
    ],
)
def test_features_that_cannot_be_learnt_from_are_named(feature, words):
    features, clips, pairs, _ = world()
    features["c7"] = feature
    with pytest.raises(ValueError, match=f"'c7'.*{words}"):
        begin(features, clips, pairs, QUICK)


def test_a_training_that_diverges_says_so():
    features, clips, pairs, _ = world()
    with pytest.raises(ValueError, match="diverged"):
        fit_head(features, clips, pairs, dials(rate=1e30, warmup=0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 9}, "schema"),
        ({"width": "six"}, "width"),
        ({"width": 7}, "should be"),
        ({"recipe": {"nose": 1}}, "nose"),
        ({"recipe": {"hidden": "wide"}}, "hidden"),
        ({"recipe": {"kind": "nose", "hidden": 16}}, "nose"),
        ({"recipe": {"hidden": 16, "members": 2}}, "missing"),
    ],
)
def test_a_head_on_disk_that_does_not_fit_is_refused(tmp_path, change, words):
    features, clips, pairs, _ = world()
    fit_head(features, clips, pairs, dials(steps=2)).save(tmp_path)
    config = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(config | change))
    with pytest.raises(ValueError, match=words):
        FittedHead.load(tmp_path)


def test_a_clip_of_another_width_is_refused_and_a_missing_number_is_a_missing_score():
    features, clips, pairs, _ = world()
    head = fit_head(features, clips, pairs, dials(steps=2))
    with pytest.raises(ValueError, match="clip 1"):
        head.score([features["c0"], np.zeros((4, 7))])
    broken = features["c1"].copy()
    broken[2, 3] = np.nan
    scores = head.score([features["c0"], broken, features["c2"]])
    assert list(np.isnan(scores)) == [False, True, False]


def test_training_leaves_torchs_own_dice_alone():
    features, clips, pairs, _ = world()
    torch.manual_seed(7)
    wanted = torch.rand(3)
    torch.manual_seed(7)
    fit_head(features, clips, pairs, dials(steps=2))
    assert torch.equal(torch.rand(3), wanted)
