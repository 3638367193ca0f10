"""Asking a model behind an address: each answer kept on disk, so that a run can be run again.

One POST of JSON a question. What failed for a reason that may pass is tried again, later each time;
what failed for good is a status, never an exception. Redirects are not followed: they would carry
the key to another host.
"""

import hashlib
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cosmolabe.core.record import read_json

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
"""HTTP statuses that may pass."""
LARGEST = 16 << 20
"""Bytes of an answer; more is refused."""
LONGEST_WAIT = 60.0
"""Seconds between two tries."""
SCHEMA = 1


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
    """Seconds for one try."""
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"an address begins with http:// or https://; got {self.url!r}")
        if self.replay and self.folder is None:
            raise ValueError("replaying needs the folder in which answers were kept")
        if self.tries < 1:
            raise ValueError(f"at least one try; got {self.tries}")

    def ask(self, question: Mapping[str, Any]) -> Got:
        """The answer to a question, from the folder where it is known there."""
        name = question_hash(self.url, question)
        known = self._read(name)
        if known is not None:
            return Got(known, kept=True)
        if self.replay:
            return Got(why=f"no answer {name[:12]} is kept in {self.folder}")
        got = self._try(json.dumps(question).encode())
        if got.body is not None:
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
        try:
            with _opener().open(request, timeout=self.timeout) as answer:
                said = answer.read(LARGEST + 1)
        except urllib.error.HTTPError as error:
            with error:
                told = error.read(300).decode(errors="replace").strip()
            why = f"HTTP {error.code} {told}".strip()
            wait = error.headers.get("Retry-After", "")
            seconds = float(wait) if wait.isdigit() else 0.0
            return Got(why=why), seconds if error.code in AGAIN else None
        except (
            OSError,
            ValueError,
            HTTPException,
        ) as error:  # no host, no route, timed out, not HTTP
            reason = getattr(error, "reason", error)
            return Got(why=f"no answer: {reason}"), 0.0
        if len(said) > LARGEST:
            return Got(why=f"an answer of more than {LARGEST} bytes"), None
        try:
            return Got(json.loads(said)), None
        except ValueError:
            return Got(why=f"not JSON: {said[:100].decode(errors='replace')!r}"), 0.0

    def _read(self, name: str) -> Any:  # noqa: ANN401 - a tree of plain values
        if self.folder is None or not (self.folder / f"{name}.json").is_file():
            return None
        found = read_json(self.folder / f"{name}.json")
        return found.get("answer") if isinstance(found, dict) else None

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


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401
        """Nowhere else."""
        return


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Stay())
