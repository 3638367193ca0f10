"""Three judges on the same rollouts: how far they agree with the truth and with each other."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from cosmolabe.bench.physics.imagined import Imagined, judge_drawn
from cosmolabe.bench.vqa.held_play import HeldPlay, held_play, imagine_held
from cosmolabe.bench.vqa.imagined import Imagining, Obeyed, judge_held
from cosmolabe.core import bootstrap
from cosmolabe.core.reading import Reading
from cosmolabe.core.rollout import WorldModel
from cosmolabe.data.store import Store
from cosmolabe.judges.physics import Physics
from cosmolabe.judges.vqa import Vqa
from cosmolabe.metrics.spearman import spearman

ENOUGH = 8  # rollouts that both have judged; with fewer there is no correlation worth a number
EVERYONE = "all models and the truth"
MEASURES = ("state error", "physics", "vqa")
"""1 less the composite of the true states; the physics judge's raw score; 1 less the probability
that what was commanded was done. More is worse in all three."""


def judge_together(
    models: Sequence[WorldModel],
    store: Store,
    vqa: Vqa,
    physics: Physics,
    num: int = 16,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Obeyed, Imagined, list[dict[str, Any]]]:
    """Both judges of pictures on rollouts of held actions, and how they agree with the truth."""
    held = held_play(store.game, num, seed, vqa.protocol.clip)
    told = {model.name: imagine_held(model, held, seed) for model in models}
    return judge_same(held, told, store, vqa, physics, tell)


def judge_same(
    held: HeldPlay,
    predictions: Mapping[str, Imagining],
    store: Store,
    vqa: Vqa,
    physics: Physics,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Obeyed, Imagined, list[dict[str, Any]]]:
    """The same of what was imagined already."""
    obeyed = judge_held(held, predictions, vqa)
    looked = judge_drawn(
        held.windows, predictions, store, physics, tell, lambda episode: held.looks[episode]
    )
    return obeyed, looked, agreement(obeyed.rows, looked.rows)


def agreement(
    asked: Sequence[Mapping[str, Any]], looked: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rank correlations of all couples of measures, for each model and over everyone.

    Intervals draw rollouts of one start again together. NaN with fewer than ENOUGH rollouts.
    """
    table = _joined(asked, looked)
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in table:
        if row["role"] == "imagined":
            groups.setdefault((row["game"], row["model"]), []).append(row)
        groups.setdefault((row["game"], EVERYONE), []).append(row)
    return [
        {"game": game, "model": model, "of": one, "and": other, **_rank(mine, one, other)}
        for (game, model), mine in groups.items()
        for one, other in combinations(MEASURES, 2)
    ]


def readings_of_agreement(rows: Sequence[Mapping[str, Any]], like: Reading) -> list[Reading]:
    """The vqa judge's rank with the true state error, as a reading of each model."""
    return [
        Reading(
            "vqa", "rank_with_state_error", row["rank"], "rank correlation", "higher",
            row["low"], row["high"], n=row["n"], skipped=row["of_all"] - row["n"],
            protocol=like.protocol, data=like.data, game=row["game"],
            model="" if row["model"] == EVERYONE else row["model"], why=row["why"],
        )
        for row in rows
        if (row["of"], row["and"]) == ("state error", "vqa")
    ]  # fmt: skip


def _joined(
    asked: Sequence[Mapping[str, Any]], looked: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    seen = {(row["game"], row["id"], row["model"]): row for row in looked}
    table = []
    for row in asked:
        other = seen.get((row["game"], row["id"], row["model"]), {})
        table.append(
            {
                "game": row["game"], "id": row["id"], "model": row["model"], "role": row["role"],
                "vqa": 1.0 - _number(row.get("share")),
                "physics": _number(other.get("raw")),
                "state error": _number(other.get("state_error", row.get("state_error"))),
            }
        )  # fmt: skip
    return table


def _rank(rows: Sequence[Mapping[str, Any]], one: str, other: str) -> dict[str, Any]:
    a, b = (np.array([row[name] for row in rows], np.float64) for name in (one, other))
    known = np.isfinite(a) & np.isfinite(b)
    n, nan = int(known.sum()), float("nan")
    told: dict[str, Any] = {"n": n, "of_all": len(rows), "rank": nan, "low": nan, "high": nan}
    if n < ENOUGH:
        return {**told, "why": f"{n} rollouts judged by both; {ENOUGH} are the least"}
    if len(set(a[known])) < 2 or len(set(b[known])) < 2:
        return {**told, "why": "one of them says the same of all"}
    weights = bootstrap.resamples(np.array([row["id"] for row in rows]))
    low, high = bootstrap.interval(spearman(a, b, weights))
    return {**told, "rank": float(spearman(a, b)), "low": float(low), "high": float(high),
            "why": ""}  # fmt: skip


def _number(value: Any) -> float:  # noqa: ANN401 - of a row
    return float(value) if isinstance(value, (int, float)) else float("nan")
