"""The conformance test of a measure: its file name, range, direction and documentation."""

from pathlib import Path

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.core.metric import Metric

DOCS = Path(__file__).parents[2] / "docs" / "metrics"


@pytest.mark.parametrize("name", parts.names("metrics"))
def test_a_measure_knows_its_name_unit_range_and_direction(name):
    metric = parts.load("metrics", name)
    assert metric.name == name
    assert metric.unit
    assert metric.summary.endswith(".")
    assert metric.direction in ("higher", "lower", "none")
    assert list(metric.outside(np.array([metric.low, metric.high, np.nan]))) == [False] * 3
    assert metric.outside(np.array([metric.low - 1.0]))[0]


@pytest.mark.parametrize("name", parts.names("metrics"))
def test_a_measure_has_its_page(name):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {name}\n")
    assert parts.load("metrics", name).unit in page


def test_a_range_that_runs_backwards_is_refused():
    with pytest.raises(ValueError, match="backwards"):
        Metric("m", "s.", "u", 1.0, 0.0, "higher", np.asarray)
