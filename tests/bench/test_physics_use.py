"""Best of N, rewards with a gradient, the HTTP server, drift over dated runs."""

import base64
import http.client
import io
import json
import math
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from moving_squares import glance, random_heads, square

from cosmolabe.bench.physics import serving
from cosmolabe.bench.physics.best_of import best_of, gain
from cosmolabe.bench.physics.drift import DatedRun, change_of, drift, read_run
from cosmolabe.bench.physics.reward import Reward, on_grid
from cosmolabe.bench.physics.serving import Server, Serving
from cosmolabe.core.record import Record, write_json, write_jsonl
from cosmolabe.judges.physics import Bundle, Physics


@pytest.fixture(scope="module")
def physics():
    eye = glance()
    return Physics.of(eye, Bundle("random", random_heads(eye), "glance"))


def row(name, raw, group="a", members=(), **more):
    scored = raw is not None
    return {
        "input": name, "status": "scored" if scored else "abstained", "raw": raw,
        "value": None if raw is None else min(max(raw, 0), 1), "prompt": group,
        "members": list(members), **more,
    }  # fmt: skip


@given(st.permutations(range(6)))
def test_the_best_of_n_is_the_least_violating_whatever_the_order(order):
    rows = [row(f"v{n}", raw) for n, raw in enumerate((0.4, 0.1, 0.9, None, 0.1, 0.3))]
    (choice,) = best_of([rows[n] for n in order])
    assert choice.best == "v1"
    assert choice.order == ("v1", "v4", "v5", "v0", "v2")
    assert (choice.raw, choice.runner_up, choice.n, choice.unscored) == (0.1, 0.1, 6, 1)


def test_a_frozen_video_never_wins():
    (choice,) = best_of([row("still", None), row("moving", 0.99)])
    assert choice.best == "moving"
    (nobody,) = best_of([row("still", None)])
    assert nobody.best == ""
    assert math.isnan(nobody.raw)


def test_the_heads_say_how_surely_the_best_is_best():
    surely = [row("a", 0.1, members=(0.1, 0.0, 0.2)), row("b", 0.5, members=(0.5, 0.4, 0.6))]
    hardly = [row("a", 0.1, members=(0.1, 0.0, 0.2)), row("b", 0.12, members=(0.0, 0.3, 0.1))]
    assert best_of(surely)[0].told_apart == 1
    assert best_of(hardly)[0].told_apart == pytest.approx(1 / 3)
    assert math.isnan(best_of([row("a", 0.1), row("b", 0.2)])[0].told_apart)


def test_groups_come_from_the_table_or_from_folders():
    rows = [row("x/1.mp4", 0.3, "p"), row("y/1.mp4", 0.2, "q"), row("x/2.mp4", 0.1, "p")]
    assert [(c.group, c.best) for c in best_of(rows)] == [("p", "x/2.mp4"), ("q", "y/1.mp4")]
    assert [c.group for c in best_of(rows, "folder")] == ["x", "y"]
    mean, low, high = gain(best_of(rows))
    assert mean == pytest.approx(0.05)
    assert low <= mean <= high
    with pytest.raises(ValueError, match="says no prompt"):
        best_of([{"input": "a.mp4", "status": "scored", "raw": 0.1}])


def as_pixels(frames):
    return torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255


def test_one_group_has_no_interval_and_a_torn_line_is_of_no_group():
    rows = [row("a", 0.2, "x"), row("b", 0.6, "x")]
    torn = {"input": "t.jsonl, line 3", "status": "failed", "raw": None}
    (choice,) = best_of([*rows, torn])
    assert (choice.best, choice.n, choice.unscored) == ("a", 2, 0)
    mean, low, high = gain([choice])
    assert mean == pytest.approx(0.2)
    assert math.isnan(low)
    assert math.isnan(high)
    with pytest.raises(ValueError, match="says no prompt"):
        best_of([*rows, {"input": "c", "status": "scored", "raw": 0.1}])


