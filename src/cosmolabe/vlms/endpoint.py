"""A model behind an OpenAI-compatible address: vLLM, SGLang, llama.cpp, or somebody's API.

Frames go as PNG data URLs, so not one pixel changes on the way. Which model answered, and from
which build (`system_fingerprint`), is written down for each reply, for hosted models are replaced
without notice.
"""

import base64
import io
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from PIL import Image

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.vlm import VlmPart
from cosmolabe.nets.vlm_http import Asker, Got

VERSION = 1
KEYS = ("COSMOLABE_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the key, the first found; it is never written down."""
ROUNDING = 1e-3  # by which a log p may lie above 0
TOP = 20
"""Alternatives asked for a token, the most that OpenAI's interface allows."""


@dataclass(frozen=True)
class Shown:
    """A clip as it is sent."""

    urls: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """What came back for one question."""

    text: str
    status: str
    """Empty where there is a text; else error, refused or empty."""
    why: str = ""
    model: str = ""
    """As the server calls what answered."""
    build: str = ""
    """The server's `system_fingerprint`."""
    kept: bool = False
    """From the replay folder."""
    alternatives: tuple[tuple[tuple[str, float], ...], ...] = ()
    """Of each token said: what it might have been, with log p; the one said comes first."""


class EndpointVlm:
    """The interface of `core.vlm` without weights: nothing here trains, and there is no loss."""

    family = None
    module = None

    def __init__(self, asker: Asker, model: str, at_once: int = 4, tokens: int = 16) -> None:
        self.name = "endpoint"
        self.asker, self.model, self.at_once, self.tokens = asker, model, at_once, tokens
        self.answered_by: Counter[tuple[str, str]] = Counter()
        """(model, build) of every reply so far, with how often."""

    @property
    def key(self) -> str:
        """Of address, model and prompt. The weights are the server's: see `answered_by`."""
        return fingerprint("endpoint", self.asker.url, self.model, self.tokens, VERSION)

    def see(self, clips: Sequence[np.ndarray]) -> list[Shown]:
        """Frames as PNG."""
        for number, clip in enumerate(clips):
            if clip.dtype != np.uint8 or clip.ndim != 4 or clip.shape[-1] != 3 or not len(clip):
                raise ValueError(
                    f"clip {number}: frames are uint8 (frame, height, width, 3), 0 to 255, at "
                    f"least one; got {clip.dtype} {clip.shape}"
                )
        return [Shown(tuple(_png(frame) for frame in clip)) for clip in clips]

    def loss(self, seen: Sequence[Shown], prompts: Sequence[str], answers: Sequence[str]) -> Any:  # noqa: ANN401
        """Refused: nothing of the model is here."""
        raise ValueError("a model behind an address cannot be trained; take one that runs here")

    def replies(
        self, seen: Sequence[Shown], prompts: Sequence[str], tokens: int = 16, log_p: bool = False
    ) -> list[Reply]:
        """One reply a question, in their order; what failed says so and stops nothing."""
        if len(seen) != len(prompts):
            raise ValueError(f"as many clips as prompts; got {len(seen)} and {len(prompts)}")
        questions = [
            self._question(clip, prompt, tokens, log_p)
            for clip, prompt in zip(seen, prompts, strict=True)
        ]
        with ThreadPoolExecutor(self.at_once) as pool:
            asked = pool.map(lambda question: self.asker.ask(question, _is_reply), questions)
            found = [_reply(got) for got in asked]
        self.answered_by.update((r.model, r.build) for r in found if r.status != "error")
        return found

    def generate(
        self, seen: Sequence[Shown], prompts: Sequence[str], tokens: int = 16
    ) -> list[str]:
        """Texts; empty where there is none, see `replies` for why."""
        return [reply.text for reply in self.replies(seen, prompts, tokens)]

    def likelihood(
        self, seen: Sequence[Shown], prompts: Sequence[str], labels: Sequence[Sequence[str]]
    ) -> list[Float[np.ndarray, " label"]]:
        """Log p of each label up to the first token that tells it from the others.

        All that such servers offer is what each token of their own reply might have been. A label
        that is not among it is NaN, and so is the whole row where nothing came back. A server that
        offers no log p at all is refused: ask it for texts.
        """
        found = self.replies(seen, prompts, self.tokens, log_p=True)
        silent = [r for r in found if not r.status and not r.alternatives]
        if silent:
            raise ValueError(
                f"{silent[0].model or self.model} at {self.asker.url} gives no log p of its "
                "tokens: use generated answers instead of likelihoods"
            )
        return [
            np.array(path_log_p(reply.alternatives, own))
            for reply, own in zip(found, labels, strict=True)
        ]

    def _question(self, clip: Shown, prompt: str, tokens: int, log_p: bool) -> dict[str, Any]:
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in clip.urls]
        content = [*pictures, {"type": "text", "text": prompt}]
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": tokens,
            "temperature": 0,
            "seed": 0,
        }
        return asked | {"logprobs": True, "top_logprobs": TOP} if log_p else asked


