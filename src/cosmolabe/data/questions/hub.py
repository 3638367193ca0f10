"""Sets of questions as Hugging Face datasets (extra `datasets`), out and in again.

The folder opens with `datasets.load_from_disk(folder)`: `questions`, a row a question, and `clips`,
a row a clip with its frames as pictures; `questions.clip` names `clips.id`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.core.question import AskedClip
from cosmolabe.core.record import plain, write_json, write_jsonl
from cosmolabe.data.exporting import library, whole_folder
from cosmolabe.data.questions.folder import (
    ARRAYS,
    CLIPS,
    DROPPED,
    RECORD,
    clip_rows,
    keep_clip,
    read_clips,
    read_questions,
    read_record,
    write_questions,
)

PARTS = ("questions", "clips")
TEXTS = (
    "id", "clip", "task", "format", "text", "answer", "truth", "asked", "template",
)  # fmt: skip
MOST_FRAMES = 4096  # of one clip that is brought in


def export_questions(source: Path | str, folder: Path | str) -> int:
    """Write a set as a dataset, its record beside it; gives the number of questions.

    States and commanded actions of the clips go along as lists; every pixel is kept (PNG).
    """
    datasets = library("datasets", "datasets")
    questions, record = read_questions(source), read_record(source)
    rows = [
        {**{name: getattr(each, name) for name in TEXTS}, "labels": list(each.labels),
         "options": list(each.options), "about": json.dumps(plain(each.about))}
        for each in questions
    ]  # fmt: skip
    text, texts = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))
    asked = datasets.Features(
        {**dict.fromkeys(TEXTS, text), "labels": texts, "options": texts, "about": text}
    )
    shown = datasets.Features(
        {
            "id": text,
            "fps": datasets.Value("float64"),
            "frames": datasets.Sequence(datasets.Image()),
            "about": text,
            "arrays": text,
        }
    )
    bars = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        with whole_folder(Path(folder)) as part:
            tables = {
                "questions": datasets.Dataset.from_list(rows, features=asked),
                "clips": datasets.Dataset.from_list(list(_clip_rows(source)), features=shown),
            }
            datasets.DatasetDict(tables).save_to_disk(part)
            del tables
            write_json(part / RECORD, record)
    finally:
        if not bars:
            datasets.enable_progress_bars()
    return len(rows)


def import_questions(source: Path | str, folder: Path | str) -> int:
    """A dataset that `export_questions` wrote, as a set again; gives the number of questions.

    Raises:
        ValueError: The folder is no such dataset, or a row does not fit.
    """
    datasets = library("datasets", "datasets")
    source = Path(source)
    try:
        tables = datasets.load_from_disk(str(source))
        asked, shown = tables["questions"], tables["clips"]
    except (FileNotFoundError, KeyError, TypeError) as error:
        raise ValueError(f"{source} is no dataset with {list(PARTS)} ({error})") from None
    with whole_folder(Path(folder)) as part:
        rows = [keep_clip(part, _clip(row, f"{source}, clip {k}")) for k, row in enumerate(shown)]
        write_jsonl(part / CLIPS, rows)
        clip_rows(part)  # what a stranger's dataset says of its clips
        write_jsonl(part / DROPPED, [])
        try:
            write_jsonl(
                part / "questions.jsonl",
                ({**row, "about": json.loads(row["about"])} for row in asked),
            )
        except (KeyError, ValueError) as error:
            raise ValueError(f"{source}: a question does not fit ({error})") from None
        questions = read_questions(part)
        write_questions(part, questions)
        write_json(part / RECORD, read_record(source))
    return len(questions)


def _clip_rows(source: Path | str) -> Iterator[dict[str, Any]]:
    from PIL import Image

    for clip in read_clips(source):
        arrays = {name: clip.about[name] for name in ARRAYS if name in clip.about}
        if clip.actions is not None:
            arrays["actions"] = clip.actions
        told = {key: value for key, value in clip.about.items() if key not in ARRAYS}
        yield {
            "id": clip.id,
            "fps": clip.fps,
            "frames": [Image.fromarray(frame) for frame in clip.frames],
            "about": json.dumps(plain(told)),
            "arrays": json.dumps(plain(arrays)),
        }


def _clip(row: dict[str, Any], where: str) -> AskedClip:
    try:
        frames = row["frames"]
        if not 0 < len(frames) <= MOST_FRAMES or "/" in row["id"] or row["id"][:1] in ("", "."):
            raise ValueError(f"{len(frames)} frames, id {row['id']!r:.60}")
        arrays = {
            name: np.array(values, np.float32)
            for name, values in json.loads(row["arrays"]).items()
            if name in (*ARRAYS, "actions")
        }
        pictures = np.stack([np.asarray(frame.convert("RGB")) for frame in frames])
        actions = arrays.pop("actions", None)
        about = {**json.loads(row["about"]), **arrays}
        return AskedClip(row["id"], pictures, float(row["fps"]), actions, about)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{where} does not fit ({error})") from None
