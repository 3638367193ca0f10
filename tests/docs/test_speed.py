"""The page of speed is what the benchmarks measured, and no other page tells times of its own."""

import importlib
import re
from pathlib import Path

import pytest

from cosmolabe.core.record import read_json

ROOT = Path(__file__).parents[2]
BENCHMARKS, DOCS = ROOT / "benchmarks", ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
TIMES = re.compile(
    r"(core|cpu|processor)[- ]seconds?|(of|on) one core of|(a|per) (cpu|processor) second|"
    r"machine (that )?this was|project's machine|busy machine",
    flags=re.I,
)
"""How a page tells how long something took."""


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.__main__")


def test_every_benchmark_has_a_section_with_measured_rows(bench):
    made = {path.stem for path in BENCHMARKS.glob("*.py") if "\ndef rows()" in path.read_text()}
    table = read_json(bench.TABLE)
    assert made == set(bench.PARTS)
    assert list(table) == list(bench.PARTS)
    for part, section in table.items():
        assert section["rows"], part
        lacking = [row["name"] for row in section["rows"] if row["ratio"] is None]
        assert lacking == [], part


def test_the_page_of_speed_is_written_from_its_table(bench):
    assert bench.DOCS.read_text() == bench.page(read_json(bench.TABLE))


def test_what_could_not_be_measured_stays_on_the_page_as_such(bench):
    row = {
        "name": "clips", "ours": None, "peer": None, "peer_name": "decord", "ratio": None,
        "unit": "clips/s", "target": 1.2, "note": "NOT RUN: no decord",
    }  # fmt: skip
    line = bench.page({"eyes": {"machine": "2 cores", "rows": [row]}}).splitlines()[-3]
    assert line == "| clips | nan | decord | nan | nan | ✗ 1.2 | clips/s | NOT RUN: no decord |"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_tells_times_names_what_measures_them(page):
    text = page.read_text()
    if found := TIMES.search(text):
        assert re.search(r"python -m benchmarks|recipes/", text), found[0]