def test_a_reward_has_a_gradient_and_standing_still_gains_nothing(physics):
    moving = as_pixels(square(24, size=32))
    pixels = torch.stack([moving, moving[:1].expand_as(moving)]).clone().requires_grad_(True)
    told = Reward(physics)(pixels)
    assert told.moves.tolist() == [True, False]
    assert told.violation[1] == 1.0
    assert told.reward[1] == -1.0
    told.violation.sum().backward()
    assert pixels.grad[0].abs().sum() > 0
    assert pixels.grad[1].abs().sum() == 0
    direct = physics.judge_frames(square(24, size=32), 16.0)
    assert told.violation[0].item() == pytest.approx(direct.raw, abs=1e-5)
    assert told.motion[0].item() == pytest.approx(direct.motion, rel=1e-4)


def test_steps_along_the_gradient_lower_the_violation(physics):
    pixels = torch.stack([as_pixels(square(20, size=32, seed=n)) for n in range(2)])
    pixels.requires_grad_(True)
    reward, seen = Reward(physics), []
    for _ in range(5):
        told = reward(pixels)
        seen.append(told.violation.detach())
        (gradient,) = torch.autograd.grad(told.reward.sum(), pixels)
        pixels = (pixels + 0.5 * gradient).clamp(0, 1).detach().requires_grad_(True)
    assert (seen[-1] < seen[0]).all()


def test_the_reward_of_a_clip_does_not_depend_on_its_batch(physics):
    clips = torch.stack([as_pixels(square(20, size=32, seed=n)) for n in range(8)])
    reward = Reward(physics)
    together = reward(clips).violation
    assert torch.equal(together, torch.cat([reward(clip[None]).violation for clip in clips]))
    assert torch.equal(together.flip(0), reward(clips.flip(0)).violation)


