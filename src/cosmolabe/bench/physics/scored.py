"""Scores, labels and pairs as arrays, and how often each stands in a resample.

Pairs share videos, so videos are drawn again and not pairs; and clips of one prompt look alike, so
prompts are drawn as well, and the two intervals stand side by side.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cosmolabe.core import bootstrap
from cosmolabe.core.corpus import ClipRow, PairRow

BY = ("prompt", "video")
"""What is drawn again; readings carry the interval of the first."""
PIECE = 100  # resamples measured at a time, for memory
BLATANT = 0.5  # a violation from here on counts as violating: the least that ratings can say


@dataclass(frozen=True)
class ScoredClips:
    """Clips with a label or a score, one row each; NaN where something is missing."""

    ids: tuple[str, ...]
    scores: Float[np.ndarray, " clip"]
    violation: Float[np.ndarray, " clip"]
    side: Float[np.ndarray, " clip"]
    """0 lawful, 1 violating, NaN neither: an anchor says so, else violation 0 or 0.5 and more."""
    sets: tuple[str, ...]
    kinds: tuple[str, ...]
    strata: tuple[str, ...]
    """What correlations are taken within; empty where they are not."""
    clusters: Mapping[str, Int[np.ndarray, " clip"]]
    """By `BY`: number of the cluster of each clip."""

    def only(self, here: Bool[np.ndarray, " clip"]) -> "ScoredClips":
        """The clips where `here` is True."""
        at = np.flatnonzero(here)
        columns = {name: _pick(getattr(self, name), at) for name in _COLUMNS}
        clusters = {by: cluster[at] for by, cluster in self.clusters.items()}
        return replace(self, **columns, clusters=clusters)


_COLUMNS = ("ids", "scores", "violation", "side", "sets", "kinds", "strata")


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of those clips; `first` and `second` are rows of them."""

    clips: ScoredClips
    first: Int[np.ndarray, " pair"]
    second: Int[np.ndarray, " pair"]
    p_first_worse: Float[np.ndarray, " pair"]
    sets: tuple[str, ...]
    corresponds: tuple[str, ...]

    def __len__(self) -> int:
        """Pairs."""
        return len(self.first)

    @property
    def scores(self) -> tuple[Float[np.ndarray, " pair"], Float[np.ndarray, " pair"]]:
        """Scores of the first and of the second clip of each."""
        return self.clips.scores[self.first], self.clips.scores[self.second]

    @property
    def sides(self) -> tuple[str, ...]:
        """Which kinds of clip meet, in one order, as in `real-generated`."""
        order = ("real", "simulated", "generated")
        both = (
            sorted((self.clips.kinds[a], self.clips.kinds[b]), key=order.index)
            for a, b in zip(self.first, self.second, strict=True)
        )
        return tuple("-".join(pair) for pair in both)

    def only(self, here: Bool[np.ndarray, " pair"]) -> "ScoredPairs":
        """The pairs where `here` is True, on the same clips."""
        at = np.flatnonzero(here)
        names = ("first", "second", "p_first_worse", "sets", "corresponds")
        return replace(self, **{name: _pick(getattr(self, name), at) for name in names})

    def swapped(self) -> "ScoredPairs":
        """The same pairs named the other way round."""
        return replace(
            self, first=self.second, second=self.first, p_first_worse=1 - self.p_first_worse
        )

    def weights(
        self, clip_weights: Float[np.ndarray, "resample clip"], by: str
    ) -> Float[np.ndarray, "resample pair"]:
        """How often each pair stands in a resample of clips.

        A pair within one cluster comes with it; of a pair across clusters every copy of one meets
        every copy of the other.
        """
        cluster = self.clips.clusters[by]
        a, b = clip_weights[:, self.first], clip_weights[:, self.second]
        return np.where(cluster[self.first] == cluster[self.second], a, a * b)


def table_of(
    scores: Mapping[str, float], clips: Sequence[ClipRow], strata: Mapping[str, str] | None = None
) -> ScoredClips:
    """Every clip with what is known of it; a clip without a score has NaN."""
    nan = float("nan")
    violation = np.array([nan if c.violation is None else c.violation for c in clips], np.float64)
    anchor = np.array([nan if c.anchor is None else c.anchor for c in clips], np.float64)
    said = np.where(violation == 0, 0.0, np.where(violation >= BLATANT, 1.0, nan))
    prompts = [f"{c.dataset}\x1f{c.prompt or c.group or c.id}" for c in clips]
    return ScoredClips(
        tuple(c.id for c in clips),
        np.array([float(scores.get(c.id, nan)) for c in clips], np.float64),
        violation,
        np.where(np.isnan(anchor), said, anchor),
        tuple(c.dataset for c in clips),
        tuple(c.kind for c in clips),
        tuple((strata or {}).get(c.id, "") for c in clips),
        {"prompt": _numbered(prompts), "video": np.arange(len(clips))},
    )


def pairs_of(clips: ScoredClips, pairs: Sequence[PairRow]) -> ScoredPairs:
    """Pairs over the clips; one that names a clip not among them is refused."""
    places = {name: place for place, name in enumerate(clips.ids)}
    if len(places) < len(clips.ids):
        raise ValueError("two clips have the same id; prefix it with the set's name")
    unknown = sorted({n for p in pairs for n in (p.first, p.second)} - set(places))
    if unknown:
        raise ValueError(f"pairs name clips that are not given: {unknown[:5]}")
    return ScoredPairs(
        clips,
        np.array([places[p.first] for p in pairs], np.int64),
        np.array([places[p.second] for p in pairs], np.int64),
        np.array([p.p_first_worse for p in pairs], np.float64),
        tuple(p.source for p in pairs),
        tuple(p.corresponds for p in pairs),
    )


def intervals(
    clips: ScoredClips,
    measure: Callable[[Float[np.ndarray, "resample clip"], str], np.ndarray],
    num: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    """By `BY`: the 95 % interval of `measure(weights of the clips, by)`; NaN if none is known."""
    found = {}
    for by in BY:
        every = bootstrap.resamples(clips.clusters[by], num, seed)
        values = [np.asarray(measure(piece, by), np.float64) for piece in _pieces(every)]
        low, high = bootstrap.interval(np.concatenate(values)) if values else (np.nan, np.nan)
        found[by] = (float(low), float(high))
    return found


def _pieces(weights: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(weights), PIECE):
        yield weights[start : start + PIECE]


def _numbered(names: Sequence[str]) -> Int[np.ndarray, " clip"]:
    if not names:
        return np.zeros(0, np.int64)
    return np.unique(np.array(names, object), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _pick(values: np.ndarray | tuple, at: np.ndarray) -> np.ndarray | tuple:
    return values[at] if isinstance(values, np.ndarray) else tuple(values[place] for place in at)
