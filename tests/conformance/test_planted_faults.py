"""A game broken in one known way fails the check that looks for it."""

from dataclasses import replace

import numpy as np
import pytest

from cosmolabe.data.conformance import CHECKS, check_game
from cosmolabe.engine import canvas
from cosmolabe.engine.compiling import rule
from cosmolabe.engine.game import (
    LIVES,
    REWARD,
    TERMINATED,
    TICK,
    Column,
    Parameter,
    Theme,
)
from cosmolabe.engine.rng import COUNTER
from cosmolabe.games import pong

GAME = pong.GAME
FAULT = len(GAME.parameters)  # one parameter more chooses the fault
(
    NO_FAULT, NOT_A_NUMBER, OFF_SCREEN, CHANCE, DEAF, ENDLESS, UNPAID, STOPPED_CLOCK, HALF_A_LIFE,
    FROZEN, SEEDLESS,
) = range(11)  # fmt: skip


@rule
def step(world, action, parameters):
    """Pong with one fault."""
    fault = parameters[FAULT]
    if fault == DEAF and action == 2:
        action = 1
    if fault == FROZEN:
        world[TICK] += 1.0
        if world[TICK] >= pong.MAX_TICKS:
            world[TERMINATED] = 1.0
        return
    before = world[TICK]
    pong.step(world, action, parameters)
    if fault == NOT_A_NUMBER and before == 40.0:
        world[pong.SPEED] = np.nan
    if fault == OFF_SCREEN and before > 40.0:
        world[pong.BALL_Y] = 3.0
    if fault == CHANCE:
        world[pong.PLAYER_Y] = 0.5 + 0.1 * np.random.random()  # noqa: NPY002
    if fault == ENDLESS:
        world[TERMINATED] = 0.0
    if fault == UNPAID:
        world[REWARD] = 0.0
    if fault == STOPPED_CLOCK and before == 100.0:
        world[TICK] = before
    if fault == HALF_A_LIFE:
        world[LIVES] = 0.5
    if fault == SEEDLESS:
        world[COUNTER] = 0.0


@rule
def reset_without_luck(world, level, parameters):
    """Every seed begins, and goes on, alike."""
    pong.reset(world, level, parameters)
    world[-3:] = 0.0
    world[pong.SERVE_TO] = 1.0


@rule
def flee(world, parameters, luck):
    """A heuristic player that always goes up."""
    return 1


@rule
def never(public):
    """No late game."""
    return False


@rule
def draw_one_character(frame, state, numbers, palette, sprites, camera):
    """Forgets who plays."""
    height = frame.shape[0] * 1.0
    canvas.disc(frame, state[0, 0] * height, state[0, 1] * height, 6.0, palette[2])


@rule
def draw_one_look(frame, state, numbers, palette, sprites, camera):
    """One colour over everything."""
    for row in range(frame.shape[0]):
        for column in range(frame.shape[1]):
            for k in range(3):
                frame[row, column, k] = 7


@rule
def draw_by_chance(frame, state, numbers, palette, sprites, camera):
    """Never the same twice."""
    pong.draw(frame, state, numbers, palette, sprites, camera)
    frame[0, 0, 0] = np.uint8(255.0 * np.random.random())  # noqa: NPY002


@rule
def draw_past_the_edge(frame, state, numbers, palette, sprites, camera):
    """Trusts that positions are on the screen."""
    pong.draw(frame, state, numbers, palette, sprites, camera)
    row = np.int64(min(max(state[2, 1], 0.0), 1.2) * frame.shape[0])
    frame[row, 0, 0] = 1


def with_fault(fault):
    return replace(
        GAME,
        step=step,
        parameters={**GAME.parameters, "fault": Parameter(float(fault), "which fault, 0 none")},
    )


def with_manifest(**changes):
    return replace(GAME, manifest=replace(GAME.manifest, **changes))


def seeded_rails():
    """The rail's height shows the side of the first serve, which the seed decides."""
    shown = Column(pong.TOP_RAIL, "y", 0.01)
    return replace(GAME, columns=(*GAME.columns, shown), private=("aim",))


