"""Which of a question's answers a reply gives, by rules in a fixed order, or that it gives none."""

import re
from collections.abc import Iterator
from functools import lru_cache

from cosmolabe.core.answers.cues import (
    AFTER,
    ALSO,
    BOXED,
    CJK,
    CLOSES,
    COMMA,
    CUE,
    FILLER,
    GOES_ON,
    IDIOM,
    LETTER_BEFORE,
    LINK,
    LONGEST,
    NEAR,
    NOT_BEFORE,
    REFUSAL,
    SCORED,
    STOP,
    TAGGED,
    TEX,
    THOUGHT,
    TITLE,
    TOKEN,
    WORDS_THEMSELVES,
)
from cosmolabe.core.answers.folding import canonical, folded, loosened
from cosmolabe.core.answers.space import AnswerSpace, Parsed, Status
from cosmolabe.core.question import Question

NEXT_WORD = re.compile(r"\s+\w")
GOES_BEFORE = re.compile(r"\w$|\d[.,]$|[^\W\d_]-$")
SIGN_BEFORE = re.compile(r"(?:^|[^\w\s]|\s)-$")
GOES_BEHIND = re.compile(rf"(?![{CJK}])\w|[.,]\d|['-][^\W\d_]")


def parse(reply: str, question: Question | AnswerSpace) -> Parsed:
    """What a reply says: a label of the question and the rule that found it, or why there is none.

    Labels that read alike, or like another option's letter, are refused by name.
    """
    space = _space_of(question) if isinstance(question, Question) else question
    text = _answered_part(reply)
    if text is None:
        return Parsed("unparsed", None, "unfinished")
    if len(text) > LONGEST:
        return Parsed("unparsed", None, "too_long")
    text = _behind(text, space)
    if not canonical(text):
        return Parsed("empty", None, "empty")
    lines = [found for line in text.split("\n") if (found := loosened(line))]
    read = _Reply(canonical(text), lines, " ".join(lines), space)
    return read.binary() if space.format == "binary" else read.choice()


