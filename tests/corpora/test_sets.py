"""What is particular to one set: its own words, its traps, its rule of pairing."""

import json
from pathlib import Path

import pytest
from corpus_folders import make, raw_entry, touch, write_csv, write_json, write_parquet

from cosmolabe.core import parts
from cosmolabe.corpora import impossible_videos, videogen_rewardbench

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def real(folder):
    return pytest.mark.skipif(not (SHARED / folder).is_dir(), reason=f"no {folder} at {SHARED}")


def read(name, folder):
    return parts.load("corpora", name).read(folder)


def by_id(corpus):
    return {clip.id: clip for clip in corpus.clips}


@real("aigve_toy")
def test_the_real_toy_set_of_aigve_is_read_with_its_five_videos():
    corpus = read("aigve", SHARED)
    assert (len(corpus.clips), len(corpus.present()), corpus.bad) == (10, 5, ())
    clips = by_id(corpus)
    assert clips["cogvideox_7"].violation == 1
    assert clips["cogvideox_11"].violation == pytest.approx(2 / 3)
    assert clips["cogvideox_0"].violation == 0
    assert clips["cogvideox_0"].label["dynamic"] == 1
    pairs = parts.load("corpora", "aigve").pairs(corpus, 100, 0)
    assert len(pairs) == 7  # 1 against 3 and 3 fives, 3 against 3 fives, of those there
    assert {name for p in pairs for name in (p.first, p.second)} <= {c.id for c in corpus.present()}


@real("videoalign")
def test_the_real_pairs_of_videoalign_stand_four_times_and_count_once():
    corpus = read("videogen_rewardbench", SHARED)
    assert not corpus.bad
    assert len(corpus.clips) == 6
    worse = {p.first[-3:]: p.p_first_worse for p in corpus.stated_pairs}
    assert worse == {"1_A": 1.0, "2_A": 0.5, "3_A": 0.5}  # MQ: B, same, same
    assert len(parts.load("corpora", "videogen_rewardbench").pairs(corpus, 10, 0)) == 1


@real("physics_iq_tables")
def test_the_real_table_of_physics_iq_pairs_two_takes_of_every_film():
    corpus = read("physics_iq", SHARED)
    assert (len(corpus.clips), len(corpus.missing), corpus.bad) == (396, 396, ())
    groups = {}
    for clip in corpus.clips:
        groups.setdefault(clip.group, set()).add(clip.label["take"])
    assert len(groups) == 66 * 3
    assert all(takes == {1, 2} for takes in groups.values())


@real("physion")
def test_the_real_examples_of_physion_are_lawful_and_tied():
    corpus = read("physion", SHARED / "physion")
    assert (len(corpus.clips), len(corpus.present()), corpus.bad) == (10, 6, ())
    assert {(clip.kind, clip.anchor) for clip in corpus.clips} == {("simulated", 0)}
    pairs = parts.load("corpora", "physion").pairs(corpus, 100, 0)
    assert len(pairs) == 15
    assert {p.p_first_worse for p in pairs} == {0.5}


def test_the_four_forms_of_videofeedback2_are_read_together(tmp_path):
    clips = by_id(read("videofeedback2", make("videofeedback2", tmp_path)))
    assert len(clips) == 30
    raw, sft, rl, bench = (clips[f"000002_{side}"] for side in "abcd")
    assert raw.label == {"visual": 5, "text": 4, "text_comment": "No cup.", "phy": 3} | {
        "phy_comment": "It floats."
    }
    assert (raw.generator, raw.prompt) == ("kling", "A cup falls, 000002_a")
    assert sft.label == {"visual": 3, "text": 3, "phy": 3}
    assert sft.prompt == "A cup 2."
    assert rl.label["phy"] == bench.label["phy"] == 3
    assert [clip.split for clip in (raw, sft, rl, bench)] == ["", "train", "train", "test"]
    assert {clip.violation for clip in (raw, sft, rl, bench)} == {0.5 + 1 / 6}


