"""Your own labelled videos: a table whose columns are those of `ClipRow`.

`clips.csv`, .jsonl, .json or .parquet with id or path, and what else is known: violation (0 nothing
violated .. 1 blatant), anchor (0 or 1), kind (real, generated, simulated), group, generator,
prompt, split, label, mask. `pairs.*` with first, second, p_first_worse (1, 0 or 0.5), gap,
corresponds states pairs; without it, clips of one group whose violations differ are paired.
`cosmolabe.data.corpus_rows.export_corpus` writes any corpus in this shape.
"""

from pathlib import Path

from cosmolabe.core.corpus import Corpus, CorpusPart, PairRow
from cosmolabe.data.corpus_rows import CLIPS, PAIRS, clip_of, pair_of
from cosmolabe.data.gathering import Gathering
from cosmolabe.data.pairing import pairs_by_label, pairs_stated

NAME = "manifest"
SCHEMA = (
    "clips.{csv,jsonl,json,parquet} with id or path, violation, ...; pairs.* with first, second"
)


def read(folder: Path) -> Corpus:
    """Every clip and every stated pair."""
    found = Gathering(NAME, folder)
    for table in found.tables(f"{CLIPS}.*"):
        for where, row in found.rows(table):
            try:
                clip = clip_of(row)
            except ValueError as error:
                found.note(where, str(error))
                continue
            found.add(where, clip, clip.path, clip.url, "" if clip.path else clip.id)
    for table in found.tables(f"{PAIRS}.*"):
        for where, row in found.rows(table):
            try:
                pair = pair_of(row)
                lost = [name for name in (pair.first, pair.second) if name not in found]
                if lost:
                    raise ValueError(f"no clip {lost}")
                found.pair(where, pair)
            except ValueError as error:
                found.note(where, str(error))
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """The stated pairs; without any, clips of one group whose violations differ."""
    if corpus.stated_pairs:
        return pairs_stated(corpus, most, seed)
    return pairs_by_label(
        corpus,
        most,
        seed,
        badness=lambda row: row.violation,
        span=1.0,
        group=lambda row: row.group,
    )


CORPUS = CorpusPart(
    NAME,
    "Your own labelled videos, by a table of your own.",
    read,
    pairs,
    licence="yours",
    source="your folder",
    schema=SCHEMA,
)
