"""ImplausiBench: 150 real clips, each with a generated twin of the same first frame.

Schema: the card of hf.co/datasets/INSAIT-Institute/ImplausiBench (read in a public copy): entries
with implausible_video, real_video, question, options, real_answer, implausible_answer; videos in
ImplausiBench/{real,implausible}/ID_{real,implausible}.mp4. Without the table the folders are read.
The files themselves were not at hand.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import VIDEOS, Gathering, stem_of
from cosmolabe.data.pairing import pairs_of_real
from cosmolabe.data.tables import said, text_of

NAME = "implausibench"
SCHEMA = "entries with real_video, implausible_video, options, answers; or real/ and implausible/"
SIDES = ("real", "implausible")


def read(folder: Path) -> Corpus:
    """Every scene of the table, or of the two folders where there is no table."""
    found = Gathering(NAME, folder)
    tables = list(found.tables(needs=("real_video", "implausible_video")))
    for where, side, named, label in (
        *(entry for table in tables for entry in _entries(found, table)),
        *(_videos(found) if not tables else ()),
    ):
        stem = stem_of(named)
        clip = ClipRow(
            stem,
            NAME,
            split="test",
            generator="" if side == "real" else "unknown",
            group=stem.removesuffix(f"_{side}"),
            kind="real" if side == "real" else "generated",
            violation=0.0 if side == "real" else 1.0,
            anchor=0 if side == "real" else 1,
            label=label,
        )
        found.add(where, clip, named)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The real clip of a scene beats its twin, gap 1."""
    return pairs_of_real(corpus, most, seed, group=lambda row: row.group, corresponds="image+text")


def _entries(found: Gathering, table: str) -> Iterator[tuple[str, str, str, dict]]:
    for where, row in found.rows(table):
        options = row.get("options")
        for side in SIDES:
            letter = text_of(row, f"{side}_answer")
            label: dict[str, str] = {"side": side, "answer": letter}
            reason = options.get(letter) if isinstance(options, dict) else None
            if isinstance(reason, str):
                label["reason"] = reason
            named = text_of(row, f"{side}_video")
            if not named:
                found.note(where, f"no {side}_video in {said(row)}")
                continue
            yield where, side, named, label


def _videos(found: Gathering) -> Iterator[tuple[str, str, str, dict]]:
    for path in found.files(*VIDEOS):
        side = PurePosixPath(path).parent.name.lower()
        if side in SIDES and stem_of(path).endswith(f"_{side}"):
            yield path, side, path, {"side": side}


CORPUS = CorpusPart(
    NAME,
    "Real clips, each with a generated twin of the same first frame that breaks physics.",
    read,
    pairs,
    licence="MIT (card)",
    source="hf.co/datasets/INSAIT-Institute/ImplausiBench",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
