"""What became better and what became worse between two runs, per game, horizon and episode."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from cosmolabe.bench.significance import holm, sign_flip_p
from cosmolabe.core import bootstrap
from cosmolabe.core.difference import Difference, Verdict
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import read_jsonl, read_readings, require_columns

MARGIN = 0.005
"""Ours: a change of the score that nobody needs to act on."""
ALPHA = 0.05
MOST_EPISODES = 5
"""Episodes named at each end of the list."""
ALL = "all games"


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side; A is before, B is after."""

    rows: list[Difference]
    episodes: list[dict[str, Any]]
    """{game, episode, before, after, difference}: those that changed most, worst first."""
    readings: list[dict[str, Any]]
    """{game, metric, horizon, before, after, difference}: every other reading in both runs."""
    notes: list[str]
    margin: float
    of: str = "windows"
    """What was paired: windows of episodes, or videos."""
    schema: int = 1


def check_margin(margin: float) -> None:
    """Refuse a margin that is none, before any file is read."""
    if not margin >= 0:
        raise ValueError(f"the margin is a difference of scores, 0 or more; got {margin}")


def compare(
    before: Path | str, after: Path | str, margin: float = MARGIN, seed: int = 0
) -> Comparison:
    """Compare two run folders; refused where protocol or data differ.

    A row is `same` where the whole interval lies within ± margin, `better` or `worse` where the
    corrected p is below 0.05 and the interval leaves out 0, else `unclear`.
    """
    check_margin(margin)
    a, b = _Run(Path(before)), _Run(Path(after))
    pairs, notes = _match(a, b)
    tables = {
        game: _table(game, a.windows[key_a], b.windows[key_b])
        for game, (key_a, key_b) in pairs.items()
    }
    rows = []
    for game, table in tables.items():
        notes += table.notes
        rows += [row_of(game, name, [table], seed) for name in table.before]
    if len(tables) > 1:
        rows.append(row_of(ALL, "final", list(tables.values()), seed))
    rows = verdicts(rows, margin)
    episodes = [row for game, table in tables.items() for row in _episodes(game, table)]
    others, unlike = _other_readings(a, b, pairs)
    return Comparison(rows, episodes, others, [*notes, *unlike], margin)


def regressed(comparison: Comparison) -> list[Difference]:
    """The rows that became worse, for a gate: empty means it may pass."""
    return [row for row in comparison.rows if row.verdict == "worse"]


NUMBER = (int, float, type(None))
WINDOW = {
    **dict.fromkeys(("id", "game", "model", "status"), (str,)),
    "final": NUMBER,
}
"""What a row of clips.jsonl holds."""
SCORED = {"episode": (int,), "final": (int, float), "composite": (dict,)}
"""And what it holds where the window was scored."""


