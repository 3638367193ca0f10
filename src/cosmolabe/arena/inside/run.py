"""Asks for an experiment: `python run.py --note "why"`; chooses one: `python run.py --submit 003`.

The experiment runs outside, where nothing here can touch it; this program writes down what is asked
and waits for the answer. Run it in the task folder. Exit code 0: it went well.
"""

import argparse
import json
import os
import sys
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent


def ask(question: dict) -> dict:
    """Write a question, wait for its answer."""
    name = uuid.uuid4().hex
    part, whole = HERE / "asked" / f"{name}.part", HERE / "asked" / f"{name}.json"
    part.write_text(json.dumps(question), encoding="utf-8")
    os.replace(part, whole)
    answer = HERE / "answers" / f"{name}.json"
    while not answer.exists():
        time.sleep(0.1)
    return json.loads(answer.read_text(encoding="utf-8"))


def main() -> int:
    """Ask for what the command line says."""
    options = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    options.add_argument("--note", default="", help="what was changed and why")
    options.add_argument("--seed", type=int, help="of the training; else the session's own")
    options.add_argument("--train", default="train.py", help="another file to train with")
    options.add_argument("--config", default="config.json", help="another config")
    options.add_argument("--submit", metavar="ID", help="choose an experiment, train nothing")
    told = options.parse_args()
    if told.submit:
        answer = ask({"kind": "submit", "experiment": told.submit})
    else:
        train = Path(told.train).read_text(encoding="utf-8")
        config = json.loads(Path(told.config).read_text(encoding="utf-8"))
        answer = ask(
            {
                "kind": "experiment",
                "train": train,
                "config": config,
                "note": told.note,
                "seed": told.seed,
            }
        )
    print(answer["text"])
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
