import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.core.record import (
    Record,
    read_json,
    read_jsonl,
    read_readings,
    write_json,
    write_jsonl,
    write_readings,
    written_whole,
)
from cosmolabe.core.seeds import episode_seed, seed_of, world_key

numbers = st.floats(allow_infinity=False) | st.integers(-5, 5)
trees = st.recursive(
    numbers | st.text(max_size=3) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(trees)
def test_a_fingerprint_follows_from_the_value_alone(tree):
    assert fingerprint(tree) == fingerprint(json.loads(json.dumps(tree)))


@given(st.dictionaries(st.text(max_size=3), numbers, min_size=2))
def test_a_fingerprint_ignores_the_order_of_names(choices):
    assert fingerprint(choices) == fingerprint(dict(reversed(choices.items())))


def test_a_fingerprint_changes_with_any_choice():
    assert len({fingerprint({"h": h, "wrap": w}) for h in (1, 20) for w in (True, False)}) == 4
    assert fingerprint(1) != fingerprint(1.0)
    assert fingerprint("a", "b") != fingerprint("ab")


def test_a_fingerprint_refuses_what_has_no_agreed_form():
    with pytest.raises(ValueError, match="plain values only"):
        fingerprint({"model": object()})


def test_a_missing_reading_stays_missing_through_the_file(tmp_path):
    path = tmp_path / "readings.json"
    write_readings(path, [Reading("state", "final", math.nan, "score", "higher", n=3)])
    assert json.loads(path.read_text())[0]["value"] is None
    back = read_readings(path)[0]
    assert math.isnan(back.value)
    assert math.isnan(back.low)
    assert back.n == 3


def row(**changes):
    """One reading as it stands in its file."""
    known = {"judge": "state", "metric": "final", "value": 1.0, "unit": "", "direction": "higher"}
    return json.dumps([known | {"schema": 1} | changes])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("{}", "expected a list"),
        ('[{"schema": 7}]', "schema 7"),
        ('[{"schema": 1, "judge": "state", "colour": "red"}]', "does not fit"),
        ("[3]", "does not fit"),
        ("[" * 100_000, "not valid JSON"),
        (f"[{'9' * 5000}]", "a whole number of 5000 digits"),
        ("[NaN]", "NaN is no JSON"),
        (row(value="high"), "'value' is 'high', expected int or float"),
        (row(n=-1), "count inputs"),
        (row(metric=[]), "'metric'"),
        (row(horizon="ten"), "'horizon' is 'ten', expected int or null"),
    ],
)
def test_broken_readings_are_named(tmp_path, content, message):
    path = tmp_path / "readings.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_readings(path)


def test_a_missing_file_says_what_would_do(tmp_path):
    with pytest.raises(ValueError, match="has it finished"):
        read_json(tmp_path / "nothing.json")


def test_a_reading_refuses_a_backward_interval():
    with pytest.raises(ValueError, match="runs backwards"):
        Reading("state", "final", 0.5, "score", "higher", low=0.6, high=0.4)


def test_arrays_paths_and_infinities_become_plain_json(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": np.arange(2), "b": np.float32(1), "c": math.inf, "d": Path("x")})
    assert read_json(path) == {"a": [0, 1], "b": 1.0, "c": None, "d": "x"}
    assert not list(tmp_path.glob("*.part"))


def test_a_record_knows_its_versions():
    record = Record("judge", 0, {})
    assert {"python", "numpy", "cosmolabe"} <= set(record.versions)
    assert record.schema == 1


def test_seeds_differ_by_every_name():
    seeds = {
        episode_seed(salt, game, split, index)
        for salt in "ab"
        for game in ("pong", "snake")
        for split in ("train", "test")
        for index in range(50)
    }
    assert len(seeds) == 2 * 2 * 2 * 50
    assert seed_of("a", "b") != seed_of("ab")
    assert all(0 <= word < 2**32 for word in world_key("pong", 1, 7))
    assert world_key("pong", 1, 7) != world_key("pong", 2, 7)


def test_a_seed_never_changes_between_versions_of_us():
    assert episode_seed("public", "pong", "train", 0) == 1773369455209535028


def test_text_that_no_encoding_knows_reads_back_as_it_was(tmp_path):
    strange = {"path": "run\udcff", "prompt": "one\u2028line\x85only"}
    write_json(tmp_path / "a.json", strange)
    assert read_json(tmp_path / "a.json") == strange
    write_jsonl(tmp_path / "a.jsonl", [strange, strange])
    assert [found for _, found in read_jsonl(tmp_path / "a.jsonl")] == [strange, strange]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(ValueError, match="not a plain file"):
        read_json(tmp_path / "a.json")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, [1])

    def fail():
        with written_whole(path) as part:
            part.write_text("half")
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        fail()
    assert read_json(path) == [1]
    assert [found.name for found in tmp_path.iterdir()] == ["a.json"]
