"""The vqa judge's own work: sets of questions, and what is measured with them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import FlagCreatePairsOff, Positional, arg, subcommand

from cosmolabe.cli._verb import Answer, Table, Verb, progress
from cosmolabe.cli._vqa_adapt import VqaAdapt
from cosmolabe.cli._vqa_answers import VqaParse, VqaRescore
from cosmolabe.cli._vqa_certificate import VqaCertificate
from cosmolabe.cli._vqa_explain import VqaExplain
from cosmolabe.cli._vqa_models import VqaParams


@dataclass(frozen=True, kw_only=True)
class VqaBuild(Verb):
    """Cut clips and write questions about them, in three stages that can be looked at.

    Clips come from games that are played here, from tables of anyone's videos, and from stores.
    """

    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder of the set; a half-finished one is finished."""
    games: tuple[str, ...] = ()
    """Games to play; `all` for every one."""
    clips: Annotated[int, arg(aliases=["-n"])] = 200
    """Clips of each game, and of each store at most."""
    table: tuple[Path, ...] = ()
    """Tables (CSV, JSON lines, Parquet): a column of paths, and action, character or both."""
    store: tuple[Path, ...] = ()
    """Stores of our games (docs/data/store.md)."""
    split: str = ""
    """Of the stores: train, val, test or scenario; all where none is named."""
    seed: int = 0
    """Another seed plays other games and asks in another order."""
    protocol: Literal["vqa/1", "vqa/universe-1"] = "vqa/1"
    """14 frames, every fourth of a 60-fps game (0.93 s), or every one (0.23 s)."""
    size: int = 96
    """Side of the square pictures, pixels."""
    looks: Literal["any", "train", "held_out"] = "any"
    """Themes and characters of the games: any, what may be trained on, or held-out themes."""
    swapped: float = 0.0
    """Share of the games' clips in which a character is swapped midway."""
    free: FlagCreatePairsOff[bool] = False
    """Let players play by themselves, which shows more events and fewer lasting actions."""
    tasks: tuple[str, ...] = ("action_recognition", "character_recognition")
    """What is asked, or `all`: action_recognition, character_recognition, event, count, direction,
    contact, order, persistence."""
    options: int = 0
    """Options of a multiple choice; 0 shows the whole answer space."""
    coding: Literal["npz", "mp4"] = "npz"
    """How clips are kept: every pixel, or smaller (extra `video`)."""
    workers: int = 1
    """Processes; the bytes are the same for any number."""

    stopped = "what was cut is kept; the same command goes on where it stopped"

    def run(self) -> Answer:
        """Cut, describe, ask."""
        from cosmolabe.core import parts
        from cosmolabe.core.question import TASKS
        from cosmolabe.data.questions.making import Recipe, make_questions

        recipe = Recipe(
            games=parts.names("games") if self.games == ("all",) else self.games,
            clips=self.clips,
            tables=tuple(str(path) for path in self.table),
            stores=tuple(str(path) for path in self.store),
            split=self.split,
            seed=self.seed,
            protocol=self.protocol,
            size=self.size,
            looks=self.looks,
            swapped=self.swapped,
            free=self.free,
            tasks=TASKS if self.tasks == ("all",) else self.tasks,
            options=self.options,
            coding=self.coding,
        )
        with progress("cutting clips") as tell:
            record = make_questions(self.out, recipe, workers=self.workers, progress=tell)
        told = ("clips", "questions", "cells", "majority", "dropped", "unlabelled", "data")
        table = Table(
            ("task", "binary", "multiple choice", "open ended"),
            [(task, *cells.values()) for task, cells in record["cells"].items()],
            f"{self.out}: {record['clips']} clips, {record['questions']} questions"
            + "".join(f"; {n} dropped: {why}" for why, n in record["dropped"].items()),
        )
        answer = {name: record[name] for name in told}
        lines: list[Any] = [table]
        if record["dropped"]:
            lines.append(f"{self.out / 'dropped.jsonl'} says of each what was wrong")
        if not record["questions"]:
            alone = [f"{what}: '{mine[0]}'" for what, mine in record["labels"].items() if mine]
            only = f"; all clips show the same ({', '.join(alone)})" if alone else ""
            lines.append(f"no question can be asked{only}: two labels are needed to tell apart")
        return Answer(
            {"set": self.out, **answer, "templates": record["templates"]},
            lines,
            ok=record["questions"] > 0,  # a script must notice
        )


@dataclass(frozen=True, kw_only=True)
class VqaTasks(Verb):
    """What can be asked, and how the questions are worded."""

    def run(self) -> Answer:
        """List tasks and templates."""
        from cosmolabe.core.question import TASKS
        from cosmolabe.data.questions.tasks import task_named
        from cosmolabe.data.questions.wording import templates_hash, templates_of

        tasks = {name: task_named(name).summary for name in TASKS}
        templates = {name: templates_of(name) for name in TASKS}
        rows = [
            (f"{name}.{variant}", form, text)
            for name, variants in templates.items()
            for variant, forms in variants.items()
            for form, text in forms.items()
        ]
        table = Table(("template", "format", "wording"), rows, f"templates {templates_hash()}")
        return Answer({"tasks": tasks, "templates": templates, "hash": templates_hash()}, table)


@dataclass(frozen=True, kw_only=True)
class VqaExport(Verb):
    """A set of questions as a Hugging Face dataset, or one of those as a set (extra `datasets`)."""

    source: Positional[Path]
    """Folder of the set; with --back, of the dataset."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """Folder to write."""
    back: FlagCreatePairsOff[bool] = False
    """Bring a dataset in that this verb wrote."""

    def run(self) -> Answer:
        """Write it."""
        from cosmolabe.data.questions.hub import export_questions, import_questions

        count = (import_questions if self.back else export_questions)(self.source, self.out)
        told = {"out": self.out, "questions": count}
        return Answer(told, f"{self.out}: {count} questions")


VERB = (
    Annotated[VqaBuild, subcommand("build")]
    | Annotated[VqaTasks, subcommand("tasks")]
    | Annotated[VqaExport, subcommand("export")]
    | Annotated[VqaParse, subcommand("parse")]
    | Annotated[VqaRescore, subcommand("rescore")]
    | Annotated[VqaParams, subcommand("params")]
    | Annotated[VqaAdapt, subcommand("adapt")]
    | Annotated[VqaCertificate, subcommand("certificate")]
    | Annotated[VqaExplain, subcommand("explain")]
)
