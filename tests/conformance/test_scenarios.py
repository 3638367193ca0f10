"""Every game's scenarios test what they say, and the check that says so sees planted faults."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scripts import script

from cosmolabe.bench.scenario_check import check_scenario, check_scenarios, verdicts
from cosmolabe.bench.staging import stage
from cosmolabe.core import parts
from cosmolabe.core.scenario import LEAD, Change, Predicate
from cosmolabe.data.playing import parse_script

SEEDS = 40
HERE = Path(__file__).parents[2]
scenario_pages = script("recipes/scenario_pages.py")

every_game = pytest.mark.parametrize("name", parts.names("scenarios"))


@every_game
def test_a_game_has_a_dozen_scenarios_of_different_names_and_one_that_needs_memory(name):
    scenarios = parts.load("scenarios", name)
    names = [scenario.name for scenario in scenarios]
    assert len(names) >= 12
    assert len(set(names)) == len(names)
    assert any(scenario.needs_memory for scenario in scenarios)


@every_game
def test_scripts_parse_and_part_from_their_twins_only_after_the_context(name):
    game = parts.load("games", name)
    for scenario in parts.load("scenarios", name):
        script, twin = (parse_script(game, words) for words in (scenario.script, scenario.twin))
        assert script[:LEAD] == twin[:LEAD], scenario.name
        assert script != twin, scenario.name
        assert len(script) > LEAD, scenario.name
        assert scenario.horizon >= 20, scenario.name


@every_game
def test_rules_are_told_in_a_sentence_and_named_once_in_a_scenario(name):
    for scenario in parts.load("scenarios", name):
        assert scenario.summary.endswith("."), scenario.name
        assert scenario.predicates, scenario.name
        names = [predicate.name for predicate in scenario.predicates]
        assert len(set(names)) == len(names), scenario.name
        assert all(p.says.endswith(".") and p.says != p.name for p in scenario.predicates)


@every_game
def test_every_rule_holds_in_truth_and_breaks_where_it_must(name):
    wrong = [
        f"{row.scenario}, {row.predicate}: {row.why}"
        for row in check_scenarios(name, SEEDS)
        if not row.ok
    ]
    assert not wrong, wrong


@every_game
def test_the_page_of_a_game_is_current(name):
    path = HERE / "docs" / "scenarios" / f"{name}.md"
    assert path.exists(), "run recipes/scenario_pages.py"
    assert path.read_text(encoding="utf-8") == scenario_pages.page(name), (
        "run recipes/scenario_pages.py"
    )


@every_game
def test_a_rollout_that_is_no_number_is_no_error(name):
    game = parts.load("games", name)
    for scenario in parts.load("scenarios", name):
        true = stage(game, scenario, range(2)).trace
        nothing = replace(
            true,
            states=np.full_like(true.states, np.nan),
            globals=np.full_like(true.globals, np.nan),
        )
        for predicate in scenario.predicates:
            assert verdicts(predicate, nothing).shape == (2,)


PONG = parts.load("games", "pong")
RAIL = parts.load("scenarios", "pong")[0]
RULE = RAIL.predicates[0]


def faults_of(**changes):
    """What the check says of a good scenario with something changed in its rule."""
    rule = replace(RULE, **changes)
    return check_scenario(PONG, replace(RAIL, predicates=(rule,)), 20)[0].why


def test_a_sound_rule_has_no_faults():
    assert faults_of() == ""


def test_a_rule_that_is_always_kept_catches_nothing():
    assert "misses" in faults_of(holds=lambda trace: np.ones(len(trace), bool))


def test_a_rule_that_truth_breaks_now_and_then_is_named():
    assert "true continuations" in faults_of(holds=lambda t: t.x("ball")[:, 0] > 0.55)


def test_a_rule_that_looks_at_the_last_digit_is_named():
    def exact(trace):
        way = trace.y("ball")
        return RULE.holds(trace) & (np.abs(np.diff(way, 2, axis=1)[:, :6]) < 1e-5).all(1)

    assert "too strict" in faults_of(holds=exact)


def test_a_rule_that_minds_what_is_not_its_business_is_named():
    assert "fails under" in faults_of(survives=RULE.catches)


def test_a_change_that_changes_nothing_is_named():
    assert "changes nothing" in faults_of(survives=Change("none", edit=lambda trace: trace))


def test_a_twin_that_ends_alike_is_named():
    alike = replace(RAIL, twin=RAIL.script)
    assert "twin differs" in check_scenario(PONG, alike, 20)[0].why


def test_a_rule_that_gives_one_truth_for_all_is_refused():
    rule = replace(RULE, holds=lambda trace: np.bool_(True))
    with pytest.raises(ValueError, match="expected bool"):
        check_scenario(PONG, replace(RAIL, predicates=(rule,)), 5)


def test_planted_physics_begin_after_the_context():
    true = stage(PONG, RAIL, range(3))
    other = stage(PONG, RAIL, range(3), parameters={"gravity": 0.002})
    assert np.array_equal(true.windows.states[:, :8], other.windows.states[:, :8])
    assert not np.array_equal(true.windows.states[:, 8:], other.windows.states[:, 8:])


def test_a_change_is_physics_or_an_edit_and_never_both():
    with pytest.raises(AssertionError):
        Change("both", {"gravity": 1.0}, lambda trace: trace)
    with pytest.raises(AssertionError):
        Change("neither")
    assert Predicate("a", "b", lambda t: t.alive("ball")[:, 0], RULE.catches, RULE.survives)
