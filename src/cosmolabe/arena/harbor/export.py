"""Writes a Harbor task (schema_version 1.4) for one game and base model.

`environment/` is the agent's image: starter, its trained checkpoint, data of train and val, slim
package. `tests/` is the verifier's own image: the whole package and episodes played under this
machine's secret salt, which are in no other image. `solution/` holds a submission that is known to
be good. A folder that was handed to an agent with `tests/` in it is spent.
"""

import json
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import cosmolabe
from cosmolabe.arena import experiments
from cosmolabe.arena.experiments import CONFIG, SUBMISSION, TRAIN, Rules
from cosmolabe.arena.harbor import in_task, in_verifier, texts
from cosmolabe.arena.sandbox import scratch_folder
from cosmolabe.arena.tasks.folder import TaskPlan, make_task
from cosmolabe.arena.tasks.slim import slim_source
from cosmolabe.arena.verifier.held_out import hash_of, held_out_store, secret_salt
from cosmolabe.bench.bed import lay_out
from cosmolabe.core.agent import Proposal
from cosmolabe.core.record import read_json, write_json
from cosmolabe.data.pack import PackedWriter
from cosmolabe.data.store import Store

SCORING = (
    "cosmolabe.judges.state.scoring", "cosmolabe.judges.state.protocol",
    "cosmolabe.metrics.alive_f1", "cosmolabe.metrics.composite",
    "cosmolabe.metrics.final_score", "cosmolabe.metrics.position_l1", "cosmolabe.core.metric",
    "cosmolabe.core.bootstrap",
)  # fmt: skip
"""What the agent's image needs beside the slim package to score on val."""
NEEDED = (
    "numpy", "torch", "safetensors", "numba", "gymnasium", "pydantic", "tyro", "rich", "jaxtyping",
    "pyarrow", "zstandard", "xxhash", "pillow", "jinja2", "scipy",
)  # fmt: skip
IMAGE = "python:3.11.7-slim-bookworm"
"""Base image; pin it by digest (`--image python@sha256:…`) where tasks are handed out."""
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "harbor", "cli", "report")


@dataclass(frozen=True)
class HarborPlan:
    """What one task is made from."""

    game: str
    model: str
    budget: float = 21_600.0
    """Seconds the agent has."""
    per_run: float = 600.0
    """Seconds of one training."""
    steps: int | None = None
    size: str = "laptop"
    test_episodes: int = 256
    scenarios: int = 64
    max_ticks: int | None = None
    image: str = IMAGE
    hosts: tuple[str, ...] = ()
    """Hosts the agent's image may reach; none at all where empty."""
    cpus: int = 4
    memory: int = 16_384
    """MB."""

    @property
    def name(self) -> str:
        """Of the task and its folder."""
        return f"{self.game}-{self.model}".replace("_", "-")


def export_harbor(
    out: Path, plan: HarborPlan, store: Store, *, solution: Path | None = None, level: str = "auto"
) -> Path:
    """Write the task folder into `out`, and give it.

    The starter is trained here, in the sandbox, so that an agent that does nothing gets its score.
    `solution` is a folder with a submission; without one the oracle submits the starter.
    """
    folder = out / plan.name
    if folder.exists():
        raise ValueError(f"{folder} is there already; Harbor tasks are written whole, elsewhere")
    with scratch_folder("harbor") as scratch:
        task = scratch / plan.name
        val = _environment(task, plan, store, level)
        _verifier(task / "tests", plan)
        _solution(task, solution)
        _texts(task, plan, store, val)
        out.mkdir(parents=True, exist_ok=True)
        shutil.copytree(task, folder)
    return folder


def requirements() -> str:
    """The libraries of an image, pinned to what is installed here."""
    lines = [f"{name}=={metadata.version(name).partition('+')[0]}" for name in NEEDED]
    return "\n".join(lines) + "\n"