class _Reply:
    """One reply laid out for the rules."""

    def __init__(self, whole: str, lines: list[str], flat: str, space: AnswerSpace) -> None:
        self.whole, self.lines, self.flat, self.space = whole, lines, flat, space

    def choice(self) -> Parsed:
        """Multiple choice and open ended; an open question has no letters."""
        found = self.by_letter_alone() or self.by_text() or self.by_letter_and_text()
        found = found or self.declared() or self.by_line()
        return found or self.refused() or self.mentioned() or _none()

    def binary(self) -> Parsed:
        """The first word, unless it is taken back; else a declaration, else a line of its own."""
        first = self.by_text() or self.first_word()
        if first and first.status != "ok":
            return first
        later = self.declared() or self.by_line()
        if first and later and later.status == "ok" and later.label != first.label:
            return _none("contradiction")
        return first or later or self.refused() or _none()

    def by_letter_alone(self) -> Parsed | None:
        """B, (B), **b.**, Option B."""
        return self._ok(self._letter_of(self.whole), "letter")

    def by_text(self) -> Parsed | None:
        """The whole reply is a label, or another name of one."""
        label = self.space.by_name.get(self.whole)
        own = label is not None and canonical(label) == self.whole
        return self._ok(label, "text" if own else "alias")

    def by_letter_and_text(self) -> Parsed | None:
        """B) evading, B. Because ..: unless other options follow or something else is declared."""
        led = self._led(self.flat)
        if led is None:
            return None
        label, rest = led
        said = self._target(self.flat, rest, letters=False)
        if said and said[0] != {label}:
            other = self._others(label)
            return None if other else _none("contradiction")
        declared = self.declared()
        if self._others(label) or (declared and declared.label != label):
            return None
        return self._ok(label, "letter_and_text")

    def first_word(self) -> Parsed | None:
        """Yes or no, or another word for it, before anything else."""
        start = _first(self.flat)
        said = self._target(self.flat, start)
        if said is None or IDIOM.match(self.flat, start):
            return None
        if SCORED.match(self.flat, said[1]):
            named = {label for _, labels in self._mentions() for label in labels}
            if named - said[0]:
                return _none("several")  # {"yes": 0.1, "no": 0.9}
        return self._decided(said, "first_word")

    def declared(self) -> Parsed | None:
        """The last of "the answer is X", "X is correct"; one that names two says nothing."""
        last: tuple[int, Parsed] | None = None
        for start, said in self._declarations():
            if last is None or start >= last[0]:
                last = start, self._decided(said, "declared")
        return last[1] if last else None

    def by_line(self) -> Parsed | None:
        """A line that is nothing but an answer, where all such lines agree."""
        if len(self.lines) < 2:
            return None
        said = {label for line in self.lines if (label := self._alone(line))}
        return self._ok(said.pop(), "line") if len(said) == 1 else None

    def refused(self) -> Parsed | None:
        """Declines to answer."""
        return Parsed("refused", None, "refusal") if REFUSAL.search(self.flat) else None

    def mentioned(self) -> Parsed | None:
        """Exactly one label is named anywhere, as whole words and not denied."""
        said: set[str] = set()
        for start, labels in self._mentions():
            if self._denied(start):
                return _none("denied")
            said |= labels
        if len(said) > 1:
            return _none("several")
        return self._ok(said.pop(), "mention") if said else None

    def _denied(self, at: int) -> bool:
        return NOT_BEFORE.search(self.flat[max(0, at - NEAR) : at]) is not None

    def _ok(self, label: str | None, rule: str) -> Parsed | None:
        return None if label is None else Parsed("ok", label, rule)

    def _letter_of(self, text: str) -> str | None:
        """The option of a text that is one letter, with brackets or "option" before it."""
        bare = canonical(text)
        titled = TITLE.match(bare)
        return self.space.by_letter.get(canonical(bare[titled.end() :]) if titled else bare)

    def _alone(self, line: str) -> str | None:
        """What a line says that says nothing else: letter, text, or letter and its own text."""
        bare = canonical(line)
        label = self._letter_of(bare) or self.space.by_name.get(bare)
        if label is None and (led := self._led(line)):
            same = canonical(line[led[1] :]) in ("", canonical(led[0]))
            label = led[0] if same else None
        return label

    def _led(self, text: str) -> tuple[str, int] | None:
        """Option and end of a letter that opens a text and is set off from what follows."""
        found = re.match(
            r"(?:option\s+)?[(\[{]?\s*([a-z]{1,2})(?:\s*[)\]}][.:]?|[.:](?=\s|$)|\s+-(?=\s))\s*",
            text[(start := _first(text, keep="([{")) :],
        )
        label = self.space.by_letter.get(found[1]) if found else None
        return None if found is None or label is None else (label, start + found.end())

    def _others(self, label: str) -> bool:
        """Whether other options are listed: B) or (B) for another than `label`."""
        marks = re.findall(r"(?<!\w)([a-z]{1,2})\s*\)", self.flat)
        marks += re.findall(r"(?<!\w)([a-z]{1,2})[.:](?:\s|$)", self.flat)
        return any(self.space.by_letter.get(mark, label) != label for mark in marks)

    def _declarations(self) -> Iterator[tuple[int, "_Said"]]:
        for cue in re.finditer(f"(?:{CUE}){LINK}", self.flat):
            if said := self._target(self.flat, cue.end()):
                yield cue.start(), said
        for found in AFTER.finditer(self.flat):
            for start, labels in self._before(found.start()):
                if not self._denied(start):
                    yield start, (labels, found.end(), False)

    def _before(self, end: int) -> Iterator[tuple[int, set[str]]]:
        """What ends at a place: a letter, and the longest name."""
        marked = LETTER_BEFORE.search(self.flat, max(0, end - 5), end)
        if marked and marked[1] in self.space.by_letter:
            yield marked.start(), {self.space.by_letter[marked[1]]}
        if self.space.format == "binary":
            return
        for length in self.space.lengths:
            start = end - length
            labels = self.space.spans.get(self.flat[start:end]) if start >= 0 else None
            if labels and _begins(self.flat, start):
                yield start, labels
                return

    def _target(self, text: str, at: int, letters: bool = True) -> "_Said | None":
        """The labels that stand at a place, behind words that say nothing, and where they end."""
        at = _first(text, at, keep="([{-")
        for _ in range(4):
            said = self._name_at(text, at) or (self._letter_at(text, at) if letters else None)
            if said:
                return said
            if not (filler := FILLER.match(text, at)):
                return None
            at = _first(text, filler.end(), keep="([{-")
        return None

    def _name_at(self, text: str, at: int) -> "_Said | None":
        at = _first(text, at, keep="-")
        for length in self.space.lengths:
            end = at + length
            labels = self.space.spans.get(text[at:end]) if end <= len(text) else None
            if labels and _ends(text, end):
                return labels, end, False
        return None

    def _letter_at(self, text: str, at: int) -> "_Said | None":
        found = re.compile(r"([(\[{]?)\s*([a-z]{1,2})\s*([)\]}]?)").match(text, at)
        if not found or found[2] not in self.space.by_letter:
            return None
        end = found.end() if found[3] else found.end(2)
        if not found[3] and not _ends(text, end):
            return None
        bare = not found[1] and not found[3] and found[2] in WORDS_THEMSELVES
        if bare and NEXT_WORD.match(text, end) and not GOES_ON.match(text, end):
            return None  # "a man jumps", "I think"
        return {self.space.by_letter[found[2]]}, end, True

    def _decided(self, said: "_Said", rule: str) -> Parsed:
        """One label, unless another follows in the same breath."""
        labels, end, by_letter = said
        if len(labels) > 1:
            return _none("several")
        if also := ALSO.match(self.flat, end):
            more = self._target(self.flat, also.end())
            if more and more[0] != labels:
                return _none("several")
        apart = STOP if self.space.format == "binary" else COMMA
        if comma := apart.match(self.flat, end):
            more = self._target(self.flat, comma.end())
            closes = more and CLOSES.match(self.flat, more[1])
            if more and closes and more[0] != labels:
                return _none("several")
        if by_letter:
            behind = re.compile(r"\s*[).:\-\]]*\s*").match(self.flat, end)
            text = self._name_at(self.flat, behind.end()) if behind else None
            if text and text[0] != labels:
                return _none("contradiction")
        return Parsed("ok", next(iter(labels)), rule)

    def _mentions(self) -> Iterator[tuple[int, set[str]]]:
        """Where labels are named; a longer name hides the shorter ones in it."""
        free, spans = self.flat, self.space.spans
        begins = {name[0] for name in spans}
        places = [at for at, first in enumerate(free) if first in begins and _begins(free, at)]
        hidden = bytearray(len(free) + 2)  # one to each side of the text is never hidden
        for length in self.space.lengths:
            for at in places:
                end = at + length
                labels = spans.get(free[at:end]) if end <= len(free) else None
                if labels and not any(hidden[at : end + 2]) and _ends(free, end):
                    hidden[at + 1 : end + 1] = b"\x01" * length
                    yield at, labels


