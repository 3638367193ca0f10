"""docs/video.md says what is so, and its code runs."""

import re
from pathlib import Path

from barcodes import film

from cosmolabe.data import video
from cosmolabe.data.video import CANVASES, SAMPLINGS, Limits, open_clips
from cosmolabe.data.video.inputs import COLUMNS

TEXT = (Path(__file__).parents[3] / "docs" / "video.md").read_text()


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)
    monkeypatch.chdir(tmp_path)
    for folder in ("videos", "more"):
        (tmp_path / folder).mkdir()
        film(tmp_path / folder / "x.mp4", 5)
    film(tmp_path / "a.mp4", 5)
    (tmp_path / "table.csv").write_text("id,video\none,a.mp4\n")
    exec(compile(code, "docs/video.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.count("may be tried") == 3
    assert "(5, 448, 448, 3)" in out


def test_the_page_names_every_sampling_fact_and_column(tmp_path):
    named = set(re.findall(r"`([\w-]+)", TEXT))
    assert set(SAMPLINGS) <= named
    assert {name for name in video.__all__ if name[0].islower()} - named <= {
        "export_video", "read_video", "write_video",
    }  # fmt: skip
    (clip,) = open_clips(film(tmp_path / "a.mp4", 5), SAMPLINGS["physics-1"], CANVASES["physics-1"])
    plain = {"kind", "container", "frames", "seconds", "sampling", "window", "frames_shown"}
    plain |= {"window_start", "window_end"}
    assert set(clip.facts) - plain <= named
    assert set(COLUMNS) <= named
    assert all(f"{name}" in TEXT for name in Limits().__dict__)