def test_only_the_answers_last_score_counts(tmp_path):
    """A chain of thought may name other scores before it decides."""
    clips = by_id(read("videofeedback2", make("videofeedback2", tmp_path)))
    assert clips["000004_b"].label["phy"] == 5


@pytest.mark.parametrize(
    ("score", "says"),
    [("7-Great", "phy is 7-Great"), ("", "no physical score"), ("good", "phy is")],
)
def test_a_physical_score_that_is_none_costs_its_row(tmp_path, score, says):
    entries = [raw_entry("000001_a", "kling", score), raw_entry("000002_a", "kling", "2-Poor")]
    write_json(tmp_path / "1.json", entries)
    corpus = read("videofeedback2", tmp_path)
    assert [clip.id for clip in corpus.clips] == ["000002_a"]
    assert corpus.bad[0].startswith("1.json, row 0")
    assert says in corpus.bad[0]


def test_a_label_out_of_its_usual_place_is_still_the_physical_one(tmp_path):
    entry = raw_entry("000001_a", "kling", "2-Poor")
    entry["labels"].reverse()
    write_json(tmp_path / "1.json", [entry])
    (clip,) = read("videofeedback2", tmp_path).clips
    assert clip.label["phy"] == 2


def test_a_video_rated_otherwise_in_another_form_keeps_the_first_and_says_so(tmp_path):
    write_json(tmp_path / "bench.json", [{"video_name": "1_a", "phy_score": 5}])
    row = {"problem": "", "solution": "physical consistency: 1", "path": "v/1_a.mp4"}
    write_json(tmp_path / "rl.json", [row])
    corpus = read("videofeedback2", tmp_path)
    assert [clip.label["phy"] for clip in corpus.clips] == [5]
    assert "another label; the first is kept" in corpus.bad[0]


def test_pairs_of_videofeedback2_lie_a_whole_rating_apart(tmp_path):
    part = parts.load("corpora", "videofeedback2")
    rows = [{"video_name": f"{n}_a", "phy_score": 3 + n / 10} for n in range(15)]
    write_json(tmp_path / "bench.json", rows)
    touch(tmp_path, *(f"{n}_a.mp4" for n in range(15)))
    corpus = part.read(tmp_path)
    rating = {clip.id: clip.label["phy"] for clip in corpus.clips}
    pairs = part.pairs(corpus, 1000, 0)
    assert len(pairs) == 15  # (0, 10..14), (1, 11..14), ... of tenths
    assert all(abs(rating[p.first] - rating[p.second]) >= 1 - 1e-9 for p in pairs)
    assert all(p.corresponds == "none" for p in pairs)


def test_a_generated_still_or_social_oddity_violates_no_motion(tmp_path):
    corpus = read("impossible_videos", make("impossible_videos", tmp_path))
    fakes = [clip for clip in corpus.clips if clip.kind == "generated"]
    unsaid = [clip for clip in fakes if clip.violation is None]
    assert len(fakes) == 6
    assert {(clip.label["when"], *clip.label["laws"]) for clip in unsaid} == {
        ("spatial", "physical laws"), ("temporal", "social laws"),
    }  # fmt: skip
    assert all(clip.anchor is None for clip in unsaid)
    assert {clip.anchor for clip in fakes if clip.violation is not None} == {1}
    careful = impossible_videos.pairs(corpus, 1000, 0)
    everything = impossible_videos.pairs(corpus, 1000, 0, every=True)
    assert (len(careful), len(everything)) == (6 * 4, 6 * 6)


def test_every_scene_of_implausibench_is_one_pair(tmp_path):
    part = parts.load("corpora", "implausibench")
    corpus = part.read(make("implausibench", tmp_path))
    pairs = part.pairs(corpus, 1000, 0)
    assert len(pairs) == 6
    assert all(p.first.split("_")[0] == p.second.split("_")[0] for p in pairs)
    assert by_id(corpus)["IMP3_implausible"].label["reason"] == "It hovers."
    (tmp_path / "ImplausiBench" / "data.json").unlink()
    assert len(part.pairs(part.read(tmp_path), 1000, 0)) == 6


