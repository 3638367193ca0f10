"""A set of twins read as a corpus: violation is size, the lawful is anchored, and nothing leaks."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from cosmolabe.core import parts
from cosmolabe.data.twin_rows import TwinRow

NAMES = ("damage", "mujoco")
FAMILY = {"damage": "games", "mujoco": "mujoco"}


def row(group, role, name, kind, size, family):
    damaged = "" if role == "lawful" else f"clips/{group}-{name}.mp4"
    return TwinRow(
        id=f"{group}-{name}", group=group, role=role, family=family, scene=f"{family}/x",
        theme="", characters=(), kind=kind, size=size, onset=5, entity="",
        true=f"clips/{group}-true.mp4", damaged=damaged,
        sub_threshold=name == "below", largest=90, difference=1.0, changed=0.1, held_out=(),
        split=group.split("-")[0], fps=16.0, frames=48, tags=(),
    )  # fmt: skip


def rows_of(family):
    rows = []
    for number in range(4):
        group = f"{('train', 'test')[number % 2]}-{number:06d}"
        for size in (0.25, 0.5, 1.0):
            rows.append(row(group, "damage", f"size{size}", "kick", size, family))
        rows.append(row(group, "damage", "below", "kick", 0.01, family))
        rows.append(row(group, "quality", "blur", "blur", 0.7, family))
    rows.append(row("train-000009", "lawful", "lawful", "", 0.0, family))
    return rows


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def folder(name, tmp_path):
    write(tmp_path, rows_of(FAMILY[name]))
    return tmp_path


def write(folder, rows):
    (folder / "clips").mkdir(exist_ok=True)
    (folder / "twins.jsonl").write_text("".join(json.dumps(asdict(r)) + "\n" for r in rows))
    for r in rows:
        for file in (r.true, r.damaged):
            if file:
                (folder / file).write_bytes(b"clip")


def read(name, folder):
    return parts.load("corpora", name).read(folder)


def test_the_violation_of_a_double_is_its_size_and_of_all_else_none(name, folder):
    corpus = read(name, folder)
    assert not corpus.bad
    assert not corpus.missing
    assert len(corpus.clips) == 4 * 6 + 1
    for clip in corpus.clips:
        role = clip.label["role"]
        if role in ("true", "quality"):
            assert (clip.violation, clip.anchor) == (0.0, 0)
        elif clip.label["sub_threshold"]:
            assert (clip.violation, clip.anchor) == (None, None)
        else:
            assert clip.violation == clip.label["size"]
            assert clip.anchor == (1 if clip.violation == 1 else None)
        assert clip.split in ("train", "test")
        assert (folder / clip.path).is_file()


def test_pairs_stay_in_their_group_and_pass_over_what_is_under_the_threshold(name, folder):
    part, corpus = parts.load("corpora", name), read(name, folder)
    clips = {clip.id: clip for clip in corpus.clips}
    pairs = part.pairs(corpus, 10_000, 0)
    assert pairs
    for pair in pairs:
        first, second = clips[pair.first], clips[pair.second]
        assert first.group == second.group
        assert None not in (first.violation, second.violation)
        assert pair.gap == pytest.approx(abs(first.violation - second.violation))
        if pair.p_first_worse == 0.5:
            assert first.violation == second.violation == 0
        else:
            assert (first.violation > second.violation) == (pair.p_first_worse == 1)
        assert pair.corresponds == "scene"
    # a group: 5 rated clips, 0 0 .25 .5 1: nine pairs that differ and one tie
    assert len(pairs) == 4 * 10
    assert sum(pair.p_first_worse == 0.5 for pair in pairs) == 4


@pytest.mark.parametrize("most", [0, 1, 7, 12, 40, 500])
def test_no_more_pairs_than_asked_for_and_the_same_for_a_seed(name, folder, most):
    part, corpus = parts.load("corpora", name), read(name, folder)
    pairs = part.pairs(corpus, most, 4)
    assert len(pairs) == min(most, 40)
    assert pairs == part.pairs(replace(corpus, clips=corpus.clips[::-1]), most, 4)


def test_each_corpus_takes_its_own_families_from_a_mixed_set(tmp_path):
    rows = [
        *rows_of("games"),
        *(replace(r, group=f"m{r.group}", id=f"m{r.id}", true=f"m{r.true}",
                  damaged=r.damaged and f"m{r.damaged}") for r in rows_of("mujoco")),
    ]  # fmt: skip
    (tmp_path / "mclips").mkdir()
    write(tmp_path, rows)
    one, other = (read(name, tmp_path) for name in NAMES)
    assert len(one.clips) == len(other.clips) == 25
    assert {c.label["family"] for c in one.clips} == {"games"}
    assert {c.label["family"] for c in other.clips} == {"mujoco"}


def test_real_footage_is_real_until_it_is_hurt(tmp_path):
    write(tmp_path, rows_of("real"))
    for clip in read("damage", tmp_path).clips:
        hurt = clip.label["role"] == "damage"
        assert clip.kind == ("generated" if hurt else "real")
        assert bool(clip.generator) == hurt


def test_a_lost_clip_is_listed_and_in_no_pair(name, folder):
    gone = rows_of(FAMILY[name])[0]
    (folder / gone.damaged).unlink()
    corpus = read(name, folder)
    assert corpus.missing == (gone.id,)
    pairs = parts.load("corpora", name).pairs(corpus, 1000, 0)
    assert gone.id not in {side for pair in pairs for side in (pair.first, pair.second)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"role": "rust"}, "role is rust"),
        ({"size": 7}, "size is 7"),
        ({"size": True}, "size is True"),
        ({"size": None}, "size is None"),
        ({"group": ""}, "no group"),
        ({"damaged": ""}, "no second clip"),
        ({"damaged": "../../secret.mp4"}, "leads out"),
    ],
)
def test_a_row_of_nonsense_is_listed_and_the_rest_is_read(name, tmp_path, change, told):
    rows = rows_of(FAMILY[name])
    write(tmp_path, rows)
    lines = (tmp_path / "twins.jsonl").read_text().splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), **change})
    lines.insert(3, "{broken")
    (tmp_path / "twins.jsonl").write_text("\n".join(lines) + "\n")
    corpus = read(name, tmp_path)
    assert any(told in bad and "line 1" in bad for bad in corpus.bad), corpus.bad
    assert any("line 4" in bad for bad in corpus.bad)
    assert len(corpus.clips) >= 24 - 1


def test_an_empty_folder_says_what_was_looked_for(name, tmp_path):
    corpus = read(name, tmp_path)
    assert not corpus.clips
    assert "twins.jsonl" in corpus.bad[0]


def test_doubles_of_one_size_in_two_groups_are_never_compared(name, folder):
    corpus = read(name, folder)
    pairs = parts.load("corpora", name).pairs(corpus, 1000, 1)
    groups = {clip.id: clip.group for clip in corpus.clips}
    assert np.all([groups[p.first] == groups[p.second] for p in pairs])
