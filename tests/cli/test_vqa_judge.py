"""`judge --judges vqa`: on models, on finished videos with actions, beside the other judges."""

import json

import numpy as np
import pytest

from cosmolabe.bench.vqa.certificate import Sizes, certify
from cosmolabe.bench.vqa.held_play import held_play
from cosmolabe.bench.vqa.imagined import drawing
from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.cli import main
from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.rollout_folder import read_rollouts
from cosmolabe.data.video.writing import write_video
from cosmolabe.judges.vqa import Vqa, judge
from cosmolabe.judges.vqa.finished import data_of
from cosmolabe.vlms.tiny import build_tiny

PONG = parts.load("games", "pong")
UP = np.array(PONG.action_table, np.float32)[1]


@pytest.fixture(scope="module")
def vlm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vlm")
    made = build_tiny(vocabulary(), image=32)
    made.save(folder)
    told = certify(made, ["pong"], Sizes(clips=12, unseen=0, side=32))
    rate = {"share": 0.9, "n": 40.0}  # as if it had been measured to see something
    told["rates"]["pong"]["obedience"] = {"sensitivity": rate, "specificity": rate}
    write_json(folder / "certificate.json", told)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("play") / "store"
    assert main.run(["collect", "pong", "--out", str(folder), "-n", "8", "--split", "test"]) == 0
    return folder


def run(capsys, *words):
    code = main.run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def reading(told, metric, judge="vqa"):
    return next(r for r in told["readings"] if (r["judge"], r["metric"]) == (judge, metric))


def test_a_model_is_asked_about_beside_standing_still_and_the_truth(vlm, store, tmp_path, capsys):
    out = tmp_path / "out"
    words = ("judge", "--judges", "vqa", store, "-m", "constant_velocity", "--vlm-weights", vlm)
    code, told = run(capsys, *words, "--imagined", 3, "--out", out)
    assert code == 0, told
    rows = [json.loads(line) for line in (out / "clips.jsonl").read_text().splitlines()]
    assert {(row["model"], row["role"]) for row in rows} == {
        ("constant_velocity", "imagined"), ("still", "floor"), ("true", "true"),
    }  # fmt: skip
    assert all({"status", "why"} <= set(row) for row in rows)
    found = reading(told, "obedience")
    assert found["floor"] == 0.0  # freezing pays nothing
    assert found["n"] + found["skipped"] == 9
    assert reading(told, "obedience_corrected")["value"] is not None
    assert "not measurable" in reading(told, "identity")["why"]
    assert read_json(out / "vqa.json")["fingerprint"] == found["protocol"]
    assert "Was the action carried out?" in (out / "report.html").read_text()
    assert "asked" in read_json(out / "report.json")


def test_a_judge_at_chance_says_so_in_readings_table_and_report(vlm, store, tmp_path, capsys):
    guessing = tmp_path / "certificate.json"
    told = read_json(vlm / "certificate.json")
    half = {"share": 0.5, "n": 40.0}
    told["rates"]["pong"]["obedience"] = {"sensitivity": half, "specificity": half}
    write_json(guessing, told)
    out = tmp_path / "out"
    words = ["judge", "--judges", "vqa", store, "-m", "constant_velocity", "--vlm-weights", vlm,
             "--certificate", guessing, "--imagined", 3, "--out", out]  # fmt: skip
    assert main.run([*map(str, words)]) == 0
    assert "obedience (pong): the judge is at chance" in " ".join(capsys.readouterr().out.split())
    readings = {r["metric"]: r for r in read_json(out / "readings.json")}
    assert readings["obedience_corrected"]["value"] is None
    for name in ("obedience", "obedience_corrected"):
        assert "at chance" in readings[name]["why"]
    assert readings["obedience"]["direction"] == "none"
    page = (out / "report.html").read_text()
    assert "of the way from doing nothing" not in page
    assert page.count("the judge is at chance") >= 2  # beside the needle and below the table


def test_three_judges_look_at_the_same_rollouts_and_say_how_they_agree(
    vlm, store, tmp_path, capsys
):
    out = tmp_path / "out"
    words = ("judge", "--judges", "state,vqa,physics", store, "-m", "constant_velocity")
    more = ("--vlm-weights", vlm, "--imagined", 8, "-n", 4, "--scenarios", 0, "--out", out)
    code, told = run(capsys, *words, *more)
    assert code == 0, told
    assert {r["judge"] for r in told["readings"]} == {"state", "vqa", "physics"}
    looked, asked = (
        [json.loads(line) for line in (out / name).read_text().splitlines()]
        for name in ("videos.jsonl", "vqa.jsonl")
    )
    assert {(row["id"], row["model"]) for row in looked} == {
        (row["id"], row["model"]) for row in asked
    }
    agree = read_json(out / "vqa.json")["agreement"]
    assert {(row["of"], row["and"]) for row in agree} == {
        ("state error", "physics"), ("state error", "vqa"), ("physics", "vqa"),
    }  # fmt: skip
    assert all((row["rank"] is None) == bool(row["why"]) for row in agree)
    page = (out / "report.html").read_text()
    assert page.index("How badly is physics violated?") < page.index("Do the judges agree?")


