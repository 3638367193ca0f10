"""What two sets share: by bytes, by name, by words, by who made it."""

import math

import pytest
from corpus_folders import make
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.bench.physics.overlap import by_split, hash_of, normalised, overlaps
from cosmolabe.core import parts
from cosmolabe.core.corpus import ClipRow, Corpus


def a_set(name, rows):
    return Corpus(name, tuple(ClipRow(dataset=name, **row) for row in rows))


def found(first, second, folders=None):
    return {one.by: one for one in overlaps((first, second), folders)}


def test_prompts_are_the_same_whatever_their_case_and_punctuation():
    first = a_set("a", [{"id": "1", "prompt": "A ball, falling!"}, {"id": "2", "prompt": "A duck"}])
    second = a_set("b", [{"id": "3", "prompt": "a ball  falling"}, {"id": "4"}])
    one = found(first, second)["prompt"]
    assert (one.shared, one.clips_first, one.clips_second) == (1, 1, 1)
    assert (one.share_first, one.share_second) == (0.5, 1.0)


def test_a_prompt_of_many_clips_counts_all_of_them():
    first = a_set("a", [{"id": str(n), "prompt": "A ball"} for n in range(5)])
    second = a_set("b", [{"id": "x", "prompt": "a ball."}, {"id": "y", "prompt": "a cat"}])
    one = found(first, second)["prompt"]
    assert (one.shared, one.clips_first, one.clips_second) == (1, 5, 1)


def test_generators_and_ids_are_told_by_their_letters_and_unknown_ones_are_on_no_side():
    first = a_set("a", [{"id": "x/ball_1", "generator": "Kling-1.5"}, {"id": "2"}])
    second = a_set("b", [{"id": "y/Ball-1", "generator": "kling_1.5"}, {"id": "4"}])
    one = found(first, second)
    assert (one["generator"].shared, one["generator"].known_first) == (1, 1)
    assert one["id"].shared == 1
    nobody = found(a_set("a", [{"id": "1"}]), a_set("b", [{"id": "1", "generator": "unknown"}]))
    assert nobody["generator"].shared == nobody["generator"].known_second == 0
    assert math.isnan(nobody["generator"].share_second)


def test_the_same_bytes_are_the_same_video_under_any_name(tmp_path):
    for home, files in {
        "a": {"1.mp4": b"same", "2.mp4": b"size", "3.mp4": b"another length"},
        "b": {"x.mp4": b"same", "y.mp4": b"edis", "z.mp4": b"short"},
    }.items():
        (tmp_path / home).mkdir()
        for name, content in files.items():
            (tmp_path / home / name).write_bytes(content)
    corpora = [
        a_set(home, [{"id": name, "path": name} for name in names])
        for home, names in {
            "a": ("1.mp4", "2.mp4", "3.mp4"),
            "b": ("x.mp4", "y.mp4", "z.mp4"),
        }.items()
    ]
    one = found(*corpora, {"a": tmp_path / "a", "b": tmp_path / "b"})["video"]
    assert (one.shared, one.clips_first, one.clips_second, one.known_second) == (1, 1, 1, 3)
    assert hash_of(tmp_path / "a" / "1.mp4") == hash_of(tmp_path / "b" / "x.mp4")


def test_a_set_shares_everything_with_itself(tmp_path):
    folder = make("videophy2", tmp_path)
    corpus = parts.load("corpora", "videophy2").read(folder)
    for one in overlaps((corpus, corpus), {"videophy2": folder}):
        assert one.share_first == one.share_second == 1


def test_train_and_test_of_one_corpus_are_compared_as_two(tmp_path):
    corpus = parts.load("corpora", "videofeedback2").read(make("videofeedback2", tmp_path))
    splits = by_split(corpus)
    assert [one.name for one in splits] == [
        "videofeedback2/unsaid", "videofeedback2/test", "videofeedback2/train",
    ]  # fmt: skip
    assert sum(len(one.clips) for one in splits) == len(corpus.clips)
    pairs = {(one.first, one.second): one for one in overlaps(splits) if one.by == "prompt"}
    shared = pairs["videofeedback2/test", "videofeedback2/train"]
    assert shared.shared == 1  # "A cup."
    assert shared.share_second == pytest.approx(5 / 15)


@given(st.text())
def test_a_normalised_prompt_stays_what_it_is(text):
    assert normalised(normalised(text)) == normalised(text)
    assert normalised(text) == normalised(f"  {text}  ")
