"""A run folder as the report reads it: records and nothing else."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.reading import Reading
from cosmolabe.core.record import read_json, read_jsonl, read_readings
from cosmolabe.data.arrays import read_npz

LARGEST_MEDIA = 512 * 2**20  # bytes once unpacked; a stranger's archive may claim any size
MOST_STEPS = 1_000_000  # ahead, of a curve
SMALLEST_SIDE = 8  # pixels

Row = dict[str, Any]


@dataclass(frozen=True)
class Clip:
    """True and imagined frames of the same moments."""

    name: str
    true: UInt8[np.ndarray, "time height width 3"]
    imagined: UInt8[np.ndarray, "time height width 3"]
    fps: float
    caption: str


@dataclass(frozen=True)
class Window:
    """Pictures of the worst window of a video, with a little around it."""

    input: str
    frames: UInt8[np.ndarray, "time height width 3"]
    fps: float
    first: float
    """Seconds into the video of the first picture."""
    start: float
    """Seconds; of the worst window."""
    end: float


@dataclass(frozen=True)
class Run:
    """Everything a run left behind."""

    folder: Path
    readings: list[Reading]
    record: Row
    windows: list[Row] = field(default_factory=list)
    """One row per judged window, as in clips.jsonl."""
    curves: list[Row] = field(default_factory=list)
    kinds: list[Row] = field(default_factory=list)
    scenarios: list[Row] = field(default_factory=list)
    """One row per rule of each scenario."""
    robust: list[Row] = field(default_factory=list)
    """One row per robustness protocol."""
    planning: list[Row] = field(default_factory=list)
    """One row per model that was planned with."""
    clips: list[Clip] = field(default_factory=list)
    videos: list[Row] = field(default_factory=list)
    """One row per video that the physics judge was given, as in clips.jsonl or videos.jsonl."""
    worst: list[Window] = field(default_factory=list)
    """The worst windows of the most violating videos, in that order."""
    links: list[Row] = field(default_factory=list)
    """One row per model whose drawn rollouts were judged beside their true state error."""
    asked: list[Row] = field(default_factory=list)
    """One row per film that the vqa judge was given, as in clips.jsonl or vqa.jsonl."""
    vqa: Row = field(default_factory=dict)
    """The vqa judge and how the judges agree, as in vqa.json."""
    failures: list[Clip] = field(default_factory=list)
    """Clips in which what was commanded was not seen, the clearest first."""

    @property
    def skipped(self) -> list[Row]:
        """Windows that were skipped or invalid, in file order."""
        return [row for row in self.windows if row.get("status") != "ok"]


def read_run(folder: Path) -> Run:
    """Read a run folder; readings.json and record.json must be there, the rest may be missing."""
    if not folder.is_dir():
        raise ValueError(f"no run folder {folder}; `cosmolabe judge --out FOLDER` makes one")
    record = read_json(folder / "record.json")
    if not isinstance(record, dict):
        raise ValueError(f"{folder / 'record.json'}: expected one record, got a list or a value")
    if not isinstance(record.setdefault("notes", []), list):
        raise ValueError(f"{folder / 'record.json'}: notes are a list of texts")
    rows = _lines(folder / "clips.jsonl")
    return Run(
        folder=folder,
        readings=read_readings(folder / "readings.json"),
        record=record,
        windows=[row for row in rows if "input" not in row],
        curves=_rows(folder / "curves.json"),
        kinds=_rows(folder / "kinds.json"),
        scenarios=_rows(folder / "scenarios.json"),
        robust=_rows(folder / "robust.json"),
        planning=_rows(folder / "planning.json"),
        clips=[_clip(path) for path in sorted((folder / "media").glob("*.npz"))],
        videos=[row for row in rows if "input" in row and "pieces" not in row]
        + _lines(folder / "videos.jsonl"),
        worst=[_window(path) for path in sorted((folder / "media" / "physics").glob("*.npz"))],
        links=_links(folder / "imagined.json"),
        asked=[row for row in rows if "pieces" in row] + _lines(folder / "vqa.jsonl"),
        vqa=_tree(folder / "vqa.json"),
        failures=[_clip(path) for path in sorted((folder / "media" / "vqa").glob("*.npz"))],
    )


def number(value: Any) -> float:  # noqa: ANN401 - whatever a record holds
    """The value as a float; null, text and anything else that is no number is NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    return float(value)


