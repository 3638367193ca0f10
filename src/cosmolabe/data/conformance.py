"""Does a game keep the promises that stores, judges and models rely on?

`check_game(game)` plays and draws it in every way the others will, and returns a list of named
checks. Any outside game can be held to them.
"""

from dataclasses import dataclass

from cosmolabe.data.conformance_drawing import DRAWING_CHECKS
from cosmolabe.data.conformance_play import Evidence, Finding
from cosmolabe.data.conformance_rules import RULE_CHECKS
from cosmolabe.data.conformance_states import STATE_CHECKS
from cosmolabe.engine.game import Game

CHECKS = {**STATE_CHECKS, **RULE_CHECKS, **DRAWING_CHECKS}
"""Every promise by name."""


@dataclass(frozen=True)
class Check:
    """One promise and whether the game keeps it."""

    name: str
    ok: bool
    detail: str


def check_game(game: Game, num_worlds: int = 12) -> list[Check]:
    """All checks of one game, in a fixed order; a check that raises has failed."""
    evidence = Evidence(game, num_worlds)
    checks = []
    for name, check in CHECKS.items():
        try:
            finding = check(evidence)
        except Exception as error:
            finding = Finding(False, f"raised {type(error).__name__}: {error}")
        checks.append(Check(name, finding.ok, finding.detail))
    return checks
