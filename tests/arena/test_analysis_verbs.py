"""`cosmolabe arena audit`, `report`, `edit` and `margin` on folders that sessions left."""

import json

import pytest
from arena.edit_sets import SHOWN
from arena.made_sessions import Made, make_grid, make_session

from cosmolabe.arena.analysis.difference import difference
from cosmolabe.arena.analysis.endpoint import Recorded
from cosmolabe.arena.analysis.judging import question, system_prompt
from cosmolabe.cli import main


def answer(capsys, *words):
    code = main.run(["arena", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_report_is_drawn_from_a_folder_of_sessions(tmp_path, capsys):
    make_grid(tmp_path / "grid", seeds=1)
    code, told = answer(capsys, "report", tmp_path / "grid", "--out", tmp_path / "page")
    assert code == 0
    page = (tmp_path / "page" / "arena.html").read_text()
    assert "random_search" in page
    assert "coder (big-model)" in page
    assert told["bands"] == {"large": 2, "middling": 0, "small": 2, "none": 2, "unknown": 0}


def test_margins_come_from_a_file_that_was_there_before(tmp_path, capsys):
    make_session(tmp_path / "s", [Made(0.6), Made(0.7)])
    path = tmp_path / "margins.json"
    code, told = answer(capsys, "margin", "--out", path, "--test", 0.02, "--why", "seeds")
    assert code == 0
    words = ("report", tmp_path / "s", "--out", tmp_path / "page", "--margins", path)
    assert answer(capsys, *words)[0] == 0
    assert told["hash"] in (tmp_path / "page" / "arena.html").read_text()
    code, told = answer(capsys, "margin", "--out", path, "--test", 0.5, "--why", "more")
    assert code == 2
    assert "registered already" in told["error"]


def test_recorded_answers_need_no_endpoint_and_unknown_ones_are_asked_for(tmp_path, capsys):
    edit = SHOWN[0]
    session = make_session(tmp_path / "s", [Made(0.6), Made(0.7, edit.after, note="a layer")])
    answers = tmp_path / "answers.jsonl"
    words = (
        "report",
        session,
        "--out",
        tmp_path / "page",
        "--answers",
        answers,
        "--llm",
        "judge-1",
    )
    code, told = answer(capsys, *words)
    assert code == 2
    assert "holds no answer of 'judge-1'" in told["error"]
    found = difference(edit.before, edit.after)
    memory = Recorded(answers, None, "judge-1")
    said = json.dumps({"category": "architecture", "analytic": False})
    other = json.dumps({"category": "objective", "analytic": False})
    with answers.open("w") as file:
        for note, text in (("", said), ("a layer", other)):
            asked = question(found, note)
            key = memory.key_of(system_prompt(), asked)
            file.write(json.dumps({"key": key, "answer": text}) + "\n")
    code, told = answer(capsys, *words)
    assert code == 0
    assert told["raters"]["rules_and_model"]["raw"] == 1.0
    assert told["raters"]["rules_and_model_with_words"]["raw"] == 0.0
    assert "judge-1" in (tmp_path / "page" / "arena.html").read_text()


def test_a_key_on_the_command_line_is_refused(tmp_path, capsys):
    session = make_session(tmp_path / "s", [Made(0.6)])
    words = ["report", session, "--out", tmp_path / "p", "--answers", tmp_path / "a", "--llm", "x"]
    code, told = answer(capsys, *words, "--url", "http://127.0.0.1:9/v1", "--key", "sk-secret")
    assert code == 2
    assert "sk-secret" not in told["error"]


@pytest.mark.parametrize(("forge", "code"), [(False, 0), (True, 1)])
def test_an_audit_that_finds_something_fails(tmp_path, capsys, forge, code):
    folder = make_session(tmp_path / "s", [Made(0.6), Made(0.7)])
    if forge:
        (folder / "submission" / "train.py").write_text("MODEL = 1\n")
    said, told = answer(capsys, "audit", folder)
    assert said == code
    assert told["failed"] == code
    assert told["sessions"][0]["scores"]["ledger_val"] == 0.7


def test_one_edit_is_sorted_from_two_files(tmp_path, capsys):
    edit = SHOWN[0]
    (tmp_path / "a.py").write_text(edit.before)
    (tmp_path / "b.py").write_text(edit.after)
    code, told = answer(capsys, "edit", tmp_path / "a.py", tmp_path / "b.py")
    assert (code, told["category"]) == (0, edit.category)
    code, told = answer(capsys, "edit", tmp_path / "a.py", tmp_path / "c.py")
    assert code == 2
    assert "no file" in told["error"]
