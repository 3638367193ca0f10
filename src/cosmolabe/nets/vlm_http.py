"""Asking a model behind an address: each answer kept on disk, so that a run can be run again.

One POST of JSON a question. What failed for a reason that may pass is tried again, later each time;
what failed for good is a status, never an exception. Redirects are not followed: they would carry
the key to another host.
"""

import contextlib
import hashlib
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cosmolabe.core.record import read_json

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
"""HTTP statuses that may pass."""
LARGEST = 16 << 20
LONGEST_WAIT = 60.0
"""Seconds between two tries."""
SCHEMA = 1
SECRET = 12
"""Characters from which on a key is one: "EMPTY", which some servers want, may be said."""
SILENT = (OSError, ValueError, HTTPException)
"""No host, no route, timed out, cut off, not HTTP."""


@dataclass(frozen=True)
class Got:
    """What came back: a tree of plain values, or why none did."""

    body: Any = None
    why: str = ""
    kept: bool = False
    """From the disk."""


@dataclass(frozen=True)
class Asker:
    """Asks one address."""

    url: str
    key: str = field(default="", repr=False)
    folder: Path | None = None
    """Where answers are kept, one file each, named by the hash of the question."""
    replay: bool = False
    """Answer from the folder alone and never from the network."""
    tries: int = 4
    wait: float = 1.0
    """Seconds before the second try; twice as long before each that follows."""
    timeout: float = 120.0
    """Seconds for one try, from the connection to the answer's last byte."""
    largest: int = LARGEST
    """Bytes of an answer; more is refused."""
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"an address begins with http:// or https://; got {self.url!r}")
        if self.replay and self.folder is None:
            raise ValueError("replaying needs the folder in which answers were kept")
        if self.tries < 1:
            raise ValueError(f"at least one try; got {self.tries}")

    def ask(self, question: Mapping[str, Any], sound: Callable[[Any], bool] | None = None) -> Got:
        """The answer to a question, from the folder where it is known there.

        What is not `sound` (it has choices, where nothing else is said) is no answer: it is not
        kept, and where it was kept, or changed by hand into such, the question is asked again.
        """
        sound = sound or _has_choices
        name = question_hash(self.url, question)
        known = self._read(name)
        if known is not None and sound(known):
            return Got(known, kept=True)
        if self.replay:
            return Got(why=f"no answer {name[:12]} is kept in {self.folder}")
        got = self._try(json.dumps(question).encode())
        if got.body is not None and sound(got.body):
            self._write(name, got.body)
        return got

    def _try(self, body: bytes) -> Got:
        why, wait = "", self.wait
        for number in range(self.tries):
            got, again = self._post(body)
            if got.body is not None or again is None:
                return got
            why = got.why
            if number + 1 < self.tries:
                self.sleep(min(max(wait, again), LONGEST_WAIT))
                wait *= 2
        return Got(why=f"{why}, {self.tries} times" if self.tries > 1 else why)

    def _post(self, body: bytes) -> tuple[Got, float | None]:
        """One try; with seconds to wait at the least where another may help, else None."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, body, headers)
        with _Watch(self.timeout) as watch:
            got, again = self._exchanged(request, watch)
        if watch.late:
            return Got(why=f"no whole answer within {self.timeout:g} s"), 0.0
        return got, again

    def _exchanged(
        self, request: urllib.request.Request, watch: "_Watch"
    ) -> tuple[Got, float | None]:
        try:
            with _opener(watch).open(request, timeout=self.timeout) as answer:
                said = answer.read(self.largest + 1)
        except urllib.error.HTTPError as error:
            return _refused(error, self._hushed)
        except SILENT as error:
            reason = getattr(error, "reason", error)
            return Got(why=f"no answer: {reason}"), 0.0
        if len(said) > self.largest:
            return Got(why=f"an answer of more than {self.largest} bytes"), None
        try:
            return Got(json.loads(self._hushed(said))), None
        except (ValueError, RecursionError):
            return Got(why=f"not JSON: {self._hushed(said)[:100].decode(errors='replace')!r}"), 0.0

    def _hushed(self, said: bytes) -> bytes:
        """Without the key, which a server may say back: it would be written down."""
        if len(self.key) < SECRET:
            return said
        return said.replace(self.key.encode(), b"(the key)")

    def _read(self, name: str) -> Any:  # noqa: ANN401 - a tree of plain values
        """The answer kept; None where none is, or where its file was cut short or changed."""
        if self.folder is None or not (self.folder / f"{name}.json").is_file():
            return None
        try:
            found = read_json(self.folder / f"{name}.json")
        except ValueError:
            return None
        ours = isinstance(found, dict) and found.get("schema") == SCHEMA
        return found.get("answer") if ours else None

    def _write(self, name: str, body: Any) -> None:  # noqa: ANN401 - a tree of plain values
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        half = self.folder / f"{name}.{os.getpid()}.{time.monotonic_ns()}.half"
        half.write_text(json.dumps({"schema": SCHEMA, "url": self.url, "answer": body}))
        half.replace(self.folder / f"{name}.json")


def question_hash(url: str, question: Mapping[str, Any]) -> str:
    """64 hex digits of address, model, words, pictures and settings."""
    text = json.dumps([url, question], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _has_choices(body: Any) -> bool:  # noqa: ANN401 - a tree of plain values
    return isinstance(body, dict) and bool(body.get("choices"))


def _refused(
    error: urllib.error.HTTPError, hushed: Callable[[bytes], bytes]
) -> tuple[Got, float | None]:
    """What a status other than success says, and whether it may pass."""
    with error:
        try:
            told = hushed(error.read(4096))[:300].decode(errors="replace").strip()
        except SILENT:
            told = ""
    wait = error.headers.get("Retry-After", "")
    seconds = float(wait) if wait.isascii() and wait.isdigit() else 0.0
    why = f"HTTP {error.code} {told}".strip()
    return Got(why=why), seconds if error.code in AGAIN else None


class _Watch:
    """Cuts an exchange off where all of it takes longer than it may.

    A socket's own timeout begins anew with each byte: a server that sends one now and then would
    hold a run for ever.
    """

    def __init__(self, seconds: float) -> None:
        self.late = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> "_Watch":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def watched(self, kind: Any) -> Callable[..., HTTPConnection]:  # noqa: ANN401 - a class
        """Makes connections of a kind whose socket can be cut off."""

        class Watched(kind):
            def connect(own) -> None:
                super().connect()
                self._socket = own.sock
                if self.late:
                    self._cut()

        return Watched

    def _cut(self) -> None:
        self.late = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it was closed in time after all
                self._socket.shutdown(socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self.watch = watch

    def http_open(self, req: urllib.request.Request) -> Any:  # noqa: ANN401
        """As the parent, watched."""
        return self.do_open(self.watch.watched(HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self.watch = watch

    def https_open(self, req: urllib.request.Request) -> Any:  # noqa: ANN401
        """As the parent, watched."""
        return self.do_open(self.watch.watched(HTTPSConnection), req)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401
        """Nowhere else."""
        return


def _opener(watch: _Watch) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Stay(), _Http(watch), _Https(watch))
