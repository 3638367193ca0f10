"""A model behind an address, here a small server of our own on this machine."""

import base64
import contextlib
import io
import json
import math
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from PIL import Image

from cosmolabe.bench.vqa.keeping import who_answered
from cosmolabe.core.vlm import Vlm
from cosmolabe.judges.vqa import Vqa
from cosmolabe.nets.vlm_http import Asker
from cosmolabe.vlms.endpoint import VLM, EndpointVlm, path_log_p

FRAMES = np.random.default_rng(0).integers(0, 256, (2, 5, 7, 3), dtype=np.uint8)


def completion(text, steps=None, **more):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if steps is not None:
        choice["logprobs"] = {
            "content": [
                {
                    "token": tokens[0][0],
                    "logprob": tokens[0][1],
                    "top_logprobs": [{"token": t, "logprob": p} for t, p in tokens],
                }
                for tokens in steps
            ]
        }
    return {"model": "real-name-2026", "system_fingerprint": "fp_1", "choices": [choice], **more}


class Server:
    """Says what it is told to, in turn, and remembers what it was asked."""

    def __init__(self):
        self.say, self.asked = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((self.path, dict(self.headers), json.loads(body)))
                status, said, *headers = outer.say[min(len(outer.asked), len(outer.say)) - 1]
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def vlm_at(server, **more):
    waits = []
    asker = Asker(f"{server.url}/chat/completions", sleep=waits.append, **more)
    vlm = EndpointVlm(asker, "a-model", at_once=1)
    return vlm, waits


def test_frames_arrive_as_the_pixels_they_are_and_the_answer_comes_back(server):
    server.say = [(200, completion(" left\n"))]
    vlm = VLM.load(server.url, size="a-model")
    assert isinstance(vlm, Vlm)
    assert vlm.generate(vlm.see([FRAMES]), ["Where to?"]) == [" left\n"]
    path, _, asked = server.asked[0]
    assert path == "/v1/chat/completions"
    assert asked["model"] == "a-model"
    assert asked["temperature"] == 0
    *pictures, words = asked["messages"][0]["content"]
    assert words["text"] == "Where to?"
    for picture, frame in zip(pictures, FRAMES, strict=True):
        head, data = picture["image_url"]["url"].split(",")
        assert head == "data:image/png;base64"
        np.testing.assert_array_equal(
            np.array(Image.open(io.BytesIO(base64.b64decode(data)))), frame
        )
    assert vlm.answered_by == {("real-name-2026", "fp_1"): 1}


