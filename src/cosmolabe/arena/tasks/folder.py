"""Makes a task folder: what an agent sees of a session."""

import hashlib
import math
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cosmolabe.arena.tasks.data import write_data
from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.arena.tasks.slim import write_programs, write_slim
from cosmolabe.core import parts
from cosmolabe.core.record import write_json
from cosmolabe.data.store import Store
from cosmolabe.nets.recipe import TrainConfig, paper

NOT_DIALS = ("seed", "split", "evaluate_every", "save_every")
YOURS = ("train.py", "config.json")
"""What an agent may change."""
PROTECTED = ("instruction.md", "package", "data", "run.py", "score.py")
"""What it may read and not change."""


@dataclass(frozen=True)
class TaskPlan:
    """What a task folder is made from."""

    game: str
    model: str
    seconds: int | float
    """Of the whole session."""
    per_run: int | float
    """Seconds after which an experiment is killed."""
    steps: int | None = None
    """Gradient steps of the starter; where given, bytes are equal on any machine."""
    size: str = "laptop"


def make_task(folder: Path, plan: TaskPlan, store: Store) -> None:
    """Write a new task folder from the train and val episodes of a store."""
    if store.game != plan.game:
        raise ValueError(f"{store.folder} holds '{store.game}', the session is for '{plan.game}'")
    folder.mkdir(parents=True)
    write_slim(folder / "package")
    write_programs(folder, ("run", "score"))
    write_data(store, folder / "data")
    (folder / "train.py").write_text(one_file(plan.model), encoding="utf-8")
    write_json(folder / "config.json", starter_config(plan))
    for name in ("experiments", "asked", "answers"):
        (folder / name).mkdir()
    template = Path(__file__).with_name("instruction.md").read_text(encoding="utf-8")
    text = template.format(
        game=plan.game,
        model=plan.model,
        num_slots=store.manifest.num_slots,
        fps=store.manifest.fps,
        budget=_in_words(plan.seconds),
        per_run=plan.per_run,
        python=platform.python_version(),
    )
    (folder / "instruction.md").write_text(text, encoding="utf-8")


def starter_config(plan: TaskPlan) -> dict[str, Any]:
    """The config of the base model: every dial of its recipe, with the session's end of training.

    By the clock, training takes three quarters of an experiment's time, for the interpreter has to
    start and the weights have to be written.
    """
    part = parts.load("models", plan.model)
    dials = asdict(paper() if plan.size == "paper" else TrainConfig()) | dict(part.recipe)
    end = {"steps": plan.steps, "seconds": None if plan.steps else round(plan.per_run * 0.75, 1)}
    recipe = {name: value for name, value in (dials | end).items() if name not in NOT_DIALS}
    return {"size": plan.size, "recipe": recipe}


def digest_of(path: Path) -> str:
    """sha256 of a file, or of all files of a folder by name."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(f"{file.relative_to(path.parent)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def protected(folder: Path) -> dict[str, str]:
    """sha256 of everything in a task folder that an agent may not change."""
    return {name: digest_of(folder / name) for name in PROTECTED}


def _in_words(seconds: int | float) -> str:
    if seconds == math.inf:
        return "a number of training steps"
    if seconds >= 2 * 3600:
        return f"{seconds / 3600:g} hours"
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"
