"""What every corpus promises, asked of each by name on a small folder of its own shape."""

import csv
import dataclasses
import io
import json
import random
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpus_folders import BADNESS, UNRATED, make

from cosmolabe.core import parts
from cosmolabe.core.corpus import ClipRow, PairRow
from cosmolabe.data.corpus_rows import export_corpus, import_corpus
from cosmolabe.data.pairing import swapped

OURS_TO_MAKE = ("damage", "mujoco")  # sets this package films itself: their own tests make them
NAMES = [name for name in parts.names("corpora") if name not in OURS_TO_MAKE]
MANY = 10_000


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def part(name):
    return parts.load("corpora", name)


@pytest.fixture
def folder(name, tmp_path):
    return make(name, tmp_path / "set")


@pytest.fixture
def corpus(part, folder):
    return part.read(folder)


def tables_of(folder):
    kinds = (".csv", ".json", ".jsonl", ".parquet")
    return sorted(path for path in folder.rglob("*") if path.suffix in kinds)


def test_it_says_what_it_is(part, name):
    assert part.name == name
    assert part.summary.endswith(".")
    assert part.licence
    assert part.source
    assert part.schema
    assert part.weight >= 0
    assert part.use != "evaluate" or part.weight == 0


def test_every_row_of_its_own_shape_is_understood(corpus, name):
    assert corpus.name == name
    assert not corpus.bad
    assert not corpus.missing
    assert len(corpus.clips) >= 6
    assert {clip.dataset for clip in corpus.clips} == {name}
    assert len({clip.id for clip in corpus.clips}) == len(corpus.clips)


def test_every_clip_lies_in_the_folder(corpus, folder):
    for clip in corpus.clips:
        assert not Path(clip.path).is_absolute()
        assert (folder / clip.path).is_file()


def test_real_footage_has_no_generator(corpus):
    assert all(not clip.generator for clip in corpus.clips if clip.kind == "real")


def test_violation_rises_with_how_bad_the_set_itself_says_it_is(corpus, name):
    rated = [clip for clip in corpus.clips if clip.violation is not None]
    if name in UNRATED:
        assert not rated
        return
    told = sorted((BADNESS[name](clip.label), clip.violation) for clip in rated)
    assert told
    assert [violation for _, violation in told] == sorted(violation for _, violation in told)
    same = {}
    for badness, violation in told:
        assert same.setdefault(badness, violation) == violation
    assert all(0 <= violation <= 1 for _, violation in told)


def test_an_anchor_stands_where_the_violation_stands(corpus):
    for clip in corpus.clips:
        assert clip.anchor is None or clip.violation is None or clip.anchor == clip.violation


def test_its_pairs_agree_with_its_labels(part, corpus):
    clips = {clip.id: clip for clip in corpus.clips}
    pairs = part.pairs(corpus, MANY, 0)
    assert pairs
    for pair in pairs:
        first, second = clips[pair.first].violation, clips[pair.second].violation
        assert (pair.gap == 0) == (pair.p_first_worse == 0.5)
        if first is None or second is None:
            continue
        if pair.p_first_worse == 0.5:
            assert first == second
        else:
            assert (first > second) == (pair.p_first_worse == 1)


def test_no_pair_comes_twice_and_both_sides_are_worse_at_times(part, corpus):
    pairs = part.pairs(corpus, MANY, 0)
    assert len({frozenset((p.first, p.second)) for p in pairs}) == len(pairs)
    sides = {p.p_first_worse for p in part.pairs(corpus, MANY, 0)}
    sides |= {p.p_first_worse for seed in range(1, 20) for p in part.pairs(corpus, MANY, seed)}
    assert sides == {0.5} or {0.0, 1.0} <= sides


def test_a_seed_draws_the_same_pairs_whatever_the_order_of_the_rows(part, corpus):
    backwards = dataclasses.replace(corpus, clips=corpus.clips[::-1])
    assert part.pairs(corpus, 5, 3) == part.pairs(corpus, 5, 3) == part.pairs(backwards, 5, 3)
    assert len({part.pairs(corpus, 3, seed) for seed in range(8)}) > 1


def test_no_more_pairs_are_drawn_than_asked_for(part, corpus):
    pool = len(part.pairs(corpus, MANY, 0))
    for most in (0, 1, 3, pool):
        assert len(part.pairs(corpus, most, 1)) == min(most, pool)
    with pytest.raises(ValueError, match="most counts pairs"):
        part.pairs(corpus, -1, 0)


def test_a_pair_told_the_other_way_round_says_the_same(part, corpus):
    for pair in part.pairs(corpus, 50, 0):
        other = swapped(pair)
        assert other.p_first_worse == 1 - pair.p_first_worse
        assert (other.first, other.second, other.gap) == (pair.second, pair.first, pair.gap)
        assert swapped(other) == pair


