"""Boxes to try things in. Where a sandbox cannot be had these tests fail; see `sandboxed`."""

import io
import os
import sys

import pytest

from cosmolabe.arena.sandbox import Box, Limits, python_root, run, why_not


def needs(level):
    """Fail where the level does not work here, or skip where COSMOLABE_ALLOW_SKIPS=1 says so."""
    if why := why_not(level):
        if os.environ.get("COSMOLABE_ALLOW_SKIPS") == "1":
            pytest.skip(f"{level}: {why}")
        pytest.fail(f"{level} does not work here ({why}); COSMOLABE_ALLOW_SKIPS=1 skips")


@pytest.fixture(params=["bwrap+cgroup", "bwrap+rlimits"])
def level(request):
    needs(request.param)
    return request.param


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def box(folder):
    return boxed(folder)


def boxed(folder, **limits):
    small = {"wall": 60, "memory": 256 << 20, "processes": 24, "file_bytes": 4 << 20}
    return Box(python_root(), ((folder, "/work"),), Limits(**{**small, "disk": 8 << 20, **limits}))


@pytest.fixture
def make_box(folder):
    return lambda **limits: boxed(folder, **limits)


@pytest.fixture
def said():
    def ask(box, code, level="auto", **options):
        """What a Python program says in the box, and how it ended."""
        log = io.BytesIO()
        python = [sys.executable, "-I", "-S", "-B", "-c", code]
        ended = run(box, python, level=level, log=log, **options)
        return log.getvalue().decode(), ended

    return ask
