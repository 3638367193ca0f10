"""vqa parse and vqa rescore, as a person or another program calls them."""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cosmolabe.cli import main
from cosmolabe.cli._vqa_answers import rows_of
from cosmolabe.core.question import Question
from cosmolabe.data.questions import write_questions
from cosmolabe.judges.vqa.replies import Replies, Reply

PAGE = (Path(__file__).parents[2] / "docs" / "judges" / "vqa-answers.md").read_text()
OPTIONS = ["jumping", "evading right", "idle"]
REPLIES = [
    {"reply": "**B**", "options": OPTIONS},
    {"reply": "A man jumps", "options": OPTIONS},
    {"reply": "A) jumping\nB) evading right\nAnswer: B", "options": OPTIONS},
    {"reply": "B) jumping", "options": OPTIONS},
    {"id": "q5", "reply": "Idle.", "options": OPTIONS, "answer": "idle"},
    {"reply": "evading right", "format": "open_ended", "labels": OPTIONS, "answer": "idle"},
    {"reply": "hops", "labels": OPTIONS, "aliases": {"hops": "jumping"}},
    {"reply": "The eyes are open", "format": "binary"},
    {"reply": "Yes. It does", "format": "binary", "question": "Does it jump?"},
    {"reply": "I'm sorry, I can't tell.", "format": "binary"},
    {"reply": "...", "format": "binary"},
    {"reply": None, "format": "binary", "status": "missing_video"},
    {"reply": None, "format": "binary"},
    {
        "reply": "(A)",
        "question": {
            "text": "What?",
            "format": "multiple_choice",
            "options": ["up", "down"],
            "labels": ["down", "up"],
        },
    },
]


@pytest.fixture
def piped(monkeypatch, capsys):
    """`vqa parse` with something on standard input."""

    def call(content, *words):
        content = content if isinstance(content, bytes) else content.encode()
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        code = main.run(["vqa", "parse", *words])
        return code, capsys.readouterr()

    return call


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_what_machines_read_stays_as_it_is(piped, snapshot):
    code, told = piped(lines(REPLIES), "--json")
    assert code == 0
    assert json.loads(told.out) == snapshot


def test_what_people_read_stays_as_it_is(piped, snapshot):
    code, told = piped(lines(REPLIES) + "nonsense\n[1]\n")
    assert code == 0
    assert told.out == snapshot


def test_one_object_over_several_lines_is_one_reply(piped):
    code, told = piped(json.dumps(REPLIES[0], indent=2), "--json")
    found = json.loads(told.out)
    assert (code, found["status"], found["label"], found["rule"]) == (
        0, "ok", "evading right", "letter",
    )  # fmt: skip
    assert piped(b"\xef\xbb\xbf" + json.dumps(REPLIES[:3]).encode(), "--json")[0] == 0


def test_bad_lines_are_named_and_the_others_still_read(piped):
    content = b'{"reply": "yes"}\n{"reply": \xff}\n{"reply": 3}\n{"text": "yes"}\n\n'
    content += b'{"reply": "x", "options": ["B", "A"]}\n{"reply": "x", "format": "poem"}\n'
    content += b'{"reply": "x", "options": "ab"}\n{"reply": "x", "aliases": 3, "labels": ["a"]}\n'
    content += b'{"reply": "x", "status": "banana"}\n{"reply": "x", "answer": NaN}\n'
    content += b'{"reply": "x", "answer": {"a": 1}}\n{"reply": ' + b"[" * 900 + b"]" * 900 + b"}"
    code, told = piped(content, "--json")
    found = json.loads(told.out)
    assert (code, found["n"]) == (0, 1)
    assert [row["line"] for row in found["bad"]] == [2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13]
    assert "status" not in found  # it would hide that others could not be read


@pytest.mark.parametrize("content", [b"", b"\n\n", b"yes", b"[]", b"[1]", b"{}", b"\xff\x00"])
def test_where_nothing_can_be_read_the_exit_code_is_two(piped, content):
    code, told = piped(content, "--json")
    assert code == 2
    assert not json.loads(told.out)["ok"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=40))
def test_no_input_breaks_the_reader(content):
    assert all(isinstance(row, (dict, ValueError)) for _, row in rows_of(content))


def test_a_real_pipe_is_read():
    program = "from cosmolabe.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "vqa", "parse", "--json"],
        input=lines(REPLIES[:1]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["label"] == "evading right"


def test_a_run_is_read_again(tmp_path, capsys):
    question = Question(
        "q", "c", "action_recognition", "binary", "Is it?", "yes", ("yes", "no")
    )  # fmt: skip
    write_questions(tmp_path, [question])
    Replies(tmp_path).add(Reply("k", "q", "c", "m", "Yes!"))
    assert main.run(["vqa", "rescore", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["statuses"], found["rules"]) == ({"ok": 1}, {"text": 1})
    assert found["cells"][0]["em"]["value"] == 1.0
    assert main.run(["vqa", "rescore", str(tmp_path)]) == 0
    assert "decided by: text 1" in capsys.readouterr().out
    assert main.run(["vqa", "rescore", str(tmp_path), "--tie", "coin"]) == 2
    assert main.run(["vqa", "rescore", str(tmp_path / "gone")]) == 2


def test_the_page_says_what_is_so(capsys):
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S):
        for line in block.splitlines():
            assert main.run(shlex.split(line)[1:]) == 0, line
    assert capsys.readouterr().out
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    exec(example, {})
    assert capsys.readouterr().out == "{'ok': 1}\n"
    rows = re.findall(r"^    (\{.*\})$", PAGE, flags=re.M)
    assert len(rows) == 3
    assert all(isinstance(row, dict) for _, row in rows_of("\n".join(rows).encode()))


def test_the_page_names_every_status():
    from cosmolabe.core.answers import STATUSES

    assert re.findall(r"^\| `(\w+)` \| (?=[a-z])", PAGE, flags=re.M)[: len(STATUSES)] == list(
        STATUSES
    )
