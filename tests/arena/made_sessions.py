"""Session folders as the harness leaves them, with made-up scores; no simulator, no torch."""

import hashlib
import math
from dataclasses import dataclass, field

from arena.edit_sets import SHOWN, starter

from cosmolabe.arena.ledger import Ledger
from cosmolabe.core.record import write_json

START = starter("continuous")
CONFIG = {"rate": 0.001, "unroll": 8, "seed": 0}
EDITS = [edit for edit in SHOWN if edit.before == START]


@dataclass
class Made:
    """One experiment to be written down."""

    score: float
    train: str = START
    config: dict = field(default_factory=lambda: dict(CONFIG))
    note: str = "the starter"
    status: str = "ok"
    wall: float = 10.0
    tokens: float | None = None
    cost: float | None = None


def verdict(test, scenario=None, val=None, *, status="ok", flags=(), again=(), se=0.004):
    def score(value):
        return {
            "c1": value + 0.1, "c10": value + 0.02, "c20": value - 0.02, "composite": value,
            "low": value - 0.01, "high": value + 0.01, "se": se, "skill": value / 2,
            "floor": 0.4, "ceiling": 0.95, "windows": 64, "invalid": 0,
        }  # fmt: skip

    told = {"test": test, "scenario": scenario, "val": val}
    body = {
        "status": status, "why": "", "flags": list(flags), "valid": True, "schema": 1,
        "scores": {name: score(v) for name, v in told.items() if v is not None},
        "enforced": {"level": "bwrap+cgroup", "network": "none", "memory": "4 GiB"},
        "replicated": None,
    }  # fmt: skip
    if again:
        mean = sum(again) / len(again)
        sd = math.sqrt(sum((x - mean) ** 2 for x in again) / max(len(again) - 1, 1))
        body["replicated"] = {"scores": list(again), "seeds": [1, 2, 3], "mean": mean, "sd": sd,
                              "se": sd / math.sqrt(len(again))}  # fmt: skip
    return body


def make_session(
    folder, runs, *, game="pong", model="transformer", agent="random_search", llm="", seed=0,
    verified=None, start=None, chosen=None, ended=True, usage=None,
):  # fmt: skip
    """A folder of `runs`; the best on val is submitted unless `chosen` names another."""
    folder.mkdir(parents=True)
    who = {"agent": agent, **({"llm": llm, "preset": "codex"} if llm else {})}
    write_json(folder / "session.json", {
        "schema": 1, "game": game, "model": model, "seed": seed, "agent": who,
        "budget": {"seconds": 90.0, "steps": None, "run_seconds": 20.0}, "level": "bwrap+cgroup",
        "protocol": "state/1", "task": {},
    })  # fmt: skip
    (folder / "starter").mkdir()
    (folder / "starter" / "train.py").write_text(START)
    write_json(folder / "starter" / "config.json", CONFIG)
    rows = ["experiment\tstatus\tscore\tnote"]
    with Ledger(folder / "ledger.jsonl") as ledger:
        ledger.append("begin", note=agent)
        for number, run in enumerate(runs, 1):
            name = f"{number:03d}"
            kept = folder / "experiments" / name
            kept.mkdir(parents=True)
            (kept / "train.py").write_text(run.train)
            weights = f"weights of {name} in {folder.name}".encode()
            (kept / "weights.safetensors").write_bytes(weights)
            spent = {k: getattr(run, k) for k in ("tokens", "cost") if getattr(run, k) is not None}
            ledger.append(
                "experiment", experiment=name, config=run.config, seed=number, wall=run.wall,
                cpu=run.wall * 0.9, exit=0 if run.status == "ok" else 1, status=run.status,
                code_hash=hashlib.sha256(run.train.encode()).hexdigest(), note=run.note,
                weights_hash=hashlib.sha256(weights).hexdigest(),
                enforced={"level": "bwrap+cgroup"}, **spent,
            )  # fmt: skip
            if run.status == "ok":
                val = {"c1": run.score + 0.1, "c10": run.score, "c20": run.score,
                       "composite": run.score, "skill": run.score}  # fmt: skip
                ledger.append("score", experiment=name, val=val, status="ok", wall=1.0)
            shown = f"{run.score:.5f}" if run.status == "ok" else ""
            rows.append(f"{name}\t{run.status}\t{shown}\t{run.note}")
        good = [(run.score, f"{n:03d}") for n, run in enumerate(runs, 1) if run.status == "ok"]
        chosen = chosen or (max(good)[1] if good else "")
        if ended:
            ledger.append("end", experiment=chosen, tampered=[])
    task = folder / "task" / "experiments"
    task.mkdir(parents=True)
    (task / "summary.tsv").write_text("\n".join(rows) + "\n", "utf-8", "backslashreplace")
    if chosen and ended:
        (folder / "submission").mkdir()
        run = runs[int(chosen) - 1]
        (folder / "submission" / "train.py").write_text(run.train)
        write_json(folder / "submission" / "config.json", run.config)
        (folder / "submission" / "weights.safetensors").write_bytes(
            (folder / "experiments" / chosen / "weights.safetensors").read_bytes()
        )
    if verified is not None:
        write_json(folder / "verdict.json", verified)
    if start is not None:
        write_json(folder / "starter" / "verdict.json", start)
    if usage is not None:
        write_json(folder / "transcript" / "usage.json", usage)
    return folder


def researcher(scores, first=0.60):
    """A starter, then one labelled edit after another on top of it."""
    return [
        Made(first),
        *(
            Made(score, edit.after, {**CONFIG, **edit.config}, f"try: {edit.name}")
            for score, edit in zip(scores, EDITS[::3], strict=False)
        ),
    ]


def make_grid(folder, seeds=2):
    """Two games, three agents, so many seeds; `coder` gains most, `null` nothing."""
    made = []
    for place, game in enumerate(("pong", "snake")):
        floor = 0.60 + 0.1 * place
        for seed in range(seeds):
            luck = 0.004 * (seed - 0.5)
            for agent, gain in (("null", 0.0), ("random_search", 0.03), ("coder", 0.12)):
                if agent == "null":
                    runs = [Made(floor + 0.01 * k + luck, note=f"run {k}") for k in range(4)]
                elif agent == "coder":
                    runs = researcher(
                        [floor + 0.02, floor - 0.05, floor + gain, floor + 0.05], floor
                    )
                    for k, run in enumerate(runs):
                        run.tokens, run.cost = 1000.0 * (k + 1), 0.1
                else:
                    runs = [Made(floor)] + [
                        Made(floor + gain * k / 3, config={**CONFIG, "rate": 0.001 * (k + 2)},
                             note=f"rate, try {k}")
                        for k in range(4)
                    ]  # fmt: skip
                test = floor + gain + luck
                made.append(make_session(
                    folder / f"{game}-{agent}-{seed}", runs, game=game, agent=agent, seed=seed,
                    llm="big-model" if agent == "coder" else "",
                    verified=verdict(test, test - 0.05, max(run.score for run in runs),
                                     again=(test - 0.01, test, test - 0.02)),
                    start=verdict(floor, floor - 0.05),
                ))  # fmt: skip
    return made