def test_frames_of_another_rate_are_shown_on_the_grid(physics):
    frames = torch.arange(8.0)[None, :, None, None, None].expand(1, 8, 3, 4, 4)
    assert on_grid(frames, 8.0, 16.0)[0, :, 0, 0, 0].tolist() == [n // 2 for n in range(16)]
    assert on_grid(frames, 32.0, 16.0)[0, :, 0, 0, 0].tolist() == [0, 2, 4, 6]
    video = square(12, size=32, speed=2)
    told = Reward(physics)(as_pixels(video)[None], fps=8.0)
    assert told.violation.item() == pytest.approx(physics.judge_frames(video, 8.0).raw, abs=1e-5)


@pytest.mark.parametrize(
    "pixels",
    [torch.zeros(2, 3, 8, 8), torch.zeros(1, 4, 1, 8, 8), torch.zeros(1, 0, 3, 8, 8),
     torch.zeros(1, 4, 3, 8, 8, dtype=torch.uint8), torch.full((1, 4, 3, 8, 8), torch.nan)],
)  # fmt: skip
def test_what_is_no_batch_of_pixels_is_refused(physics, pixels):
    with pytest.raises((ValueError, TypeError)):
        Reward(physics)(pixels)


@pytest.fixture(scope="module")
def server(physics):
    with Server(physics, Serving(port=0, bytes=1 << 20)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, method, path, body=None, kind="", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        headers = {"Content-Type": kind, **headers} if kind else headers
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def packed(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


NPZ, JSON = "application/x-npz", "application/json"


def test_the_server_scores_as_the_judge_does(physics, server):
    videos = np.stack([square(20, size=32, seed=n) for n in range(3)])
    status, body = ask(server, "POST", "/score", packed(frames=videos, fps=16.0), NPZ)
    told = json.loads(body)
    assert (status, told["ok"]) == (200, True)
    direct = [physics.judge_frames(video, 16.0) for video in videos]
    assert [row["raw"] for row in told["rows"]] == [verdict.raw for verdict in direct]
    assert told["fingerprint"] == physics.protocol.fingerprint
    text = {"fps": 16, "shape": list(videos.shape), "frames": base64.b64encode(videos).decode()}
    status, body = ask(server, "POST", "/score", json.dumps(text), JSON)
    assert json.loads(body)["rows"] == told["rows"]


def test_the_server_hands_out_gradients(physics, server):
    video = square(20, size=32)
    status, body = ask(server, "POST", "/gradient", packed(frames=video, fps=16.0), NPZ)
    assert status == 200
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        assert arrays["gradient"].shape == (1, *video.shape)
        pixels = as_pixels(video)[None].requires_grad_(True)
        physics.violation(pixels).sum().backward()
        wanted = pixels.grad.permute(0, 1, 3, 4, 2).numpy()
        assert np.allclose(arrays["gradient"], wanted, atol=1e-7)
        assert np.abs(wanted).sum() > 0


def test_the_server_says_which_judge_it_is(physics, server):
    status, body = ask(server, "GET", "/health")
    assert status == 200
    assert json.loads(body)["fingerprint"] == physics.protocol.fingerprint


@pytest.mark.parametrize(
    ("status", "path", "body", "kind", "words"),
    [
        (404, "/", b"", NPZ, "have GET /health"),
        (415, "/score", b"x", "text/plain", "application/x-npz"),
        (413, "/score", b"0" * ((1 << 20) + 1), NPZ, "at most"),
        (400, "/score", b"nothing", NPZ, "npz"),
        (400, "/score", packed(frames=np.array([{}], object), fps=1.0), NPZ, "npz"),
        (400, "/score", packed(frames=np.zeros((4, 8, 8, 3), np.float32), fps=1.0), NPZ, "uint8"),
        (400, "/score", packed(frames=np.zeros((4, 8, 8, 3), np.uint8), fps=-1.0), NPZ, "fps"),
        (400, "/score", packed(frames=np.zeros((4, 8, 8, 3), np.uint8)), NPZ, "fps"),
        (400, "/score", packed(frames=np.zeros((4, 8, 8, 3), np.uint8), fps=[1, 2]), NPZ, "one"),
        (400, "/score", packed(frames=np.zeros((4, 8, 8, 3), np.uint8), fps=1e-300), NPZ, "in all"),
        (400, "/score", packed(frames=np.zeros((8, 8, 8, 3), np.uint8), fps=1e-6), NPZ, "in all"),
        (400, "/gradient", packed(frames=np.zeros((8, 8, 8, 3), np.uint8), fps=1e-6), NPZ, "all"),
        (400, "/score", packed(frames=np.zeros((9999, 1, 1, 1, 3), np.uint8), fps=16), NPZ, "all"),
        (400, "/score", packed(frames=np.zeros((601, 9, 1, 1, 3), np.uint8), fps=99), NPZ, "1 s"),
        (400, "/gradient", packed(frames=np.zeros((90, 32, 32, 3), np.uint8), fps=1), NPZ, "pass"),
        (404, "/../../etc/passwd", b"", NPZ, "have GET /health"),
        (400, "/score", b"{", JSON, "JSON"),
        (400, "/score", b"[" * 100_000, JSON, "JSON"),
        (400, "/score", b'{"shape": [1, 2, 2, 2, 3], "frames": "!"}', JSON, "base64"),
        (400, "/score", b'{"shape": [9, 9, 9, 9, 3], "frames": "AAAA"}', JSON, "needs"),
    ],
)
def test_the_server_refuses_what_it_cannot_read(server, status, path, body, kind, words):
    found, answer = ask(server, "POST", path, body, kind)
    told = json.loads(answer)
    assert (found, told["ok"]) == (status, False)
    assert words in told["error"]
    assert ask(server, "GET", "/health")[0] == 200


def test_a_bomb_of_zeros_is_refused_by_what_it_claims(server):
    file = io.BytesIO()
    np.savez_compressed(file, frames=np.zeros((200, 64, 64, 3), np.uint8), fps=1.0)
    assert len(file.getvalue()) < 1 << 18
    status, body = ask(server, "POST", "/score", file.getvalue(), NPZ)
    assert status == 400
    assert "claims" in json.loads(body)["error"]


def test_a_body_without_a_length_and_one_cut_short_are_refused(server):
    for sent, status in (
        (
            b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-npz\r\n\r\n",
            411,
        ),
        (
            b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-npz\r\n"
            b"Content-Length: 500\r\n\r\nabc",
            400,
        ),
    ):
        with socket.create_connection(("127.0.0.1", server.server_port), 30) as line:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


def test_a_body_that_comes_too_slowly_gives_its_place_back(server, monkeypatch):
    monkeypatch.setattr(serving, "PER_BODY", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_port), 30) as line:
        line.sendall(
            b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-npz\r\n"
            b"Content-Length: 500\r\n\r\n"
        )
        for _ in range(3):
            line.sendall(b"a")
            time.sleep(0.15)
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert ask(server, "GET", "/health")[0] == 200


@pytest.mark.parametrize(("length", "status"), [("500", 408), ("9" * 20, 413)])
def test_who_says_nothing_more_is_told_why_the_line_ends(server, monkeypatch, length, status):
    monkeypatch.setattr(serving.Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_port), 30) as line:
        line.sendall(
            b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-npz\r\n"
            b"Content-Length: " + length.encode() + b"\r\n\r\n"
        )
        assert line.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"PUT /score HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        (b'a "b" \\ \xff <script> HTTP/9\r\n\r\n', 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 500 + b"\r\n", 431),
    ],
)
def test_what_is_no_request_is_refused_as_json_too(server, sent, status):
    with socket.create_connection(("127.0.0.1", server.server_port), 30) as line:
        line.sendall(sent)
        answer = line.makefile("rb").read().rpartition(b"\r\n\r\n")
    assert answer[0] == b"" or answer[0].startswith(f"HTTP/1.1 {status} ".encode())
    told = json.loads(answer[2])
    assert told["ok"] is False
    assert told["error"]


