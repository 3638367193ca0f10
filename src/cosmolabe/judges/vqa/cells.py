"""Answered questions counted: a cell for each task, format and true label, and who says what."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from cosmolabe.core.answers import STATUSES, Parsed, canonical
from cosmolabe.core.bootstrap import RESAMPLES, interval, resamples, weighted_mean
from cosmolabe.core.proportion import wilson
from cosmolabe.core.question import YES, Question
from cosmolabe.core.reading import Reading
from cosmolabe.metrics.balanced_accuracy import balanced_accuracy
from cosmolabe.metrics.exact_match import exact_match
from cosmolabe.metrics.expected_calibration_error import expected_calibration_error
from cosmolabe.metrics.rouge_n import PAPER_N, rouge_n
from cosmolabe.metrics.strict_exact_match import strict_exact_match
from cosmolabe.metrics.yes_rate import yes_rate

NAN = math.nan
AT_ONCE = 250  # resamples held at a time: 8 bytes · items each


@dataclass(frozen=True)
class Answered:
    """A question and what was read in the reply to it."""

    question: Question
    parsed: Parsed
    reply: str | None = None
    """Raw; None where labels were scored, and the label stands for it."""
    probability: float = NAN
    """Of the label given, where labels were scored."""
    agreement: float = NAN
    """Share of the votes that gave it, where there were several."""


@dataclass(frozen=True)
class Share:
    """A mean and its 95 % interval by clips; NaN where it is not defined."""

    value: float = NAN
    low: float = NAN
    high: float = NAN


@dataclass(frozen=True)
class Cell:
    """Everything counted of one task and format, or of one true label in it.

    What could not be read is a wrong answer everywhere but in `yes_rate`.
    """

    task: str
    format: str
    label: str
    """Empty for all labels together."""
    n: int
    clips: int
    em: Share
    """Canonical exact match of what was read."""
    wilson: tuple[float, float]
    """Of `em`, taking questions as independent: for cells with one question a clip."""
    strict: Share
    """Exact match of the raw reply."""
    rouge: Share
    """ROUGE-F1 at the paper's n, or the longest run there is."""
    balanced: Share
    majority: float
    """What always giving the commonest true answer would score."""
    yes_rate: Share
    ece: float
    coverage: float
    """Share of replies that could be read."""
    agreement: float
    """Mean share of votes for the answer given, where questions were asked more than once."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)
    """How many replies each rule decided."""


@dataclass(frozen=True)
class Confusion:
    """Who was taken for whom in one task and format."""

    task: str
    format: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    """The labels, then every status but ok."""
    counts: Int[np.ndarray, "label column"]
    """By true answer and what was said."""


def cells(answered: Sequence[Answered], num: int = RESAMPLES, seed: int = 0) -> list[Cell]:
    """A cell for each task and format, followed by one for each true answer in it."""
    table = []
    for (task, format), mine in _grouped(answered).items():
        table.append(_cell(task, format, "", mine, num, seed))
        by_label: dict[str, list[Answered]] = {}
        for one in mine:
            by_label.setdefault(one.question.answer, []).append(one)
        for label in sorted(by_label):
            table.append(_cell(task, format, label, by_label[label], num, seed))
    return table


def confusions(answered: Sequence[Answered]) -> list[Confusion]:
    """A confusion matrix for each task and format."""
    found = []
    for (task, format), mine in _grouped(answered).items():
        labels = tuple(sorted({label for one in mine for label in one.question.labels}))
        columns = (*labels, *(status for status in STATUSES if status != "ok"))
        row, column = ({name: n for n, name in enumerate(side)} for side in (labels, columns))
        counts = np.zeros((len(labels), len(columns)), np.int64)
        for one in mine:
            said = one.parsed.label if one.parsed.label is not None else one.parsed.status
            counts[row[one.question.answer], column[said]] += 1
        found.append(Confusion(task, format, labels, columns, counts))
    return found


def readings(
    table: Iterable[Cell], protocol: str = "", data: str = "", model: str = ""
) -> list[Reading]:
    """The cells of whole tasks as readings, named task.format.measure."""
    rows = []
    for cell in table:
        if cell.label:
            continue
        skipped = cell.n - cell.statuses.get("ok", 0)
        for name, share in _measures(cell).items():
            higher = name not in ("yes_rate", "expected_calibration_error")
            direction = "lower" if name.startswith("expected") else "higher" if higher else "none"
            rows.append(
                Reading(
                    "vqa", f"{cell.task}.{cell.format}.{name}", share.value, "share", direction,
                    share.low, share.high, n=cell.n, skipped=skipped, protocol=protocol,
                    data=data, model=model,
                    floor=cell.majority if name == "exact_match" else NAN,
                )
            )  # fmt: skip
    return rows


def _measures(cell: Cell) -> dict[str, Share]:
    named = {
        "exact_match": cell.em,
        "strict_exact_match": cell.strict,
        "rouge": cell.rouge,
        "balanced_accuracy": cell.balanced,
        "coverage": Share(cell.coverage),
    }
    if cell.format == "binary":
        named["yes_rate"] = cell.yes_rate
    if not math.isnan(cell.ece):
        named["expected_calibration_error"] = Share(cell.ece)
    return named


def _grouped(answered: Iterable[Answered]) -> dict[tuple[str, str], list[Answered]]:
    found: dict[tuple[str, str], list[Answered]] = {}
    for one in answered:
        found.setdefault((one.question.task, one.question.format), []).append(one)
    return dict(sorted(found.items()))


def _cell(task: str, format: str, label: str, mine: list[Answered], num: int, seed: int) -> Cell:
    truth = [one.question.answer for one in mine]
    said = [one.parsed.label for one in mine]
    raw = [one.reply if one.reply is not None else one.parsed.label for one in mine]
    clips = np.array([one.question.clip for one in mine])
    right = exact_match(said, truth)
    _, place = np.unique(truth, return_inverse=True)
    kinds, hits = np.asarray(place.reshape(-1), np.int64), right.astype(bool)
    strict, rouge = strict_exact_match(raw, truth), rouge_n(raw, truth, PAPER_N[format])
    read = np.array([label is not None for label in said])
    yes = np.array([label is not None and canonical(label) == YES for label in said])
    shares = _shares(clips, num, seed, {
        "em": lambda w: weighted_mean(right, w),
        "strict": lambda w: weighted_mean(strict, w),
        "rouge": lambda w: weighted_mean(rouge, w),
        **({} if label else {"balanced": lambda w: balanced_accuracy(hits, kinds, w)}),
        **({"yes_rate": lambda w: yes_rate(yes, read, w)} if format == "binary" else {}),
    })  # fmt: skip
    chance = np.array([one.probability for one in mine])
    votes = np.array([one.agreement for one in mine])
    return Cell(
        task, format, label, len(mine), len(set(clips)),
        em=shares["em"], wilson=wilson(float(right.sum()), float(len(mine))),
        strict=shares["strict"], rouge=shares["rouge"], balanced=shares.get("balanced", Share()),
        majority=NAN if label else max(Counter(truth).values()) / len(mine),
        yes_rate=shares.get("yes_rate", Share()),
        ece=float(expected_calibration_error(chance, hits)),
        coverage=float(read.mean()),
        agreement=float(np.nanmean(votes)) if np.isfinite(votes).any() else NAN,
        statuses=dict(Counter(one.parsed.status for one in mine)),
        rules=dict(Counter(one.parsed.rule for one in mine)),
    )  # fmt: skip


def _shares(
    clips: np.ndarray,
    num: int,
    seed: int,
    measures: Mapping[str, Callable[[Float[np.ndarray, "resample item"]], np.ndarray]],
) -> dict[str, Share]:
    """Each measure on all items, and its interval over clips drawn again."""
    once = np.ones((1, len(clips)))
    value = {name: float(measure(once)[0]) for name, measure in measures.items()}
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in measures}
    for start in range(0, num, AT_ONCE):
        weights = resamples(clips, min(AT_ONCE, num - start), seed + start)
        for name, measure in measures.items():
            drawn[name].append(measure(weights))
    ends = {name: interval(np.concatenate(parts)) for name, parts in drawn.items() if parts}
    return {
        name: Share(value[name], *(map(float, ends[name]) if name in ends else ()))
        for name in measures
    }
