"""A small HTTP server that scores frames, for reinforcement learning in another process.

    GET  /health    which judge this is
    POST /score     frames in, one row of scores a video out, as JSON
    POST /gradient  the same for one rate, out as .npz: violation, motion, moves, gradient

A body is an .npz (`frames` uint8 (batch, time, height, width, 3) or without the batch, `fps`) or
JSON ({"fps": 16, "shape": [...], "frames": base64 of the bytes}). Nothing is unpickled, no path is
opened for anybody, and nobody but this machine is answered unless a token is asked for.
"""

import base64
import binascii
import contextlib
import hmac
import io
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import UInt8

from cosmolabe.bench.physics.reward import Reward
from cosmolabe.core.errors import in_words
from cosmolabe.core.record import plain
from cosmolabe.data.arrays import read_npz
from cosmolabe.judges.physics import Physics, row_of

HERE = ("127.0.0.1", "localhost", "::1")
JSON, NPZ = "application/json", "application/x-npz"
PATIENCE = 30.0  # seconds a client may keep silent
PER_BODY = 120.0  # seconds that a body may take to come in
PIECE = 1 << 16  # bytes read at a time
MOST_SHAPE = 6  # axes
LEAST_SECONDS = 1.0
"""That a video counts at least: looking at it costs time, however short it is."""
ENDING = 60.0  # seconds that a computation may take to come to its end when the server is stopped


@dataclass(frozen=True)
class Serving:
    """Limits of the server; all chosen by us."""

    host: str = "127.0.0.1"
    port: int = 8321
    bytes: int = 256 << 20
    """Of one body, as sent and unpacked."""
    seconds: float = 600.0
    """Of all videos in one body together, each counted as 1 s or more: a rate near 0 would make
    years of a few frames, and thousands of short videos would keep all others waiting."""
    waiting: int = 8
    """Requests at once; more are told to come back (503)."""
    token: str = ""
    """Must stand in `Authorization: Bearer …` where it is not empty."""

    def __post_init__(self) -> None:
        if self.host not in HERE and not self.token:
            raise ValueError(
                f"{self.host} can be reached from elsewhere; give a --token-file, or stay on "
                f"{HERE[0]}"
            )
        if self.bytes < 1 or self.waiting < 1 or not 0 <= self.port < 1 << 16:
            raise ValueError("a port is 0 to 65535; bytes and waiting are 1 or more")
        if not self.seconds > 0:
            raise ValueError(f"seconds are above 0; got {self.seconds}")


