"""Physics-IQ: 66 real experiments, filmed twice from three sides.

Schema (real, in shared/data): descriptions.csv with scenario (the video's file name, with
take-1 or take-2), description, category, generated_video_name. Videos decoded at other rates carry
the same names in other folders.

Two takes of one experiment from one side are a perfect tie: both real, both lawful.
"""

import re
from pathlib import Path

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.pairing import pairs_tied
from cosmolabe.data.tables import said, text_of

NAME = "physics_iq"
SCHEMA = "descriptions.csv with scenario, description, category"
TAKE = re.compile(r"\d+_(perspective-\w+)_take-(\d)_(.+)")


def read(folder: Path) -> Corpus:
    """Every real film of the descriptions."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("scenario", "description", "category")):
        for where, row in found.rows(table):
            file = text_of(row, "scenario")
            named = TAKE.fullmatch(stem_of(file))
            if named is None:
                found.note(where, f"scenario is {said(file)}, expected NNNN_perspective-X_take-N_…")
                continue
            clip = ClipRow(
                stem_of(file),
                NAME,
                split="test",
                prompt=text_of(row, "description"),
                group=f"{named[3]}/{named[1]}",
                kind="real",
                violation=0.0,
                anchor=0,
                label={"category": text_of(row, "category"), "take": int(named[2])},
            )
            found.add(where, clip, file)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Two takes of one experiment from one side: a tie."""
    return pairs_tied(corpus, most, seed, group=lambda row: row.group, corresponds="scene")


CORPUS = CorpusPart(
    NAME,
    "Real experiments filmed twice: ties between takes.",
    read,
    pairs,
    licence="CC-BY-4.0 (data), Apache-2.0 (code)",
    source="github.com/google-deepmind/physics-IQ-benchmark",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