_Said = tuple[set[str], int, bool]
"""Labels, where they end, whether it was a letter."""


def _none(rule: str = "none") -> Parsed:
    status: Status = "unparsed"
    return Parsed(status, None, rule)


@lru_cache(maxsize=4096)
def _cached(format: str, labels: tuple, options: tuple, text: str) -> AnswerSpace:
    return AnswerSpace(format, labels, options, text)  # ty: ignore[invalid-argument-type]


def _space_of(question: Question) -> AnswerSpace:
    return _cached(question.format, question.labels, question.options, question.text)


def _answered_part(reply: str) -> str | None:
    """Without thoughts and special tokens; None where the reply ends inside a thought."""
    text = _said_aloud(reply)
    if text is None:
        return None
    text = BOXED.sub(r" answer: \1 . ", TEX.sub(r"\1", TOKEN.sub(" ", text)))
    return TAGGED.sub(r" answer: \1 . ", text) if TAGGED.search(text) else text


def _said_aloud(reply: str) -> str | None:
    """What is no thought; None where the reply ends inside one.

    An end without a beginning ends a thought that began with the reply.
    """
    kept: list[str] = []
    place, thinks = 0, False
    for tag in THOUGHT.finditer(reply):
        if not tag[1]:
            if not thinks:
                kept.append(reply[place : tag.start()])
            thinks = True
            continue
        if not thinks:
            kept.clear()
        kept.append("\n")
        place, thinks = tag.end(), False
    return None if thinks else "".join([*kept, reply[place:]])


def _behind(text: str, space: AnswerSpace) -> str:
    """Without the question, where the reply begins by repeating it."""
    start = folded(text)
    if not space.asked or not start.startswith(space.asked) or start == space.asked:
        return text
    said, place = "", 0
    while len(said) < len(space.asked):  # line by line, as far as the question can reach
        end = text.find("\n", place) + 1
        if not end:
            break
        said, place = folded(f"{said}\n{text[place:end]}"), end
        if said == space.asked:
            return text[place:]
    return start[len(space.asked) :]


def _first(text: str, at: int = 0, keep: str = "") -> int:
    """The first place from `at` that is part of a word, or one of `keep`."""
    while at < len(text) and not (text[at].isalnum() or text[at] in keep):
        at += 1
    return at


def _begins(text: str, at: int) -> bool:
    """Whether a word may begin here: 3 is no part of 13, 0.3 or -3, nor jumping of non-jumping."""
    near = text[max(0, at - 2) : at]
    signed = text[at : at + 1].isdigit() and SIGN_BEFORE.search(near)
    return not (GOES_BEFORE.search(near) or signed)


def _ends(text: str, at: int) -> bool:
    """Whether a word may end here: no-one, 3.5 and eyes go on."""
    return not GOES_BEHIND.match(text, at)
