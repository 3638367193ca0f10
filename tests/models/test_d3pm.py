"""The diffusion of words: its posterior against matrices, and three planted defects.

What it shares with maskgit is tested in `tests/nets/test_discrete.py`.
"""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from cosmolabe.bench.defects.d3pm import DEFECTS
from cosmolabe.core import parts
from cosmolabe.models.d3pm import D3PM, alpha_bar
from cosmolabe.nets.batches import training_batch
from cosmolabe.nets.imagination import Dreamt
from cosmolabe.nets.scales import measure

PLANT = {defect.name: defect.plant for defect in DEFECTS}
PROCESSES = ("absorbing", "uniform")


class Bare(D3PM):
    """Only the noise: one number of `num_words` words."""

    def __init__(self, process, num_words, steps):
        torch.nn.Module.__init__(self)
        self.process, self.num_words = process, num_words
        self.known = torch.ones(1, num_words, dtype=torch.bool)
        self.ranked = torch.arange(num_words)[None]
        self.noise_words = F.pad(self.known, (0, 1), value=False)
        self.kept = alpha_bar(steps)
        self.dice = torch.Generator().manual_seed(0)


def matrices(bare, num_words, steps):
    """Q_1..Q_T and their products Q̄_0..Q̄_T, with the hidden word last."""
    size = num_words + 1
    one, all_ = [], [torch.eye(size, dtype=torch.float64)]
    for t in range(1, steps + 1):
        kept = float(bare.kept[t]) / float(bare.kept[t - 1])
        target = torch.zeros(size, dtype=torch.float64)
        if bare.process == "uniform":
            target[:num_words] = 1 / num_words
        else:
            target[num_words] = 1
        step = kept * torch.eye(size, dtype=torch.float64) + (1 - kept) * target.expand(size, size)
        one.append(step)
        all_.append(all_[-1] @ step)
    return one, all_


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize(("num_words", "steps"), [(2, 2), (3, 5), (8, 4)])
def test_the_forward_process_is_the_product_of_its_steps(process, num_words, steps):
    bare = Bare(process, num_words, steps)
    _, all_ = matrices(bare, num_words, steps)
    words = torch.arange(num_words)
    for t in range(steps + 1):
        draws = bare.noised(words.expand(1, 6000, -1).movedim(1, 0), torch.full((6000,), t))
        shares = F.one_hot(draws[:, 0], num_words + 1).double().mean(0)
        np.testing.assert_allclose(shares, all_[t][:num_words], atol=0.03)


def worst_gap(process, num_words, steps, mixed):
    """Farthest the closed-form posterior is from the matrices' one, over all x_t, x_0 and t."""
    bare = Bare(process, num_words, steps)
    one, all_ = matrices(bare, num_words, steps)
    dice, worst = torch.Generator().manual_seed(0), 0.0
    for t in range(2, steps + 1):
        for first in range(num_words):
            belief = F.one_hot(torch.tensor(first), num_words + 1).double()
            if mixed:
                belief[:num_words] = torch.rand(num_words, generator=dice, dtype=torch.float64)
                belief /= belief.sum()
            for noisy in range(num_words + 1):
                # q(x_t | x_{t-1}) · Σ q(x_{t-1} | x_0) p(x_0), every entry from the matrices
                expected = one[t - 1][:, noisy] * (belief @ all_[t - 1])
                if expected.sum() < 1e-9:
                    continue  # this x_t cannot come of this x_0
                found = bare.posterior(
                    torch.tensor([[[noisy]]]), belief.float()[None, None, None], torch.tensor([t])
                )
                gap = (found[0, 0, 0] - expected / expected.sum()).abs().max()
                worst = max(worst, float(gap))
    return worst


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize(("num_words", "steps"), [(2, 2), (5, 3), (8, 5)])
def test_the_posterior_is_that_of_brute_force_matrices(process, num_words, steps, mixed):
    assert worst_gap(process, num_words, steps, mixed) < 1e-5


@pytest.mark.parametrize("process", PROCESSES)
def test_a_posterior_off_by_one_is_caught(process):
    with PLANT["posterior-off-by-one"]():
        assert worst_gap(process, 5, 4, mixed=False) > 0.01


def test_alpha_bar_falls_as_a_cosine_from_one_to_nought():
    kept = alpha_bar(6)
    assert kept[0] == 1
    assert kept[-1] < 1e-12
    assert (kept.diff() < 0).all()
    assert kept[3] == pytest.approx(0.5)


@pytest.fixture(scope="module")
def world(store, windows):
    world = parts.load("models", "d3pm").create(store.manifest, "laptop", 0)
    world.network.set_scales(measure(windows))
    dice = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in world.network.parameters():
            weight += torch.randn(weight.shape, generator=dice) * 0.05
    return world


@pytest.fixture(params=PROCESSES)
def network(request, world, monkeypatch):
    monkeypatch.setattr(world.network, "process", request.param)
    return world.network


def look_of(network, windows, seed=0):
    batch = training_batch(windows)
    dreamt = Dreamt(batch, batch.states[:, :4], batch.globals[:, :4], batch.actions[:, :4])
    network.shuffle(seed)
    with torch.no_grad():
        return network.look(dreamt)[0]


