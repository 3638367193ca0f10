"""Everything a run says, computed again from its stored replies, without a model."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.core.answers import FINGERPRINT, VERSION, AnswerSpace, Parsed, not_answered, parse
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import Question
from cosmolabe.core.reading import Reading
from cosmolabe.data.questions import read_questions
from cosmolabe.judges.vqa.cells import Answered, Cell, Confusion, cells, confusions, readings
from cosmolabe.judges.vqa.replies import Replies, Reply
from cosmolabe.judges.vqa.votes import Tie, tally


@dataclass(frozen=True)
class Rescored:
    """A run read again."""

    model: str
    readings: list[Reading]
    cells: list[Cell]
    confusions: list[Confusion]
    statuses: Mapping[str, int]
    rules: Mapping[str, int]
    not_asked: int
    """Questions without any reply; wrong, and counted as errors."""
    strangers: int
    """Replies to questions that are not in the run's list; left out."""
    torn: int
    duplicates: int
    conflicts: int
    parser: str = VERSION
    fingerprint: str = FINGERPRINT


def rescore(folder: Path | str, model: str = "", tie: Tie = "abstain") -> Rescored:
    """Read questions.jsonl and replies.jsonl of a run folder and count them.

    `model` names whose replies (its key, or the start of it) where several models replied.

    Raises:
        ValueError: A file is missing, a question does not fit, or it is not clear whose replies
            are meant; says which.
    """
    questions = read_questions(folder)
    replies = Replies(folder)
    if not replies.path.is_file():
        raise ValueError(f"no file {replies.path}; a run that asked a model has one")
    model = _whose(replies, model)
    by_question = replies.of_question(model)
    answered = [answer_of(one, by_question.get(one.id, ()), tie) for one in questions]
    table = cells(answered)
    known = {question.id for question in questions}
    return Rescored(
        model,
        readings(table, FINGERPRINT, fingerprint(questions), model),
        table,
        confusions(answered),
        dict(Counter(one.parsed.status for one in answered)),
        dict(Counter(one.parsed.rule for one in answered)),
        not_asked=sum(question.id not in by_question for question in questions),
        strangers=sum(reply.question not in known for reply in replies.all),
        torn=len(replies.torn),
        duplicates=len(replies.duplicates),
        conflicts=len(replies.conflicts),
    )


def _whose(replies: Replies, model: str) -> str:
    """The one model key that is meant."""
    meant = [key for key in replies.models() if key.startswith(model)]
    if len(meant) != 1:
        raise ValueError(
            f"{replies.path} holds replies of {replies.models() or 'no model'}; "
            f"name one of them, got {model!r}"
        )
    return meant[0]


def answer_of(question: Question, replies: Sequence[Reply], tie: Tie = "abstain") -> Answered:
    """What the replies to a question come to: one is read, several vote."""
    if not replies:
        return Answered(question, not_answered("error"))
    read = [read_reply(question, reply) for reply in replies]
    counted = tally([parsed for parsed, _ in read], tie, _logprobs(read))
    chances = [p for parsed, p in read if parsed.label == counted.parsed.label]
    single = len(replies) == 1
    return Answered(
        question,
        counted.parsed,
        replies[0].reply if single else None,
        chances[0] if single and chances else math.nan,
        math.nan if single else counted.agreement,
    )


def read_reply(question: Question, reply: Reply) -> tuple[Parsed, float]:
    """What one reply says, and how probable it was where labels were scored (else NaN)."""
    if reply.status != "ok":
        return not_answered(reply.status), math.nan
    if reply.scores is not None:
        return _likeliest(question, reply.scores)
    if reply.options:
        if sorted(reply.options) != sorted(question.options):
            raise ValueError(
                f"reply {reply.key} was given other options than question {question.id} has: "
                f"{list(reply.options)[:20]}"
            )
        space = AnswerSpace(question.format, question.labels, reply.options, question.text)
        return parse(reply.reply or "", space), math.nan
    return parse(reply.reply or "", question), math.nan


def _likeliest(question: Question, scores: Mapping[str, float]) -> tuple[Parsed, float]:
    """The label of highest log-probability; a label's probability is among the labels scored."""
    told = ((label, scores.get(label, math.nan)) for label in question.labels)
    mine = {label: p for label, p in told if math.isfinite(p)}
    if not mine:
        return Parsed("error", None, "likelihood"), math.nan
    best = max(mine, key=lambda label: mine[label])
    total = sum(math.exp(p - mine[best]) for p in mine.values())
    return Parsed("ok", best, "likelihood"), 1.0 / total


def _logprobs(read: Sequence[tuple[Parsed, float]]) -> list[float] | None:
    if any(math.isnan(p) for _, p in read):
        return None
    return [math.log(p) for _, p in read]
