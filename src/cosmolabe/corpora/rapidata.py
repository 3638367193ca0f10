"""Rapidata: crowds choose between two generations of one picture and text.

Schema: the columns that public readers of hf.co/datasets/Rapidata use: prompt, video1, video2 (or
file_name1, file_name2), model1, model2, weighted_results{1,2}_{Preference,Coherence,Alignment} as
fractions that sum to 1; and, from the card of text-2-video-Rich-Human-Feedback, prompt, video,
likert_score_normalized_physics in 0..1. The Parquet files were not at hand.

Coherence is the question nearest to physics: its winner is the less violating; where the set did
not ask it, Preference. Equal fractions are a tie. A physics rating of 1 = good.
"""

import math
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.pairing import pairs_stated
from cosmolabe.data.tables import number_of, text_of

NAME = "rapidata"
SCHEMA = "prompt, video1, video2, model1, model2, weighted_results1_Coherence, ... (Parquet, CSV)"
QUESTIONS = ("Coherence", "Preference")
PHYSICS = "likert_score_normalized_physics"
IMAGES = ("prompt_asset", "prompt_image", "image", "reference_image")


def read(folder: Path) -> Corpus:
    """Every table of pairs, and the rich feedback's single ratings."""
    found = Gathering(NAME, folder)
    tables = dict.fromkeys(
        table for q in QUESTIONS for table in found.tables(needs=(f"weighted_results1_{q}",))
    )
    for table in tables:
        for where, row in found.rows(table):
            try:
                _pair(found, where, row, table)
            except ValueError as error:
                found.note(where, str(error))
    for table in found.tables(needs=("prompt", "video", PHYSICS)):
        for where, row in found.rows(table):
            try:
                rating = number_of(row, PHYSICS, 0, 1)
            except ValueError as error:
                found.note(where, str(error))
                continue
            video = _named(row, "video") or text_of(row, "filename")
            clip = ClipRow(
                stem_of(video),
                NAME,
                generator="sora",
                prompt=text_of(row, "prompt"),
                violation=None if math.isnan(rating) else 1 - rating,
                label={} if math.isnan(rating) else {"physics": rating},
            )
            found.add(where, clip, text_of(row, "filename"), video)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The pairs the crowds judged."""
    return pairs_stated(corpus, most, seed)


def _pair(found: Gathering, where: str, row: Mapping[str, Any], table: str) -> None:
    shares = (math.nan, math.nan)
    for question in QUESTIONS:
        shares = tuple(number_of(row, f"weighted_results{n}_{question}", 0, 1) for n in (1, 2))
        if not math.isnan(sum(shares)):
            break
    else:
        raise ValueError(f"nobody answered {list(QUESTIONS)}")
    first, second = shares
    ids = [_clip(found, where, row, n) for n in (1, 2)]
    if not all(ids):
        return
    image = any(name in row for name in IMAGES) or "image" in table.lower()
    worse = 0.5 if first == second else float(first < second)
    gap = min(abs(first - second), 1.0)
    shared = "image+text" if image else "text"
    found.pair(where, PairRow(ids[0], ids[1], worse, gap, NAME, shared))


def _clip(found: Gathering, where: str, row: Mapping[str, Any], number: int) -> str:
    """Id of one side's clip; "" where it could not be taken."""
    model = text_of(row, f"model{number}")
    file, video = text_of(row, f"file_name{number}"), _named(row, f"video{number}")
    name = stem_of(file or video)
    inner = PurePosixPath(file).name
    clip = ClipRow(
        f"{model}/{name}" if model and name else name,
        NAME,
        url=next((text for text in (video, file) if "://" in text), ""),
        generator=model,
        prompt=text_of(row, "prompt"),
        group=text_of(row, "prompt"),
    )
    names = (f"{model}/{inner}" if model and inner else "", file, video)
    return clip.id if found.add(where, clip, *names) else ""


def _named(row: Mapping[str, Any], column: str) -> str:
    """A path or URL, plain or in the hub's struct of bytes and path."""
    value = row.get(column)
    return text_of(value, "path") if isinstance(value, dict) else text_of(row, column)


CORPUS = CorpusPart(
    NAME,
    "Crowds' choices between two generations of one picture and text.",
    read,
    pairs,
    licence="Apache-2.0",
    source="hf.co/Rapidata (image-to-video-human-preference-*, text-2-video-*)",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
