"""Clips from a plain table of anyone's videos: path, action, character, perhaps session and fps."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cosmolabe.core.answers import AnswerSpace, canonical, letter
from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.protocol import GAME_FPS, ClipProtocol
from cosmolabe.data.video import Canvas, Input, Sampling, decoded, find_inputs
from cosmolabe.data.video.inputs import TABLES

ACTIONS, CHARACTERS, SESSIONS = ("action", "label"), ("character",), ("session", "episode")
"""Columns of a table, by what they may be called."""
MOST_WORDS = 120  # characters of a label
LETTERED = re.compile(r"[(\[]?[A-Za-z]{1,2}[)\].:](\s|$)")


def table_clips(
    table: Path | str, protocol: ClipProtocol, size: int, number: int = 0, workers: int = 1
) -> Iterator[tuple[AskedClip | None, dict[str, Any]]]:
    """Each row's clip, or None; with {"what", "why"}, why being empty where there is a clip.

    The clip is the first `length` pictures of the video at 60 / stride pictures a second, on a
    square of `size` with grey bars. `action` and `character` are asked as they are written.
    `number` tells the clips of several tables apart.

    Raises:
        ValueError: The table itself cannot be read.
    """
    inputs = find_inputs([table])
    fps = GAME_FPS / protocol.stride
    shorter = "; vqa/universe-1 takes shorter ones" if protocol.stride > 1 else ""
    sampling = Sampling("vqa", fps=fps, frames=protocol.length)
    found = decoded(inputs, sampling, Canvas(size), workers=workers)
    for place, (item, clips, why) in enumerate(found):
        words, unfit = _words(item)
        why = why or unfit
        if not why and len(clips[0]) < protocol.length:
            why = (
                f"too short: at {fps:g} pictures a second it shows {len(clips[0])}, a clip has "
                f"{protocol.length}" + shorter
            )
        told = {"what": item.name, "why": why}
        if why:
            yield None, told
            continue
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", item.path.stem)[:60]
        about = {"source": item.name, "table": Path(table).name, **words, "why": ""}
        yield (
            AskedClip(f"table-{number:03d}-{place:06d}-{stem}", clips[0].played, fps, None, about),
            told,
        )


def refuse_tables(tables: Sequence[Path | str]) -> None:
    """Before a video is opened: refuse what is no table, and words no reply could tell apart.

    Raises:
        ValueError: Names the table, or the two words.
    """
    for table in tables:
        if not Path(table).is_file():
            raise ValueError(f"no table at {table}")
        if Path(table).suffix.lower() not in TABLES:
            raise ValueError(f"{table} is no table; have {', '.join(TABLES)}")
    inputs = [item for item in find_inputs(tables) if not item.why] if tables else []
    for names in (ACTIONS, CHARACTERS):
        words = sorted({_first(item, names) for item in inputs} - {""})
        if not words:
            continue
        AnswerSpace("open_ended", tuple(words))
        letters = {letter(place).casefold() for place in range(len(words))}
        like = [one for one in words if canonical(one) in letters or LETTERED.match(one)]
        if like:
            raise ValueError(
                f"{names[0]} {like[0]!r} begins like the letter of an option, so no reply could be "
                "told from one; name it otherwise"
            )


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
    """The first of these columns that says something, blanks folded; a number in its own digits."""
    return next((text for name in names if (text := _text(item.row.get(name)))), "")


def _text(value: Any) -> str:  # noqa: ANN401 - whatever a stranger's table holds
    """Words of a cell; none of an empty one, of NaN, and of what is neither text nor a number."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        value = str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    text = " ".join(str(value).split())
    return "" if text.lower() == "nan" else text
