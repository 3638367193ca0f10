"""The bench over many videos, in this process, with a tiny eye."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from moving_squares import glance, random_heads, square
from PIL import Image

from cosmolabe.bench.physics import many
from cosmolabe.core.record import read_json, read_readings
from cosmolabe.data.video import Limits, find_inputs, write_video
from cosmolabe.judges.physics import Bundle, Physics
from cosmolabe.judges.physics.inputs import about_input, content_hash
from cosmolabe.report.page import write_report


@pytest.fixture(scope="module")
def physics():
    eye = glance()
    return Physics.of(eye, Bundle("random", random_heads(eye), "glance"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Eight videos that move, one that does not, four that are none."""
    folder = tmp_path_factory.mktemp("videos")
    for number in range(8):
        frames = square(20 + 5 * number, seed=number)
        if number % 2:
            np.savez(folder / f"a{number}.npz", frames=frames, fps=16.0)
        else:
            write_video(folder / f"a{number}.mp4", iter([frames]), 16.0)
    np.savez(folder / "frozen.npz", frames=np.repeat(square(1), 20, 0), fps=16.0)
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "text.mp4").write_text("not a video, whatever the name says\n" * 40)
    (folder / "cut.mp4").write_bytes((folder / "a0.mp4").read_bytes()[:600])
    (folder / "zeros.webm").write_bytes(bytes(5000))
    return folder


@pytest.fixture
def videos(made, tmp_path):
    return shutil.copytree(made, tmp_path / "videos")


@pytest.fixture(scope="module")
def whole(made, physics, tmp_path_factory):
    """The run that nothing stopped, and its readings."""
    out = tmp_path_factory.mktemp("whole")
    kept = many.Settings(features=str(out / "features"))
    return out, many.judge_many(find_inputs([made]), out, kept, physics=physics, shown=3)


def rows_of(out):
    return [json.loads(line) for line in (out / "clips.jsonl").read_text().splitlines()]


def test_every_input_has_one_row_and_a_bad_one_costs_only_itself(physics, made, whole):
    inputs = find_inputs([made])
    out, readings = whole
    rows = rows_of(out)
    assert [row["input"] for row in rows] == [item.name for item in inputs]
    status = {row["input"]: row["status"] for row in rows}
    assert sum(value == "scored" for value in status.values()) == 8
    assert status["frozen.npz"] == "abstained"
    bad = {name: row["why"] for name, row in zip(status, rows, strict=True) if row["value"] is None}
    assert set(bad) == {"frozen.npz", "empty.mp4", "text.mp4", "cut.mp4", "zeros.webm"}
    assert all(bad.values())
    first = next(r for r in readings if r.metric == "violation")
    assert (first.n, first.skipped) == (8, 5)
    values = [row["value"] for row in rows if row["status"] == "scored"]
    assert first.value == pytest.approx(np.mean(values))
    assert first.low <= first.value <= first.high
    assert read_readings(out / "readings.json")[0].value == first.value
    record = read_json(out / "record.json")
    assert (record["config"]["scored"], record["config"]["failed"]) == (8, 4)
    assert record["protocol"] == physics.protocol.fingerprint


def test_the_table_says_what_the_rows_say(whole):
    out, _ = whole
    table = pq.read_table(out / "clips.parquet").to_pylist()
    for row, cells in zip(rows_of(out), table, strict=True):
        for name in ("input", "status", "why", "value", "raw", "worst_start", "curve", "hash"):
            assert cells[name] == row.get(name), name
        assert json.loads(cells["facts"]) == row["facts"]


