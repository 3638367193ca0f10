"""Stores as a Hugging Face dataset (extra `datasets`), with its card.

The folder opens three ways: `datasets.load_from_disk(folder)` maps the Arrow files,
`datasets.load_dataset("parquet", data_dir=folder / "parquet")` reads the Parquet files, and
`datasets.load_dataset(folder)`, or the Hub, follows the card. Rows are those of `data.parquet`, one
a frame; `datasets` writes them, a few at a time, from the Parquet files.
"""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq

from cosmolabe.core.manifest import Manifest
from cosmolabe.core.record import plain
from cosmolabe.data.exporting import library, sizes_of, whole_folder
from cosmolabe.data.parquet import export_parquet
from cosmolabe.data.store import Store

PARQUET = "parquet"
SPLIT_NAMES = {"val": "validation"}
"""What the Hub calls a split, where it differs."""


def export_datasets(
    store: Store,
    folder: Path | str,
    split: str | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """A folder that `datasets` opens, card and all; gives the frames written."""
    datasets = library("datasets", "datasets")
    sizes = sizes_of(store, split, limit)
    with whole_folder(Path(folder)) as part:
        frames = export_parquet(store, part / PARQUET, split, limit)
        found, bars = {}, datasets.are_progress_bars_disabled()
        datasets.disable_progress_bars()
        try:
            with TemporaryDirectory(prefix=".arrow-", dir=part) as cache:
                for done, name in enumerate(sizes):
                    if progress:
                        progress(done, len(sizes))
                    table = datasets.Dataset.from_parquet(
                        str(part / PARQUET / f"{name}.parquet"), cache_dir=cache
                    )
                    table.info.description = _description(store)
                    table.info.license = ""
                    found[SPLIT_NAMES.get(name, name)] = table
                datasets.DatasetDict(found).save_to_disk(part)
                del found, table
        finally:
            if not bars:
                datasets.enable_progress_bars()
        counts = {
            name: pq.read_metadata(part / PARQUET / f"{name}.parquet").num_rows for name in sizes
        }
        (part / "README.md").write_text(card(store, sizes, counts), encoding="utf-8")
    return frames


def card(store: Store, episodes: dict[str, int], rows: dict[str, int]) -> str:
    """The dataset card: front matter for the Hub, then words and names for people."""
    manifest, profile = store.manifest, store.manifest.profile
    total = sum(rows.values())
    front = {
        "pretty_name": f"{manifest.game}, frames and actions as object states",
        "task_categories": ["reinforcement-learning", "robotics"],
        "tags": ["world-models", "games", "cosmolabe"],
        "size_categories": [_size(total)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": SPLIT_NAMES.get(name, name), "path": f"{PARQUET}/{name}.parquet"}
                    for name in episodes
                ],
            }
        ],
    }
    # YAML takes JSON as it is; a value a line keeps it readable.
    head = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items()]
    counts = [f"| {name} | {episodes[name]} | {rows[name]} |" for name in episodes]
    columns = [
        ("episode, t", "which episode, and which state of it, from 0"),
        ("states", f"{manifest.num_slots} slots × {profile.num_state} columns, float32"),
        ("actions", "row t: chosen after seeing state t; zero in an episode's last row"),
        ("globals", f"{len(profile.global_fields)} numbers, float32"),
        (
            "terminated, truncated",
            "whether the rules, or the clock, ended it in this state",
        ),
        ("player", "who played"),
    ]
    return "\n".join(
        [
            "---", *head, "---", "",
            f"# {manifest.game}, version {manifest.version}", "",
            f"{manifest.fps:g} states a second. Written by Cosmolabe from the store "
            f"`{store.fingerprint}`; `{PARQUET}/manifest.json` holds every name.", "",
            "| split | episodes | frames |", "|---|---|---|", *counts, "",
            "| column | holds |", "|---|---|", *(f"| {name} | {what} |" for name, what in columns),
            "",
            f"Slots: {_names(slot.name for slot in manifest.slots)}", "",
            f"Columns of a state: {_names(profile.state_columns)}", "",
            f"Actions: {_names(profile.action_fields)}", "",
            f"Globals: {_names(profile.global_fields)}", "",
        ]
    )  # fmt: skip


def manifest_in(description: str) -> dict[str, Any]:
    """The manifest that a dataset's `info.description` carries."""
    return json.loads(description.splitlines()[-1])["manifest"]


def _description(store: Store) -> str:
    manifest: Manifest = store.manifest
    told = json.dumps({"manifest": plain(manifest), "store": store.fingerprint})
    return f"{manifest.game} version {manifest.version}, a row a frame; its manifest:\n{told}"


def _names(names: Any) -> str:  # noqa: ANN401 - any names
    return ", ".join(f"`{name}`" for name in names)


def _size(rows: int) -> str:
    """The Hub's words for how many rows there are."""
    steps = {10**3: "n<1K", 10**4: "1K<n<10K", 10**5: "10K<n<100K", 10**6: "100K<n<1M"}
    steps |= {10**7: "1M<n<10M", 10**8: "10M<n<100M", 10**9: "100M<n<1B"}
    return next((word for most, word in steps.items() if rows < most), "n>1B")
