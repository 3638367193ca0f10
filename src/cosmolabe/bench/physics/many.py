"""Judges many videos into a run folder; a killed run goes on where it stopped.

Rows are appended to clips.jsonl as they are finished, in whatever order; at the end they are put
into the order of the inputs and the run's other files are written. `physics.json` says from the
start under which protocol, so that no run goes on under another.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import UInt8

from cosmolabe.core.reading import Reading
from cosmolabe.core.record import (
    ESCAPED,
    Record,
    escaped,
    plain,
    read_json,
    write_json,
    write_readings,
    written_whole,
)
from cosmolabe.core.spread import check_engine, spread
from cosmolabe.data.video import Canvas, Input, Limits, Worker
from cosmolabe.judges.physics import Physics, readings_of
from cosmolabe.judges.physics.inputs import digest_of, score_inputs, stamp

SCHEMA = 1
ROWS, STATE, TABLE, MEDIA = "clips.jsonl", "physics.json", "clips.parquet", "media/physics"
STATUSES = ("scored", "abstained", "failed")
CHUNK = 8
"""Videos in one job of a worker: what a killed run may have to do again, at most, per worker."""
SHOWN, SHOWN_SIDE, AROUND = 6, 176, 0.5
"""Worst videos whose worst window is kept as pictures, their side in pixels, seconds around it."""
BATCH = 4096  # rows of a Parquet row group
LIGHT = (
    "input", "status", "value", "raw", "worst_raw", "motion", "model", "game", "group", "prompt",
    "role", "hash",
)  # fmt: skip
"""What is held of every row at once; the rest stays on disk."""
COLUMNS = pa.schema(
    [(name, pa.string()) for name in ("input", "path", "status", "why", "id", "model", "game")]
    + [(name, pa.string()) for name in ("generator", "prompt", "group", "role", "hash")]
    + [(name, pa.float64()) for name in ("value", "raw", "low", "high", "motion", "seconds")]
    + [(name, pa.float64()) for name in ("distance", "worst_start", "worst_end", "worst_raw")]
    + [("members", pa.list_(pa.float64())), ("curve", pa.list_(pa.list_(pa.float64())))]
    + [("bytes", pa.int64()), ("facts", pa.string())]
)


@dataclass(frozen=True)
class Settings:
    """How the judge is loaded, the same wherever a job is done."""

    head: str = ""
    protocol: str = ""
    weights: str | None = None
    encoder: str = ""
    device: str = ""
    features: str | None = None
    limits: Limits = field(default_factory=Limits)
    choices: tuple[tuple[str, Any], ...] = ()


@lru_cache(maxsize=1)
def loaded(settings: Settings) -> Physics:
    """The judge of these settings, once a process."""
    device = {"device": settings.device} if settings.device else {}
    return Physics.load(
        settings.head,
        protocol=settings.protocol,
        weights=settings.weights,
        encoder=settings.encoder,
        choices=dict(settings.choices),
        **device,
    )


def judge_many(
    inputs: Sequence[Input],
    out: Path,
    settings: Settings,
    *,
    workers: int = 1,
    engine: str = "local",
    tell: Callable[[int, int], None] = lambda done, total: None,
    shown: int = SHOWN,
    physics: Physics | None = None,
) -> list[Reading]:
    """Score every input into `out`; gives the readings. `physics` is used in place of loading.

    Raises:
        ValueError: `out` holds a run under another protocol.
    """
    check_engine(engine, workers)
    judge = physics or loaded(settings)
    done = _resume(out, judge)
    left = [place for place, item in enumerate(inputs) if not _is_done(item, done)]
    tell(len(inputs) - len(left), len(inputs))
    rest = [inputs[place] for place in left]
    if workers == 1 and engine == "local":
        fresh: Iterator[list[dict[str, Any]]] = ([row] for row in _here(judge, rest, settings))
    else:
        fresh = _elsewhere(rest, settings, workers, engine)
    with (out / ROWS).open("a", encoding="utf-8", errors=ESCAPED) as file:
        finished = len(inputs) - len(left)
        for rows in fresh:
            for row in rows:
                file.write(_line(row))
            file.flush()
            finished += len(rows)
            tell(finished, len(inputs))
    return _finish(inputs, out, judge, settings, shown, len(inputs) - len(left))


def _here(judge: Physics, inputs: Sequence[Input], settings: Settings) -> Iterator[dict[str, Any]]:
    rows = score_inputs(judge, inputs, limits=settings.limits, features=settings.features)
    return (row for _, row in rows)


def _elsewhere(
    inputs: Sequence[Input], settings: Settings, workers: int, engine: str
) -> Generator[list[dict[str, Any]]]:
    jobs = [(settings, inputs[at : at + CHUNK]) for at in range(0, len(inputs), CHUNK)]
    with closing(spread(score_some, jobs, workers, engine)) as finished:
        for _, rows in finished:
            yield rows


def score_some(settings: Settings, inputs: Sequence[Input]) -> list[dict[str, Any]]:
    """Rows of a few inputs: a job."""
    return [plain(row) for row in _here(loaded(settings), inputs, settings)]


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(plain(row), allow_nan=False, ensure_ascii=False) + "\n"


def _resume(out: Path, judge: Physics) -> dict[str, dict[str, Any]]:
    """What an unfinished or finished run left here, by input; a torn last line is cut off."""
    about = {
        "schema": SCHEMA,
        "head": judge.bundle.name,
        "encoder": judge.encoder.name,
        "fingerprint": judge.protocol.fingerprint,
        "protocol": plain(judge.protocol),
    }
    path = out / ROWS
    if (out / STATE).exists():
        found = read_json(out / STATE)
        told = found.get("fingerprint") if isinstance(found, dict) else None
        if told != about["fingerprint"]:
            raise ValueError(
                f"{out} holds videos judged under another protocol ({told}, now "
                f"{about['fingerprint']}); give the same head, eye and protocol, or a new folder"
            )
    elif path.exists():
        raise ValueError(f"{out} holds the rows of another judge; choose a new folder")
    write_json(out / STATE, about)
    if not path.exists():
        path.touch()
    done: dict[str, dict[str, Any]] = {}
    whole = 0
    with path.open("rb") as file:
        for line in file:
            row = _row_of(line)
            if row is None:
                break
            whole += len(line)
            if not _is_sound(row):
                continue
            done[row["input"]] = {name: row.get(name) for name in ("bytes", "changed", "path")}
    with path.open("r+b") as file:
        file.truncate(whole)
    return done


def _row_of(line: bytes) -> dict[str, Any] | None:
    """The row of a line; None where it was cut short."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("input"), str) else None


