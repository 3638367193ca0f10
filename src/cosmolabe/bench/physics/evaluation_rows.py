"""The tables of an evaluation: pairs, ties, orders, correlations, separation, levels and range."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cosmolabe.bench.physics.scored import ScoredClips, ScoredPairs, intervals
from cosmolabe.metrics.auc import auc
from cosmolabe.metrics.cohens_d import cohens_d
from cosmolabe.metrics.fisher_mean import fisher_mean
from cosmolabe.metrics.level_distribution import SHARES, level_distribution
from cosmolabe.metrics.pairwise_accuracy import num_equal, pairwise_accuracy
from cosmolabe.metrics.pairwise_accuracy_ties import (
    SWEEP,
    best_threshold,
    pairwise_accuracy_ties,
    tie_rates,
    tie_sweep,
)
from cosmolabe.metrics.pearson import pearson
from cosmolabe.metrics.spearman import spearman

Row = dict[str, Any]
ALL = "all"
"""Name of the row over all sets together."""
MOST_LEVELS = 12
"""Labels of more different values are shown in fifths."""


def pair_rows(pairs: ScoredPairs, num: int, seed: int) -> Iterator[Row]:
    """Each set and all; each by correspondence and by the kinds of clip that meet."""
    sides, meets = np.array(pairs.sides, object), np.array(pairs.corresponds, object)
    for name, here in sets_of(pairs.sets):
        yield _pair_row(pairs.only(here), name, "any", "any", num, seed)
        cells = sorted(set(zip(meets[here], sides[here], strict=True)))
        for meet, side in cells:
            cell = here & (meets == meet) & (sides == side)
            yield _pair_row(pairs.only(cell), name, meet, side, num, seed)


def _pair_row(pairs: ScoredPairs, name: str, meet: str, side: str, num: int, seed: int) -> Row:
    (first, second), p = pairs.scores, pairs.p_first_worse

    def spread(measure: Callable) -> dict[str, float]:
        def weighted(weights: np.ndarray, by: str) -> np.ndarray:
            return measure(first, second, p, weights=pairs.weights(weights, by))

        return ends_of(intervals(pairs.clips, weighted, num, seed))

    threshold, called, said = tie_rates(first, second, p)
    best, best_accuracy = best_threshold(first, second, p)
    return {
        "set": name,
        "corresponds": meet,
        "sides": side,
        "accuracy": float(pairwise_accuracy(first, second, p)),
        **spread(pairwise_accuracy),
        "accuracy_ties": float(pairwise_accuracy_ties(first, second, p)),
        **{f"ties_{k}": v for k, v in spread(pairwise_accuracy_ties).items()},
        "tau": threshold,
        "called_ties": called,
        "human_ties": said,
        "best_tau": best,
        "best_accuracy_ties": best_accuracy,
        "n": int((np.isfinite(first - second) & (p != 0.5)).sum()),
        "n_ties": int((np.isfinite(first - second) & (p == 0.5)).sum()),
        "n_equal": num_equal(first, second, p),
        "n_missing": int((~np.isfinite(first - second)).sum()),
    }


def sweep_rows(pairs: ScoredPairs) -> Iterator[Row]:
    """The accuracy with ties at each share of ties."""
    for name, here in sets_of(pairs.sets):
        some = pairs.only(here)
        accuracies = tie_sweep(*some.scores, some.p_first_worse)
        for share, value in zip(SWEEP, accuracies, strict=True):
            yield {"set": name, "share": share, "accuracy": float(value), "n": len(some)}


def order_rows(pairs: ScoredPairs) -> Iterator[Row]:
    """Both orders and their mean: equal for one score a clip, and shown to be so."""
    for name, here in sets_of(pairs.sets):
        some = pairs.only(here)
        ways = [
            float(pairwise_accuracy(*one.scores, one.p_first_worse))
            for one in (some, some.swapped())
        ]
        yield {"set": name, "forward": ways[0], "backward": ways[1], "accuracy": sum(ways) / 2}


def correlation_rows(table: ScoredClips, num: int, seed: int) -> Iterator[Row]:
    """ρ and r of each set, then Fisher's means over the sets, equal and by size."""
    for metric, measure in (("spearman", spearman), ("pearson", pearson)):
        found = []
        for name, here in sets_of(table.sets, whole=False):
            row = _correlation(table.only(here), measure, num, seed)
            if row["n"]:
                yield {"set": name, "metric": metric, **row}
                found.append(row)
        if not found:
            continue
        values = np.array([row["value"] for row in found])
        sizes = np.array([max(0.0, row["n"] - 3.0) for row in found])

        def mean(weights: np.ndarray, by: str, measure: Callable = measure) -> np.ndarray:
            each = [
                _within(table, measure, weights, here)
                for _, here in sets_of(table.sets, whole=False)
            ]
            return fisher_mean(np.stack(each, -1))

        shared = {"n": int(sum(row["n"] for row in found)), "strata": 0}
        yield {
            "set": ALL, "metric": f"fisher_mean_{metric}", "value": float(fisher_mean(values)),
            **ends_of(intervals(table, mean, num, seed)), **shared,
        }  # fmt: skip
        yield {
            "set": ALL, "metric": f"fisher_mean_{metric}_by_size",
            "value": float(fisher_mean(values, sizes)), **_no_ends(), **shared,
        }  # fmt: skip


