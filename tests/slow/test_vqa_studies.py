"""Every study of adaptation runs on a small untrained model, from its recipe to its table."""

import pytest
from scripts import script

pytest.importorskip("transformers", reason="pip install 'cosmolabe[vlm]'")
pytest.importorskip("peft", reason="pip install 'cosmolabe[vlm]'")

from cosmolabe.bench.vqa.studies import STUDIES
from cosmolabe.core.record import read_json


@pytest.fixture(scope="module")
def recipe_file():
    return script("recipes/vqa_studies.py")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_stores_its_recipe_before_it_runs_and_its_table_after(name, recipe_file, work):
    recipe_file.main(name, work=work, tiny=True, store_only=True)
    stored = read_json(work / "tables" / "recipes" / f"vqa_{name}.json")
    assert not (work / "tables" / f"vqa_{name}.json").exists()
    recipe_file.main(name, work=work, tiny=True)
    found = read_json(work / "tables" / f"vqa_{name}.json")
    assert found["recipe"] == stored["hash"]
    assert found["rows"]
    for row in found["rows"]:
        for score in row["scores"]:
            assert 0 <= score["low"] <= score["em"] <= score["high"] <= 1
            assert score["n"] == 8
            assert len(score["seeds"]) == row["num_seeds"]
    if name in ("sampling", "resolution", "unified", "curves"):
        assert found["rows"][-1]["num_seeds"] == 2
