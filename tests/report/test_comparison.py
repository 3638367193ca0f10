import json
import math

import pytest

from cosmolabe.report.comparison import bars, comparison_page, difference_of, write_comparison


def row(verdict, difference, **more):
    return {
        "game": "pong", "metric": "final", "horizon": None, "before": 0.9,
        "after": 0.9 + difference, "difference": difference, "low": difference - 0.01,
        "high": difference + 0.01, "p": 0.001, "p_holm": 0.004, "n": 60, "verdict": verdict,
    } | more  # fmt: skip


def test_what_became_worse_stands_under_worse():
    rows = [row("better", 0.05, game="snake"), row("worse", -0.04), row("same", 0.0)]
    page = comparison_page({"a": "old", "b": "new", "rows": rows, "margin": 0.005})
    better, worse = page.index("<h2>Became better"), page.index("<h2>Became worse")
    assert better < page.index(">snake<") < worse < page.index(">pong<")
    assert "<h2>Not told apart" not in page
    assert "−0.040" in page[worse:]


def test_a_missing_number_is_a_dash_and_an_unknown_verdict_is_unclear():
    unknown = difference_of({"game": "pong", "metric": "final", "verdict": "splendid"})
    assert unknown.verdict == "unclear"
    assert math.isnan(unknown.difference)
    assert bars([unknown]) == [(unknown, None)]
    assert "–" in comparison_page({"rows": [{"game": "pong", "metric": "final"}]})


def test_bars_of_one_metric_share_a_scale_that_holds_zero():
    rows = [difference_of(row("better", 0.05)), difference_of(row("worse", -0.02))]
    (_, up), (_, down) = bars(rows)
    assert up.zero == down.zero == 50
    assert down.low < down.at < down.high < 50 < up.low < up.at < up.high <= 100


def test_a_hostile_name_stays_text(tmp_path):
    evil = "<script>alert(1)</script>"
    record = {"a": evil, "b": evil, "rows": [row("worse", -0.1, game=evil)], "notes": [evil]}
    (tmp_path / "comparison.json").write_text(json.dumps(record))
    page = write_comparison(tmp_path).read_text()
    assert "<script>alert" not in page
    assert page.count("<script") == 1


def test_a_folder_without_a_comparison_is_refused(tmp_path):
    (tmp_path / "comparison.json").write_text("[]")
    with pytest.raises(ValueError, match="expected a comparison"):
        write_comparison(tmp_path)
