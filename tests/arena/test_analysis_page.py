"""The commands of docs/arena/analysis.md and harbor.md run as they stand."""

import re
import shlex
from pathlib import Path

import pytest
from arena.edit_sets import HELD_OUT, SHOWN

from cosmolabe.arena.analysis.categories import CATEGORIES
from cosmolabe.cli import main

DOCS = Path(__file__).parents[2] / "docs" / "arena"


@pytest.mark.parametrize("name", ["analysis", "harbor"])
def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSMOLABE_ARENA_HOME", str(tmp_path / "home"))
    lines = re.findall(r"```sh\n(.*?)```", (DOCS / f"{name}.md").read_text(), flags=re.S)
    for line in "".join(lines).splitlines():
        program, *words = shlex.split(line)
        assert program == "cosmolabe"
        assert main.run(words) == 0, line + capsys.readouterr().out
    assert (
        tmp_path / ("page/arena.html" if name == "analysis" else "tasks/pong-linear/task.toml")
    ).is_file()


def test_the_page_names_every_class_and_how_many_edits_were_labelled():
    page = (DOCS / "analysis.md").read_text()
    assert all(f"| {name} |" in page for name in CATEGORIES)
    assert f"| {len(SHOWN)} of two small programs" in page
    assert f"| {len(HELD_OUT)} of the same programs" in page