def test_what_was_answered_is_replayed_without_the_network(server, tmp_path):
    server.say = [(200, completion("left"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    seen = vlm.see([FRAMES])
    first = vlm.replies(seen, ["Where to?"])[0]
    again = vlm.replies(seen, ["Where to?"])[0]
    assert (first.text, first.kept) == ("left", False)
    assert (again.text, again.kept) == ("left", True)
    assert len(server.asked) == 1
    away, _ = vlm_at(server, folder=tmp_path, replay=True)
    known, new = away.replies(seen * 2, ["Where to?", "And now?"])
    assert known.text == "left"
    assert known.model == "real-name-2026"
    assert new.status == "error"
    assert "no answer" in new.why
    assert len(server.asked) == 1


def test_other_frames_words_or_models_are_other_questions(server, tmp_path):
    server.say = [(200, completion("left"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    vlm.generate(vlm.see([FRAMES]), ["?"])
    vlm.generate(vlm.see([FRAMES[::-1].copy()]), ["?"])
    vlm.generate(vlm.see([FRAMES]), ["??"])
    EndpointVlm(vlm.asker, "another").generate(vlm.see([FRAMES]), ["?"])
    assert len(server.asked) == len(list(tmp_path.glob("*.json"))) == 4


def test_what_may_pass_is_tried_again_later_each_time(server):
    server.say = [(503, {}), (429, {}, ("Retry-After", "7")), (200, completion("left"))]
    vlm, waits = vlm_at(server)
    assert vlm.generate(vlm.see([FRAMES]), ["?"]) == ["left"]
    assert waits == [1.0, 7.0]


@pytest.mark.parametrize(
    ("status", "said", "why", "tries"),
    [
        (400, {"error": "no such model"}, "HTTP 400", 1),
        (401, {}, "HTTP 401", 1),
        (500, {}, "HTTP 500", 4),
        (200, b"<html>", "not JSON", 4),
        (200, {"surprise": 1}, "not a chat completion", 1),
        (200, {"error": {"message": "busy"}}, "busy", 1),
        (200, {"choices": []}, "not a chat completion", 1),
        (302, b"", "HTTP 302", 1),
        (200, b"null", "answer of nothing", 1),
        (200, b"[" * 100_000, "not JSON", 4),
        (200, [], "not a chat completion", 1),
        (200, "choices", "chat completion", 1),
        (200, {"choices": [{"message": {"content": [1]}}]}, "no text", 1),
        (200, completion("a", [[("a", 5.0)]]), "no log p", 1),
        (200, completion("a", [[("a", float("nan"))]]), "nan is no log p", 1),
    ],
)
def test_what_failed_is_a_status_with_a_reason_and_stops_nothing(server, status, said, why, tries):
    server.say = [(status, said, ("Location", "http://127.0.0.1:1/"))]
    vlm, _ = vlm_at(server)
    (reply,) = vlm.replies(vlm.see([FRAMES]), ["?"])
    assert reply.status == "error"
    assert why in reply.why
    assert len(server.asked) == tries
    assert vlm.generate(vlm.see([FRAMES]), ["?"]) == [""]


def test_a_wait_that_is_no_number_is_no_wait(server):
    server.say = [(503, {}, ("Retry-After", "\u00b2")), (200, completion("left"))]
    vlm, waits = vlm_at(server)
    assert vlm.generate(vlm.see([FRAMES]), ["?"]) == ["left"]
    assert waits == [1.0]


def test_what_is_no_completion_is_asked_for_again(server, tmp_path):
    server.say = [(200, {"error": "busy"}), (200, completion("left"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    seen = vlm.see([FRAMES])
    assert vlm.generate(seen, ["?"]) == [""]
    assert vlm.generate(seen, ["?"]) == ["left"]
    (kept,) = tmp_path.glob("*.json")
    kept.write_text("{torn")
    assert vlm.generate(seen, ["?"]) == ["left"]


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"])
def test_a_server_that_sends_a_byte_now_and_then_is_cut_off(head):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip():
            line, _ = listening.accept()
            with contextlib.suppress(OSError), line:
                line.sendall(head)
                while True:
                    line.sendall(b"1")
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        port = listening.getsockname()[1]
        asker = Asker(f"http://127.0.0.1:{port}/v1", tries=1, timeout=0.5)
        before = time.monotonic()
        got = asker.ask({"model": "m"})
        assert (got.body, got.why) == (None, "no whole answer within 0.5 s")
        assert time.monotonic() - before < 20


def test_a_failure_is_not_kept_as_an_answer(server, tmp_path):
    server.say = [(400, {}), (200, completion("left"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    seen = vlm.see([FRAMES])
    assert vlm.generate(seen, ["?"]) == [""]
    assert vlm.generate(seen, ["?"]) == ["left"]


def test_nobody_at_home_is_a_status():
    asker = Asker("http://127.0.0.1:9/v1/chat/completions", tries=1, timeout=2.0)
    vlm = EndpointVlm(asker, "m")
    (reply,) = vlm.replies(vlm.see([FRAMES]), ["?"])
    assert reply.status == "error"
    assert "no answer" in reply.why


def test_refused_and_empty_replies_say_so(server):
    filtered = completion("")
    filtered["choices"][0]["finish_reason"] = "content_filter"
    server.say = [(200, filtered), (200, completion(None))]
    vlm, _ = vlm_at(server)
    found = vlm.replies(vlm.see([FRAMES, FRAMES]), ["?", "??"])
    assert [reply.status for reply in found] == ["refused", "empty"]


def test_the_key_goes_to_the_server_and_nowhere_else(server, tmp_path, monkeypatch):
    monkeypatch.setenv("COSMOLABE_API_KEY", "secret-of-mine")
    server.say = [(200, completion("left"))]
    vlm = VLM.load(server.url, size="m", folder=tmp_path)
    vlm.generate(vlm.see([FRAMES]), ["?"])
    assert server.asked[0][1]["Authorization"] == "Bearer secret-of-mine"
    kept = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "secret-of-mine" not in kept + repr(vlm.asker) + vlm.key


def test_likelihood_is_read_off_the_alternatives(server):
    steps = [[("Yes", math.log(0.6)), ("No", math.log(0.3)), (" yes", math.log(0.05))]]
    server.say = [(200, completion("Yes", steps))]
    vlm, _ = vlm_at(server)
    (found,) = vlm.likelihood(vlm.see([FRAMES]), ["?"], [["yes", "no", "perhaps"]])
    np.testing.assert_allclose(np.exp(found[:2]), [0.65, 0.3])
    assert np.isnan(found[2])
    assert server.asked[0][2]["logprobs"] is True


def test_labels_with_a_common_beginning_are_told_apart_further_on():
    steps = [
        [("moving", math.log(0.5)), ("jump", math.log(0.25)), ("mov", math.log(0.1))],
        [(" up", math.log(0.8)), (" down", math.log(0.2))],
    ]
    found = path_log_p(steps, ["moving up", "moving down", "jumping"])
    np.testing.assert_allclose(np.exp(found), [0.4, 0.1, 0.25])  # 'mov' begins two labels


def test_a_label_that_another_begins_with_counts_where_the_reply_ends_there():
    steps = [[("no", math.log(0.7)), ("yes", math.log(0.3))]]
    found = path_log_p(steps, ["no", "not sure", "yes"])
    np.testing.assert_allclose(np.exp(found), [0.7, np.nan, 0.3])


def test_a_server_without_log_p_is_refused_and_a_failed_question_is_nan(server):
    server.say = [(200, completion("left"))]
    vlm, _ = vlm_at(server)
    with pytest.raises(ValueError, match="generated answers"):
        vlm.likelihood(vlm.see([FRAMES]), ["?"], [["left", "right"]])
    server.say = [(400, {})]
    (found,) = vlm.likelihood(vlm.see([FRAMES]), ["??"], [["left", "right"]])
    assert np.isnan(found).all()


def test_it_does_not_train_and_says_what_it_needs():
    vlm = VLM.load("http://127.0.0.1:9/v1", size="m")
    with pytest.raises(ValueError, match="cannot be trained"):
        vlm.loss(vlm.see([FRAMES]), ["?"], ["left"])
    for given in ({}, {"source": "http://h/v1"}, {"source": "file:///etc", "size": "m"}):
        with pytest.raises(ValueError, match="address"):
            VLM.load(**given)
    with pytest.raises(ValueError, match="no weights"):
        VLM.load(random=True)
    with pytest.raises(ValueError, match="uint8"):
        vlm.see([FRAMES / 255])


@pytest.mark.parametrize(
    "body",
    [
        {"choices": "abc"}, {"choices": [{}]}, {"choices": [{"message": {"content": [1]}}]},
        completion("yes", [[("yes", 5.0)]]), [], 3, {"error": "busy", "choices": []},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_completion_is_not_kept_and_asked_for_again(server, tmp_path, body):
    server.say = [(200, body), (200, completion("yes"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    seen = vlm.see([FRAMES])
    assert vlm.replies(seen, ["Where to?"])[0].status == "error"
    assert not list(tmp_path.iterdir())
    assert vlm.replies(seen, ["Where to?"])[0].text == "yes"


@pytest.mark.parametrize("answer", [None, 3, [], {"choices": 3}, {"choices": [{"message": 1}]}])
def test_a_kept_reply_that_was_spoilt_by_hand_is_asked_for_again(server, tmp_path, answer):
    server.say = [(200, completion("left")), (200, completion("right"))]
    vlm, _ = vlm_at(server, folder=tmp_path)
    seen = vlm.see([FRAMES])
    assert vlm.replies(seen, ["Where to?"])[0].text == "left"
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"answer": answer}))
    assert vlm.replies(seen, ["Where to?"])[0].text == "right"
    replayed, _ = vlm_at(server, folder=tmp_path, replay=True)
    assert replayed.replies(seen, ["Where to?"])[0].text == "right"


def test_a_key_that_is_said_back_is_written_nowhere(server, tmp_path):
    key = "sk-not-to-be-told-0123456789"
    server.say = [(401, f"no such key: {key}".encode()), (200, completion(f"yes {key}"))]
    vlm, _ = vlm_at(server, folder=tmp_path, key=key)
    seen = vlm.see([FRAMES])
    failed = vlm.replies(seen, ["Where to?"])[0]
    assert failed.why == "HTTP 401 no such key: (the key)"
    assert vlm.replies(seen, ["Where to?"])[0].text == "yes (the key)"
    assert all(key not in file.read_text() for file in tmp_path.iterdir())
    server.say, server.asked[:] = [(200, completion("EMPTY"))], []
    plain, _ = vlm_at(server, key="EMPTY")  # what servers without keys want is no secret
    assert plain.replies(seen, ["Where?"])[0].text == "EMPTY"


def test_a_model_that_is_changed_midway_is_told(server):
    server.say = [(200, completion("yes", model=name)) for name in ("one", "one", "two")]
    vlm, _ = vlm_at(server)
    vlm.replies(vlm.see([FRAMES] * 3), ["a", "b", "c"])
    assert who_answered(Vqa.of(vlm)) == [
        {"model": "one", "build": "fp_1", "replies": 2},
        {"model": "two", "build": "fp_1", "replies": 1},
    ]
