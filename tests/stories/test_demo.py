"""The first look: play, train, imagine, judge and report with one command."""

import torch

from cosmolabe.bench.vqa.vocabulary import vocabulary
from cosmolabe.core.record import read_json
from cosmolabe.vlms.tiny import build_tiny

FIELDS = {
    "judge", "metric", "value", "low", "high", "floor", "ceiling", "unit", "direction", "n",
    "skipped", "protocol",
}  # fmt: skip


def test_the_demo_shows_the_whole_in_one_folder(tell, tmp_path):
    torch.set_num_threads(1)
    out = tmp_path / "demo"
    build_tiny(vocabulary(), image=32).save(tmp_path / "vlm")
    words = ("demo", "--out", out, "--games", "pong", "-n", 12, "--steps", 2, "--rollouts", 2)
    words += ("--vlm-weights", tmp_path / "vlm")
    code, told = tell(*words)
    assert code == 0
    page = (out / "report.html").read_text()
    assert page.count('class="card clip"') > 1
    assert "Was the action carried out?" in page
    rows = read_json(out / "readings.json")
    assert rows == told["readings"]
    assert all(set(row) >= FIELDS for row in rows)
    assert {row["judge"] for row in rows} == {"state", "vqa", "physics"}
    assert len((out / "rollouts" / "pong" / "rollouts.jsonl").read_text().splitlines()) == 2
    code, again = tell(*words)
    assert code == 0
    assert again["readings"] == rows
