"""TRAVL: real videos against generated ones that break intuitive physics, for training.

Schema NOT VERIFIED: the training files were nowhere at hand. Read is what a person would lay out:
videos under a folder named real or plausible, and under one named implausible, impossible, fake or
generated; or a table with columns video (or video_path) and label of one of these words.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import VIDEOS, Gathering, stem_of
from cosmolabe.data.pairing import pairs_of_real
from cosmolabe.data.tables import said, text_of

NAME = "travl"
SCHEMA = "folders real/ and implausible/, or a table with video and label (not verified)"
REAL = ("real", "plausible", "possible")
GENERATED = ("implausible", "impossible", "fake", "generated", "synthetic")


def read(folder: Path) -> Corpus:
    """The table's rows; the folders' videos where there is no table."""
    found = Gathering(NAME, folder)
    tables = [
        table
        for column in ("video", "video_path")
        for table in found.tables(needs=(column, "label"))
    ]
    for table in tables:
        for where, row in found.rows(table):
            side = _side(text_of(row, "label"))
            if side is None:
                found.note(
                    where, f"label is {said(row.get('label'))}, expected real or implausible"
                )
                continue
            _add(found, where, text_of(row, "video", "video_path"), side)
    if not tables:
        for path, side in _videos(found):
            _add(found, path, path, side)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Every real clip beats every generated one, gap 1."""
    return pairs_of_real(corpus, most, seed)


def _videos(found: Gathering) -> Iterator[tuple[str, bool]]:
    """Videos below a folder of one side that stands beside one of the other."""
    homes: dict[str, set[bool]] = {}
    placed = []
    for path in found.files(*VIDEOS):
        parts = PurePosixPath(path).parts
        for depth in range(len(parts) - 1, 0, -1):
            side = _side(parts[depth - 1])
            if side is not None:
                home = "/".join(parts[: depth - 1])
                homes.setdefault(home, set()).add(side)
                placed.append((path, side, home))
                break
    yield from ((path, side) for path, side, home in placed if len(homes[home]) == 2)


def _side(word: str) -> bool | None:
    """True for real, False for generated, None for neither."""
    word = word.lower().strip().split("_")[0]
    return True if word in REAL else False if word in GENERATED else None


def _add(found: Gathering, where: str, named: str, real: bool) -> None:
    clip = ClipRow(
        id=f"{'real' if real else 'generated'}/{stem_of(named)}" if stem_of(named) else "",
        dataset=NAME,
        split="train",
        generator="" if real else "unknown",
        kind="real" if real else "generated",
        violation=0.0 if real else 1.0,
        anchor=0 if real else 1,
        label={"side": "real" if real else "implausible"},
    )
    found.add(where, clip, named)


CORPUS = CorpusPart(
    NAME,
    "Real videos against generated ones that break intuitive physics.",
    read,
    pairs,
    licence="unknown",
    source="insait-institute.github.io/travl.github.io",
    use="train",
    weight=3 / 17,
    schema=SCHEMA,
)
