"""Physion: rendered scenes that obey physics, the lawful side of a simulation.

Schema (real examples, in shared/data): metadata.json, a list of {stimulus_name "b'SET/0001'",
controller_name, num_frames, does_target_contact_zone, ...}; videos NNNN_img.mp4. The human tables
of the set say how well people foresee the outcome, which is no violation: they are not read.

Pairs: two scenes of one controller are a tie.
"""

import re
from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering
from cosmolabe.data.pairing import pairs_tied
from cosmolabe.data.tables import said, text_of

NAME = "physion"
SCHEMA = "metadata.json with stimulus_name and controller_name; NNNN_img.mp4"


def read(folder: Path) -> Corpus:
    """Every valid trial of every metadata.json."""
    found = Gathering(NAME, folder)
    for table in found.tables("metadata*.json", needs=("stimulus_name", "controller_name")):
        for where, row in found.rows(table):
            name = re.fullmatch(r"(?:b')?([\w./-]+?)'?", text_of(row, "stimulus_name"))
            if name is None:
                found.note(where, f"stimulus_name is {said(row.get('stimulus_name'))}")
                continue
            if row.get("is_trial_valid") is False:
                found.note(where, "the set itself calls the trial invalid")
                continue
            stem = PurePosixPath(name[1]).name
            clip = ClipRow(
                name[1],
                NAME,
                group=text_of(row, "controller_name"),
                kind="simulated",
                violation=0.0,
                anchor=0,
                label={"contact": row.get("does_target_contact_zone") is True},
            )
            home = PurePosixPath(table).parent
            found.add(where, clip, (home / f"{stem}_img.mp4").as_posix(), f"{stem}_img.mp4")
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Two scenes of one controller are equally lawful: ties."""
    return pairs_tied(corpus, most, seed, group=lambda row: row.group)


CORPUS = CorpusPart(
    NAME,
    "Rendered scenes that obey physics: ties, anchored as lawful.",
    read,
    pairs,
    licence="MIT",
    source="github.com/cogtoolslab/physics-benchmarking-neurips2021",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