def test_finished_videos_with_actions_are_asked_about_and_their_true_video_is_the_ceiling(
    vlm, tmp_path, capsys
):
    held, folder = held_play("pong", 2, 3), tmp_path / "rollouts"
    folder.mkdir()
    lines = []
    for row in range(2):
        states, numbers = held.windows.states[row], held.windows.globals[row]
        film = drawing(PONG, states, numbers, held.looks[row], 64)(np.arange(len(states)))
        still = np.repeat(film[:1], len(film), 0)
        write_video(folder / f"{row}.mp4", iter([still if row else film]), 60.0)
        write_video(folder / f"{row}-true.mp4", iter([film]), 60.0)
        np.savez(folder / f"{row}.npz", actions=held.windows.actions[row])
        lines.append(
            {"id": f"r{row}", "video": f"{row}.mp4", "true_video": f"{row}-true.mp4", "fps": 60,
             "actions": f"{row}.npz", "game": "pong", "model": "mine", "context": 8}
        )  # fmt: skip
    lines.append({"id": "lone", "video": "0.mp4", "game": "pong", "model": "mine"})
    (folder / "rollouts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "out"
    code, told = run(capsys, "judge", "--judges", "vqa", folder, "--vlm-weights", vlm, "--out", out)
    assert code == 0, told
    rows = [json.loads(line) for line in (out / "clips.jsonl").read_text().splitlines()]
    by_name = {row["input"]: row for row in rows}
    assert by_name["r0 mine"]["value"] == by_name["r0 true"]["value"]
    assert (by_name["r1 mine"]["status"], by_name["r1 mine"]["value"]) == ("abstained", 0.0)
    assert "no actions" in by_name["lone mine"]["why"]
    assert list((out / "media" / "vqa").glob("*.npz"))  # the failures play in the report
    assert reading(told, "identity")["n"] > 0  # videos are pixels of the model's own


def test_a_video_that_cannot_be_read_costs_its_own_row(vlm, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.mp4").write_bytes(b"no video")
    line = {"id": "a", "video": "a.mp4", "game": "pong"}
    (tmp_path / "in" / "rollouts.jsonl").write_text(json.dumps(line))
    out = tmp_path / "out"
    words = ("judge", "--judges", "vqa", tmp_path / "in", "--vlm-weights", vlm, "--out", out)
    code, told = run(capsys, *words)
    row = json.loads((out / "clips.jsonl").read_text())
    assert row["status"] != "scored"
    assert row["why"]
    assert reading(told, "obedience")["n"] == 0
    assert code == 1  # a script must notice that nothing could be asked about


def rollout_of(folder, name="a", **changes):
    """One painted rollout of pong, whose parts may be odd; gives its line."""
    frames = np.random.default_rng(0).integers(0, 255, (90, 33, 47, 3), np.uint8)
    told = {"frames": frames, "actions": np.tile(UP, (90, 1)), "fps": 60.0, "context": 8, **changes}
    np.savez(folder / f"{name}-film.npz", frames=told["frames"], fps=60.0)
    np.savez(folder / f"{name}.npz", actions=told["actions"])
    return {
        "id": name, "video": f"{name}-film.npz", "actions": f"{name}.npz", "game": "pong",
        "model": "mine", "fps": told["fps"], "context": told["context"],
    }  # fmt: skip


def folder_of(folder, *lines):
    (folder / "rollouts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return read_rollouts(folder)


ODD = {
    "sound": ({}, "scored", ""),
    "fast": ({"fps": 9999.0}, "skipped", "up to 1000"),
    "none": ({"frames": np.zeros((0, 32, 32, 3), np.uint8)}, "skipped", "not empty"),
    "short": ({"frames": np.zeros((5, 31, 17, 3), np.uint8)}, "skipped", "too short"),
    "dot": ({"frames": np.zeros((90, 1, 1, 3), np.uint8)}, "abstained", "hardly moves"),
    "given": ({"context": 10**9}, "skipped", "too short"),
    "narrow": ({"actions": np.zeros((90, 3), np.float32)}, "failed", "7 columns; got 3"),
    "bare": ({"actions": np.zeros((90, 0), np.float32)}, "failed", "7 columns; got 0"),
    "idle": ({"actions": np.zeros((0, 7), np.float32)}, "skipped", "no action word"),
    "huge": ({"actions": np.full((90, 7), 1e30, np.float32)}, "skipped", "no action word"),
    "brief": ({"actions": np.tile(UP, (20, 1))}, "skipped", "no action word"),
    "long": ({"actions": np.tile(UP, (999, 1))}, "scored", ""),
}
"""What is odd, and what becomes of the rollout."""


def test_an_odd_rollout_costs_its_own_row_and_says_why(tmp_path):
    vqa = Vqa.of(build_tiny(vocabulary(), image=32))
    lines = [rollout_of(tmp_path, name, **changes) for name, (changes, _, _) in ODD.items()]
    _, rows = judge(folder_of(tmp_path, *lines), vqa=vqa, controls=())
    found = {row["id"]: (row["status"], row["why"]) for row in rows}
    assert {name: status for name, (status, _) in found.items()} == {
        name: status for name, (_, status, _) in ODD.items()
    }
    assert all(why in found[name][1] for name, (_, _, why) in ODD.items())


def test_actions_that_are_no_numbers_are_refused_by_file(tmp_path):
    line = rollout_of(tmp_path, actions=np.full((90, 7), np.nan, np.float32))
    with pytest.raises(ValueError, match="no 32-bit number"):
        folder_of(tmp_path, line)


def test_two_models_told_the_same_can_be_compared_and_others_cannot(tmp_path):
    one, two, three = (
        data_of(folder_of(tmp_path, rollout_of(tmp_path, **changes)))
        for changes in (
            {},
            {"frames": np.zeros((70, 16, 16, 3), np.uint8)},
            {"actions": np.tile(-UP, (90, 1))},
        )
    )
    assert one == two != three
