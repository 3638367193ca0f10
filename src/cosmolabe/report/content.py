"""What a report says, as plain values: the page, the JSON and the Parquet tables say the same."""

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from cosmolabe.core.reading import Reading
from cosmolabe.report import asked, videos
from cosmolabe.report.folder import Row, Run, number, whole
from cosmolabe.report.limits import LIMITS

SHOWN_HORIZONS = (1, 2, 5, 10, 20, 50, 100)
MOST_NAMED = 100
"""Skipped inputs named one by one in the page; clips.jsonl and report.json name all."""
EXTREMES = 5
BESIDE = (
    "scenario_score", "scenario_score_sticky", "reaction", "planning_return", "planning_score",
)  # fmt: skip
"""Readings with floor and ceiling that stand in the tables, without a needle of their own."""
ENDS = {
    "": ("doing nothing", "the real thing"),
    "physics": ("the better trivial model's film", "the true film"),
}
"""What floor and ceiling are, by judge: physics sees films alone, and a still one has no score."""
ROBUST = "final_"
"""Begins the names of the final scores under a corrupted context, which stand beside too."""


@dataclass(frozen=True)
class KindRow:
    """How one kind of entity fared."""

    game: str
    model: str
    kind: str
    cells: tuple[Row | None, ...]
    """{position_l1, alive_f1, n} per shown horizon."""


def subject(run: Run) -> str:
    """Who was judged on what, in a few words."""
    models = sorted({r.model for r in run.readings if r.model})
    games = sorted({r.game for r in run.readings if r.game})
    what = ", ".join(models) or "world model"
    where = ", ".join(games) if len(games) <= 3 else f"{len(games)} games"
    if run.videos and not models and not games:
        return f"{len(run.videos)} video{'s' if len(run.videos) > 1 else ''}"
    return f"{what} on {where}" if where else what


def headlines(readings: list[Reading]) -> list[Reading]:
    """The readings that get a needle: those that know both what nothing and what truth scores."""
    whole = [r for r in readings if r.horizon is None and r.metric != "skill"]
    known = [
        r
        for r in whole
        if math.isfinite(r.floor)
        and math.isfinite(r.ceiling)
        and r.metric not in BESIDE
        and not r.metric.startswith(ROBUST)
    ]
    return known or whole[:4] or readings[:4]


def share_of_the_way(reading: Reading) -> float:
    """How far the value has come from floor to ceiling; NaN where either is unknown."""
    span = reading.ceiling - reading.floor
    return (reading.value - reading.floor) / span if span else math.nan


def verdict(reading: Reading, skill: Reading | None = None) -> str:
    """One sentence about where the reading stands, claiming no more than the interval shows.

    Skill is measured against the floor on the same windows, so its interval decides where known.
    """
    if math.isnan(reading.value):
        return reading.why or "not measured"
    if reading.why and reading.direction == "none":
        return reading.why  # a number that is not better for being higher, and says why
    share = share_of_the_way(reading)
    if not math.isfinite(share) or (reading.floor, reading.ceiling) == (0, 1):
        return ""  # nothing known, or the value says it already
    if skill is not None and math.isfinite(skill.low):
        low, high, floor = skill.low, skill.high, 0.0
    else:
        sign = -1.0 if reading.direction == "lower" else 1.0
        low, high = sorted((sign * reading.low, sign * reading.high))
        floor = sign * reading.floor
    nothing, real = ENDS.get(reading.judge, ENDS[""])
    span = reading.ceiling - reading.floor
    if (-span if reading.direction == "lower" else span) <= 0:
        return f"no scale here: {nothing} is judged no worse than {real}"
    if math.isnan(low + high):
        return f"too few to be told apart from {nothing}"
    if high < floor:
        return f"worse than {nothing}"
    if low <= floor:
        return f"not told apart from {nothing}"
    return f"{share:.0%} of the way from {nothing} to {real}"


def skills(readings: list[Reading]) -> dict[tuple[str, str, str, str], Reading]:
    """The skill that belongs to each final score, by judge, game, model and metric."""
    return {(r.judge, r.game, r.model, "final"): r for r in readings if r.metric == "skill"}


