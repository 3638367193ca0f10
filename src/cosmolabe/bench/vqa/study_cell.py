"""One cell of a study: a base is adapted by a recipe and answers the questions of a split.

What a cell found is kept in a folder of its own, named by everything that decides it; a cell that
is there is read, one that was interrupted goes on.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cosmolabe.bench.vqa.domain import Domain, draw
from cosmolabe.core.bootstrap import interval, resamples
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import AskedClip, Question
from cosmolabe.core.record import plain, read_json, read_jsonl, write_json, write_jsonl
from cosmolabe.core.vlm import Vlm
from cosmolabe.judges.vqa.evaluation import EVERY, Row, evaluate, position_bias, summary
from cosmolabe.nets.adaptation import Adaptation
from cosmolabe.nets.adapting import adapt
from cosmolabe.nets.vlm_features import Features

RESULT, ROWS = "result.json", "rows.jsonl"
RESAMPLES = 1000
MEMORY = 400 << 20  # bytes of features; the rest is read from disk
SCHEMA = 1
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Cell:
    """What is done."""

    name: str
    recipe: Adaptation | None
    """None: the base as it is."""
    frames: str = "uniform:8"
    """Shown when it answers; training shows the recipe's."""
    split: str = "test"
    size: str = ""
    """Of the pictures it answers about; the model's own where empty."""
    controls: bool = False
    """By the first seed alone."""


@dataclass(frozen=True)
class Result:
    """What came of it."""

    cell: Mapping[str, Any]
    key: str
    samples: int
    """Questions asked in training."""
    steps: int
    trains: int
    cpu_seconds: float
    """Of training, features left out."""
    answer_seconds: float
    scores: Sequence[Mapping[str, Any]]
    right: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """By task.format, by question."""
    clips: Mapping[str, str] = field(default_factory=dict)
    """Of each question its clip."""

    @property
    def em(self) -> dict[str, float]:
        """Mean by task.format."""
        return {name: float(np.mean(list(mine.values()))) for name, mine in self.right.items()}

    @property
    def mean(self) -> float:
        """Over the cells of task and format, each alike."""
        return float(np.mean(list(self.em.values())))


class Bench:
    """Runs cells on one base and one domain."""

    def __init__(
        self,
        load: Callable[[], Vlm],
        domain: Domain,
        work: Path,
        tell: Tell = lambda line: None,
        side: int = 0,
    ) -> None:
        """`load` gives the base anew each time; `side` of the pictures, the model's own where 0."""
        self.load, self.domain, self.work, self.tell = load, domain, work, tell
        base: Any = load()
        self.key = base.key
        self.side = side or int(getattr(base, "side", 224))
        self.told = {"base": self.key, "domain": domain.hash, "side": self.side}
        self._features = Features(base, work / "features", MEMORY)
        self._tower = base.seen_key
        self._drawn: dict[str, tuple[list[AskedClip], list[Question]]] = {}

    def data(self, split: str) -> tuple[list[AskedClip], list[Question]]:
        """Clips and questions of a split, in the model's own size."""
        if split not in self._drawn:
            self._drawn[split] = draw(self.domain, split, self.side)
        return self._drawn[split]

    def parts(self, split: str, size: str) -> Iterator[tuple[list[AskedClip], list[Question]]]:
        """The same in another size, game by game, for large pictures of all would not fit."""
        if not size:
            yield self.data(split)
            return
        for game in self.domain.games:
            yield draw(replace(self.domain, games=(game,)), split, size)

    def features(self, vlm: Any) -> Features:  # noqa: ANN401 - a Vlm with a tower
        """Kept on disk for the base's tower, and for this one alone where it has learnt."""
        if vlm.seen_key != self._tower:
            return Features(vlm)
        self._features.vlm = vlm
        return self._features

    def run(self, cell: Cell) -> Result:
        """The cell's result, found or made."""
        key = fingerprint(asdict(cell) | {"name": ""}, self.told, SCHEMA)
        folder = self.work / "cells" / key
        if (folder / RESULT).exists():
            return _read(folder)
        vlm = self.load()
        trained = self._trained(vlm, cell.recipe)
        start = time.process_time()
        rows: list[Row] = []
        see = self.features(vlm).see
        controls = EVERY if cell.controls else ()
        for clips, questions in self.parts(cell.split, cell.size):
            rows += evaluate(vlm, clips, questions, cell.frames, controls=controls, see=see)
        bias = position_bias(rows)
        write_jsonl(folder / ROWS, [asdict(row) for row in rows])
        write_json(
            folder / RESULT,
            {
                "schema": SCHEMA, "key": key, **self.told, "cell": plain(asdict(cell)), **trained,
                "answer_seconds": round(time.process_time() - start, 2),
                "scores": [asdict(score) for score in summary(rows)],
                "position_bias": None if bias is None else asdict(bias),
            },
        )  # fmt: skip
        found = _read(folder)
        told = " ".join(f"{name} {value:.3f}" for name, value in found.em.items())
        self.tell(f"{cell.name}: {told} ({found.samples} samples, {found.cpu_seconds:.1f} cpu s)")
        return found

    def _trained(self, vlm: Vlm, recipe: Adaptation | None) -> dict[str, Any]:
        """Adapt, or take up what was adapted by the same recipe for another cell."""
        if recipe is None:
            return {"samples": 0, "steps": 0, "trains": 0, "cpu_seconds": 0.0}
        folder = self.work / "adapted" / fingerprint(recipe, self.told)
        made = adapt(vlm, *self.data("train"), recipe, folder, features=self.features(vlm))
        return {
            "samples": made.samples, "steps": made.steps, "trains": made.trains,
            "cpu_seconds": made.cpu_seconds,
        }  # fmt: skip

    def over_seeds(self, cell: Cell, seeds: Sequence[int]) -> list[Result]:
        """The same recipe by each seed, controls by the first; a base as it is has no seed."""
        if cell.recipe is None:
            return [self.run(cell)]
        cells = [replace(cell, recipe=replace(cell.recipe, seed=seed)) for seed in seeds]
        return [
            self.run(replace(one, controls=cell.controls and not number))
            for number, one in enumerate(cells)
        ]


