"""PhyDetEx's PID set: real videos against generated ones with the violation in words.

Schema: PID_test/{pos,neg}/*.mp4 and anno_file.json, a list of {video_name, anno}, as the
repository's README and scoring script read them (github.com/Zeqing-Wang/PhyDetEx); the files on
hf.co/datasets/NNaptmn/PhyDetExDatasets were not at hand. pos = real. The layout of the train split
(2,588 pairs) is not verified; the same two folders under a folder with "train" in its name are
read as one.
"""

from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import VIDEOS, Gathering
from cosmolabe.data.pairing import pairs_of_real
from cosmolabe.data.tables import text_of

NAME = "phydetex"
SCHEMA = "pos/ and neg/ with videos, anno_file.json with video_name and anno"
SIDES = {"pos": "real", "neg": "generated"}


def read(folder: Path) -> Corpus:
    """Every video of the two folders, and those that only the annotations name."""
    found = Gathering(NAME, folder)
    words: dict[str, tuple[str, str]] = {}
    for table in found.tables("anno_file*.json", needs=("video_name",)):
        for where, row in found.rows(table):
            if name := text_of(row, "video_name"):
                words.setdefault(name, (where, text_of(row, "anno", "annotation")))
            else:
                found.note(where, "no video_name")
    seen = set()
    for path in found.files(*VIDEOS):
        file = PurePosixPath(path)
        side = file.parent.name.lower()
        if side not in SIDES:
            continue
        reason = words.get(file.name, ("", ""))[1] if side == "neg" else ""
        seen |= {file.name} if side == "neg" else set()
        found.add(path, _clip(path, side, reason), path)
    for name, (where, reason) in words.items():
        if name not in seen:
            found.add(where, _clip(f"neg/{name}", "neg", reason), f"neg/{name}")
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Every real clip of a split beats every generated one, gap 1; they share nothing."""
    return pairs_of_real(corpus, most, seed, group=lambda row: row.split)


def _clip(path: str, side: str, reason: str) -> ClipRow:
    split = "train" if "train" in path.lower() else "test"
    real = side == "pos"
    return ClipRow(
        id=f"{split}/{side}/{PurePosixPath(path).stem}",
        dataset=NAME,
        split=split,
        generator="" if real else "unknown",
        kind="real" if real else "generated",
        violation=0.0 if real else 1.0,
        anchor=0 if real else 1,
        label={"side": side, **({"reason": reason} if reason else {})},
    )


CORPUS = CorpusPart(
    NAME,
    "Real videos against generated ones, each violation told in words (PID).",
    read,
    pairs,
    licence="unknown",
    source="github.com/Zeqing-Wang/PhyDetEx; hf.co/datasets/NNaptmn/PhyDetExDatasets",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
