"""From sources to a folder of questions: clips, descriptions, questions; resumable."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cosmolabe.core import parts
from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.question import TASKS, AskedClip
from cosmolabe.core.record import plain, read_json, read_jsonl, versions, write_json, write_jsonl
from cosmolabe.core.spread import spread
from cosmolabe.data.arrays import file_digest
from cosmolabe.data.held_out import held_out
from cosmolabe.data.questions.building import PAPER_TASKS, answer_spaces, counts_of, questions_of
from cosmolabe.data.questions.describing import description_of
from cosmolabe.data.questions.folder import (
    CLIPS,
    CODINGS,
    DESCRIPTIONS,
    DROPPED,
    RECORD,
    clip_rows,
    keep_clip,
    read_clip,
    write_questions,
)
from cosmolabe.data.questions.playing import TOGETHER, Play, block
from cosmolabe.data.questions.protocol import PROTOCOLS, protocol_named
from cosmolabe.data.questions.stored import store_clips
from cosmolabe.data.questions.tabled import refuse_tables, table_clips
from cosmolabe.data.questions.wording import templates_hash

PARTS = "parts"
LEAST, MOST = 16, 1024  # pixels of a side; ours
LOOKS = {"any": None, "train": False, "held_out": True}
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recipe:
    """What a set is made of."""

    games: tuple[str, ...] = ()
    clips: int = 200
    """Of each game; of each store at most. A table gives as many as it has rows."""
    tables: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    split: str = ""
    """Of the stores; all where none is named."""
    seed: int = 0
    protocol: str = "vqa/1"
    size: int = 96
    looks: str = "any"
    """any; train: what may be trained on; held_out: themes no training sees."""
    swapped: float = 0.0
    """Share of the games' clips in which somebody changes midway."""
    free: bool = False
    """Whether players play by themselves, instead of holding one action a clip."""
    tasks: tuple[str, ...] = PAPER_TASKS
    options: int = 0
    coding: str = "npz"

    def __post_init__(self) -> None:
        if not (self.games or self.tables or self.stores):
            raise ValueError("no sources: name games, tables or stores")
        for name in self.games:
            parts.load("games", name)
        for what in ("games", "tables", "stores", "tasks"):
            given = getattr(self, what)
            if twice := sorted({one for one in given if given.count(one) > 1}):
                raise ValueError(f"{what} stand twice: {twice}; name each once")
        for task in self.tasks:
            if task not in TASKS:
                raise ValueError(f"no task named '{task}'; have {list(TASKS)}")
        known: Iterable[tuple[str, str, Iterable[str]]] = (
            ("protocol", self.protocol, PROTOCOLS),
            ("looks", self.looks, LOOKS),
            ("coding", self.coding, CODINGS),
        )
        for what, got, have in known:
            if got not in have:
                raise ValueError(f"no {what} named '{got}'; have {list(have)}")
        if not LEAST <= self.size <= MOST:
            raise ValueError(f"pictures are {LEAST} to {MOST} pixels a side; got {self.size}")
        if not 0 <= self.swapped <= 1:
            raise ValueError(f"swapped is a share of clips, 0 to 1; got {self.swapped}")
        if not self.tasks:
            raise ValueError(f"nothing is asked; tasks are some of {list(TASKS)}")
        if self.clips < 1 or self.options == 1 or self.options < 0:
            raise ValueError(
                f"clips must be at least 1, options 0 (all) or 2 and more; got {self.clips}, "
                f"{self.options}"
            )


