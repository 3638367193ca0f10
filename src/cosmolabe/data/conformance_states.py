"""Conformance of a game's states: what it declares and what values it takes."""

import numpy as np

from cosmolabe.core.fields import FIELDS_START
from cosmolabe.data.conformance_play import Evidence, Finding, ok_if
from cosmolabe.engine.game import LEVEL, LIVES, layout_of
from cosmolabe.engine.sprites import ART

MARGIN = 0.1
"""How far beyond the screen's edge a living entity may be, on top of its own size, in screens."""

FLAG_FIELDS = ("on_ground", "reached", "tagged")
SHARE_FIELDS = ("age", "rotation")
SHARE_GLOBALS = ("tick_share", "time_left", "remaining", "done", "progress", "cooldown", "shield")
HEAD_GLOBALS = ("score", "reward", "lives", "level", "phase", "tick_share")


def declared_well(evidence: Evidence) -> Finding:
    """Names, keys, words, characters and the action table fit together."""
    game, manifest = evidence.game, evidence.game.manifest
    table = np.array(game.action_table, float)
    used = [name for name, column in zip(manifest.profile.action_fields, table.T, strict=True)
            if column.any()]  # fmt: skip
    problems = []
    if table[0].any():
        problems.append("action 0 must do nothing")
    if sorted(used) != sorted(manifest.actions):
        problems.append(f"declares actions {list(manifest.actions)} but its table uses {used}")
    if not 1 <= len(manifest.actions) <= 3 or np.abs(table).max() > 1:
        problems.append("uses one to three action fields with values -1..1")
    if len({tuple(row) for row in table.tolist()}) < len(table):
        problems.append("two discrete actions are the same row of the table")
    lost = sorted(set(game.action_keys.values()) - set(game.actions))
    if lost:
        problems.append(f"keys for unknown actions {lost}")
    speechless = [w for w in (*game.roles, "goal", *game.actions) if not game.words.get(w)]
    if speechless:
        problems.append(f"no words for {speechless}")
    undrawn = [name for name in (*game.characters, *game.art) if name not in ART]
    if undrawn or len(set(game.characters)) < 6:
        problems.append(f"wants six characters with sprites; without: {undrawn}")
    if not np.isfinite(manifest.registry()).all():
        problems.append("the registry holds numbers that are not finite")
    return ok_if(problems, f"{manifest.num_slots} slots, {len(game.actions)} actions")


def columns_map(evidence: Evidence) -> Finding:
    """Every public column lands in a place of its own."""
    layout = layout_of(evidence.game)
    shown = layout.target[np.abs(layout.target) < 1 << 39]
    twice = len(shown) - len(set(shown.tolist()))
    return Finding(not twice, f"{len(shown)} columns, {twice} of them onto another's place")


def declared_is_used(evidence: Evidence) -> Finding:
    """Declared fields are not 0 everywhere; declared globals change in play."""
    manifest = evidence.game.manifest
    profile = manifest.profile
    problems = []
    for name in manifest.fields:
        column = FIELDS_START + profile.game_fields.index(name)
        if not any(states[..., column].any() for states, _ in evidence.samples):
            problems.append(f"field '{name}' is 0 everywhere")
    for name in set(manifest.globals) - set(HEAD_GLOBALS):
        column = profile.global_fields.index(name)
        if not any(np.ptp(numbers[:, column]) > 0 for _, numbers in evidence.samples):
            problems.append(f"global '{name}' never changes")
    return ok_if(
        sorted(problems), f"{len(manifest.fields)} fields, {len(manifest.globals)} globals"
    )


def states_are_finite(evidence: Evidence) -> Finding:
    """No NaN or infinity in any public number or world vector, rewards included."""
    names = ("random", "heuristic")
    problems = [
        f"{name} play"
        for name, play in zip(names, evidence.plays, strict=True)
        if not (np.isfinite(play.public).all() and np.isfinite(play.ends).all())
    ]
    return ok_if([f"numbers that are not finite in {p}" for p in problems], "finite throughout")


def positions_are_on_screen(evidence: Evidence) -> Finding:
    """What lives is on the screen, but for its own size and MARGIN; dead and alive is 0 or 1."""
    manifest = evidence.game.manifest
    problems = []
    for slot, info in enumerate(manifest.slots):
        size_y = max(info.radius, info.half_height) + MARGIN
        size_x = max(info.radius, info.half_width) / manifest.aspect + MARGIN
        for states, _ in evidence.samples:
            row = states[:, slot]
            alive = row[:, 2] > 0.5
            if not np.isin(row[:, 2], (0, 1)).all():
                problems.append(f"'{info.name}': alive is neither 0 nor 1")
            for axis, size in ((0, size_x), (1, size_y)):
                values = row[alive, axis]
                if len(values) and (values.min() < -size or values.max() > 1 + size):
                    problems.append(
                        f"'{info.name}' at {'xy'[axis]} {values.min():.2f}..{values.max():.2f}"
                    )
    return ok_if(sorted(set(problems)), f"within the screen, {MARGIN} and their own size beyond")


def values_are_in_range(evidence: Evidence) -> Finding:
    """Flags are 0 or 1, shares and headings 0..1, directions 0..3, speeds below a screen a tick."""
    profile = evidence.game.manifest.profile
    problems = []
    for states, numbers in evidence.samples:
        for name in set(evidence.game.manifest.fields):
            values = states[..., FIELDS_START + profile.game_fields.index(name)]
            if name in FLAG_FIELDS and not np.isin(values, (0, 1)).all():
                problems.append(f"field '{name}' is neither 0 nor 1")
            top = 3.0 if name == "direction" else 1.0
            if (name in SHARE_FIELDS or name == "direction") and (
                values.min() < 0 or values.max() > top
            ):
                problems.append(f"field '{name}' leaves 0..{top:.0f}")
        for name in SHARE_GLOBALS:
            values = numbers[:, profile.global_fields.index(name)]
            if values.min() < 0 or values.max() > 1 + 1e-6:
                problems.append(f"global '{name}' leaves 0..1")
        if np.abs(states[..., 3:5]).max() > 1:
            problems.append("a velocity above one screen a tick")
    return ok_if(sorted(set(problems)), "flags, shares and speeds in range")


def lives_and_levels(evidence: Evidence) -> Finding:
    """Lives are whole and never negative, levels whole and from 1 on."""
    problems = []
    for play in evidence.plays:
        for world in range(evidence.num_worlds):
            rows = play.rows(world)
            for name, column, least in (("lives", LIVES, 0), ("level", LEVEL, 1)):
                values = rows[:, column]
                if (values < least).any() or (values != np.floor(values)).any():
                    problems.append(f"{name} is no whole number from {least} on")
    return ok_if(sorted(set(problems)), "whole numbers")


STATE_CHECKS = {
    "declarations fit together": declared_well,
    "columns map": columns_map,
    "states are finite": states_are_finite,
    "positions are on the screen": positions_are_on_screen,
    "values are in range": values_are_in_range,
    "lives and levels count": lives_and_levels,
    "declared fields are used": declared_is_used,
}
