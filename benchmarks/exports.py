"""Episodes of breakout in other people's forms, against the same arrays written plainly.

Without pictures. Each form is written whole, by its own library; the peer is `numpy.savez` of the
same float32 arrays, for time and for room on disk. LeRobot's way back makes a packed store, so its
peer packs the store that is there.
"""

import importlib
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, versus
from cosmolabe.data.collect import collect
from cosmolabe.data.pack import pack_store
from cosmolabe.data.store import Store

EPISODES, ROUNDS = 32, 3
FORMS = {
    "zarr": "zarr_export.export_zarr",
    "minari": "minari_export.export_minari",
    "lerobot": "lerobot.writing.export_lerobot",
    "datasets": "huggingface.export_datasets",
}
"""By the name that `cosmolabe export --as` knows; `datasets` writes Arrow and Parquet."""


def rows() -> Iterator[Row]:
    """Two rows a form, and one of LeRobot's way back."""
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        store = collect("breakout", folder / "store", EPISODES, split="train")
        for form in FORMS:
            yield from _form(form, store, folder)
        yield from _back(store, folder)


def _form(form: str, store: Store, folder: Path) -> Iterator[Row]:
    module, _, function = FORMS[form].rpartition(".")
    export = getattr(importlib.import_module(f"cosmolabe.data.{module}"), function)
    frames, numbers, plain = int(store.lengths.sum()), itertools.count(), folder / "plain"

    def out() -> int:
        export(store, folder / f"{form}-{next(numbers)}")
        return frames

    def written() -> int:
        plain.mkdir(exist_ok=True)
        for number in range(len(store.lengths)):
            one = store.episode(number)
            np.savez(plain / f"{number}.npz", one.states, one.actions, one.globals)
        return frames

    name = f"breakout as {form}"
    yield from versus(name, "frames/s", out, {"numpy.savez": written}, rounds=ROUNDS)
    size, dense = (_bytes(where) / frames for where in (folder / f"{form}-0", plain))
    yield Row(name, size, dense, "numpy.savez", dense / size, "bytes/frame")


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _back(store: Store, folder: Path) -> Iterator[Row]:
    from cosmolabe.data.lerobot.reading import import_lerobot

    numbers = itertools.count()

    def back() -> int:
        return int(import_lerobot(folder / "lerobot-0", _new()).lengths.sum())

    def packed() -> int:
        return int(pack_store(store, _new()).lengths.sum())

    def _new() -> Path:
        return folder / f"packed-{next(numbers)}"

    peers: dict[str, Callable[[], int]] = {"pack_store": packed}
    yield from versus("breakout back from lerobot", "frames/s", back, peers, rounds=ROUNDS)