def _read(folder: Path) -> Result:
    told = read_json(folder / RESULT)
    right: dict[str, dict[str, bool]] = {}
    clips: dict[str, str] = {}
    for _, row in read_jsonl(folder / ROWS):
        if not row["control"]:
            right.setdefault(f"{row['task']}.{row['format']}", {})[row["id"]] = bool(row["right"])
            clips[row["id"]] = row["clip"]
    return Result(
        told["cell"], told["key"], told["samples"], told["steps"], told["trains"],
        told["cpu_seconds"], told["answer_seconds"], told["scores"], right, clips,
    )  # fmt: skip


def pooled(results: Sequence[Result]) -> list[dict[str, Any]]:
    """A row for each task and format: mean over seeds, with an interval over clips and seeds.

    Clips and seeds are drawn again together; with one seed the interval is of the clips alone.
    """
    rows = []
    for name in sorted(results[0].right):
        hits, clips = _matrix(results, name)
        low, high = interval(_redrawn(hits, clips))
        task, _, form = name.partition(".")
        scores = [s for s in results[0].scores if (s["task"], s["format"]) == (task, form)]
        plainly = next(s for s in scores if not s["control"])
        rows.append(
            {
                "task": task, "format": form, "em": float(hits.mean()), "low": float(low),
                "high": float(high), "n": hits.shape[1],
                "seeds": [float(one) for one in hits.mean(1)], "majority": plainly["majority"],
                "em_normalised": float(np.mean([_normalised(r, task, form) for r in results])),
                **{s["control"]: s["em"] for s in scores if s["control"]},
            }
        )  # fmt: skip
    return rows


def difference(first: Sequence[Result], second: Sequence[Result]) -> list[dict[str, Any]]:
    """First less second by task and format, question by question, clips and seeds drawn again."""
    rows = []
    for name in sorted(first[0].right):
        one, clips = _matrix(first, name)
        other, same = _matrix(second, name)
        assert list(clips) == list(same)
        gap = one.mean(0, keepdims=True) - other.mean(0, keepdims=True)
        if len(one) == len(other):
            gap = one - other
        low, high = interval(_redrawn(gap, clips))
        task, _, form = name.partition(".")
        rows.append(
            {
                "task": task, "format": form, "difference": float(gap.mean()), "low": float(low),
                "high": float(high), "n": gap.shape[1],
            }
        )  # fmt: skip
    return rows


def told(results: Sequence[Result]) -> dict[str, Any]:
    """What a table says of a cell's seeds beside its scores."""
    return {
        "samples": results[0].samples,
        "steps": results[0].steps,
        "trains": results[0].trains,
        "cpu_seconds": round(float(np.mean([one.cpu_seconds for one in results])), 1),
        "num_seeds": len(results),
        "scores": pooled(results),
    }


def _normalised(result: Result, task: str, form: str) -> float:
    mine = [s for s in result.scores if (s["task"], s["format"], s["control"]) == (task, form, "")]
    value = mine[0]["em_normalised"]
    return float("nan") if value is None else float(value)


def _matrix(results: Sequence[Result], name: str) -> tuple[np.ndarray, np.ndarray]:
    """(seed, question) hits and each question's clip, questions by name."""
    asked = sorted(results[0].right[name])
    hits = np.array([[float(one.right[name][question]) for question in asked] for one in results])
    return hits, np.array([results[0].clips[question] for question in asked])


def _redrawn(values: np.ndarray, clips: np.ndarray) -> np.ndarray:
    """Means over (seed, question) with clips and seeds drawn again."""
    by_clip = resamples(clips, RESAMPLES)
    by_seed = np.ones((len(by_clip), 1))
    if len(values) > 1:
        by_seed = resamples(np.arange(len(values)), RESAMPLES, seed=1)[: len(by_clip)]
    total = np.einsum("rs,sq,rq->r", by_seed, values, by_clip)
    return total / (by_seed.sum(1) * by_clip.sum(1))