class Refused(Exception):
    """A request that is not answered as asked: an HTTP status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Server(ThreadingHTTPServer):
    """The judge behind a port; one request is computed at a time, so that scores never mix."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, physics: Physics, serving: Serving) -> None:
        self.address_family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
        self.physics, self.serving = physics, serving
        self.reward = Reward(physics)
        self.places = threading.Semaphore(serving.waiting)
        self.turn = threading.Lock()
        self.ending = threading.Event()
        super().__init__((serving.host, serving.port), Handler)

    @property
    def url(self) -> str:
        """Where it answers."""
        host = f"[{self.serving.host}]" if ":" in self.serving.host else self.serving.host
        return f"http://{host}:{self.server_port}"

    def server_close(self) -> None:
        """Close, once what is being computed has come to its end: torch must not die in it."""
        self.ending.set()
        super().server_close()
        self.turn.acquire(timeout=ENDING)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - its own
        """A client that went away is no error of ours."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    def about(self) -> dict[str, Any]:
        """Which judge this is."""
        protocol = self.physics.protocol
        return {
            "judge": "physics",
            "head": self.physics.bundle.name,
            "encoder": self.physics.encoder.name,
            "protocol": protocol.name,
            "fingerprint": protocol.fingerprint,
            "fps": protocol.sampling.fps,
            "motion_floor": protocol.motion_floor,
            "bytes": self.serving.bytes,
            "seconds": self.serving.seconds,
        }

    def scores(self, frames: UInt8[np.ndarray, "batch time height width 3"], fps: float) -> dict:
        """One row a video, as `cosmolabe judge` gives it."""
        with self.turn:
            rows = []
            for video in frames:
                self._go_on()
                rows.append(row_of(self.physics.judge_frames(video, fps)))
        return {"fingerprint": self.physics.protocol.fingerprint, "rows": rows}

    def gradient(
        self, frames: UInt8[np.ndarray, "batch time height width 3"], fps: float
    ) -> dict[str, np.ndarray]:
        """Raw scores, and how each pixel (0..1) moves them; what stands still moves nothing."""
        most, grid = self.serving.bytes, self.physics.protocol.sampling.fps
        if frames.nbytes * max(1.0, grid / fps) > most:
            raise ValueError(f"at {grid:g} pictures a second these frames pass {most} bytes")
        pixels = torch.from_numpy(frames).permute(0, 1, 4, 2, 3).float() / 255
        with self.turn:
            self._go_on()
            pixels.requires_grad_(True)
            told = self.reward(pixels, fps)
            told.violation.sum().backward()
        assert pixels.grad is not None
        return {
            "violation": told.violation.detach().cpu().numpy(),
            "motion": told.motion.cpu().numpy(),
            "moves": told.moves.cpu().numpy(),
            "gradient": pixels.grad.permute(0, 1, 3, 4, 2).cpu().numpy(),
        }

    def _go_on(self) -> None:
        if self.ending.is_set():
            raise Refused(503, "the server is ending")


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "cosmolabe", ""
    timeout = PATIENCE
    routes: ClassVar[dict[tuple[str, str], str]] = {
        ("GET", "/health"): "_health",
        ("POST", "/score"): "_score",
        ("POST", "/gradient"): "_gradient",
    }

    @property
    def judge(self) -> Server:
        """The server that this answers for."""
        assert isinstance(self.server, Server)
        return self.server

    def do_GET(self) -> None:
        """Answer GET."""
        self._answer("GET")

    def do_POST(self) -> None:
        """Answer POST."""
        self._answer("POST")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - its own name
        """Say nothing on stderr."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request that we know, as everything else is refused."""
        self.close_connection = True
        told = message or self.responses.get(code, ("",))[0]
        self._send_json(code, {"ok": False, "error": told[:200]})

    def _answer(self, method: str) -> None:
        if not self.judge.places.acquire(blocking=False):
            self.close_connection = True
            self._send_json(503, {"ok": False, "error": "too many at once; try again"})
            return
        try:
            self._let_in()
            name = self.routes.get((method, self.path))
            if name is None:
                have = ", ".join(f"{m} {p}" for m, p in self.routes)
                raise Refused(404, f"no {method} {self.path[:100]}; have {have}")
            answer: Callable[[], None] = getattr(self, name)
            answer()
        except Refused as refused:
            self.close_connection = True
            self._send_json(refused.status, {"ok": False, "error": str(refused)})
        except ValueError as error:
            self.close_connection = True
            self._send_json(400, {"ok": False, "error": str(error)})
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            self.close_connection = True
            self._send_json(500, {"ok": False, "error": in_words(error)})
        finally:
            self.judge.places.release()

    def _let_in(self) -> None:
        """A page that a browser has open must not speak to us under another name (rebinding)."""
        token = self.judge.serving.token
        if token:
            given = self.headers.get("Authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
                raise Refused(401, "no or a wrong token")
            return
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0].strip("[]")
        if host not in HERE:
            raise Refused(403, "this server answers as localhost only")

    def _health(self) -> None:
        self._send_json(200, {"ok": True, **self.judge.about()})

    def _score(self) -> None:
        self._send_json(200, {"ok": True, **self.judge.scores(*self._frames())})

    def _gradient(self) -> None:
        arrays: dict[str, Any] = {**self.judge.gradient(*self._frames())}
        packed = io.BytesIO()
        np.savez(packed, **arrays)
        self._send(200, NPZ, packed.getvalue())

    def _frames(self) -> tuple[np.ndarray, float]:
        most = self.judge.serving.bytes
        kind = (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if kind not in (JSON, NPZ):
            raise Refused(415, f"send {NPZ} or {JSON}; got {kind[:60] or 'no content type'}")
        told = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not told.isascii() or not told.isdigit():
            raise Refused(411, "say Content-Length")
        if len(told) > 15 or int(told) > most:
            self._let_go(told, most)
            raise Refused(413, f"a body has at most {most} bytes; this one has {told[:20]}")
        body = b"".join(self._pieces(int(told)))
        if len(body) < int(told):
            raise Refused(400, f"the body ended after {len(body)} of {told} bytes")
        frames, fps = _of_json(body) if kind == JSON else _of_npz(body, most)
        grid = self.judge.physics.protocol.sampling.fps
        return _checked(frames, fps, grid, self.judge.serving.seconds)

    def _let_go(self, told: str, most: int) -> None:
        """Read on for a while, so that a client that is still sending comes to hear the answer."""
        with contextlib.suppress(Refused):
            for _ in self._pieces(min(int(told[:15]), 2 * most)):
                pass

    def _pieces(self, left: int) -> Iterator[bytes]:
        """The body as it comes; who sends it byte by byte does not keep the place for long."""
        until = time.monotonic() + PER_BODY
        while left > 0 and (piece := self._piece(min(left, PIECE))):
            left -= len(piece)
            yield piece
            if left and time.monotonic() > until:
                raise Refused(408, f"the body took more than {PER_BODY:g} s to come")

    def _piece(self, most: int) -> bytes:
        try:
            return self.rfile.read1(most)
        except TimeoutError:
            raise Refused(408, f"nothing came for {self.timeout:g} s") from None

    def _send_json(self, status: int, tree: dict[str, Any]) -> None:
        self._send(status, JSON, json.dumps(plain(tree), allow_nan=False).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
        except (ConnectionError, TimeoutError):
            self.close_connection = True


def _of_npz(body: bytes, most: int) -> tuple[np.ndarray, Any]:
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "body.npz"
        path.write_bytes(body)
        try:
            arrays = read_npz(path, ("frames", "fps"), most)
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), "the body")) from None
    if arrays["fps"].size != 1:
        raise ValueError(f"fps is one number; got shape {arrays['fps'].shape}")
    return arrays["frames"], arrays["fps"].item()


