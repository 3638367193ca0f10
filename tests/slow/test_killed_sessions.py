"""As `tests/arena/test_killed.py`, at twenty points."""

import itertools

from arena.killing import kill_at

from cosmolabe.arena.budget import Budget
from cosmolabe.arena.session import Agreement, new_session
from cosmolabe.data.collect import collect


def test_a_harness_killed_at_twenty_points_goes_on_as_if_it_had_not_been(tmp_path):
    store, count = collect("pong", tmp_path / "store", 16, max_ticks=120), itertools.count()
    budget = Budget(seconds=None, steps=4000, run_seconds=120.0)
    agreement = Agreement("pong", "linear", budget, windows=16, steps=4)
    busy = kill_at(
        lambda: new_session(tmp_path / str(next(count)), agreement, store),
        points=20, runs=3, seed=1,
    )  # fmt: skip
    assert busy >= 10, "most of them while the clock ran"
