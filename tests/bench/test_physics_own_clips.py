"""A judge fitted on labelled videos of one's own, as a person types it."""

import csv
import json

import numpy as np
import pytest
from moving_squares import square

from cosmolabe.cli import main
from cosmolabe.data.video import write_video
from cosmolabe.judges.physics import Physics
from cosmolabe.nets.feature_store import FeatureStore


def run(capsys, *words):
    code = main.run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Squares that wander, and the same ones jumping about; the last four groups are kept back."""
    folder = tmp_path_factory.mktemp("clips")
    rows = [("path", "violation", "group", "split")]
    for number in range(12):
        split = "test" if number >= 8 else "train"
        true = square(24, size=48, seed=number)
        jumps = np.random.default_rng(number).permutation(len(true))
        for name, frames, violation in (("true", true, 0), ("broken", true[jumps], 1)):
            path = folder / f"{number}-{name}.mp4"
            write_video(path, iter([frames]), 16.0)
            rows.append((path.name, violation, f"g{number}", split))
    (folder / "bad.mp4").write_bytes(b"no video at all " * 30)
    rows.append(("bad.mp4", 1, "g0", "train"))
    with (folder / "clips.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder


def test_a_judge_is_fitted_on_labelled_clips_and_held_against_those_kept_back(
    clips, tmp_path, capsys, monkeypatch
):
    words = ("physics", "fit", "--work", tmp_path / "w", "--clips", clips, "--steps", 80)
    code, told = run(capsys, *words)
    assert code == 0, told
    assert (told["trained"], told["tested"], list(told["failed"])) == (16, 8, ["bad.mp4"])
    accuracy = next(r for r in told["readings"] if r["metric"] == "pairwise_accuracy")
    assert accuracy["value"] == 1.0
    judge = Physics.load(told["head"], choices={"unlike": False})
    true, broken = (judge.score([clips / f"9-{n}.mp4"])[0]["raw"] for n in ("true", "broken"))
    assert true < broken
    monkeypatch.setattr(FeatureStore, "put", None)  # nothing may be seen anew
    assert run(capsys, *words)[1] == told


def test_what_cannot_be_fitted_on_is_refused(clips, tmp_path, capsys):
    words = ("physics", "fit", "--work", tmp_path / "w")
    for more, said in (
        (("--clips", clips, "--groups", 3), "of twins"),
        (("--encoder", "tiny"), "go with --clips"),
        (("--clips", clips, "--corpus", "physion"), "for evaluation"),
        (("--clips", tmp_path), "clips"),
    ):
        code, told = run(capsys, *words, *more)
        assert code == 2
        assert said in told["error"]
    (tmp_path / "clips.csv").write_text(f"path,violation\n{clips / '0-true.mp4'},0\n")
    assert run(capsys, *words, "--clips", tmp_path)[0] == 2
