import json

import numpy as np
import pytest

from cosmolabe.cli.main import run
from cosmolabe.core.question import FORMATS
from cosmolabe.core.record import read_jsonl
from cosmolabe.data.collect import collect
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions import game_clips, read_clips, read_questions
from cosmolabe.data.questions.folder import clip_rows, keep_clip, read_clip, read_record
from cosmolabe.data.questions.making import Recipe, make_questions
from cosmolabe.data.questions.protocol import ClipProtocol
from cosmolabe.data.questions.stored import store_clips

SMALL = ("--size", "24")


def answer_of(capsys, *arguments):
    code = run(["vqa", "build", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def table_of_videos(folder, moves=("evading right", "jumping", "evading right", "jumping")):
    """Videos of 20 pictures at 15 a second in a table; one more is missing, one is no video."""
    rows = []
    for place, word in enumerate(moves):
        frames = np.full((20, 24, 24, 3), 40 * place, np.uint8)
        np.savez(folder / f"{place}.npz", frames=frames, fps=15.0)
        rows.append({"path": f"{place}.npz", "action": word, "character": "Zoe"})
    (folder / "broken.mp4").write_bytes(b"no video at all" * 20)
    rows += [{"path": name, "action": "jumping"} for name in ("missing.mp4", "broken.mp4")]
    table = folder / "clips.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return table


def test_a_set_of_questions_is_built_and_read(tmp_path, capsys):
    out = tmp_path / "set"
    code, answer = answer_of(
        capsys, "--games", "pong", "--clips", "20", "--out", str(out), "--looks", "train", *SMALL
    )
    assert code == 0
    assert answer["clips"] == 20
    assert answer["questions"] == 6 * 20
    assert answer["cells"] == {
        task: dict.fromkeys(FORMATS, 20) for task in ("action_recognition", "character_recognition")
    }
    assert answer["majority"]["action_recognition"]["binary"] == 0.5
    assert len(read_questions(out)) == 120
    assert [clip.id for clip in read_clips(out)] == [row["id"] for row in clip_rows(out)]
    assert {path.name for path in out.iterdir()} == {
        "clips", "parts", "clips.jsonl", "descriptions.jsonl", "questions.jsonl", "dropped.jsonl",
        "record.json",
    }  # fmt: skip


def test_a_set_reads_in_words(snapshot):
    from cosmolabe.data.questions import questions_of

    clips = game_clips("pong", 2, seed=3, size=16, held_out=False)
    clips += game_clips("kong", 2, seed=3, size=16, held_out=False, swapped=1.0)
    tasks = ("action_recognition", "character_recognition", "event", "count")
    told = [f"{each.id}: {each.text} -> {each.answer}" for each in questions_of(clips, 1, tasks)]
    assert "\n".join(told) == snapshot


def test_what_cannot_be_read_of_a_table_is_named_and_counted(tmp_path, capsys):
    table = table_of_videos(tmp_path)
    out = tmp_path / "set"
    code, answer = answer_of(capsys, "--table", str(table), "--out", str(out), *SMALL)
    assert code == 0
    assert answer["clips"] == 4
    assert answer["dropped"] == {"unreadable or unfit": 2}
    dropped = [row for _, row in read_jsonl(out / "dropped.jsonl")]
    assert [row["what"] for row in dropped] == ["missing.mp4", "broken.mp4"]
    assert all(row["why"] for row in dropped)
    asked = [each for each in read_questions(out) if each.task == "action_recognition"]
    assert {each.truth for each in asked} == {"evading right", "jumping"}
    assert "Is the character evading right? Answer yes or no" in {each.text for each in asked}
    # One character is no answer space: nothing can be asked about who it is.
    assert {each.task for each in read_questions(out)} == {"action_recognition"}


def table_of(folder, name, words, fps=60.0):
    """A table of clips of one colour each, actions as given."""
    rows = []
    for place, word in enumerate(words):
        file = f"{name}-{place}.npz"
        np.savez(folder / file, frames=np.full((60, 8, 8, 3), 20 * place, np.uint8), fps=fps)
        rows.append(json.dumps({"path": file, "action": word}))
    (folder / f"{name}.jsonl").write_text("\n".join(rows))
    return str(folder / f"{name}.jsonl")


def test_an_action_may_be_a_number_zero_among_them_and_nan_is_none(tmp_path):
    table = table_of(tmp_path, "t", [0, 1, 2.0, 0.5, float("nan"), True, ["a"], None])
    record = make_questions(tmp_path / "set", Recipe(tables=(table,), size=16))
    assert record["labels"]["action_recognition"] == ["0", "0.5", "1", "2"]
    assert sum(record["dropped"].values()) == 4


def test_clips_of_two_tables_do_not_take_each_others_place(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    tables = tuple(
        table_of(tmp_path / folder, "t", words)
        for folder, words in (("a", ["run", "rest"]), ("b", ["fall", "fly", "run"]))
    )
    make_questions(tmp_path / "set", Recipe(tables=tables, size=16))
    clips = list(read_clips(tmp_path / "set"))
    assert len({clip.id for clip in clips}) == 5
    assert [int(clip.frames.max()) for clip in clips] == [0, 20, 0, 20, 40]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["Jump up", "jump  UP!"], "read alike"),
        (["run", "?!"], "nothing but punctuation"),
        (["run", "B) fall"], "begins like the letter"),
        (["run", "A"], "begins like the letter"),
    ],
)
def test_words_of_a_table_that_no_reply_could_tell_apart_are_refused_first(tmp_path, words, told):
    with pytest.raises(ValueError, match=told):
        make_questions(tmp_path / "set", Recipe(tables=(table_of(tmp_path, "t", words),), size=16))
    assert not (tmp_path / "set").exists()


