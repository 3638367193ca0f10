"""What an agent may spend, and that being killed gives nothing back."""

import json
import math
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmolabe.arena.budget import Budget, Clock, beside, parse_budget, read_clock


class Hands:
    """A clock's hands, moved by the test."""

    def __init__(self):
        self.at = 1000.0

    def __call__(self):
        return self.at


@pytest.mark.parametrize(
    ("text", "seconds", "steps"),
    [("90s", 90, None), ("30m", 1800, None), ("1.5 h", 5400, None), ("2000 steps", None, 2000)],
)
def test_budgets_are_told_in_plain_words(text, seconds, steps):
    budget = parse_budget(text)
    assert (budget.seconds, budget.steps) == (seconds, steps)


@pytest.mark.parametrize(
    "text", ["", "90", "s", "-3s", "0s", "1.5steps", "0 steps", "3 days", "inf"]
)
def test_what_is_no_budget_is_refused_with_what_would_do(text):
    with pytest.raises(ValueError, match=r"90s, 30m, 6h or 2000steps"):
        parse_budget(text)


def test_a_budget_is_in_seconds_or_in_steps():
    with pytest.raises(ValueError, match="either in seconds or in steps"):
        Budget(seconds=10, steps=10)
    with pytest.raises(ValueError, match="above 0"):
        Budget(seconds=-1)


def test_only_the_time_it_runs_is_spent(tmp_path):
    hands = Hands()
    clock = Clock(tmp_path / "clock.json", Budget(seconds=100, run_seconds=30), now=hands)
    hands.at += 50
    assert clock.seconds_left == 100
    with clock:
        hands.at += 80
        assert clock.run_seconds == 20
        assert clock.time_left() == "20 s"
        assert not clock.over
        hands.at += 30
        assert clock.over
    hands.at += 50
    assert (clock.seconds_spent, clock.seconds_left) == (110, 0)


@settings(max_examples=12)  # each writes to the disk and waits for it
@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=5))
def test_a_session_goes_on_with_what_was_left_and_never_with_more(tmp_path_factory, spells):
    path, hands, spent = tmp_path_factory.mktemp("clock") / "clock.json", Hands(), 0.0
    budget = Budget(seconds=1000)
    for seconds, killed in spells:
        clock = Clock(path, budget, now=hands, beat=1e6)
        assert clock.seconds_spent >= spent
        clock.start()
        hands.at += seconds
        spent += seconds
        if killed:
            kept = path.read_text()  # what a killed harness leaves: nothing written since
            clock.stop()
            path.write_text(kept)
            hands.at += 12345  # the time until somebody starts it again is nobody's
        else:
            clock.stop()
    last = Clock(path, budget, now=hands).seconds_spent
    assert last >= spent
    if not any(killed for _, killed in spells):
        assert last == spent


HARNESS = """
import sys, time
from pathlib import Path
from cosmolabe.arena.budget import Budget, Clock
with Clock(Path(sys.argv[1]), Budget(seconds=100), beat=1.0):
    print("runs", flush=True)
    time.sleep(60)
"""


def test_a_killed_harness_has_spent_what_it_ran_and_at_most_two_beats_more(tmp_path):
    path = tmp_path / "clock.json"
    for _ in range(3):
        before = json.loads(path.read_text())["seconds"] if path.exists() else 0.0
        harness = subprocess.Popen(
            [sys.executable, "-c", HARNESS, path], stdout=subprocess.PIPE, text=True
        )
        with harness:
            harness.stdout.readline()
            time.sleep(0.5)
            harness.send_signal(signal.SIGKILL)
        spent = Clock(path, Budget(seconds=100), beat=1.0).seconds_spent
        assert before + 0.5 <= spent < before + 30


BUSY = """
import os, sys, time
from pathlib import Path
from cosmolabe.arena.budget import Budget, Clock
flush = os.fsync
clock = Clock(Path(sys.argv[1]), Budget(seconds=100), beat=0.4)
clock.start()
began = time.monotonic()
os.fsync = lambda number: time.sleep(60)  # a disk that is written full by somebody else
time.sleep(2.0)
print(time.monotonic() - began, flush=True)
time.sleep(60)
"""


def test_a_disk_that_answers_late_gives_no_time_back(tmp_path):
    path = tmp_path / "clock.json"
    harness = subprocess.Popen([sys.executable, "-c", BUSY, path], stdout=subprocess.PIPE)
    with harness:
        ran = float(harness.stdout.readline())
        harness.send_signal(signal.SIGKILL)
    assert json.loads(path.read_text())["seconds"] < 1.0, "what the disk had"
    assert Clock(path, Budget(seconds=100)).seconds_spent >= ran
    assert not beside(path).exists()


@pytest.mark.parametrize("word", ["", "1", "x y", "nan nan", "inf 1", "-5 1", "\x00" * 40])
def test_what_cannot_be_read_beside_the_clock_changes_nothing(tmp_path, word):
    path = tmp_path / "clock.json"
    path.write_text('{"seconds": 3, "steps": 2, "running": 1, "beat": 1.0}')
    beside(path).write_text(word)
    assert read_clock(path) == (4.0, 2)


@pytest.mark.parametrize("name", ["seconds", "steps", "beat"])
def test_a_clock_that_tells_of_less_than_nothing_is_refused(tmp_path, name):
    told = {"seconds": 3, "steps": 2, "running": 1, "beat": 1.0, name: -1}
    (tmp_path / "clock.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match=f"'{name}' is -1; nothing is given back"):
        Clock(tmp_path / "clock.json", Budget())


def test_steps_are_spent_for_good_and_the_wall_clock_is_only_told(tmp_path):
    budget = Budget(seconds=None, steps=100, run_seconds=30)
    clock = Clock(tmp_path / "clock.json", budget)
    clock.charge(60)
    again = Clock(tmp_path / "clock.json", budget)
    assert (again.steps_left, again.time_left(), again.run_seconds) == (40, "40 steps", 30)
    assert again.seconds_left == math.inf
    with pytest.raises(ValueError, match="never given back"):
        again.charge(-1)
    again.charge(50)
    assert again.over
    assert again.steps_left == 0


def test_a_broken_clock_file_is_refused(tmp_path):
    (tmp_path / "clock.json").write_text('{"seconds": 3}')
    with pytest.raises(ValueError, match=r"clock\.json: no 'steps'"):
        Clock(tmp_path / "clock.json", Budget())
