"""What leaves a store as a Hugging Face dataset is read by the library itself, both ways.

Needs the extra `datasets`.
"""

import numpy as np
import pytest

datasets = pytest.importorskip("datasets", reason="pip install 'cosmolabe[datasets]'")

from cosmolabe.core.record import plain
from cosmolabe.data.collect import collect
from cosmolabe.data.huggingface import SPLIT_NAMES, export_datasets, manifest_in
from cosmolabe.data.pack import pack_store
from cosmolabe.data.parquet import import_parquet


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory):
    """Caches of the library stay in the test's own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return collect("breakout", tmp_path_factory.mktemp("hf") / "store", 12, max_ticks=90)


@pytest.fixture(scope="module", params=["replay", "packed"])
def exported(request, store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hf")
    source = store if request.param == "replay" else pack_store(store, folder / "packed")
    assert export_datasets(source, folder / "out") == store.lengths.sum()
    return source, folder / "out"


def assert_rows(source, name, rows):
    rows = rows.with_format("numpy")
    at = 0
    for number in source.split(name):
        episode = source.episode(number)
        mine = rows[at : at + len(episode)]
        for column in ("states", "actions", "globals"):
            np.testing.assert_array_equal(mine[column], getattr(episode, column))
        np.testing.assert_array_equal(mine["terminated"], episode.terminal)
        assert mine["truncated"].tolist() == [False] * (len(episode) - 1) + [episode.truncated]
        assert set(mine["episode"].tolist()) == {str(number)}
        assert set(mine["player"].tolist()) == {source.player(number)}
        at += len(episode)
    assert at == len(rows)


def test_load_from_disk_gives_every_number_and_name(exported):
    source, folder = exported
    found = datasets.load_from_disk(str(folder))
    assert list(found) == ["train", "validation", "test"]
    for name in ("train", "val", "test"):
        rows = found[SPLIT_NAMES.get(name, name)]
        assert_rows(source, name, rows)
        assert manifest_in(rows.info.description) == plain(source.manifest)
    states = found["train"].features["states"]
    assert (states.length, states.feature.length) == (source.manifest.num_slots, 23)


def test_load_dataset_reads_the_parquet_files(exported, tmp_path):
    source, folder = exported
    found = datasets.load_dataset(
        "parquet", data_dir=str(folder / "parquet"), cache_dir=str(tmp_path)
    )
    for name in ("train", "val", "test"):
        assert_rows(source, name, found[SPLIT_NAMES.get(name, name)])


def test_the_card_leads_to_the_splits(exported, tmp_path):
    source, folder = exported
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    assert_rows(source, "val", found["validation"])
    card = (folder / "README.md").read_text()
    assert card.startswith("---\n")
    assert "`tagged_count`" in card
    assert f"| train | {len(source.split('train'))} |" in card


def test_a_dataset_streams(exported, tmp_path):
    source, folder = exported
    rows = datasets.load_dataset(
        "parquet", data_dir=str(folder / "parquet"), split="test", streaming=True
    )
    first = next(iter(rows))
    episode = source.episode(source.split("test")[0])
    np.testing.assert_array_equal(np.array(first["states"], np.float32), episode.states[0])


def test_what_went_out_comes_back(exported, tmp_path):
    source, folder = exported
    again = import_parquet(folder / "parquet", tmp_path / "again")
    for one, other in zip(source.split("test"), again.split("test"), strict=True):
        np.testing.assert_array_equal(source.episode(one).states, again.episode(other).states)
