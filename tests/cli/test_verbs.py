import json
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from cosmolabe.cli import main
from cosmolabe.cli.judge import clear
from cosmolabe.core import parts


def run_json(*words):
    """The exit code and the answer of a verb, as machines see it."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main.run([*map(str, words), "--json"])
    return code, json.loads(out.getvalue())


def test_games_lists_every_game_by_its_file():
    code, answer = run_json("games")
    assert code == 0
    assert [game["game"] for game in answer["games"]] == list(parts.names("games"))
    assert all(game["summary"] and len(game["characters"]) >= 6 for game in answer["games"])


def test_games_says_all_about_one():
    _, answer = run_json("games", "pong")
    assert answer["actions"] == ["stay", "up", "down"]
    assert answer["slots"] == 5


def test_doctor_knows_what_is_here_and_what_an_extra_would_bring():
    code, answer = run_json("doctor")
    assert code == (0 if answer["cache_writable"] else 1)
    assert answer["missing"] == []
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(answer["extras"]) == set(project["optional-dependencies"]) - {"all"}
    assert answer["free_bytes"] > 0


@pytest.mark.parametrize(
    ("kind", "word", "fetched", "to_do", "here"),
    [
        ("encoders", "encoder", "dinov2", "hf download facebook/dinov2-small", "efficientnet_lite"),
        ("vlms", "vlm", "paligemma2", "hf download google/paligemma2-3b-pt-224", "tiny"),
    ],
)
def test_doctor_says_of_each_eye_and_answerer_its_licence_and_what_is_to_do(
    monkeypatch, tmp_path, kind, word, fetched, to_do, here
):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    _, answer = run_json("doctor")
    rows = {row[word]: row for row in answer[kind]}
    assert list(rows) == list(parts.names(kind))
    assert all(row["licence"] for row in rows.values())
    assert rows[fetched]["to_do"].startswith(f"weights not here: {to_do}")
    assert rows[here]["to_do"] == ""


def test_doctor_names_an_encoder_that_cannot_be_imported(monkeypatch):
    def without_torch(kind, name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(parts, "load", without_torch)
    _, answer = run_json("doctor")
    assert {row["to_do"] for row in answer["encoders"]} == {
        "needs torch: pip install 'cosmolabe[torch]'"
    }
    assert {row["to_do"] for row in answer["vlms"]} == {"needs torch: pip install 'cosmolabe[vlm]'"}


def test_doctor_fails_where_a_needed_library_is_missing(monkeypatch):
    from cosmolabe.cli import doctor

    monkeypatch.setattr(doctor, "CORE", ("no-such-library",))
    code, answer = run_json("doctor")
    assert code == 1
    assert answer["missing"] == ["no-such-library"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("games", "pang"), "no game named 'pang'"),
        (("collect", "pong", "--out", "{}/x", "-n", "0"), "at least"),
        (("collect", "pong", "--out", "{}/x", "--players", "nobody"), "nobody"),
        (("collect", "pong", "-o", "{}/x", "--split", "scenario", "--level", "2"), "nobody plays"),
        (("collect", "pong", "-o", "{}/x", "--split", "scenario", "--players", "rl"), "nobody"),
        (("check", "store", "{}/nowhere"), "no store at"),
        (("train", "{}/nowhere", "--out", "{}/x"), "no store at"),
        (("judge", "--out", "{}/x"), "judge what?"),
        (("judge", "{}", "--out", "{}/x"), "which world model?"),
        (("judge", "{}", "-m", "still", "--out", "{}/x", "--judges", "beauty"), "no judge"),
        (("report", "{}/nowhere"), "no run folder"),
        (("compare", "{}/a", "{}/b"), "no file"),
        (("compare", "{}/a", "{}/b", "--margin", "-1"), "margin"),
        (("import", "{}/nowhere", "--out", "{}/x"), "no file"),
        (("rollout", "{}", "-m", "still", "-o", "{}/x", "--frames", "8"), "frames must be more"),
        # before the window opens
        (("play", "pong", "--out", "{}/x.png"), "--script"),
        # torch would crash on it
        (("train", "{}", "--out", "{}/x", "--threads", "100000"), "threads are 1 to 256"),
        (("train", "{}", "--out", "{}/x", "--threads", "0"), "threads are 1 to 256"),
        (("train", "{}", "--out", "{}/x", "--seed", "-1"), "fits 63 bits"),
        (("train", "{}", "--out", "{}/x", "--seed", str(10**30)), "fits 63 bits"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(words, says, tmp_path):
    code, answer = run_json(*(word.replace("{}", str(tmp_path)) for word in words))
    assert code == 2
    assert says in answer["error"]
    assert not (tmp_path / "x").exists()


def test_judging_never_clears_a_folder_that_is_not_a_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds other things"):
        clear(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_judging_again_leaves_no_clip_of_the_run_before(tmp_path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "old.npz").write_bytes(b"")
    (tmp_path / "readings.json").write_text("[]")
    (tmp_path / "notes.txt").write_text("mine")
    clear(tmp_path)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["media", "notes.txt"]


def test_a_script_is_played_to_a_sheet_and_to_a_film(tmp_path):
    for name, kind in (("sheet.png", "PNG"), ("film.gif", "GIF")):
        words = ("play", "pong", "--script", "up*20,stay*5", "--size", 64, "--out", tmp_path / name)
        code, answer = run_json(*words)
        assert (code, answer["ticks"], answer["pictures"]) == (0, 25, 26)
        with Image.open(tmp_path / name) as picture:
            assert picture.format == kind


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A store of three short episodes."""
    store = tmp_path_factory.mktemp("short") / "pong"
    run_json("collect", "pong", "--out", store, "-n", 3, "--split", "test", "--max-ticks", 60)
    return store


