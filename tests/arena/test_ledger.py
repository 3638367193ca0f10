"""The ledger of a session: what is written is never lost, doubled or changed unseen."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.arena.ledger import FIRST, Ledger, hash_of, read_ledger

WRITER = """
import sys
from pathlib import Path
from cosmolabe.arena.ledger import Ledger
with Ledger(Path(sys.argv[1])) as ledger:
    for n in range(len(ledger.lines), 100_000):
        ledger.append_once("experiment", f"{n:06d}", seed=n, note="x" * (n % 3000))
        print(n, flush=True)
"""


def test_a_line_holds_what_was_said_its_number_and_the_hash_before(tmp_path):
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        first = ledger.append("begin", config={"game": "pong"})
        second = ledger.append("experiment", experiment="0001", val={"c1": 0.1 + 0.2})
    assert (first["n"], first["prev"], second["n"], second["prev"]) == (0, FIRST, 1, first["hash"])
    assert read_ledger(tmp_path / "ledger.jsonl") == [first, second]
    assert second["val"]["c1"] == 0.1 + 0.2  # to the last bit
    assert ledger.head == second["hash"] == hash_of(second)


def test_what_is_not_finite_is_missing(tmp_path):
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        assert ledger.append("score", val={"c1": float("nan")})["val"] == {"c1": None}
    assert read_ledger(tmp_path / "ledger.jsonl")[0]["val"] == {"c1": None}


def test_a_harness_killed_at_twenty_moments_loses_and_doubles_nothing(tmp_path):
    path, heard, random_number = tmp_path / "ledger.jsonl", -1, random.Random(6)
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
        )
        with writer:
            for _ in range(random_number.randrange(1, 40)):
                heard = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            said = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
            heard = max([heard, *said])
        written = [line["experiment"] for line in read_ledger(path)]
        assert written == [f"{n:06d}" for n in range(len(written))]
        assert len(written) >= heard + 1  # what was said to be written is there


@given(cut=st.integers(1, 60), rest=st.binary(max_size=20).filter(lambda data: b"\n" not in data))
def test_a_torn_last_line_is_set_aside_and_the_chain_goes_on(tmp_path_factory, cut, rest):
    path = tmp_path_factory.mktemp("torn") / "ledger.jsonl"
    with Ledger(path) as ledger:
        kept = ledger.append("begin")
        ledger.append("experiment", experiment="a")
    torn = path.read_bytes()[: -cut - 1] + rest
    path.write_bytes(torn)
    assert read_ledger(path) == [kept]
    with Ledger(path) as ledger:
        again = ledger.append_once("experiment", "a")
    assert read_ledger(path) == [kept, again]
    aside = path.with_name("ledger.jsonl.torn").read_bytes()
    assert aside == torn[torn.index(b"\n") + 1 :] + b"\n"


EDITS = {
    "a changed value": lambda lines: [lines[0], {**lines[1], "seed": 9}, lines[2]],
    "a line taken out": lambda lines: [lines[0], lines[2]],
    "lines that changed places": lambda lines: [lines[1], lines[0], lines[2]],
    "a line put in": lambda lines: [lines[0], lines[0], *lines[1:]],
    "a value with a new hash": lambda lines: [
        {**lines[0], "seed": 9, "hash": hash_of({**lines[0], "seed": 9})},
        *lines[1:],
    ],
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_changed_ledger_is_refused(tmp_path, edit):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        for n in range(3):
            ledger.append("experiment", experiment=str(n), seed=n)
    path.write_text("".join(json.dumps(line) + "\n" for line in edit(read_ledger(path))))
    with pytest.raises(ValueError, match=r"ledger\.jsonl, line \d"):
        Ledger(path)


def test_two_harnesses_cannot_hold_one_ledger(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path), pytest.raises(ValueError, match="held by another harness"):
        Ledger(path)
    with Ledger(path) as ledger:
        ledger.append("begin")


def test_the_same_is_said_once_and_only_known_kinds_are(tmp_path):
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        first = ledger.append_once("score", "0001", seed=1)
        assert ledger.append_once("score", "0001", seed=2) == first
        assert ledger.find("score", "0002") is None
        with pytest.raises(ValueError, match="no kind of line 'reward'"):
            ledger.append("reward")
        with pytest.raises(ValueError, match=r"\['hash'\] are written by the ledger"):
            ledger.append("score", hash="0")
    assert len(read_ledger(tmp_path / "ledger.jsonl")) == 1
    assert os.listdir(tmp_path) == ["ledger.jsonl"]
