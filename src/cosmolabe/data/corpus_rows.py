"""A corpus as rows anybody can read: `clips` and `pairs` as JSON lines or Parquet.

A folder holds clips.jsonl (or .parquet), pairs.jsonl where the set states pairs, and corpus.json
with the name, what is missing and what was bad. Columns are the fields of `ClipRow` and
`PairRow`; in Parquet a clip's own label is JSON text. The same columns in CSV are read too (corpus
`manifest`).
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from cosmolabe.core.corpus import ClipRow, Corpus, PairRow
from cosmolabe.core.record import plain, read_json, write_json, write_jsonl, written_whole
from cosmolabe.data.tables import literal, number_of, read_rows, said, text_of

SCHEMA = 1
CLIPS, PAIRS, ABOUT = "clips", "pairs", "corpus.json"
KINDS = ("real", "generated", "simulated")
SHARED = ("image+text", "text", "scene", "none")
TEXTS = ("path", "url", "split", "generator", "prompt", "group", "mask")
CLIP_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "dataset", *TEXTS, "kind")),
        ("violation", pa.float64()),
        ("anchor", pa.int8()),
        ("label", pa.string()),
    ]
)
PAIR_COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("first", "second")),
        ("p_first_worse", pa.float64()),
        ("gap", pa.float64()),
        *((name, pa.string()) for name in ("source", "corresponds")),
    ]
)


def export_corpus(
    corpus: Corpus,
    folder: Path | str,
    form: Literal["jsonl", "parquet"] = "jsonl",
    pairs: Iterable[PairRow] | None = None,
) -> Path:
    """Write a corpus to a folder; with `pairs`, these in place of those the set states."""
    folder = Path(folder)
    pairs = corpus.stated_pairs if pairs is None else tuple(pairs)
    if form == "jsonl":
        write_jsonl(folder / f"{CLIPS}.jsonl", corpus.clips)
        write_jsonl(folder / f"{PAIRS}.jsonl", pairs)
    elif form == "parquet":
        clips = [{**asdict(c), "label": json.dumps(plain(c.label))} for c in corpus.clips]
        _write_parquet(folder / f"{CLIPS}.parquet", clips, CLIP_COLUMNS)
        _write_parquet(folder / f"{PAIRS}.parquet", [asdict(p) for p in pairs], PAIR_COLUMNS)
    else:
        raise ValueError(f"no form '{form}'; have ['jsonl', 'parquet']")
    about = {"schema": SCHEMA, "name": corpus.name, "form": form}
    write_json(folder / ABOUT, {**about, "missing": corpus.missing, "bad": corpus.bad})
    return folder


def import_corpus(folder: Path | str) -> Corpus:
    """What `export_corpus` wrote.

    Raises:
        ValueError: A row does not fit; it is named by its place.
    """
    folder = Path(folder)
    about = read_json(folder / ABOUT)
    if not isinstance(about, dict) or about.get("schema") != SCHEMA:
        raise ValueError(f"{folder / ABOUT} is no corpus of schema {SCHEMA}")
    form, missing, bad = about.get("form"), about.get("missing"), about.get("bad")
    if form not in ("jsonl", "parquet") or not _texts(missing) or not _texts(bad):
        raise ValueError(f"{folder / ABOUT}: form, missing and bad do not fit")
    clips = _all(folder / f"{CLIPS}.{form}", clip_of)
    pairs = _all(folder / f"{PAIRS}.{form}", pair_of)
    if len({clip.id for clip in clips}) < len(clips):
        raise ValueError(f"{folder / CLIPS}.{form}: an id stands twice")
    return Corpus(str(about.get("name", "")), clips, tuple(missing), tuple(bad), pairs)


def clip_of(row: Mapping[str, Any]) -> ClipRow:
    """A clip of a row whose columns are the fields of `ClipRow`; all but id or path may lack.

    Raises:
        ValueError: A field holds what it cannot.
    """
    violation, anchor = number_of(row, "violation", 0, 1), number_of(row, "anchor", 0, 1, True)
    kind = text_of(row, "kind") or "generated"
    if kind not in KINDS:
        raise ValueError(f"kind is {said(kind)}, expected one of {[*KINDS]}")
    label = row.get("label")
    if isinstance(label, str):
        label = literal(label) if label.strip() else {}
    if not isinstance(label or {}, dict):
        raise ValueError(f"label is {said(label)}, expected an object")
    texts = {name: text_of(row, name) for name in TEXTS}
    name = text_of(row, "id") or texts["path"] or texts["url"]
    if not name:
        raise ValueError("neither id nor path nor url")
    return ClipRow(
        id=name,
        dataset=text_of(row, "dataset"),
        kind=kind,
        violation=None if math.isnan(violation) else violation,
        anchor=None if math.isnan(anchor) else 1 if anchor else 0,
        label=label or {},
        **texts,
    )


def pair_of(row: Mapping[str, Any]) -> PairRow:
    """A pair of a row whose columns are the fields of `PairRow`.

    Raises:
        ValueError: A field holds what it cannot.
    """
    first, second = text_of(row, "first"), text_of(row, "second")
    worse, gap = number_of(row, "p_first_worse", 0, 1), number_of(row, "gap", 0, 1)
    shared = text_of(row, "corresponds") or "none"
    if not first or not second or math.isnan(worse):
        raise ValueError("a pair has first, second and p_first_worse")
    if shared not in SHARED:
        raise ValueError(f"corresponds is {said(shared)}, expected one of {[*SHARED]}")
    gap = (0.0 if worse == 0.5 else 1.0) if math.isnan(gap) else gap
    return PairRow(first, second, worse, gap, text_of(row, "source"), shared)


def _write_parquet(path: Path, rows: list[dict], schema: pa.Schema) -> None:
    with written_whole(path) as part:
        pq.write_table(pa.Table.from_pylist(rows, schema), part, compression="zstd")


def _all(path: Path, make: Any) -> tuple:  # noqa: ANN401 - clip_of or pair_of
    if not path.is_file():
        raise ValueError(f"no file {path}; was the corpus written to the end?")
    made = []
    for row in read_rows(path, name=str(path)):
        if row.why:
            raise ValueError(f"{row.where}: {row.why}")
        try:
            made.append(make(row.values))
        except ValueError as error:
            raise ValueError(f"{row.where}: {error}") from None
    return tuple(made)


def _texts(value: Any) -> bool:  # noqa: ANN401 - a stranger's JSON
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
