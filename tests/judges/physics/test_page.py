"""Every command and every line of Python on docs/judges/physics.md runs as it stands."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import torch
from moving_squares import square

from cosmolabe.cli import main
from cosmolabe.data.video import write_video

PAGE = (Path(__file__).parents[3] / "docs" / "judges" / "physics.md").read_text()


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    for n in range(3):
        write_video(Path("videos") / f"{n}.mp4", iter([square(16, seed=n)]), 16.0)
    names: dict = {}
    for kind, block in re.findall(r"```(sh|python)\n(.*?)```", PAGE, flags=re.S):
        if kind == "python":
            exec(block, names)
            continue
        for line in block.splitlines():
            with contextlib.redirect_stdout(io.StringIO()):
                assert main.run(shlex.split(line)[1:]) == 0, line
    assert [row["status"] for row in names["rows"]] == ["scored"] * 3
