"""How well a model answers questions whose answers are known: one row a question and control.

    rows = evaluate(vlm, clips, questions, "uniform:8")
    summary(rows), position_bias(rows)

By default the likeliest label of the closed set is the answer (whole labels, end included), and the
controls run along: grey pictures, shuffled ones, one picture alone, options in other orders.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from cosmolabe.core.answers import Parsed, canonical
from cosmolabe.core.proportion import effective_number, wilson
from cosmolabe.core.question import YES, AskedClip, Question
from cosmolabe.core.vlm import Vlm
from cosmolabe.data.clip_folder import by_name
from cosmolabe.data.frame_choice import FrameChoice, frame_choice
from cosmolabe.judges.vqa.asking import labels_of, rotated, shares_of, written
from cosmolabe.judges.vqa.protocol import VqaProtocol
from cosmolabe.judges.vqa.views import CONTROLS, view
from cosmolabe.metrics.expected_calibration_error import expected_calibration_error

ROTATED = "rotated"
EVERY = (*CONTROLS, ROTATED)
"""Of controls; the option orders are told apart as rotated:1, rotated:2 and so on."""
ROTATIONS = 3
"""Other option orders of a multiple choice at most; ours."""
CLIPS_AT_ONCE = 16
Mode = Literal["likelihood", "generate"]
See = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class Row:
    """One question as it was put, and what came back."""

    id: str
    clip: str
    task: str
    format: str
    control: str
    """Empty, blind, shuffled, single_frame, or rotated:1 and so on."""
    frames: str
    mode: str
    answer: str
    """The true one."""
    said: str | None
    """The label given; None where none could be read."""
    right: bool
    probability: float
    """Of `said` among the labels; NaN where the answer was written."""
    truth: float
    """Probability of the true label; NaN where the answer was written."""
    status: str = "ok"
    reply: str | None = None
    """As the model wrote it."""
    labels: tuple[str, ...] = ()
    """In the order shown, where they are."""
    logs: tuple[float, ...] = ()
    """Log p of each label as the whole answer, end included."""
    said_normalised: str | None = None
    """The likeliest by log p a token, which takes the favour from short labels."""
    right_normalised: bool | None = None
    place: int = -1
    """Of `said` among the options shown; -1 where there are none."""
    true_place: int = -1


@dataclass(frozen=True)
class _Put:
    """A question in the form in which it is asked."""

    question: Question
    control: str

    @property
    def shown(self) -> str:
        """What is shown: other option orders see the clip as it is."""
        return "" if self.control.startswith(ROTATED) else self.control


def evaluate(
    vlm: Vlm,
    clips: Iterable[AskedClip] | Mapping[str, AskedClip],
    questions: Sequence[Question],
    frames: str | FrameChoice = "uniform:8",
    mode: Mode = "likelihood",
    *,
    controls: Sequence[str] = EVERY,
    rotations: int = ROTATIONS,
    see: See | None = None,
    batch: int = 64,
) -> list[Row]:
    """Rows of all questions as they are, then of all under each control.

    `see` stands in for `vlm.see` where features are kept; a clip's pictures are looked at once for
    all its questions and option orders. Neither `batch` nor the order of clips and questions
    changes an answer.

    Raises:
        ValueError: A question's clip is not there; an unknown control or mode.
    """
    by_id = by_name(clips)
    strange = sorted(set(controls) - set(EVERY))
    if strange or mode not in ("likelihood", "generate"):
        raise ValueError(
            f"controls are some of {list(EVERY)} and mode likelihood or generate; got "
            f"{strange or mode!r}"
        )
    lost = sorted({q.clip for q in questions} - set(by_id))
    if lost:
        raise ValueError(f"questions about clips that are not there: {lost[:3]}")
    put = list(_forms(questions, controls, rotations))
    told: dict[int, Row] = {}
    choice = frame_choice(frames)
    for some in _by_sight(put, choice.count):
        _answer(vlm, by_id, [(n, put[n]) for n in some], choice, mode, see or vlm.see, batch, told)
    return [told[number] for number in range(len(put))]


def _forms(
    questions: Sequence[Question], controls: Sequence[str], rotations: int
) -> Iterable[_Put]:
    yield from (_Put(one, "") for one in questions)
    for control in controls:
        if control != ROTATED:
            yield from (_Put(one, control) for one in questions)
            continue
        for by in range(1, rotations + 1):
            mine = [one for one in questions if by < len(one.options)]
            yield from (_Put(rotated(one, by), f"{ROTATED}:{by}") for one in mine)


def _by_sight(put: Sequence[_Put], frames: int) -> Iterable[list[int]]:
    """Numbers of what is put about so many clips as are looked at together; sorted by name."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(put):
        groups.setdefault((one.shown, one.question.clip), []).append(number)
    names = sorted(groups)
    for start in range(0, len(names), CLIPS_AT_ONCE):
        mine = [number for name in names[start : start + CLIPS_AT_ONCE] for number in groups[name]]
        yield sorted(mine, key=lambda n: (put[n].shown, put[n].question.id, put[n].control))


