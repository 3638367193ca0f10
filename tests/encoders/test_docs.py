"""`docs/encoders.md` says of each encoder what its file says, and its code runs."""

import re
from pathlib import Path

import pytest

from cosmolabe.core import parts

PAGE = Path(__file__).parents[2] / "docs" / "encoders.md"
NAMES = parts.names("encoders")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def encoder_rows():
    for part in (parts.load("encoders", name) for name in NAMES):
        yield row(
            f"`{part.name}`", part.sees, part.canvas, part.width, part.frames,
            part.normalisation, part.licence, f"`{part.extra}`", part.weights or "in the package",
        )  # fmt: skip


def size_rows():
    for part in (parts.load("encoders", name) for name in NAMES):
        for size in part.shapes:
            if size in part.revisions:
                yield row(f"`{part.name}`", size, *part.shapes[size], part.revisions[size])


@pytest.mark.parametrize("rows", [encoder_rows, size_rows])
def test_the_tables_are_those_of_the_code(rows):
    text = PAGE.read_text()
    missing = [line for line in rows() if line not in text]
    assert not missing, "put into docs/encoders.md:\n" + "\n".join(missing)


def test_no_row_is_of_an_encoder_that_does_not_exist():
    named = re.findall(r"^\| `(\w+)` \| (?:pictures|motion) ", PAGE.read_text(), re.M)
    assert sorted(named) == sorted(NAMES)


def test_the_pages_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(block, scope)
    assert scope["rows"].shape == (48, 1280)
