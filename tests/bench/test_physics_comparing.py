"""Two runs of the physics judge alone, video by video."""

import json
import shutil

import numpy as np
import pytest
from moving_squares import glance, random_heads, square

from cosmolabe.bench.compare import regressed
from cosmolabe.bench.physics import many
from cosmolabe.bench.physics.comparing import compare_videos, of_videos_alone
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.video import find_inputs
from cosmolabe.judges.physics import Bundle, Physics

COUNT = 24


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run over videos that move."""
    eye = glance()
    physics = Physics.of(eye, Bundle("random", random_heads(eye), "glance"))
    videos, out = tmp_path_factory.mktemp("videos"), tmp_path_factory.mktemp("run")
    for number in range(COUNT):
        np.savez(videos / f"{number:02d}.npz", frames=square(20, seed=number), fps=16.0)
    many.judge_many(find_inputs([videos]), out, many.Settings(), physics=physics, shown=0)
    return out


def changed(run, tmp_path, change, name="after"):
    """The same run with other rows."""
    out = shutil.copytree(run, tmp_path / name)
    rows = [json.loads(line) for line in (out / "clips.jsonl").read_text().splitlines()]
    rows = [change(number, row) for number, row in enumerate(rows)]
    text = "".join(json.dumps(row) + "\n" for row in rows if row is not None)
    (out / "clips.jsonl").write_text(text)
    return out


def worse(by):
    def change(number, row):
        up = by * (1 + number % 3)
        more = {name: row[name] + up for name in ("value", "raw", "worst_raw")}
        return {**row, **more, "hash": f"{number}"}

    return change


def test_a_run_of_videos_compared_with_itself_is_the_same(run):
    assert of_videos_alone(run)
    found = compare_videos(run, run)
    assert {row.metric for row in found.rows} == {
        "share_scored", "violation", "violation_raw", "worst_window",
    }  # fmt: skip
    assert {row.verdict for row in found.rows} == {"same"}
    assert found.of == "videos"
    assert any("same bytes" in note for note in found.notes)


def test_more_violation_is_worse_and_less_is_better(run, tmp_path):
    after = changed(run, tmp_path, worse(0.05))
    down, up = compare_videos(run, after), compare_videos(after, run)
    verdicts = {row.metric: row.verdict for row in down.rows}
    assert verdicts.pop("share_scored") == "same"
    assert set(verdicts.values()) == {"worse"}
    assert len(regressed(down)) == 3
    assert {row.verdict for row in up.rows if row.metric != "share_scored"} == {"better"}
    for row in down.rows:
        assert row.low <= row.difference <= row.high
        assert row.n == COUNT
    first = next(row for row in down.rows if row.metric == "violation_raw")
    assert first.difference == pytest.approx(0.05 * 2)
    assert down.episodes[-1]["difference"] == pytest.approx(0.15)


def test_what_no_longer_gets_a_score_is_no_improvement(run, tmp_path):
    def freeze(number, row):
        if number % 2:
            return row
        gone = dict.fromkeys(("value", "raw", "worst_raw"))
        return {**row, **gone, "status": "abstained", "why": "hardly moves: motion 0"}

    found = compare_videos(run, changed(run, tmp_path, freeze))
    share = next(row for row in found.rows if row.metric == "share_scored")
    assert (share.before, share.after, share.verdict) == (1.0, 0.5, "worse")
    assert next(row for row in found.rows if row.metric == "violation").n == COUNT // 2
    assert any(f"{COUNT // 2} of {COUNT} videos have no score after" in n for n in found.notes)


def test_a_video_of_one_run_only_is_left_out_and_named(run, tmp_path):
    after = changed(run, tmp_path, lambda number, row: row if number else None)
    found = compare_videos(run, after)
    assert {row.n for row in found.rows} == {COUNT - 1}
    assert any("left out: 00.npz" in note for note in found.notes)


def test_videos_of_one_prompt_count_together(run, tmp_path):
    one = changed(run, tmp_path, lambda n, row: {**row, "prompt": str(n % 2)}, "one")
    two = changed(one, tmp_path, worse(0.05), "two")
    alone, together = compare_videos(run, two), compare_videos(one, two)
    assert alone.rows[2].p < together.rows[2].p  # two prompts cannot be sure of anything


def test_another_judge_other_names_and_another_truth_are_refused(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    rows = read_json(other / "readings.json")
    write_json(other / "readings.json", [{**row, "protocol": "f" * 16} for row in rows])
    with pytest.raises(ValueError, match=r"different protocols.*same --head"):
        compare_videos(run, other)
    renamed = changed(run, tmp_path, lambda n, row: {**row, "input": f"/other/{n}"}, "renamed")
    with pytest.raises(ValueError, match=r"no video in both runs.*paired by `input`"):
        compare_videos(run, renamed)
    true = [
        changed(run, tmp_path, lambda n, row, a=a: {**row, "role": "" if n else "true",
                                                    "hash": row["hash"] if n else a}, a)
        for a in ("x", "y")
    ]  # fmt: skip
    with pytest.raises(ValueError, match="what truly happened"):
        compare_videos(*true)
    with pytest.raises(ValueError, match="margin"):
        compare_videos(run, run, margin=float("nan"))


def test_a_row_that_was_edited_is_named_by_line(run, tmp_path):
    bad = changed(run, tmp_path, lambda n, row: {**row, "raw": "low"} if n == 3 else row)
    with pytest.raises(ValueError, match="line 4"):
        compare_videos(run, bad)