def test_a_lost_video_is_listed_and_in_no_pair(part, corpus, folder):
    lost = corpus.clips[0]
    (folder / lost.path).unlink()
    again = part.read(folder)
    assert lost.id in again.missing or lost.id not in {clip.id for clip in again.clips}
    assert len(again.present()) == len(corpus.clips) - 1
    for pair in part.pairs(again, MANY, 0):
        assert lost.id not in (pair.first, pair.second)


def test_a_link_that_leads_out_of_the_folder_is_not_followed(part, corpus, folder, tmp_path):
    lost = corpus.clips[0]
    outside = tmp_path / "outside.mp4"
    outside.write_bytes(b"secret")
    (folder / lost.path).unlink()
    (folder / lost.path).symlink_to(outside)
    again = part.read(folder)
    assert len(again.present()) == len(corpus.clips) - 1
    assert all((folder / clip.path).resolve() != outside for clip in again.present())


def test_a_path_that_leads_out_of_the_folder_is_named_and_not_followed(
    part, corpus, folder, tmp_path
):
    (tmp_path / "outside.mp4").write_bytes(b"secret")
    (tmp_path / "outside").mkdir()
    text_tables = [table for table in tables_of(folder) if table.suffix != ".parquet"]
    for escape in ("../outside.mp4", str(tmp_path / "outside.mp4"), "a/../../outside.mp4"):
        changed = 0
        for table in text_tables:
            text = table.read_text()
            mangled = re.sub(r"(\./)?[\w./,-]*\w\.mp4", escape, text, count=1)
            changed += mangled != text
            table.write_text(mangled)
        again = part.read(folder)
        assert all(".." not in clip.path.split("/") for clip in again.clips)
        assert all(clip.path[:1] != "/" for clip in again.clips)
        assert all((folder / clip.path).is_file() for clip in again.present())


