"""VideoPhy-2: 1-5 human ratings of physical commonsense of generated videos of 200 actions.

Schema: the card of hf.co/datasets/videophysics/videophy2_test names the columns (read in public
copies); list columns are Python literals. The CSV itself was not at hand. The repository's example
tables (`output_pc.csv`: real, in shared/data) hold AutoEval's scores: kept as labels, never as
truth, so those clips have no violation.

VideoPhy-2 says PC 5 = good. Pairs: two videos of one action, PC differs, the lower PC is worse.
"""

import math
from pathlib import Path
from typing import Any

from cosmolabe.core.corpus import ClipRow, Corpus, CorpusPart, PairRow
from cosmolabe.data.gathering import Gathering, stem_of
from cosmolabe.data.labels import violation_of_likert
from cosmolabe.data.pairing import lower_is_worse, pairs_by_label
from cosmolabe.data.tables import list_of, number_of, text_of

NAME = "videophy2"
SCHEMA = (
    "a table (CSV, Parquet, JSON lines) with caption, video_url, sa, pc, action, "
    "physics_rules_followed, physics_rules_unfollowed, ...; or output_pc.csv, output_sa.csv"
)
LISTS = (
    "physics_rules_followed",
    "physics_rules_unfollowed",
    "physics_rules_cannot_be_determined",
    "human_violated_rules",
)
AUTOEVAL = ("output_pc.csv", "output_sa.csv", "output_rule.csv")
GENERATORS = ("cogvideo", "cosmos", "hunyuan", "ray2", "sora", "videocrafter", "wan")


def read(folder: Path) -> Corpus:
    """Every VideoPhy-2 table of the folder; AutoEval's scores are merged by video."""
    found = Gathering(NAME, folder)
    for table in found.tables(needs=("caption", "pc", "action")):
        split = next((s for s in ("train", "test") if s in table.lower()), "")
        for where, row in found.rows(table):
            try:
                label = _label(row)
            except ValueError as error:
                found.note(where, str(error))
                continue
            _add(found, where, row, label, split)
    _add_autoeval(found)
    return found.corpus(SCHEMA)


def pairs(corpus: Corpus, most: int, seed: int) -> tuple[PairRow, ...]:
    """Two videos of one action whose PC differs; the lower is worse, gap = difference / 4."""
    return pairs_by_label(
        corpus,
        most,
        seed,
        badness=lambda row: lower_is_worse("pc")(row) if row.group else None,
        span=4.0,
        group=lambda row: row.group,
        corresponds="text",
    )


def _label(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of strangers
    label: dict[str, Any] = {}
    for name in ("pc", "sa"):
        value = number_of(row, name, 1, 5)
        if not math.isnan(value):
            label[name] = value
    for name in LISTS:
        try:
            if rules := list_of(row.get(name)):
                label[name] = rules
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    hard = text_of(row, "is_hard").lower()
    if hard in ("true", "1", "false", "0"):
        label["is_hard"] = hard in ("true", "1")
    return label


def _add(found: Gathering, where: str, row: Any, label: dict[str, Any], split: str) -> None:  # noqa: ANN401
    url, path = text_of(row, "video_url"), text_of(row, "videopath", "video_path", "local_path")
    generator = text_of(row, "model_name", "model") or _generator_of(url or path)
    name = stem_of(path or url)
    rating = label.get("pc", math.nan)
    clip = ClipRow(
        id=f"{generator}/{name}" if generator and name else name,
        dataset=NAME,
        url=url if "://" in url else "",
        split=split,
        generator=generator,
        prompt=text_of(row, "caption"),
        group=text_of(row, "action"),
        violation=None if math.isnan(rating) else violation_of_likert(rating),
        label=label,
    )
    found.add(where, clip, path, url, f"{generator}/{name}.mp4" if generator else "")


def _generator_of(named: str) -> str:
    """A folder of the path or URL that bears the name of one of the seven generators."""
    folders = named.lower().split("/")[:-1]
    return next((g for g in GENERATORS if any(f.startswith(g) for f in folders)), "")


def _add_autoeval(found: Gathering) -> None:
    """Scores of the automatic rater, one row a video: no human stands behind them."""
    scores: dict[str, dict[str, Any]] = {}
    seen: dict[str, tuple[str, str, str]] = {}
    for table in found.tables(*AUTOEVAL, needs=("videopath", "score")):
        kind = Path(table).stem.removeprefix("output_")
        for where, row in found.rows(table):
            path = text_of(row, "videopath")
            try:
                score = number_of(row, "score", 0, 5)
            except ValueError as error:
                found.note(where, str(error))
                continue
            seen.setdefault(path, (where, path, text_of(row, "caption")))
            label = scores.setdefault(path, {})
            if kind == "rule":
                label.setdefault("autoeval_rules", {})[text_of(row, "rule")] = score
            else:
                label[f"autoeval_{kind}"] = score
    for where, path, caption in seen.values():
        clip = ClipRow(stem_of(path), NAME, prompt=caption, split="example", label=scores[path])
        found.add(where, clip, path)


CORPUS = CorpusPart(
    NAME,
    "Generated videos of 200 actions with human 1-5 ratings of physical commonsense.",
    read,
    pairs,
    licence="MIT",
    source="hf.co/datasets/videophysics/videophy2_train, videophy2_test",
    weight=3 / 17,
    schema=SCHEMA,
)
