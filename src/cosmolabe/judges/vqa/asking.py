"""Puts questions about clips to a model and reads its answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from cosmolabe.core.answers import Parsed, not_answered, parse
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.questions.wording import with_options
from cosmolabe.judges.vqa.cells import Answered
from cosmolabe.judges.vqa.protocol import VqaProtocol
from cosmolabe.judges.vqa.views import Control, view
from cosmolabe.judges.vqa.votes import tally

CLIPS_AT_ONCE = 16
QUESTIONS_AT_ONCE = 64
OFFSETS = (0, 1, -1, 2, -2)
"""Frames by which votes are moved along the clip, in the order of the votes."""


@dataclass(frozen=True)
class Said:
    """An answer, and how likely the model finds each label."""

    answered: Answered
    shares: Mapping[str, float]
    """Probability of each label; empty where the answer was written."""

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.answered.question

    @property
    def label(self) -> str | None:
        """The label given, or None."""
        return self.answered.parsed.label

    def share(self, label: str) -> float:
        """How far the model says `label`: its probability, or 0 and 1 where it was written."""
        return self.shares.get(label, 0.0) if self.shares else float(self.label == label)


def ask(
    vlm: Vlm,
    clips: Sequence[AskedClip],
    questions: Sequence[Question],
    protocol: VqaProtocol,
    control: Control = "",
    rotate: int = 0,
) -> list[Said]:
    """One answer to each question, in their order; each clip's pictures are looked at once.

    `rotate` shows the options of a multiple choice in an order moved on by so many places. A
    question about a clip that is not there is refused by name.
    """
    place = {clip.id: number for number, clip in enumerate(clips)}
    lacking = sorted({question.clip for question in questions} - set(place))
    if lacking:
        raise ValueError(f"questions about clips that are not there: {lacking[:3]}")
    rounds = [
        _once(vlm, clips, [place[one.clip] for one in asked], asked, protocol, control, offset)
        for asked, offset in _rounds(questions, protocol, rotate)
    ]
    return [
        _voted(question, [one[number] for one in rounds], protocol)
        for number, question in enumerate(questions)
    ]


def _rounds(
    questions: Sequence[Question], protocol: VqaProtocol, rotate: int
) -> Iterator[tuple[list[Question], int]]:
    """(questions as they are put, offset of the frames) of each vote."""
    for vote in range(protocol.votes.num):
        moved = rotate + (vote if protocol.votes.source == "option_orders" else 0)
        offset = OFFSETS[vote % len(OFFSETS)] if protocol.votes.source == "frame_offsets" else 0
        yield [rotated(one, moved) for one in questions], offset


def rotated(question: Question, by: int) -> Question:
    """The same multiple choice with its options moved on; any other question as it is."""
    count = len(question.options)
    if count < 2 or not by % count:
        return question
    options = question.options[by % count :] + question.options[: by % count]
    before = with_options(question.options)
    if before not in question.text:
        raise ValueError(f"question {question.id}: its text does not show its options as told")
    return replace(
        question, options=options, text=question.text.replace(before, with_options(options))
    )


def labels_of(question: Question) -> tuple[str, ...]:
    """What can be answered: the options where they are shown, else every label."""
    return question.options or question.labels


def _once(
    vlm: Vlm,
    clips: Sequence[AskedClip],
    places: Sequence[int],
    questions: Sequence[Question],
    protocol: VqaProtocol,
    control: Control,
    offset: int,
) -> list[tuple[Parsed, str | None, dict[str, float]]]:
    found: list[tuple[Parsed, str | None, dict[str, float]]] = [None] * len(questions)  # ty: ignore
    by_clip: dict[int, list[int]] = {}
    for number, clip in enumerate(places):
        by_clip.setdefault(clip, []).append(number)
    wanted = list(by_clip)
    for start in range(0, len(wanted), CLIPS_AT_ONCE):
        some = wanted[start : start + CLIPS_AT_ONCE]
        seen = vlm.see(
            [view(clips[one].frames, protocol, control, offset, clips[one].id) for one in some]
        )
        asked = [(number, seen[at]) for at, one in enumerate(some) for number in by_clip[one]]
        for first in range(0, len(asked), QUESTIONS_AT_ONCE):
            part = asked[first : first + QUESTIONS_AT_ONCE]
            numbers = [number for number, _ in part]
            told = _told(
                vlm, [sight for _, sight in part], [questions[n] for n in numbers], protocol
            )
            for number, one in zip(numbers, told, strict=True):
                found[number] = one
    return found


def _told(
    vlm: Vlm, seen: Sequence[Any], questions: Sequence[Question], protocol: VqaProtocol
) -> list[tuple[Parsed, str | None, dict[str, float]]]:
    if protocol.mode == "generate":
        return [(parsed, said, {}) for parsed, said in written(vlm, seen, questions)]
    prompts = [one.text for one in questions]
    logs = vlm.likelihood(seen, prompts, [labels_of(one) for one in questions])
    return [_likeliest(one, row) for one, row in zip(questions, logs, strict=True)]


def written(
    vlm: Vlm, seen: Sequence[Any], questions: Sequence[Question]
) -> list[tuple[Parsed, str | None]]:
    """What is read in each text that a model writes, and the text; None where no answer came.

    A model behind an address also says which calls failed, and what was declined.
    """
    prompts = [one.text for one in questions]
    told = getattr(vlm, "replies", None)
    if told is None:
        replies = vlm.generate(seen, prompts)
        return [(parse(said, one), said) for said, one in zip(replies, questions, strict=True)]
    return [
        (not_answered("error"), None)
        if reply.status == "error"
        else (Parsed("refused", None, "refusal"), reply.text)
        if reply.status == "refused"
        else (parse(reply.text, one), reply.text)
        for reply, one in zip(told(seen, prompts), questions, strict=True)
    ]


def shares_of(logs: Float[np.ndarray, " label"]) -> Float[np.ndarray, " label"] | None:
    """Probability of each label among those scored; None where none has a log p.

    A label without one (NaN: a served model never came near it) has probability 0.
    """
    known = np.where(np.isnan(logs), -np.inf, logs)
    if not np.isfinite(known).any():
        return None
    weights = np.exp(known - known.max())
    return weights / weights.sum()


def _likeliest(question: Question, logs: np.ndarray) -> tuple[Parsed, str | None, dict[str, float]]:
    labels, shares = labels_of(question), shares_of(logs)
    if shares is None:
        return not_answered("error"), None, {}
    told = dict(zip(labels, shares.tolist(), strict=True))
    return Parsed("ok", labels[int(np.nanargmax(logs))], "likelihood"), None, told


def _voted(
    question: Question,
    votes: Sequence[tuple[Parsed, str | None, dict[str, float]]],
    protocol: VqaProtocol,
) -> Said:
    logs = [
        float(np.log(max(shares.get(parsed.label or "", 0.0), 1e-300)))
        for parsed, _, shares in votes
    ]
    counted = tally([parsed for parsed, _, _ in votes], protocol.votes.tie, logs)
    shares = {
        label: float(np.mean([one.get(label, 0.0) for _, _, one in votes]))
        for label in (votes[0][2] or ())
    }
    label = counted.parsed.label
    answered = Answered(
        question,
        counted.parsed,
        votes[0][1] if len(votes) == 1 else None,
        shares.get(label, float("nan")) if label else float("nan"),
        counted.agreement if len(votes) > 1 else float("nan"),
    )
    return Said(answered, shares)
