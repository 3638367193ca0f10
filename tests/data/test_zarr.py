"""What leaves a store as Zarr v3 is read by the library itself, number for number."""

import json
import sys

import numpy as np
import pytest
import zarr

from cosmolabe.core.record import plain
from cosmolabe.data import zarr_export
from cosmolabe.data.collect import collect
from cosmolabe.data.pack import pack_store
from cosmolabe.data.zarr_export import export_zarr


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("breakout", tmp_path_factory.mktemp("zarr") / "store", 12, max_ticks=70)


@pytest.fixture(params=["replay", "packed"])
def either(request, store, tmp_path):
    return store if request.param == "replay" else pack_store(store, tmp_path / "packed")


@pytest.mark.parametrize("chunk_bytes", [1 << 12, 1 << 18, zarr_export.CHUNK_BYTES])
def test_every_episode_is_found_at_its_offsets(either, tmp_path, chunk_bytes, monkeypatch):
    monkeypatch.setattr(zarr_export, "CHUNK_BYTES", chunk_bytes)
    assert export_zarr(either, tmp_path / "zarr") == either.lengths.sum()
    group = zarr.open_group(tmp_path / "zarr", mode="r")
    assert json.loads((tmp_path / "zarr" / "zarr.json").read_text())["zarr_format"] == 3
    told, offsets = group.attrs["cosmolabe"], group["offsets"][:]
    assert told["manifest"] == json.loads(json.dumps(plain(either.manifest)))
    assert len(offsets) == len(either) + 1
    for place, number in enumerate(group["number"][:]):
        rows, episode = slice(*offsets[place : place + 2]), either.episode(number)
        for name in ("states", "actions", "globals"):
            np.testing.assert_array_equal(group[name][rows], getattr(episode, name))
        np.testing.assert_array_equal(group["terminated"][rows], episode.terminal)
        assert group["truncated"][place] == episode.truncated
        assert told["players"][group["player"][place]] == either.player(number)
        assert number in either.split(told["splits"][group["split"][place]])
    np.testing.assert_array_equal(group["registry"][:], either.manifest.registry())


def test_columns_have_names(store, tmp_path):
    export_zarr(store, tmp_path / "zarr", split="test")
    group = zarr.open_group(tmp_path / "zarr", mode="r")
    told = group.attrs["cosmolabe"]
    assert told["splits"] == ["test"]
    ball = told["slots"].index("ball")
    x = group["states"][:, ball, told["state_columns"].index("x")]
    episodes = [store.episode(number) for number in store.split("test")]
    np.testing.assert_array_equal(x, np.concatenate([e.states[:, ball, 0] for e in episodes]))


def test_an_interrupted_export_leaves_no_folder(store, tmp_path):
    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_zarr(store, tmp_path / "zarr", progress=stop)
    assert not list(tmp_path.iterdir())


def test_without_its_library_the_extra_is_named(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ValueError, match=r"cosmolabe\[zarr\]"):
        export_zarr(store, tmp_path / "zarr")


def test_a_split_without_episodes_is_refused(store, tmp_path):
    with pytest.raises(ValueError, match="no episode in scenario"):
        export_zarr(store, tmp_path / "zarr", split="scenario")
