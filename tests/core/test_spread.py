"""Jobs give the same whoever does them, and what goes wrong is told."""

import operator
import os
import sys
from contextlib import closing

import pytest

from cosmolabe.core.spread import spread

JOBS = [(number, 7) for number in range(9)]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_job_is_done_once_and_knows_its_place(workers):
    found = dict(spread(operator.mul, JOBS, workers))
    assert found == {place: 7 * place for place in range(9)}


def test_no_jobs_are_no_work():
    assert list(spread(operator.mul, [], 2)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_is_raised_here(workers):
    finished = spread(operator.floordiv, [(1, 1), (1, 0)], workers)
    with pytest.raises(ZeroDivisionError), closing(finished):
        list(finished)


def test_one_worker_does_a_job_only_when_asked():
    done = []
    with closing(spread(done.append, [(1,), (2,), (3,)])) as finished:
        next(finished)
    assert done == [1]


@pytest.mark.parametrize(
    ("engine", "workers", "told"),
    [
        ("slurm", 1, r"no engine 'slurm'; have \['local', 'ray'\]"),
        ("local", 0, "at least 1; got 0"),
    ],
)
def test_an_unknown_engine_is_refused(engine, workers, told):
    with pytest.raises(ValueError, match=told):
        next(spread(operator.mul, JOBS, workers, engine))


def test_without_ray_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"cosmolabe\[ray\]"):
        next(spread(operator.mul, JOBS, 2, "ray"))


def test_a_worker_that_dies_is_told_in_words():
    finished = spread(os._exit, [(3,), (3,)], 2)
    with pytest.raises(ValueError, match="a worker process died"), closing(finished):
        list(finished)
