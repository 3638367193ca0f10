"""What can be asked of a clip: one file a task, each offering one object, `TASK`."""

import importlib

from cosmolabe.core.question import TASKS
from cosmolabe.data.questions.asking import Task


def task_named(name: str) -> Task:
    """The task; an unknown name is refused with the names there are."""
    if name not in TASKS:
        raise ValueError(f"no task named '{name}'; have {list(TASKS)}")
    return importlib.import_module(f"{__name__}.{name}").TASK
