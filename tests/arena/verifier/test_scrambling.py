"""Scrambled weights have the names, shapes and types they had, and no number they had."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from cosmolabe.arena.verifier.copying import WEIGHTS, copy_submission
from cosmolabe.arena.verifier.scrambling import scramble


def scrambled(folder, content):
    """The bytes that become of a file's."""
    source = folder / "source"
    source.mkdir()
    for name in ("train.py", "config.json"):
        (source / name).write_text("{}")
    (source / WEIGHTS).write_bytes(content)
    copied = copy_submission(source, folder / "copy")
    scramble(copied.folder, folder / "other")
    return (folder / "other" / WEIGHTS).read_bytes()


def file_of(body, **places):
    header = json.dumps(places).encode()
    return len(header).to_bytes(8, "little") + header + body


def test_every_float_is_another_and_finite_and_nothing_else_changes(tmp_path):
    tensors = {
        "a": np.linspace(-2, 2, 60, dtype=np.float32).reshape(3, 20),
        "b": np.full(9, np.nan, np.float64),
        "c": np.array([np.inf, -np.inf, 6e4], np.float16),
        "d": np.zeros((0, 4), np.float32),
        "e": np.arange(40, dtype=np.int64),
    }
    save_file(tensors, tmp_path / "w")
    path = tmp_path / "again"
    path.write_bytes(scrambled(tmp_path, (tmp_path / "w").read_bytes()))
    other = load_file(path)
    for name, tensor in tensors.items():
        assert (other[name].shape, other[name].dtype) == (tensor.shape, tensor.dtype)
        assert not tensor.size or not np.array_equal(other[name], tensor)
        if tensor.dtype.kind == "f":
            assert np.isfinite(other[name]).all()
            assert not (other[name] == tensor).any()
    assert 0.5 < np.abs(other["a"]).mean() < 5


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "BOOL", "F999", "F64"])
def test_a_type_that_numpy_lacks_or_a_length_that_does_not_fit_is_scrambled_too(kind, tmp_path):
    body = bytes(range(100))
    content = file_of(body, a={"dtype": kind, "shape": [25], "data_offsets": [0, 100]})
    found = scrambled(tmp_path, content)
    assert found[: -len(body)] == content[: -len(body)]
    assert found[-len(body) :] != body


@given(
    places=st.lists(
        st.one_of(
            st.lists(st.integers(-5, 80), max_size=3),
            st.sampled_from([None, "0", [0.0, 4.0], [True, 8], [1 << 70, 1 << 71]]),
        ),
        max_size=4,
    )
)
def test_a_header_that_lies_about_places_keeps_no_byte_from_being_scrambled(
    places, tmp_path_factory
):
    body = bytes(range(64))
    told = {
        f"t{number}": {"dtype": "F32", "shape": [0], "data_offsets": place}
        for number, place in enumerate(places)
    }
    content = file_of(body, **told)
    found = scrambled(tmp_path_factory.mktemp("s"), content)
    assert len(found) == len(content)
    assert found[: -len(body)] == content[: -len(body)]
    assert sum(a != b for a, b in zip(found[-len(body) :], body, strict=True)) > 16
