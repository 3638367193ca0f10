"""Exported ledgers load as Hugging Face data sets (extra `datasets`)."""

import pytest
from arena.made_sessions import make_grid

from cosmolabe.arena.analysis.sessions import read_session
from cosmolabe.arena.export_ledgers import export_ledgers

datasets = pytest.importorskip("datasets", reason="pip install 'cosmolabe[datasets]'")


def test_every_table_loads_by_its_name(tmp_path):
    made = make_grid(tmp_path / "grid", seeds=1)
    counts = export_ledgers([read_session(path) for path in made], tmp_path / "out")
    for name, rows in counts.items():
        where = str(tmp_path / "cache")
        table = datasets.load_dataset(str(tmp_path / "out"), name, split="train", cache_dir=where)
        assert len(table) == rows
    assert (
        "category"
        in datasets.load_dataset(
            str(tmp_path / "out"), "experiments", split="train", cache_dir=where
        ).column_names
    )
