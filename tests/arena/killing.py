"""A session whose harness is killed again and again, at points drawn by a seed.

A point is the number of an audit event of the interpreter (a file opened, renamed or removed, a
process begun, …) counted from the session's opening, and how long after it the harness ends itself
by SIGKILL. So kills fall on the writing of ledger and clock as well as into waiting.
"""

import json
import random
import subprocess
import sys
from dataclasses import dataclass

from cosmolabe.arena.analysis.audit import audit
from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.budget import read_clock
from cosmolabe.arena.driving import run_session
from cosmolabe.arena.session import ledger_of

LIFE = """
import json, os, signal, sys, threading, time
from pathlib import Path
from cosmolabe.arena.budget import Clock
from cosmolabe.arena.budget import read_clock
from cosmolabe.arena.driving import run_session

folder, runs, event, delay = Path(sys.argv[1]), *map(float, sys.argv[2:])
seen, told, began, ran = 0, os.dup(1), [], [0.0]
ending = threading.Lock()  # taken once: the last word is that of the kill or of the whole life

def end():
    ending.acquire()
    whole = ran[0] + (time.monotonic() - began[0] if began else 0.0)
    os.write(told, json.dumps({"ran": whole, "events": seen}).encode())
    os.kill(os.getpid(), signal.SIGKILL)

def hear(name, words):
    global seen
    seen += 1
    if seen == event:
        if delay:
            threading.Timer(delay, end).start()
        else:
            end()

start, stop = Clock.start, Clock.stop
def stopped(clock):
    if began:
        ran[0] += time.monotonic() - began.pop()
    stop(clock)

def started(clock):
    running = clock._began is not None
    start(clock)
    if not running:
        began[:] = [time.monotonic()]

Clock.start, Clock.stop = started, stopped
sys.addaudithook(hear)
run_session(folder, "null", {"runs": int(runs)})
ending.acquire()
os.write(told, json.dumps({"ran": 0.0, "events": seen}).encode())
os._exit(0)  # with no kill to come
"""


@dataclass
class Life:
    """One harness, until it was killed or had nothing left to do."""

    killed: bool
    ran: float
    """Seconds that its clock ran before it was killed."""
    events: int


def live(folder, runs, event=-1, delay=0.0):
    """A harness that is killed `delay` seconds after its audit event of that number, if any."""
    words = [str(folder), str(runs), str(event), str(delay)]
    ended = subprocess.run([sys.executable, "-c", LIFE, *words], capture_output=True, check=False)
    assert ended.returncode in (0, -9), ended.stderr.decode()
    told = json.loads(ended.stdout)
    return Life(ended.returncode != 0, told["ran"], told["events"])


def trained(folder):
    """What came of every experiment, to the last bit."""
    scores = {line["experiment"]: line["val"] for line in of_kind(folder, "score")}
    return [
        (line["experiment"], line["code_hash"], line["seed"], line["weights_hash"],
         scores[line["experiment"]])
        for line in of_kind(folder, "experiment")
    ]  # fmt: skip


def of_kind(folder, kind):
    return [line for line in ledger_of(folder) if line["kind"] == kind]


def kill_at(new, points, runs, seed):
    """Kill sessions at so many points; gives how many kills fell into training or scoring.

    `new()` makes a session; another one begins where one has ended before all points were tried.
    """
    undisturbed = new()
    events = live(undisturbed, runs).events
    wanted, number = trained(undisturbed), random.Random(seed)
    assert len(wanted) == runs
    folder, lines, left, busy = new(), [], points, 0
    while left:
        event = number.randrange(1, events)
        delay = number.choice([0.0, number.uniform(0.0, 0.5)])
        seconds, steps = read_clock(folder / "clock.json")
        life = live(folder, runs, event, delay)
        now = ledger_of(folder)
        assert [line["hash"] for line in now[: len(lines)]] == [line["hash"] for line in lines]
        lines, spent = now, read_clock(folder / "clock.json")
        assert spent[1] >= max(steps, spent_in(now))
        if life.killed:
            left, busy = left - 1, busy + (life.ran > 0)
            assert spent[0] >= seconds + life.ran, "time was given back"
        if lines and lines[-1]["kind"] == "end":
            whole(folder, wanted)
            folder, lines = new(), []
    if not lines or lines[-1]["kind"] != "end":
        run_session(folder, "null", {"runs": runs})
    whole(folder, wanted)
    return busy


def spent_in(lines):
    return sum(line["config"]["recipe"]["steps"] for line in lines if line["kind"] == "experiment")


def whole(folder, wanted):
    """Nothing lost, nothing doubled, and what was trained is what is trained undisturbed."""
    assert trained(folder) == wanted
    kinds = [line["kind"] for line in ledger_of(folder)]
    assert (kinds[0], kinds[-1], kinds.count("begin"), kinds.count("end")) == ("begin", "end", 1, 1)
    assert [line["experiment"] for line in of_kind(folder, "score")] == [row[0] for row in wanted]
    seconds, steps = read_clock(folder / "clock.json")
    assert seconds == of_kind(folder, "end")[0]["wall"]
    assert steps >= spent_in(ledger_of(folder))
    assert sorted(path.name for path in (folder / "experiments").iterdir()) == [
        r[0] for r in wanted
    ]
    assert [one.what for one in audit(read_session(folder)) if one.ok is False] == []
