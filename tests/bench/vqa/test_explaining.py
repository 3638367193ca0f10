"""What goes wrong? Asked about the worst windows, out of all damages we can make."""

import json

import numpy as np
import pytest

from cosmolabe.bench.physics.many import keep_window
from cosmolabe.bench.vqa.explaining import (
    damage_words,
    explain,
    explain_run,
    explanation_question,
    score_of,
    truths_of,
)
from cosmolabe.cli.main import run
from cosmolabe.core.question import AskedClip
from cosmolabe.data.clip_damage import KINDS as OF_CLIPS
from cosmolabe.data.damage import KINDS
from cosmolabe.data.scene_names import KINDS as OF_SCENES
from cosmolabe.vlms.tiny import build_tiny


class Told:
    """Says what it was made to say."""

    name, family, module, key = "told", None, None, "told-key"

    def __init__(self, kind):
        self.words = damage_words()[kind]

    def see(self, clips):
        return list(clips)

    def loss(self, seen, prompts, answers):
        raise NotImplementedError

    def likelihood(self, seen, prompts, labels):
        return [np.array([0.0 if label == self.words else -9.0 for label in row]) for row in labels]

    def generate(self, seen, prompts, tokens=16):
        return [self.words for _ in prompts]


def clip(name, damage=""):
    frames = np.zeros((14, 16, 16, 3), np.uint8)
    return AskedClip(name, frames, 15.0, None, {"damage": damage})


def test_every_damage_there_is_has_words_of_its_own():
    words = damage_words()
    assert set(words) == {*KINDS, *OF_CLIPS, *OF_SCENES}
    assert len(set(words.values())) == len(words)


def test_options_are_shuffled_by_the_clip_and_hold_the_truth():
    one, two = explanation_question(clip("a", "vanish")), explanation_question(clip("b", "vanish"))
    assert one.options != two.options
    assert set(one.options) == set(two.options)
    assert one.truth == damage_words()["vanish"]
    assert "Something is wrong" in one.text
    assert all(option in one.text for option in one.options)


def test_only_known_damage_is_right_or_wrong():
    rows = explain(Told("vanish"), [clip("a", "vanish"), clip("b", "lag"), clip("c")])
    assert [row["right"] for row in rows] == [True, False, None]
    score = score_of(rows)
    assert (score["n"], score["right"], score["majority"]) == (2, 0.5, 0.5)


def test_a_model_that_lacks_the_words_says_which():
    tiny = build_tiny(["what", "goes", "wrong"], image=32)
    with pytest.raises(ValueError, match="never taught"):
        explain(tiny, [clip("a", "vanish")])


@pytest.fixture
def run_folder(tmp_path):
    frames = np.random.default_rng(0).integers(0, 256, (40, 32, 32, 3), dtype=np.uint8)
    keep_window(tmp_path, 0, "one.mp4", frames, 20.0, 0.0, (0.5, 1.5))
    row = {"input": "one.mp4", "status": "scored", "raw": 0.9, "value": 0.9}
    (tmp_path / "clips.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "record.json").write_text(json.dumps({"schema": 1, "command": "judge"}))
    (tmp_path / "readings.json").write_text("[]")
    return tmp_path


def test_a_run_keeps_what_was_said_and_the_report_shows_it(run_folder, capsys):
    table = run_folder / "truth.jsonl"
    table.write_text(json.dumps({"input": "one.mp4", "damage": "teleport"}) + "\n")
    rows = explain_run(run_folder, Told("vanish"), truths_of(table))
    assert [(row["input"], row["right"]) for row in rows] == [("one.mp4", False)]
    told = json.loads((run_folder / "vqa.json").read_text())
    assert told["explainer"]["n"] == 1
    assert run(["report", str(run_folder), "--json"]) == 0
    page = (run_folder / "report.html").read_text()
    assert "What went wrong there?" in page
    assert damage_words()["vanish"] in page
    assert damage_words()["teleport"] in page


def test_the_verb_refuses_a_damage_nobody_can_make(run_folder, tmp_path, capsys):
    vlm = tmp_path / "vlm"
    build_tiny(["a"], image=32).save(vlm)
    table = tmp_path / "truth.jsonl"
    table.write_text(json.dumps({"input": "one.mp4", "damage": "telepot"}) + "\n")
    words = ["vqa", "explain", str(run_folder), "--source", str(vlm), "--truth", str(table)]
    assert run([*words, "--json"]) == 2
    assert "no damage 'telepot'" in json.loads(capsys.readouterr().out)["error"]