def _answer(
    vlm: Vlm,
    clips: Mapping[str, AskedClip],
    put: Sequence[tuple[int, _Put]],
    choice: FrameChoice,
    mode: Mode,
    see: See,
    batch: int,
    told: dict[int, Row],
) -> None:
    wanted = list(dict.fromkeys((one.shown, one.question.clip) for _, one in put))
    protocol = VqaProtocol(frames=choice.count, sampler=choice.sampler)
    pictures = [
        view(clips[name].frames, protocol, shown, 0, name)  # ty: ignore[invalid-argument-type]
        for shown, name in wanted
    ]
    seen = dict(zip(wanted, see(pictures), strict=True))
    for start in range(0, len(put), batch):
        part = put[start : start + batch]
        sights = [seen[one.shown, one.question.clip] for _, one in part]
        asked = [one.question for _, one in part]
        if mode == "generate":
            made = [
                _written(one, str(choice), *told_of)
                for (_, one), told_of in zip(part, written(vlm, sights, asked), strict=True)
            ]
        else:
            prompts = [one.text for one in asked]
            logs = vlm.likelihood(sights, prompts, [labels_of(one) for one in asked])
            made = [
                _likeliest(vlm, one, str(choice), row)
                for (_, one), row in zip(part, logs, strict=True)
            ]
        told.update(zip((number for number, _ in part), made, strict=True))


def _row(put: _Put, frames: str, mode: str, said: str | None, **more: Any) -> Row:  # noqa: ANN401
    one = put.question
    options = list(one.options)
    return Row(
        one.id, one.clip, one.task, one.format, put.control, frames, mode, one.answer, said,
        right=said is not None and canonical(said) == canonical(one.answer),
        place=options.index(said) if said in options else -1,
        true_place=options.index(one.answer) if options else -1,
        labels=labels_of(one),
        **more,
    )  # fmt: skip


def _written(put: _Put, frames: str, found: Parsed, reply: str | None) -> Row:
    return _row(
        put, frames, "generate", found.label, probability=math.nan, truth=math.nan,
        status=found.status, reply=reply,
    )  # fmt: skip


def _likeliest(vlm: Vlm, put: _Put, frames: str, logs: Float[np.ndarray, " label"]) -> Row:
    labels = labels_of(put.question)
    shares = shares_of(logs)
    if shares is None:
        return _row(
            put, frames, "likelihood", None, probability=math.nan, truth=math.nan, status="error"
        )
    best = int(np.nanargmax(logs))
    normalised = _normalised(vlm, labels, logs)
    return _row(
        put, frames, "likelihood", labels[best],
        probability=float(shares[best]),
        truth=float(shares[labels.index(put.question.answer)]),
        logs=tuple(map(float, logs)),
        said_normalised=normalised,
        right_normalised=None if normalised is None else normalised == put.question.answer,
    )  # fmt: skip


