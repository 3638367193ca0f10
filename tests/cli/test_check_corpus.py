"""`cosmolabe check corpus`: what is there, what is not, and how it is told."""

import contextlib
import io
import json

import pytest
from corpus_folders import BADNESS, UNRATED, make

from cosmolabe.cli import main
from cosmolabe.data.corpus_rows import import_corpus


def run(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main.run(["check", "corpus", *map(str, words)])
    return code, out.getvalue()


def run_json(*words):
    code, text = run(*words, "--json")
    return code, json.loads(text)


@pytest.mark.parametrize("name", [*BADNESS, *UNRATED])
def test_every_corpus_is_told_in_numbers(name, tmp_path):
    code, answer = run_json(name, make(name, tmp_path))
    assert code == 0
    assert answer["present"] == answer["clips"] == sum(answer["kind"].values())
    assert answer["bad"] == answer["missing"] == 0
    assert answer["pairs"] > 0
    assert sum(level["clips"] for level in answer["levels"]) == answer["clips"]
    assert {"licence", "use", "source", "schema"} <= set(answer)


def test_people_see_polarity_by_the_sets_own_label(tmp_path):
    code, text = run("videophy2", make("videophy2", tmp_path))
    assert code == 0
    lines = [line.split() for line in text.splitlines() if "pc" in line and "." in line]
    assert ["0.000", "3", "pc", "5"] in lines
    assert ["1.000", "3", "pc", "1"] in lines


def test_nothing_there_is_a_failed_check_that_says_what_was_looked_for(tmp_path):
    code, text = run("kinetics", tmp_path)
    assert code == 1
    assert "youtube_id" in text


def test_all_videos_missing_is_a_failed_check(tmp_path):
    folder = make("physics_iq", tmp_path)
    for video in folder.rglob("*.mp4"):
        video.unlink()
    code, answer = run_json("physics_iq", folder, "--show", 2)
    assert code == 1
    assert answer["missing"] == 12
    assert len(answer["missing_videos"]) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nobody", "{}"), "no corpus named 'nobody'"),
        (("videophy", "{}/nowhere"), "no folder"),
        (("videophy", "{}", "--most", "-1"), "most counts pairs"),
        (("videophy", "{}", "--against", "videophy2"), "NAME=FOLDER"),
        (("videophy", "{}", "--against", "nobody={}"), "no corpus named 'nobody'"),
    ],
)
def test_bad_input_is_refused_in_words(words, says, tmp_path):
    code, answer = run_json(*(word.replace("{}", str(tmp_path)) for word in words))
    assert code == 2
    assert says in answer["error"]


def test_what_two_sets_share_is_shown(tmp_path):
    first, second = make("videophy2", tmp_path / "a"), make("videophy2", tmp_path / "b")
    code, answer = run_json("videophy2", first, "--against", f"videophy2={second}")
    assert code == 0
    assert {one["by"]: one["share_second"] for one in answer["overlaps"]} == {
        "video": 1.0, "id": 1.0, "prompt": 1.0, "generator": 1.0,
    }  # fmt: skip


def test_clips_and_pairs_can_be_taken_away(tmp_path):
    folder, out = make("aigve", tmp_path / "set"), tmp_path / "rows"
    _, answer = run_json("aigve", folder, "--out", out, "--most", 7)
    corpus = import_corpus(out)
    assert len(corpus.clips) == answer["clips"]
    assert len(corpus.stated_pairs) == answer["pairs"] == 7


def test_masks_are_measured_where_that_is_asked_for(tmp_path):
    folder = make("broken_videos", tmp_path)
    (folder / "composites.jsonl").unlink()
    _, before = run_json("broken_videos", folder)
    assert [level["violation"] for level in before["levels"]] == [None]
    _, after = run_json("broken_videos", folder, "--prepare")
    assert after["prepared"] == 6
    assert None not in [level["violation"] for level in after["levels"]]
