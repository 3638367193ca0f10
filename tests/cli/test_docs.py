"""Every command in docs/cli.md runs as it stands."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import torch

from cosmolabe.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def commands():
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.S)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line]


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    for program, *words in commands():
        assert program == "cosmolabe"
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert main.run(words) == 0, words
        assert out.getvalue().strip()
    assert (tmp_path / "runs" / "after" / "report.html").is_file()


def test_the_page_shows_every_verb():
    shown = {words[1] for words in commands()}
    assert shown == set(main.verbs())
