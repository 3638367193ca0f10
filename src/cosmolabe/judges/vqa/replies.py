"""Raw replies on disk: a line each, only ever added, so that nothing is asked twice or lost."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.record import ESCAPED, plain

FILE = "replies.jsonl"
Asked = Literal["ok", "error", "missing_video"]
ASKED: tuple[Asked, ...] = ("ok", "error", "missing_video")
MOST_NUMBER = 1 << 1000  # of a whole number: a float can still hold it
TEXTS = ("key", "question", "clip", "model", "variation", "why")


@dataclass(frozen=True)
class Reply:
    """What came back when a question was asked."""

    key: str
    """`reply_key` of everything that could change it."""
    question: str
    """Question.id."""
    clip: str = ""
    model: str = ""
    """Vlm.key."""
    reply: str | None = None
    """As it came, never cleaned; None where nothing came, or labels were scored instead."""
    scores: Mapping[str, float] | None = None
    """Log-probability of each label, where labels were scored instead of text written; NaN (null
    on disk) of a label for which a served model gave none."""
    options: tuple[str, ...] = ()
    """In the order shown, where that is not the question's own."""
    variation: str = ""
    """What distinguishes this vote from the question's others."""
    status: Asked = "ok"
    why: str = ""
    """What went wrong, where something did."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What a served model says of itself, seconds, tokens."""

    def __post_init__(self) -> None:
        if self.status not in ASKED:
            raise ValueError(f"a reply is one of {list(ASKED)}; got {self.status!r}")
        if self.status == "ok" and self.reply is None and self.scores is None:
            raise ValueError(f"question {self.question}: an answer has text or scores")


def clip_hash(frames: UInt8[np.ndarray, "time height width 3"]) -> str:
    """Of the pixels and their shape."""
    digest = hashlib.sha256(str(frames.shape).encode())
    digest.update(np.ascontiguousarray(frames).tobytes())
    return digest.hexdigest()[:32]


def reply_key(model: str, prompt: str, sampler: Mapping[str, Any], clip: str) -> str:
    """Fingerprint of model key, prompt as sent, how it decodes, and `clip_hash` of the frames.

    The name of a file or a run is no part of it: another model never finds these replies.
    """
    return fingerprint(model, prompt, dict(sampler), clip)


class Replies:
    """The replies of one run folder; reading them changes nothing on disk."""

    def __init__(self, folder: Path | str) -> None:
        self.path = Path(folder) / FILE
        self.all: list[Reply] = []
        """Every line that holds a reply, in the order written."""
        self.torn: list[int] = []
        """Numbers of lines that hold none, as a crash leaves; what was asked is asked again."""
        self.duplicates: list[str] = []
        """Keys that one question was answered under more than once; the first answer counts."""
        self.conflicts: list[str] = []
        """Those of them whose answers differ: the model is less repeatable than its key says."""
        self._by_key: dict[str, Reply] = {}
        self._counted: dict[tuple[str, str, str], Reply] = {}
        if self.path.exists() and not self.path.is_file():
            raise ValueError(f"{self.path} is not a plain file; put the file itself there")
        if self.path.exists():
            for number, line in enumerate(self.path.read_bytes().split(b"\n"), 1):
                if line.strip():
                    self._take(_reply_of(line), number)

    def __len__(self) -> int:
        return len(self._by_key)

    def __contains__(self, key: str) -> bool:
        """Whether it was answered; a call that failed may be made again."""
        return key in self._by_key and self._by_key[key].status == "ok"

    def __getitem__(self, key: str) -> Reply:
        """The answer under a key, whichever question it was given to."""
        return self._by_key[key]

    def models(self) -> list[str]:
        """Keys of the models that replied."""
        return sorted({reply.model for reply in self.all})

    def of_question(self, model: str) -> dict[str, list[Reply]]:
        """The replies of a model that count, by question, one for each variation.

        Where a question was asked again in other words or otherwise decoded, the later counts.
        """
        found: dict[str, dict[str, Reply]] = {}
        for reply in self._counted.values():
            if reply.model == model:
                found.setdefault(reply.question, {})[reply.variation] = reply
        return {question: list(votes.values()) for question, votes in found.items()}

    def add(self, reply: Reply) -> None:
        """Append one line, in one write; what is answered already is refused.

        Two questions may share a key (`dataclasses.replace` the stored reply's question): the
        model is not asked twice for what it was sent once.
        """
        held = self._counted.get(_place(reply))
        if held is not None and held.status == "ok":
            raise ValueError(f"question {reply.question}: {reply.key} is answered already")
        text = json.dumps(plain(reply), allow_nan=False, ensure_ascii=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            line = text.encode("utf-8", ESCAPED)
            file.write(line if _ended(file) else b"\n" + line)
        self._take(reply, 0)

    def _take(self, reply: Reply | None, number: int) -> None:
        if reply is None:
            self.torn.append(number)
            return
        self.all.append(reply)
        if reply.key not in self:
            self._by_key[reply.key] = reply
        first = self._counted.get(_place(reply))
        if first is None or first.status != "ok":
            self._counted.pop(_place(reply), None)  # so that the order is that of what counts
            self._counted[_place(reply)] = reply
        elif reply.status == "ok":
            self.duplicates.append(reply.key)
            if (first.reply, first.scores) != (reply.reply, reply.scores):
                self.conflicts.append(reply.key)


def _place(reply: Reply) -> tuple[str, str, str]:
    return reply.key, reply.question, reply.variation


def _ended(file: Any) -> bool:  # noqa: ANN401 - a binary file
    """Whether the file ends with a line's end, or is empty."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _reply_of(line: bytes) -> Reply | None:
    """The reply of a line; None where it was cut short or is something else."""
    try:
        row = json.loads(line)
        told: dict[str, Any] = {f.name: row[f.name] for f in fields(Reply) if f.name in row}
        texts = all(isinstance(told.get(name, ""), str) for name in TEXTS)
        if not texts or not isinstance(told.get("about", {}), dict):
            return None
        if not isinstance(told.get("reply"), (str, type(None))) or not _scored(told.get("scores")):
            return None
        options = told.get("options", [])
        if not isinstance(options, list) or not all(isinstance(one, str) for one in options):
            return None
        told["options"] = tuple(options)
        if told.get("scores") is not None:
            told["scores"] = {k: math.nan if p is None else p for k, p in told["scores"].items()}
        return Reply(**told)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _scored(scores: Any) -> bool:  # noqa: ANN401 - anything JSON can hold
    if scores is None:
        return True
    return isinstance(scores, dict) and all(map(_is_number, scores.values()))


def _is_number(value: Any) -> bool:  # noqa: ANN401 - anything JSON can hold
    """A number that a float can hold, or null for one that was not had."""
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, float) or abs(value) < MOST_NUMBER
