"""PAI-Bench (Predict): a real reference against generations from the same picture and text.

Schema (public readers of hf.co/datasets/shi-labs/physical-ai-bench-predict, since renamed
-generation): `cosmos_predict2_bench_full_info.json`, a list of {video_id, prompt or prompt_en};
generations `VIDEO_ID__SEED.mp4`, one folder a model; the real reference `VIDEO_ID.mp4`. The set
publishes prompts and pictures; where its references come from is not verified.

Neither side is anchored (the paper does not say; reference 4.5).
"""

from pathlib import Path, PurePosixPath

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import VIDEOS, Gathering
from cosmolabe.data.pairing import pairs_of_real
from cosmolabe.data.tables import text_of

NAME = "pai_bench"
SCHEMA = "*bench*info*.json with video_id and prompt; VIDEO_ID.mp4 and VIDEO_ID__SEED.mp4"
MOST_PER_REFERENCE = 50  # generations drawn for one reference (reference 4.4)


def read(folder: Path) -> Corpus:
    """Every reference of the table, and every generation the folder holds of one."""
    found = Gathering(NAME, folder)
    prompts: dict[str, tuple[str, str]] = {}
    for table in found.tables("*info*.json", "*info*.jsonl", needs=("video_id",)):
        for where, row in found.rows(table):
            name = text_of(row, "video_id")
            if not name:
                found.note(where, "no video_id")
                continue
            prompt = text_of(row, "prompt_en", "prompt", "caption")
            if name in prompts:
                found.note(where, f"video_id '{name}' stands twice; the first is kept")
                continue
            prompts[name] = (prompt, text_of(row, "category"))
            clip = ClipRow(
                name, NAME, prompt=prompt, group=name, kind="real", label={"side": "reference"}
            )
            found.add(where, clip, f"{name}.mp4")
    for path in found.files(*VIDEOS):
        file = PurePosixPath(path)
        name, mark, seed = file.stem.rpartition("__")
        if mark and name in prompts:
            model = file.parent.name
            clip = ClipRow(
                f"{model}/{file.stem}" if model else file.stem,
                NAME,
                generator=model or "unknown",
                prompt=prompts[name][0],
                group=name,
                label={"side": "generation", "seed": seed},
            )
            found.add(path, clip, path)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """A reference beats up to 50 generations of its picture and text, others with each seed."""
    return pairs_of_real(
        corpus,
        most,
        seed,
        group=lambda row: row.group,
        most_per_real=MOST_PER_REFERENCE,
        corresponds="image+text",
    )


CORPUS = CorpusPart(
    NAME,
    "Real references against generations from the same picture and text.",
    read,
    pairs,
    licence="MIT (code); data unknown",
    source="github.com/SHI-Labs/physical-ai-bench",
    use="train",
    schema=SCHEMA,
)
