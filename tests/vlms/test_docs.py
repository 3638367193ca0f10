"""`docs/vlms.md` says of each model what its file says, and its code and commands run."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from cosmolabe.cli import main
from cosmolabe.core import parts

TEXT = (Path(__file__).parents[2] / "docs" / "vlms.md").read_text()
PARTS = [parts.load("vlms", name) for name in parts.names("vlms")]


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def model_rows():
    for part in PARTS:
        weights = part.weights or ("in the package" if part.family else "the server's")
        extra = f"`{part.extra}`" if part.extra else "none"
        yield row(f"`{part.name}`", part.summary, weights, extra, part.licence)


def size_rows():
    for part in PARTS:
        for size in part.sizes:
            yield row(f"`{part.name}`", size, part.revisions[size])


def family_rows():
    for part in PARTS:
        if part.family is not None:
            patterns = (part.family.vision, part.family.projector, part.family.language)
            yield row(f"`{part.name}`", *(f"`{p}`".replace("|", r"\|") for p in patterns))


@pytest.mark.parametrize("rows", [model_rows, size_rows, family_rows])
def test_the_tables_are_those_of_the_code(rows):
    missing = [line for line in rows() if line not in TEXT]
    assert not missing, "put into docs/vlms.md:\n" + "\n".join(missing)


def test_no_row_is_of_a_model_that_does_not_exist():
    named = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.M))
    assert named == {part.name for part in PARTS}


def test_the_pages_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(block, scope)
    assert len(scope["likely"]) == 2
    assert scope["loss"].item() > 0
    assert len(scope["said"]) == 1


def test_the_pages_commands_run():
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S):
        for line in filter(None, block.splitlines()):
            program, *words = shlex.split(line)
            assert program == "cosmolabe"
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert main.run(words) == 0, words
            assert out.getvalue().strip()
