"""Things go wrong; nothing is lost, and what would help is said."""

import signal
import subprocess
import sys

from cosmolabe.core.record import read_json


def test_a_flipped_byte_is_found_and_named(tell, tmp_path):
    store = tmp_path / "pong"
    tell("collect", "pong", "--out", store, "-n", 4, "--split", "test", "--max-ticks", 40)
    shard = next(store.glob("*.shard"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    code, checked = tell("check", "store", store)
    assert code == 1
    assert shard.name in checked["error"]


def test_a_store_of_another_collection_is_never_overwritten(tell, tmp_path):
    store = tmp_path / "pong"
    words = ("collect", "pong", "--out", store, "--split", "test", "--max-ticks", 40)
    _, first = tell(*words, "-n", 4)
    code, refused = tell(*words, "-n", 5)
    assert code == 2
    assert "choose a new folder" in refused["error"]
    assert tell(*words, "-n", 4)[1]["fingerprint"] == first["fingerprint"]


def test_runs_on_other_windows_are_not_compared(tell, tmp_path):
    store = tmp_path / "pong"
    tell("collect", "pong", "--out", store, "-n", 8, "--split", "test", "--max-ticks", 60)
    for seed in (0, 1):
        words = ("judge", store, "-m", "still", "--seed", seed, "--out", tmp_path / f"run{seed}")
        tell(*words, "--clips", 0, "--no-report")
    code, refused = tell("compare", tmp_path / "run0", tmp_path / "run1")
    assert code == 2
    assert "different windows" in refused["error"]


def test_episodes_that_are_too_short_are_counted_and_named(tell, tmp_path):
    store, run = tmp_path / "pong", tmp_path / "run"
    tell("collect", "pong", "--out", store, "-n", 4, "--split", "test", "--max-ticks", 12)
    code, refused = tell("judge", store, "-m", "still", "--out", run)
    assert code == 2
    assert "shorter than 28 states" in refused["error"]


def test_a_game_keeps_its_promises(tell):
    code, checked = tell("check", "game", "pong")
    assert (code, checked["failed"]) == (0, [])
    assert len(checked["checks"]) > 10


def test_training_that_was_stopped_goes_on(tmp_path, tell):
    store, trained = tmp_path / "pong", tmp_path / "model"
    tell("collect", "pong", "--out", store, "-n", 16, "--max-ticks", 100)
    words = ("train", store, "--out", trained, "--batch-size", 2, "--threads", 1)
    program = [sys.executable, "-c", "from cosmolabe.cli.main import main; main()"]
    running = subprocess.Popen(
        [*program, *map(str, words), "--steps", "100000", "--evaluate", "0.3"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    assert running.stderr.readline().startswith("step ")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "--resume" in said
    code, refused = tell(*words, "--steps", 1)
    assert code == 2
    assert "--resume" in refused["error"]
    state = read_json(trained / "training.json")
    code, more = tell(*words, "--steps", state["step"] + 2, "--resume")
    assert (code, more["steps"]) == (0, state["step"] + 2)
