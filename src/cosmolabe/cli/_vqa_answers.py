"""Verbs of `vqa` about replies: what do they say, and what does a finished run say again?"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from cosmolabe.cli._verb import Answer, Table, Verb

FAILED = ("error", "missing_video")


@dataclass(frozen=True, kw_only=True)
class VqaParse(Verb):
    """What do replies in words say? Status, label, and the rule that decided.

    Reads JSON on standard input, one object or one a line: {"reply": "**B**", "format":
    "multiple_choice", "options": ["left", "right"]}; also labels, question, aliases, answer, id.
    Or takes one reply with --reply.
    """

    reply: str | None = None
    """One reply, instead of standard input."""
    options: tuple[str, ...] = ()
    """Of a multiple choice, in the order shown. Where a line brings its own, that counts."""
    labels: tuple[str, ...] = ()
    """Labels an open answer can have."""
    question: str = ""
    """As asked; a reply that begins by repeating it is read behind it."""

    def run(self) -> Answer:
        """Read every line that can be read; name those that cannot."""
        from cosmolabe.core.answers import FINGERPRINT, VERSION

        given = {"options": self.options, "labels": self.labels, "question": self.question}
        found, bad = [], []
        for line, row in self._rows():
            try:
                if isinstance(row, ValueError):
                    raise row
                found.append({"line": line, **parsed_row({**given, **row})})
            except ValueError as error:
                bad.append({"line": line, "why": str(error)})
        if not found:
            why = f"line {bad[0]['line']}: {bad[0]['why']}" if bad else "nothing came"
            raise ValueError(f"no reply on standard input could be read; {why}")
        data: dict[str, Any] = {
            "replies": found,
            "n": len(found),
            "statuses": dict(Counter(row["status"] for row in found)),
            "rules": dict(Counter(row["rule"] for row in found)),
            "bad": bad,
            "parser": VERSION,
            "fingerprint": FINGERPRINT,
        }
        if len(found) == 1 and not bad:
            data |= {name: found[0][name] for name in ("status", "label", "rule")}
        shown = [(row["line"], row["status"], row["label"], row["rule"]) for row in found]
        said = [f"line {row['line']}: {row['why']}" for row in bad]
        return Answer(data, [Table(("line", "status", "label", "rule"), shown), *said])

    def _rows(self) -> Iterator[tuple[int, "dict[str, Any] | ValueError"]]:
        if self.reply is not None:
            yield 1, {"reply": self.reply}
            return
        yield from rows_of(sys.stdin.buffer.read())


def rows_of(content: bytes) -> Iterator[tuple[int, "dict[str, Any] | ValueError"]]:
    """The objects of one JSON value or of JSON lines, with the line each is on, or what is wrong.

    An object of its own may stretch over lines; a list is its items, numbered from 1.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip():
                yield number, _object_of(line)
        return
    for number, row in enumerate(whole if isinstance(whole, list) else [whole], 1):
        yield number, row if isinstance(row, dict) else _no_object(row)


