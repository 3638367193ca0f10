"""Decoding in another process: the same clips, killed in time, none the worse for a bad file."""

import io
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from barcodes import barcode, film, numbers_on, spoiled

from cosmolabe.data.video import (
    Canvas,
    Input,
    Limits,
    Sampling,
    Worker,
    decoded,
    find_inputs,
    open_clips,
    safe_clips,
)

TEN = Sampling("ten", fps=10.0, frames=400)
SMALL = Canvas(160)


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.kill()


LIMITS = Limits()


def asked(worker, path, limits=LIMITS, sampling=TEN):
    return list(worker.clips(path, sampling, SMALL, limits))


def test_clips_from_the_worker_are_those_from_this_process(tmp_path, worker):
    whole = film(tmp_path / "a.mp4", 40)
    sampling = Sampling("m", fps=10.0, frames=7, window="multi", stride=0.4)
    for path in (whole, spoiled(whole, tmp_path / "b.mp4", 20)):
        here = open_clips(path, sampling, SMALL)
        there = asked(worker, path, sampling=sampling)
        assert len(here) == len(there) > 5
        for one, other in zip(here, there, strict=True):
            assert (one.frames == other.frames).all()
            assert (one.shown == other.shown).all()
            assert (one.times == other.times).all()
            assert (one.fps, one.source_fps, one.facts) == (
                other.fps,
                other.source_fps,
                other.facts,
            )


def test_one_process_serves_many_requests_good_and_bad(tmp_path, worker):
    path = film(tmp_path / "a.mp4", 5)
    (tmp_path / "bad.mp4").write_text("text")
    asked(worker, path)
    number = worker.process.pid
    for _ in range(5):
        with pytest.raises(ValueError, match="is text"):
            asked(worker, tmp_path / "bad.mp4")
        assert numbers_on(asked(worker, path)[0]) == list(range(5))
    assert worker.process.pid == number


def test_what_takes_too_long_is_stopped_and_the_next_file_is_read(tmp_path, worker):
    pictures = np.random.default_rng(0).integers(0, 256, (3, 1200, 1600, 3), dtype=np.uint8)
    slow = film(
        tmp_path / "slow.mkv", pictures=[*pictures] * 20, codec="ffv1", pix="bgr0",
        options={"g": "1"},
    )  # fmt: skip
    quick = film(tmp_path / "a.mp4", 5)
    asked(worker, quick)  # started by now
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"slow\.mkv took more than 0\.2 s to decode"):
        asked(worker, slow, Limits(timeout=0.2))
    assert time.monotonic() - begin < 1.5
    assert worker.process is None
    assert numbers_on(asked(worker, quick)[0]) == list(range(5))


def test_a_process_that_dies_costs_one_file(tmp_path, worker):
    path = film(tmp_path / "a.mp4", 5)
    asked(worker, path)
    os.kill(worker.process.pid, signal.SIGSTOP)
    threading.Timer(0.2, os.kill, (worker.process.pid, signal.SIGKILL)).start()
    with pytest.raises(ValueError, match="took the decoding process down"):
        asked(worker, path)
    assert numbers_on(asked(worker, path)[0]) == list(range(5))


def test_a_caller_who_stops_half_way_leaves_no_rest_for_the_next(tmp_path, worker):
    path = film(tmp_path / "a.mp4", 40)
    clips = worker.clips(path, Sampling("m", fps=10.0, frames=4, window="multi"), SMALL, Limits())
    next(clips)
    clips.close()
    assert numbers_on(asked(worker, path)[0]) == list(range(40))


def test_safe_clips_need_no_guard_in_the_main_script_and_leave_no_process(tmp_path):
    import subprocess

    film(tmp_path / "a.mp4", 5)
    (tmp_path / "main.py").write_text(
        "from cosmolabe.data.video import safe_clips\n"
        "from cosmolabe.data.video import worker\n"
        "print(len(safe_clips('a.mp4')[0].frames), worker._shared[0].process.pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    count, process = done.stdout.split()
    assert count == "5"
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


def test_stdin_is_an_input(tmp_path, monkeypatch):
    path = film(tmp_path / "a.mp4", 8)
    for opened in (open_clips, safe_clips):
        stream = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
        monkeypatch.setattr(sys, "stdin", stream)
        (clip,) = opened("-", TEN, SMALL)
        assert numbers_on(clip) == list(range(8))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with pytest.raises(ValueError, match="stdin brings more"):
        open_clips("-", TEN, SMALL, Limits(bytes=100))


def test_a_batch_with_bad_files_gives_a_row_for_each_in_order(tmp_path):
    for number in range(12):
        film(tmp_path / f"{number}.mp4", pictures=[barcode(number)] * 2)
    (tmp_path / "3.mp4").write_bytes(b"")
    (tmp_path / "7.mp4").write_text("text")
    inputs = [*find_inputs([tmp_path]), Input("gone", tmp_path / "gone.mp4", why="no file")]
    for workers in (1, 2):
        rows = list(decoded(inputs, TEN, SMALL, workers=workers))
        assert [item.name for item, _, _ in rows] == [*(f"{n}.mp4" for n in range(12)), "gone"]
        for number, (_, clips, why) in enumerate(rows):
            assert bool(clips) != bool(why)
            assert bool(why) == (number in (3, 7, 12))
            if clips:
                assert set(numbers_on(clips[0])) == {number}


def test_the_worker_prints_nothing_into_its_answers(tmp_path, worker, monkeypatch):
    """x265 and others write to stdout as they please; an answer must survive it."""
    path = film(tmp_path / "a.mp4", 3)
    asked(worker, path)
    assert os.readlink(f"/proc/{worker.process.pid}/fd/1") == os.readlink(
        f"/proc/{worker.process.pid}/fd/2"
    )
