import json
import re
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from cosmolabe.core.record import read_json, write_json
from cosmolabe.report.page import figure, write_report


def words_of(page):
    """What a reader sees: the text without style, script, drawings and pictures."""
    page = re.sub(r"<(style|script|svg).*?</\1>", "", page, flags=re.S)
    lines = re.sub(r"<[^>]+>", "\n", page).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


def test_a_report_reads_the_same_every_time(run_folder, snapshot):
    record = read_json(run_folder / "record.json")
    record["versions"] = {"python": "3.11"}
    write_json(run_folder / "record.json", record)
    assert words_of(write_report(run_folder).read_text()) == snapshot


def test_a_report_needs_no_network(run_folder):
    page = write_report(run_folder).read_text()
    addresses = set(re.findall(r"https?://[^\"' <)]+", page))
    assert {a for a in addresses if not a.startswith("http://www.w3.org/")} == set()
    sources = re.findall(r'(?:src|href)="([^"]{0,12})', page)
    assert sources
    assert all(source.startswith(("data:image/", "#")) for source in sources)


def test_a_name_cannot_turn_the_text_around(run_folder):
    readings = read_json(run_folder / "readings.json")
    for row in readings:
        row.update(model="rtl\u202egnp.mp4 \x1b[31m")
    write_json(run_folder / "readings.json", readings)
    page = write_report(run_folder).read_text()
    assert not {"\u202e", "\x1b"} & set(page)
    assert "rtl\\u202egnp.mp4 \\x1b[31m" in page


def test_a_hostile_name_stays_text(run_folder):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    readings = read_json(run_folder / "readings.json")
    for row in readings:
        row.update(game=evil, model=evil, unit=evil, why=evil)
    write_json(run_folder / "readings.json", readings)
    for name in ("curves.json", "kinds.json"):
        rows = read_json(run_folder / name)
        for row in rows:
            row.update(game=evil, model=evil, **({"kind": evil} if "kind" in row else {}))
        write_json(run_folder / name, rows)
    lines = [json.loads(line) for line in (run_folder / "clips.jsonl").read_text().splitlines()]
    (run_folder / "clips.jsonl").write_text(
        "\n".join(json.dumps(line | {"id": evil, "why": evil}) for line in lines)
    )
    record = read_json(run_folder / "record.json")
    write_json(run_folder / "record.json", record | {evil: evil, "notes": [evil]})
    frames = np.zeros((2, 8, 8, 3), np.uint8)
    np.savez(run_folder / "media/evil.npz", true=frames, imagined=frames, fps=1.0, caption=evil)
    page = write_report(run_folder).read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("<script") == 1


def test_the_tables_say_what_the_page_says(run_folder):
    write_report(run_folder)
    readings = pq.read_table(run_folder / "readings.parquet").to_pylist()
    rows = read_json(run_folder / "readings.json")
    assert [(r["metric"], r["horizon"], r["n"]) for r in readings] == [
        (r["metric"], r["horizon"], r["n"]) for r in rows
    ]
    assert np.isnan(readings[-1]["value"])
    everything = pq.read_table(run_folder / "report.parquet").to_pylist()
    counts = {s: sum(r["section"] == s for r in everything) for s in ("curve", "kind", "window")}
    assert counts == {"curve": 60, "kind": 18, "window": 256}
    tree = read_json(run_folder / "report.json")
    assert tree["windows"]["judged"] == 240
    assert len(tree["windows"]["skipped"]) == 16


def test_windows_that_name_no_episode_are_shown_with_a_dash(run_folder):
    lines = [json.loads(line) for line in (run_folder / "clips.jsonl").read_text().splitlines()]
    few = [{key: line[key] for key in ("id", "status", "why", "final")} for line in lines]
    (run_folder / "clips.jsonl").write_text("\n".join(json.dumps(line) for line in few))
    assert "pong-0-0\n–\n–" in words_of(write_report(run_folder).read_text())


def test_a_run_of_readings_alone_still_makes_a_report(run_folder):
    for name in ("curves.json", "kinds.json", "clips.jsonl"):
        (run_folder / name).unlink()
    for path in (run_folder / "media").iterdir():
        path.unlink()
    page = words_of(write_report(run_folder).read_text())
    assert "Nothing: every input was judged." in page
    assert "True above imagined" not in page


def test_drawing_curves_without_altair_names_the_extra(run_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ValueError, match=r"cosmolabe\[report\]"):
        write_report(run_folder)


def test_a_missing_number_is_a_dash_and_never_zero():
    assert [figure(x) for x in (None, float("nan"), float("inf"))] == ["–"] * 3
    assert figure(0.0) == "0.000"
    assert figure(-0.25) == "−0.250"
    assert figure(12345) == "12\u2009345"


def test_no_folder_and_no_readings_are_told_apart(tmp_path, run_folder):
    with pytest.raises(ValueError, match="no run folder"):
        write_report(tmp_path / "nowhere")
    (run_folder / "readings.json").unlink()
    with pytest.raises(ValueError, match=r"no file .*readings\.json"):
        write_report(run_folder)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (b"no archive", "cannot be read as .npz"),
        ({"true": np.zeros((2, 8, 8, 3)), "fps": 1.0}, "must be uint8"),
        ({"true": np.zeros((2, 8, 8, 3), np.uint8), "fps": 0.0}, "fps must be positive"),
        ({"true": np.array([{}], object), "fps": 1.0}, "cannot be read as .npz"),
    ],
)
def test_a_broken_clip_is_refused_by_name(run_folder, broken, says):
    path = run_folder / "media" / "a.npz"
    if isinstance(broken, bytes):
        path.write_bytes(broken)
    else:
        np.savez(path, imagined=broken["true"], caption="", **broken)
    with pytest.raises(ValueError, match=says):
        write_report(run_folder)
