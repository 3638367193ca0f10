"""docs/corpora.md says what the code says, and what it shows runs."""

import contextlib
import io
import re
import shlex
from pathlib import Path

from corpus_folders import make

from cosmolabe.bench.physics.corpora import OWN, corpus_markdown
from cosmolabe.cli import main
from cosmolabe.core import parts

PAGE = Path(__file__).parents[2] / "docs" / "corpora.md"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), flags=re.S)


def test_the_table_is_the_codes_own():
    table = re.search(r"<!-- table -->\n(.*?)\n<!-- /table -->", PAGE.read_text(), re.S)[1]
    assert table == corpus_markdown(), "write corpus_markdown() between the page's table marks"


def test_every_corpus_is_said_to_be_seen_or_not():
    said = PAGE.read_text().split("How far each schema could be checked")[1].split("Traps")[0]
    for name in parts.names("corpora"):
        if name not in (*OWN, "manifest"):
            assert name in said


def test_what_the_page_shows_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make("videophy2", tmp_path / "data" / "vp2")
    mine = tmp_path / "data" / "mine"
    (mine / "clips").mkdir(parents=True)
    (csv,) = blocks("csv")
    (mine / "clips.csv").write_text(csv)
    for name in ("fall_true", "fall_broken"):
        (mine / "clips" / f"{name}.mp4").write_bytes(name.encode())
    for block in blocks("sh"):
        for line in block.splitlines():
            with contextlib.redirect_stdout(io.StringIO()):
                assert main.run(shlex.split(line)[1:]) == 0, line
    assert (tmp_path / "runs" / "vp2" / "clips.jsonl").is_file()
    (python,) = blocks("python")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(python, "corpora.md", "exec"), {})
    assert out.getvalue().split()[:3] == ["15", "0", "0"]
    (pair,) = parts.load("corpora", "manifest").pairs(
        parts.load("corpora", "manifest").read(mine), 10, 0
    )
    assert {pair.first, pair.second} == {"clips/fall_true.mp4", "clips/fall_broken.mp4"}
