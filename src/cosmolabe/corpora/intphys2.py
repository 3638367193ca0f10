"""IntPhys 2: rendered scenes, each possible and impossible, quality fixed.

Licence: CC-BY-NC with a clause that allows evaluation only; never trained on here.

Schema (public readers of the set): SPLIT/metadata.csv with SceneIndex, file_name (or filename),
type = RUN_Possible | RUN_Impossible, condition, Difficulty, Camera; splits Main (1,012 videos),
Debug (60), HeldOut without labels. The files were not at hand.

Pairs: the possible and the impossible film of one scene and run.
"""

import re
from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering
from cosmolabe.data.pairing import pairs_of_lawful
from cosmolabe.data.tables import said, text_of

NAME = "intphys2"
SCHEMA = "Main/metadata.csv, Debug/metadata.csv with SceneIndex, file_name, type"
TYPE = re.compile(r"(?:(.*)_)?(im)?possible", re.IGNORECASE)


def read(folder: Path) -> Corpus:
    """Every labelled film of every metadata.csv."""
    found = Gathering(NAME, folder)
    for table in found.tables("metadata*.csv", needs=("SceneIndex", "type")):
        home = PurePosixPath(table).parent
        split = home.name or "main"
        for where, row in found.rows(table):
            file = text_of(row, "file_name", "filename")
            kind = TYPE.fullmatch(text_of(row, "type"))
            if kind is None or not file:
                found.note(where, f"type is {said(row.get('type'))}, file {said(file)}")
                continue
            run, impossible = kind[1] or "", bool(kind[2])
            label = {"type": text_of(row, "type")}
            for name in ("condition", "Difficulty", "Camera"):
                if text := text_of(row, name):
                    label[name.lower()] = text
            clip = ClipRow(
                f"{split}/{PurePosixPath(file).stem}",
                NAME,
                split=split,
                group=f"{split}/{text_of(row, 'SceneIndex')}/{run}",
                kind="simulated",
                violation=float(impossible),
                anchor=1 if impossible else 0,
                label=label,
            )
            found.add(where, clip, (home / file).as_posix(), file)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The possible film of a scene and run beats the impossible one."""
    return pairs_of_lawful(corpus, most, seed, group=lambda row: row.group)


CORPUS = CorpusPart(
    NAME,
    "Rendered scenes, each filmed possible and impossible; evaluation only.",
    read,
    pairs,
    licence="CC-BY-NC-4.0, evaluation only",
    source="github.com/facebookresearch/IntPhys2",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
