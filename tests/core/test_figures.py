"""What a reader sees of a number: its interval in brackets, or none where nothing tells it."""

from math import nan

import pytest

from cosmolabe.core.figures import figure, span, with_span


def test_a_number_stands_with_its_interval():
    assert with_span(0.6, 0.5, 0.72) == "0.600 (0.500 to 0.720)"
    assert with_span(0.6, 0.5, 0.72, "+.1f") == "+0.6 (+0.5 to +0.7)"
    assert span(-1, 1, ".0f") == "-1 to 1"


@pytest.mark.parametrize("missing", [nan, None])
def test_what_is_missing_is_never_a_number(missing):
    assert figure(missing) == "–"
    assert span(0.1, missing) == span(missing, 0.1) == "–"
    assert with_span(0.6, missing, missing) == "0.600"
    assert with_span(missing, 0.1, 0.2) == "–"