def test_where_no_clip_could_be_taken_the_same_command_looks_again(tmp_path):
    table = table_of(tmp_path, "t", ["run", "rest"])
    recipe = Recipe(tables=(table,), size=16)
    for path in tmp_path.glob("*.npz"):
        path.rename(path.with_suffix(".away"))
    with pytest.raises(ValueError, match="no clip could be taken"):
        make_questions(tmp_path / "set", recipe)
    for path in tmp_path.glob("*.away"):
        path.rename(path.with_suffix(".npz"))
    assert make_questions(tmp_path / "set", recipe)["clips"] == 2


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"games": ("pong", "pong")}, "stand twice"),
        ({"tasks": ("event", "event")}, "stand twice"),
        ({"tasks": ()}, "nothing is asked"),
        ({"size": 4}, "16 to 1024 pixels"),
        ({"size": 10**9}, "16 to 1024 pixels"),
        ({"swapped": float("nan")}, "share of clips"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused_before_a_folder_is_made(changed, told):
    with pytest.raises(ValueError, match=told):
        Recipe(**{"games": ("pong",), **changed})


def test_what_is_no_table_is_refused_by_name(tmp_path):
    (tmp_path / "t.json").write_text("[]")
    with pytest.raises(ValueError, match="no table; have"):
        make_questions(tmp_path / "set", Recipe(tables=(str(tmp_path / "t.json"),)))


def test_a_video_shorter_than_a_clip_says_what_would_do(tmp_path):
    np.savez(tmp_path / "a.npz", frames=np.zeros((14, 8, 8, 3), np.uint8), fps=60.0)
    table = tmp_path / "t.csv"
    table.write_text("path,action\na.npz,jumping\n")
    with pytest.raises(ValueError, match="it shows 4, a clip has 14; vqa/universe-1 takes shorter"):
        make_questions(tmp_path / "one", Recipe(tables=(str(table),), size=16))
    recipe = Recipe(tables=(str(table),), size=16, protocol="vqa/universe-1")
    assert make_questions(tmp_path / "two", recipe)["clips"] == 1


def test_a_set_of_one_label_asks_nothing_and_says_why(tmp_path, capsys):
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", frames=np.zeros((60, 8, 8, 3), np.uint8), fps=60.0)
    table = tmp_path / "t.csv"
    table.write_text("path,action\na.npz,jumping\nb.npz,jumping\ngone.npz,jumping\n")
    words = ["vqa", "build", "--table", str(table), "--out", str(tmp_path / "set"), "--size", "16"]
    assert run(words) == 1  # a script must notice
    told = " ".join(capsys.readouterr().out.split())
    assert "all clips show the same (action_recognition: 'jumping')" in told
    assert "dropped.jsonl says of each what was wrong" in told


def test_an_interrupted_build_goes_on_and_ends_with_the_same_bytes(tmp_path):
    recipe = Recipe(games=("snake", "pong"), clips=40, size=16, seed=4)
    whole, halted = tmp_path / "whole", tmp_path / "halted"
    wanted = make_questions(whole, recipe)

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_questions(halted, recipe, progress=stop)
    assert make_questions(halted, recipe)["data"] == wanted["data"]
    for path in whole.rglob("*.*"):
        if path.name != "record.json":
            assert (halted / path.relative_to(whole)).read_bytes() == path.read_bytes()
    with pytest.raises(ValueError, match="another set of questions"):
        make_questions(halted, Recipe(games=("pong",), clips=40, size=16, seed=4))


def test_a_folder_that_holds_other_things_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="not empty"):
        make_questions(tmp_path, Recipe(games=("pong",), clips=1))


