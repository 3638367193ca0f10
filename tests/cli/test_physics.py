"""judge --judges physics and the verbs of physics, as a person types them."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from moving_squares import random_heads, square

from cosmolabe.cli import main
from cosmolabe.core import parts
from cosmolabe.core.record import read_json
from cosmolabe.data.video import write_video
from cosmolabe.judges.physics import Bundle, save_bundle

PROGRAM = "from cosmolabe.cli.main import main; main()"


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    """Random heads on the offline eye, at its smaller size."""
    torch.set_num_threads(1)
    eye = parts.load("encoders", "efficientnet_lite").load(size="128")
    bundle = Bundle("random", random_heads(eye, members=2), "efficientnet_lite", "128")
    return save_bundle(bundle, tmp_path_factory.mktemp("heads") / "random")


def run(capsys, *words):
    code = main.run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def make_videos(folder, number, broken, frames=8):
    """Short videos that move, every so many of them cut short, empty, or something else."""
    folder.mkdir(parents=True, exist_ok=True)
    every = number // broken if broken else number + 1
    for n in range(number):
        path = folder / f"{n:04d}.mp4"
        write_video(path, iter([square(frames, size=32, speed=2.0, seed=n)]), 16.0)
        if n % every == every - 1:
            whole = path.read_bytes()
            kind = n // every % 4
            path.write_bytes((b"", whole[:200], b"no video at all " * 30, bytes(2000))[kind])
    return folder


def rows_of(out):
    return [json.loads(line) for line in (out / "clips.jsonl").read_text().splitlines()]


def test_a_folder_of_videos_gets_rows_table_report(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 6, 2)
    np.savez(videos / "still.npz", frames=np.repeat(square(1), 20, 0), fps=16.0)
    out = tmp_path / "out"
    code, told = run(capsys, "judge", "--judges", "physics", videos, "--head", head, "--out", out)
    assert code == 0, told
    assert told["counts"] == {"videos": 7, "scored": 4, "abstained": 1, "failed": 2}
    names = ["readings.json", "clips.jsonl", "clips.parquet", "record.json", "report.html"]
    assert all((out / name).is_file() for name in names)
    rows = {row["input"]: row for row in rows_of(out)}
    assert set(rows) == {path.name for path in videos.iterdir()}
    for row in rows.values():
        assert {"input", "status", "why", "value", "low", "high", "worst_start"} <= set(row)
        assert (row["status"] == "scored") == (row["why"] == "") == (row["value"] is not None)
    report = read_json(out / "report.json")["videos"]
    assert (report["videos"], report["scored"], len(report["unscored"])) == (7, 4, 3)
    assert report["most_violating"][0]["raw"] == max(r["raw"] or -9 for r in rows.values())


def test_where_nothing_could_be_read_the_exit_code_says_so(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 2, 1)
    words = ("judge", "--judges", "physics", "--head", head, "--out")
    assert run(capsys, *words, tmp_path / "some", videos)[0] == 0
    bad = sorted(videos.iterdir())[1]
    code, told = run(capsys, *words, tmp_path / "none", bad, tmp_path / "nowhere.mp4")
    assert code == 1
    assert told["counts"] == {"videos": 2, "scored": 0, "abstained": 0, "failed": 2}
    assert len(rows_of(tmp_path / "none")) == 2


def test_tables_patterns_and_single_files_are_inputs_too(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 3, 0)
    (videos / "list.csv").write_text("video,prompt\n0000.mp4,a ball\n0001.mp4,a ball\nno.mp4,x\n")
    words = ("judge", "--judges", "physics", "--head", head, "--no-report", "--out")
    _, told = run(capsys, *words, tmp_path / "a", videos / "list.csv")
    assert told["counts"]["failed"] == 1
    assert [row.get("prompt") for row in rows_of(tmp_path / "a")] == ["a ball", "a ball", "x"]
    _, told = run(capsys, *words, tmp_path / "b", videos / "000[12].mp4", videos / "0000.mp4")
    assert [r["input"][-8:] for r in rows_of(tmp_path / "b")] == [
        "0001.mp4",
        "0002.mp4",
        "0000.mp4",
    ]


def test_a_folder_of_rollouts_is_judged_beside_what_truly_happened(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "rollouts", 4, 0)
    lines = [
        {"id": "a", "video": "0000.mp4", "true_video": "0001.mp4", "model": "m", "game": "g"},
        {"id": "b", "video": "0002.mp4", "true_video": "0003.mp4", "model": "m", "game": "g"},
        {"id": "c", "video": "0000.mp4", "true_video": "../outside.mp4", "model": "m", "game": "g"},
    ]
    (videos / "rollouts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "out"
    words = ("judge", "--judges", "physics", videos, "--head", head, "--out", out, "--no-report")
    _, told = run(capsys, *words)
    rows = {row["input"]: row for row in rows_of(out)}
    assert {name: row["role"] for name, row in rows.items()} == {
        "a": "imagined", "a (true)": "true", "b": "imagined", "b (true)": "true",
        "c": "imagined", "c (true)": "true",
    }  # fmt: skip
    assert "outside" in rows["c (true)"]["why"]
    first = next(r for r in told["readings"] if r["metric"] == "violation")
    true = [rows[name]["value"] for name in ("a (true)", "b (true)")]
    assert first["model"] == "m"
    assert first["ceiling"] == pytest.approx(np.mean(true))


def test_imagined_rollouts_of_states_are_drawn_and_held_against_their_error(head, tmp_path, capsys):
    store, out = tmp_path / "store", tmp_path / "out"
    assert main.run(["collect", "pong", "--out", str(store), "-n", "8", "--split", "test"]) == 0
    capsys.readouterr()
    words = ("judge", "--judges", "state,physics", store, "-m", "constant_velocity", "--head", head)
    code, told = run(capsys, *words, "--imagined", 3, "-n", 4, "--scenarios", 0, "--out", out)
    assert code == 0, told
    judges = {r["judge"] for r in told["readings"]}
    assert judges == {"state", "physics"}
    rows = [json.loads(line) for line in (out / "videos.jsonl").read_text().splitlines()]
    assert {row["model"] for row in rows} == {"constant_velocity", "still", "true"}
    for row in rows:
        assert (row["state_error"] == 0) == (row["model"] == "true")
    links = read_json(out / "imagined.json")["links"]
    assert links[0]["model"] == "constant_velocity"
    assert "videos" in read_json(out / "report.json")
    page = (out / "report.html").read_text()
    assert "Held against the truth of the games" in page
    states = rows_of(out)
    assert all("final" in row for row in states)
    again = tmp_path / "alone"
    alone = ("judge", store, "-m", "constant_velocity", "-n", 4, "--scenarios", 0, "--no-report")
    _, only = run(capsys, *alone, "--out", again)
    assert only["readings"] == [r for r in told["readings"] if r["judge"] == "state"]


def test_rollouts_of_states_alone_are_drawn_as_well(head, tmp_path, capsys):
    store, rolled, out = (tmp_path / name for name in ("store", "rolled", "out"))
    assert main.run(["collect", "pong", "--out", str(store), "-n", "4", "--split", "test"]) == 0
    words = ["rollout", str(store), "-m", "constant_velocity", "-n", "2", "--out", str(rolled)]
    assert main.run(words) == 0
    capsys.readouterr()
    words = ("judge", "--judges", "physics", rolled, "--head", head, "--out", out)
    code, told = run(capsys, *words)
    assert code == 0, told
    assert {r["judge"] for r in told["readings"]} == {"physics"}
    assert (out / "report.html").is_file()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("judge", "--judges", "physics", "{}", "--out", "{}/x", "--head", "nowhere"),
            "no physics head",
        ),
        (("judge", "--judges", "taste", "{}", "--out", "{}/x"), "no judge"),
        (("judge", "--judges", "physics", "--out", "{}/x"), "judge what?"),
        (
            ("judge", "--judges", "physics", "{}", "--out", "{}/x", "--protocol",
             "physics/1,physics/phyprobe-1"),
            "one protocol for each",
        ),
        (("physics", "drift", "{}"), "no file"),
        (("physics", "serve", "--host", "0.0.0.0"), "token"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_words(words, complaint, tmp_path, capsys):
    code, told = run(capsys, *(word.format(tmp_path) for word in words))
    assert code == 2
    assert complaint in told["error"]


def test_a_folder_with_other_things_is_left_alone(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 1, 0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    words = ("judge", "--judges", "physics", videos, "--head", head, "--out", tmp_path / "out")
    code, told = run(capsys, *words)
    assert code == 2
    assert "holds other things" in told["error"]


def test_best_of_chooses_in_each_group(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 6, 3)  # numbers 1, 3 and 5 are broken
    table = videos / "list.jsonl"
    lines = [{"video": f"{n:04d}.mp4", "prompt": "ab"[n // 3]} for n in range(6)]
    table.write_text("\n".join(map(json.dumps, lines)))
    words = ("physics", "best-of", table, "--head", head, "--out", tmp_path / "out")
    code, told = run(capsys, *words)
    assert code == 0, told
    rows = {row["input"]: row["raw"] for row in rows_of(tmp_path / "out")}
    assert [choice["group"] for choice in told["choices"]] == ["a", "b"]
    first = told["choices"][0]
    assert first["best"] == min(("0000.mp4", "0002.mp4"), key=rows.get)
    assert (first["n"], first["unscored"]) == (3, 1)
    assert read_json(tmp_path / "out" / "best.json")["by"] == "prompt"


def test_best_of_says_before_it_judges_that_nothing_belongs_together(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 2, 0)
    words = ("physics", "best-of", videos, "--head", head, "--out", tmp_path / "out")
    code, told = run(capsys, *words)
    assert code == 2
    assert "--by folder" in told["error"]
    assert not (tmp_path / "out").exists()


def test_drift_compares_runs_and_fails_where_something_changed(head, tmp_path, capsys):
    words = ("judge", "--judges", "physics", "--head", head, "--no-report", "--out")
    videos = make_videos(tmp_path / "videos", 8, 0)
    for name in ("one", "two"):
        assert run(capsys, *words, tmp_path / name, videos)[0] == 0
    code, told = run(capsys, "physics", "drift", tmp_path / "one", tmp_path / "two")
    assert (code, told["verdict"], told["largest"]) == (0, "unchanged", 0)
    rows = rows_of(tmp_path / "two")
    lines = [json.dumps(row | {"raw": row["raw"] + 0.3}) for row in rows]
    (tmp_path / "two" / "clips.jsonl").write_text("\n".join(lines) + "\n")
    code, told = run(capsys, "physics", "drift", tmp_path / "one", tmp_path / "two")
    assert (code, told["verdict"]) == (1, "drifted")
    assert told["first_to_last"] == pytest.approx(0.3)
    record = read_json(tmp_path / "two" / "record.json")
    (tmp_path / "two" / "record.json").write_text(json.dumps(record | {"protocol": "other"}))
    code, told = run(capsys, "physics", "drift", tmp_path / "one", tmp_path / "two")
    assert code == 2
    assert "different protocols" in told["error"]


def test_a_run_killed_at_random_goes_on_without_doing_anything_twice(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 40, 4)
    out, whole = tmp_path / "out", tmp_path / "whole"
    words = ["judge", "--judges", "physics", str(videos), "--head", str(head), "--no-report"]
    kills, lines = 0, 0
    while kills < 2:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words, "--out", str(out)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        path, until = out / "clips.jsonl", time.monotonic() + 120
        wanted = lines + 8
        while time.monotonic() < until and process.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(0.02)
        assert process.poll() is None, "it was done before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        found = path.read_bytes()
        lines = found[: found.rfind(b"\n") + 1].count(b"\n")
        assert wanted <= lines < 40
    code, told = run(capsys, *words, "--out", out)
    assert code == 0, told
    assert told["kept_from_before"] == lines
    assert told["counts"] == {"videos": 40, "scored": 36, "abstained": 0, "failed": 4}
    assert run(capsys, *words, "--out", whole)[0] == 0
    assert (out / "clips.jsonl").read_bytes() == (whole / "clips.jsonl").read_bytes()
    assert read_json(out / "readings.json") == read_json(whole / "readings.json")
    named = [row["input"] for row in rows_of(out) if row["status"] == "failed"]
    assert named == [f"{n:04d}.mp4" for n in range(9, 40, 10)]


def test_a_store_is_told_what_would_make_videos_of_it(tmp_path, capsys):
    store = tmp_path / "store"
    assert main.run(["collect", "pong", "--out", str(store), "-n", "2", "--split", "test"]) == 0
    capsys.readouterr()
    for words in (("judge", "--judges", "physics"), ("physics", "best-of")):
        code, told = run(capsys, *words, store, "--out", tmp_path / "out")
        assert code == 2
        assert "--model" in told["error"]
        assert "--as video" in told["error"]
        assert not (tmp_path / "out").exists()


def test_runs_of_the_physics_judge_alone_are_compared(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 6, 0)
    words = ("judge", "--judges", "physics", videos, "--no-report", "--out")
    for name in ("one", "two"):
        assert run(capsys, *words, tmp_path / name, "--head", head)[0] == 0
    rows = [
        row | {"raw": row["raw"] + 0.3 + n / 100} for n, row in enumerate(rows_of(tmp_path / "two"))
    ]
    (tmp_path / "two" / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pair = (tmp_path / "one", tmp_path / "two")
    code, told = run(capsys, "compare", *pair, "--gate", "-o", tmp_path / "change")
    raw = next(row for row in told["rows"] if row["metric"] == "violation_raw")
    assert raw["difference"] == pytest.approx(0.325)
    assert raw["low"] <= raw["difference"] <= raw["high"]
    assert (code, told["of"]) == (int(bool(told["regressed"])), "videos")
    page = (tmp_path / "change" / "comparison.html").read_text()
    assert "Videos that changed most" in page
    assert run(capsys, *words, tmp_path / "other", "--head", "untrained")[0] == 0
    code, told = run(capsys, "compare", tmp_path / "one", tmp_path / "other")
    assert code == 2
    assert "different protocols, eyes or heads" in told["error"]


def test_true_videos_of_a_table_are_judged_once_each_wherever_they_lie(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "elsewhere", 3, 0)
    (tmp_path / "lists").mkdir()
    table = tmp_path / "lists" / "list.jsonl"
    lines = [{"video": str(videos / f"000{n}.mp4"), "id": f"{n}", "model": "m",
              "true_video": str(videos / "0002.mp4")} for n in range(2)]  # fmt: skip
    lines += [{"path": str(videos / "0000.mp4"), "id": "0 (true)", "true_video": "a\0"}]
    table.write_text("\n".join(map(json.dumps, lines)))
    words = ("judge", "--judges", "physics", table, "--head", head, "--no-report")
    code, told = run(capsys, *words, "--out", tmp_path / "out")
    assert code == 0, told
    rows = {row["input"]: row for row in rows_of(tmp_path / "out")}
    assert len(rows) == 5
    true = [row for row in rows.values() if row.get("role") == "true"]
    assert [row["status"] for row in true] == ["scored", "failed"]
    assert "zero byte" in true[1]["why"]


def test_a_name_cannot_steer_the_terminal(head, tmp_path, capsys):
    videos = make_videos(tmp_path / "videos", 1, 0)
    (videos / "0000.mp4").rename(videos / "a\x1b[31m\u202e\n\r.mp4")
    (videos / "b\x1b]0;x\x07.mp4").touch()
    words = ["judge", "--judges", "physics", str(videos), "--head", str(head), "--no-report"]
    assert main.run([*words, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert set("\x1b\x07\r\u202e").isdisjoint(told)
    assert "a\\x1b[31m\\u202e\\n\\r.mp4" in told
    assert main.run(["report", str(tmp_path / "no\x1b[31m")]) == 2
    assert "\x1b" not in capsys.readouterr().err