def game_table(readings: list[Reading]) -> tuple[list[str], list[Row]]:
    """The headline metrics (and skill) as columns, one row per game and model."""
    whole = [r for r in readings if r.horizon is None and r.game]
    shown = headlines(whole) + [r for r in whole if r.metric in ("skill", *BESIDE)]
    columns = list(dict.fromkeys(r.metric for r in shown))
    rows: dict[tuple[str, str], Row] = {}
    for reading in shown:
        row = rows.setdefault(
            (reading.game, reading.model),
            {"game": reading.game, "model": reading.model, "cells": dict.fromkeys(columns)},
        )
        row["cells"][reading.metric] = reading
    return columns, list(rows.values())


def kind_table(rows: list[Row]) -> tuple[list[int], list[KindRow]]:
    """Rows of kinds.json side by side over a few horizons."""
    found = sorted({int(h) for h in (number(r.get("horizon")) for r in rows) if h == h})
    horizons = [h for h in found if h in SHOWN_HORIZONS or h == found[-1] or len(found) <= 6]
    table: dict[tuple[str, str, str], dict[int, Row]] = {}
    for row in rows:
        key = (str(row.get("game")), str(row.get("model")), str(row.get("kind")))
        cell = {name: number(row.get(name)) for name in ("position_l1", "alive_f1", "n")}
        table.setdefault(key, {})[int(number(row.get("horizon")))] = cell
    kinds = [KindRow(*key, tuple(cells.get(h) for h in horizons)) for key, cells in table.items()]
    return horizons, kinds


@dataclass(frozen=True)
class ScenarioRow:
    """How one scenario fared."""

    game: str
    model: str
    scenario: str
    summary: str
    needs_memory: bool
    score: float
    floor: float
    ceiling: float
    sticky: float
    reaction: float
    rules: tuple[Row, ...]
    """{predicate, says, kept, kept_floor, example}; the least kept first."""

    @property
    def kept(self) -> float:
        """Share of its rules that were kept."""
        known = [rule["kept"] for rule in self.rules if math.isfinite(rule["kept"])]
        return sum(known) / len(known) if known else math.nan


