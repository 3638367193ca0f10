"""ImpossibleVideos (IPV-Bench): real videos against generated ones that no camera could take.

Schema (real files, github.com/showlab/Impossible-Videos): `judgement_answer.json`
{"0": {"video_name", "answer": "yes" | "no"}}, yes = generated; keys have gaps.
`video2taxonomy_label.json` {name: {"taxonomy_label_list": ["physical laws", ...],
"spatial_temporal_label": "spatial" | "temporal"}}.

Caution: the question is "generated?", not "physics violated?". A clip whose taxonomy says spatial
(a still oddity), or social, geographical or biological laws alone, shows no violation of motion:
it keeps its label but gets no violation, no anchor and no pair. `pairs(..., every=True)` is the
paper's rule, all real x all generated.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.pairing import pairs_of_real
from cosmolabe.data.tables import said, text_of

NAME = "impossible_videos"
SCHEMA = "judgement_answer.json, video2taxonomy_label.json"
GENERATORS = ("hailuo", "hunyuan", "kling", "luma", "mochi", "sora")


def read(folder: Path) -> Corpus:
    """The judgement task's videos, with the taxonomy where it is there."""
    found = Gathering(NAME, folder)
    taxonomy = {
        text_of(row, ""): _taxonomy(row)
        for table in found.tables("video2taxonomy_label.json")
        for _, row in found.rows(table)
    }
    for table in found.tables("judgement_answer.json", needs=("video_name", "answer")):
        for where, row in found.rows(table):
            answer, name = text_of(row, "answer").lower(), text_of(row, "video_name")
            if answer not in ("yes", "no"):
                found.note(where, f"answer is {said(row.get('answer'))}, expected yes or no")
                continue
            found.add(where, _clip(name, answer == "yes", taxonomy.get(name, {})), name)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int, every: bool = False) -> tuple[PairRow, ...]:
    """Real beats generated, gap 1; only those that violate motion, unless `every`."""
    if not every:
        kept = tuple(clip for clip in corpus.clips if clip.violation is not None)
        corpus = replace(corpus, clips=kept)
    return pairs_of_real(corpus, most, seed)


def _taxonomy(row: Mapping[str, Any]) -> dict[str, Any]:
    laws = row.get("taxonomy_label_list")
    laws = [law for law in laws if isinstance(law, str)] if isinstance(laws, list) else []
    return {"laws": laws, "when": text_of(row, "spatial_temporal_label").lower()}


def _clip(name: str, generated: bool, taxonomy: dict[str, Any]) -> ClipRow:
    label = {"answer": "yes" if generated else "no", **taxonomy}
    if not generated:
        return ClipRow(stem_of(name), NAME, kind="real", violation=0.0, anchor=0, label=label)
    moving = taxonomy.get("when", "temporal") == "temporal"
    physical = "physical laws" in taxonomy.get("laws", ["physical laws"])
    violates = moving and physical
    return ClipRow(
        stem_of(name),
        NAME,
        generator=next((g for g in GENERATORS if name.startswith(g)), "unknown"),
        violation=1.0 if violates else None,
        anchor=1 if violates else None,
        label=label,
    )


CORPUS = CorpusPart(
    NAME,
    "Real videos against generated ones that break a law of motion.",
    read,
    pairs,
    licence="unknown (see the card)",
    source="github.com/showlab/Impossible-Videos; videos: hf.co/ShowLab",
    schema=SCHEMA,
)
