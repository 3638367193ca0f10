"""What `judge` and the verbs of `physics` share: which judge, which videos, what is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cosmolabe.cli._verb import Table, progress
from cosmolabe.core.figures import span

SHOWN = 12  # rows of the table on the terminal
ROWS = ("clips.jsonl", "physics.json", "clips.parquet")
"""What an unfinished run over videos leaves: it goes on from there."""
VIDEO_OURS = ("physics.json", "clips.parquet", "videos.jsonl", "imagined.json")
"""What the physics judge leaves in a run folder besides what all judges do."""


def settings_of(asked: Any) -> Any:  # noqa: ANN401 - a verb with the flags; gives many.Settings
    """The judge that a verb's flags ask for."""
    from cosmolabe.bench.physics.many import Settings
    from cosmolabe.data.video import Limits

    limits = Limits()
    if getattr(asked, "timeout", 0):
        limits = replace(limits, timeout=float(asked.timeout))
    features = getattr(asked, "features", None)
    return Settings(
        head=asked.head,
        protocol=protocol_of(asked.protocol, "physics", ""),
        weights=None if asked.weights is None else str(asked.weights),
        encoder=asked.encoder,
        device=asked.device,
        features=None if features is None else str(features),
        limits=limits,
    )


def judge_into(asked: Any, inputs: list[Any], **more: Any) -> list[Any]:  # noqa: ANN401
    """Judge videos into a verb's run folder, with progress; gives the readings."""
    from cosmolabe.bench.physics.many import judge_many

    with progress("judging") as tell:
        return judge_many(
            inputs,
            asked.out,
            settings_of(asked),
            workers=asked.workers,
            engine=asked.engine,
            tell=tell,
            **more,
        )


def keep_imagined(out: Path, others: list[Any], told: Any, physics: Any) -> None:  # noqa: ANN401
    """Into a run folder: readings after those of the others, a row a rollout, the worst windows.

    `told` is a `bench.physics.imagined.Imagined`.
    """
    from cosmolabe.bench.physics import many
    from cosmolabe.core.record import write_json, write_jsonl, write_readings

    write_readings(out / "readings.json", [*others, *told.readings])
    write_jsonl(out / "videos.jsonl", told.rows)
    about = {"protocol": physics.protocol, "head": physics.bundle.name, "links": told.links}
    write_json(out / "imagined.json", about)
    worst = sorted(told.shown, key=lambda one: -one.raw)[: many.SHOWN]
    for rank, one in enumerate(worst):
        many.keep_window(out, rank, one.input, one.frames, one.fps, one.first, one.window)


def protocol_of(names: str, judge: str, default: str) -> str:
    """The protocol of one judge among names with commas between."""
    mine = [name for name in names.split(",") if name.startswith(f"{judge}/")]
    if len(mine) > 1:
        raise ValueError(f"one protocol for each judge; got {mine}")
    return mine[0] if mine else default


def videos_of(paths: tuple[Path, ...]) -> list[Any]:
    """All inputs, the true videos of rollouts among them, once each, under a role of their own."""
    from cosmolabe.data.video.inputs import Input, find_inputs, located, told_apart

    found, seen = [], set()
    for item in find_inputs(paths):
        true = item.row.get("true_video")
        if item.folder is None or not isinstance(true, str) or not true.strip():
            found.append(item)
            continue
        found.append(replace(item, row={**item.row, "role": "imagined"}))
        about = {name: item.row[name] for name in ("id", "game") if name in item.row}
        path, why = located(true.strip(), item.folder, item.closed)
        if why or (path, about.get("game")) not in seen:
            found.append(Input(f"{item.name} (true)", path, {**about, "role": "true"}, why))
        seen.add((path, about.get("game")))
    return told_apart(found)


def refuse_stores(paths: tuple[Path, ...]) -> None:
    """A store holds states and actions; say what would make videos of it."""
    from cosmolabe.data.store import is_store

    for path in paths:
        if is_store(path):
            raise ValueError(
                f"{path} is a store of episodes and holds no videos. Say --model NAME, and what it "
                "imagines from there is drawn and judged beside the truth; or draw the true "
                f"episodes with `cosmolabe export {path} --as video --out FOLDER` and judge FOLDER"
            )


def states_alone(paths: tuple[Path, ...]) -> bool:
    """Whether these are folders of rollouts that hold states and no video."""
    from cosmolabe.core.record import read_jsonl

    if not all((path / "rollouts.jsonl").is_file() for path in paths):
        return False
    rows = [row for path in paths for _, row in read_jsonl(path / "rollouts.jsonl")]
    return bool(rows) and not any(row.get("video") for row in rows)


def told_of(out: Path) -> tuple[dict[str, Any], list[Any]]:
    """What a run over videos found, for machines and for people."""
    import json

    from cosmolabe.core.record import read_json

    config = read_json(out / "record.json")["config"]
    counts = {name: config[name] for name in ("videos", "scored", "abstained", "failed")}
    worst: list[dict[str, Any]] = []
    other: list[dict[str, Any]] = []
    with (out / "clips.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            (worst if row["status"] == "scored" else other).append(
                {name: row[name] for name in TOLD}
            )
    worst.sort(key=lambda row: -row["raw"])
    data = {"counts": counts}
    data |= {name: config[name] for name in ("kept_from_before", "head", "encoder")}
    text: list[Any] = [clips_table(worst[:SHOWN], "most violating first")] if worst else []
    if other:
        rows = [(row["input"], row["status"], row["why"]) for row in other[:SHOWN]]
        text.append(Table(("not scored", "", "why"), rows))
    text.append(
        f"{counts['scored']} of {counts['videos']} videos scored, {counts['abstained']} abstained, "
        f"{counts['failed']} failed"
    )
    return data, text


TOLD = (
    "input", "status", "why", "value", "raw", "low", "high", "motion", "worst_start", "worst_end",
)  # fmt: skip


def clips_table(rows: list[dict[str, Any]], title: str = "") -> Table:
    """Rows of clips.jsonl for people."""
    shown = [
        (
            row["input"],
            _number(row["value"]),
            span(row["low"], row["high"]),
            _number(row["raw"]),
            _number(row["motion"]),
            span(row["worst_start"], row["worst_end"], ".2f"),
        )
        for row in rows
    ]
    columns = ("video", "violation", "95 % interval", "raw", "motion", "worst at, s")
    return Table(columns, shown, title)


def _number(value: Any) -> float:  # noqa: ANN401 - null in JSON is missing
    return float("nan") if value is None else float(value)