def trail(network, windows, monkeypatch, seed=0):
    """The words the network was shown at each step back."""
    look, shown = look_of(network, windows, seed), []
    read = network.read

    def listening(words, *rest):
        shown.append(words.clone())
        return read(words, *rest)

    monkeypatch.setattr(network, "read", listening)
    with torch.no_grad():
        found, _ = network.find(look)
    monkeypatch.setattr(network, "read", read)
    return shown, found


def hidden_share(network, shown):
    return [float((words == network.hidden).float().mean()) for words in shown]


def steps_noise_again(network, windows, monkeypatch):
    """Whether x_t is as noisy as the forward process says, at every step of the way back.

    Over many seeds, for all rows share their luck: one seed draws no more than nine words.
    """
    monkeypatch.setattr(network, "mode", "sample")
    trails = (trail(network, windows, monkeypatch, seed)[0] for seed in range(24))
    shares = np.mean([hidden_share(network, shown) for shown in trails], 0)
    times = range(network.shape.steps, 0, -1)
    expected = [1 - float(network.kept[t]) for t in times]
    return np.allclose(shares, expected, atol=0.1)


def test_the_sampler_goes_back_through_every_noise_level(world, windows, monkeypatch):
    assert steps_noise_again(world.network, windows, monkeypatch)


def test_a_sampler_without_noise_is_caught(world, windows, monkeypatch):
    with PLANT["no-noise-again"]():
        assert not steps_noise_again(world.network, windows, monkeypatch)


def test_step_one_gives_words_that_are_said_and_none_hidden(network, windows, monkeypatch):
    shown, found = trail(network, windows, monkeypatch)
    assert len(shown) == network.shape.steps
    assert (found < network.num_words).all()
    assert network.known.expand(*found.shape, -1).gather(-1, found[..., None]).all()


def test_an_absorbing_process_never_changes_a_word_it_has_found(world, windows, monkeypatch):
    shown, found = trail(world.network, windows, monkeypatch)
    for before, after in zip(shown, [*shown[1:], found], strict=True):
        told = before != world.network.hidden
        assert torch.equal(before[told], after[told])


def test_a_uniform_process_hides_nothing_and_starts_anywhere(world, windows, monkeypatch):
    monkeypatch.setattr(world.network, "process", "uniform")
    monkeypatch.setattr(world.network, "mode", "sample")
    shown, _ = trail(world.network, windows, monkeypatch)
    assert max(hidden_share(world.network, shown)) == 0
    assert len(shown[0].unique()) > 5


def answer_reaches_the_network(network, windows, monkeypatch):
    """Whether a training step at pure noise depends on x_0 by what the network is shown."""
    seen = []
    read = network.read

    def listening(words, *rest):
        seen.append(words.clone())
        return read(words, *rest)

    monkeypatch.setattr(network, "read", listening)
    monkeypatch.setattr(
        network, "noised", lambda words, time: torch.full_like(words, network.hidden)
    )
    network.shuffle(0)
    with torch.no_grad():
        network.loss(training_batch(windows), 1)
    return bool((seen[0] != network.hidden).any())


def test_training_shows_the_noised_words(world, windows, monkeypatch):
    assert not answer_reaches_the_network(world.network, windows, monkeypatch)


def test_a_network_shown_the_answer_is_caught(world, windows, monkeypatch):
    with PLANT["shown-the-answer"]():
        assert answer_reaches_the_network(world.network, windows, monkeypatch)


def test_the_bound_is_nought_where_the_belief_is_the_truth(network, windows):
    words = torch.zeros(4, 2, network.num_numbers, dtype=torch.long)
    sure = F.one_hot(words, network.num_words).float().clamp(min=1e-12).log()
    time = torch.tensor([1, 2, 3, 6])
    network.shuffle(0)
    noisy = network.noised(words, time)
    np.testing.assert_allclose(network.bound(words, noisy, sure, time), 0, atol=1e-4)


def test_the_bound_is_above_nought_where_the_belief_is_wrong(network):
    words = torch.zeros(4, 2, network.num_numbers, dtype=torch.long)
    wrong = F.one_hot(words + 1, network.num_words).float().clamp(min=1e-12).log()
    time = torch.full((4,), network.shape.steps)
    noisy = network.noised(words, time)
    assert (network.bound(words, noisy, wrong, time) > 0).all()


def test_the_short_bound_of_an_absorbing_process_is_the_gap_of_its_posteriors(world):
    network, dice = world.network, torch.Generator().manual_seed(0)
    shape = (12, 2, network.num_numbers)
    scores = torch.randn((*shape, network.num_words), generator=dice).log_softmax(-1)
    network.shuffle(0)
    words, time = network.any_words(torch.Size(shape)), torch.arange(12) % network.shape.steps + 1
    noisy = network.noised(words, time)
    assert 0 < (noisy == network.hidden).float().mean() < 1
    short = network.bound(words, noisy, scores, time)
    long = network.gap_of_posteriors(words, noisy, scores, time)
    np.testing.assert_allclose(short, long, atol=1e-4)


def test_the_loss_is_entropy_plus_a_thousandth_of_the_bound(network, windows):
    network.shuffle(0)
    with torch.no_grad():
        parts_ = network.loss(training_batch(windows), 1)
    expected = parts_["entropy"] + 0.001 * parts_["bound"]
    assert float(parts_["words"]) == pytest.approx(float(expected))
    assert parts_["bound"] > 0