def test_a_damaged_rollout_scores_lower_the_larger_the_damage(short, tmp_path):
    """And it is kept beside the truth, which judge reads."""
    finals = []
    for size in (0, 0.4, 1):
        hurt = tmp_path / f"hurt-{size}"
        words = ("--size", size, "--onset", 20, "--frames", 30, "--out", hurt)
        code, made = run_json("damage", short, "-k", "drift", *words)
        assert (code, made["rollouts"], made["differ"]) == (0, 3, 3 if size else 0)
        code, judged = run_json("judge", hurt, "--out", tmp_path / f"run-{size}", "--no-report")
        assert code == 0
        finals.append(next(r["value"] for r in judged["readings"] if r["metric"] == "final"))
    assert finals[0] == 1 > finals[1] > finals[2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-k", "teleport", "--onset", 20, "--frames", 300), "goes on to tick 320"),
        (("-k", "rust"), "gravity"),  # all there are
        (("-k", "size_change", "--onset", 20), "pictures alone"),
    ],
)
def test_damage_that_cannot_be_dealt_is_refused(short, tmp_path, words, says):
    code, refused = run_json("damage", short, *words, "--out", tmp_path / "hurt")
    assert code == 2
    assert says in refused["error"]


def test_no_reading_of_one_episode_has_an_interval(tmp_path):
    store = tmp_path / "pong"
    run_json("collect", "pong", "--out", store, "-n", 1, "--split", "test", "--max-ticks", 120)
    words = ("-m", "constant_velocity", "--scenarios", 1, "--plan", 1, "--robust", "--no-report")
    code, judged = run_json("judge", store, *words, "--out", tmp_path / "run")
    metrics = {row["metric"] for row in judged["readings"]}
    assert code == 0
    assert {"final", "headroom", "psnr", "rule_consistency", "planning_return", "loss_noise"} <= (
        metrics
    )
    assert {(row["low"], row["high"]) for row in judged["readings"]} == {(None, None)}


def test_judge_says_what_is_lost_when_less_is_shown(tmp_path):
    store, run = tmp_path / "pong", tmp_path / "run"
    run_json("collect", "pong", "--out", store, "-n", 3, "--split", "test", "--max-ticks", 90)
    words = ("judge", store, "-m", "constant_velocity", "--scenarios", 0, "--no-report")
    code, judged = run_json(*words, "--robust", "--out", run)
    values = {r["metric"]: r["value"] for r in judged["readings"] if r["horizon"] is None}
    assert code == 0
    assert values["loss_noise"] == pytest.approx(values["final"] - values["final_noise"])
    assert (run / "robust.json").is_file()
    code, alone = run_json(*words, "--protocol", "state/1+noise", "--out", run)
    final = next(r["value"] for r in alone["readings"] if r["metric"] == "final")
    assert (code, final) == (0, values["final_noise"])
    assert not (run / "robust.json").exists(), "an earlier run's table is cleared away"
    code, refused = run_json(*words, "--robust", "--protocol", "state/awm-1", "--out", run)
    assert code == 2
    assert "against state/1" in refused["error"]
