"""One thread, passive waiting, and one hypothesis profile for every test."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    deadline=None,  # the first call compiles
    max_examples=30,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def usual_scheduling():
    """No test leaves this process in real time: the machine, and every later test, would tell."""
    yield
    if hasattr(os, "sched_getscheduler"):  # not on macOS
        assert os.sched_getscheduler(0) == os.SCHED_OTHER


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A small store of pong, played once for all tests of models and networks."""
    from cosmolabe.data.collect import collect

    return collect("pong", tmp_path_factory.mktemp("pong"), 24, max_ticks=300)


@pytest.fixture(scope="session")
def windows(store):
    """Six windows of 8 + 20 states."""
    from cosmolabe.data.windows import evaluation_windows

    episodes, starts, _ = evaluation_windows(store, "train", 28, 6)
    return store.windows(episodes, starts, 28)


@pytest.fixture(scope="session")
def batch_of_windows(store):
    from cosmolabe.data.windows import training_batches

    return next(training_batches(store, "train", 14, 16, seed=1))
