"""Agents side by side over the cells they share, and classes of edits by what they gained."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosmolabe.arena.analysis.categories import CATEGORIES, TRIVIAL
from cosmolabe.arena.analysis.gains import Gain
from cosmolabe.arena.analysis.lineage import Edit
from cosmolabe.arena.analysis.margins import Registered
from cosmolabe.arena.analysis.pairs import equivalence, paired
from cosmolabe.arena.analysis.robust import fixed_k, probability_of_improvement, stratified
from cosmolabe.bench.significance import holm
from cosmolabe.core.bootstrap import interval, resamples, weighted_mean


def by_agent(gains: Sequence[Gain], what: str) -> dict[str, dict[str, list[float]]]:
    """Agent → cell → one number a session, those without one left out."""
    table: dict[str, dict[str, list[float]]] = {}
    for gain in gains:
        value = getattr(gain, what)
        if math.isfinite(value):
            table.setdefault(gain.who, {}).setdefault(gain.cell, []).append(value)
    return table


def agents_table(gains: Sequence[Gain]) -> list[dict[str, Any]]:
    """One row an agent: test, gain and headroom as IQM with stratified intervals, what it spent."""
    rows = []
    for who in dict.fromkeys(gain.who for gain in gains):
        mine = [gain for gain in gains if gain.who == who]
        row: dict[str, Any] = {"agent": who, "sessions": len(mine)}
        for what in ("test", "delta_test", "headroom", "delta_replicated"):
            value, low, high = stratified(by_agent(mine, what).get(who, {}))
            row[what] = {"iqm": value, "low": low, "high": high}
        known = [gain.delta_test for gain in mine if math.isfinite(gain.delta_test)]
        row["improved"] = sum(delta > 0 for delta in known)
        row["known"] = len(known)
        row["runs_a_cell"] = min(
            (len(v) for v in by_agent(mine, "test").get(who, {}).values()), default=0
        )
        for what in ("experiments", "seconds", "tokens", "cost"):
            values = [float(getattr(gain, what)) for gain in mine]
            values = [value for value in values if math.isfinite(value)]
            row[what] = float(np.median(values)) if values else math.nan
        tokens = sum(g.tokens for g in mine if math.isfinite(g.tokens + g.delta_test))
        gained = sum(g.delta_test for g in mine if math.isfinite(g.tokens + g.delta_test))
        row["tokens_a_point"] = tokens / (100 * gained) if gained > 0 and tokens else math.nan
        rows.append(row)
    return rows


def compare_agents(
    gains: Sequence[Gain],
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    margins: Registered | None = None,
    what: str = "test",
) -> list[dict[str, Any]]:
    """Every pair of agents over the cells both have; p corrected after Holm over all pairs.

    A cell counts once, with the mean of its seeds. `curves` holds the val scores of each agent's
    experiments by cell, for the comparison at an equal number of tries.
    """
    table = by_agent(gains, what)
    rows: list[dict[str, Any]] = []
    for a, b in itertools.combinations(table, 2):
        shared = [cell for cell in table[a] if cell in table[b]]
        if not shared:
            continue
        apart = [float(np.mean(table[b][c]) - np.mean(table[a][c])) for c in shared]
        value, low, high = probability_of_improvement(table[a], table[b])
        mine, theirs = curves.get(a, {}), curves.get(b, {})
        k = min((len(mine[c]) for c in mine if c in theirs), default=0)
        k = min(k, min((len(theirs[c]) for c in theirs if c in mine), default=0))
        rows.append({
            "a": a, "b": b, "what": what, "paired": paired(apart),
            "improvement": {"p": value, "low": low, "high": high},
            "fixed_k": {"k": k, "paired": paired(list(fixed_k(mine, theirs, k).values()))}
            if k else None,
            "equivalence": equivalence(apart, margins.margins[what])
            if margins and what in margins.margins else None,
        })  # fmt: skip
    for name in ("wilcoxon_p", "flip_p", "sign_p"):
        corrected = holm([getattr(row["paired"], name) for row in rows])
        for row, p in zip(rows, corrected, strict=True):
            row[f"{name}_holm"] = float(p)
    return rows


def cells_table(gains: Sequence[Gain]) -> list[dict[str, Any]]:
    """Gains of each agent in each cell, tested over seeds where there are two or more; Holm."""
    table = by_agent(gains, "delta_test")
    rows: list[dict[str, Any]] = [
        {"agent": who, "cell": cell, "n": len(values), "delta": float(np.mean(values)),
         "paired": paired(values)}
        for who, cells in table.items()
        for cell, values in cells.items()
    ]  # fmt: skip
    corrected = holm([row["paired"].wilcoxon_p for row in rows])
    return [{**row, "wilcoxon_p_holm": float(p)} for row, p in zip(rows, corrected, strict=True)]


def edits_table(edits: Mapping[str, Sequence[Edit]]) -> list[dict[str, Any]]:
    """One row a class: how many, mean gain over starter and parent on val, share above the starter.

    `edits` stand by session, which is what the intervals draw again. A run that failed counts in
    `n` and `failed`, and has no gain.
    """
    flat = [(name, edit) for name, group in edits.items() for edit in group]
    groups: dict[str, list[tuple[str, Edit]]] = {
        name: [pair for pair in flat if pair[1].sorted.category == name] for name in CATEGORIES
    }
    groups["non-trivial"] = [
        (n, e) for n, e in flat if e.sorted.category and e.sorted.category not in TRIVIAL
    ]
    groups["trivial"] = [(n, e) for n, e in flat if e.sorted.category in TRIVIAL]
    groups["analytic"] = [(n, e) for n, e in flat if e.sorted.analytic]
    return [{"class": name, **_edit_row(group)} for name, group in groups.items() if group]


def _edit_row(group: Sequence[tuple[str, Edit]]) -> dict[str, Any]:
    over = np.array([edit.over_starter for _, edit in group])
    known = np.isfinite(over)
    values = np.stack([over, np.array([edit.over_parent for _, edit in group])], 1)
    draws = weighted_mean(values, resamples(np.array([name for name, _ in group])))
    ends = interval(draws)
    means = [
        float(v[np.isfinite(v)].mean()) if np.isfinite(v).any() else math.nan for v in values.T
    ]
    return {
        "n": len(group),
        "failed": sum(edit.experiment.status != "ok" for _, edit in group),
        "over_starter": {"mean": means[0], "low": float(ends[0, 0]), "high": float(ends[1, 0])},
        "over_parent": {"mean": means[1], "low": float(ends[0, 1]), "high": float(ends[1, 1])},
        "improved": float((over[known] > 0).mean()) if known.any() else math.nan,
        "sessions": len({name for name, _ in group}),
    }


def horizons(gains: Sequence[Gain]) -> dict[str, dict[str, float]]:
    """Mean gain on test at 1, 10 and 20 steps, and in how many sessions it is one."""
    told = {}
    for part in ("c1", "c10", "c20"):
        values = [gain.delta_parts.get(part, math.nan) for gain in gains]
        values = [value for value in values if math.isfinite(value)]
        told[part] = {
            "mean": float(np.mean(values)) if values else math.nan,
            "improved": float(sum(value > 0 for value in values)),
            "n": float(len(values)),
        }
    return told


def scenario_agreement(gains: Sequence[Gain]) -> dict[str, float]:
    """In how many sessions test and scenario moved alike, and how their gains go together."""
    both = [gain for gain in gains if gain.agrees is not None]
    test = np.array([gain.delta_test for gain in both])
    scenario = np.array([gain.delta_scenario for gain in both])
    varied = len(both) > 2 and np.ptp(test) > 0 and np.ptp(scenario) > 0
    return {
        "n": float(len(both)),
        "alike": float(sum(bool(gain.agrees) for gain in both)),
        "r": float(np.corrcoef(test, scenario)[0, 1]) if varied else math.nan,
    }
