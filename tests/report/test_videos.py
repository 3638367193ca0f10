"""The section of the report about videos."""

import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from cosmolabe.core.reading import Reading
from cosmolabe.core.record import Record, read_json, write_json, write_jsonl, write_readings
from cosmolabe.report.page import write_report


def video_row(name, raw, status="scored", why="", seconds=4.0):
    scored = status == "scored"
    curve = [[0.25 * n, 0.25 * n + 1, raw + 0.05 * (n == 6)] for n in range(13)] if scored else []
    return {
        "input": name, "status": status, "why": why, "model": "m",
        "value": min(max(raw, 0), 1) if scored else None, "raw": raw if scored else None,
        "low": 0.1 if scored else None, "high": 0.9 if scored else None, "motion": 0.05,
        "seconds": seconds, "worst_start": 1.5 if scored else None,
        "worst_end": 2.5 if scored else None, "worst_raw": raw + 0.05 if scored else None,
        "curve": curve, "facts": {},
    }  # fmt: skip


@pytest.fixture
def video_run(tmp_path):
    folder = tmp_path / "run"
    rows = [video_row(f"v{n:02d}.mp4", n / 30) for n in range(30)]
    rows += [video_row("still.mp4", 0, "abstained", "hardly moves: 0.0001 a second")]
    rows += [
        video_row(f"bad{n}.mp4", 0, "failed", f"bad{n}.mp4 is empty (0 bytes)") for n in range(3)
    ]
    write_jsonl(folder / "clips.jsonl", rows)
    reading = Reading(
        "physics", "violation", 0.48, "violation, 0..1", "lower", 0.4, 0.5, n=30, skipped=4
    )
    write_readings(folder / "readings.json", [reading])
    write_json(folder / "record.json", Record("judge", 0, {"videos": 34}, protocol="p", data="d"))
    (folder / "media" / "physics").mkdir(parents=True)
    frames = np.random.default_rng(0).integers(0, 255, (32, 40, 40, 3)).astype(np.uint8)
    for rank, name in enumerate(("v29.mp4", "v28.mp4")):
        np.savez(
            folder / "media" / "physics" / f"{rank:02d}.npz", frames=frames, fps=16.0, input=name,
            start=1.5, end=2.5, first=1.0,
        )  # fmt: skip
    return folder


def test_the_page_shows_the_worst_and_names_the_unscored(video_run):
    page = write_report(video_run).read_text()
    assert "<h1>m</h1>" in page or "<h1>34 videos</h1>" in page
    assert "30 of 34 videos scored" in page
    assert page.count('data-begins="8" data-ends="24"') == 2
    assert page.count("<polyline") == 2
    worst = re.findall(r'<td class="text why">(v\d\d\.mp4)</td>', page)
    assert worst == [f"v{n:02d}.mp4" for n in range(29, 9, -1)]
    for words in ("bad0.mp4 is empty", "hardly moves", "still.mp4", "… is empty (0 bytes)"):
        assert words in page
    assert "windows judged" not in page


def test_the_json_and_the_tables_say_what_the_page_says(video_run):
    write_report(video_run)
    told = read_json(video_run / "report.json")["videos"]
    assert (told["videos"], told["scored"]) == (34, 30)
    assert sum(step["videos"] for step in told["distribution"]) == 30
    assert [row["input"] for row in told["most_violating"]][:2] == ["v29.mp4", "v28.mp4"]
    assert [row["status"] for row in told["unscored"]] == ["failed"] * 3 + ["abstained"]
    assert {"status": "failed", "why": "… is empty (0 bytes)", "count": 3} in told["reasons"]
    table = pq.read_table(video_run / "report.parquet").to_pylist()
    rows = [row for row in table if row["section"] == "video"]
    assert [row["id"] for row in rows][:2] == ["v00.mp4", "v01.mp4"]
    assert np.isnan(rows[-1]["value"])


def test_a_hostile_name_stays_text(video_run):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    lines = [json.loads(line) for line in (video_run / "clips.jsonl").read_text().splitlines()]
    for n, line in enumerate(lines):
        line.update(input=f"{evil}{n}", why=evil, model=evil)
    write_jsonl(video_run / "clips.jsonl", lines)
    with np.load(video_run / "media/physics/00.npz") as held:
        arrays = {**held, "input": np.array(f"{evil}3")}
    np.savez(video_run / "media/physics/00.npz", **arrays)
    page = write_report(video_run).read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("<script") == 1
    addresses = set(re.findall(r"https?://[^\"' <)]+", page))
    assert {a for a in addresses if not a.startswith("http://www.w3.org/")} == set()


@pytest.mark.parametrize(
    "change",
    [
        {"curve": "x"}, {"curve": [[1, 2], None, [1, "a", 3]]}, {"raw": "high"}, {"status": 7},
        {"worst_start": None}, {"motion": [1]}, {"why": None}, {"curve": [[0, 1, 1e308]] * 3},
    ],
)  # fmt: skip
def test_rows_that_do_not_fit_are_shown_as_missing(video_run, change):
    lines = [json.loads(line) for line in (video_run / "clips.jsonl").read_text().splitlines()]
    write_jsonl(video_run / "clips.jsonl", [line | change for line in lines])
    assert write_report(video_run).is_file()


@pytest.mark.parametrize(
    "arrays",
    [
        {"frames": np.zeros((3, 4, 4), np.uint8)}, {"fps": np.float64(0)},
        {"start": np.float64(np.nan)}, {"input": np.array(["a", "b"])}, {"first": np.array("x")},
    ],
)  # fmt: skip
def test_pictures_that_do_not_fit_are_refused_by_name(video_run, arrays):
    path = video_run / "media/physics/00.npz"
    with np.load(path) as held:
        whole = {**held, **arrays}
    np.savez(path, **whole)
    with pytest.raises(ValueError, match=r"00\.npz"):
        write_report(video_run)


def test_scores_stand_beside_the_true_error(video_run):
    write_jsonl(video_run / "videos.jsonl", [video_row("pong-1 m", 0.4)])
    link = {
        "game": "pong", "model": "m", "n": 4, "abstained": 1, "failed": 0, "violation": 0.4,
        "true": 0.1, "floors": {"still": None, "constant_velocity": 0.3}, "beaten": 0.75,
        "rank": 0.6, "rank_low": 0.1, "rank_high": 0.9,
        "points": [[0.1, 0.2], [0.3, 0.6], ["x", 1]],
    }  # fmt: skip
    write_json(video_run / "imagined.json", {"links": [link]})
    page = write_report(video_run).read_text()
    assert "Held against the truth of the games" in page
    assert "0.100 – 0.900" in page
    (told,) = read_json(video_run / "report.json")["videos"]["links"]
    assert told["floors"] == {"still": None, "constant_velocity": 0.3}
    write_json(video_run / "imagined.json", {"links": 3})
    with pytest.raises(ValueError, match=r"imagined\.json"):
        write_report(video_run)