def test_a_folder_called_real_is_no_set_by_itself(tmp_path):
    touch(tmp_path, "real/a.mp4", "x/real/b.mp4", "y/implausible/c.mp4")
    assert not read("travl", tmp_path).clips
    assert not read("implausibench", tmp_path).clips
    touch(tmp_path, "y/real/d.mp4")
    assert [clip.id for clip in read("travl", tmp_path).clips] == ["generated/c", "real/d"]


def test_films_of_intphys2_pair_within_scene_and_run(tmp_path):
    part = parts.load("corpora", "intphys2")
    corpus = part.read(make("intphys2", tmp_path))
    pairs = part.pairs(corpus, 100, 0)
    clips = by_id(corpus)
    assert len(pairs) == 4
    assert {clips[p.first].group for p in pairs} == {
        "Main/0/1", "Main/0/2", "Main/1/1", "Main/1/2",
    }  # fmt: skip
    assert all(clips[p.first].group == clips[p.second].group for p in pairs)


def test_films_without_a_label_are_named_and_left_out(tmp_path):
    rows = [{"SceneIndex": 0, "file_name": "0.mp4", "type": ""}]
    write_csv(tmp_path / "HeldOut" / "metadata.csv", rows)
    corpus = read("intphys2", tmp_path)
    assert not corpus.clips
    assert "HeldOut/metadata.csv, line 2" in corpus.bad[0]


def test_variations_that_likephys_itself_leaves_out_are_in_no_pair(tmp_path):
    home = "data/river_videos/subgroup_000"
    touch(tmp_path, f"{home}/valid_00.mp4", f"{home}/color_change_00.mp4", f"{home}/gone_00.mp4")
    part = parts.load("corpora", "likephys")
    corpus = part.read(tmp_path)
    assert by_id(corpus)["river/subgroup_000/color_change_00"].violation is None
    (pair,) = part.pairs(corpus, 10, 0)
    assert "color_change" not in pair.first + pair.second


def test_the_crowds_coherence_decides_before_its_preference(tmp_path):
    row = {"prompt": "A cup.", "model1": "a", "model2": "b"}
    row |= {"file_name1": "1.mp4", "file_name2": "2.mp4"}
    shares = {"Preference": (0.9, 0.1), "Coherence": (0.25, 0.75)}
    for question, (one, other) in shares.items():
        row |= {f"weighted_results1_{question}": one, f"weighted_results2_{question}": other}
    write_parquet(tmp_path / "t.parquet", [row])
    touch(tmp_path, "videos/a/1.mp4", "videos/b/2.mp4")
    (pair,) = read("rapidata", tmp_path).stated_pairs
    assert (pair.first, pair.p_first_worse, pair.gap) == ("a/1", 1.0, 0.5)
    assert pair.corresponds == "text"


def test_rapidatas_physics_rating_of_one_is_lawful(tmp_path):
    rows = [
        {"prompt": "A cup.", "video": f"https://h/{n}.mp4", "filename": f"{n}.mp4"}
        | {"likert_score_normalized_physics": n / 4}
        for n in range(5)
    ]
    write_parquet(tmp_path / "t.parquet", rows)
    clips = by_id(read("rapidata", tmp_path))
    assert [clips[str(n)].violation for n in range(5)] == [1, 0.75, 0.5, 0.25, 0]


def test_another_question_of_rewardbench_may_be_asked(tmp_path):
    folder = make("videogen_rewardbench", tmp_path)
    by_motion = videogen_rewardbench.read(folder, ("MQ",))
    assert {p.p_first_worse for p in by_motion.stated_pairs} == {1.0}  # B is better throughout


