"""VideoPhy 1 and 2 on their real example tables and on tables of the same columns made here."""

import csv
from pathlib import Path

import pytest

from cosmolabe.core import parts

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
real = pytest.mark.skipif(
    not (SHARED / "videophy_tables").is_dir(), reason=f"no example tables at {SHARED}"
)
COLUMNS = ("caption", "video_url", "sa", "pc", "action", "physics_rules_unfollowed", "model_name")


def write(folder, rows, columns=COLUMNS, name="videophy2_test.csv", videos=True):
    with (folder / name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    for row in rows if videos else []:
        path = folder / row[columns.index("model_name")] / row[1].split("/")[-1]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    return folder


def row(number, pc, action="golf", rules="['It falls.']", model="wan"):
    return [f"A ball {number}.", f"https://host/x/{number}.mp4", 4, pc, action, rules, model]


@real
def test_the_real_table_of_videophy_is_read_with_binary_labels():
    corpus = parts.load("corpora", "videophy").read(SHARED)
    assert len(corpus.clips) == 7
    assert len(corpus.missing) == 2
    assert not corpus.bad
    assert {c.violation for c in corpus.clips} == {0, 1}
    apple = next(c for c in corpus.clips if c.id.startswith("An_apple"))
    assert apple.violation == 0
    assert (SHARED / apple.path).is_file()


@real
def test_scores_of_the_automatic_rater_are_labels_but_no_truth():
    corpus = parts.load("corpora", "videophy2").read(SHARED)
    assert len(corpus.clips) == 20
    assert len(corpus.present()) == 14
    assert all(clip.violation is None for clip in corpus.clips)
    assert not parts.load("corpora", "videophy2").pairs(corpus, 100, 0)


def test_pairs_stay_within_an_action_and_the_lower_rating_is_worse(tmp_path):
    rows = [row(n, 1 + n % 5, "golf" if n < 10 else "dive") for n in range(20)]
    part = parts.load("corpora", "videophy2")
    corpus = part.read(write(tmp_path, rows))
    clips = {clip.id: clip for clip in corpus.clips}
    pairs = part.pairs(corpus, 10_000, 0)
    assert len(pairs) == 2 * (10 * 9 // 2 - 5)
    for pair in pairs:
        first, second = clips[pair.first], clips[pair.second]
        assert first.group == second.group
        assert (pair.p_first_worse == 1) == (first.label["pc"] < second.label["pc"])
        assert pair.gap == abs(first.label["pc"] - second.label["pc"]) / 4


@pytest.mark.parametrize("cell", ["['a'", "[" * 50, "__import__('os')", "['a'] * 9", "f'{1}'"])
def test_a_list_that_is_no_list_costs_its_row_and_is_named_by_its_line(tmp_path, cell):
    corpus = parts.load("corpora", "videophy2").read(
        write(tmp_path, [row(1, 3), row(2, 4, rules=cell), row(3, 5)])
    )
    assert [clip.id for clip in corpus.clips] == ["wan/1", "wan/3"]
    (bad,) = corpus.bad
    assert bad.startswith("videophy2_test.csv, line 3: physics_rules_unfollowed")
