"""Everything the design asks of a scorer of violation, from its scores in one call.

Scores are raw: a higher one is worse. Ranks are taken on them, since clipping to 0..1 makes equal
scores out of different ones; what clipping does stands beside. Missing scores are counted and
leave the clip out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosmolabe.bench.physics.evaluation_rows import (
    ALL,
    Row,
    correlation_rows,
    ends_of,
    level_rows,
    order_rows,
    pair_rows,
    range_rows,
    separation_rows,
    sets_of,
    sweep_rows,
)
from cosmolabe.bench.physics.references import REFERENCES
from cosmolabe.bench.physics.scored import (
    ScoredPairs,
    intervals,
    pairs_of,
    table_of,
)
from cosmolabe.core import parts
from cosmolabe.core.bootstrap import RESAMPLES
from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.core.metric import Metric
from cosmolabe.core.reading import Reading
from cosmolabe.core.seeds import generator
from cosmolabe.metrics.pairwise_accuracy import pairwise_accuracy

FLOORS = {"pairwise_accuracy": 0.5, "auc": 0.5, "spearman": 0.0, "pearson": 0.0, "cohens_d": 0.0}
"""What a scorer that knows nothing gets."""
SWAP_SEED = 42  # PhyProbe draws the order in which a pair is shown beforehand, with this seed


@dataclass(frozen=True)
class Evaluation:
    """Readings, one a measure and set, and the tables behind them.

    `rows` holds `pairs` (by set, correspondence and kinds of clip), `ties` (the sweep),
    `correlations`, `separation`, `levels`, `range`, `orders` and `references`. A reading's `game`
    is the set, empty for all together. Its interval draws prompts again; rows also hold the one
    that draws videos.
    """

    readings: list[Reading]
    rows: dict[str, list[Row]]


def evaluate(
    scores: Mapping[str, float],
    clips: Sequence[ClipRow],
    pairs: Sequence[PairRow],
    *,
    strata: Mapping[str, str] | None = None,
    judge: str = "physics",
    model: str = "",
    protocol: str = "",
    data: str = "",
    num: int = RESAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Every measure of the physics judge for raw `scores` by clip id.

    With `strata` (clip id → name, say damage kind and scene) correlations are taken within each
    and averaged by Fisher's z, for sizes of different damages are not comparable. Two clips of one
    id, and pairs of unknown clips, are refused.
    """
    table = table_of(scores, clips, strata)
    both = pairs_of(table, pairs)
    clipped = replace(table, scores=np.clip(table.scores, 0.0, 1.0))
    rows: dict[str, list[Row]] = {name: [] for name in ("pairs", "ties", "correlations")}
    rows |= {"separation": [], "levels": [], "range": [], "orders": [], "references": []}
    for kind, one in (("raw", table), ("clipped", clipped)):
        mine = replace(both, clips=one)
        rows["pairs"] += [{"scores": kind, **row} for row in pair_rows(mine, num, seed)]
        rows["correlations"] += [{"scores": kind, **r} for r in correlation_rows(one, num, seed)]
        rows["separation"] += [{"scores": kind, **row} for row in separation_rows(one, num, seed)]
    rows["ties"] = list(sweep_rows(both))
    rows["orders"] = list(order_rows(both))
    rows["levels"] = list(level_rows(table))
    rows["range"] = list(range_rows(table))
    shared = {"judge": judge, "model": model, "protocol": protocol, "data": data}
    readings = list(_readings(rows, shared))
    rows["references"] = _beside(readings)
    return Evaluation(readings, rows)


def swaps(pairs: Sequence[PairRow], seed: int = SWAP_SEED) -> list[bool]:
    """Which pairs are shown to a pair judge the other way round; drawn once, before it is asked."""
    return (generator("shown order", seed).random(len(pairs)) < 0.5).tolist()


def evaluate_pair_judge(
    forward: Sequence[float] | np.ndarray,
    backward: Sequence[float] | np.ndarray,
    clips: Sequence[ClipRow],
    pairs: Sequence[PairRow],
    *,
    num: int = RESAMPLES,
    seed: int = 0,
) -> list[Row]:
    """A judge that sees two clips at once, shown both ways round: one row a set, and one for all.

    `forward` and `backward` say how surely the pair's *first* clip is the worse (0..1, NaN for no
    answer) when it was shown first and last. `accuracy` is the mean of both orders; `consistent`
    the share of pairs where both orders say the same.
    """
    if not len(forward) == len(backward) == len(pairs):
        raise ValueError(
            f"{len(pairs)} pairs need as many answers each way; got {len(forward)} and "
            f"{len(backward)}"
        )
    both = pairs_of(table_of({}, clips), pairs)
    told = [np.asarray(answers, np.float64) - 0.5 for answers in (forward, backward)]
    rows = []
    for name, here in sets_of(both.sets):
        some = both.only(here)
        a, b = (answers[here] for answers in told)
        rows.append(_pair_judge_row(name, some, a, b, num, seed))
    return rows


