"""VideoPhy (the first): does a generated video follow physical commonsense, yes or no, by humans.

Schema: the repository's `examples/train_example.csv` (real, in shared/data: videopath, caption, sa,
pc in 0/1) and the columns that public loaders use of hf.co/datasets/videophysics/
videophy_{train,test}_public (caption, video_url, source, sa/pc or majority_sa/majority_pc,
states_of_matter, complexity); those CSVs were not at hand.

pc 1 = follows physics. Pairs: two videos of one caption of which one follows physics.
"""

import math
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.pairing import lower_is_worse, pairs_by_label
from cosmolabe.data.tables import number_of, text_of

NAME = "videophy"
SCHEMA = (
    "a table with caption, videopath or video_url, and pc (0/1) or majority_pc; "
    "source and states_of_matter where known"
)
OTHERS = ("action", "physics_rules_followed", "joint")
"""Columns of VideoPhy-2, which lies beside it in one repository."""


def read(folder: Path) -> Corpus:
    """Every VideoPhy table of the folder."""
    found = Gathering(NAME, folder)
    tables = dict.fromkeys(
        table
        for column in ("pc", "majority_pc")
        for table in found.tables(needs=("caption", column), lacks=OTHERS)
    )
    for table in tables:
        split = next((s for s in ("train", "test") if s in Path(table).name.lower()), "")
        for where, row in found.rows(table):
            try:
                label = _label(row)
            except ValueError as error:
                found.note(where, str(error))
                continue
            _add(found, where, row, label, split)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Two videos of one caption, of which one follows physics; gap 1."""
    return pairs_by_label(
        corpus,
        most,
        seed,
        badness=lower_is_worse("pc"),
        span=1.0,
        group=lambda row: row.group,
        corresponds="text",
    )


def _label(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of strangers
    label: dict[str, Any] = {}
    for name in ("pc", "sa"):
        majority = number_of(row, f"majority_{name}", 0, 1, whole=True)
        value = number_of(row, name, 0, 1, whole=True) if math.isnan(majority) else majority
        if not math.isnan(value):
            label[name] = value
    for name in ("states_of_matter", "complexity"):
        if text := text_of(row, name):
            label[name] = text
    return label


def _add(found: Gathering, where: str, row: Any, label: dict[str, Any], split: str) -> None:  # noqa: ANN401
    url, path = text_of(row, "video_url"), text_of(row, "videopath", "video_path", "local_path")
    generator, name = text_of(row, "source"), stem_of(path or url)
    clip = ClipRow(
        id=f"{generator}/{name}" if generator and name else name,
        dataset=NAME,
        url=url if "://" in url else "",
        split=split,
        generator=generator,
        prompt=text_of(row, "caption"),
        group=text_of(row, "caption"),
        violation=1 - label["pc"] if "pc" in label else None,
        label=label,
    )
    found.add(where, clip, path, url, f"{generator}/{name}.mp4" if generator else "")


CORPUS = CorpusPart(
    NAME,
    "Generated videos of everyday materials, each judged to follow physics or not by humans.",
    read,
    pairs,
    licence="MIT",
    source="hf.co/datasets/videophysics/videophy_train_public, videophy_test_public",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
