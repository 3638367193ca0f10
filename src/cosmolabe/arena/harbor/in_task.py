"""Trains train.py and scores it on val: `python run.py --note "why"`; `--submit ID` chooses.

What is printed here is for whoever works here; the score that counts is made elsewhere, once.
"""

import argparse
import csv
import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FILES = ("train.py", "config.json", "weights.safetensors")
COLUMNS = ("experiment", "status", "score", "c1", "c10", "c20", "wall", "note")
WINDOWS = 256


def main() -> int:
    """Do what the command line says."""
    options = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    options.add_argument("--note", default="", help="what was changed and why")
    options.add_argument("--seed", type=int, default=0, help="of the training")
    options.add_argument("--submit", metavar="ID", help="choose an experiment, train nothing")
    options.add_argument("--score", metavar="ID", help=argparse.SUPPRESS)
    told = options.parse_args()
    if told.score:
        print(json.dumps(score(HERE / "experiments" / told.score)))
        return 0
    if told.submit:
        submit(told.submit)
        (HERE / "experiments" / "chosen").write_text(told.submit)
        print(f"{told.submit} is the submission")
        return 0
    return experiment(told.note, told.seed)


def experiment(note: str, seed: int) -> int:
    """Train and score; the best on val becomes the submission unless one was chosen."""
    top = HERE / "experiments"
    name = f"{sum(path.is_dir() for path in top.iterdir()) + 1:03d}"
    folder, limit = top / name, json.loads((HERE / "limits.json").read_text())["per_run"]
    folder.mkdir()
    for file in FILES[:2]:
        shutil.copyfile(HERE / file, folder / file)
    began, row = time.monotonic(), {"experiment": name, "note": " ".join(note.split())}
    words = [str(HERE / "package" / "begin.py"), str(folder), str(HERE / "data"), str(seed)]
    with (folder / "log.txt").open("wb") as log:
        try:
            command = [sys.executable, "-I", "-B", *words, f"{limit:g}"]
            done = subprocess.run(command, stdout=log, stderr=log, timeout=limit, check=False)
            row["status"] = "ok" if done.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            row["status"] = "timeout"
    if row["status"] == "ok" and not (folder / FILES[2]).is_file():
        row["status"] = "no_weights"
    if row["status"] == "ok":
        row |= _scored(name, folder)
    row["wall"] = f"{time.monotonic() - began:.1f}"
    _note(top / "summary.tsv", row)
    print("\t".join(f"{key} {value}" for key, value in row.items()))
    if row["status"] == "ok" and not (top / "chosen").exists() and _is_best(top, row):
        submit(name)
    return 0 if row["status"] == "ok" else 1


def submit(name: str) -> None:
    """Copy an experiment's files to where they are scored from."""
    for file in FILES:
        shutil.copyfile(HERE / "experiments" / name / file, HERE / "submission" / file)


def score(folder: Path) -> dict[str, float]:
    """The checkpoint in a folder on val, by the formula of the instruction."""
    sys.path.insert(0, str(HERE / "package"))
    os.chdir(folder)
    import numpy as np

    from cosmolabe.data.store import open_store
    from cosmolabe.data.windows import evaluation_windows
    from cosmolabe.judges.state import scoring

    store = open_store(HERE / "data")
    model: Any = runpy.run_path(str(folder / "train.py"), run_name="submission")["MODEL"]
    world = model.load(folder, store.manifest)
    episodes, starts, _ = evaluation_windows(store, "val", 28, WINDOWS)
    windows = store.windows(episodes, starts, 28)
    found = scoring.score(windows, world.rollout(windows.context(8), seed=0))
    told = {f"c{h}": float(np.nanmean(found.composite[:, h - 1])) for h in (1, 10, 20)}
    return {"score": float(np.nanmean(found.final)), **told}


def _scored(name: str, folder: Path) -> dict[str, str]:
    """In a process of its own: train.py must not see what is scored next."""
    command = [sys.executable, "-B", str(HERE / "run.py"), "--score", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        (folder / "score.txt").write_text(done.stderr)
        return {"status": "invalid"}
    return {k: f"{v:.5f}" for k, v in json.loads(done.stdout.splitlines()[-1]).items()}


def _note(path: Path, row: dict[str, str]) -> None:
    fresh = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        if fresh:
            table.writerow(COLUMNS)
        table.writerow([row.get(column, "") for column in COLUMNS])


def _is_best(top: Path, row: dict[str, str]) -> bool:
    with (top / "summary.tsv").open(newline="", encoding="utf-8") as file:
        known = [one["score"] for one in csv.DictReader(file, delimiter="\t")]
    return float(row["score"]) >= max(float(text) for text in known if text)


if __name__ == "__main__":
    sys.exit(main())
