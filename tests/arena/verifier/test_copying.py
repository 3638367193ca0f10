"""What is copied of a submission, and what is refused before anything of it runs."""

import contextlib
import hashlib
import json
import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from cosmolabe.arena.verifier.copying import (
    Refused,
    copy_submission,
    count_parameters,
)


def test_a_copy_has_the_bytes_and_their_hashes_and_nothing_else(submit, tmp_path):
    folder = submit()
    (folder / "note.md").write_text("what I think")
    (folder / "inner").mkdir()
    copied = copy_submission(folder, tmp_path / "copy")
    assert sorted(os.listdir(copied.folder)) == ["config.json", "train.py"]
    for name, digest in copied.hashes.items():
        assert (copied.folder / name).read_bytes() == (folder / name).read_bytes()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert copied.ignored == ("inner", "note.md")


def test_what_happens_to_the_original_afterwards_changes_no_copy(submit, tmp_path):
    folder = submit()
    copied = copy_submission(folder, tmp_path / "copy")
    (folder / "train.py").write_text("raise SystemExit")
    found = hashlib.sha256((copied.folder / "train.py").read_bytes()).hexdigest()
    assert found == copied.hashes["train.py"]


@given(shapes=st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=4))
def test_parameters_are_counted_by_the_header_alone(shapes, tmp_path_factory):
    path = tmp_path_factory.mktemp("w") / "weights.safetensors"
    path.write_bytes(save({f"t{i}": np.zeros(shape, np.float32) for i, shape in enumerate(shapes)}))
    assert count_parameters(path) == sum(int(np.prod(shape)) for shape in shapes)


@given(data=st.binary(max_size=200))
def test_no_bytes_that_call_themselves_weights_do_more_than_be_refused(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("w") / "weights.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(Refused):
        assert count_parameters(path) >= 0


def header(text, tail=b""):
    data = text if isinstance(text, bytes) else text.encode()
    return len(data).to_bytes(8, "little") + data + tail


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80\x04K\x01.", "no safetensors file"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "no safetensors file"),
        (header("[" * 100_000), "cannot be read"),
        (header('{"a": {"shape": [-1]}}'), "cannot be read"),
        (header('{"a": {"shape": [1e9]}}'), "cannot be read"),
        (header('{"a": {"shape": [99999999]}}'), "more numbers than the file has bytes"),
        (header(b"\xff\xfe"), "cannot be read"),
        (header(f'{{"a": {{"shape": [{"549755813888," * 300_000}1]}}}}'), "cannot be read"),
    ],
)
def test_a_header_that_lies_is_refused(data, why, tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(data)
    with pytest.raises(Refused, match=why):
        count_parameters(path)


def test_a_file_that_grows_while_it_is_copied_is_cut_off(submit, tmp_path, monkeypatch):
    folder, real = submit(), os.read
    monkeypatch.setattr(os, "read", lambda file, size: real(file, size) or b"#" * size)
    with pytest.raises(Refused, match="grew past"):
        copy_submission(folder, tmp_path / "copy")


@pytest.mark.parametrize("name", ["train.py", "config.json"])
def test_a_missing_file_is_named(name, submit, tmp_path):
    folder = submit()
    (folder / name).unlink()
    with pytest.raises(Refused, match=f"the submission has no {name}"):
        copy_submission(folder, tmp_path / "copy")


def test_a_pipe_is_refused_at_once_though_nobody_writes_to_it(submit, tmp_path):
    folder = submit()
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    said = []

    def copy():
        with pytest.raises(Refused, match="no plain file"):
            copy_submission(folder, tmp_path / "copy")
        said.append("refused")

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    thread.join(5)
    assert said == ["refused"]


def test_a_device_and_a_folder_are_no_files(submit, tmp_path):
    folder = submit()
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    with pytest.raises(Refused, match=r"config\.json is no plain file"):
        copy_submission(folder, tmp_path / "copy")


@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
def test_what_is_no_folder_is_told_by_its_name_for_verdicts_are_handed_out(kind, submit, tmp_path):
    place = tmp_path / "session" / "submission"
    place.parent.mkdir()
    if kind == "link":
        place.symlink_to(submit())
    elif kind == "file":
        place.write_text("no folder")
    with pytest.raises(Refused, match=r"^submission is no plain folder \(.+\)$"):
        copy_submission(place, tmp_path / "copy")


def test_a_verdict_of_what_is_refused_says_so_and_has_no_score(submit, verifier, bed):
    folder = submit()
    (folder / "train.py").unlink()
    verdict = verifier.verify(folder, {"test": bed})
    assert (verdict.status, verdict.scores, verdict.valid) == ("refused", {}, False)
    assert verdict.reward == 0.0
    assert json.dumps(verdict.why)
