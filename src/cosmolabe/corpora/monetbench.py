"""MonetBench: VisionReward's pairs of generations with the better one named.

Schema: the card of hf.co/datasets/THUDM/VisionRewardDB-Video (read in a public copy): splits test
(1,000) and regression (1,795) with internal_id, prompt, standard_answer, video1_path, video2_path;
standard_answer is video1, video2 or tie, as VideoScore2's script compares it. The Parquet files
were not at hand. The train split's single ratings ("physics law" 1..5) are left out: the card does
not say which end is good.
"""

from pathlib import Path

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.pairing import pairs_stated
from cosmolabe.data.tables import said, text_of

NAME = "monetbench"
SCHEMA = "Parquet or JSON with video1_path, video2_path, prompt, standard_answer"
ANSWERS = {"video1": 0.0, "video2": 1.0, "tie": 0.5}
"""P(video 1 is the more violating) where the answer names the better one."""
GAP = 0.5  # of a preference that has no size; our choice


def read(folder: Path) -> Corpus:
    """Every pair of every table."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("video1_path", "video2_path", "standard_answer")):
        split = next((s for s in ("test", "regression", "train") if s in table.lower()), "")
        for where, row in found.rows(table):
            answer = text_of(row, "standard_answer").lower()
            if answer not in ANSWERS:
                found.note(where, f"standard_answer is {said(answer)}, expected {[*ANSWERS]}")
                continue
            prompt, ids = text_of(row, "prompt"), []
            for column in ("video1_path", "video2_path"):
                path = text_of(row, column)
                clip = ClipRow(stem_of(path), NAME, split=split, prompt=prompt, group=prompt)
                ids.append(clip.id if found.add(where, clip, path) else "")
            if all(ids):
                worse = ANSWERS[answer]
                gap = 0.0 if worse == 0.5 else GAP
                found.pair(where, PairRow(ids[0], ids[1], worse, gap, NAME, "text"))
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The pairs of the table whose two videos are there."""
    return pairs_stated(corpus, most, seed)


CORPUS = CorpusPart(
    NAME,
    "VisionReward's pairs of generations of one text with the better one named.",
    read,
    pairs,
    licence="unknown (see the card)",
    source="hf.co/datasets/zai-org/VisionRewardDB-Video (once THUDM)",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
