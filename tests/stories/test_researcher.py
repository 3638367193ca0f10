"""A researcher has a checkpoint and wants a report card against the previous one."""

import torch

from cosmolabe.core.record import read_json

OWN_MODEL = '''
import numpy as np
from cosmolabe.core.rollout import Prediction


class Frozen:
    """Everything stays where it was, and is never dead."""

    name = "frozen"

    def __init__(self, manifest):
        self.manifest = manifest

    def rollout(self, context, seed=0):
        last = context.states[:, -1:]
        kept = np.concatenate([last[..., :3], last[..., 5:19]], -1)
        states = np.repeat(kept, context.horizon, 1).astype(np.float32)
        numbers = np.repeat(context.globals[:, -1:], context.horizon, 1).astype(np.float32)
        return Prediction(states, numbers, np.full(numbers.shape[:2], -9, np.float32))
'''


def test_from_playing_to_a_gate_in_ci(tell, tmp_path):
    store, old, new = tmp_path / "pong", tmp_path / "old", tmp_path / "new"
    code, made = tell("collect", "pong", "--out", store, "-n", 24, "--max-ticks", 150)
    assert (code, made["episodes"]) == (0, 24)
    assert tell("check", "store", store) == (0, {"ok": True, "store": str(store), "episodes": 24})

    torch.set_num_threads(1)
    checkpoint = tmp_path / "checkpoint"
    code, trained = tell("train", store, "--out", checkpoint, "--steps", 3, "--batch-size", 4)
    assert (code, trained["steps"]) == (0, 3)

    small = ("--split", "train", "--clips", "1", "-n", "12")
    code, judged = tell("judge", store, "-m", checkpoint, "--out", new, *small)
    assert code == 0
    final = next(r for r in judged["readings"] if r["metric"] == "final")
    assert final["low"] <= final["value"] <= final["high"]
    assert final["floor"] < final["ceiling"]
    assert (new / "report.html").stat().st_size > 10_000
    assert len((new / "clips.jsonl").read_text().splitlines()) == final["n"] + final["skipped"]

    assert tell("judge", store, "-m", "constant_velocity", "--out", old, *small)[0] == 0
    code, same = tell("compare", old, old, "--gate")
    assert code == 0
    assert {row["verdict"] for row in same["rows"]} == {"same"}
    code, change = tell("compare", new, old, "--out", tmp_path / "change")
    assert code == 0
    assert change["rows"][0]["difference"] == -tell("compare", old, new)[1]["rows"][0]["difference"]
    assert "against" in (tmp_path / "change" / "comparison.html").read_text()
    assert tell("report", new)[0] == 0
    assert tell("report", tmp_path / "change")[1]["report"].endswith("comparison.html")


def test_a_regression_closes_the_gate(tell, tmp_path):
    store, good, bad = tmp_path / "pong", tmp_path / "good", tmp_path / "bad"
    tell("collect", "pong", "--out", store, "-n", 48, "--split", "test", "--max-ticks", 200)
    (tmp_path / "broken.py").write_text(OWN_MODEL.replace("kept, ", "0 * kept, "))
    fast = ("--clips", 0, "--no-report")
    tell("judge", store, "-m", "constant_velocity", "--out", good, *fast)
    tell("judge", store, "-m", f"{tmp_path}/broken.py:Frozen", "--trust", "--out", bad, *fast)
    code, change = tell("compare", good, bad, "--gate")
    assert code == 1
    assert change["ok"] is False
    assert change["regressed"] > 0
    assert tell("compare", good, bad)[0] == 0
    assert tell("compare", bad, good, "--gate")[0] == 0


def test_my_own_model_runs_only_when_trusted(tell, tmp_path):
    store, mine = tmp_path / "pong", tmp_path / "mine.py"
    tell("collect", "pong", "--out", store, "-n", 6, "--split", "test", "--max-ticks", 60)
    mine.write_text(OWN_MODEL + f"\nopen({str(tmp_path / 'ran')!r}, 'w').close()\n")
    words = ("judge", store, "-m", f"{mine}:Frozen", "--out", tmp_path / "run", "--clips", 0)
    code, refused = tell(*words)
    assert code == 2
    assert "--trust" in refused["error"]
    assert not (tmp_path / "ran").exists()
    code, judged = tell(*words, "--trust", "--no-report")
    assert (tmp_path / "ran").exists()
    values = {r["metric"]: r["value"] for r in judged["readings"] if r["horizon"] is None}
    assert values["final"] == values["final_still"]


def test_rollouts_are_judged_as_the_model_itself_would_be(tell, tmp_path):
    store, rolled = tmp_path / "pong", tmp_path / "rollouts"
    tell("collect", "pong", "--out", store, "-n", 6, "--split", "test", "--max-ticks", 60)
    code, made = tell("rollout", store, "-m", "still", "--out", rolled, "--frames", 28)
    assert (code, made["rollouts"], made["unusable"]) == (0, 6, 0)
    quick = ("--no-report", "--clips", 0)
    finals = []
    for words in ((rolled,), (store, "-m", "still")):
        _, judged = tell("judge", *words, "--out", tmp_path / f"run{len(finals)}", *quick)
        finals.append(next(r for r in judged["readings"] if r["metric"] == "final"))
    assert finals[0]["value"] == finals[1]["value"]
    assert finals[0]["protocol"] == finals[1]["protocol"]
    assert read_json(tmp_path / "run0" / "record.json")["config"]["rollouts"] == 6
