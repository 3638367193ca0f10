"""The documented writers speak the schema: Python is run, the others are held against its names."""

import json
import re
from pathlib import Path

import pytest

from cosmolabe.core.fields import ACTION_FIELDS, CORE_STATE, GAME_FIELDS, GLOBAL_FIELDS
from cosmolabe.data.collect import collect
from cosmolabe.data.envelopes import import_envelopes

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "data" / "writers.md").read_text()


def blocks(language, text=TEXT):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def names_in(code):
    """Every JSON name a snippet writes: quoted, with or without escapes, before a colon."""
    code = code.replace('? "true" : "false"', "")
    return set(re.findall(r'\\?"([a-z_]+)\\?"\s*:', code))


def test_the_python_writer_makes_envelopes_that_import(tmp_path):
    (tmp_path / "manifest.json").write_text(blocks("json")[0])
    scope = {"folder": tmp_path}
    for code in blocks("python"):
        exec(compile(code, "writers.md", "exec"), scope)  # our own page, not a stranger's
    store = import_envelopes(tmp_path, tmp_path / "store", split="test")
    episode = store.episode(0)
    assert (store.game, len(episode), episode.truncated) == ("orchard", 3, True)
    assert episode.states[:, 0, 0].tolist() == pytest.approx([0.2, 0.21, 0.22])
    assert episode.states[:, 1, 2].tolist() == [1, 1, 0]
    assert store.name(0) == "session-1"


@pytest.mark.parametrize("language", ["csharp", "gdscript"])
def test_other_writers_use_the_names_of_the_schema(language):
    schema = json.loads((DOCS / "schema" / "envelope.json").read_text())
    frame = set(schema["properties"]) - {"private"}
    manifest = json.loads(blocks("json")[0])
    (code,) = blocks(language)
    wanted = {
        *frame, *manifest["fields"], *manifest["globals"], *manifest["actions"],
        "x", "y", "vx", "vy", "alive",
    }  # fmt: skip
    assert names_in(code) == wanted
    known = {*frame, *CORE_STATE, *GAME_FIELDS, *GLOBAL_FIELDS, *ACTION_FIELDS}
    assert wanted <= known
    assert f'"{manifest["game"]}"' in code.replace("\\", "")


def test_the_pages_on_stores_and_damage_run(tmp_path):
    scope = {"folder": tmp_path / "store"}
    for code in blocks("python", (DOCS / "data" / "store.md").read_text()):
        exec(compile(code, "store.md", "exec"), scope)
    assert len(scope["windows"]) == 2
    for code in blocks("python", (DOCS / "data" / "damage.md").read_text()):
        exec(compile(code, "damage.md", "exec"), scope)
    assert (scope["true"][:10] == scope["damaged"][:10]).all()


def test_the_page_on_envelopes_runs(tmp_path):
    store = collect("pong", tmp_path / "replay", 3, max_ticks=30)
    text = (DOCS / "data" / "envelope.md").read_text()
    scope = {}
    exec("from cosmolabe.data.envelopes import export_envelopes", scope)
    scope["export_envelopes"](store, tmp_path / "in")
    scope |= {
        "folder": tmp_path / "in",
        "target": tmp_path / "packed",
        "again": tmp_path / "again",
    }
    for code in blocks("python", text):
        exec(compile(code, "envelope.md", "exec"), scope)
    (example,) = blocks("json", text)
    line = json.loads(example)
    assert set(line["global"]) == set(store.manifest.globals)
    assert (tmp_path / "again" / "envelopes.jsonl").exists()