def dull_themes():
    same = GAME.themes[0]
    return replace(GAME, themes=tuple(Theme(f"t{k}", same.palette) for k in range(5)))


FAULTS = {
    "not a number": (with_fault(NOT_A_NUMBER), "states are finite"),
    "ball far below the screen": (with_fault(OFF_SCREEN), "positions are on the screen"),
    "luck from outside the world": (with_fault(CHANCE), "play is deterministic"),
    "an action that is another": (with_fault(DEAF), "actions do something"),
    "no end": (with_fault(ENDLESS), "episodes end"),
    "a clock that stops": (with_fault(STOPPED_CLOCK), "episodes end"),
    "points without reward": (with_fault(UNPAID), "reward is the score"),
    "half a life": (with_fault(HALF_A_LIFE), "lives and levels count"),
    "a frozen world": (with_fault(FROZEN), "things move"),
    "no seed": (replace(GAME, reset=reset_without_luck), "seeds matter"),
    "a parameter nobody reads": (
        replace(GAME, parameters={**GAME.parameters, "wind": Parameter(0.5, "screens per tick")}),
        "parameters matter",
    ),
    "rails that follow the seed": (seeded_rails(), "geometry follows from the level"),
    "a field never filled": (with_manifest(fields=("hp",)), "declared fields are used"),
    "a global never filled": (
        with_manifest(globals=(*GAME.manifest.globals, "shield")),
        "declared fields are used",
    ),
    "an undeclared action": (with_manifest(actions=("move_x",)), "declarations fit together"),
    "a column over another": (
        replace(GAME, columns=(*GAME.columns[:-1], GAME.columns[0])),
        "columns map",
    ),
    "a heuristic that flees": (replace(GAME, decide=flee), "heuristic beats random"),
    "no late game": (replace(GAME, late=never), "late game is reached"),
    "no word on the late game": (replace(GAME, late=None), "late game is reached"),
    "one look for all characters": (replace(GAME, draw=draw_one_character), "characters show"),
    "one flat colour": (replace(GAME, draw=draw_one_look), "pictures have the size asked for"),
    "states that look alike": (replace(GAME, draw=draw_one_look), "states look different"),
    "themes that look alike": (dull_themes(), "themes show"),
    "drawing by chance": (replace(GAME, draw=draw_by_chance), "drawing is deterministic"),
    "a share above one": (
        replace(
            GAME,
            columns=tuple(
                Column(None, "cooldown") if column.field == "cooldown" else column
                for column in GAME.columns
            ),
        ),
        "values are in range",
    ),
    "drawing past the edge": (replace(GAME, draw=draw_past_the_edge), "any state can be drawn"),
}


def failed(game):
    return {check.name: check.detail for check in check_game(game, num_worlds=4) if not check.ok}


def test_the_same_game_without_a_fault_passes():
    faultless = replace(with_fault(NO_FAULT), parameters=GAME.parameters)
    checks = check_game(replace(faultless, step=pong.step), num_worlds=4)
    assert [check.name for check in checks] == list(CHECKS)
    assert all(check.ok for check in checks), [c for c in checks if not c.ok]


@pytest.mark.parametrize("name", FAULTS)
def test_the_right_check_finds(name):
    game, check = FAULTS[name]
    found = failed(game)
    assert check in found
    assert found[check]


def test_every_check_is_seen_to_fail():
    assert {check for _, check in FAULTS.values()} == set(CHECKS)


def test_a_fault_is_told_by_name():
    details = failed(with_manifest(fields=("hp",)))
    assert "'hp'" in details["declared fields are used"]
    details = failed(with_fault(DEAF))
    assert details["actions do something"] == "'down' does just what 'up' does"


def test_a_game_whose_columns_cannot_be_shown_fails_instead_of_raising():
    lost = replace(GAME, columns=(*GAME.columns[:-1], Column(0, "hp")))
    assert failed(lost)["columns map"].startswith("raised AssertionError")
