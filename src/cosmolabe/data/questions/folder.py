"""A set of clips and questions on disk: three stages, each to be read by itself.

clips.jsonl + clips/     what was cut, a row and a file each
descriptions.jsonl       what each clip shows, in words and labels
questions.jsonl          what is asked of it
dropped.jsonl            what was not taken, and why
record.json              how the set was made, its counts and fingerprints
"""

import io
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.answers import AnswerSpace
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.record import (
    plain,
    read_json,
    read_jsonl,
    require_columns,
    write_jsonl,
    written_whole,
)
from cosmolabe.data.arrays import read_npz, refuse_link
from cosmolabe.data.coding import coded, decoded

CLIPS, DESCRIPTIONS, QUESTIONS = "clips.jsonl", "descriptions.jsonl", "questions.jsonl"
DROPPED, RECORD, FILES = "dropped.jsonl", "record.json", "clips"
CODINGS = ("npz", "mp4")
MOST_BYTES = 1 << 30  # of one clip, unpacked
MOST_FRAMES = 100_000  # of one clip
ARRAYS = ("states", "globals")
"""Of a clip's `about`, what is kept as arrays."""
HELD = {"states": 3, "globals": 2, "actions": 2}
"""What a clip's file may hold besides its frames, and with how many axes; the first is time."""
CLIP_ROW: dict[str, tuple[type, ...]] = {
    "id": (str,), "file": (str,), "numbers": (str,), "fps": (int, float), "frames": (int,),
    "about": (dict,),
}  # fmt: skip
ABOUT: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("label", "character", "session", "game", "source", "theme", "why"), (str,)),
    "characters": (dict,), "swapped_at": (int,),
}  # fmt: skip
"""Of a clip's `about`, what is read again, where it is there."""
QUESTION_ROW: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "clip", "task", "format", "text", "answer"), (str,)),
    **dict.fromkeys(("truth", "asked", "template"), (str,)),
    **dict.fromkeys(("labels", "options"), (list,)),
    "about": (dict,),
}


def keep_clip(folder: Path, clip: AskedClip, coding: str = "npz") -> dict[str, Any]:
    """Write one clip's files; gives its row of clips.jsonl.

    `npz` keeps every pixel; `mp4` is smaller, loses a little, and needs the extra `video`.
    """
    if coding not in CODINGS:
        raise ValueError(f"no coding '{coding}' of clips; have {list(CODINGS)}")
    arrays = {name: clip.about[name] for name in ARRAYS if name in clip.about}
    if clip.actions is not None:
        arrays["actions"] = clip.actions
    if coding == "npz":
        arrays["frames"] = clip.frames
    file = f"{FILES}/{clip.id}.{coding}"
    numbers = f"{FILES}/{clip.id}.npz" if arrays else ""
    if coding == "mp4":
        with written_whole(folder / file) as part:
            part.write_bytes(coded(clip.frames, clip.fps))
    if arrays:
        with written_whole(folder / numbers) as part:
            part.write_bytes(_packed(arrays))
    told = {key: value for key, value in clip.about.items() if key not in ARRAYS}
    held = [name for name in HELD if name in arrays]
    return {
        "id": clip.id, "file": file, "numbers": numbers, "arrays": held, "fps": clip.fps,
        "frames": len(clip.frames), "about": plain(told),
    }  # fmt: skip


def write_questions(folder: Path | str, questions: Iterable[Question]) -> None:
    """questions.jsonl, whole or not at all."""
    write_jsonl(Path(folder) / QUESTIONS, questions)


def read_questions(folder: Path | str) -> list[Question]:
    """The questions of a set, or of a questions.jsonl by itself.

    Raises:
        ValueError: A row does not fit, or no reply could tell its answers apart; says which and
            why.
    """
    path = Path(folder)
    path = path / QUESTIONS if path.is_dir() else path
    known = {f.name for f in fields(Question)}
    made: dict[str, Question] = {}
    sound: set[tuple] = set()
    for where, row in read_jsonl(path):
        require_columns(row, where, QUESTION_ROW)
        if row["id"] in made:
            raise ValueError(f"{where}: question {row['id']!r} stands twice")
        taken: dict[str, Any] = {name: row[name] for name in known}
        for name in ("labels", "options"):
            if not all(isinstance(text, str) for text in row[name]):
                raise ValueError(f"{where}: '{name}' is a list of words; got {row[name]!r:.60}")
            taken[name] = tuple(row[name])
        try:
            made[row["id"]] = question = Question(**taken)
            answers = (question.format, question.labels, question.options)
            _check_question(question, answers in sound)
            sound.add(answers)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return list(made.values())


def _check_question(question: Question, sound: bool) -> None:
    """Refuse, before anybody is asked, what could not be answered; `sound` answers were checked."""
    for name in ("id", "clip", "text"):
        if not getattr(question, name).strip():
            raise ValueError(f"question {question.id!r} has an empty '{name}'")
    if sound:
        return
    if len(set(question.labels)) < len(question.labels):
        raise ValueError(f"question {question.id}: a label stands twice in {question.labels[:20]}")
    AnswerSpace(question.format, question.labels, question.options)


