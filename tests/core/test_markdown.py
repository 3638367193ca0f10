"""Tables of pages."""

from cosmolabe.core.markdown import markdown_table


def test_a_table_has_a_line_for_heads_rule_and_rows_and_bars_stay_in_their_cells():
    told = markdown_table(("what", "n"), [("a|b", 1), ("c", 2.5)])
    assert told.splitlines() == ["| what | n |", "|---|---|", "| a\\|b | 1 |", "| c | 2.5 |"]
