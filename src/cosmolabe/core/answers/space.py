"""The answers a question can have, and what a reply was found to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from cosmolabe.core.answers.folding import canonical, folded, letter, loosened
from cosmolabe.core.question import NO, YES, Format, Question

Status = Literal["ok", "unparsed", "empty", "refused", "error", "missing_video", "tie"]
STATUSES: tuple[Status, ...] = (
    "ok", "unparsed", "empty", "refused", "error", "missing_video", "tie",
)  # fmt: skip
"""All but ok are wrong answers, counted each under its own name; `tie` is of several votes."""
SAYS_YES = ("yes", "yeah", "yep", "yup", "true", "ja", "oui", "sí", "да", "はい", "是", "예")
SAYS_NO = ("no", "nope", "nah", "false", "nein", "non", "нет", "いいえ", "否", "아니요")
ONLY_ALONE = {"y": YES, "n": NO}
"""Whole replies only: as a first word, the n of "n/a" is no answer."""
NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip


@dataclass(frozen=True)
class Parsed:
    """What a reply says."""

    status: Status
    label: str | None
    """One of the question's labels where the status is ok, else None."""
    rule: str
    """Which rule decided: also where it decided that nothing can be read."""


def not_answered(status: Status) -> Parsed:
    """Where there is no reply to read: error or missing_video."""
    if status not in ("error", "missing_video"):
        raise ValueError(f"a question stays unanswered by error or missing_video; got {status!r}")
    return Parsed(status, None, "not_asked")


@dataclass(frozen=True)
class AnswerSpace:
    """Labels, options and their other names; names that cannot be told apart are refused."""

    format: Format
    labels: tuple[str, ...] = ()
    """The closed set; yes and no, or the options, where none is given."""
    options: tuple[str, ...] = ()
    """In the order shown; letters belong to places."""
    question: str = ""
    """As asked, so that a reply that repeats it is read behind it."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of labels."""

    def __post_init__(self) -> None:
        if not self.labels:
            given = (YES, NO) if self.format == "binary" else tuple(self.options)
            object.__setattr__(self, "labels", given)
        if self.format == "multiple_choice" and not self.options:
            raise ValueError("a multiple choice needs the options in the order shown")
        if not self.labels:
            raise ValueError("an open question needs the labels its answer can be")
        if self.format == "binary" and {canonical(label) for label in self.labels} != {YES, NO}:
            raise ValueError(f"a binary question is answered by yes or no; got {self.labels}")
        known = set(self.labels)
        unknown = [option for option in self.options if option not in known]
        if unknown and self.format == "multiple_choice":
            raise ValueError(f"options that are no labels: {unknown[:5]}; have {self.labels[:20]}")
        _ = self.by_name, self.by_letter  # refuses what cannot be told apart

    @classmethod
    def of(cls, question: Question, aliases: Mapping[str, str] | None = None) -> "AnswerSpace":
        """The answers a question can have."""
        return cls(question.format, question.labels, question.options, question.text, aliases or {})

    @cached_property
    def by_name(self) -> dict[str, str]:
        """Label by the canonical form of every name it has."""
        offered = self.options if self.format == "multiple_choice" else self.labels
        names: dict[str, str] = {}
        for label in offered:
            _add(names, label, label)
        known, shown = set(self.labels), set(offered)
        for name, label in self.aliases.items():
            if label not in known:
                have = list(self.labels[:20])
                raise ValueError(f"{name!r} is to mean {label!r}, which is none of {have}")
            if label in shown:
                _add(names, name, label)
        for name, label in self._usual(offered):
            names.setdefault(canonical(name), label)
        return names

    @cached_property
    def by_letter(self) -> dict[str, str]:
        """Option by its letter in small print; empty where no options are shown."""
        if self.format != "multiple_choice":
            return {}
        letters = {letter(n).casefold(): option for n, option in enumerate(self.options)}
        for name, label in self.by_name.items():
            if letters.get(name, label) != label:
                raise ValueError(
                    f"option {label!r} reads like the letter of option {letters[name]!r}"
                )
        return letters

    @cached_property
    def spans(self) -> dict[str, set[str]]:
        """Labels by each name as it would stand inside a longer text, longest first."""
        found: dict[str, set[str]] = {}
        for name, label in self.by_name.items():
            if name not in ONLY_ALONE or self.format != "binary":
                found.setdefault(loosened(name), set()).add(label)
        found.pop("", None)
        return dict(sorted(found.items(), key=lambda item: -len(item[0])))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How long the names of `spans` are, longest first: a name is looked up, not searched."""
        return tuple(sorted({len(name) for name in self.spans}, reverse=True))

    @cached_property
    def asked(self) -> str:
        """The question, folded."""
        return folded(self.question)

    def _usual(self, offered: Sequence[str]) -> list[tuple[str, str]]:
        """Names that need not be given: of yes and no, and of small numbers."""
        if self.format == "binary":
            label = {canonical(label): label for label in offered}
            yes, no = ((name, label[YES]) for name in SAYS_YES), ((n, label[NO]) for n in SAYS_NO)
            return [*yes, *no, *((name, label[said]) for name, said in ONLY_ALONE.items())]
        small = {str(n): word for n, word in enumerate(NUMBERS)}
        small |= {word: number for number, word in small.items()}
        return [(small[name], label) for label in offered if (name := canonical(label)) in small]


def _add(names: dict[str, str], name: str, label: str) -> None:
    key = canonical(name)
    if not key:
        raise ValueError(f"label {name!r} has nothing but punctuation, so no reply could say it")
    if names.setdefault(key, label) != label:
        raise ValueError(f"{name!r} and {names[key]!r} read alike ({key!r}); name one otherwise")
