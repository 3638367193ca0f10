"""AIGVE-Bench: generated videos with human 1-5 ratings, physics among nine aspects.

Schema (real toy set, in shared/data): a JSON with data_list of {id, prompt_gt, physics,
technical_quality, dynamic, consistency, overall, model, category, video_path_pd, ...}. A rating of
0 says that the aspect does not apply; physics 5 = good.
"""

import math
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.labels import violation_of_likert
from cosmolabe.data.pairing import lower_is_worse, pairs_by_label
from cosmolabe.data.tables import number_of, text_of

NAME = "aigve"
SCHEMA = "JSON with data_list of {prompt_gt, physics, model, video_path_pd, ...}"
ASPECTS = ("physics", "technical_quality", "dynamic", "consistency", "overall")


def read(folder: Path) -> Corpus:
    """Every rated video of every annotation file."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("physics", "video_path_pd")):
        split = next((s for s in ("train", "test") if s in Path(table).name.lower()), "")
        for where, row in found.rows(table):
            try:
                label: dict[str, Any] = {a: number_of(row, a, 0, 5) for a in ASPECTS}
                rating = label["physics"] or math.nan  # 0: does not apply
                violation = violation_of_likert(rating)
            except ValueError as error:
                found.note(where, str(error))
                continue
            file = text_of(row, "video_path_pd")
            clip = ClipRow(
                stem_of(file),
                NAME,
                split=split,
                generator=text_of(row, "model"),
                prompt=text_of(row, "prompt_gt"),
                group=text_of(row, "category"),
                violation=None if math.isnan(violation) else violation,
                label={name: value for name, value in label.items() if value > 0},
            )
            found.add(where, clip, file)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Any two whose physics differ by 1 or more; the lower is worse, gap = difference / 4."""
    return pairs_by_label(
        corpus,
        most,
        seed,
        badness=lower_is_worse("physics"),
        span=4.0,
        least=1.0,
    )


CORPUS = CorpusPart(
    NAME,
    "Generated videos with human 1-5 ratings of physics among other aspects.",
    read,
    pairs,
    licence="MIT",
    source="github.com/ShaneXiangH/AIGVE_Tool",
    use="evaluate",
    weight=0.0,
    schema=SCHEMA,
)
