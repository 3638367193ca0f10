"""What leaves a store as Parquet or video comes back, or says why it cannot."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cosmolabe.core.record import read_json
from cosmolabe.data.collect import collect
from cosmolabe.data.envelopes import export_envelopes
from cosmolabe.data.exporting import whole_folder
from cosmolabe.data.parquet import export_parquet, import_parquet
from cosmolabe.data.video import export_video, read_video
from cosmolabe.engine.render import draw_frames


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("pong", tmp_path_factory.mktemp("exports") / "store", 6, max_ticks=70)


@pytest.fixture
def exported(store, tmp_path):
    export_parquet(store, tmp_path / "parquet")
    return tmp_path / "parquet"


def test_parquet_brings_the_same_store_back(store, exported, tmp_path):
    again = import_parquet(exported, tmp_path / "packed")
    for name in ("train", "val", "test"):
        assert len(again.split(name)) == len(store.split(name))
        for one, other in zip(store.split(name), again.split(name), strict=True):
            first, second = store.episode(one), again.episode(other)
            for field in ("registry", "states", "actions", "globals", "terminal"):
                np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
            assert again.player(other) == store.player(one)
            assert first.truncated == second.truncated


def test_parquet_is_plain_nested_lists_named_by_split(store, exported):
    assert sorted(path.name for path in exported.glob("*.parquet")) == [
        "test.parquet", "train.parquet", "val.parquet",
    ]  # fmt: skip
    table = pq.read_table(exported / "train.parquet")
    assert len(table) == store.lengths[store.split("train")].sum()
    assert str(table.schema.field("states").type).startswith("fixed_size_list<element: fixed_size")
    row = table.slice(5, 1).to_pylist()[0]
    assert np.allclose(row["states"], store.episode(0).states[5])
    meta = json.loads(table.schema.metadata[b"cosmolabe"])
    assert meta["manifest"]["game"] == "pong"


def rewrite(path, change):
    table = pq.read_table(path)
    pq.write_table(change(table), path)


def with_column(name, values):
    def change(table):
        place = table.schema.get_field_index(name)
        field = table.schema.field(name)
        column = pa.array(values(table[name].to_pylist()), field.type)
        return table.set_column(place, field, column)

    return change


def with_nan(rows):
    rows[3][2][0] = float("nan")
    return rows


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda table: table.drop_columns(["states"]), "columns .'states'. are missing"),
        (with_column("t", lambda t: [*t[:5], 3, *t[6:]]), "t must be 0, 1, 2"),
        (with_column("states", with_nan), "t 3, states: a number that is not finite"),
        (with_column("player", lambda p: [None, *p[1:]]), "an empty cell"),
        (with_column("episode", lambda e: [*e[:20], "other", *e[21:]]), "t must be 0, 1"),
        (with_column("actions", lambda a: [[1.0] * 7] * len(a)), "71 states and 71 actions"),
    ],
)
def test_parquet_that_is_no_episode_is_refused(exported, tmp_path, change, told):
    rewrite(exported / "train.parquet", change)
    with pytest.raises(ValueError, match=told) as caught:
        import_parquet(exported, tmp_path / "packed")
    assert "train.parquet" in str(caught.value)


def test_a_file_that_is_no_parquet_is_refused(exported, tmp_path):
    (exported / "test.parquet").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ValueError, match="no sound Parquet file"):
        import_parquet(exported, tmp_path / "packed")


def test_a_video_shows_the_episode_and_says_what_it_shows(store, tmp_path):
    told = export_video(store, 1, tmp_path / "one.mp4", size=96, start=4, frames=20, every=2)
    assert told == read_json(tmp_path / "one.json")
    assert (told["frames"], told["fps"], told["start"]) == (20, 30.0, 4)
    episode = store.episode(1)
    rows = np.arange(4, 44, 2)
    true = draw_frames(
        store.part, episode.states[rows], episode.globals[rows], store.appearance(1), 96
    )
    frames = read_video(tmp_path / "one.mp4")
    assert frames.shape == true.shape
    luma = np.array([0.299, 0.587, 0.114])  # colour is kept at half the resolution
    assert np.abs(frames @ luma - true @ luma).mean() < 2
    assert len(told["actions"]) == 20


def test_equal_frames_are_equal_in_the_video(store, tmp_path):
    """Intra-only coding: what comes later changes nothing before it."""
    export_video(store, 0, tmp_path / "short.mp4", size=64, frames=10)
    export_video(store, 0, tmp_path / "long.mp4", size=64, frames=30)
    np.testing.assert_array_equal(
        read_video(tmp_path / "short.mp4"), read_video(tmp_path / "long.mp4")[:10]
    )


def test_video_without_its_library_names_the_extra(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ValueError, match=r"cosmolabe\[video\]"):
        export_video(store, 0, tmp_path / "one.mp4")


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"size": 63}, "even"), ({"start": 900}, "none from"), ({"every": 0}, "every keeps")],
)
def test_impossible_videos_are_refused(store, tmp_path, changes, told):
    with pytest.raises(ValueError, match=told):
        export_video(store, 0, tmp_path / "one.mp4", **changes)


@pytest.mark.parametrize("export", [export_parquet, export_envelopes])
@pytest.mark.parametrize("split", ["scenario", "nope"])
def test_an_empty_or_unknown_split_leaves_no_folder(store, tmp_path, export, split):
    with pytest.raises(ValueError, match="scenario"):
        export(store, tmp_path / "out", split)
    assert not (tmp_path / "out").exists()


def test_a_folder_behind_a_link_or_a_dot_is_filled_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to("there")
    monkeypatch.chdir(tmp_path / "here")
    for folder, found in (("../link", tmp_path / "there"), (".", tmp_path / "here")):
        with whole_folder(Path(folder)) as part:
            (part / "a").write_text("b")
        assert [path.name for path in found.iterdir()] == ["a"]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"), whole_folder(tmp_path / "file"):
        pass