def text(value: Any) -> str:  # noqa: ANN401 - whatever a record holds
    """The value where it is text; empty for anything else."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:  # noqa: ANN401 - whatever a record holds
    """The value where it is a whole number of 64 bits; None for anything else."""
    real = number(value)
    return int(real) if math.isfinite(real) and real == int(real) and abs(real) < 1 << 62 else None


def _lines(path: Path) -> list[Row]:
    return [row for _, row in read_jsonl(path)] if path.exists() else []


def _tree(path: Path) -> Row:
    found = read_json(path) if path.exists() else {}
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected one record, got a list or a value")
    return found


def _links(path: Path) -> list[Row]:
    if not path.exists():
        return []
    found = read_json(path)
    links = found.get("links") if isinstance(found, dict) else None
    if not isinstance(links, list) or not all(isinstance(row, dict) for row in links):
        raise ValueError(f"{path}: expected `links`, a list of rows")
    return links


def _rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path}: expected a list of rows")
    for index, row in enumerate(rows):
        steps = whole(row.get("horizon"))
        if steps is None or not 0 <= steps <= MOST_STEPS:
            raise ValueError(
                f"{path}, row {index}: horizon counts steps; got {str(row.get('horizon'))[:60]}"
            )
    return rows


def _clip(path: Path) -> Clip:
    data = read_npz(path, ("true", "imagined", "fps", "caption"), LARGEST_MEDIA)
    if data["fps"].shape or data["fps"].dtype.kind not in "fiu" or data["caption"].shape:
        raise ValueError(f"{path}: fps must be one number and caption one text")
    clip = Clip(
        path.stem,
        _frames(path, "true", data["true"]),
        _frames(path, "imagined", data["imagined"]),
        float(data["fps"]),
        str(data["caption"]),
    )
    if clip.true.shape != clip.imagined.shape:
        raise ValueError(
            f"{path}: true frames {clip.true.shape} and imagined {clip.imagined.shape} differ"
        )
    if not (math.isfinite(clip.fps) and clip.fps > 0):
        raise ValueError(f"{path}: fps must be positive; got {clip.fps}")
    return clip


def _window(path: Path) -> Window:
    numbers = ("fps", "first", "start", "end")
    data = read_npz(path, ("frames", "input", *numbers), LARGEST_MEDIA)
    kinds = {name: data[name].dtype.kind for name in numbers}
    if any(data[name].shape for name in (*numbers, "input")) or set(kinds.values()) - set("fiu"):
        raise ValueError(f"{path}: {', '.join(numbers)} must be one number each, input one text")
    window = Window(
        str(data["input"]),
        _frames(path, "frames", data["frames"]),
        *(float(data[name]) for name in numbers),
    )
    sound = all(math.isfinite(getattr(window, name)) for name in numbers)
    if not sound or not window.fps > 0:
        raise ValueError(f"{path}: fps must be positive and all times finite")
    return window


def _frames(path: Path, name: str, frames: np.ndarray) -> np.ndarray:
    fits = frames.ndim == 4 and frames.shape[-1] == 3 and frames.dtype == np.uint8
    if not fits or len(frames) == 0 or min(frames.shape[1:3]) < SMALLEST_SIDE:
        raise ValueError(
            f"{path}: '{name}' must be uint8 (time, height, width, 3); got {frames.dtype} "
            f"{frames.shape}"
        )
    return frames
