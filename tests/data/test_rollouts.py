"""Rollouts on disk: what is written comes back, and strangers' folders are refused in words."""

import dataclasses
import json
import zipfile

import numpy as np
import pytest

import cosmolabe
from cosmolabe.data.arrays import read_arrays, write_arrays
from cosmolabe.data.collect import collect
from cosmolabe.data.rollout_folder import INDEX, read_rollouts


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rollouts") / "store"
    return collect("pong", folder, 4, split="test", max_ticks=120, salt="rollout tests")


@pytest.fixture
def folder(store, tmp_path):
    cosmolabe.rollout(cosmolabe.load_model("still", store), store, folder=tmp_path / "r")
    return tmp_path / "r"


def rewrite(folder, **changes):
    lines = (folder / INDEX).read_text().splitlines()
    row = {**json.loads(lines[0]), **changes}
    (folder / INDEX).write_text("\n".join([json.dumps(row), *lines[1:]]))


def test_what_is_written_comes_back(store, folder):
    kept = cosmolabe.rollout(cosmolabe.load_model("still", store), store)
    read = read_rollouts(folder)
    assert [one.id for one in read] == [one.id for one in kept]
    for one, other in zip(read, kept, strict=True):
        assert (one.game, one.model, one.fps, one.context) == ("pong", "still", 60.0, 8)
        for field in dataclasses.fields(one.prediction):
            np.testing.assert_array_equal(
                getattr(one.prediction, field.name), getattr(other.prediction, field.name)
            )
        np.testing.assert_array_equal(one.window.states, other.window.states)


def test_a_folder_and_a_list_of_the_same_rollouts_get_the_same_readings(store, folder):
    kept = cosmolabe.rollout(cosmolabe.load_model("still", store), store)
    assert [r.value for r in cosmolabe.judge(folder)] == [r.value for r in cosmolabe.judge(kept)]


def test_finished_rollouts_are_scored_as_the_model_itself_is(store, folder):
    judged = cosmolabe.judge_model(
        cosmolabe.load_model("still", store), store, num_episodes=64, num_pictures=0, num_clips=0
    )
    assert cosmolabe.judge(folder)[0].value == pytest.approx(judged.final)


def test_a_rollout_that_is_too_short_is_missing_and_counted(store):
    short = cosmolabe.rollout(cosmolabe.load_model("still", store), store, horizon=10)
    reading = cosmolabe.judge(short)[0]
    assert np.isnan(reading.value)
    assert (reading.why, reading.skipped) == ("too short", 4)


def test_the_published_protocol_cannot_judge_finished_rollouts(folder):
    with pytest.raises(ValueError, match="judge the model itself"):
        cosmolabe.judge(folder, protocol="state/awm-1")


def test_states_may_come_as_plain_npz(folder):
    row = json.loads((folder / INDEX).read_text().splitlines()[0])
    first = read_rollouts(folder)[0].prediction
    np.savez(
        folder / "mine.npz",
        states=first.states[0],
        globals=first.globals[0],
        terminal=first.terminal[0],
    )
    rewrite(folder, states="mine.npz")
    again = read_rollouts(folder)[0]
    assert again.id == row["id"]
    np.testing.assert_array_equal(again.prediction.states, first.states)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": None}, "an `id` of text"),
        ({"id": 7}, "an `id` of text"),
        ({"states": None}, "neither `states` nor `video`"),
        ({"states": "../outside.arrays"}, "outside the folder"),
        ({"states": "states/none.arrays"}, "no file"),
        ({"states": INDEX}, "rollouts.jsonl"),
        ({"states": ["a"]}, "must be text"),
        ({"video": []}, "must be text"),
        ({"fps": 0}, "fps"),
        ({"fps": "fast"}, "fps"),
        ({"context": -1}, "context"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_in_words(folder, changes, words):
    rewrite(folder, **changes)
    with pytest.raises(ValueError, match=words):
        read_rollouts(folder)


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "secret").write_text("x")
    (folder / "link.arrays").symlink_to(tmp_path / "secret")
    rewrite(folder, states="link.arrays")
    with pytest.raises(ValueError, match="outside the folder"):
        read_rollouts(folder)