def test_a_run_that_was_stopped_goes_on_where_it_stopped(
    physics, made, whole, tmp_path, monkeypatch
):
    inputs = find_inputs([made])

    def stop(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        many.judge_many(inputs, tmp_path, many.Settings(), physics=physics, tell=stop)
    path = tmp_path / "clips.jsonl"
    assert len(rows_of(tmp_path)) == 5
    with path.open("a") as file:  # what a killed process may leave
        file.write('{"input": "a7.npz", "status": "sco')
    asked = []
    score = many.score_inputs
    monkeypatch.setattr(
        many, "score_inputs", lambda judge, some, **m: asked.extend(some) or score(judge, some, **m)
    )
    again = many.judge_many(inputs, tmp_path, many.Settings(), physics=physics)
    assert len(asked) == len(inputs) - 5
    assert repr(again) == repr(whole[1])
    assert path.read_bytes() == (whole[0] / "clips.jsonl").read_bytes()
    asked.clear()
    again = many.judge_many(inputs, tmp_path, many.Settings(), physics=physics)
    assert repr(again) == repr(whole[1])
    assert asked == []


def test_a_video_that_changed_is_looked_at_again(physics, videos, tmp_path):
    inputs = find_inputs([videos / "a1.npz", videos / "a3.npz"])
    many.judge_many(inputs, tmp_path / "out", many.Settings(), physics=physics, shown=0)
    before = rows_of(tmp_path / "out")
    np.savez(videos / "a1.npz", frames=square(31, seed=99), fps=16.0)
    many.judge_many(inputs, tmp_path / "out", many.Settings(), physics=physics, shown=0)
    after = rows_of(tmp_path / "out")
    assert [one["raw"] != two["raw"] for one, two in zip(before, after, strict=True)] == [
        True,
        False,
    ]


def test_a_run_does_not_go_on_under_another_protocol(physics, videos, tmp_path):
    inputs = find_inputs([videos / "a0.mp4"])
    many.judge_many(inputs, tmp_path / "out", many.Settings(), physics=physics)
    other = Physics.of(physics.encoder, physics.bundle, choices={"quantile": 0.5})
    with pytest.raises(ValueError, match="another protocol"):
        many.judge_many(inputs, tmp_path / "out", many.Settings(), physics=other)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "clips.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="another judge"):
        many.judge_many(inputs, tmp_path / "state", many.Settings(), physics=physics)


def test_kept_features_give_the_same_rows_without_a_look(
    physics, made, whole, tmp_path, monkeypatch
):
    looks = []
    encode = physics.encoder.encode
    monkeypatch.setattr(physics.encoder, "encode", lambda clip: looks.append(clip) or encode(clip))
    settings = many.Settings(features=str(whole[0] / "features"))
    many.judge_many(find_inputs([made]), tmp_path, settings, physics=physics, shown=0)
    assert looks == []
    assert rows_of(tmp_path) == rows_of(whole[0])


def test_the_worst_windows_are_kept_as_pictures(whole):
    out, _ = whole
    rows = {row["input"]: row for row in rows_of(out)}
    worst = sorted((r for r in rows.values() if r["raw"] is not None), key=lambda r: -r["raw"])
    kept = sorted((out / "media" / "physics").glob("*.npz"))
    assert len(kept) == 3
    for path, row in zip(kept, worst, strict=False):
        with np.load(path) as held:
            assert str(held["input"]) == row["input"]
            assert float(held["start"]) == row["worst_start"]
            assert held["frames"].dtype == np.uint8
            last = float(held["first"]) + (len(held["frames"]) - 1) / float(held["fps"])
            assert float(held["first"]) <= row["worst_start"]
            assert last >= row["worst_end"] - 2 / 16


def test_a_row_that_lacks_what_it_needs_is_judged_again(physics, made, whole, tmp_path):
    inputs = find_inputs([made])
    out = shutil.copytree(whole[0], tmp_path / "out")
    rows = rows_of(out)
    rows[0]["raw"] = None
    del rows[1]["status"]
    rows[2]["status"] = "fine"
    (out / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = many.judge_many(inputs, out, many.Settings(), physics=physics)
    assert repr(again) == repr(whole[1])
    assert rows_of(out) == rows_of(whole[0])
    assert read_json(out / "record.json")["config"]["kept_from_before"] == len(rows) - 3


def test_a_name_that_is_no_text_stands_in_rows_tables_and_report(physics, made, tmp_path):
    name = b"n\xff.npz"
    (tmp_path / "v").mkdir()
    shutil.copy(made / "a1.npz", os.fsencode(tmp_path / "v") + b"/" + name)
    out = tmp_path / "out"
    many.judge_many(find_inputs([tmp_path / "v"]), out, many.Settings(), physics=physics)
    assert [row["input"] for row in rows_of(out)] == [os.fsdecode(name)]
    write_report(out)
    assert "n\\udcff.npz" in (out / "report.html").read_text(encoding="utf-8")
    assert pq.read_table(out / "report.parquet")["id"].to_pylist()[-1] == "n\\udcff.npz"


def test_what_has_no_end_is_not_hashed_to_it(tmp_path):
    clock = Path("/proc/version")  # claims no bytes and has some
    assert clock.stat().st_size == 0
    (tmp_path / "empty").touch()
    assert content_hash(clock, Limits()) == content_hash(tmp_path / "empty", Limits())
    folder = tmp_path / "pictures"
    (folder / "below").mkdir(parents=True)
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(folder / "0.png")
    first = content_hash(folder, Limits())
    (folder / "notes.txt").write_text("read by nobody")
    (folder / "below" / "0.png").write_bytes(b"another video")
    assert content_hash(folder, Limits()) == first


def test_what_a_table_does_not_know_is_no_group(tmp_path):
    (tmp_path / "a.mp4").touch()
    lines = '{"video": "a.mp4", "prompt": NaN, "group": 1e999, "model": true, "game": 3}'
    (tmp_path / "t.jsonl").write_text(lines)
    row = about_input(find_inputs([tmp_path / "t.jsonl"])[0])
    assert {"prompt", "group"}.isdisjoint(row)
    assert (row["model"], row["game"]) == ("", "3")