def test_a_training_set_names_nothing_that_is_held_out(tmp_path):
    recipe = Recipe(
        games=("frogger", "pong"), clips=32, size=16, looks="train", swapped=0.3,
        tasks=("action_recognition", "character_recognition", "count"),
    )  # fmt: skip
    record = make_questions(tmp_path / "set", recipe)
    assert record["held_out"] == held_out().fingerprint
    text = (tmp_path / "set" / "clips.jsonl").read_text()
    rows = [json.loads(line)["about"] for line in text.splitlines()]
    for about in rows:
        assert f"{about['game']}/{about['theme']}" not in held_out().themes
        assert not {*about["characters"].values(), about["swapped_to"]} & set(held_out().characters)
    labels = {word for each in read_questions(tmp_path / "set") for word in each.labels}
    assert not labels & {"the icy bat", "the slime", "the panda"}


def test_a_clip_comes_back_from_its_file_as_it_was(tmp_path):
    clip = game_clips("kong", 1, seed=1, size=16)[0]
    row = keep_clip(tmp_path, clip)
    back = read_clip(tmp_path, row)
    assert np.array_equal(back.frames, clip.frames)
    assert np.array_equal(back.actions, clip.actions)
    assert np.array_equal(back.about["states"], clip.about["states"])
    assert back.about["label"] == clip.about["label"]


def test_a_clip_kept_as_video_looks_nearly_the_same(tmp_path):
    clip = game_clips("pong", 1, seed=1, size=64)[0]
    back = read_clip(tmp_path, keep_clip(tmp_path, clip, "mp4"))
    assert back.frames.shape == clip.frames.shape
    assert np.abs(back.frames.astype(int) - clip.frames).mean() < 4
    assert np.array_equal(back.about["states"], clip.about["states"])


def test_a_row_that_points_outside_its_folder_is_refused(tmp_path):
    row = {"id": "a", "file": "../a.npz", "numbers": "", "fps": 15, "frames": 14, "about": {}}
    (tmp_path / "clips.jsonl").write_text(json.dumps(row))
    with pytest.raises(ValueError, match="leaves the set's folder"):
        clip_rows(tmp_path)


def edited(folder, file, change):
    """One row of a set's table by hand."""
    rows = [json.loads(line) for line in (folder / file).read_text().splitlines()]
    change(rows)
    (folder / file).write_text("\n".join(json.dumps(row) for row in rows))


