"""What every verb shares: its flags, its answer, its progress bar."""

import contextlib
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tyro.conf import FlagCreatePairsOff

from cosmolabe.core.tame import tame

Progress = Callable[[int, int], None]
"""Called with (done, total)."""
Engine = Literal["local", "ray"]
"""Who does the jobs of one command; see `core.spread`."""


@dataclass(frozen=True)
class Answer:
    """What a verb found: `data` for machines, `text` for people (anything rich can print)."""

    data: dict[str, Any]
    text: Any = ""
    ok: bool = True
    """False where a check failed: exit code 1."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One thing the command line does."""

    json: FlagCreatePairsOff[bool] = False
    """Print one JSON object on stdout and nothing else."""
    debug: FlagCreatePairsOff[bool] = False
    """Show the whole traceback where something goes wrong."""

    stopped: ClassVar[str] = "nothing was lost; run the same command again"
    """What to say after Ctrl-C."""

    def run(self) -> Answer:
        """Do it."""
        raise NotImplementedError


@contextlib.contextmanager
def progress(what: str) -> Generator[Progress]:
    """A bar on stderr while stderr is a terminal; silent otherwise."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@dataclass(frozen=True)
class Table:
    """A plain table for people, drawn by rich."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    title: str = ""

    def __rich__(self) -> Any:  # noqa: ANN401 - a rich table
        """Numbers to the right, words to the left."""
        from rich import box
        from rich.table import Table as RichTable

        table = RichTable(
            box=box.SIMPLE_HEAD, title=self.title or None, title_justify="left", pad_edge=False
        )
        for index, name in enumerate(self.columns):
            numeric = all(not isinstance(row[index], str) for row in self.rows)
            table.add_column(name, justify="right" if numeric and self.rows else "left")
        for row in self.rows:
            table.add_row(*(cell(value) for value in row))
        return table


def cell(value: Any) -> Any:  # noqa: ANN401 - any value of a table
    """A value as text that rich takes literally; missing is a dash."""
    from rich.text import Text

    if value is None or value != value:
        return Text("–")
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return Text(tame(text).replace("\n", "\\n"))