def parsed_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Status, label and rule of one object; also whether it is right, where it has an answer."""
    from cosmolabe.core.answers import not_answered, parse
    from cosmolabe.metrics.exact_match import exact_match

    if "reply" not in row:
        raise ValueError("no 'reply'")
    reply, status = row["reply"], row.get("status", "ok")
    if not isinstance(reply, (str, type(None))):
        raise ValueError(f"'reply' is text or null; got {str(reply)[:60]!r}")
    if status not in ("ok", *FAILED):
        raise ValueError(f"'status' is ok or one of {list(FAILED)}; got {str(status)[:60]!r}")
    answer = row.get("answer")
    if answer is not None and (not isinstance(answer, (str, int)) or isinstance(answer, bool)):
        raise ValueError(f"'answer' is a label; got {str(answer)[:60]!r}")
    space = _space_of(row)
    if reply is None or status in FAILED:
        found = not_answered(status if status in FAILED else "error")
    else:
        found = parse(reply, space)
    told: dict[str, Any] = {"status": found.status, "label": found.label, "rule": found.rule}
    if isinstance(row.get("id"), (str, int)):
        told = {"id": row["id"], **told}
    if answer is not None:
        told["right"] = bool(exact_match([found.label], [str(answer)])[0])
        told["strict"] = reply == str(answer)
    return told


def _space_of(row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - core.answers.AnswerSpace
    """The answers a row's question can have; `question` may be text or a row of questions.jsonl."""
    from cosmolabe.core.answers import AnswerSpace
    from cosmolabe.core.question import FORMATS

    question = row.get("question") or ""
    if isinstance(question, dict):
        row = {**row, **{k: question[k] for k in ("format", "options", "labels") if k in question}}
        question = question.get("text", "")
    options, labels = (_words(row, name) for name in ("options", "labels"))
    usual = "multiple_choice" if options else "open_ended" if labels else "binary"
    format, aliases = row.get("format") or usual, row.get("aliases") or {}
    if format not in FORMATS:
        raise ValueError(f"no format {format!r}; have {list(FORMATS)}")
    if not isinstance(question, str):
        raise ValueError(f"'question' is text or an object; got {str(question)[:60]!r}")
    if not isinstance(aliases, dict) or not all(isinstance(v, str) for v in aliases.values()):
        raise ValueError("'aliases' is an object: other name to label")
    if format == "binary":
        options = ()
    return AnswerSpace(format, labels, options, question, aliases)


def _words(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    words = row.get(name) or ()
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"'{name}' is a list of words; got {str(words)[:60]!r}")
    return tuple(words)


def _object_of(line: bytes) -> "dict[str, Any] | ValueError":
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return ValueError(f"not valid JSON ({error})")
    return row if isinstance(row, dict) else _no_object(row)


def _no_object(row: Any) -> ValueError:  # noqa: ANN401 - anything JSON can hold
    return ValueError(f"expected an object with a reply, got {str(row)[:60]!r}")


@dataclass(frozen=True, kw_only=True)
class VqaRescore(Verb):
    """Count a run's stored replies again, without a model and without changing a file.

    For after a change of the rules, or to see a run's cells. RUN holds questions.jsonl and
    replies.jsonl.
    """

    run_folder: Positional[Path]
    """Run folder."""
    model: str = ""
    """Whose replies, by model key or its start, where several models replied."""
    tie: str = "abstain"
    """Whom a tie of several votes goes to: abstain, first or logprob."""

    def run(self) -> Answer:
        """Read, count, tell."""
        from typing import get_args

        from cosmolabe.core.record import plain
        from cosmolabe.judges.vqa.rescore import rescore
        from cosmolabe.judges.vqa.votes import Tie

        if self.tie not in get_args(Tie):
            raise ValueError(f"no way of breaking ties '{self.tie}'; have {list(get_args(Tie))}")
        found = rescore(self.run_folder, self.model, self.tie)  # ty: ignore[invalid-argument-type]
        columns = (
            "task", "format", "label", "n", "em", "low", "high", "strict", "rouge", "balanced",
            "majority", "yes-rate", "read",
        )  # fmt: skip
        rows = [
            (
                c.task, c.format, c.label, c.n, c.em.value, c.em.low, c.em.high, c.strict.value,
                c.rouge.value, c.balanced.value, c.majority, c.yes_rate.value, c.coverage,
            )
            for c in found.cells
        ]  # fmt: skip
        counts = ", ".join(f"{k} {n}" for k, n in sorted(found.statuses.items()))
        rules = ", ".join(f"{k} {n}" for k, n in sorted(found.rules.items()))
        said = [f"replies: {counts}", f"decided by: {rules}"]
        odd = {
            "questions without a reply": found.not_asked,
            "replies to unknown questions": found.strangers,
            "torn lines": found.torn,
            "answered twice": found.duplicates,
            "of them differently": found.conflicts,
        }
        said += [f"{what}: {n}" for what, n in odd.items() if n]
        return Answer({"run": self.run_folder, **plain(found)}, [Table(columns, rows), *said])