class _Run:
    """What a comparison reads of a run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.readings = read_readings(folder / "readings.json")
        self.finals = {(r.game, r.model): r for r in self.readings if r.metric == "final"}
        self.windows: dict[tuple[str, str], dict[str, dict]] = {key: {} for key in self.finals}
        path = folder / "clips.jsonl"
        if not path.is_file():
            raise ValueError(f"no {path}: a comparison needs one row per window; judge again")
        for where, row in read_jsonl(path):
            require_columns(row, where, WINDOW)
            if _is_scored(row):
                require_columns(row, where, SCORED)
                scores = {str(key): value for key, value in row["composite"].items()}
                require_columns(scores, f"{where}, composite", dict.fromkeys(scores, NUMBER))
            key = row["game"], row["model"]
            if key not in self.windows:
                raise ValueError(f"{where}: {key} has no final score in readings.json; judge again")
            self.windows[key][row["id"]] = row


@dataclass(frozen=True)
class Paired:
    """Paired scores of one game: measure to one number per window, or per video."""

    before: dict[tuple[str, int | None], np.ndarray]
    after: dict[tuple[str, int | None], np.ndarray]
    episodes: np.ndarray
    """What belongs together and is drawn together."""
    notes: list[str]


def _match(a: _Run, b: _Run) -> tuple[dict[str, tuple], list[str]]:
    """The (game, model) of both runs that are set against each other, by a name for the row."""
    pairs: dict[str, tuple] = {}
    games = sorted({game for game, _ in a.finals} | {game for game, _ in b.finals})
    notes = []
    for game in games:
        models_a = sorted(model for g, model in a.finals if g == game)
        models_b = sorted(model for g, model in b.finals if g == game)
        if len(models_a) == 1 and len(models_b) == 1:
            pairs[game] = ((game, models_a[0]), (game, models_b[0]))
        else:
            both = sorted(set(models_a) & set(models_b))
            pairs |= {f"{game} {model}": ((game, model), (game, model)) for model in both}
            left = sorted(set(models_a) ^ set(models_b))
            if left:
                notes.append(f"{game}: only one run has {left}; left out")
    if not pairs:
        raise ValueError(
            f"nothing to compare: {a.folder} has {sorted(a.finals)}, {b.folder} has "
            f"{sorted(b.finals)}; judge both on the same games"
        )
    for key_a, key_b in pairs.values():
        _refuse_unlike(a.finals[key_a], b.finals[key_b])
    return pairs, notes


def _refuse_unlike(a: Reading, b: Reading) -> None:
    if a.protocol != b.protocol:
        raise ValueError(
            f"{a.game}: measured by different protocols ({a.protocol} and {b.protocol}), so the "
            "numbers do not compare; judge both with the same --protocol"
        )
    if a.data != b.data:
        raise ValueError(
            f"{a.game}: measured on different windows (data {a.data} and {b.data}), so the numbers "
            "do not compare; judge both on the same store, split, seed and number of episodes"
        )


def _table(game: str, a: dict[str, dict], b: dict[str, dict]) -> Paired:
    ids = [key for key in a if key in b and _is_scored(a[key]) and _is_scored(b[key])]
    if not ids:
        raise ValueError(f"{game}: no window was scored in both runs; see their clips.jsonl")
    steps = [key for key in a[ids[0]]["composite"] if key in b[ids[0]]["composite"]]
    sides = []
    for rows in (a, b):
        side: dict[tuple[str, int | None], np.ndarray] = {
            ("final", None): np.array([rows[key]["final"] for key in ids], np.float64)
        }
        for step in steps:
            values = [rows[key]["composite"][step] for key in ids]
            side["composite", int(step)] = np.array(values, np.float64)
        sides.append(side)
    notes = []
    for word, rows in (("before", a), ("after", b)):
        broken = sum(rows[key]["status"] == "invalid" for key in ids)
        if broken:
            notes.append(f"{game}: {broken} window(s) invalid {word}, scored 0")
    return Paired(sides[0], sides[1], np.array([a[key]["episode"] for key in ids]), notes)


def _is_scored(row: dict) -> bool:
    return row["status"] != "skipped" and row["final"] is not None


def row_of(
    game: str, key: tuple[str, int | None] | str, tables: Sequence[Paired], seed: int
) -> Difference:
    """One measure over one game, or over several with equal weight."""
    place = (key, None) if isinstance(key, str) else key
    shifts, spreads, sums, befores, afters = [], [], [], [], []
    for number, table in enumerate(tables):
        before, after = table.before[place], table.after[place]
        each = after - before
        weights = bootstrap.resamples(table.episodes, seed=seed + number)
        spreads.append(bootstrap.weighted_mean(each, weights))
        _, cluster = np.unique(table.episodes, return_inverse=True)
        sums.append(np.bincount(cluster, each) / len(each))
        shifts.append(each.mean())
        befores.append(before.mean())
        afters.append(after.mean())
    known = all(len(spread) for spread in spreads)  # a game of one episode: nobody can tell
    low, high = bootstrap.interval(np.mean(spreads, axis=0) if known else np.empty(0))
    changes = np.concatenate(sums)
    ranks = wilcoxon(changes, zero_method="pratt").pvalue if np.any(changes) else 1.0
    return Difference(
        game=game,
        metric=place[0],
        horizon=place[1],
        before=float(np.mean(befores)),
        after=float(np.mean(afters)),
        difference=float(np.mean(shifts)),
        low=float(low),
        high=float(high),
        p=sign_flip_p(changes, seed),
        p_holm=np.nan,
        p_wilcoxon=float(ranks),
        n=sum(len(table.episodes) for table in tables),
    )


def verdicts(
    rows: Sequence[Difference], margin: float, lower: Collection[str] = ()
) -> list[Difference]:
    """The rows with their corrected p and what it means; less is better of the measures `lower`."""
    corrected = holm([row.p for row in rows])
    out = []
    for row, p in zip(rows, corrected, strict=True):
        verdict: Verdict = "unclear"
        if -margin <= row.low and row.high <= margin:
            verdict = "same"
        elif p < ALPHA and (row.low > 0 or row.high < 0):
            verdict = "better" if (row.low > 0) != (row.metric in lower) else "worse"
        out.append(replace(row, p_holm=float(p), verdict=verdict))
    return out


def _episodes(game: str, table: Paired) -> list[dict[str, Any]]:
    names, cluster = np.unique(table.episodes, return_inverse=True)
    count = np.bincount(cluster)
    before = np.bincount(cluster, table.before["final", None]) / count
    after = np.bincount(cluster, table.after["final", None]) / count
    order = np.argsort(after - before, kind="stable")
    ends = order
    if len(order) > 2 * MOST_EPISODES:
        ends = np.concatenate([order[:MOST_EPISODES], order[-MOST_EPISODES:]])
    return [
        {
            "game": game,
            "episode": int(names[row]),
            "before": before[row],
            "after": after[row],
            "difference": after[row] - before[row],
        }
        for row in ends
    ]


def _other_readings(
    a: _Run, b: _Run, pairs: dict[str, tuple]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The readings that both have, and notes on those that were measured on different things."""
    rows, notes = [], []
    for game, (key_a, key_b) in pairs.items():
        mine = {(r.metric, r.horizon): r for r in a.readings if (r.game, r.model) == key_a}
        for other in b.readings:
            place = (other.metric, other.horizon)
            known = (other.game, other.model) == key_b and place in mine
            if not known or other.metric in ("final", "composite"):
                continue
            one = mine[place]
            if (one.protocol, one.data) != (other.protocol, other.data):
                notes.append(f"{game}: {other.metric} was measured differently; left out")
                continue
            before = one.value
            rows.append(
                {
                    "game": game,
                    "metric": other.metric,
                    "horizon": other.horizon,
                    "before": before,
                    "after": other.value,
                    "difference": other.value - before,
                    "direction": other.direction,
                }
            )
    return rows, notes