def test_a_pickle_in_disguise_is_never_opened(folder):
    np.save(folder / "evil.npy", np.array([{"a": 1}], object), allow_pickle=True)
    (folder / "evil.npy").rename(folder / "evil.npz")
    rewrite(folder, states="evil.npz")
    with pytest.raises(ValueError, match=r"cannot be read as \.npz"):
        read_rollouts(folder)
    np.savez(folder / "worse.npz", states=np.array([{}], object), globals=0, terminal=0)
    rewrite(folder, states="worse.npz")
    with pytest.raises(ValueError, match="pickle"):
        read_rollouts(folder)


def test_arrays_of_the_wrong_shape_are_refused_with_what_was_expected(folder):
    np.savez(folder / "flat.npz", states=np.zeros(5), globals=np.zeros(5), terminal=np.zeros(5))
    rewrite(folder, states="flat.npz")
    with pytest.raises(ValueError, match="expected 3 axes of numbers"):
        read_rollouts(folder)


def test_an_id_that_stands_twice_is_refused(folder):
    lines = (folder / INDEX).read_text().splitlines()
    (folder / INDEX).write_text("\n".join([lines[0], lines[0]]))
    with pytest.raises(ValueError, match="stands twice"):
        read_rollouts(folder)


def test_broken_json_is_named_by_its_line(folder):
    (folder / INDEX).write_text('{"id": "a", \n')
    with pytest.raises(ValueError, match="line 1 is not valid JSON"):
        read_rollouts(folder)


def test_a_folder_without_an_index_is_no_folder_of_rollouts(tmp_path):
    with pytest.raises(ValueError, match=r"no rollouts\.jsonl"):
        read_rollouts(tmp_path)


def test_an_index_without_a_row_is_no_answer(folder):
    (folder / INDEX).write_text("\n\n")
    with pytest.raises(ValueError, match="holds no rollouts"):
        read_rollouts(folder)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("mask_wrap", lambda array: array[:1], "do not fit together"),
        ("mask_fields", lambda array: array[:-1], "do not fit together"),
        ("mask_globals", lambda array: array[:0], "do not fit together"),
        ("states", lambda array: np.full_like(array, np.nan), "truth has no gaps"),
        ("actions", lambda array: np.full(array.shape, 1e300), "truth has no gaps"),
    ],
)
def test_a_true_window_that_could_not_have_happened_is_refused(folder, name, change, words):
    path = folder / read_rollouts_row(folder)["true_states"]
    meta, arrays = read_arrays(path)
    write_arrays(path, meta, arrays | {name: change(arrays[name])})
    with pytest.raises(ValueError, match=words):
        read_rollouts(folder)


def read_rollouts_row(folder):
    return json.loads((folder / INDEX).read_text().splitlines()[0])


def members(**content):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)

    return write


def bare(path):
    path.write_bytes(b"\x93NUMPY")


def damaged(path):
    np.savez_compressed(path, states=np.arange(9999.0), globals=[0.0], terminal=[0.0])
    data = bytearray(path.read_bytes())
    data[100:140] = b"\xff" * 40
    path.write_bytes(bytes(data))


def unknown_method(path):
    np.savez(path, states=[0.0], globals=[0.0], terminal=[0.0])
    data = path.read_bytes()
    for start, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        parts = data.split(start)
        data = start.join([parts[0], *(p[: at - 4] + b"\x63" + p[at - 3 :] for p in parts[1:])])
    path.write_bytes(data)


@pytest.mark.parametrize(
    "write", [members(states=b"hello", globals=b"", terminal=b""), damaged, unknown_method, bare]
)
def test_a_broken_npz_is_named_whatever_is_broken_in_it(folder, write):
    write(folder / "mine.npz")
    rewrite(folder, states="mine.npz")
    with pytest.raises(ValueError, match=r"mine\.npz cannot be read as \.npz"):
        read_rollouts(folder)
