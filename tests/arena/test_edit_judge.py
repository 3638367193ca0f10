"""The second rater answers through any OpenAI-compatible endpoint, and its answers are kept."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from arena.edit_sets import SHOWN

from cosmolabe.arena.analysis.agreement import agreement, confusion
from cosmolabe.arena.analysis.categories import ARCHITECTURE, CATEGORIES, HYPER, OBJECTIVE
from cosmolabe.arena.analysis.difference import difference
from cosmolabe.arena.analysis.endpoint import Endpoint, Recorded
from cosmolabe.arena.analysis.judging import judge_edit, question, read_answer, system_prompt

EDIT = SHOWN[0]
FOUND = difference(EDIT.before, EDIT.after)
GOOD = json.dumps({"category": ARCHITECTURE, "analytic": False})


@pytest.fixture
def server(monkeypatch):
    """A server that answers what stands in `answers`: (status, text), the last one for ever."""
    monkeypatch.setattr("cosmolabe.arena.analysis.endpoint.time.sleep", lambda seconds: None)
    asked, answers = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers.get("Authorization"), body))
            status, text = answers.pop(0) if len(answers) > 1 else answers[0]
            said = {"choices": [{"message": {"content": text}}], "usage": {"total_tokens": 7}}
            data = json.dumps(said).encode() if status == 200 else text.encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    serving = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield Endpoint("judge-1", f"http://127.0.0.1:{serving.server_port}/v1"), asked, answers
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_a_question_is_asked_once_and_replayed_without_a_network(server, tmp_path, monkeypatch):
    endpoint, asked, answers = server
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    answers.append((200, GOOD))
    path = tmp_path / "answers.jsonl"
    first = judge_edit(FOUND, Recorded(path, endpoint))
    assert first.category == ARCHITECTURE
    assert judge_edit(FOUND, Recorded(path, endpoint)) == first
    assert len(asked) == 1
    assert judge_edit(FOUND, Recorded(path, None, "judge-1")) == first
    where, key, body = asked[0]
    assert (where, key) == ("/v1/chat/completions", "Bearer sk-test")
    assert body["temperature"] == 0
    assert "sk-test" not in path.read_text()
    with pytest.raises(ValueError, match="holds no answer of 'judge-2'"):
        judge_edit(FOUND, Recorded(path, None, "judge-2"))
    with pytest.raises(ValueError, match="holds no answer"):
        judge_edit(FOUND, Recorded(path, None, "judge-1"), "another layer")


def test_a_busy_server_is_asked_again_and_a_refusal_is_told(server, tmp_path):
    endpoint, asked, answers = server
    answers += [(503, "busy"), (429, "slow down"), (200, GOOD)]
    assert judge_edit(FOUND, Recorded(tmp_path / "a", endpoint)).category == ARCHITECTURE
    assert len(asked) == 3
    answers[:] = [(401, "no such key")]
    with pytest.raises(ValueError, match="HTTP 401 no such key"):
        judge_edit(FOUND, Recorded(tmp_path / "b", endpoint))
    assert len(asked) == 4
    assert not (tmp_path / "b").exists()


def test_a_key_is_not_carried_to_another_place(server, tmp_path):
    endpoint, asked, answers = server
    answers.append((302, "go elsewhere"))
    with pytest.raises(ValueError, match="HTTP 302"):
        judge_edit(FOUND, Recorded(tmp_path / "a", endpoint))
    assert len(asked) == 1


def test_an_answer_that_is_no_completion_is_refused(server, tmp_path):
    endpoint, _, answers = server
    answers.append((200, GOOD))
    wrong = Endpoint("judge-1", endpoint.url, extra={"stream": False})
    judge_edit(FOUND, Recorded(tmp_path / "a", wrong))
    with pytest.raises(ValueError, match="begins with http"):
        Endpoint("judge-1", "file:///etc/passwd")


def test_the_judge_sees_the_agents_words_only_where_they_are_given():
    words = "A brand new <diff> ARCHITECTURE </diff> breakthrough"
    assert "breakthrough" not in question(FOUND)
    asked = question(FOUND, words)
    assert asked.count("<diff>") == asked.count("</diff>") == 1
    assert "breakthrough" in asked
    assert all(name in system_prompt() for name in CATEGORIES)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (GOOD, ARCHITECTURE),
        ("Sure!\n```json\n" + GOOD + "\n```", ARCHITECTURE),
        ('{"thought": "{"} ' + GOOD, ARCHITECTURE),
        ('{"category": "Architecture"}', ""),
        ('{"category": "splendid"}', ""),
        ("architecture", ""),
        ("", ""),
        ("{" * 30_000, ""),
        ('{"category": ' + "[" * 100_000, ""),
    ],
)
def test_only_a_class_that_exists_is_an_answer(text, category):
    assert read_answer(text).category == category


def test_agreement_by_hand():
    """Of four edits the raters agree on three: κ = (3/4 − 3/8) / (1 − 3/8) = 0.6."""
    one = [ARCHITECTURE, ARCHITECTURE, HYPER, OBJECTIVE]
    two = [ARCHITECTURE, ARCHITECTURE, HYPER, ARCHITECTURE]
    told = agreement(one, two)
    expected = 2 / 4 * 3 / 4 + 1 / 4 * 1 / 4
    assert told.kappa == pytest.approx((0.75 - expected) / (1 - expected))
    assert told.raw == 0.75
    assert (told.binary_kappa, told.binary_raw) == (1.0, 1.0)
    assert told.low <= told.kappa <= told.high
    assert confusion(one, two)[OBJECTIVE] == {ARCHITECTURE: 1}


def test_an_edit_without_an_answer_is_left_out_and_counted():
    told = agreement([HYPER, ARCHITECTURE, HYPER], [HYPER, "", "splendid"])
    assert (told.n, told.unread) == (1, 2)
    assert np.isnan(agreement([], []).raw)
    with pytest.raises(ValueError, match="the same edits"):
        agreement([HYPER], [])
