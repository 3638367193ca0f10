"""Asks a language model behind any OpenAI-compatible endpoint; every answer is kept and replayed.

The record is a JSON-lines file: hash of the request, the request, the answer, tokens. A question
whose answer stands there is never asked again, so a recorded analysis needs no network and no key.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmolabe.core.record import read_jsonl
from cosmolabe.nets.vlm_http import Asker

KEY = "OPENAI_API_KEY"
MOST_BYTES = 4 << 20  # of an answer


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
    asker = Asker(
        endpoint.url.rstrip("/") + "/chat/completions",
        os.environ.get(endpoint.key_variable, ""),
        tries=endpoint.tries,
        timeout=endpoint.timeout,
        largest=MOST_BYTES,
        sleep=time.sleep,
    )
    got = asker.ask(body)
    if got.body is None:
        raise ValueError(f"{endpoint.url} gave no answer: {got.why[:300]}")
    return _text_of(got.body)


def _text_of(tree: Any) -> tuple[str, dict[str, Any]]:  # noqa: ANN401 - what came back
    try:
        text = tree["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError(
            f"the endpoint's answer is no chat completion: {str(tree)[:200]!r}"
        ) from None
    usage = tree.get("usage")
    return str(text or ""), usage if isinstance(usage, dict) else {}
