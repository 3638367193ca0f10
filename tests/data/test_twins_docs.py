"""docs/data/twins.md names what the code has, and what it shows runs."""

import re
from dataclasses import fields
from pathlib import Path

from cosmolabe.data import clip_damage, scene_names
from cosmolabe.data.held_out import held_out
from cosmolabe.data.quality import QUALITY
from cosmolabe.data.twin_rows import TwinRecipe, TwinRow

PAGE = (Path(__file__).parents[2] / "docs" / "data" / "twins.md").read_text()


def test_the_page_names_every_scene_kind_change_and_column():
    named = set(re.findall(r"\w+", PAGE))
    assert {*scene_names.SCENES, *scene_names.KINDS, *clip_damage.KINDS, *QUALITY} <= named
    assert {field.name for field in fields(TwinRow)} - {"schema"} <= named


def test_the_page_says_what_is_held_out():
    said = PAGE.split("## Held out")[1].split("## As a corpus")[0]
    kept = held_out()
    seen = set(kept.damages) - {"action_delay"}
    assert all(f"`{kind}`" in said for kind in seen)
    assert all(scene.split("/")[1] in said for scene in kept.scenes if scene.startswith("mujoco/"))


def test_the_page_states_the_defaults():
    recipe = TwinRecipe()
    assert f"default {recipe.frames} at {recipe.fps[0]:g} fps" in PAGE
    assert (recipe.rungs, recipe.least) == (3, 0.1)
    assert recipe.ladder == (0.1, 0.25, 0.5, 0.75, 1.0)


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "twins.md", "exec"), names)
    assert names["row"].role == "damage"
    assert (tmp_path / "data" / "few" / "twins.jsonl").is_file()
