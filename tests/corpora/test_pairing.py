"""Drawing pairs: the same as listing them all would, at the price of what is drawn."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.corpus import ClipRow, Corpus
from cosmolabe.core.seeds import generator
from cosmolabe.data.pairing import draw_runs, pairs_by_label, pairs_of_real, pairs_tied

runs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12)


@given(runs, st.integers(0, 60), st.integers(0, 5))
def test_a_draw_holds_only_pairs_of_the_runs_and_none_twice(bounds, most, seed):
    low, high = (np.array([b[side] for b in bounds], np.int64) for side in (0, 1))
    every = {(i, j) for i, (a, b) in enumerate(bounds) for j in range(a, b)}
    first, second = draw_runs(low, high, most, generator("test", seed))
    drawn = list(zip(first.tolist(), second.tolist(), strict=True))
    assert len(set(drawn)) == len(drawn) == min(most, len(every))
    assert set(drawn) <= every


def test_every_pair_is_drawn_as_often_as_any_other():
    low, high = np.array([0, 5, 2]), np.array([40, 6, 11])  # 50 pairs, in runs of 40, 1 and 9
    counts = np.zeros((3, 40), int)
    for seed in range(4000):
        first, second = draw_runs(low, high, 5, generator("test", seed))
        counts[first, second] += 1
    drawn = counts[counts > 0]
    assert len(drawn) == 50
    assert np.abs(drawn / 400 - 1).max() < 0.25  # five standard deviations of a count of 400


def rated(values, groups=None):
    clips = tuple(
        ClipRow(f"c{n:05d}", "x", path="p", group=(groups or [""] * len(values))[n], violation=v)
        for n, v in enumerate(values)
    )
    return Corpus("x", clips)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from("ab")), max_size=14),
    st.sampled_from([0.0, 1.0, 2.0]),
)
def test_pairs_by_label_are_those_a_double_loop_finds(rows, least):
    corpus = rated([float(v) for v, _ in rows], [g for _, g in rows])
    found = pairs_by_label(
        corpus, 10_000, 0, badness=lambda r: r.violation, span=4.0, least=least,
        group=lambda r: r.group,
    )  # fmt: skip
    worse = {(p.first, p.second) if p.p_first_worse else (p.second, p.first) for p in found}
    wanted = {
        (a.id, b.id)
        for a in corpus.clips
        for b in corpus.clips
        if a.group == b.group and a.violation > b.violation and a.violation - b.violation >= least
    }
    assert worse == wanted
    assert len(found) == len(wanted)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_a_least_difference_is_kept_to_the_last_bit_for_any_numbers(values):
    corpus = rated(values)
    for pair in pairs_by_label(corpus, 1000, 0, badness=lambda r: r.violation, span=1.0, least=0.4):
        assert pair.gap >= 0.4 - 1e-8


def test_clips_without_a_label_or_with_nan_are_in_no_pair():
    corpus = rated([0.0, None, float("nan"), 1.0])
    found = pairs_by_label(corpus, 10, 0, badness=lambda r: r.violation, span=1.0)
    assert {name for p in found for name in (p.first, p.second)} == {"c00000", "c00003"}


def test_a_reference_meets_no_more_than_its_share_and_others_with_another_seed():
    clips = [ClipRow(f"r{n}", "x", path="p", group=str(n), kind="real") for n in range(3)]
    clips += [
        ClipRow(f"g{n}_{k}", "x", path="p", group=str(n), generator="w")
        for n in range(3)
        for k in range(30)
    ]
    corpus = Corpus("x", tuple(clips))

    def drawn(seed):
        return pairs_of_real(corpus, 1000, seed, group=lambda r: r.group, most_per_real=10)

    found = drawn(0)
    assert len(found) == 30
    assert all(p.first[1] == p.second[1] for p in found)
    partners = [{frozenset((p.first, p.second)) for p in drawn(seed)} for seed in (0, 1)]
    assert partners[0] != partners[1]


def test_a_lawful_generation_is_no_loser():
    clips = (
        ClipRow("r", "x", path="p", kind="real"),
        ClipRow("g", "x", path="p", generator="w", violation=0.0, anchor=0),
    )
    assert pairs_of_real(Corpus("x", clips), 10, 0) == ()


def test_thirty_thousand_pairs_of_a_hundred_million_cost_thirty_thousand():
    clips = tuple(ClipRow(f"{n:06d}", "x", path="p", violation=float(n % 5)) for n in range(20_000))
    corpus = Corpus("x", clips)
    tracemalloc.start()
    began = time.process_time()
    found = pairs_by_label(corpus, 30_000, 0, badness=lambda r: r.violation, span=4.0, least=1.0)
    spent, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len({(p.first, p.second) for p in found}) == 30_000
    assert peak < 100e6  # bytes; 1.6e8 pairs listed would be gigabytes
    assert spent < 20


@pytest.mark.parametrize("rule", [pairs_tied, pairs_of_real])
def test_nothing_gives_no_pairs(rule):
    assert rule(Corpus("x", ()), 10, 0) == ()
