"""A small store of pong, played once for all tests of world models."""

import pytest

from cosmolabe.data.collect import collect
from cosmolabe.data.windows import evaluation_windows, training_batches


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pong")
    return collect("pong", folder, 24, max_ticks=300)


@pytest.fixture(scope="session")
def windows(store):
    """Six windows of 8 + 20 states."""
    episodes, starts, _ = evaluation_windows(store, "train", 28, 6)
    return store.windows(episodes, starts, 28)


@pytest.fixture(scope="session")
def batch_of_windows(store):
    return next(training_batches(store, "train", 14, 16, seed=1))