def _of_json(body: bytes) -> tuple[np.ndarray, Any]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is no JSON ({error})") from None
    if not isinstance(tree, dict):
        raise ValueError("the body is one object with frames, shape and fps")
    shape = tree.get("shape")
    whole = isinstance(shape, list) and 0 < len(shape) <= MOST_SHAPE
    if not whole or not all(type(n) is int and 0 < n < 1 << 31 for n in shape):
        raise ValueError(f"shape is a list of whole numbers; got {str(shape)[:60]}")
    try:
        data = base64.b64decode(tree.get("frames", ""), validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ValueError(f"frames are base64 of the bytes ({error})") from None
    size = 1
    for n in shape:
        size *= n
    if size != len(data):
        raise ValueError(f"shape {shape} needs {size} bytes; frames have {len(data)}")
    return np.frombuffer(data, np.uint8).reshape(shape), tree.get("fps")


def _checked(
    frames: np.ndarray,
    fps: Any,  # noqa: ANN401 - whatever the body says
    grid: float,
    most: float,
) -> tuple[np.ndarray, float]:
    frames = frames[None] if frames.ndim == 4 else frames
    if frames.ndim != 5 or frames.shape[-1] != 3 or frames.dtype != np.uint8 or not frames.size:
        raise ValueError(
            f"frames are uint8 (batch, time, height, width, 3); got {frames.dtype} {frames.shape}"
        )
    fps = grid if fps is None else fps
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= 10_000:
        raise ValueError(f"fps is pictures per second, above 0; got {str(fps)[:40]}")
    if len(frames) * max(frames.shape[1] / fps, LEAST_SECONDS) > most:
        raise ValueError(
            f"{len(frames)} videos of {frames.shape[1]} frames, {fps:g} a second, are more than "
            f"{most:g} s in all (each counts as {LEAST_SECONDS:g} s or more); send less at once"
        )
    return np.array(frames, order="C"), float(fps)
