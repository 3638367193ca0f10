"""One small session of pong, made once; tests that write work in a copy of it."""

import shutil

import pytest

from cosmolabe.arena.budget import Budget
from cosmolabe.arena.session import Agreement, new_session


@pytest.fixture(scope="session")
def small_store(tmp_path_factory):
    from cosmolabe.data.collect import collect

    return collect("pong", tmp_path_factory.mktemp("arena") / "store", 16, max_ticks=120)


@pytest.fixture(scope="session")
def made_sessions(tmp_path_factory, small_store):
    """Folder of a session by base model; made at first use."""
    top, made = tmp_path_factory.mktemp("sessions"), {}

    def session(model="linear", **changes):
        key = (model, *sorted(changes.items()))
        if key not in made:
            budget = Budget(seconds=changes.get("seconds", 600.0), run_seconds=120.0)
            if steps := changes.get("all_steps"):
                budget = Budget(seconds=None, steps=steps, run_seconds=120.0)
            made[key] = new_session(
                top / str(len(made)),
                Agreement("pong", model, budget, windows=16, steps=changes.get("steps")),
                small_store,
            )
        return made[key]

    return session


@pytest.fixture
def new(made_sessions, tmp_path):
    """A session of one's own: `new("linear")` copies the one that was made."""
    count = iter(range(100))

    def copy(model="linear", **changes):
        target = tmp_path / f"session-{next(count)}"
        shutil.copytree(made_sessions(model, **changes), target)
        return target

    return copy