def clip_rows(folder: Path | str) -> list[dict[str, Any]]:
    """The rows of clips.jsonl, checked."""
    rows: dict[str, dict[str, Any]] = {}
    for where, row in read_jsonl(Path(folder) / CLIPS):
        _check_row(row, where)
        if row["id"] in rows:
            raise ValueError(f"{where}: clip {row['id']!r} stands twice")
        rows[row["id"]] = row
    return list(rows.values())


def _check_row(row: dict[str, Any], where: str) -> None:
    require_columns(row, where, CLIP_ROW)
    for name in (row["file"], row["numbers"]):
        path = PurePosixPath(name)
        if name and (path.is_absolute() or ".." in path.parts):
            raise ValueError(f"{where}: {name!r} leaves the set's folder")
    if not row["file"].endswith(CODINGS):
        raise ValueError(f"{where}: a clip's file is one of {list(CODINGS)}; got {row['file']!r}")
    if not 0 < row["fps"] < math.inf or not 0 < row["frames"] <= MOST_FRAMES:
        raise ValueError(
            f"{where}: a clip has 1 to {MOST_FRAMES} frames, at more than 0 a second; got "
            f"{row['frames']} at {row['fps']}"
        )
    arrays = row.setdefault("arrays", [])
    if not isinstance(arrays, list) or not all(one in HELD for one in arrays):
        raise ValueError(f"{where}: 'arrays' names some of {list(HELD)}; got {arrays!r:.60}")
    known = {name: kind for name, kind in ABOUT.items() if row["about"].get(name) is not None}
    require_columns(row["about"], f"{where}, about", known)


def read_clips(folder: Path | str, ids: Iterable[str] | None = None) -> Iterator[AskedClip]:
    """The clips of a set, or those of some ids, one after another, as they were written."""
    folder, wanted = Path(folder), None if ids is None else set(ids)
    for row in clip_rows(folder):
        if wanted is None or row["id"] in wanted:
            yield read_clip(folder, row)


def read_clip(folder: Path, row: Mapping[str, Any], pictures: bool = True) -> AskedClip:
    """The clip of one row of clips.jsonl; without `pictures` its frames are one black pixel each.

    Raises:
        ValueError: Its files are missing or do not fit.
    """
    packed = row["file"].endswith(".npz")
    wanted = [*row["arrays"], *(["frames"] if packed and pictures else [])]
    found: dict[str, np.ndarray] = {}
    if wanted:
        refuse_link(folder / row["numbers"])
        found = read_npz(folder / row["numbers"], wanted, MOST_BYTES)
    if not pictures:
        frames = np.zeros((row["frames"], 1, 1, 3), np.uint8)
    elif packed:
        frames = found.pop("frames")
    else:
        refuse_link(folder / row["file"])
        frames = _decoded(folder / row["file"])
    _check_arrays(folder / row["file"], frames, found, row["frames"])
    actions = found.pop("actions", None)
    return AskedClip(row["id"], frames, float(row["fps"]), actions, {**row["about"], **found})


def _check_arrays(
    path: Path, frames: np.ndarray, others: Mapping[str, np.ndarray], length: int
) -> None:
    """Refuse a clip whose files were changed into something else, or belong to another clip."""
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[-1] != 3:
        raise ValueError(
            f"{path}: frames are uint8 (time, height, width, 3); got {frames.dtype} {frames.shape}"
        )
    if len(frames) != length:
        raise ValueError(f"{path}: it has {len(frames)} frames, its row says {length}")
    for name, array in others.items():
        axes = HELD[name]
        if array.ndim != axes or array.dtype.kind != "f" or len(array) != length:
            raise ValueError(
                f"{path}: '{name}' are floats with {axes} axes, {length} rows; got "
                f"{array.dtype} {array.shape}"
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{path}: '{name}' holds NaN or infinity")


def read_record(folder: Path | str) -> dict[str, Any]:
    """How the set was made."""
    found = read_json(Path(folder) / RECORD)
    if not isinstance(found, dict) or found.get("schema") != 1:
        raise ValueError(f"{Path(folder) / RECORD} is no record of a set of questions, schema 1")
    return found


def _decoded(path: Path) -> UInt8[np.ndarray, "time height width 3"]:
    try:
        return decoded(path.read_bytes())
    except Exception as error:  # a stranger's bytes can make the decoder stumble in any way
        raise ValueError(f"{path} cannot be decoded ({error}); build the set again") from None


def _packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Npz, its bytes the same whenever it is written."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in sorted(arrays):
            inner = io.BytesIO()
            np.save(inner, np.ascontiguousarray(arrays[name]))
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, inner.getvalue())
    return file.getvalue()