def _correlation(table: ScoredClips, measure: Callable, num: int, seed: int) -> Row:
    everywhere = np.ones(len(table.ids), bool)
    once = np.ones((1, len(table.ids)))
    known = np.isfinite(table.scores) & np.isfinite(table.violation)

    def weighted(weights: np.ndarray, by: str) -> np.ndarray:
        return _within(table, measure, weights, everywhere)

    return {
        "value": float(_within(table, measure, once, everywhere)[0]),
        **(ends_of(intervals(table, weighted, num, seed)) if known.any() else _no_ends()),
        "n": int(known.sum()),
        "strata": len({s for s, k in zip(table.strata, known, strict=True) if s and k}),
    }


def _within(
    table: ScoredClips, measure: Callable, weights: np.ndarray, here: np.ndarray
) -> np.ndarray:
    """The correlation in each resample; the Fisher mean over strata where there are some."""
    names = np.array(table.strata, object)
    inside = sorted({str(s) for s in names[here] if s}) or [""]
    values = []
    for name in inside:
        at = np.flatnonzero(here & (names == name))
        values.append(measure(table.scores[at], table.violation[at], weights[:, at]))
    return values[0] if len(values) == 1 else fisher_mean(np.stack(values, -1))


def separation_rows(table: ScoredClips, num: int, seed: int) -> Iterator[Row]:
    """Violating against lawful clips, whatever prompt they come from."""
    for name, here in sets_of(table.sets):
        some = table.only(here & np.isfinite(table.side) & np.isfinite(table.scores))
        bad = some.side == 1
        row: Row = {"set": name, "n_violating": int(bad.sum()), "n_lawful": int((~bad).sum())}
        if not (row["n_violating"] and row["n_lawful"]):
            continue
        for metric, measure in (("auc", auc), ("cohens_d", cohens_d)):

            def weighted(
                weights: np.ndarray,
                by: str,
                measure: Callable = measure,
                some: ScoredClips = some,
                bad: np.ndarray = bad,
            ) -> np.ndarray:
                return measure(some.scores, bad, weights)

            row[metric] = float(measure(some.scores, bad))
            ends = ends_of(intervals(some, weighted, num, seed))
            row |= {f"{metric}_{end}": value for end, value in ends.items()}
        yield row


def level_rows(table: ScoredClips) -> Iterator[Row]:
    """Where the scores of each label lie."""
    for name, here in sets_of(table.sets, whole=False):
        level, mine = table.violation[here], table.scores[here]
        levels = np.unique(level[np.isfinite(level)])
        if len(levels) > MOST_LEVELS:
            level = (np.minimum(np.floor(level * 5), 4) + 0.5) / 5
            levels = np.unique(level[np.isfinite(level)])
        for one, values in zip(levels, level_distribution(mine, level, levels), strict=True):
            quantiles = {
                f"q{round(100 * s)}": float(v) for s, v in zip(SHARES, values[1:], strict=True)
            }
            count = int(((level == one) & np.isfinite(mine)).sum())
            yield {
                "set": name, "level": float(one), "n": count, "mean": float(values[0]), **quantiles
            }  # fmt: skip


def range_rows(table: ScoredClips) -> Iterator[Row]:
    """Where raw scores lie: what clipping cuts, and how many differ."""
    for name, here in sets_of(table.sets):
        known = table.scores[here & np.isfinite(table.scores)]
        row: Row = {"set": name, "n": len(known), "n_missing": int(here.sum()) - len(known)}
        ends = np.quantile(known, SHARES) if len(known) else np.full(len(SHARES), np.nan)
        row |= {f"q{round(100 * s)}": float(v) for s, v in zip(SHARES, ends, strict=True)}
        below, above = ((known < 0), (known > 1))
        row["below_0"] = float(below.mean()) if len(known) else np.nan
        row["above_1"] = float(above.mean()) if len(known) else np.nan
        yield {**row, "distinct": len(np.unique(known))}


def sets_of(names: Sequence[str], whole: bool = True) -> Iterator[tuple[str, np.ndarray]]:
    """Each set's name and where it is, and all of them together."""
    each = np.array(names, object)
    if whole:
        yield ALL, np.ones(len(each), bool)
    for name in sorted(set(names)):
        yield name, np.asarray(each == name, bool)


def ends_of(spread: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Both intervals as columns of a row."""
    (low, high), (low_video, high_video) = spread["prompt"], spread["video"]
    return {"low": low, "high": high, "low_video": low_video, "high_video": high_video}


def _no_ends() -> dict[str, float]:
    return dict.fromkeys(("low", "high", "low_video", "high_video"), np.nan)
