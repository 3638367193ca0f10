"""Masked decoding: what training hides, what a rollout keeps, and three planted defects.

What it shares with d3pm is tested in `tests/nets/test_discrete.py`.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from cosmolabe.bench.defects.maskgit import DEFECTS
from cosmolabe.core import parts
from cosmolabe.models import maskgit
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.discrete import MODES
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.scales import measure

PLANT = {defect.name: defect.plant for defect in DEFECTS}


@pytest.fixture(scope="module")
def world(store, windows):
    world = parts.load("models", "maskgit").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    dice = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in world.network.parameters():
            weight += torch.randn(weight.shape, generator=dice) * 0.05
    return world


@pytest.fixture(params=MODES)
def network(request, world, monkeypatch):
    monkeypatch.setattr(world.network, "mode", request.param)
    return world.network


def trail(network, windows, monkeypatch):
    """The words before the first step, and after every step."""
    batch, shown = training_batch(windows), []
    dreamt = Dreamt(batch, batch.states[:, :4], batch.globals[:, :4], batch.actions[:, :4])
    read = network.read

    def listening(words, *rest):
        shown.append(words.clone())
        return read(words, *rest)

    monkeypatch.setattr(network, "read", listening)
    network.shuffle(0)
    with torch.no_grad():
        found, _ = network.find(network.look(dreamt)[0])
    monkeypatch.setattr(network, "read", read)
    return [*shown, found]


def hidden_counts(network, shown):
    return [(words == network.hidden).flatten(1).sum(1) for words in shown]


def follows_the_cosine(network, windows, monkeypatch):
    shown = trail(network, windows, monkeypatch)
    steps, words = network.shape.steps, shown[0][0].numel()
    planned = [math.ceil(math.cos(math.pi / 2 * s / steps) * words) for s in range(steps)] + [0]
    return all(
        bool((count == plan).all())
        for count, plan in zip(hidden_counts(network, shown), planned, strict=True)
    )


def keeps_what_it_kept(network, windows, monkeypatch):
    shown = trail(network, windows, monkeypatch)
    return all(
        torch.equal(before[before != network.hidden], after[before != network.hidden])
        for before, after in pairwise(shown)
    )


def test_a_rollout_hides_by_the_cosine_of_training_over_words_that_are_there(
    network, windows, monkeypatch
):
    assert follows_the_cosine(network, windows, monkeypatch)


@pytest.mark.parametrize("defect", ["linear-schedule", "counts-padding"])
def test_another_number_of_kept_words_is_caught(world, windows, monkeypatch, defect):
    with PLANT[defect]():
        assert not follows_the_cosine(world.network, windows, monkeypatch)


def test_a_word_that_was_kept_stays(network, windows, monkeypatch):
    assert keeps_what_it_kept(network, windows, monkeypatch)


def test_words_that_are_drawn_again_are_caught(world, windows, monkeypatch):
    monkeypatch.setattr(world.network, "mode", "sample")
    with PLANT["commitments-drawn-again"]():
        assert not keeps_what_it_kept(world.network, windows, monkeypatch)


def test_it_begins_with_all_hidden_and_ends_with_none(network, windows, monkeypatch):
    shown = trail(network, windows, monkeypatch)
    assert len(shown) == network.shape.steps + 1
    assert (shown[0] == network.hidden).all()
    assert (shown[-1] != network.hidden).all()
    known = network.known.expand(*shown[-1].shape, -1)
    assert known.gather(-1, shown[-1][..., None]).all()


def test_the_surest_words_are_kept_first(world):
    dice = torch.Generator().manual_seed(0)
    sure = torch.rand((5, 4, 3), generator=dice)
    hidden = torch.rand((5, 4, 3), generator=dice) < 0.7
    kept = world.network.surest(sure, hidden, 3)
    assert not (kept & ~hidden).any()
    for row in range(5):
        left = hidden[row] & ~kept[row]
        assert int(left.sum()) == min(3, int(hidden[row].sum()))
        if kept[row].any():
            assert sure[row][kept[row]].min() > sure[row][left].max()


def test_equally_sure_words_are_kept_together(world):
    sure = torch.tensor([[[0.5, 0.5, 0.5, 0.1]]])
    kept = world.network.surest(sure, torch.ones_like(sure, dtype=torch.bool), 3)
    assert kept[0, 0].tolist() == [True, True, True, False]


def test_every_frame_hides_a_share_of_its_own_word_by_word(world):
    world.network.shuffle(0)
    masks = world.network.masks(torch.Size((4000, 5, 4)))
    shares = masks.float().mean((1, 2))
    assert shares.std() > 0.2  # one share for a whole batch would leave 0.11 or less
    # u even, so the share cos(πu/2) has mean 2/π and lies below cos(π/4) for half of all u
    assert float(shares.mean()) == pytest.approx(2 / math.pi, abs=0.02)
    assert float((shares < math.cos(math.pi / 4)).float().mean()) == pytest.approx(0.5, abs=0.05)
    mixed = masks.any(-1) & ~masks.all(-1)
    assert mixed.float().mean() > 0.3  # slots are hidden in part


def test_only_hidden_words_count(world, windows, monkeypatch):
    network, found = world.network, []
    for share in (0.0, 1.0):
        monkeypatch.setattr(
            network, "masks", lambda shape, share=share: torch.full(shape, share > 0.5)
        )
        network.shuffle(0)
        with torch.no_grad():
            found.append(float(network.loss(training_batch(windows), 1)["words"]))
    assert found[0] == 0
    assert found[1] > 0


def test_a_hidden_word_is_not_shown(world, windows, monkeypatch):
    network, seen = world.network, []
    read = network.read

    def listening(words, *rest):
        seen.append(words.clone())
        return read(words, *rest)

    monkeypatch.setattr(network, "read", listening)
    monkeypatch.setattr(network, "masks", lambda shape: torch.ones(shape, dtype=torch.bool))
    network.shuffle(0)
    with torch.no_grad():
        network.loss(training_batch(windows), 1)
    monkeypatch.setattr(network, "read", read)
    assert (seen[0] == network.hidden).all()


def test_confidence_is_that_of_the_chances_drawn_from(world, windows, monkeypatch):
    network, judged = world.network, []
    monkeypatch.setattr(network, "mode", "argmax")
    surest = network.surest

    def listening(sure, *rest):
        judged.append(sure.clone())
        return surest(sure, *rest)

    monkeypatch.setattr(network, "surest", listening)
    said = []
    read = network.read

    def reading(words, *rest):
        scores, offsets = read(words, *rest)
        said.append(scores.clone())
        return scores, offsets

    monkeypatch.setattr(network, "read", reading)
    batch = training_batch(windows)
    with torch.no_grad():
        network.likely(Dreamt(batch, batch.states, batch.globals, batch.actions), None)
    for scores, sure in zip(said, judged, strict=True):
        np.testing.assert_allclose(scores.exp().sum(-1), 1, atol=1e-4)
        assert torch.equal(scores.amax(-1), sure)


def test_gamma_hides_all_at_nought_and_nothing_at_one():
    ends = maskgit.gamma(torch.tensor([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(ends, [1, math.sqrt(0.5), 0], atol=1e-6)
