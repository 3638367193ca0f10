"""Strangers' tables: what can be understood is, what cannot is named, nothing is run."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmolabe.core.corpus import ClipRow
from cosmolabe.data.gathering import MOST_NOTED, VIDEOS, Gathering, parts_of
from cosmolabe.data.labels import violation_of_likert
from cosmolabe.data.tables import Limits, has_columns, list_of, literal, number_of, read_rows


def rows_of(path, **limits):
    return list(read_rows(path, Limits(**limits)))


def test_a_csv_row_of_another_width_is_named_by_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,2\n"x\ny",3\n4\n5,6,7\n\n8,9\n')
    rows = rows_of(path)
    assert [dict(row.values) for row in rows if not row.why] == [
        {"a": "1", "b": "2"}, {"a": "x\ny", "b": "3"}, {"a": "8", "b": "9"},
    ]  # fmt: skip
    assert [row.where for row in rows if row.why] == ["t.csv, line 5", "t.csv, line 6"]


def test_a_cell_without_an_end_costs_no_memory_and_the_reading_goes_on(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"' + "x" * 200_000 + "\n1,2\n3,4\n")
    rows = rows_of(path)
    assert any("field larger" in row.why for row in rows)


def test_text_that_is_not_utf8_costs_its_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\nfine\n\xff\xfe\nalso\n")
    assert [row.why for row in rows_of(path)] == ["", "not UTF-8 text", ""]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}\n')
    assert [bool(row.why) for row in rows_of(path)] == [False, True, False]


def test_a_column_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    (row,) = rows_of(tmp_path / "t.csv")
    assert "stand twice" in row.why


def test_a_line_of_json_may_be_broken_deep_or_long(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"a": 1}}\n{"[" * 9000}\n[1]\n{{"a": "{"x" * 500}"}}\n{{"a": 2}}\n')
    rows = rows_of(path, line=400)
    assert [row.values for row in rows if not row.why] == [{"a": 1}, {"a": 2}]
    assert [row.where for row in rows if row.why] == [f"t.jsonl, line {n}" for n in (2, 3, 4)]


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ([{"a": 1}, {"a": 2}], ["row 0", "row 1"]),
        ({"meta": 1, "data_list": [{"a": 1}]}, ["'data_list' 0"]),
        ({"0": {"a": 1}, "7": {"a": 2}}, ["key 0", "key 7"]),
        ({"results": []}, ["key results"]),
    ],
)
def test_json_of_any_usual_shape_gives_rows(tmp_path, content, places):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content))
    assert [row.where.split(", ")[1].replace("'", "") for row in rows_of(path)] == [
        place.replace("'", "") for place in places
    ]


def test_half_a_character_is_no_text_and_two_halves_are_one(tmp_path):
    rows = '[{"a": "\\ud83d\\ude00"}, {"a": ["\\ud83d"]}, {"b": 1}]'
    (tmp_path / "t.json").write_text(rows)
    (tmp_path / "t.jsonl").write_text("\n".join(rows[1:-1].split(", ")))
    for name in ("t.json", "t.jsonl"):
        found = rows_of(tmp_path / name)
        assert [row.values for row in found] == [{"a": "😀"}, {}, {"b": 1}]
        assert "half a character" in found[1].why


def test_a_json_file_larger_than_the_limit_is_not_read(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("[" + "1," * 100 + "1]")
    (row,) = rows_of(path, num_bytes=100)
    assert "is the most" in row.why


def test_a_line_longer_than_the_limit_comes_in_pieces_and_fills_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1," * 5000 + "\n3,4\n")
    rows = rows_of(path, line=1000)
    assert [dict(row.values) for row in rows if not row.why] == [{"a": "3", "b": "4"}]
    assert all("cells under" in row.why for row in rows[:-1])
    assert "is the most" in rows_of(path, num_text=1000)[0].why


def test_a_row_group_that_claims_too_much_is_not_unpacked(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x" * 1000] * 100}), path, use_dictionary=False)
    (row,) = rows_of(path, num_bytes=1000)
    assert "bytes of text and numbers" in row.why


def test_rows_beyond_the_limit_are_left_out_and_said_so(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 9)
    rows = rows_of(path, num_rows=4)
    assert len(rows) == 5
    assert "more than 4 rows" in rows[-1].why


def test_bytes_in_a_parquet_file_are_not_even_read_but_the_path_beside_them_is(tmp_path):
    path = tmp_path / "t.parquet"
    video = {"bytes": b"x" * 1000, "path": "a.mp4"}
    pq.write_table(pa.Table.from_pylist([{"n": 1, "raw": b"x", "video": video}]), path)
    (row,) = rows_of(path)
    assert row.values == {"n": 1, "video": {"path": "a.mp4"}}


def test_a_parquet_file_cut_short_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.arange(1000)}), path)
    path.write_bytes(path.read_bytes()[:-20])
    (row,) = rows_of(path)
    assert row.where == "t.parquet"
    assert not has_columns(path, ["a"])


@given(st.binary(max_size=200), st.sampled_from([".csv", ".json", ".jsonl", ".parquet", ".tsv"]))
def test_no_bytes_whatever_stop_a_reader(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("t") / f"t{suffix}"
    path.write_bytes(content)
    for row in read_rows(path):
        assert row.why or isinstance(row.values, dict)
    has_columns(path, ["a"])


@given(st.lists(st.text(max_size=20), max_size=6))
def test_lists_come_back_from_python_and_from_json(texts):
    assert list_of(repr(texts)) == texts
    assert list_of(json.dumps(texts)) == texts
    assert list_of(texts) == texts


def test_an_empty_list_may_be_written_in_many_ways():
    for cell in (None, "", "nan", "NaN", "[]", float("nan"), "None", " [] "):
        assert list_of(cell) == []


NO_LISTS = (
    "__import__('os').system('true')", "[].__class__", "['a'].pop()", "[x for x in 'ab']",
    "f'{1}'", "[f'{1}']", "[b'x']", "[1, 2]", "{'a': 1}", "['a'", "'a'", "[" * 40 + "]" * 40,
    "[" + "-" * 5000 + "1]", "['a'] * 10**9", "[" + "'a'," * 60_000 + "]", "[lambda: 0]", 7, {},
    "(" * 33 + "1", "['a']; import os", "[1e999]", "[9" + "9" * 5000 + "]",
)  # fmt: skip


def test_what_is_no_short_plain_list_of_texts_is_refused_and_never_run():
    for cell in NO_LISTS:
        with pytest.raises(ValueError, match=r"."):
            list_of(cell)


def test_a_dict_written_as_python_is_read():
    assert literal("{'gravity': 'It falls.', \"o'clock\": [1, -2.5]}")["o'clock"] == [1, -2.5]


@pytest.mark.parametrize("value", [True, "five", [5], {}, 6, -1, "1e400", "9" * 400, 3.5])
def test_a_rating_of_another_kind_is_refused_by_name(value):
    with pytest.raises(ValueError, match="pc is"):
        number_of({"pc": value}, "pc", 1, 5, whole=True)


@given(st.floats(1, 5), st.floats(1, 5))
def test_a_better_rating_is_never_the_greater_violation(one, other):
    worse, better = sorted((one, other))
    for linear in (False, True):
        assert violation_of_likert(worse, linear) >= violation_of_likert(better, linear)


def test_the_five_ratings_have_the_papers_violations():
    floors = [violation_of_likert(float(rating)) for rating in (5, 4, 3, 2, 1)]
    assert floors == pytest.approx([0, 0.5, 0.667, 0.833, 1], abs=1e-3)
    assert [violation_of_likert(float(r), True) for r in (5, 4, 3, 2, 1)] == [0, 0.25, 0.5, 0.75, 1]
    assert np.isnan(violation_of_likert(float("nan")))
    for outside in (0.9, 5.1, float("inf")):
        with pytest.raises(ValueError, match=r"1\.\.5"):
            violation_of_likert(outside)


ESCAPES = (
    "/etc/passwd.mp4", "../a.mp4", "x/../../a.mp4", "~/a.mp4", "C:\\a.mp4", "..\\a.mp4",
    "a\x00.mp4", "file:///../a.mp4", "https://h/%2e%2e/a.mp4", "x" * 5000, "https://[bad/a.mp4",
)  # fmt: skip


def test_no_path_leads_out_of_the_folder():
    for path in ESCAPES:
        with pytest.raises(ValueError, match=r"."):
            parts_of(path)


def test_a_video_is_found_by_ever_fewer_parts_of_its_name(tmp_path):
    for name in ("a/x.mp4", "b/x.mp4", "b/y,_z's.mp4", "c/deep/w.mp4", "s/A__b_c_.mp4"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = Gathering("x", tmp_path)
    assert found.locate("a/x.mp4") == "a/x.mp4"
    assert found.locate("https://h.co/r/b/x.mp4?download=1") == "b/x.mp4"
    assert found.locate("elsewhere/y,_z's.mp4") == "b/y,_z's.mp4"
    assert found.locate("examples/A,_b'c?.mp4") == "s/A__b_c_.mp4"
    assert found.locate("w.mp4") == "c/deep/w.mp4"
    assert found.locate("gone.mp4") == ""
    with pytest.raises(ValueError, match="could be any of"):
        found.locate("x.mp4")


def test_a_file_goes_to_the_clip_that_names_more_of_its_path(tmp_path):
    """Half of a download is there: another model's video of the same name must not stand in."""
    (tmp_path / "sora").mkdir()
    (tmp_path / "sora" / "ball.mp4").write_bytes(b"")
    for order in (("wan", "sora"), ("sora", "wan")):
        found = Gathering("x", tmp_path)
        for model in order:
            assert found.add("t", ClipRow(f"{model}/ball", "x"), f"{model}/ball.mp4")
        corpus = found.corpus("s")
        assert corpus.missing == ("wan/ball",)
        assert [clip.path for clip in corpus.present()] == ["sora/ball.mp4"]


