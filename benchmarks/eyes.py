"""Frozen eyes: one picture at once or eight, and features from the store or looked at again.

EfficientNet-Lite0 at its own size with untrained weights, which take as long as trained ones. What
is kept is 48 pictures of 1280 features a video; a `put` is on disk when it returns, and its seconds
of processor time leave out the wait for the disk.
"""

import itertools
import tempfile
from collections.abc import Callable, Iterator

import numpy as np
import torch

from benchmarks.timing import Row, versus
from cosmolabe.core.clip import Clip
from cosmolabe.core.encoder import Encoder
from cosmolabe.encoders.efficientnet_lite import load
from cosmolabe.nets.feature_store import FeatureStore

TIMES, WIDTH, EIGHT, LOOKED, KEPT = 48, 1280, 8, 8, 64


def rows() -> Iterator[Row]:
    """Chunks of one against chunks of eight; `get` and `put` against the look they spare."""
    torch.set_num_threads(1)
    eye, eights = load(random=True), load(random=True)
    eights.chunk = EIGHT
    pictures = np.random.default_rng(0).integers(0, 256, (LOOKED, 224, 224, 3), np.uint8)
    name, peers = "pictures seen one at once", {"eight at once": _seeing(eights, pictures)}
    yield from versus(name, "pictures/s", _seeing(eye, pictures), peers, target=1.0, rounds=3)
    with tempfile.TemporaryDirectory() as folder:
        features = np.random.default_rng(0).normal(size=(TIMES, WIDTH)).astype(np.float32)
        with FeatureStore(folder, eye.key, {"fps": 16.0}) as store:
            yield from _kept(store, features, _seeing(eye, pictures))


def _kept(store: FeatureStore, features: np.ndarray, look: Callable[[], int]) -> Iterator[Row]:
    numbers = itertools.count()

    def put() -> int:
        for _ in range(KEPT):
            store.put(f"video{next(numbers)}", features)
        return KEPT * TIMES

    def get() -> int:
        for number in range(KEPT):
            assert store.get(f"video{number}") is not None
        return KEPT * TIMES

    for name, act in (("features put", put), ("features got", get)):
        yield from versus(name, "pictures/s", act, {"looked at": look}, rounds=3)


def _seeing(eye: Encoder, pictures: np.ndarray) -> Callable[[], int]:
    count = len(pictures)
    clip = Clip(pictures, np.arange(count), np.arange(count) / 16.0, 16.0, 16.0)

    def run() -> int:
        eye.encode(clip)
        return count

    return run
