"""Which windows are judged and which are trained on, chosen by seed alone."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from cosmolabe.core.episode import Windows
from cosmolabe.core.seeds import generator
from cosmolabe.data.store import Store


def evaluation_windows(
    store: Store,
    split: str,
    length: int,
    num_episodes: int = 256,
    per_episode: int = 1,
    seed: int = 0,
) -> tuple[
    Int64[np.ndarray, " window"], Int64[np.ndarray, " window"], Int64[np.ndarray, " skipped"]
]:
    """Episodes and starts of `per_episode` windows from each of `num_episodes` drawn episodes.

    Also the drawn episodes that are shorter than a window: they are skipped, to be counted. A
    start depends on the seed, the split and the episode's place in it, so a longer list begins
    like a shorter one. Windows of one episode may overlap.
    """
    if per_episode < 1 or num_episodes < 1 or length < 1:
        raise ValueError(
            f"num_episodes, per_episode and length must be at least 1; got {num_episodes}, "
            f"{per_episode}, {length}"
        )
    members = _members(store, split)
    order = generator("evaluation", seed, split).permutation(len(members))[:num_episodes]
    episodes, starts, skipped = [], [], []
    for place in order:
        number = int(members[place])
        room = int(store.lengths[number]) - length + 1
        if room < 1:
            skipped.append(number)
            continue
        draw = generator("evaluation", seed, split, int(place))
        episodes += [number] * per_episode
        starts += draw.integers(room, size=per_episode).tolist()
    return (
        np.array(episodes, np.int64),
        np.array(starts, np.int64),
        np.array(skipped, np.int64),
    )


def training_batches(
    store: Store, split: str, length: int, batch_size: int, seed: int, start: int = 0
) -> Iterator[Windows]:
    """Endless batches; every window of the split is as likely as any other.

    Batch k depends on (seed, k) alone, so training that stopped after k batches goes on with
    `start=k` as if it had not.
    """
    members = _members(store, split)
    room = np.maximum(store.lengths[members] - length + 1, 0)
    ends = np.cumsum(room)
    if batch_size < 1 or not len(ends) or ends[-1] == 0:
        longest = int(store.lengths[members].max(initial=0))
        raise ValueError(
            f"split {split} has no window of {length} states (its longest episode has {longest}), "
            f"or batch_size {batch_size} is below 1"
        )
    batch = start
    while True:
        draws = generator("batch", seed, batch).integers(ends[-1], size=batch_size)
        places = np.searchsorted(ends, draws, side="right")
        starts = draws - (ends[places] - room[places])
        yield store.windows(members[places], starts.astype(np.int64), length)
        batch += 1


def _members(store: Store, split: str) -> np.ndarray:
    members = store.split(split)
    if not len(members):
        raise ValueError(
            f"the store at {store.folder} has no episodes in split {split}; collect some with "
            f"--split {split}, or choose another split"
        )
    return members
