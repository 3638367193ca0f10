"""A program in a box: how it is spoken to, and how it ends."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cosmolabe.arena.sandbox import (
    Box,
    Child,
    Limits,
    open_child,
    python_root,
    run,
    start,
    watching,
)


def test_a_program_runs_to_its_end_and_its_words_and_status_come_back(box, level, said):
    words, ended = said(box, "print('hello'); raise SystemExit(7)", level)
    assert words == "hello\n"
    assert (ended.code, ended.killed, ended.enforced.level) == (7, "", level)
    assert ended.enforced.valid
    assert 0 < ended.cpu < ended.wall + 1


def test_a_program_ended_by_a_signal_of_its_own_has_128_and_its_number(box, level, said):
    _, ended = said(box, "import os; os.kill(os.getpid(), 15)", level)
    assert (ended.code, ended.killed) == (143, "")


def gone(*pids):
    """Killed processes take a moment to be reaped by whoever has them now."""
    until = time.monotonic() + start.PATIENCE
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_harness_in_real_time_has_a_box_that_is_not(box, level, said):
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pytest.skip("only root can run in real time")
    try:
        words, ended = said(box, "import os; print(os.sched_getscheduler(0))", level)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    assert (words, ended.code) == (f"{os.SCHED_OTHER}\n", 0)


@pytest.mark.parametrize("policy", [os.SCHED_IDLE, os.SCHED_BATCH])
def test_a_harness_that_lets_others_go_first_has_a_box_that_does(box, level, said, policy):
    """An ordinary user may bring no process out of idle scheduling: such a box did not start."""
    heard = []

    def harness():  # a thread, for it could not come back either
        os.sched_setscheduler(0, policy, os.sched_param(0))
        heard.append(said(box, "import os; print(os.sched_getscheduler(0))", level))

    thread = threading.Thread(target=harness)
    thread.start()
    thread.join()
    assert [(words, ended.code) for words, ended in heard] == [(f"{policy}\n", 0)]


def test_what_the_kernel_refuses_is_told_and_leaves_nothing(box, level, said, monkeypatch):
    hold, bubbles = start._hold, []

    def refusing(*words):
        hold(*words)
        bubbles.append(words[0])
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(start, "_hold", refusing)
    with pytest.raises(ValueError, match=r"did not start: .*Invalid argument"):
        said(box, "print('hello')", level)
    gone(bubbles[0].init_pid)


def test_a_box_given_up_before_it_told_of_its_first_process_leaves_nothing(
    box, level, said, monkeypatch
):
    """That process waits for bubblewrap, and holds the pipes the last words are read from."""
    before, left = set(watching.children(os.getpid())), []

    def deaf(status):
        while not left:
            for pid in set(watching.children(os.getpid())) - before:
                left.extend(watching.children(pid))
        raise ValueError("nothing heard from it. ")

    monkeypatch.setattr(start, "_first_process", deaf)
    began = time.monotonic()
    with pytest.raises(ValueError, match="nothing heard"):
        said(box, "print('hello')", level)
    assert time.monotonic() - began < start.PATIENCE
    gone(*left)


def test_what_it_is_given_to_read_on_stdin_ends(box, level, said):
    words, _ = said(box, "import sys; print(len(sys.stdin.read()))", level, stdin=b"x" * 300_000)
    assert words == "300000\n"


def test_a_program_that_never_reads_its_stdin_ends_all_the_same(box, level, said):
    assert said(box, "", level, stdin=b"x" * 3_000_000)[1].code == 0


def test_a_program_that_is_not_there_says_so(box, level):
    log = io.BytesIO()
    assert run(box, ["/work/nothing"], level=level, log=log).code == 127
    assert b"/work/nothing" in log.getvalue()


def test_what_it_writes_in_its_folder_stays(box, level, said, folder):
    said(box, "open('made', 'w').write('x')", level)
    assert (folder / "made").read_text() == "x"


def test_a_child_is_spoken_to_both_ways_at_once_and_gives_exactly_what_was_asked(box, level):
    data = bytes(range(256)) * 8192
    with open_child(box, ["/bin/cat"], level) as child:
        assert child.exchange(data, len(data), 60) == data
        child.close_stdin()
        assert not child.more_than_asked(30)
        assert child.wait().code == 0


def test_a_child_that_says_too_much_too_little_or_nothing_is_told_apart(box):
    with open_child(box, ["/bin/echo", "four"]) as child:
        assert child.read(4, 30) == b"four"
        assert child.more_than_asked(30)
    with open_child(box, ["/bin/echo", "four"]) as child, pytest.raises(EOFError, match="1 bytes"):
        child.read(6, 30)
    with open_child(box, ["/bin/cat"]) as child, pytest.raises(TimeoutError, match="6 not given"):
        child.read(6, 0.1)
    with open_child(box, ["/bin/true"]) as child, pytest.raises(EOFError):
        child.write(b"x" * (4 << 20), 30)


def test_the_last_words_of_a_child_are_kept_apart_from_its_answers(box):
    with open_child(box, ["/bin/sh", "-c", "echo out; echo err >&2"]) as child:
        child.wait()
        assert child.said == "err\n"


def test_a_log_holds_no_more_than_one_file_may(make_box, folder, tmp_path):
    log = tmp_path / "log.txt"
    ended = run(make_box(log_bytes=1000), ["/bin/sh", "-c", "yes | head -c 9000"], log=log)
    assert ended.code == 0
    assert log.read_bytes().startswith(b"y\n" * 500 + b"\n[cut after 1000 bytes]")
    assert len(log.read_bytes()) < 1100


@pytest.mark.parametrize("make", [lambda log: log.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_log_is_never_written_through_what_a_program_left_in_its_place(box, tmp_path, make):
    log = tmp_path / "log.txt"
    make(log)
    with pytest.raises(ValueError, match=r"log\.txt"):
        run(box, ["/bin/true"], log=log)


def test_a_box_outlives_the_thread_that_opened_it(box):
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_child(box, ["/bin/cat"])))
    thread.start()
    thread.join()
    with opened[0] as child:
        time.sleep(0.2)
        assert child.exchange(b"alive", 5, 30) == b"alive"


HARNESS = """
import sys, time
from cosmolabe.arena.sandbox import Box, open_child, python_root
child = open_child(Box(python_root()), ["/bin/sleep", "98765"], sys.argv[1])
print(child.started.init_pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("pause", [0.0, 0.2])
def test_a_box_dies_with_a_harness_that_is_killed(level, pause):
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, level], stdout=subprocess.PIPE)
    with harness:
        first = int(harness.stdout.readline())
        assert Path(f"/proc/{first}").exists()
        time.sleep(pause)
        harness.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while Path(f"/proc/{first}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not Path(f"/proc/{first}").exists()


def test_no_descriptor_process_or_thread_is_left_behind(box, level):
    run(box, ["/bin/true"], level=level)
    before = (len(os.listdir("/proc/self/fd")), threading.active_count())
    for _ in range(3):
        run(box, ["/bin/true"], level=level, stdin=b"x")
        with open_child(box, ["/bin/cat"], level):
            pass
        with pytest.raises(ValueError, match="nowhere"):
            run(replace(box, cwd="/nowhere"), ["/bin/true"], level=level)
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before


def test_what_cannot_be_is_refused_before_anything_starts(box, tmp_path, folder):
    with pytest.raises(ValueError, match="absolute and plain"):
        Box(((tmp_path, "work/../x"),))
    with pytest.raises(ValueError, match="'none' or 'proxy:PORT'"):
        Box(network="open")
    with pytest.raises(ValueError, match="above 0"):
        Limits(wall=0)
    with pytest.raises(ValueError, match=r"no .*missing to lay at /x"):
        run(Box(((tmp_path / "missing", "/x"),)), ["/bin/true"])
    with pytest.raises(ValueError, match="no sandbox level 'jail'"):
        run(box, ["/bin/true"], level="jail")
    (folder / "run.py").symlink_to("/etc/passwd")
    laid = replace(box, readable=(*python_root(), (Path(__file__), "/work/run.py")))
    with pytest.raises(ValueError, match=r"run\.py is a link"):
        run(laid, ["/bin/true"])


def test_a_read_only_piece_in_a_writable_folder_stays_as_it_is(box, level, said):
    laid = replace(box, readable=(*python_root(), (Path(__file__), "/work/run.py")))
    for code in ("open('run.py','w')", "import os; os.unlink('run.py')"):
        words, ended = said(laid, code, level)
        assert ended.code == 1
        assert "Read-only" in words or "busy" in words
    assert Path(__file__).read_text().startswith('"""A program in a box')


def test_without_a_sandbox_paths_stand_for_what_they_would_be_and_no_record_is_valid(box, folder):
    (folder / "here").write_text("x")
    log = io.BytesIO()
    ended = run(box, ["/bin/cat", "/work/here"], level="unsafe-local", log=log)
    assert log.getvalue() == b"x"
    assert not ended.enforced.valid
    with open_child(replace(box, limits=Limits(wall=0.3)), ["/bin/cat"], "unsafe-local") as child:
        assert isinstance(child, Child)
        assert child.wait().killed == "wall"
