"""A grid of sessions over a Ray cluster comes to what one process comes to (extra `ray`)."""

import os
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="pip install 'cosmolabe[ray]'")

from cosmolabe.arena.grid import Entrant, GridPlan, run_grid

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    known = {"env_vars": {"PYTHONPATH": path}}  # workers need the hook's module
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=known
    )
    yield
    ray.shutdown()


def test_sessions_spread_over_workers_are_the_same(tmp_path):
    plan = GridPlan(
        games=("pong", "snake"), models=("pixels",), entrants=(Entrant("null"),), seeds=2,
        hooks={"pixels": "arena.grid_hooks:pixels"},
    )  # fmt: skip
    local = run_grid(tmp_path / "local", plan)
    assert run_grid(tmp_path / "ray", plan, workers=2, engine="ray") == local
    assert {row["status"] for row in local} == {"verified: ok"}
    for path in (tmp_path / "local").glob("sessions/*/verdict.json"):
        there = tmp_path / "ray" / path.relative_to(tmp_path / "local")
        assert path.read_bytes() == there.read_bytes()