def _pair_judge_row(
    name: str, pairs: ScoredPairs, a: np.ndarray, b: np.ndarray, num: int, seed: int
) -> Row:
    p, zero = pairs.p_first_worse, np.zeros(len(a))

    def accuracy(weights: np.ndarray | None = None) -> np.ndarray:
        ways = [pairwise_accuracy(told, zero, p, weights) for told in (a, b)]
        return np.asarray((ways[0] + ways[1]) / 2)

    spread = intervals(pairs.clips, lambda w, by: accuracy(pairs.weights(w, by)), num, seed)
    answered = np.isfinite(a) & np.isfinite(b)
    same = np.sign(a[answered]) == np.sign(b[answered])
    return {
        "set": name,
        "accuracy": float(accuracy()),
        **ends_of(spread),
        "forward": float(pairwise_accuracy(a, zero, p)),
        "backward": float(pairwise_accuracy(b, zero, p)),
        "consistent": float(same.mean()) if len(same) else np.nan,
        "n": int((p != 0.5).sum()),
        "n_ties": int((p == 0.5).sum()),
        "n_missing": int((~answered).sum()),
    }


def _readings(rows: Mapping[str, list[Row]], shared: dict[str, Any]) -> Iterator[Reading]:
    """The raw scores' numbers of every set."""
    whole = [r for r in rows["pairs"] if r["scores"] == "raw" and r["sides"] == "any"]
    for row in whole:
        for metric, prefix in (("pairwise_accuracy", ""), ("pairwise_accuracy_ties", "ties_")):
            name = "accuracy" if not prefix else "accuracy_ties"
            count = row["n"] + (row["n_ties"] if prefix else 0)
            why = f"{row['n_equal']} pairs of equal scores" if row["n_equal"] else ""
            yield _reading(
                metric, row, name, prefix, count, row["n_missing"], why or _none(count), shared
            )
    for row in rows["correlations"]:
        if row["scores"] == "raw":
            why = _none(row["n"]) or ("it never varies" if np.isnan(row["value"]) else "")
            yield _reading(row["metric"], row, "value", "", row["n"], 0, why, shared)
    for row in rows["separation"]:
        if row["scores"] == "raw":
            count = row["n_violating"] + row["n_lawful"]
            for metric in ("auc", "cohens_d"):
                yield _reading(metric, row, metric, f"{metric}_", count, 0, "", shared)


def _reading(
    metric: str,
    row: Row,
    name: str,
    prefix: str,
    count: int,
    skipped: int,
    why: str,
    shared: dict[str, Any],
) -> Reading:
    part = "fisher_mean" if metric.startswith("fisher_mean") else metric
    measure: Metric = parts.load("metrics", part)
    return Reading(
        metric=metric,
        value=row[name],
        low=row[f"{prefix}low"],
        high=row[f"{prefix}high"],
        unit=measure.unit,
        direction=measure.direction,
        floor=FLOORS.get(part, np.nan),
        n=count,
        skipped=skipped,
        game="" if row["set"] == ALL else row["set"],
        why=why,
        **shared,
    )


def _beside(readings: Sequence[Reading]) -> list[Row]:
    """What the paper reports, with ours in the same row; NaN where this run has no such set."""
    ours = {(r.game, r.metric): r for r in readings}
    rows = []
    for one in REFERENCES:
        mine = ours.get((one.set, one.metric))
        rows.append(
            {
                "set": one.set or ALL,
                "metric": one.metric,
                "reported": one.value,
                "who": one.who,
                "where": one.where,
                "note": one.note,
                "ours": mine.value if mine else np.nan,
                "low": mine.low if mine else np.nan,
                "high": mine.high if mine else np.nan,
                "n": mine.n if mine else 0,
            }
        )
    return rows


def _none(count: int) -> str:
    return "" if count else "nothing with a score and a label"
