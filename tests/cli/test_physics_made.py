"""physics certificate, bench and fit, as a person types them."""

import json

import pytest

from cosmolabe.bench.physics.making import JudgeRecipe
from cosmolabe.cli import main
from cosmolabe.cli._physics_made import PhysicsFit, recipe_of


def run(capsys, *words):
    code = main.run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_certificate_names_every_target_every_kind_and_what_it_cannot_see(capsys):
    code, told = run(capsys, "physics", "certificate")
    assert code == 0
    assert set(told["meets"]) == set(told["targets"]) == {"pairwise", "rho", "leakage"}
    unseen = told["parts"]["unseen"]
    for found in (unseen["pairwise"], unseen["rho"]["mean"], told["false_alarm"]["rare"]):
        assert found["low"] <= found["value"] <= found["high"]
        assert found["n"] > 0
    assert set(told["attacks"]) == {"frozen", "slowed", "reversed"}
    assert "action_delay" in told["not_measurable"]
    assert any(kind["held_out"] for kind in told["kinds"].values())


def test_people_are_told_which_targets_are_missed(capsys):
    assert main.run(["physics", "certificate"]) == 0
    said = capsys.readouterr().out
    met = run(capsys, "physics", "certificate")[1]["meets"]
    assert ("MISSED" in said) == (not all(met.values()))
    assert "not measurable" in said


def test_the_bench_is_a_ladder_with_rungs_below_the_threshold_and_quality_beside(capsys):
    code, told = run(capsys, "physics", "bench")
    assert code == 0
    whole = [r for r in told["rungs"] if r["kind"] == "all"]
    rungs = [r["rung"] for r in whole if r["what"] == "damage"]
    assert rungs[:5] == ["0.10", "0.25", "0.50", "0.75", "1.00"]
    assert "below threshold" in rungs
    assert {r["kind"] for r in told["rungs"] if r["what"] == "quality"} > {"blur", "rate"}


@pytest.mark.parametrize("verb", ["certificate", "bench"])
def test_a_head_without_a_certificate_is_refused(capsys, verb):
    code, told = run(capsys, "physics", verb, "--head", "untrained")
    assert code == 2
    assert "no certificate" in told["error"]


def test_flags_of_fit_change_the_recipe_and_nothing_else():
    plain = JudgeRecipe()
    asked = PhysicsFit(work="w", groups=8, test_groups=4, steps=7, seed=3, mujoco=False)
    told = recipe_of(asked, plain)
    assert told.twins.groups == {**plain.twins.groups, "train": 8, "test": 4}
    assert "mujoco" not in told.twins.shares
    assert "mujoco" not in told.more_shares
    assert told.eye.steps == 7
    assert told.seed == 3
    assert told.head == plain.head
    assert recipe_of(PhysicsFit(work="w"), plain) == plain
