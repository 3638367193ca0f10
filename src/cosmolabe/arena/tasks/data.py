"""The data of a task: episodes of train and val as they were seen, and nothing of how they came.

Neither the salt nor the seeds, players or looks of the store go along: from those, and the public
rules, episodes could be played again.
"""

from pathlib import Path

from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.store import Store

SPLITS = ("train", "val")


def write_data(store: Store, folder: Path) -> Store:
    """A packed store of the splits that a session may see, equal to `store` number for number."""
    writer = PackedWriter(folder, store.manifest)
    for split in SPLITS:
        numbers = store.split(split)
        if not len(numbers):
            raise ValueError(f"{store.folder} has no episodes in split {split}; collect some")
        for number in numbers:
            writer.add(store.episode(int(number)), split, player="unknown")
    return writer.finish()