def _is_sound(row: Mapping[str, Any]) -> bool:
    """A row that has what the rest is made of; any other is judged again, and the last counts."""
    needed = ("value", "raw", "seconds") if row.get("status") == "scored" else ()
    known = row.get("status") in STATUSES and isinstance(row.get("why"), str)
    return known and all(isinstance(row.get(name), (int, float)) for name in needed)


def _is_done(item: Input, done: Mapping[str, Mapping[str, Any]]) -> bool:
    row = done.get(plain_name(item.name))
    return row is not None and row == {"path": plain_name(str(item.path)), **stamp(item.path)}


def plain_name(name: str) -> str:
    """A name as it reads back from a file: half of a character becomes JSON's own escape."""
    return json.loads(json.dumps(name).encode("utf-8", ESCAPED))


def _finish(
    inputs: Sequence[Input], out: Path, judge: Physics, settings: Settings, shown: int, kept: int
) -> list[Reading]:
    """Rows in the order of the inputs, the last one of each; then everything that follows."""
    places: dict[str, tuple[int, int]] = {}
    at = 0
    with (out / ROWS).open("rb") as file:
        for line in file:
            row = _row_of(line)
            if row is not None:
                places[row["input"]] = (at, len(line))
            at += len(line)
    order = [places[plain_name(item.name)] for item in inputs]
    light: list[dict[str, Any]] = []
    with written_whole(out / ROWS) as part:
        with (out / ROWS).open("rb") as file, part.open("wb") as copy:
            for start, size in order:
                file.seek(start)
                line = file.read(size)
                copy.write(line)
                row = json.loads(line)
                light.append({name: row[name] for name in LIGHT if name in row})
        write_table(part, out / TABLE)
    data = digest_of(light)
    readings = readings_of(light, judge.protocol, data)
    write_readings(out / "readings.json", readings)
    _show_worst(inputs, out, judge, settings.limits, light, shown)
    counts = dict.fromkeys(STATUSES, 0)
    for row in light:
        counts[row["status"]] += 1
    config = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "videos": len(inputs),
        **counts,
        "kept_from_before": kept,
        "head": judge.bundle.name,
        "head_sha256": judge.bundle.sha256,
        "encoder": judge.encoder.name,
        "protocol": judge.protocol,
        "limits": settings.limits,
    }
    record = Record("judge", 0, config, protocol=judge.protocol.fingerprint, data=data)
    write_json(out / "record.json", record)
    return readings


