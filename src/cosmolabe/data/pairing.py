"""Pairs drawn from a corpus by rule, without ever holding all that could be drawn.

Each rule says of every clip, the better one of a pair, which run of an ordered list may stand on
the other side. Numbers of pairs are sums of run lengths, so a pair is found from its number, and a
draw of 30,000 out of 10^8 costs 30,000.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from cosmolabe.core.corpus import ClipRow, Corpus, PairRow
from cosmolabe.core.seeds import generator

Shared = Literal["image+text", "text", "scene", "none"]
GRAIN = 1e-9  # two labels this close are the same


def swapped(pair: PairRow) -> PairRow:
    """The same judgement, told the other way round."""
    return PairRow(
        pair.second, pair.first, 1 - pair.p_first_worse, pair.gap, pair.source, pair.corresponds
    )


def lower_is_worse(name: str) -> Callable[[ClipRow], float | None]:
    """The badness by a label of the set's own in which more is better."""
    return lambda row: -row.label[name] if name in row.label else None


def pairs_by_label(
    corpus: Corpus,
    most: int,
    seed: int,
    *,
    badness: Callable[[ClipRow], float | None],
    span: float,
    least: float = 0.0,
    group: Callable[[ClipRow], str] = lambda row: "",
    corresponds: Shared = "none",
) -> tuple[PairRow, ...]:
    """Clips of one group whose labels differ by `least` or more (any difference where it is 0).

    `badness` is in the set's own units, larger where more is violated, None where it does not say;
    the gap of a pair is its difference over `span`, at most 1.
    """
    _count(most)
    rated = [(row, badness(row)) for row in _present(corpus)]
    rows = [(group(row), value, row.id) for row, value in rated if value is not None]
    rows = sorted(row for row in rows if row[1] == row[1])
    if not rows:
        return ()
    values = np.array([value for _, value, _ in rows])
    names = np.array([name for name, _, _ in rows], object)
    edges = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    ends = np.append(edges[1:], len(rows))
    low, high = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for start, end in zip(edges, ends, strict=True):
        ordered = values[start:end]
        above = ordered + (least - GRAIN if least > 0 else GRAIN)
        low[start:end] = start + np.searchsorted(ordered, above, "right" if least <= 0 else "left")
        high[start:end] = end
    dice = generator("pairs", corpus.name, seed)
    better, worse = draw_runs(low, high, most, dice)
    gaps = np.minimum((values[worse] - values[better]) / span, 1.0)
    ids = [row[2] for row in rows]
    return _pairs(corpus, ids, better, worse, 1.0, gaps, corresponds, dice)


def pairs_of_real(
    corpus: Corpus,
    most: int,
    seed: int,
    *,
    group: Callable[[ClipRow], str] = lambda row: "",
    most_per_real: int = 0,
    corresponds: Shared = "none",
) -> tuple[PairRow, ...]:
    """Real clips beat generated ones of the same group, with gap 1.

    With `most_per_real`, at most so many partners of each real clip are drawn, others with each
    seed. Clips anchored the wrong way round for it (a lawful generation) are left out.
    """
    rows = sorted(
        (group(row), row.kind != "real", row.id)
        for row in _present(corpus)
        if row.anchor in (None, 0 if row.kind == "real" else 1)
    )
    return _against(corpus, rows, most, seed, most_per_real, corresponds)


def pairs_of_lawful(
    corpus: Corpus,
    most: int,
    seed: int,
    *,
    group: Callable[[ClipRow], str],
    corresponds: Shared = "scene",
) -> tuple[PairRow, ...]:
    """Clips with violation 0 beat those with violation 1 of the same group, with gap 1."""
    rows = sorted(
        (group(row), row.violation == 1, row.id)
        for row in _present(corpus)
        if row.violation in (0, 1)
    )
    return _against(corpus, rows, most, seed, 0, corresponds)


