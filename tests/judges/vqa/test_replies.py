"""Raw replies are kept a line each: nothing is asked twice, lost, or taken for another model's."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.judges.vqa.replies import FILE, Replies, Reply, clip_hash, reply_key

CLIP = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
texts = st.text(st.characters(codec=None), max_size=20)


def reply(n=0, said="yes", **more):
    return Reply(f"key{n}", f"q{n}", "c", "m", said, **more)


@given(said=st.lists(texts, max_size=6))
def test_what_was_added_is_there_when_the_folder_is_opened_again(said, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    kept = Replies(folder)
    for n, text in enumerate(said):
        kept.add(reply(n, text))
    again = Replies(folder)
    assert [r.question for r in again.all] == [f"q{n}" for n in range(len(said))]
    if all(text.isprintable() for text in said):
        assert [r.reply for r in again.all] == said
    assert (again.torn, again.duplicates) == ([], [])


@given(cut=st.integers(1, 60))
def test_a_torn_last_line_costs_one_reply_and_no_other(cut, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    kept = Replies(folder)
    kept.add(reply(0))
    kept.add(reply(1))
    whole = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(whole[:-cut])
    after = Replies(folder)
    assert "key0" in after
    assert ("key1" in after) == (cut == 1)  # the line is whole; only its end is missing
    if "key1" not in after:
        after.add(reply(1, "no"))
    after.add(reply(2))
    final = Replies(folder)
    assert [key in final for key in ("key0", "key1", "key2")] == [True] * 3
    assert len(final.torn) == (cut > 1)
    assert (folder / FILE).read_bytes().startswith(whole[:-cut])  # only ever added to


def test_a_run_that_goes_on_asks_only_what_is_missing(tmp_path):
    asked = []

    def run(stop_after):
        kept = Replies(tmp_path)
        for n in range(5):
            if f"key{n}" not in kept:
                if len(asked) == stop_after:
                    return
                asked.append(n)
                kept.add(reply(n))

    run(2)
    run(99)
    run(99)
    assert asked == [0, 1, 2, 3, 4]


def test_an_answered_question_is_not_answered_again(tmp_path):
    kept = Replies(tmp_path)
    kept.add(reply(0))
    with pytest.raises(ValueError, match="answered already"):
        kept.add(reply(0, "no"))
    assert kept["key0"].reply == "yes"


def test_a_failed_call_may_be_made_again_and_what_came_then_counts(tmp_path):
    kept = Replies(tmp_path)
    kept.add(reply(0, None, status="error", why="no route to host"))
    assert "key0" not in kept
    kept.add(reply(0))
    again = Replies(tmp_path)
    assert "key0" in again
    assert [r.reply for r in again.of_question("m")["q0"]] == ["yes"]
    assert again.duplicates == []


def test_two_writers_are_seen_and_told_apart_where_they_disagree(tmp_path):
    mine, theirs = Replies(tmp_path), Replies(tmp_path)
    mine.add(reply(0))
    theirs.add(reply(0))
    mine.add(reply(1))
    theirs.add(reply(1, "no"))
    found = Replies(tmp_path)
    assert found.duplicates == ["key0", "key1"]
    assert found.conflicts == ["key1"]
    assert found["key1"].reply == "yes"


def test_two_questions_with_one_prompt_share_an_answer(tmp_path):
    kept = Replies(tmp_path)
    kept.add(reply(0))
    kept.add(replace(kept["key0"], question="q9"))
    assert set(Replies(tmp_path).of_question("m")) == {"q0", "q9"}


def test_replies_of_another_model_are_no_votes(tmp_path):
    """WorldModelBench resumed from any file that was there, whatever the model's name."""
    kept = Replies(tmp_path)
    kept.add(reply(0))
    kept.add(replace(reply(1, "no"), question="q0", model="other"))
    assert [r.reply for r in kept.of_question("m")["q0"]] == ["yes"]
    assert kept.models() == ["m", "other"]


def test_a_question_asked_in_new_words_replaces_the_old_and_variations_stay_apart(tmp_path):
    kept = Replies(tmp_path)
    kept.add(reply(0, variation="offset 0"))
    kept.add(replace(reply(1, "no", variation="offset 1"), question="q0"))
    kept.add(replace(reply(2, "maybe", variation="offset 1"), question="q0"))
    assert [r.reply for r in kept.of_question("m")["q0"]] == ["yes", "maybe"]


def test_a_key_changes_with_model_prompt_sampler_and_pixels_and_with_nothing_else():
    sampler = {"mode": "generate", "tokens": 16}
    base = reply_key("m", "Is it?", sampler, clip_hash(CLIP))
    assert base == reply_key("m", "Is it?", dict(reversed(sampler.items())), clip_hash(CLIP.copy()))
    other = CLIP.copy()
    other[0, 0, 0, 0] += 1
    changed = {
        reply_key("m2", "Is it?", sampler, clip_hash(CLIP)),
        reply_key("m", "Is it ?", sampler, clip_hash(CLIP)),
        reply_key("m", "Is it?", {**sampler, "tokens": 8}, clip_hash(CLIP)),
        reply_key("m", "Is it?", sampler, clip_hash(other)),
        reply_key("m", "Is it?", sampler, clip_hash(CLIP.reshape(2, 2, 8, 3))),
    }
    assert len(changed) == 5
    assert base not in changed


@pytest.mark.parametrize(
    "row",
    [
        [1, 2],
        {"key": "k"},
        {"key": "k", "question": 3, "reply": "yes"},
        {"key": "k", "question": "q", "reply": 3},
        {"key": "k", "question": "q", "scores": {"yes": "high"}},
        {"key": "k", "question": "q", "scores": {"yes": 10**400}},
        {"key": "k", "question": "q", "reply": "yes", "options": "ab"},
        {"key": "k", "question": "q", "reply": "yes", "options": [1]},
        {"key": "k", "question": "q", "reply": "yes", "status": "perhaps"},
        {"key": "k", "question": "q", "reply": None},
        {"key": "k", "question": "q", "reply": "yes", "about": 3},
    ],
)
def test_a_line_that_is_no_reply_is_counted_and_passed_over(row, tmp_path):
    (tmp_path / FILE).write_text(json.dumps(row) + "\n")
    found = Replies(tmp_path)
    assert (len(found), found.torn) == (0, [1])


def test_replies_are_read_from_a_plain_file_alone(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(ValueError, match="not a plain file"):
        Replies(tmp_path)


def test_an_answer_of_nothing_is_refused():
    with pytest.raises(ValueError, match="text or scores"):
        Reply("k", "q")
