"""A program in a box: what it sees, what it is told, and how it ends."""

import io
import sys

import pytest

from cosmolabe.arena.sandbox import Box, Limits, open_child, python_root, run

LEVELS = ("bwrap+cgroup", "bwrap+rlimits")


def said(box, code, level="auto"):
    """What a Python program says in the box, and how it ended."""
    log = io.BytesIO()
    ended = run(box, [sys.executable, "-I", "-c", code], level=level, log=log)
    return log.getvalue().decode(), ended


@pytest.fixture
def box(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    limits = Limits(wall=30, memory=400 << 20, processes=32, file_bytes=4 << 20, disk=8 << 20)
    return Box(python_root(), ((folder, "/work"),), limits)


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_runs_to_its_end_and_its_words_and_status_come_back(box, level):
    words, ended = said(box, "print('hello'); raise SystemExit(7)", level)
    assert words == "hello\n"
    assert (ended.code, ended.killed, ended.enforced.level) == (7, "", level)
    assert ended.enforced.valid
    assert 0 < ended.cpu < ended.wall + 1


def test_what_it_writes_in_its_folder_stays_and_what_it_reads_of_others_is_not_there(box, tmp_path):
    (tmp_path / "secret").write_text("42")
    code = f"open('/work/made','w').write('x'); open({str(tmp_path / 'secret')!r})"
    words, ended = said(box, code)
    assert "FileNotFoundError" in words
    assert ended.code == 1
    assert (tmp_path / "work" / "made").read_text() == "x"


def test_a_child_is_spoken_to_both_ways_at_once_and_gives_exactly_what_was_asked(box):
    data = bytes(range(256)) * 8192
    with open_child(box, ["/bin/cat"]) as child:
        assert child.exchange(data, len(data), 60) == data
        child.close_stdin()
        assert not child.more_than_asked(30)
        assert child.wait().code == 0