def write_table(rows: Path, path: Path) -> None:
    """The rows of a clips.jsonl as Parquet, a batch at a time."""
    with (
        written_whole(path) as part,
        pq.ParquetWriter(part, COLUMNS, compression="zstd") as writer,
        rows.open("rb") as file,
    ):
        batch: list[dict[str, Any]] = []
        for line in file:
            batch.append(_flat(json.loads(line)))
            if len(batch) == BATCH:
                writer.write_table(pa.Table.from_pylist(batch, COLUMNS))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, COLUMNS))


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {name: row.get(name) for name in COLUMNS.names}
    flat["facts"] = json.dumps(row.get("facts") or {})
    return {
        name: escaped(value) if isinstance(value, str) else value for name, value in flat.items()
    }


def _show_worst(
    inputs: Sequence[Input],
    out: Path,
    judge: Physics,
    limits: Limits,
    rows: Sequence[Mapping[str, Any]],
    shown: int,
) -> None:
    """Pictures of the worst window of the worst videos, for the report."""
    for path in (out / MEDIA).glob("*.npz"):
        path.unlink()
    scored = [n for n, row in enumerate(rows) if row["status"] == "scored"]
    worst = sorted(scored, key=lambda n: -rows[n]["raw"])[:shown]
    if not worst:
        return
    wanted = {plain_name(inputs[place].name) for place in worst}
    whole = {row["input"]: row for row in _some_rows(out / ROWS, wanted)}
    worker = Worker()
    try:
        for rank, place in enumerate(worst):
            row = whole[plain_name(inputs[place].name)]
            start, end = row["worst_start"], row["worst_end"]
            if start is None or end is None:
                start, end = 0.0, min(row["seconds"], 3.0)
            pictures = pictures_of(inputs[place], judge, limits, worker, start, end)
            if pictures is None:
                continue
            frames, first, fps = pictures
            keep_window(out, rank, row["input"], frames, fps, first, (start, end))
    finally:
        worker.kill()


def keep_window(
    out: Path,
    rank: int,
    name: str,
    frames: UInt8[np.ndarray, "time height width 3"],
    fps: float,
    first: float,
    window: tuple[float, float],
) -> None:
    """Pictures around a worst window, as the report reads them; `first` is when they begin."""
    path = out / MEDIA / f"{rank:02d}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        frames=frames,
        fps=np.float64(fps),
        input=np.array(escaped(name)),
        start=np.float64(window[0]),
        end=np.float64(window[1]),
        first=np.float64(first),
    )


def pictures_of(
    item: Input, judge: Physics, limits: Limits, worker: Worker, start: float, end: float
) -> tuple[np.ndarray, float, float] | None:
    """Small pictures around a window (time, side, side, 3), when they begin, and their rate.

    None where the file has changed since and gives none.
    """
    canvas = Canvas(SHOWN_SIDE)
    found: list[np.ndarray] = []
    first, until, fps = start, -1.0, judge.protocol.sampling.fps
    try:
        for clip in worker.clips(item.path, judge.protocol.sampling, canvas, limits, item.fps):
            fps = clip.fps
            for time, picture in zip(clip.times.tolist(), clip.shown.tolist(), strict=True):
                inside = start - AROUND <= time < end + AROUND
                if inside and time > until:
                    first = time if not found else first
                    found.append(clip.frames[picture])
                    until = time
            if clip.times[-1] > end + AROUND:
                break
    except (ValueError, OSError):
        return None
    return (np.stack(found), float(first), float(fps)) if found else None


def _some_rows(path: Path, wanted: Iterable[str]) -> Iterator[dict[str, Any]]:
    wanted = set(wanted)
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            if row["input"] in wanted:
                yield row