def test_a_server_that_is_stopped_ends_what_it_computes_first(physics, monkeypatch):
    begun, let, done = threading.Event(), threading.Event(), []

    def slowly(self, frames, fps):
        begun.set()
        assert let.wait(30)
        done.append(frames)
        return judge_frames(self, frames, fps)

    judge_frames = type(physics).judge_frames
    monkeypatch.setattr(type(physics), "judge_frames", slowly)
    server = Server(physics, Serving(port=0))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    body = packed(frames=np.stack([square(8, size=32, seed=n) for n in range(3)]), fps=16.0)
    with ThreadPoolExecutor(2) as pool:
        answer = pool.submit(ask, server, "POST", "/score", body, NPZ)
        assert begun.wait(30)
        server.shutdown()
        closing = pool.submit(server.server_close)
        time.sleep(0.1)
        assert not closing.done()  # the first of three is being looked at
        let.set()
        closing.result(30)
        status, told = answer.result(30)
    assert (len(done), status) == (1, 503)
    assert "ending" in json.loads(told)["error"]


def test_a_client_that_goes_away_leaves_no_traceback(server, capsys):
    for _ in range(3):
        line = socket.create_connection(("127.0.0.1", server.server_port), 30)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()  # with a reset
    time.sleep(0.2)
    assert ask(server, "GET", "/health")[0] == 200
    assert capsys.readouterr().err == ""