@pytest.fixture
def small_set(tmp_path):
    make_questions(tmp_path / "set", Recipe(games=("pong",), clips=2, size=16))
    return tmp_path / "set"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows.append(rows[0]), "stands twice"),
        (lambda rows: rows[0].update(fps=0), "more than 0 a second"),
        (lambda rows: rows[0].update(fps=1e999), "is not valid JSON"),
        (lambda rows: rows[0].update(frames=10**12), "1 to 100000 frames"),
        (lambda rows: rows[0].update(frames=-1), "got -1 at"),
        (lambda rows: rows[0].update(frames=13), "its row says 13"),
        (lambda rows: rows[0].update(arrays=7), "some of .* got 7"),
        (lambda rows: rows[0].update(arrays=["frames", {}]), "'arrays' names some of"),
        (lambda rows: rows[0].update(file="clips/x.pickle"), "file is one of"),
        (lambda rows: rows[0].update(numbers=""), "not a plain file"),
        (lambda rows: rows[0].update(file=rows[0]["numbers"] + ".mp4"), "no file"),
        (lambda rows: rows[0]["about"].update(label=5), "'label' is '5'"),
        (lambda rows: rows[0]["about"].update(game=[]), "'game' is"),
        (lambda rows: rows[0]["about"].update(characters="x"), "'characters' is 'x'"),
    ],
)
def test_clips_changed_by_hand_are_refused_in_words(small_set, change, told):
    edited(small_set, "clips.jsonl", change)
    with pytest.raises(ValueError, match=told):
        list(read_clips(small_set))


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"frames": np.zeros((14, 16, 16, 3), np.float32)}, "frames are uint8"),
        ({"frames": np.zeros((0, 16, 16, 3), np.uint8)}, "its row says 14"),
        ({"actions": np.zeros((9, 7), np.float32)}, "'actions' are floats with 2 axes, 14 rows"),
        ({"actions": np.full((14, 7), np.nan, np.float32)}, "NaN or infinity"),
        ({"states": np.zeros((14, 3), np.float32)}, "'states' are floats with 3 axes"),
    ],
)
def test_a_clips_file_of_another_clip_is_refused_in_words(small_set, arrays, told):
    file = small_set / clip_rows(small_set)[0]["file"]
    with np.load(file) as held:
        np.savez(file, **{**dict(held), **arrays})
    with pytest.raises(ValueError, match=told):
        list(read_clips(small_set))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows.append(rows[0]), "stands twice"),
        (lambda rows: rows[1].update(labels=["up", "down"]), "none of its labels"),
        (lambda rows: rows[1].update(options=[*rows[1]["options"], "fly"]), "each once"),
        (lambda rows: rows[1].update(options=rows[1]["options"] * 2), "options are some"),
        (lambda rows: rows[0].pop("answer"), "no 'answer'"),
        (lambda rows: rows[0].update(labels=[1, 2]), "'labels' is a list of words"),
        (lambda rows: rows[0].update(labels=["yes", "no", "yes"]), "a label stands twice"),
        (lambda rows: rows[0].update(answer="up", labels=["up", "no"]), "answered by yes or no"),
        (lambda rows: rows[2]["labels"].append(rows[2]["answer"].upper()), "read alike"),
        (lambda rows: rows[2]["labels"].append("..."), "nothing but punctuation"),
        (lambda rows: rows[1].update(text=" "), "has an empty 'text'"),
        (lambda rows: rows[1].update(id=""), "has an empty 'id'"),
    ],
)
def test_questions_changed_by_hand_are_refused_in_words(small_set, change, told):
    edited(small_set, "questions.jsonl", change)
    with pytest.raises(ValueError, match=told):
        read_questions(small_set)


def test_stores_are_cut_into_clips_that_look_as_the_episodes_did(tmp_path):
    store = collect("pong", tmp_path / "pong", 4, split="train", players=("random",), max_ticks=300)
    clips = [clip for clip, _ in store_clips(tmp_path / "pong", ClipProtocol(), 24) if clip]
    assert len(clips) > 8
    for clip in clips:
        number = int(clip.id.split("-")[-2])
        look = store.appearance(number)
        assert clip.about["theme"] == look.theme
        assert tuple(clip.about["characters"].values()) == look.characters
        assert bool(clip.about["label"]) == (clip.about["why"] == "")
    record = make_questions(
        tmp_path / "set", Recipe(stores=(str(tmp_path / "pong"),), size=16, clips=5)
    )
    assert record["clips"] == 5
    assert read_record(tmp_path / "set")["data"] == record["data"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"games": ("pang",)}, "no game named 'pang'"),
        ({"games": ("pong",), "tasks": ("mood",)}, "no task named 'mood'"),
        ({"games": ("pong",), "options": 1}, "options 0"),
        ({}, "no sources"),
    ],
)
def test_what_a_recipe_cannot_mean_is_refused_in_words(arguments, told):
    with pytest.raises(ValueError, match=told):
        Recipe(**arguments)
