"""VideoGen-RewardBench and VideoAlign's training pairs: which of two generations is better.

Schema: the repository's `datasets/train/example.csv` (real, in shared/data: path_A, path_B, prompt,
VQ, MQ, TA in A | B | same, fps_A, num_frames_A, ...; its rows stand four times over) and, of the
bench, A_model, B_model and Overall beside them (public readers; that CSV was not at hand).

The better side is the less violating. Overall decides, as in the published figure; where it is
missing, MQ (motion quality), the dimension nearest to physics. These are tastes, not violations:
for evaluation.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, parts_of, stem_of
from cosmolabe.data.pairing import pairs_stated
from cosmolabe.data.tables import said, text_of

NAME = "videogen_rewardbench"
SCHEMA = "CSV with path_A, path_B, prompt, VQ, MQ, TA (A, B or same), Overall, A_model, B_model"
ANSWERS = {"a": 0.0, "b": 1.0, "same": 0.5}
"""P(A is the more violating) where the answer names the better side."""
QUESTIONS = ("Overall", "MQ")
GAP = 0.5  # of a preference that has no size; our choice


def read(folder: Path, questions: tuple[str, ...] = QUESTIONS) -> Corpus:
    """Every pair; the first of `questions` that a row answers decides it."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("path_A", "path_B", "MQ")):
        split = "train" if "train" in table.lower() or "example" in table.lower() else "test"
        for where, row in found.rows(table):
            answer = text_of(row, *questions).lower()
            if answer not in ANSWERS:
                found.note(where, f"the answer is {said(answer)}, expected A, B or same")
                continue
            first, second = (_clip(found, where, row, side, split) for side in "AB")
            if first and second:
                worse = ANSWERS[answer]
                gap = 0.0 if worse == 0.5 else GAP
                found.pair(where, PairRow(first, second, worse, gap, NAME, "text"))
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The pairs of the table whose two videos are there."""
    return pairs_stated(corpus, most, seed)


def _clip(found: Gathering, where: str, row: Mapping[str, Any], side: str, split: str) -> str:
    path, model = text_of(row, f"path_{side}"), text_of(row, f"{side}_model")
    try:
        name = "/".join((*parts_of(path)[:-1], stem_of(path)))
    except ValueError as error:
        found.note(where, str(error))
        return ""
    prompt = text_of(row, "prompt")
    clip = ClipRow(name, NAME, split=split, generator=model, prompt=prompt, group=prompt)
    return name if found.add(where, clip, path) else ""


CORPUS = CorpusPart(
    NAME,
    "Pairs of generations of one text with the better one named.",
    read,
    pairs,
    licence="MIT (code and examples)",
    source="github.com/KwaiVGI/VideoAlign; hf.co/datasets/KlingTeam/VideoGen-RewardBench",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
