"""Asks a language model behind any OpenAI-compatible endpoint; every answer is kept and replayed.

The record is a JSON-lines file: hash of the request, the request, the answer, tokens. A question
whose answer stands there is never asked again, so a recorded analysis needs no network and no key.
"""

import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe.core.record import read_jsonl

KEY = "OPENAI_API_KEY"
MOST_BYTES = 4 << 20  # of an answer
AGAIN = (408, 409, 429, 500, 502, 503, 504)
"""Statuses after which the same request may go through."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers."""

    model: str
    url: str = "https://api.openai.com/v1"
    key_variable: str = KEY
    """Environment variable of the key; a local server needs none."""
    temperature: float = 0.0
    max_tokens: int = 400
    timeout: float = 120.0  # seconds
    tries: int = 4
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, as the server knows them."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"an endpoint begins with http:// or https://; got {self.url[:80]!r}")


class Recorded:
    """A judge's memory: asks the endpoint only what it was never asked; None never asks."""

    def __init__(self, path: Path, endpoint: Endpoint | None, model: str = "") -> None:
        self.path, self.endpoint = path, endpoint
        self.model = endpoint.model if endpoint else model
        self.answers: dict[str, dict[str, Any]] = {}
        if path.exists():
            self.answers = {str(row.get("key")): row for _, row in read_jsonl(path)}

    def ask(self, system: str, user: str) -> str:
        """The answer's text.

        Raises:
            ValueError: The question was never asked and there is no endpoint, or it fails.
        """
        key = self.key_of(system, user)
        if key in self.answers:
            return str(self.answers[key].get("answer", ""))
        if self.endpoint is None:
            raise ValueError(
                f"{self.path} holds no answer of '{self.model}' to question {key}; name an endpoint"
            )
        answer, usage = ask(self.endpoint, system, user)
        row: dict[str, Any] = {"key": key, "model": self.model, "system": system, "user": user}
        row |= {"answer": answer, "usage": usage, "time": time.time()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.answers[key] = row
        return answer

    def key_of(self, system: str, user: str) -> str:
        """What names a question: the model and every word of it."""
        text = json.dumps([self.model, system, user], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def ask(endpoint: Endpoint, system: str, user: str) -> tuple[str, dict[str, Any]]:
    """(text, usage) of one chat completion; tries again where that can help."""
    body = {
        "model": endpoint.model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ],
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        **endpoint.extra,
    }
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get(endpoint.key_variable):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(
        endpoint.url.rstrip("/") + "/chat/completions", json.dumps(body).encode(), headers
    )
    said = ""
    for attempt in range(endpoint.tries):
        if attempt:
            time.sleep(min(2.0**attempt, 30.0) * 0.5)
        try:
            with _OPENER.open(request, timeout=endpoint.timeout) as answer:
                return _text_of(answer.read(MOST_BYTES + 1))
        except urllib.error.HTTPError as error:
            said = f"HTTP {error.code} {error.read(300).decode('utf-8', 'replace')}"
            error.close()
            if error.code not in AGAIN:
                break
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            said = str(error)
    raise ValueError(f"{endpoint.url} gave no answer: {said[:300]}")


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key is for this endpoint alone."""

    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - its own
        return None


_OPENER = urllib.request.build_opener(_Stays)


def _text_of(body: bytes) -> tuple[str, dict[str, Any]]:
    if len(body) > MOST_BYTES:
        raise ValueError(f"the endpoint's answer is longer than {MOST_BYTES} bytes")
    try:
        tree = json.loads(body)
        text = tree["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise ValueError(f"the endpoint's answer is no chat completion: {body[:200]!r}") from None
    usage = tree.get("usage")
    return str(text or ""), usage if isinstance(usage, dict) else {}
