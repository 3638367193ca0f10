"""What became better and worse between two runs of the physics judge, video by video.

Videos are paired by what they are called, for the two runs are of two generators, or of one before
and after a change: their bytes differ and must be allowed to. What has to agree is the judge (the
protocol's fingerprint, eye and heads in it), the starts of what was imagined, and what truly
happened beside it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.compare import (
    ALL,
    MARGIN,
    MOST_EPISODES,
    Comparison,
    Paired,
    check_margin,
    row_of,
    verdicts,
)
from cosmolabe.core.difference import Difference
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import read_jsonl, read_readings, require_columns
from cosmolabe.judges.physics.readings import TRUE, cluster_of, column_of

MEASURES = {"violation": "value", "violation_raw": "raw", "worst_window": "worst_raw"}
"""Reading by the column of a row; less is better."""
SCORED = "share_scored"
"""Of the videos in both runs; what freezes gets no score, and must not pass for better."""
MOST_NAMED = 5
NUMBER = (int, float, type(None))
ROW = {**dict.fromkeys(("input", "status"), (str,)), "raw": NUMBER, "value": NUMBER}


def of_videos_alone(folder: Path | str) -> bool:
    """Whether a run folder holds readings of the physics judge and of no other."""
    readings = read_readings(Path(folder) / "readings.json")
    return bool(readings) and {reading.judge for reading in readings} == {"physics"}


def compare_videos(
    before: Path | str, after: Path | str, margin: float = MARGIN, seed: int = 0
) -> Comparison:
    """Compare two run folders of `judge --judges physics`; A is before, B is after.

    Raises:
        ValueError: Another protocol, eye or head, other starts, another truth, or nothing in
            common.
    """
    check_margin(margin)
    a, b = _Run(Path(before)), _Run(Path(after))
    if a.protocols != b.protocols:
        raise ValueError(
            f"judged by different protocols, eyes or heads ({' '.join(sorted(a.protocols))} and "
            f"{' '.join(sorted(b.protocols))}), so the numbers do not compare; judge both with the "
            "same --head, --encoder and --protocol"
        )
    if a.drawn != b.drawn:
        drawn, videos = (a, b) if a.drawn else (b, a)
        raise ValueError(
            f"{videos.folder} is of videos, {drawn.folder} of what a model imagined; they share "
            "nothing to pair by"
        )
    tables, notes, rows = {}, [], []
    for name, (key_a, key_b) in _match(a, b, notes).items():
        ours, theirs = a.videos[key_a], b.videos[key_b]
        _refuse_unlike(name, a, b, key_a, key_b)
        both = [key for key in ours if key in theirs]
        notes += _left_out(name, ours, theirs, both)
        if not both:
            raise ValueError(
                f"{name}: no video in both runs. They are paired by `input`, the path below the "
                f"folder that was judged or the id in a table: {a.folder} has {_some(ours)}, "
                f"{b.folder} has {_some(theirs)}"
            )
        rows.append(row_of(name, SCORED, [_shares(ours, theirs, both)], seed))
        known = [k for k in both if _is_scored(ours[k]) and _is_scored(theirs[k])]
        notes += _unscored(name, ours, theirs, both)
        if known:
            tables[name] = _paired(ours, theirs, known, "violation_raw"), known
        for measure in MEASURES:
            table = _paired(ours, theirs, known, measure)
            if len(table.episodes):
                rows.append(row_of(name, measure, [table], seed))
    if len(tables) > 1:
        every = [table for table, _ in tables.values()]
        rows.append(row_of(ALL, "violation_raw", every, seed))
    if not tables:
        notes.append("no video was scored in both runs; clips.jsonl says why of each")
    judged = verdicts(rows, margin, lower=MEASURES)
    return Comparison(
        judged,
        [row for name, (table, known) in tables.items() for row in _most(name, table, known)],
        _others(a, b, judged),
        notes,
        margin,
        of="videos",
    )


class _Run:
    """What a comparison reads of a run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.readings = [r for r in read_readings(folder / "readings.json") if r.judge == "physics"]
        self.protocols = {reading.protocol for reading in self.readings}
        self.heads: dict[tuple[str, str], Reading] = {
            (r.game, r.model): r for r in self.readings if r.metric == "violation"
        }
        self.drawn = (folder / "videos.jsonl").is_file()
        path = folder / ("videos.jsonl" if self.drawn else "clips.jsonl")
        if not path.is_file():
            raise ValueError(f"no {path}: a comparison needs one row per video; judge again")
        self.videos: dict[tuple[str, str], dict[str, dict]] = {key: {} for key in self.heads}
        self.truth: dict[tuple[str, str], dict] = {}
        for where, row in read_jsonl(path):
            require_columns(row, where, ROW if row.get("status") == "scored" else _TOLD)
            # Of what was imagined the start is what both runs share; its name holds the model.
            name = str(row.get("id") or row["input"]) if self.drawn else row["input"]
            game, model = str(row.get("game") or ""), str(row.get("model") or "")
            if row.get("role") == TRUE:
                self.truth[game, name] = row
            elif (game, model) in self.videos:  # the floors beside a model have no reading
                self.videos[game, model][name] = row


_TOLD = {name: ROW[name] for name in ("input", "status")}


