"""What exports share: which episodes, a name for each column, a folder whole or not there."""

import importlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.folder import SPLITS
from cosmolabe.data.packing import columns_of
from cosmolabe.data.store import Store


@contextmanager
def whole_folder(folder: Path) -> Generator[Path]:
    """A folder to fill that takes its name once it is done, so that it is whole or not there."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; choose a new folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; choose a new folder")
    folder = folder.resolve()  # a link, or `.`, is no name that a folder can take
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as aside:
        part = Path(aside) / folder.name
        part.mkdir()
        yield part
        part.replace(folder)


def chosen(
    store: Store, split: str | None = None, limit: int | None = None
) -> Iterator[tuple[str, int]]:
    """(split, number) of the episodes to hand out, split by split; `limit` of each at most."""
    for name in SPLITS if split is None else (split,):
        for number in store.split(name)[:limit].tolist():
            yield name, number


def sizes_of(store: Store, split: str | None, limit: int | None) -> dict[str, int]:
    """Episodes of each split that is not empty, in the order of `chosen`."""
    names = [name for name, _ in chosen(store, split, limit)]
    if not names:
        have = [name for name in SPLITS if len(store.split(name))]
        raise ValueError(
            f"{store.folder} has no episode{f' in {split}' if split else ''}; have {have}"
        )
    return {name: names.count(name) for name in dict.fromkeys(names)}


def library(name: str, extra: str) -> ModuleType:
    """A library that only one extra brings."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ValueError(
            f"this needs the extra `{extra}`; pip install 'cosmolabe[{extra}]' ({error})"
        ) from None


def state_names(manifest: Manifest) -> tuple[str, ...]:
    """`slot.field` of every state column that the manifest uses, slot by slot."""
    names = manifest.profile.state_columns
    slots, columns = np.divmod(columns_of(manifest).states, len(names))
    return tuple(
        f"{manifest.slots[slot].name}.{names[column]}"
        for slot, column in zip(slots.tolist(), columns.tolist(), strict=True)
    )


def global_names(manifest: Manifest) -> tuple[str, ...]:
    """The globals that the manifest uses, in the profile's order."""
    return tuple(name for name in manifest.profile.global_fields if name in manifest.globals)


def action_names(manifest: Manifest) -> tuple[str, ...]:
    """The action fields that the manifest uses, in the profile's order."""
    return tuple(name for name in manifest.profile.action_fields if name in manifest.actions)


def flat_of(
    episode: Episode, manifest: Manifest
) -> tuple[
    Float[np.ndarray, "time state"],
    Float[np.ndarray, "time global"],
    Float[np.ndarray, "time action"],
]:
    """States, globals and actions of the columns named above; motion follows from positions."""
    columns = columns_of(manifest)
    states = episode.states.reshape(len(episode), -1)[:, columns.states]
    return states, episode.globals[:, columns.globals], episode.actions[:, columns.actions]


def episode_of(
    manifest: Manifest,
    states: Float[np.ndarray, "time state"],
    numbers: Float[np.ndarray, "time global"],
    actions: Float[np.ndarray, "time action"],
    terminal: Bool[np.ndarray, " time"],
    truncated: bool,
) -> Episode:
    """The episode that `flat_of` took apart."""
    columns, profile, length = columns_of(manifest), manifest.profile, len(states)
    dense = np.zeros((length, manifest.num_slots * profile.num_state), np.float32)
    dense[:, columns.states] = states
    every = np.zeros((length, len(profile.global_fields)), np.float32)
    every[:, columns.globals] = numbers
    moves = np.zeros((length, len(profile.action_fields)), np.float32)
    moves[:, columns.actions] = actions
    dense = dense.reshape(length, manifest.num_slots, profile.num_state)
    return Episode(
        registry=manifest.registry(),
        states=rebuild_motion(dense, manifest),
        actions=moves,
        globals=every,
        terminal=terminal,
        truncated=truncated,
    )