def pairs_tied(
    corpus: Corpus,
    most: int,
    seed: int,
    *,
    group: Callable[[ClipRow], str] = lambda row: "",
    corresponds: Shared = "none",
) -> tuple[PairRow, ...]:
    """Any two clips of a group that are both lawful: a tie, with gap 0."""
    _count(most)
    rows = sorted((group(row), row.id) for row in _present(corpus) if row.violation == 0)
    if not rows:
        return ()
    names = np.array([name for name, _ in rows], object)
    edges = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    ends = np.repeat(np.append(edges[1:], len(rows)), np.diff(np.append(edges, len(rows))))
    dice = generator("pairs", corpus.name, seed)
    one, other = draw_runs(np.arange(len(rows)) + 1, ends, most, dice)
    ids = [row[-1] for row in rows]
    return _pairs(corpus, ids, one, other, 0.5, np.zeros(len(one)), corresponds, dice)


def pairs_stated(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Pairs that the set itself states, both of whose videos are there."""
    here = {row.id for row in corpus.present()}
    pairs = [p for p in corpus.stated_pairs if p.first in here and p.second in here]
    pairs.sort(key=lambda pair: (pair.first, pair.second))
    dice = generator("pairs", corpus.name, seed)
    order = dice.permutation(len(pairs))[: _count(most)]
    flips = dice.random(len(order)) < 0.5
    return tuple(
        swapped(pairs[i]) if flip else pairs[i] for i, flip in zip(order, flips, strict=True)
    )


def draw_runs(
    low: np.ndarray, high: np.ndarray, most: int, dice: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Up to `most` different (i, j) with low[i] <= j < high[i], each equally likely.

    Memory is that of the runs and of what is drawn, whatever the number of pairs.
    """
    most = _count(most)
    counts = np.maximum(high - low, 0)
    until = np.cumsum(counts)
    total = int(until[-1]) if len(until) else 0
    if total <= 2 * most:
        numbers = dice.permutation(total)[:most]
    else:
        numbers = np.empty(0, np.int64)
        while len(numbers) < most:
            more = dice.integers(0, total, most - len(numbers))
            numbers = np.unique(np.append(numbers, more))
        dice.shuffle(numbers)
    first = np.searchsorted(until, numbers, "right")
    return first, low[first] + numbers - (until[first] - counts[first])


def _against(
    corpus: Corpus,
    rows: Sequence[tuple[str, bool, str]],
    most: int,
    seed: int,
    most_each: int,
    corresponds: Shared,
) -> tuple[PairRow, ...]:
    """Rows (group, is the worse side, id) in order: every better one against the worse ones."""
    dice = generator("pairs", corpus.name, seed)
    low, high = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and rows[end][0] == rows[start][0]:
            end += 1
        worse = next((i for i in range(start, end) if rows[i][1]), end)
        low[start:worse], high[start:worse] = worse, end
        start = end
    if most_each:
        drawn = [
            draw_runs(low[i : i + 1], high[i : i + 1], most_each, dice)[1]
            for i in np.flatnonzero(high > low)
        ]
        firsts = np.repeat(np.flatnonzero(high > low), [len(d) for d in drawn])
        seconds = np.concatenate([*drawn, np.empty(0, np.int64)]).astype(np.int64)
        keep = dice.permutation(len(firsts))[: _count(most)]
        better, worse_ones = firsts[keep], seconds[keep]
    else:
        better, worse_ones = draw_runs(low, high, most, dice)
    ids = [row[2] for row in rows]
    return _pairs(corpus, ids, better, worse_ones, 1.0, np.ones(len(better)), corresponds, dice)


def _pairs(
    corpus: Corpus,
    ids: Sequence[str],
    better: np.ndarray,
    worse: np.ndarray,
    p_worse: float,
    gaps: np.ndarray,
    corresponds: Shared,
    dice: np.random.Generator,
) -> tuple[PairRow, ...]:
    """Half of them told the other way round, so that the side says nothing."""
    flips = dice.random(len(better)) < 0.5
    return tuple(
        PairRow(ids[j], ids[i], p_worse, float(gap), corpus.name, corresponds)
        if flip
        else PairRow(ids[i], ids[j], 1 - p_worse, float(gap), corpus.name, corresponds)
        for i, j, gap, flip in zip(better, worse, gaps, flips, strict=True)
    )


def _present(corpus: Corpus) -> tuple[ClipRow, ...]:
    return corpus.present()


def _count(most: int) -> int:
    if most < 0:
        raise ValueError(f"most counts pairs, 0 or more; got {most}")
    return most
