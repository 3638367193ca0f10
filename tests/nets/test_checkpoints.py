import pickle
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save

from cosmolabe.core import parts
from cosmolabe.core.record import read_json, write_json
from cosmolabe.nets.checkpoints import CONFIG, TENSORS, read_tensors, write_tensors


@pytest.fixture
def folder(store, tmp_path):
    parts.load("models", "transformer").create(store.manifest, "laptop", 5).save(tmp_path / "ours")
    return tmp_path / "ours"


def load(folder, manifest, name="transformer"):
    return parts.load("models", name).load(folder, manifest)


def edit(folder, **changes):
    write_json(folder / CONFIG, {**read_json(folder / CONFIG), **changes})


def edit_tensors(folder, change):
    tensors = read_tensors(folder / TENSORS)
    change(tensors)
    write_tensors(folder / TENSORS, tensors)


def test_a_checkpoint_comes_back_to_the_byte(store, folder, tmp_path):
    load(folder, store.manifest).save(tmp_path / "again")
    for name in (CONFIG, TENSORS):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_another_game_is_refused(folder, store):
    with pytest.raises(ValueError, match="learnt 'pong', but the data is 'chess'"):
        load(folder, replace(store.manifest, game="chess"))


def test_another_version_of_the_game_is_refused(folder, store):
    with pytest.raises(ValueError, match="slots, widths or version differ"):
        load(folder, replace(store.manifest, version=999))


def test_other_widths_are_refused(folder, store):
    profile = replace(store.manifest.profile, action_fields=("move_y",))
    with pytest.raises(ValueError, match="widths"):
        load(folder, replace(store.manifest, profile=profile))


def test_another_model_is_refused(folder, store):
    with pytest.raises(ValueError, match="holds a 'transformer', not a 'linear'"):
        load(folder, store.manifest, "linear")


def test_a_foreign_schema_is_refused(folder, store):
    edit(folder, schema=7)
    with pytest.raises(ValueError, match="schema 7 cannot be read"):
        load(folder, store.manifest)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 10**40),
        ("seed", -(10**40)),
        ("seed", True),
        ("steps", "many"),
        ("window", 8.0),
        ("recipe", []),
        ("versions", 3),
        ("data", 5),
    ],
)
def test_entries_of_another_kind_are_refused_by_name(folder, store, name, value):
    edit(folder, **{name: value})
    with pytest.raises(ValueError, match=rf"ill-typed entries \['{name}'\]"):
        load(folder, store.manifest)


def test_unknown_entries_of_the_config_are_refused(folder, store):
    edit(folder, surprise=1)
    with pytest.raises(ValueError, match="surprise"):
        load(folder, store.manifest)


def test_an_unknown_size_is_refused(folder, store):
    edit(folder, size="galaxy")
    with pytest.raises(ValueError, match=r"no size 'galaxy'.*laptop"):
        load(folder, store.manifest)


def test_another_window_is_refused(folder, store):
    edit(folder, window=9)
    with pytest.raises(ValueError, match="window of 9"):
        load(folder, store.manifest)


def test_a_missing_tensor_is_refused(folder, store):
    edit_tensors(folder, lambda tensors: tensors.pop("speed"))
    with pytest.raises(ValueError, match=r"missing \['speed'\]"):
        load(folder, store.manifest)


def test_an_extra_tensor_is_refused(folder, store):
    edit_tensors(folder, lambda tensors: tensors.update(more=np.zeros(1, np.float32)))
    with pytest.raises(ValueError, match=r"not known \['more'\]"):
        load(folder, store.manifest)


def test_a_tensor_of_another_shape_is_refused(folder, store):
    edit_tensors(folder, lambda tensors: tensors.update(speed=np.zeros(3, np.float32)))
    with pytest.raises(ValueError, match="'speed' is float32"):
        load(folder, store.manifest)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(folder, store, bad):
    edit_tensors(folder, lambda tensors: tensors["last_norm.weight"].__setitem__(0, bad))
    with pytest.raises(ValueError, match=r"'last_norm.weight' holds NaN or infinity"):
        load(folder, store.manifest)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_truncated_file_is_refused(folder, store, kept):
    whole = (folder / TENSORS).read_bytes()
    (folder / TENSORS).write_bytes(whole[:kept])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        load(folder, store.manifest)


def test_a_header_that_lies_about_its_length_is_refused(folder, store):
    (folder / TENSORS).write_bytes(b"\xff" * 8 + save({"speed": np.zeros(2, np.float32)})[8:])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        load(folder, store.manifest)


@pytest.mark.parametrize("content", [pickle.dumps({"speed": 1}), b"PK\x03\x04archive/data.pkl"])
def test_a_pickle_is_refused_unopened(folder, store, content):
    (folder / TENSORS).write_bytes(content)
    with pytest.raises(ValueError, match="never opened"):
        load(folder, store.manifest)


def test_a_sound_file_may_begin_as_a_pickle_does(tmp_path):
    """The first eight bytes of a safetensors file are the length of its header."""
    for length in range(1, 200):
        written = {"x" * length: np.zeros(1, np.float32)}
        write_tensors(tmp_path / TENSORS, written)
        if (tmp_path / TENSORS).read_bytes()[:1] == b"\x80":
            break
    else:
        pytest.fail("no header of such a length")
    assert list(read_tensors(tmp_path / TENSORS)) == list(written)


def test_a_symlink_is_refused(folder, store, tmp_path):
    (folder / TENSORS).rename(tmp_path / "elsewhere")
    (folder / TENSORS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="no plain file"):
        load(folder, store.manifest)


def test_a_missing_folder_says_how_to_make_one(store, tmp_path):
    with pytest.raises(ValueError, match="cosmolabe train"):
        load(tmp_path / "nowhere", store.manifest)
