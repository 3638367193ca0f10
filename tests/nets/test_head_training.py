"""Head training: what it learns, that it can be interrupted, and what its parts do."""

import numpy as np
import pytest

from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.nets.fitted_head import FittedHead
from cosmolabe.nets.head_recipe import HeadRecipe
from cosmolabe.nets.head_training import begin, fit_head, fitting

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
    recipe = HeadRecipe(kind=kind, hidden=16, steps=400, warmup=20, rate=3e-3, window=4, stride=2)
    head = fit_head(features, clips, pairs, recipe)
    scores = head.score([features[c.id] for c in clips])
    assert np.corrcoef(scores, worst)[0, 1] > 0.95
    assert np.abs(scores - worst).mean() < 0.15


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("kind", ["stats", "events"])
def test_a_resumed_training_ends_where_an_uninterrupted_one_does(tmp_path, kind, uneven):
    features, clips, pairs, _ = world(uneven=uneven)
    recipe = HeadRecipe(**{**vars(QUICK), "kind": kind, "members": 2, "steps": 120})

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
        recipe = HeadRecipe(**{**vars(QUICK), "kind": kind, "window": 4, "stride": 2, "steps": 5})
        head = fit_head(features, clips, pairs, recipe)
        together = head.score(some)
        alone = np.array([head.score([clip])[0] for clip in some])
        backwards = head.score(some[::-1])[::-1]
        assert np.array_equal(together, alone)
        assert np.array_equal(together, backwards)
