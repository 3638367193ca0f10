"""What an agent sees of the ledger: a copy of its experiments, a table, and the time left.

All of it is written from outside; nothing an agent writes there is ever read again.
"""

import csv
import io
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from cosmolabe.arena.experiments import CONFIG, TRAIN
from cosmolabe.core.agent import Tried
from cosmolabe.core.record import written_whole

COLUMNS = ("experiment", "status", "score", "c1", "c10", "c20", "skill", "wall", "note")
SHOWN = (TRAIN, CONFIG, "log.txt", "note.md", "val.json")


def show(task: Path, experiments: Path, tried: Sequence[Tried], time_left: str) -> None:
    """Bring the view in a task folder up to date."""
    for one in tried:
        source, target = experiments / one.experiment, task / "experiments" / one.experiment
        if not target.exists() and source.exists():
            target.mkdir(parents=True)
            for name in SHOWN:
                if (source / name).exists():
                    shutil.copyfile(source / name, target / name)
    _put(task / "experiments" / "summary.tsv", table(tried))
    show_time(task, time_left)


def show_time(task: Path, time_left: str) -> None:
    """Tell how much is left, in place: a sandbox that shows the file goes on showing this one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(task / "time_left", flags, 0o644)
    try:
        data = (time_left + "\n").encode()
        os.pwrite(number, data, 0)
        os.ftruncate(number, len(data))
    finally:
        os.close(number)


def table(tried: Sequence[Tried]) -> str:
    """Experiments as tab-separated rows, in the order they ran; what is missing is empty."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in tried:
        numbers = (one.val.get(n, math.nan) for n in ("composite", "c1", "c10", "c20", "skill"))
        note = " ".join(one.proposal.note.split())
        rows.writerow([one.experiment, one.status, *map(_number, numbers), f"{one.wall:.1f}", note])
    return out.getvalue()


def _number(value: float) -> str:
    return f"{value:.5f}" if math.isfinite(value) else ""


def _put(path: Path, text: str) -> None:
    with written_whole(path) as part:
        part.write_text(text, "utf-8", "backslashreplace")
