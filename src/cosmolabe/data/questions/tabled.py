"""Clips from a plain table of anyone's videos: path, action, character, perhaps session and fps."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.video import Canvas, Input, Sampling, decoded, find_inputs

ACTIONS, CHARACTERS, SESSIONS = ("action", "label"), ("character",), ("session", "episode")
"""Columns of a table, by what they may be called."""
MOST_WORDS = 120  # characters of a label


def table_clips(
    table: Path | str, protocol: ClipProtocol, size: int, workers: int = 1
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    """Each row's clip, or None; with {"what", "why"}, why being empty where there is a clip.

    The clip is the first `length` pictures of the video at 60 / stride pictures a second, on a
    square of `size` with grey bars. `action` and `character` are asked as they are written.

    Raises:
        ValueError: The table itself cannot be read.
    """
    inputs = find_inputs([table])
    fps = GAME_FPS / protocol.stride
    sampling = Sampling("vqa", fps=fps, frames=protocol.length)
    found = decoded(inputs, sampling, Canvas(size), workers=workers)
    for place, (item, clips, why) in enumerate(found):
        words, unfit = _words(item)
        why = why or unfit
        if not why and len(clips[0]) < protocol.length:
            why = (
                f"it shows {len(clips[0])} pictures at {fps:g} a second, a clip has "
                f"{protocol.length}; choose a protocol with a shorter stride"
            )
        told = {"what": item.name, "why": why}
        if why:
            yield None, told
            continue
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", item.path.stem)[:60]
        about = {"source": item.name, "table": Path(table).name, **words, "why": ""}
        yield AskedClip(f"table-{place:06d}-{stem}", clips[0].played, fps, None, about), told


def _words(item: Input) -> tuple[dict[str, str], str]:
    """What the row says of its clip, and what is wrong with that."""
    words = {
        "label": _first(item, ACTIONS),
        "character": _first(item, CHARACTERS),
        "session": _first(item, SESSIONS),
    }
    if not words["label"] and not words["character"]:
        return words, "the row names neither an action nor a character"
    long = [name for name, text in words.items() if len(text) > MOST_WORDS]
    if long:
        return words, f"its {long[0]} is longer than {MOST_WORDS} characters"
    return words, ""


def _first(item: Input, names: tuple[str, ...]) -> str:
    """The first of these columns that says something, blanks folded."""
    texts = (" ".join(str(item.row[name]).split()) for name in names if item.row.get(name))
    return next(texts, "")
