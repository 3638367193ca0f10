"""Kinetics-700: real footage, the anchor of what is lawful.

Schema (the CVDF mirror's CSVs, as public loaders read them): label, youtube_id, time_start,
time_end, split; videos named ID_START_END.mp4 with six digits each. Videos decay: what is gone is
listed as missing.

Pairs: any two are a tie, both anchored at 0.
"""

from pathlib import Path

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering
from cosmolabe.data.pairing import pairs_tied
from cosmolabe.data.tables import number_of, said, text_of

NAME = "kinetics"
SCHEMA = "CSV with label, youtube_id, time_start, time_end, split; ID_000010_000020.mp4"
LATEST = 10**6 - 1  # seconds; what six digits can say


def read(folder: Path) -> Corpus:
    """Every clip of every table, whether its video is still there or not."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("youtube_id", "time_start", "time_end")):
        for where, row in found.rows(table):
            try:
                start = number_of(row, "time_start", 0, LATEST, whole=True)
                end = number_of(row, "time_end", 0, LATEST, whole=True)
                video = text_of(row, "youtube_id")
                if not video or not end > start or "/" in video:
                    raise ValueError(f"no clip: {said(dict(row))}")
            except ValueError as error:
                found.note(where, str(error))
                continue
            name = f"{video}_{int(start):06d}_{int(end):06d}"
            action = text_of(row, "label")
            clip = ClipRow(
                name,
                NAME,
                url=f"https://www.youtube.com/watch?v={video}",
                split=text_of(row, "split"),
                group=action,
                kind="real",
                violation=0.0,
                anchor=0,
                label={"action": action},
            )
            found.add(where, clip, f"{name}.mp4")
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Any two real clips are equally lawful: ties."""
    return pairs_tied(corpus, most, seed)


CORPUS = CorpusPart(
    NAME,
    "Real footage of 700 actions: ties, anchored as lawful.",
    read,
    pairs,
    licence="CC-BY-4.0 (labels); videos by their owners",
    source="github.com/cvdfoundation/kinetics-dataset",
    use="train",
    schema=SCHEMA,
)
