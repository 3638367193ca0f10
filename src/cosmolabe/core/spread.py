"""Spreads jobs: one after another here, over processes of this machine, or over a Ray cluster.

A job is a function of ours and plain values of ours; its result depends on them alone, so it does
not matter who does it, in which order, or how often. What a stranger made never crosses: files are
named, not sent.

Ray (extra `ray`) starts a cluster of its own on this machine, with `workers` processors, or joins
the one that the environment variable RAY_ADDRESS names (`auto`, or `host:port`). A worker that dies
takes its job with it and no other: the job is given to somebody else, RETRIES times.
"""

import importlib
import multiprocessing
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from types import ModuleType
from typing import Any, TypeVar

ENGINES = ("local", "ray")
RETRIES = 3
HERE = "local"  # what Ray calls a cluster of its own

Result = TypeVar("Result")


def spread(
    work: Callable[..., Result],
    jobs: Sequence[tuple],
    workers: int = 1,
    engine: str = "local",
) -> Generator[tuple[int, Result]]:
    """(place, result) of every job as it is finished; the first error ends all.

    Close the generator (`contextlib.closing`) to call off what is not finished.
    """
    check_engine(engine, workers)
    if engine == "ray":
        yield from _over_ray(work, jobs, workers)
    elif workers == 1 or len(jobs) < 2:
        yield from ((place, work(*job)) for place, job in enumerate(jobs))
    else:
        yield from _over_processes(work, jobs, workers)


def check_engine(engine: str, workers: int) -> None:
    """Refuse what `spread` would, before anything is begun."""
    if engine not in ENGINES:
        raise ValueError(f"no engine '{engine}'; have {list(ENGINES)}")
    if workers < 1:
        raise ValueError(f"workers must be at least 1; got {workers}")
    if engine == "ray":
        _ray()


def _over_processes(
    work: Callable[..., Result], jobs: Sequence[tuple], workers: int
) -> Generator[tuple[int, Result]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context) as pool:
        running = {pool.submit(work, *job): place for place, job in enumerate(jobs)}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BrokenExecutor:  # killed, or out of memory: it cannot say
            raise ValueError(
                "a worker process died at its job; is there memory enough for so many? Run the "
                "same command again, with fewer --workers"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _over_ray(
    work: Callable[..., Result], jobs: Sequence[tuple], workers: int
) -> Generator[tuple[int, Result]]:
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _join(ray, workers)
    running: dict[Any, int] = {}
    try:
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(work)
        running |= {task.remote(*job): place for place, job in enumerate(jobs)}
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            place = running.pop(done[0])
            yield place, _result(ray, done[0])
    finally:
        for left in running:
            ray.cancel(left, force=True)
        if ours:
            ray.shutdown()


def _result(ray: ModuleType, reference: Any) -> Any:  # noqa: ANN401 - a job's
    """What a job gave; what it raised is raised here as it was."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise ValueError(
            f"Ray's workers died {RETRIES + 1} times at the same job ({type(error).__name__}); is "
            f"there memory enough? What is done is kept: the same command goes on where it stopped"
        ) from None


def _join(ray: ModuleType, workers: int) -> None:
    address = os.environ.get("RAY_ADDRESS") or HERE
    size = {"num_cpus": workers, "include_dashboard": False} if address == HERE else {}
    ray.init(address=address, log_to_driver=False, logging_level="warning", **size)


def _ray() -> ModuleType:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told what is measured here
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # jobs of ours need no GPU
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise ValueError(
            "--engine ray needs Ray; install it with `pip install 'cosmolabe[ray]'`"
        ) from None