def test_stills_by_the_folder_are_a_video_and_a_picture_beside_videos_is_none(tmp_path):
    for name in ("a/000.png", "b/x.mp4", "b/x.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = Gathering("x", tmp_path)
    assert found.add("t", ClipRow("a", "x"), "a")
    assert found.locate("b/x.mp4") == "b/x.mp4"
    assert found.files(*VIDEOS) == ["b/x.mp4"]
    assert found.corpus("s").present()[0].path == "a"


def test_bad_rows_are_counted_all_and_told_up_to_a_number(tmp_path):
    found = Gathering("x", tmp_path)
    for number in range(MOST_NOTED + 5):
        found.note(f"t, line {number}", "no")
    bad = found.corpus("s").bad
    assert len(bad) == MOST_NOTED + 1
    assert "5 more rows" in bad[-1]


def test_two_clips_that_are_one_file_are_named(tmp_path):
    (tmp_path / "ball.mp4").write_bytes(b"")
    found = Gathering("x", tmp_path)
    assert found.add("t, line 2", ClipRow("a", "x"), "ball.mp4")
    assert not found.add("t, line 3", ClipRow("b", "x"), "ball.mp4")
    assert "are one file" in found.bad[0]


def test_a_linked_folder_that_leads_out_is_named_as_one(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "a.mp4").write_bytes(b"")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "videos").symlink_to(tmp_path / "disk")
    found = Gathering("x", tmp_path / "set")
    assert not found.add("t.csv, line 2", ClipRow("a", "x"), "videos/a.mp4")
    assert "give the folder it leads to" in found.bad[0]


def test_a_link_to_a_video_within_the_folder_is_a_video(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"")
    (tmp_path / "b.mp4").symlink_to("a.mp4")
    (tmp_path / "round").symlink_to(tmp_path)
    assert Gathering("x", tmp_path).locate("b.mp4") == "b.mp4"


def test_a_message_never_carries_more_than_a_line_of_a_strangers_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,anchor\na.mp4," + '"' + "x\n\x1b[31m" * 900 + '"\n')
    found = Gathering("x", tmp_path)
    for where, row in found.rows("t.csv"):
        with pytest.raises(ValueError, match="anchor is") as refused:
            number_of(row, "anchor", 0, 1)
        assert len(str(refused.value)) < 300
        assert "\n" not in str(refused.value)
        assert where == "t.csv, line 2"