def make_questions(
    folder: Path | str, recipe: Recipe, *, workers: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """Make the set, or finish it where it stopped; gives its record, as record.json holds it.

    A folder that holds another set, or anything else, is refused. The bytes are the same for any
    number of workers and of interruptions.
    """
    folder = Path(folder)
    _begin(folder, recipe)
    jobs = _jobs(folder.resolve(), recipe)
    todo = [job for job in jobs if not _part(folder, job[2]).exists()]
    done = len(jobs) - len(todo)
    if progress:
        progress(done, len(jobs))
    with closing(spread(write_part, todo, workers)) as finished:
        for _ in finished:
            done += 1
            if progress:
                progress(done, len(jobs))
    _collect(folder, jobs)
    return _ask(folder, recipe)


def write_part(folder: Path, recipe: Recipe, name: str, number: int) -> None:
    """One block of a game, or one whole table or store: clips first, then their rows."""
    kept, dropped = [], []
    for clip, told in _source(recipe, name, number):
        if clip is None:
            dropped.append(told)
        else:
            kept.append(keep_clip(folder, clip, recipe.coding))
    rows = [{"kept": row} for row in kept] + [{"dropped": row} for row in dropped]
    write_jsonl(_part(folder, name), rows)


def _source(
    recipe: Recipe, name: str, number: int
) -> Iterator[tuple[AskedClip | None, Mapping[str, Any]]]:
    protocol = protocol_named(recipe.protocol)
    kind, _, rest = name.partition("-")
    if kind == "table":
        yield from table_clips(recipe.tables[number], protocol, recipe.size, number)
    elif kind == "store":
        yield from store_clips(
            recipe.stores[number], protocol, recipe.size, recipe.split, recipe.clips
        )
    else:
        game = rest.rpartition("-")[0]
        play = Play(
            game, protocol, recipe.size, LOOKS[recipe.looks], swapped=recipe.swapped,
            labelled=not recipe.free,
        )  # fmt: skip
        clips, dropped = block(play, recipe.seed, number)
        for clip in clips[: recipe.clips - number * TOGETHER]:
            yield clip, {}
        for why, count in sorted(dropped.items()):
            yield None, {"what": f"{game}, block {number}", "why": why, "count": count}


def _jobs(folder: Path, recipe: Recipe) -> list[tuple[Path, Recipe, str, int]]:
    blocks = -(-recipe.clips // TOGETHER)
    names = [(f"game-{g}-{b:05d}", b) for g in recipe.games for b in range(blocks)]
    names += [(f"table-{k:03d}", k) for k in range(len(recipe.tables))]
    names += [(f"store-{k:03d}", k) for k in range(len(recipe.stores))]
    return [(folder, recipe, name, number) for name, number in names]


def _begin(folder: Path, recipe: Recipe) -> None:
    at_home = {
        name: tuple(str(Path(path).resolve()) for path in getattr(recipe, name))
        for name in ("tables", "stores")
    }
    refuse_tables(at_home["tables"])
    for what, paths in at_home.items():
        if len(set(paths)) < len(paths):
            raise ValueError(f"{what} stand twice: {sorted(paths)}; name each once")
    wanted = plain(
        {
            "recipe": asdict(replace(recipe, **at_home)),
            "templates": templates_hash(),
            "held_out": held_out().fingerprint,
            "tables": [file_digest(Path(path)) for path in at_home["tables"]],
            "schema": 1,
        }
    )
    begun = folder / PARTS / "begun.json"
    if begun.exists():
        found = read_json(begun)
        differs = [name for name in wanted if found.get(name) != wanted[name]]
        if differs:
            raise ValueError(
                f"{folder} holds another set of questions (its {', '.join(differs)} differ); "
                "choose a new folder"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; choose a new folder")
    write_json(begun, wanted)


def _collect(folder: Path, jobs: Sequence[tuple[Path, Recipe, str, int]]) -> None:
    """Stage one's rows, out of all parts."""
    kept, dropped = [], []
    for job in jobs:
        for _, row in read_jsonl(_part(folder, job[2])):
            (kept if "kept" in row else dropped).append(row.get("kept") or row.get("dropped"))
    if not kept:
        for job in jobs:  # so that the same command looks again once something was mended
            _part(folder, job[2]).unlink()
        reasons = list(dict.fromkeys(row["why"] for row in dropped))
        more = f" and {len(reasons) - 3} more reasons" if len(reasons) > 3 else ""
        raise ValueError(f"no clip could be taken: {'; '.join(reasons[:3])[:400]}{more}")
    for leftover in folder.rglob("*.part"):
        leftover.unlink(missing_ok=True)
    write_jsonl(folder / CLIPS, kept)
    write_jsonl(folder / DROPPED, dropped)


def _ask(folder: Path, recipe: Recipe) -> dict[str, Any]:
    """Stages two and three, and the record."""
    rows = clip_rows(folder)
    clips = [read_clip(folder, row, pictures=False) for row in rows]
    spaces = answer_spaces(clips, recipe.tasks)
    write_jsonl(
        folder / DESCRIPTIONS, (description_of(clip, recipe.tasks, spaces) for clip in clips)
    )
    questions = questions_of(clips, recipe.seed, recipe.tasks, options=recipe.options)
    write_questions(folder, questions)
    dropped = Counter()
    for _, row in read_jsonl(folder / DROPPED):
        dropped[row["why"] if "count" in row else "unreadable or unfit"] += row.get("count", 1)
    begun = read_json(folder / PARTS / "begun.json")
    digests = [
        file_digest(folder / file)
        for row in rows
        for file in dict.fromkeys((row["file"], row["numbers"]))
        if file
    ]
    record = {
        **begun,
        "protocol": asdict(protocol_named(recipe.protocol)),
        "clips": len(clips),
        "unlabelled": dict(Counter(c.about["why"] for c in clips if c.about.get("why"))),
        "dropped": dict(dropped),
        "questions": len(questions),
        "cells": counts_of(questions),
        "majority": majorities(questions),
        "labels": {name: list(labels) for name, labels in spaces.items()},
        "data": fingerprint([plain(q) for q in questions], digests),
        "versions": versions(),
    }
    write_json(folder / RECORD, record)
    return plain(record)


def majorities(questions: Iterable[Any]) -> dict[str, dict[str, float]]:
    """Share of the commonest answer of each task and format: what no judge may be praised for."""
    answers: dict[tuple[str, str], Counter] = {}
    for each in questions:
        answers.setdefault((each.task, each.format), Counter())[each.answer] += 1
    found: dict[str, dict[str, float]] = {}
    for (task, form), counts in answers.items():
        found.setdefault(task, {})[form] = round(max(counts.values()) / counts.total(), 4)
    return found


def _part(folder: Path, name: str) -> Path:
    return folder / PARTS / f"{name}.jsonl"