def test_a_reference_of_pai_bench_meets_generations_of_its_own_prompt(tmp_path):
    part = parts.load("corpora", "pai_bench")
    corpus = part.read(make("pai_bench", tmp_path))
    clips = by_id(corpus)
    pairs = part.pairs(corpus, 1000, 0)
    assert len(pairs) == 20
    for pair in pairs:
        sides = {clips[pair.first].kind, clips[pair.second].kind}
        assert sides == {"real", "generated"}
        assert clips[pair.first].group == clips[pair.second].group
        assert (clips[pair.first].kind == "generated") == (pair.p_first_worse == 1)
    assert all(clip.anchor is None for clip in corpus.clips)


def test_a_violation_in_words_stays_with_its_video(tmp_path):
    corpus = read("phydetex", make("phydetex", tmp_path))
    reasons = [c.label.get("reason") for c in corpus.clips if c.kind == "generated"]
    assert reasons == ["A cup hovers."] * 6


def test_generations_of_videophy2_are_told_apart_by_their_model(tmp_path):
    rows = [
        {"caption": "A ball.", "video_url": f"https://h/{m}/ball.mp4", "pc": n, "action": "golf"}
        for n, m in enumerate(("cogvideo_5b", "sora"), 2)
    ]
    write_csv(tmp_path / "videophy2_test.csv", rows)
    touch(tmp_path, "cogvideo_5b/ball.mp4", "sora/ball.mp4")
    corpus = read("videophy2", tmp_path)
    assert [(c.id, c.path) for c in corpus.clips] == [
        ("cogvideo/ball", "cogvideo_5b/ball.mp4"), ("sora/ball", "sora/ball.mp4"),
    ]  # fmt: skip


def test_your_own_table_may_be_csv_and_state_its_own_pairs(tmp_path):
    rows = [{"id": "a", "path": "a.mp4", "violation": 0}, {"id": "b", "path": "b.mp4"}]
    write_csv(tmp_path / "clips.csv", [r | {"violation": r.get("violation", "")} for r in rows])
    pairs = [
        {"first": "a", "second": "b", "p_first_worse": 0, "gap": 0.25},
        {"first": "a", "second": "c", "p_first_worse": 0, "gap": 1},
        {"first": "a", "second": "b", "p_first_worse": 0.3, "gap": 1},
    ]
    write_csv(tmp_path / "pairs.csv", pairs)
    touch(tmp_path, "a.mp4", "b.mp4")
    corpus = read("manifest", tmp_path)
    assert [(c.id, c.violation) for c in corpus.clips] == [("a", 0.0), ("b", None)]
    (pair,) = corpus.stated_pairs
    assert pair.gap == 0.25
    assert ["line 3" in corpus.bad[0], "line 4" in corpus.bad[1]] == [True, True]


def test_an_exported_corpus_is_read_again_as_a_manifest(tmp_path):
    from cosmolabe.data.corpus_rows import export_corpus

    part = parts.load("corpora", "videophy2")
    folder = make("videophy2", tmp_path / "set")
    corpus = part.read(folder)
    export_corpus(corpus, folder / "rows")
    again = read("manifest", folder)
    assert [c.id for c in again.clips] == [c.id for c in corpus.clips]
    assert [c.path for c in again.clips] == [c.path for c in corpus.clips]
    assert [c.violation for c in again.clips] == [c.violation for c in corpus.clips]


def test_an_import_names_the_row_that_does_not_fit(tmp_path):
    from cosmolabe.data.corpus_rows import export_corpus, import_corpus

    corpus = read("manifest", make("manifest", tmp_path / "set"))
    out = export_corpus(corpus, tmp_path / "out")
    lines = (out / "clips.jsonl").read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {"kind": "imaginary"})
    (out / "clips.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="line 3: kind is imaginary"):
        import_corpus(out)
    (out / "clips.jsonl").unlink()
    with pytest.raises(ValueError, match="no file"):
        import_corpus(out)
