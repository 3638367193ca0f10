import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("transformers")
pytest.importorskip("peft")

from vlm_toys import toy_clips, toy_questions, toy_vlm

from cosmolabe.cli.main import run
from cosmolabe.core.record import read_json, write_jsonl
from cosmolabe.data.clip_folder import ClipFolder
from cosmolabe.data.questions.folder import CLIPS, keep_clip, write_questions
from cosmolabe.vlms.tiny import load_tiny


def written(folder, clips):
    write_jsonl(folder / CLIPS, [keep_clip(folder, clip) for clip in clips])
    write_questions(folder, toy_questions(clips))
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adapt")
    toy_vlm().save(folder / "base")
    clips = toy_clips(27)
    written(folder / "train", clips[:24])
    written(folder / "val", clips[24:])
    return folder


def asked(made, out, *more):
    return [
        "vqa", "adapt", "--data", str(made / "train"), "--weights", str(made / "base"),
        "--out", str(out), "--frames", "uniform:2", "--batch", "8", "--json", *more,
    ]  # fmt: skip


def test_adapt_writes_what_was_learnt_how_and_what_it_can(made, tmp_path, capsys):
    more = ("--lr", "0.005", "--mix", "all", "--steps", "6", "--val", str(made / "val"))
    assert run(asked(made, tmp_path, "--strategy", "PL", *more)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["strategy"] == "PL"
    assert told["steps"] == 6
    assert {(s["control"], s["format"]) for s in told["scores"]} >= {
        ("", "binary"), ("blind", "open_ended"), ("rotated", "multiple_choice"),
    }  # fmt: skip
    assert read_json(tmp_path / "recipe.json")["recipe"]["rate"] == 0.005
    assert read_json(tmp_path / "record.json")["command"] == "vqa adapt"
    assert len(read_json(tmp_path / "scores.json")["scores"]) == len(told["scores"])
    learnt, base = load_tiny(tmp_path / "model"), load_tiny(made / "base")
    assert learnt.seen_key == base.seen_key
    assert learnt.key != base.key
    assert run(asked(made, tmp_path, "--strategy", "PL", *more)) == 0  # read, not trained again
    assert json.loads(capsys.readouterr().out)["loss"] == told["loss"]


def test_a_sweep_keeps_the_best_rate_and_tells_all(made, tmp_path, capsys):
    more = ("--mix", "all", "--steps", "3", "--val", str(made / "val"))
    code = run(asked(made, tmp_path, "--strategy", "lora(r=2)", "--sweep", "1e-6", "0.02", *more))
    told = json.loads(capsys.readouterr().out)
    assert code == 0, told
    best = max(told["tried"], key=lambda one: one["score"])
    assert [one["best"] for one in told["tried"]].count(True) == 1
    assert told["lr"] == best["value"]
    assert len(told["tried"]) == 2
    learnt = load_tiny(tmp_path / "model").module
    assert not any("lora" in name for name, _ in learnt.named_parameters())


def test_what_cannot_be_done_is_said_with_exit_code_2(made, tmp_path, capsys):
    for more, said in (
        (("--strategy", "Q"), "no strategy"),
        (("--strategy", "zero"), "trains nothing"),
        (("--frames", "every:2"), "uniform or first"),
    ):
        assert run(asked(made, tmp_path / said[:4], *more)) == 2
        assert said in json.loads(capsys.readouterr().out)["error"]


def test_clips_of_a_set_are_read_when_asked_for(made):
    clips = ClipFolder([made / "train", made / "val"])
    true = toy_clips(27)
    assert list(clips) == [clip.id for clip in true]
    assert np.array_equal(clips["clip-7"].frames, true[7].frames)
    assert list(clips.only({"clip-9", "clip-3"})) == ["clip-3", "clip-9"]
    with pytest.raises(ValueError, match="was there already"):
        ClipFolder([made / "train", made / "train"])


PROGRAM = """
import sys
from cosmolabe.nets import adapting
adapting.adapt.__kwdefaults__["saved_every"] = 0.0
from cosmolabe.cli.main import main
sys.argv = ["cosmolabe", *sys.argv[1:]]
main()
"""


def test_a_killed_command_goes_on_to_what_an_undisturbed_one_learns(made, tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    more = ("--mix", "all", "--steps", "40", "--lr", "0.005")
    command = [sys.executable, "-c", PROGRAM, *asked(made, out, *more)]
    run_ = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not list((out / "training").glob("checkpoint-*/trainer_state.json")):
        assert run_.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run_.send_signal(signal.SIGKILL)
    run_.wait()
    assert (out / "recipe.json").exists()
    assert not (out / "adapter.json").exists()
    assert run(asked(made, out, *more)) == 0
    assert run(asked(made, other, *more)) == 0
    assert read_json(out / "adapter.json")["losses"] == read_json(other / "adapter.json")["losses"]
    assert load_tiny(out / "model").key == load_tiny(other / "model").key
