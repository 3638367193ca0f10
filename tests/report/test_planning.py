"""The report's section about plans made inside a model."""

from cosmolabe.core.record import read_json, write_json
from cosmolabe.report.content import planning_table
from cosmolabe.report.folder import read_run
from cosmolabe.report.page import write_report

ROW = {
    "game": "racer", "model": "relational", "planner": "cem", "horizon": 24, "return": 3.2,
    "low": 2.5, "high": 3.9, "return_random": 1.1, "return_heuristic": 5.5, "return_true": 4.9,
    "share": 0.55, "share_low": 0.4, "share_high": 0.7, "mechanism": "score <b>ranked</b> poorly",
    "diagnosis": {
        "ranks": 0.61, "top_quarter": 0.5, "optimism": -0.2, "state_score": 0.97,
        "state_score_still": 0.93, "reaction": 0.04,
        "parts": [
            {"part": "score", "ranks": 0.2, "stakes": 0.25},
            {"part": "lives", "ranks": None, "stakes": 0.0},
        ],
    },
}  # fmt: skip


def section(page):
    return page[page.index("<h2>Plans made inside the model") : page.index("<h2>All readings")]


def test_the_section_reads_the_same_every_time(run_folder, snapshot):
    write_json(run_folder / "planning.json", [ROW])
    assert section(write_report(run_folder).read_text()) == snapshot
    assert read_json(run_folder / "report.json")["planning"][0]["share"] == 0.55


def test_a_run_without_plans_has_no_such_section(run_folder):
    assert "Plans made inside" not in write_report(run_folder).read_text()


def test_strangers_rows_are_escaped_and_gaps_are_dashes(run_folder):
    write_json(run_folder / "planning.json", [ROW, {"horizon": 8, "diagnosis": "none"}])
    text = section(write_report(run_folder).read_text())
    assert "&lt;b&gt;ranked" in text
    assert "<b>" not in text
    empty = planning_table(read_run(run_folder).planning)[1]
    assert empty.parts == ()
    assert empty.share != empty.share
