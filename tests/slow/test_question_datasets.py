"""Needs `datasets`, which the project's own environment does not have."""

import json

import numpy as np
import pytest

datasets = pytest.importorskip("datasets")

from cosmolabe.data.questions import read_clips, read_questions
from cosmolabe.data.questions.hub import export_questions, import_questions
from cosmolabe.data.questions.making import Recipe, make_questions


@pytest.fixture
def made(tmp_path):
    recipe = Recipe(games=("pong", "kong"), clips=6, size=16, tasks=("action_recognition", "event"))
    make_questions(tmp_path / "set", recipe)
    return tmp_path / "set"


def test_a_set_goes_out_and_comes_in_unchanged(made, tmp_path):
    count = export_questions(made, tmp_path / "hub")
    opened = datasets.load_from_disk(str(tmp_path / "hub"))
    assert opened["questions"].num_rows == count
    assert {row["clip"] for row in opened["questions"]} <= set(opened["clips"]["id"])
    assert import_questions(tmp_path / "hub", tmp_path / "back") == count
    assert read_questions(tmp_path / "back") == read_questions(made)
    for one, other in zip(read_clips(made), read_clips(tmp_path / "back"), strict=True):
        assert one.id == other.id
        assert np.array_equal(one.frames, other.frames)
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.about["states"], other.about["states"])


def test_what_is_no_such_dataset_is_refused(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(ValueError, match="is no dataset"):
        import_questions(tmp_path / "x", tmp_path / "y")
    table = datasets.Dataset.from_list([{"text": "hello"}])
    datasets.DatasetDict({"questions": table, "clips": table}).save_to_disk(tmp_path / "z")
    with pytest.raises(ValueError, match="does not fit"):
        import_questions(tmp_path / "z", tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_a_clip_cannot_name_a_file_outside_the_set(made, tmp_path):
    export_questions(made, tmp_path / "hub")
    opened = datasets.load_from_disk(str(tmp_path / "hub"))
    bad = opened["clips"].map(lambda row: {**row, "id": "../../" + row["id"]})
    datasets.DatasetDict({"questions": opened["questions"], "clips": bad}).save_to_disk(
        tmp_path / "bad"
    )
    (tmp_path / "bad" / "record.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(ValueError, match="does not fit"):
        import_questions(tmp_path / "bad", tmp_path / "out")