def scenario_table(rows: list[Row]) -> list[ScenarioRow]:
    """Rows of scenarios.json by scenario; per game and model, the fewest rules kept first."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        key = (str(row.get("game")), str(row.get("model")), str(row.get("scenario")))
        groups.setdefault(key, []).append(row)
    order = list(dict.fromkeys(key[:2] for key in groups))
    table = [_scenario(key, group) for key, group in groups.items()]
    least = [math.inf if math.isnan(row.kept) else row.kept for row in table]
    ranked = sorted(range(len(table)), key=lambda i: (order.index(list(groups)[i][:2]), least[i]))
    return [table[index] for index in ranked]


def robust_table(rows: list[Row]) -> list[Row]:
    """Rows of robust.json as the page shows them; what is no number there is missing here."""
    texts, numbers = (
        ("game", "model", "variant"),
        ("value", "floor", "ceiling", "loss", "low", "high"),
    )
    return [
        {name: str(row.get(name)) for name in texts}
        | {name: number(row.get(name)) for name in numbers}
        | {"n": whole(row.get("n"))}
        for row in rows
    ]


def _scenario(key: tuple[str, str, str], rows: list[Row]) -> ScenarioRow:
    first = rows[0]
    rules: list[Row] = [
        {
            "predicate": str(row.get("predicate", "")),
            "says": str(row.get("says", "")),
            "kept": number(row.get("kept")),
            "kept_floor": number(row.get("kept_floor")),
            "example": whole(row.get("example")),
        }
        for row in rows
    ]
    rules.sort(key=lambda rule: math.inf if math.isnan(rule["kept"]) else rule["kept"])
    return ScenarioRow(
        *key,
        str(first.get("summary", "")),
        first.get("needs_memory") is True,
        *(number(first.get(name)) for name in ("score", "floor", "ceiling", "sticky", "reaction")),
        tuple(rules),
    )


@dataclass(frozen=True)
class PlanningRow:
    """What plans made inside a model bring in the true game."""

    game: str
    model: str
    planner: str
    horizon: float
    value: float
    low: float
    high: float
    random: float
    heuristic: float
    true: float
    share: float
    share_low: float
    share_high: float
    ranks: float
    top_quarter: float
    optimism: float
    state_score: float
    state_score_still: float
    reaction: float
    parts: tuple[Row, ...]
    """{part, ranks, stakes}."""
    mechanism: str


def planning_table(rows: list[Row]) -> list[PlanningRow]:
    """Rows of planning.json with their diagnosis."""
    return [_planned(row) for row in rows]


def _planned(row: Row) -> PlanningRow:
    found = row.get("diagnosis")
    found = found if isinstance(found, dict) else {}
    listed = found.get("parts")
    listed = [p for p in listed if isinstance(p, dict)] if isinstance(listed, list) else []
    parts: list[Row] = [
        {
            "part": str(part.get("part", "")),
            "ranks": number(part.get("ranks")),
            "stakes": number(part.get("stakes")),
        }
        for part in listed
    ]
    return PlanningRow(
        game=str(row.get("game")),
        model=str(row.get("model")),
        planner=str(row.get("planner")),
        horizon=number(row.get("horizon")),
        value=number(row.get("return")),
        low=number(row.get("low")),
        high=number(row.get("high")),
        random=number(row.get("return_random")),
        heuristic=number(row.get("return_heuristic")),
        true=number(row.get("return_true")),
        share=number(row.get("share")),
        share_low=number(row.get("share_low")),
        share_high=number(row.get("share_high")),
        ranks=number(found.get("ranks")),
        top_quarter=number(found.get("top_quarter")),
        optimism=number(found.get("optimism")),
        state_score=number(found.get("state_score")),
        state_score_still=number(found.get("state_score_still")),
        reaction=number(found.get("reaction")),
        parts=tuple(parts),
        mechanism=str(row.get("mechanism") or ""),
    )


def reasons(skipped: list[Row]) -> list[Row]:
    """How often each reason for not counting an input occurred, most often first."""
    counts = Counter(
        (str(r.get("status")), str(r.get("why") or "no reason given")) for r in skipped
    )
    return [{"status": status, "why": why, "count": n} for (status, why), n in counts.most_common()]


def extremes(windows: list[Row]) -> tuple[list[Row], list[Row]]:
    """The windows with the lowest and with the highest final score."""
    scored = [
        r for r in windows if r.get("status") == "ok" and number(r.get("final")) == r.get("final")
    ]
    scored.sort(key=lambda row: row["final"])
    count = min(EXTREMES, len(scored) // 2)
    return scored[:count], scored[::-1][:count]


def limits(run: Run) -> list[Row]:
    """What the judges that looked do not measure."""
    return [
        {"judge": judge, "limits": list(LIMITS.get(judge, ()))}
        for judge in dict.fromkeys(r.judge for r in run.readings)
    ]


def content(run: Run) -> Row:
    """The whole report as one tree, for report.json."""
    horizons, kinds = kind_table(run.kinds)
    lowest, highest = extremes(run.windows)
    known = skills(run.readings)
    return {
        "schema": 1,
        "subject": subject(run),
        "headlines": [
            asdict(r) | {"verdict": verdict(r, known.get((r.judge, r.game, r.model, r.metric)))}
            for r in headlines(run.readings)
        ],
        "readings": [asdict(r) for r in run.readings],
        "curves": run.curves,
        "kinds": {"horizons": horizons, "rows": [asdict(k) for k in kinds]},
        "robust": robust_table(run.robust),
        "scenarios": [asdict(row) | {"kept": row.kept} for row in scenario_table(run.scenarios)],
        "planning": [asdict(row) for row in planning_table(run.planning)],
        "windows": {
            "judged": len(run.windows) - len(run.skipped),
            "lowest": lowest,
            "highest": highest,
            "reasons": reasons(run.skipped),
            "skipped": run.skipped,
        },
        "clips": [
            {"name": c.name, "caption": c.caption, "frames": len(c.true), "fps": c.fps}
            for c in run.clips
        ],
        **({"videos": videos.content(run)} if run.videos else {}),
        **({"asked": asked.content(run)} if run.asked or run.vqa else {}),
        "limits": limits(run),
        "record": run.record,
    }


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:  # noqa: ANN401 - any record
    """A record's tree as (dotted name, text) lines."""
    if isinstance(value, dict) and value:
        return [line for key in value for line in flat(value[key], f"{name}.{key}".strip("."))]
    if isinstance(value, (list, tuple)):
        return [(name, ", ".join(str(item) for item in value) or "none")]
    return [(name, "none" if value in ({}, None, "") else str(value))]
