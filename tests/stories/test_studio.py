"""A game studio brings its own frames as JSON envelopes and gets the state judge."""

import json


def test_envelopes_come_in_and_are_judged(tell, tmp_path):
    store, handed, mine = tmp_path / "pong", tmp_path / "envelopes", tmp_path / "mine"
    tell("collect", "pong", "--out", store, "-n", 6, "--split", "test", "--max-ticks", 50)
    code, made = tell("export", store, "--out", handed)
    assert code == 0
    assert made["frames"] == len((handed / "envelopes.jsonl").read_text().splitlines())

    code, checked = tell("check", "envelope", handed)
    assert (code, checked["episodes"], checked["frames"]) == (0, 6, made["frames"])
    code, brought = tell("import", handed, "--out", mine, "--split", "test")
    assert (code, brought["episodes"], brought["left_out"]) == (0, 6, [])
    assert tell("check", "store", mine)[0] == 0

    finals = []
    for place in (store, mine):
        words = ("-m", "constant_velocity", "--out", tmp_path / f"run-{place.name}")
        code, judged = tell("judge", place, *words, "--clips", 0, "--no-report")
        assert code == 0
        finals.append(next(r for r in judged["readings"] if r["metric"] == "final"))
    assert abs(finals[0]["value"] - finals[1]["value"]) < 1e-6
    assert finals[0]["ceiling"] is not None
    assert finals[1]["data"] != finals[0]["data"]


def test_one_bad_frame_is_told_by_its_line_and_costs_one_episode(tell, tmp_path):
    store, handed = tmp_path / "pong", tmp_path / "envelopes"
    tell("collect", "pong", "--out", store, "-n", 4, "--split", "test", "--max-ticks", 40)
    tell("export", store, "--out", handed)
    path = handed / "envelopes.jsonl"
    lines = path.read_text().splitlines()
    frame = json.loads(lines[4])
    frame["t"] = 7
    lines[4] = json.dumps(frame)
    path.write_text("\n".join(lines) + "\n")

    code, checked = tell("check", "envelope", handed)
    assert code == 1
    assert "line 5" in checked["error"]
    code, refused = tell("import", handed, "--out", tmp_path / "mine")
    assert code == 2
    assert "--skip-bad" in refused["error"]
    assert not (tmp_path / "mine").exists()
    code, brought = tell("import", handed, "--out", tmp_path / "mine", "--skip-bad")
    assert (code, brought["episodes"], len(brought["left_out"])) == (0, 3, 1)


def test_parquet_goes_out_and_comes_back_as_it_was(tell, tmp_path):
    store, handed = tmp_path / "pong", tmp_path / "tables"
    tell("collect", "pong", "--out", store, "-n", 6, "--max-ticks", 40)
    code, made = tell("export", store, "--as", "parquet", "--out", handed)
    assert code == 0
    code, brought = tell("import", handed, "--out", tmp_path / "mine")
    assert (code, brought["states"]) == (0, made["frames"])
    assert sum(brought["splits"].values()) == 6
    assert tell("import", handed, "--out", tmp_path / "x", "--split", "test")[0] == 2


def test_videos_go_out_with_their_actions(tell, tmp_path):
    store, handed = tmp_path / "pong", tmp_path / "videos"
    tell("collect", "pong", "--out", store, "-n", 3, "--split", "test", "--max-ticks", 40)
    words = ("export", store, "--as", "video", "--out", handed, "--limit", 2, "--size", 64)
    code, made = tell(*words, "--frames", 10)
    assert (code, made["frames"]) == (0, 20)
    sidecar = json.loads((handed / "pong-000000.json").read_text())
    assert len(sidecar["actions"]) == sidecar["frames"] == 10
    assert sorted(p.suffix for p in handed.iterdir()) == [".json", ".json", ".mp4", ".mp4"]
