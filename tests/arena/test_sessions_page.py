"""Every command of docs/arena/sessions.md that needs no paid service runs as it stands."""

import re
import shlex
from pathlib import Path

from cosmolabe.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "arena" / "sessions.md").read_text()


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S):
        for line in block.splitlines():
            program, *words = shlex.split(line)
            assert program == "cosmolabe"
            assert main.run(words) == 0, line
    said = capsys.readouterr().out
    assert "submitted" in said
    assert "001 on val" in said


def test_the_page_tells_all_agents_and_presets():
    from cosmolabe.arena.presets import PRESETS
    from cosmolabe.core import parts

    for name in (*parts.names("agents"), *PRESETS):
        assert f"`{name.replace('_', '-')}`" in PAGE, name