GARBAGE = {
    "nothing": b"",
    "noise": bytes(range(256)) * 40,
    "deep": b"[" * 100_000,
    "deeper": b'{"a":' * 50_000,
    "a number": b"7",
    "nulls": b"[null, null]",
    "long": b"9" * 5000,
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_a_table_of_garbage_is_no_end_of_the_reading(part, folder, kind):
    for table in tables_of(folder):
        table.write_bytes(GARBAGE[kind])
    corpus = part.read(folder)
    assert all(isinstance(clip, ClipRow) for clip in corpus.clips)
    if tables_of(folder):
        assert corpus.bad or corpus.clips


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_table_cut_short_gives_what_it_still_holds(part, corpus, folder, share):
    for table in tables_of(folder):
        content = table.read_bytes()
        table.write_bytes(content[: int(len(content) * share)])
    again = part.read(folder)
    assert len(again.clips) <= len(corpus.clips)
    if tables_of(folder):
        assert again.bad or len(again.clips) < len(corpus.clips) or again.clips == corpus.clips


WRONG = ("nonsense", -7, 1e300, True, ["x"], {"x": 1}, "2" * 400, "\x00", None)


@pytest.mark.parametrize("wrong", WRONG, ids=[str(value)[:8].strip("\x00") for value in WRONG])
def test_a_value_of_another_kind_costs_no_more_than_its_row(part, corpus, folder, wrong):
    def spoil(row, keep=()):
        return {key: value if key in keep else wrong for key, value in row.items()}

    for table in tables_of(folder):
        if table.suffix == ".csv":
            rows = list(csv.DictReader(io.StringIO(table.read_text())))
            with table.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows([spoil(rows[0]), *rows[1:]])
        elif table.suffix == ".json":
            content = json.loads(table.read_text())
            rows = content.get("data_list") if isinstance(content, dict) else content
            if rows is None:
                key = next(iter(content))
                content[key] = spoil(content[key])
            else:
                rows[0] = spoil(rows[0])
            table.write_text(json.dumps(content))
        elif table.suffix == ".jsonl":
            first, *rest = table.read_text().splitlines()
            table.write_text("\n".join([json.dumps(spoil(json.loads(first))), *rest]))
    again = part.read(folder)
    before = {clip.id: clip for clip in corpus.clips}
    others = [clip for clip in again.clips if clip.id in before]
    assert len(others) >= len(corpus.clips) - 6  # a reference of PAI-Bench takes its five along
    again_pairs = part.pairs(again, MANY, 0)
    assert all(isinstance(pair, PairRow) for pair in again_pairs)


ATOMS = (
    None, True, -1, 0, 5, "", [], {}, [[]], {"a": {}}, "x" * 5000, 1e308, float("nan"), "../x",
    ["a"], "\ud800", "nan", 2**80,
)  # fmt: skip


def mangled(value, dice):
    """The same tree with some of its branches replaced by something else altogether."""
    if dice.random() < 0.08:
        return dice.choice(ATOMS)
    if isinstance(value, dict):
        return {key: mangled(item, dice) for key, item in value.items()}
    return [mangled(item, dice) for item in value] if isinstance(value, list) else value


def hurt(content, dice):
    """The same bytes with some changed and some gone."""
    content = bytearray(content)
    for _ in range(dice.randint(1, 12)):
        place = dice.randrange(len(content))
        if dice.random() < 0.5:
            content[place] = dice.randrange(256)
        else:
            del content[place : place + dice.randint(1, 20)]
        content = content or bytearray(b" ")
    return bytes(content)


@pytest.mark.parametrize("number", range(4))
def test_tables_hurt_anywhere_are_read_as_far_as_they_make_sense(
    part, name, folder, tmp_path, number
):
    tables = {table: table.read_bytes() for table in tables_of(folder)}
    for round_ in range(6):
        dice = random.Random(f"{name} {number} {round_}")
        for table, content in tables.items():
            if table.suffix == ".json" and round_ % 2:
                table.write_text(json.dumps(mangled(json.loads(content), dice)))
            else:
                table.write_bytes(hurt(content, dice))
        corpus = part.read(folder)
        pairs = part.pairs(corpus, 50, number)
        out = export_corpus(corpus, tmp_path / "out", "parquet", pairs)
        assert len(import_corpus(out).clips) == len(corpus.clips)


TOLD_OTHERWISE = {
    "videophy": (",1,1\n", ",1,0\n"),
    "videophy2": (",4,1,0,", ",4,3,0,"),
    "videofeedback2": ("1-Very Poor", "4-Relatively Good"),
    "videogen_rewardbench": (",A\n", ",B\n"),
    "impossible_videos": ('"no"', '"yes"'),
    "aigve": ('"physics": 1', '"physics": 4'),
    "manifest": ('"violation": 0.0', '"violation": 1.0'),
}


@pytest.mark.parametrize("name", TOLD_OTHERWISE)
def test_of_rows_that_contradict_each_other_the_first_is_kept_and_the_others_named(name, tmp_path):
    part, folder = parts.load("corpora", name), make(name, tmp_path / "set")
    corpus = part.read(folder)
    was, becomes = TOLD_OTHERWISE[name]
    changed = 0
    for table in tables_of(folder):
        text = table.read_bytes().decode().replace("\r\n", "\n")
        changed += was in text
        (folder / "zz").mkdir(exist_ok=True)
        (folder / "zz" / table.name).write_text(text.replace(was, becomes))
    again = part.read(folder)
    assert changed
    assert again.bad
    assert all("first is kept" in line for line in again.bad)
    assert again.clips == corpus.clips


def test_a_row_that_says_the_same_twice_is_no_fault(part, corpus, folder):
    for table in tables_of(folder):
        (folder / "again").mkdir(exist_ok=True)
        shutil.copy(table, folder / "again" / table.name)
    again = part.read(folder)
    if len(again.clips) == len(corpus.clips):  # a table's place may be part of its clips' names
        assert not [line for line in again.bad if "video_id" not in line]


def test_an_empty_folder_is_told_what_it_lacks(part, tmp_path):
    (tmp_path / "empty").mkdir()
    corpus = part.read(tmp_path / "empty")
    assert not corpus.clips
    assert part.schema in corpus.bad[0]
    assert part.pairs(corpus, 5, 0) == ()


def test_a_folder_that_is_not_there_is_refused(part, tmp_path):
    with pytest.raises(ValueError, match="no folder"):
        part.read(tmp_path / "nowhere")


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_it_comes_back_as_it_was_from_rows(part, corpus, tmp_path, form):
    drawn = part.pairs(corpus, 20, 0)
    back = import_corpus(export_corpus(corpus, tmp_path / "out", form, drawn))
    assert back.clips == corpus.clips
    assert back.stated_pairs == drawn
    assert (back.name, back.missing, back.bad) == (corpus.name, corpus.missing, corpus.bad)
    if form == "parquet":
        assert pq.read_metadata(tmp_path / "out" / "clips.parquet").num_rows == len(corpus.clips)


def test_the_papers_seven_sets_share_all_draws_of_training():
    seven = (
        "videofeedback2", "videophy2", "travl", "pai_bench", "broken_videos", "impossible_videos",
        "kinetics",
    )  # fmt: skip
    weights = [parts.load("corpora", name).weight for name in seven]
    assert sum(weights) == pytest.approx(1)
    assert weights[0] == pytest.approx(0.294, abs=5e-4)
    assert weights[1] == weights[2] == pytest.approx(0.176, abs=5e-4)


def test_a_set_that_may_only_be_evaluated_on_says_so():
    part = parts.load("corpora", "intphys2")
    assert part.use == "evaluate"
    assert "evaluation only" in part.licence
