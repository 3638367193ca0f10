"""The guides' Python runs as it stands, block after block, in an empty folder."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["python-api.md", "bring-your-own-model.md"])
def test_every_block_of_a_guide_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    assert blocks
    space = {"__name__": "guide"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number}", "exec"), space)
    assert capsys.readouterr().out