def _environment(task: Path, plan: HarborPlan, store: Store, level: str) -> float:
    """The agent's image; gives the starter's score on val."""
    app = task / "environment" / "app"
    (task / "environment").mkdir(parents=True)
    told = TaskPlan(plan.game, plan.model, plan.budget, plan.per_run, plan.steps, plan.size)
    make_task(app, told, store)
    for name in ("instruction.md", "score.py", "time_left"):
        (app / name).unlink(missing_ok=True)
    for name in ("asked", "answers"):  # of sessions, whose harness runs outside
        shutil.rmtree(app / name, ignore_errors=True)
    shutil.copyfile(str(in_task.__file__), app / "run.py")
    for module in SCORING:
        path = app / "package" / Path(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(slim_source(module), encoding="utf-8")
    for inner in (app / "package" / "cosmolabe").rglob("*"):
        if inner.is_dir() and not (inner / "__init__.py").exists():
            (inner / "__init__.py").write_text('"""Part of cosmolabe that a task may use."""\n')
    write_json(app / "limits.json", {"per_run": plan.per_run})
    (app / "submission").mkdir()
    val = _train(app, plan, store, level)
    (app / "experiments" / ".keep").touch()
    (task / "environment" / "requirements.txt").write_text(requirements())
    return val


def _train(app: Path, plan: HarborPlan, store: Store, level: str) -> float:
    """Train the starter into app/submission."""
    proposal = Proposal((app / TRAIN).read_text("utf-8"), read_json(app / CONFIG), "the starter")
    rules = Rules(app, level)
    with scratch_folder("starter") as scratch:
        folder = scratch / "001"
        done = experiments.train(folder, proposal, 0, plan.per_run, rules)
        if done.status != "ok":
            log = (folder / "log.txt").read_text("utf-8", "replace")[-400:]
            raise ValueError(f"the starter could not be trained ({done.status}): {log}")
        found = experiments.score(folder, lay_out(store, "val"), rules, 120.0)
        for name in SUBMISSION:
            shutil.copyfile(folder / name, app / "submission" / name)
    return found.val["composite"]


def _verifier(tests: Path, plan: HarborPlan) -> None:
    source = Path(cosmolabe.__file__).parent
    shutil.copytree(source, tests / "package" / "cosmolabe", ignore=LEFT_OUT)
    shutil.copyfile(str(in_verifier.__file__), tests / "verify.py")
    for split, count in (("test", plan.test_episodes), ("scenario", plan.scenarios)):
        if count:
            played = held_out_store(plan.game, split, count, max_ticks=plan.max_ticks)
            _pack(played, split, tests / "held_out" / split)
    (tests / "requirements.txt").write_text(requirements())


def _pack(played: Store, split: str, folder: Path) -> None:
    """Episodes without what they were played from, so without ceiling and skill.

    With the salt in a shard, whoever has one task could play the held-out episodes of all others.
    """
    writer = PackedWriter(folder, played.manifest)
    for number in played.split(split):
        writer.add(played.episode(int(number)), split, player="unknown")
    writer.finish()


def _solution(task: Path, solution: Path | None) -> None:
    target = task / "solution" / "submission"
    source = solution or task / "environment" / "app" / "submission"
    target.mkdir(parents=True)
    for name in SUBMISSION:
        if not (source / name).is_file():
            raise ValueError(f"{source} holds no {name}; a solution is a session's submission/")
        shutil.copyfile(source / name, target / name)


def _texts(task: Path, plan: HarborPlan, store: Store, val: float) -> None:
    network = "allowlist" if plan.hosts else "no-network"
    hosts = f"allowed_hosts = {json.dumps(list(plan.hosts))}\n" if plan.hosts else ""
    what = "A submission known to be good." if _differs(task) else "The starter's own checkpoint."
    values: dict[str, Any] = {
        "name": plan.name, "game": plan.game, "model": plan.model, "protocol": "state/1",
        "held_out": hash_of(secret_salt()), "starter_val": f"{val:.6f}", "budget": plan.budget,
        "agent_network": "", "verifier_seconds": 1800.0, "network": network, "hosts": hosts,
        "cpus": plan.cpus, "memory": plan.memory,
    }  # fmt: skip
    instruction = texts.INSTRUCTION.format(
        game=plan.game, model=plan.model, num_slots=store.manifest.num_slots,
        fps=store.manifest.fps, budget=f"{plan.budget / 60:g} minutes", per_run=plan.per_run,
    )  # fmt: skip
    written = {
        "task.toml": texts.TASK.format(**values),
        "instruction.md": instruction,
        "environment/Dockerfile": texts.AGENT_IMAGE.format(image=plan.image),
        "tests/Dockerfile": texts.VERIFIER_IMAGE.format(image=plan.image),
        "tests/test.sh": texts.TEST,
        "solution/solve.sh": texts.SOLVE.format(what=what),
    }
    for name, text in written.items():
        path = task / name
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".sh":
            path.chmod(0o755)


def _differs(task: Path) -> bool:
    mine = task / "solution" / "submission" / "weights.safetensors"
    theirs = task / "environment" / "app" / "submission" / "weights.safetensors"
    return mine.read_bytes() != theirs.read_bytes()
