"""What a killed harness left is taken away by the next; what another one holds, or owns, is not."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from cosmolabe.arena.sandbox import scratch, scratch_folder, sweep

HARNESS = """
import os, sys, time
from cosmolabe.arena.sandbox import scratch_folder
from cosmolabe.arena.sandbox.relay import Relay
relay = Relay(1)
with scratch_folder("work") as work, scratch_folder("val") as val:
    (work / "deep").mkdir()
    (work / "deep" / "weights").write_bytes(bytes(1000))
    os.chmod(work / "deep", 0)
    print(relay.folder, work, val, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The machine's temporary folder, as of a harness that begins."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def harness():
    """Another harness with three folders: begins one, gives it and them."""
    begun = []

    def begin():
        process = subprocess.Popen(
            [sys.executable, "-c", HARNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        begun.append(process)
        assert process.stdout is not None
        return process, [Path(word) for word in process.stdout.readline().decode().split()]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def later():
    """A harness that begins now."""
    scratch._sweep.cache_clear()
    sweep()


def end(process, number):
    process.send_signal(number)
    process.communicate()


def test_what_a_killed_harness_left_is_taken_away_and_what_a_live_one_holds_is_not(
    harness, temporary
):
    (dead, left), (alive, held) = harness(), harness()
    assert len(left) == 3
    later()
    assert all(folder.is_dir() for folder in (*left, *held))
    end(dead, signal.SIGKILL)
    assert all(folder.is_dir() for folder in left), "nobody has begun since"
    later()
    assert sorted(temporary.iterdir()) == sorted(held)
    assert (held[1] / "deep").stat().st_mode & 0o777 == 0, "not touched"
    end(alive, signal.SIGKILL)
    with scratch_folder("work") as mine:
        assert set(temporary.iterdir()) == {*held, mine}, "once a process"
    later()
    assert not list(temporary.iterdir())


def test_a_stopped_harness_is_alive(harness):
    process, held = harness()
    process.send_signal(signal.SIGSTOP)
    later()
    assert all(folder.is_dir() for folder in held)


def test_a_program_that_outlives_its_harness_holds_no_folder_of_it(temporary):
    folder, lock = scratch._held_folder("work")
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        os.close(lock)  # as a killed harness does
        later()
        assert child.poll() is None
        assert not folder.exists()
        child.kill()


def test_a_harness_that_ends_leaves_nothing(harness, temporary):
    process, (_, work, val) = harness()
    process.communicate()
    assert process.returncode == 0
    assert not work.exists()
    assert not val.exists()


@pytest.fixture
def outside(temporary):
    folder = temporary / "outside"
    folder.mkdir()
    (folder / "mine").write_text("42")
    folder.chmod(0o750)
    return folder


def test_of_a_folder_with_links_the_links_go_and_nothing_they_lead_to(temporary, outside):
    trap = temporary / "cosmolabe-work-abcdefgh.held"
    (trap / "closed").mkdir(parents=True)
    (trap / "out").symlink_to(outside)
    (trap / "closed" / "up").symlink_to("../../outside")
    (trap / "closed" / "file").symlink_to(outside / "mine")
    (trap / "closed" / "nowhere").symlink_to("/no/such/place")
    os.mkfifo(trap / "pipe")
    (trap / "closed").chmod(0)
    later()
    assert not os.path.lexists(trap)
    assert (outside / "mine").read_text() == "42"
    assert outside.stat().st_mode & 0o777 == 0o750


def test_a_link_or_a_file_of_such_a_name_and_folders_of_other_names_stay(temporary, outside):
    link = temporary / "cosmolabe-work-linklink.held"
    link.symlink_to(outside)
    file = temporary / "cosmolabe-val-abcdefgh.held"
    file.write_text("a file")
    others = [temporary / name for name in (
        "cosmolabe-work-abcdefgh", "cosmolabe-mine.held", "cosmolabe-my notes-abcdefgh.held",
        "cosmolabe-", "work-abcdefgh.held",
    )]  # fmt: skip
    for folder in others:
        folder.mkdir()
    later()
    assert link.is_symlink()
    assert (outside / "mine").exists()
    assert file.exists()
    assert all(folder.is_dir() for folder in others)


def test_a_folder_of_another_user_stays(temporary):
    folder = temporary / "cosmolabe-work-theirone.held"
    folder.mkdir()
    try:
        os.chown(folder, 65534, 65534)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    later()
    assert folder.is_dir()
    os.chown(folder, os.geteuid(), os.getegid())
    later()
    assert not folder.exists()


@pytest.mark.parametrize("step", ["made", "opened", "just being swept"])
def test_a_folder_swept_before_it_was_held_is_made_anew(temporary, monkeypatch, step):
    """A sweep may come between the making of a folder and its lock."""
    make, opened, made = tempfile.mkdtemp, scratch._opened, []

    def made_and_swept(*words):
        made.append(make(*words))
        if len(made) == 1 and step == "made":
            later()
        if len(made) == 1 and step == "just being swept":
            others.append(scratch._opened(Path(made[0])))
            scratch._hold(others[0])
        return made[-1]

    def opened_and_swept(folder):
        number = opened(folder)
        monkeypatch.setattr(scratch, "_opened", opened)
        if step == "opened":
            later()
        return number

    others = []
    sweep()
    monkeypatch.setattr(tempfile, "mkdtemp", made_and_swept)
    monkeypatch.setattr(scratch, "_opened", opened_and_swept)
    with scratch_folder("work") as folder:
        assert len(made) == 2
        assert str(folder) == made[1]
        assert folder.is_dir()
    for number in others:
        os.close(number)
    later()
    assert not list(temporary.iterdir())


def test_a_sweep_among_many_that_begin_takes_nothing_that_is_used(temporary):
    stop, wrong = threading.Event(), []

    def use():
        while not stop.is_set():
            with scratch_folder("work") as folder:
                (folder / "here").write_text("x")
                if not (folder / "here").exists():
                    wrong.append(folder)

    users = [threading.Thread(target=use) for _ in range(3)]
    for user in users:
        user.start()
    for _ in range(30):
        later()
    stop.set()
    for user in users:
        user.join()
    assert not wrong
    assert not list(temporary.iterdir())


def test_where_nothing_can_be_locked_folders_are_made_and_none_is_swept(temporary, monkeypatch):
    def refused(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    left = temporary / "cosmolabe-work-abcdefgh.held"
    left.mkdir()
    with scratch_folder("work") as folder:
        later()
        assert folder.is_dir()
    assert list(temporary.iterdir()) == [left]
