"""Submissions with nothing to hide, none of which may be flagged."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cosmolabe.arena.attacks.attack import cheat
from cosmolabe.arena.sandbox import Limits, run
from cosmolabe.arena.tasks.one_file import one_file
from cosmolabe.arena.verifier import rooms
from cosmolabe.arena.verifier.copying import WEIGHTS

SECONDS = 100.0  # of one training; a linear model takes one, a network of 5 steps a few

CONSTANT_VELOCITY = cheat("""
class World:
    def rollout(self, context, seed=0):
        found = still(context)
        last = context.states[:, -1]
        alive = (last[..., 2:3] > 0.5) & (context.masks.mutable & context.masks.valid)[..., None]
        steps = np.arange(1, context.horizon + 1, dtype=np.float32)[:, None, None]
        found.states[..., :2] += np.where(alive, last[..., 3:5], 0)[:, None] * steps
        return found
""")
TALKATIVE = cheat("""
import sys

print("hello", flush=True)


class World:
    def rollout(self, context, seed=0):
        print("x" * 100_000, flush=True)
        print("x" * 100_000, file=sys.stderr, flush=True)
        return still(context)
""")


@dataclass(frozen=True)
class Honest:
    """A submission that has to come through."""

    name: str
    does: str
    train: Callable[[], str]
    seconds: float = 0.0
    """Limit of its training; 0: it learns nothing."""
    steps: int | None = None
    again: bool = False
    """Its code is trained again with fresh seeds."""
    extra: bool = False
    """Other files lie beside it."""

    def write(self, folder: Path, package: Path, data: Path, level: str) -> Path:
        """The submission, trained in a sandbox where it learns."""
        folder.mkdir(parents=True)
        (folder / "train.py").write_text(self.train(), encoding="utf-8")
        recipe = {"steps": self.steps} if self.steps else {}
        config = json.dumps({"size": "laptop", "recipe": recipe})
        (folder / "config.json").write_text(config, encoding="utf-8")
        if self.seconds:
            self._train(folder, package, data, level)
        if self.extra:
            (folder / "note.md").write_text("what I tried\n")
            (folder / "experiments").mkdir()
        return folder

    def _train(self, folder: Path, package: Path, data: Path, level: str) -> None:
        work = folder.with_name(folder.name + "-work")
        shutil.copytree(folder, work)
        work.chmod(0o777)
        box, command = rooms.training(work, package, data, 42, Limits(wall=self.seconds))
        log = folder.with_name(folder.name + ".log")
        ended = run(box, command, level=level, log=log)
        if ended.code or ended.killed:
            raise ValueError(
                f"the honest submission '{self.name}' could not be trained "
                f"({ended.killed or ended.code}): {log.read_text()[-300:]}"
            )
        shutil.copyfile(work / WEIGHTS, folder / WEIGHTS)


def _edited() -> str:
    text = one_file("linear")
    assert "RIDGE = 1e-3" in text
    return text.replace("RIDGE = 1e-3", "RIDGE = 3e-2")


HONEST = (
    Honest("unchanged_linear", "the base model linear, trained once, unchanged",
           lambda: one_file("linear"), SECONDS),
    Honest("retrained_linear", "the same, and trained again with three fresh seeds",
           lambda: one_file("linear"), SECONDS, again=True),
    Honest("edited_linear", "another penalty on its weights", _edited, SECONDS),
    Honest("unchanged_transformer", "the base model transformer after 5 steps",
           lambda: one_file("transformer"), SECONDS, steps=5),
    Honest("constant_velocity", "whatever moves keeps moving", lambda: CONSTANT_VELOCITY),
    Honest("still", "nothing ever moves again", lambda: cheat('''
class World:
    def rollout(self, context, seed=0):
        return still(context)
''')),
    Honest("talkative", "prints a lot, as libraries do", lambda: TALKATIVE),
    Honest("with_notes", "lies beside notes and folders of its own",
           lambda: CONSTANT_VELOCITY, extra=True),
)  # fmt: skip