def _normalised(vlm: Vlm, labels: Sequence[str], logs: np.ndarray) -> str | None:
    """The likeliest label by log p a token; None for a model that does not tell its tokens."""
    ids = getattr(vlm, "answer_ids", None)
    if ids is None:
        return None
    return labels[int((logs / np.array([len(ids(label)) for label in labels])).argmax())]


@dataclass(frozen=True)
class Score:
    """Rows of one control, task and format together."""

    control: str
    """`rotated` holds all other option orders."""
    task: str
    format: str
    n: int
    em: float
    low: float
    """95 %, Wilson's interval; questions about one clip count as the fewer they are worth."""
    high: float
    em_normalised: float
    """By log p a token; NaN where it was not measured."""
    majority: float
    """What the commonest true answer of each label set would score."""
    yes_rate: float
    """Of binary questions."""
    ece: float
    read: float
    """Share of questions that got a label."""


def summary(rows: Iterable[Row]) -> list[Score]:
    """A score for each control, task and format."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        control = row.control.partition(":")[0]
        groups.setdefault((control, row.task, row.format), []).append(row)
    return [_score(*key, mine) for key, mine in sorted(groups.items())]


def _score(control: str, task: str, form: str, rows: Sequence[Row]) -> Score:
    right = np.array([row.right for row in rows])
    n = len(rows)
    effective = effective_number(right.astype(float), np.array([row.clip for row in rows]))
    low, high = wilson(float(right.mean()) * effective, effective)
    told = [row.right_normalised for row in rows if row.right_normalised is not None]
    yes = [row.said is not None and canonical(row.said) == YES for row in rows]
    return Score(
        control, task, form, n, float(right.mean()), low, high,
        em_normalised=float(np.mean(told)) if told else math.nan,
        majority=majority(rows),
        yes_rate=float(np.mean(yes)) if form == "binary" else math.nan,
        ece=float(
            expected_calibration_error(np.array([row.probability for row in rows], float), right)
        ),
        read=float(np.mean([row.said is not None for row in rows])),
    )  # fmt: skip


def majority(rows: Iterable[Row]) -> float:
    """Share right of always giving the commonest true answer among questions of equal labels."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        counts.setdefault(tuple(sorted(row.labels)), Counter())[row.answer] += 1
    total = sum(sum(one.values()) for one in counts.values())
    return sum(max(one.values()) for one in counts.values()) / total if total else math.nan


@dataclass(frozen=True)
class PositionBias:
    """How far the place of an option decides, over all option orders asked."""

    n: int
    """Multiple choices, each order counted."""
    distance: float
    """Half the sum over places of |share chosen - share true|: 0 none, 1 all."""
    agreement: float
    """Share of questions given the same label in every order; NaN where one order was asked."""
    chosen: tuple[float, ...]
    """Share of answers by place."""
    true: tuple[float, ...]
    right: tuple[float, ...]
    """Share right where the true option stood in that place; NaN where it never did."""


def position_bias(rows: Iterable[Row]) -> PositionBias | None:
    """Of the multiple choices as they are and in other orders; None where there are none."""
    mine = [
        row
        for row in rows
        if row.true_place >= 0 and (not row.control or row.control.startswith(ROTATED))
    ]
    if not mine:
        return None
    places = 1 + max(max(row.place, row.true_place) for row in mine)
    chosen = np.bincount([r.place for r in mine if r.place >= 0], minlength=places) / len(mine)
    true = np.bincount([row.true_place for row in mine], minlength=places) / len(mine)
    right = [[row.right for row in mine if row.true_place == place] for place in range(places)]
    said: dict[str, list[str | None]] = {}
    for row in mine:
        said.setdefault(row.id, []).append(row.said)
    several = [len(set(labels)) == 1 for labels in said.values() if len(labels) > 1]
    return PositionBias(
        len(mine),
        float(np.abs(chosen - true).sum() / 2),
        float(np.mean(several)) if several else math.nan,
        tuple(chosen.tolist()),
        tuple(true.tolist()),
        tuple(float(np.mean(hits)) if hits else math.nan for hits in right),
    )
