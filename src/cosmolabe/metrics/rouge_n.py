"""ROUGE-N: how many runs of n words a reply and the true answer share."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.answers import canonical
from cosmolabe.core.metric import Metric

PAPER_N = {"binary": 2, "multiple_choice": 3, "open_ended": 3}
"""Bigrams for binary, trigrams for the others (UNIVERSE, section 3)."""
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits of the canonical form."""
    return _WORD.findall(canonical(text))


def used_n(
    said: Sequence[str | None], truth: Sequence[str], n: int | Sequence[int]
) -> Int[np.ndarray, " item"]:
    """The n that is counted for each item: n, or as many words as the shorter side has; 1 at least.

    The paper is silent on answers of fewer than n words, such as yes and no; this is our rule.
    """
    lengths = [
        (len(words_of(true)), len(words_of(mine or "")))
        for mine, true in zip(said, truth, strict=True)
    ]
    wanted = [n] * len(lengths) if isinstance(n, int) else list(n)
    if any(k < 1 for k in wanted):
        raise ValueError(f"n-grams have one word or more; got n = {min(wanted)}")
    return np.array(
        [max(1, min(k, *both)) for k, both in zip(wanted, lengths, strict=True)], np.int64
    )


def rouge_n(
    said: Sequence[str | None],
    truth: Sequence[str],
    n: int | Sequence[int] = 1,
    strict_paper: bool = False,
) -> Float[np.ndarray, " item"]:
    """F1 of n-grams, each counted as often as it stands (Lin 2004); n may differ by item.

    `used_n` says which n counts. An empty reply, or None, is 0. With `strict_paper` n-grams are
    sets and n is never lowered: NaN where either side has none, for the paper's formula is 0/0.
    """
    counted = used_n(said, truth, n)
    if strict_paper:
        counted = np.broadcast_to(np.asarray(n, np.int64), counted.shape)
    score = np.zeros(len(truth))
    for index, (mine, true) in enumerate(zip(said, truth, strict=True)):
        wanted = words_of(true)
        if not wanted:
            raise ValueError(f"item {index}: the true answer {true!r} has no word")
        runs = [_runs(words, int(counted[index])) for words in (words_of(mine or ""), wanted)]
        if strict_paper:
            runs = [Counter(dict.fromkeys(side, 1)) for side in runs]
        score[index] = _f1(runs[0], runs[1], np.nan if strict_paper else 0.0)
    return score


def _runs(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _f1(mine: Counter, true: Counter, undefined: float) -> float:
    """2 · shared ÷ (mine + true), which is F1 of precision and recall."""
    if not mine or not true:
        return undefined
    return 2 * (mine & true).total() / (mine.total() + true.total())


METRIC = Metric(
    name="rouge_n",
    summary="F1 of the runs of n words that a reply shares with the true answer.",
    unit="F1",
    low=0.0,
    high=1.0,
    direction="higher",
    function=rouge_n,
)