def test_requests_at_once_do_not_mix(physics, server):
    videos = [square(20, size=32, seed=n) for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        told = list(
            pool.map(
                lambda v: ask(server, "POST", "/score", packed(frames=v, fps=16.0), NPZ), videos
            )
        )
    for video, (status, body) in zip(videos, told, strict=True):
        assert status == 200
        assert json.loads(body)["rows"][0]["raw"] == physics.judge_frames(video, 16.0).raw


def test_a_rate_near_zero_is_refused_in_memory_too(physics):
    with pytest.raises(ValueError, match="last more than"):
        physics.judge_frames(square(8), 1e-6)
    with pytest.raises(ValueError, match="last more than"):
        Reward(physics)(as_pixels(square(8, size=32))[None], 1e-6)


def test_a_page_under_another_name_is_not_answered(server):
    assert ask(server, "GET", "/health", Host="evil.example:8321")[0] == 403


def test_only_who_knows_the_token_is_answered(physics):
    with pytest.raises(ValueError, match="token"):
        Serving(host="0.0.0.0")
    with Server(physics, Serving(port=0, token="a" * 20)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert ask(server, "GET", "/health")[0] == 401
        assert ask(server, "GET", "/health", Authorization="Bearer b")[0] == 401
        assert ask(server, "GET", "/health", Authorization="Bearer " + "a" * 20)[0] == 200
        server.shutdown()


def runs_of(levels, anchors=40, noise=0.02, seed=0):
    dice = np.random.default_rng(seed)
    base = dice.uniform(0, 1, anchors)
    return [
        DatedRun(
            f"run-{n}", f"2026-01-{n + 1:02d}", "p",
            {f"v{k}": float(base[k] + level + dice.normal() * noise) for k in range(anchors)},
        )
        for n, level in enumerate(levels)
    ]  # fmt: skip


def test_a_change_of_level_is_found_where_it_happened():
    found = drift(runs_of([0, 0, 0, 0, 0, 0.2, 0.2, 0.2, 0.2, 0.2]))
    assert found.verdict == "drifted"
    assert found.change_at == 5
    assert found.p_change < 0.02
    assert found.low < found.first_to_last < found.high
    assert found.first_to_last == pytest.approx(0.2, abs=0.02)


def test_of_one_anchor_nobody_can_tell_how_far_a_change_may_vary():
    found = drift(runs_of([0, 0.2], anchors=1))
    assert math.isfinite(found.first_to_last)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_luck_alone_is_called_drift_about_as_rarely_as_said():
    verdicts = [drift(runs_of([0] * 8, seed=seed)).verdict for seed in range(40)]
    assert verdicts.count("drifted") <= 6


def test_the_same_scores_again_are_unchanged():
    runs = runs_of([0], noise=0) * 3
    found = drift([replace(run, date=f"2026-02-0{n + 1}") for n, run in enumerate(runs)])
    assert found.verdict == "unchanged"
    assert found.p_pairs == 1
    assert math.isnan(found.p_change)
    assert change_of(np.array([1.0, 1.0])) == (None, 0.0)


def test_runs_stand_in_the_order_of_their_dates():
    runs = runs_of([0, 0.1, 0.2, 0.3])
    assert drift(runs[::-1]) == drift(runs)


def test_unlike_protocols_and_other_videos_do_not_compare():
    one, two = runs_of([0, 0])
    with pytest.raises(ValueError, match="different protocols"):
        drift([one, replace(two, protocol="q")])
    with pytest.raises(ValueError, match="no video was scored in all"):
        drift([one, replace(two, scores={"other": 0.1})])
    with pytest.raises(ValueError, match="two runs"):
        drift([one])


def test_a_video_that_one_run_lacks_is_left_out_and_named():
    one, two = runs_of([0, 0])
    scores = dict(two.scores) | {"v3": math.nan}
    del scores["v7"]
    found = drift([one, replace(two, scores=scores)])
    assert found.anchors == 38
    assert found.lost == ("v3", "v7")


def test_a_run_is_read_from_its_folder(tmp_path):
    write_json(tmp_path / "physics.json", {})
    write_json(tmp_path / "record.json", Record("judge", 0, {"date": "2026-03-01"}, protocol="p"))
    write_jsonl(
        tmp_path / "clips.jsonl",
        [row("a", 0.5, hash="x"), row("b", None, hash="y"), row("c", None) | {"status": "failed"}],
    )
    run = read_run(tmp_path, "hash")
    assert (run.date, run.protocol, run.scores["x"]) == ("2026-03-01", "p", 0.5)
    assert math.isnan(run.scores["y"])
    assert set(read_run(tmp_path).scores) == {"a", "b", "c"}
    with pytest.raises(ValueError, match="anchors"):
        read_run(tmp_path, "colour")
