"""Which pairs a step of head training sees: a corpus by its weight, then one of its pairs.

What is drawn follows from (seed, round of drawing, member), so a resumed training sees what an
uninterrupted one would have. No torch here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.core.seeds import generator, seed_of
from cosmolabe.nets.head_labels import linear_of_floored
from cosmolabe.nets.head_recipe import HeadRecipe

Pairs = Sequence[PairRow] | Callable[[int], Sequence[PairRow]]
"""Pairs, or a function of a seed that draws them again every `HeadRecipe.redraw` steps."""


@dataclass(frozen=True)
class Labels:
    """What is known of each clip, in the order of the training table; NaN where nothing is."""

    ids: tuple[str, ...]
    violation: Float[np.ndarray, " clip"]
    anchor: Float[np.ndarray, " clip"]
    domain: Int[np.ndarray, " clip"]
    domains: tuple[str, ...]


@dataclass(frozen=True)
class Pool:
    """Pairs by place in the training table, those of one source side by side."""

    first: Int[np.ndarray, " pair"]
    second: Int[np.ndarray, " pair"]
    p_first_worse: Float[np.ndarray, " pair"]
    gap: Float[np.ndarray, " pair"]
    sources: tuple[str, ...]
    counts: Int[np.ndarray, " source"]
    shares: Float[np.ndarray, " source"]
    """Of the draws; they sum to 1."""
    dropped: int = 0
    """Pairs left out: a clip without features, left out by the recipe, or thinned."""

    def draw(
        self, steps: int, batch: int, seed: int, round_: int, member: int
    ) -> Int[np.ndarray, "steps batch"]:
        """Places of the pairs of each step of one round."""
        dice = generator("head pairs", seed, round_, member)
        source = dice.choice(len(self.sources), (steps, batch), p=self.shares)
        starts = np.cumsum(self.counts) - self.counts
        within = (dice.random((steps, batch)) * self.counts[source]).astype(np.int64)
        return starts[source] + np.minimum(within, self.counts[source] - 1)


def draw_shares(
    sources: Iterable[str], weights: Mapping[str, float], other: float
) -> dict[str, float]:
    """Share of draws of each source: its weight over the weights of those that are present."""
    raw = {source: float(weights.get(source, other)) for source in sources}
    total = sum(raw.values())
    if not total > 0:
        raise ValueError(f"no source has a weight above 0: {raw}")
    return {source: weight / total for source, weight in raw.items()}


def draw_pairs(pairs: Pairs, seed: int, round_: int) -> Sequence[PairRow]:
    """The pairs of one round; a fixed list is the same in every one."""
    return pairs if isinstance(pairs, Sequence) else pairs(seed_of("redraw", seed, round_))


def labels_of(clips: Sequence[ClipRow], recipe: HeadRecipe) -> Labels:
    """Labels as the recipe reads them."""
    nan = float("nan")
    known = np.array([nan if c.violation is None else c.violation for c in clips], np.float64)
    if ((known < 0) | (known > 1)).any():
        bad = clips[int(np.flatnonzero((known < 0) | (known > 1))[0])]
        raise ValueError(f"clip {bad.id!r}: a violation lies in 0..1; got {bad.violation}")
    rated = np.array([c.dataset in recipe.rated for c in clips], bool)
    if recipe.labels == "linear":
        known = np.where(rated, linear_of_floored(known), known)
    dull = set(recipe.no_anchor)
    anchors = [
        nan if c.anchor is None or dull & {c.dataset, c.group} else float(c.anchor) for c in clips
    ]
    names = [str(getattr(c, recipe.domain_by)) for c in clips]
    domains, place = np.unique(names, return_inverse=True) if names else ([], np.zeros(0))
    return Labels(
        tuple(c.id for c in clips),
        known,
        np.array(anchors, np.float64),
        np.asarray(place, np.int64).reshape(-1),
        tuple(str(name) for name in domains),
    )


def pool_of(
    pairs: Sequence[PairRow], places: Mapping[str, int], recipe: HeadRecipe, seed: int
) -> Pool:
    """Pairs whose clips are both in `places` (id → row of the training table), by source."""
    kept = [
        pair
        for pair in pairs
        if pair.first in places and pair.second in places and _is_kept(pair, recipe, seed)
    ]
    if not kept:
        raise ValueError(
            f"none of {len(pairs)} pairs has two clips with features that the recipe keeps; are "
            f"the features those of these clips?"
        )
    sources = sorted({pair.source for pair in kept})
    shares = draw_shares(sources, dict(recipe.weights), recipe.other_weight)
    kept.sort(key=lambda pair: pair.source)  # stable: the order within a source is the caller's
    counts = [sum(pair.source == source for pair in kept) for source in sources]
    return Pool(
        np.array([places[pair.first] for pair in kept], np.int64),
        np.array([places[pair.second] for pair in kept], np.int64),
        np.array([pair.p_first_worse for pair in kept], np.float64),
        np.array([pair.gap for pair in kept], np.float64),
        tuple(sources),
        np.array(counts, np.int64),
        np.array([shares[source] for source in sources], np.float64),
        len(pairs) - len(kept),
    )


def _is_kept(pair: PairRow, recipe: HeadRecipe, seed: int) -> bool:
    if recipe.fraction >= 1:
        return True
    return seed_of("fraction", seed, pair.first, pair.second) / 2**63 < recipe.fraction