def path_log_p(
    alternatives: Sequence[Sequence[tuple[str, float]]], labels: Sequence[str]
) -> list[float]:
    """Log p of each label along the reply that was given, NaN where it never branches off there.

    Case and spaces around do not count. A token that could begin several labels, and was not said,
    counts for none of them.
    """
    wanted = [label.strip().casefold() for label in labels]
    parts: list[list[float]] = [[] for _ in labels]
    said, so_far = "", 0.0
    for number, tokens in enumerate(alternatives):
        for place, (token, log_p) in enumerate(tokens):
            text = (said + token).lstrip().casefold()
            fits = [i for i, label in enumerate(wanted) if text and label.startswith(text.rstrip())]
            spoken, last = place == 0, number + 1 == len(alternatives)
            if spoken and last and text.rstrip() in wanted:
                fits = [wanted.index(text.rstrip())]
            if len(fits) == 1 and (not spoken or last or _decided(wanted, text)):
                parts[fits[0]].append(so_far + log_p)
        said, so_far = said + tokens[0][0], so_far + tokens[0][1]
        if _decided(wanted, said.lstrip().casefold()):
            break
    return [math.nan if not own else float(np.logaddexp.reduce(own)) for own in parts]


def _decided(labels: Sequence[str], text: str) -> bool:
    return sum(label.startswith(text.rstrip()) for label in labels) < 2


def _png(frame: np.ndarray) -> str:
    held = io.BytesIO()
    Image.fromarray(frame).save(held, "PNG")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


def _reply(got: Got) -> Reply:
    if got.body is None:
        return Reply("", "error", got.why or "an answer of nothing")
    try:
        return _read_reply(got.body, got.kept)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        return Reply("", "error", f"not a chat completion ({type(error).__name__}: {error})")


def _is_reply(body: Any) -> bool:  # noqa: ANN401 - whatever the server says
    return _reply(Got(body)).status != "error"


def _read_reply(body: Mapping[str, Any], kept: bool) -> Reply:
    if "choices" not in body and "error" in body:
        return Reply("", "error", str(body["error"])[:300])
    choice = body["choices"][0]
    message = choice["message"]
    text = message.get("content") or ""
    if not isinstance(text, str):
        raise TypeError("the content is no text")
    refusal = message.get("refusal") or choice.get("finish_reason") == "content_filter"
    status = "refused" if refusal else "" if text.strip() else "empty"
    who = (str(body.get("model") or ""), str(body.get("system_fingerprint") or ""))
    why = str(refusal) if isinstance(refusal, str) else ""
    steps = (choice.get("logprobs") or {}).get("content") or ()
    return Reply(text, status, why, *who, kept, tuple(_step(step) for step in steps))


def _log_p(value: Any) -> float:  # noqa: ANN401 - whatever the server says
    """0 or less; a hair above is rounding."""
    found = float(value)
    if math.isnan(found) or found > ROUNDING:
        raise ValueError(f"{found} is no log p")
    return min(found, 0.0)


def _step(step: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    said = (str(step["token"]), _log_p(step["logprob"]))
    others = ((str(o["token"]), _log_p(o["logprob"])) for o in step.get("top_logprobs") or ())
    return (said, *(other for other in others if other[0] != said[0]))


def load(
    source: str | Path | None = None,
    *,
    size: str = "",
    random: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
    folder: str | Path | None = None,
    replay: bool = False,
    tries: int = 4,
    timeout: float = 120.0,
    at_once: int = 4,
) -> EndpointVlm:
    """`source` is the address up to /v1, `size` the model's name there.

    Answers are kept in `folder`; with `replay` nothing else is asked. `device` and `dtype` are the
    server's own business.
    """
    if random:
        raise ValueError("endpoint has no weights of its own: give it an address")
    if source is None or not size:
        raise ValueError(
            "endpoint needs an address and a model: source='http://localhost:8000/v1', size='NAME'"
        )
    key = next((os.environ[name] for name in KEYS if os.environ.get(name)), "")
    url = f"{str(source).rstrip('/')}/chat/completions"
    kept = None if folder is None else Path(folder)
    asker = Asker(url, key, kept, replay, tries, timeout=timeout)
    return EndpointVlm(asker, size, at_once)


VLM = VlmPart(
    "endpoint",
    "Whatever answers at an OpenAI-compatible address; replies are kept and can be replayed.",
    load,
    licence="that of the model asked",
    family=None,
    extra="",
    modules=(),
)