def _match(a: _Run, b: _Run, notes: list[str]) -> dict[str, tuple[Any, Any]]:
    """The (game, model) of both runs that are set against each other, by a name for the row."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for game in sorted({game for game, _ in a.videos} | {game for game, _ in b.videos}):
        ours = sorted(model for g, model in a.videos if g == game)
        theirs = sorted(model for g, model in b.videos if g == game)
        label = game or "videos"
        if len(ours) == len(theirs) == 1:
            pairs[label] = (game, ours[0]), (game, theirs[0])
            continue
        both = sorted(set(ours) & set(theirs))
        pairs |= {f"{label} {model}".strip(): ((game, model), (game, model)) for model in both}
        left = sorted(set(ours) ^ set(theirs))
        if left:
            notes.append(f"{label}: only one run has {left}; left out")
    if not pairs:
        raise ValueError(
            f"nothing to compare: {a.folder} has {sorted(a.videos)}, {b.folder} has "
            f"{sorted(b.videos)} (game, model)"
        )
    return pairs


def _refuse_unlike(
    name: str, a: _Run, b: _Run, key_a: tuple[str, str], key_b: tuple[str, str]
) -> None:
    if a.drawn and a.heads[key_a].data != b.heads[key_b].data:
        raise ValueError(
            f"{name}: imagined from different starts (data {a.heads[key_a].data} and "
            f"{b.heads[key_b].data}); judge both on the same store, split, seed and --imagined"
        )
    for key in a.truth.keys() & b.truth.keys():
        one, other = a.truth[key].get("hash"), b.truth[key].get("hash")
        if key[0] == key_a[0] and one and other and one != other:
            raise ValueError(
                f"{name}: what truly happened in '{key[1]}' is not the same video in both runs"
            )


def _is_scored(row: Mapping[str, Any]) -> bool:
    return row["status"] == "scored" and row["raw"] is not None


def _clusters(rows: Mapping[str, Mapping[str, Any]], keys: Sequence[str]) -> np.ndarray:
    names = [str(rows[key].get("episode", cluster_of(rows[key]))) for key in keys]
    return np.unique(np.array(names, object), return_inverse=True)[1].reshape(-1)


def _shares(ours: Mapping[str, Any], theirs: Mapping[str, Any], keys: Sequence[str]) -> Paired:
    sides = [{(SCORED, None): np.array([float(_is_scored(s[k])) for k in keys])}
             for s in (ours, theirs)]  # fmt: skip
    return Paired(sides[0], sides[1], _clusters(ours, keys), [])


def _paired(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], keys: Sequence[str], measure: str
) -> Paired:
    """One measure of the videos that have it in both runs."""
    before, after = (
        column_of([rows[key] for key in keys], MEASURES[measure]) for rows in (ours, theirs)
    )
    known = np.isfinite(before + after)
    clusters = _clusters(ours, [key for key, has in zip(keys, known, strict=True) if has])
    place = measure, None
    return Paired({place: before[known]}, {place: after[known]}, clusters, [])


def _left_out(
    name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any], both: Sequence[str]
) -> list[str]:
    lacking = [key for key in (*ours, *theirs) if key not in ours or key not in theirs]
    notes = [f"{name}: {len(lacking)} video(s) in one run only, left out: {_some(lacking)}"]
    alike = sum(
        bool(ours[k].get("hash")) and ours[k]["hash"] == theirs[k].get("hash") for k in both
    )
    same = [f"{name}: {alike} of {len(both)} videos are the same bytes in both runs"]
    return (notes if lacking else []) + (same if alike else [])


def _unscored(
    name: str, ours: Mapping[str, Any], theirs: Mapping[str, Any], both: Sequence[str]
) -> list[str]:
    notes = []
    for word, rows in (("before", ours), ("after", theirs)):
        lost = [key for key in both if not _is_scored(rows[key])]
        if lost:
            why = str(rows[lost[0]].get("why") or "").split(":")[0]
            notes.append(
                f"{name}: {len(lost)} of {len(both)} videos have no score {word} ({_some(lost)}: "
                f"{why}, …)"
            )
    return notes


def _most(name: str, table: Paired, keys: Sequence[str]) -> list[dict[str, Any]]:
    before, after = table.before["violation_raw", None], table.after["violation_raw", None]
    order = np.argsort(after - before, kind="stable")
    if len(order) > 2 * MOST_EPISODES:
        order = np.concatenate([order[:MOST_EPISODES], order[-MOST_EPISODES:]])
    return [
        {
            "game": name,
            "episode": keys[place],
            "before": float(before[place]),
            "after": float(after[place]),
            "difference": float(after[place] - before[place]),
        }
        for place in order.tolist()
    ]


def _others(a: _Run, b: _Run, rows: Sequence[Difference]) -> list[dict[str, Any]]:
    """Every other reading that both have, where each run has one model of a game."""
    shown = {row.metric for row in rows}
    mine = {(r.game, r.metric): r for r in a.readings if (r.game, r.model) in a.heads}
    found = []
    for other in b.readings:
        one = mine.get((other.game, other.metric))
        if one is not None and other.metric not in shown and (other.game, other.model) in b.heads:
            found.append(
                {
                    "game": other.game or "videos",
                    "metric": other.metric,
                    "horizon": None,
                    "before": one.value,
                    "after": other.value,
                    "difference": other.value - one.value,
                    "direction": other.direction,
                }
            )
    return found if len(a.heads) == len({game for game, _ in a.heads}) == len(b.heads) else []


def _some(names: Any) -> str:  # noqa: ANN401 - any names
    names = [str(name)[:80] for name in names]
    more = ", …" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
