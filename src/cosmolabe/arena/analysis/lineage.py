"""The edits of a session: what each experiment changed, and of which earlier one."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cosmolabe.arena.analysis.difference import Difference, difference, pieces
from cosmolabe.arena.analysis.endpoint import Recorded
from cosmolabe.arena.analysis.judging import judge_edit
from cosmolabe.arena.analysis.normalise import units_of
from cosmolabe.arena.analysis.rules import Sorted, sort_edit
from cosmolabe.arena.analysis.sessions import NAN, Experiment, Session

BROKEN = Sorted("", (), ("train.py is no Python",), False)


@dataclass(frozen=True)
class Edit:
    """What one experiment tried."""

    experiment: Experiment
    parent: str
    """The earlier experiment it differs least from; "" for the starter itself."""
    found: Difference | None
    """How it differs from its parent; None where it cannot be read."""
    sorted: Sorted
    over_starter: float
    """Composite on val beyond the starter's mean in this session."""
    over_parent: float
    judged: str = ""
    """The second rater's class, shown the diff alone."""
    judged_with_words: str = ""
    """Its class when it is also shown the agent's note."""


def edits_of(session: Session, asked: Recorded | None = None) -> list[Edit]:
    """The edits of a session in order; the second rater is asked where one is given.

    An experiment's parent is the earlier one, the starter among them, whose code and config share
    most lines with its own; of equally near ones the latest.
    """
    known: list[tuple[str, str, Mapping[str, Any], Counter[str]]] = [
        ("", session.starter, session.starter_config, _lines(session.starter, {}))
    ]
    start = [one.score for one in session.starters if one.score == one.score]
    floor = sum(start) / len(start) if start else NAN
    scores = {"": floor}
    told = []
    for one in session.experiments:
        mine = _lines(one.train, one.config)
        parent = min(reversed(known), key=lambda k: _apart(k, one.config, mine))
        found = _difference(parent[1], one.train, parent[2], one.config)
        says = sort_edit(found) if found is not None else BROKEN
        judged = words = ""
        if asked is not None and found:
            judged = judge_edit(found, asked).category
            words = judge_edit(found, asked, one.note).category if one.note else judged
        told.append(
            Edit(
                one, parent[0] if found is not None else "", found, says, one.score - floor,
                one.score - scores.get(parent[0], NAN), judged, words,
            )
        )  # fmt: skip
        if found is not None:
            known.append((one.name, one.train, one.config, mine))
        scores[one.name] = one.score
    return told


def whole_edit(session: Session) -> tuple[Difference | None, Sorted]:
    """What the submitted experiment changed of the starter, all steps together."""
    winner = session.winner
    if winner is None:
        return None, BROKEN
    found = _difference(session.starter, winner.train, session.starter_config, winner.config)
    return found, sort_edit(found) if found is not None else BROKEN


def _difference(before: str, after: str, old: Mapping, new: Mapping) -> Difference | None:
    try:
        return difference(before, after, old, new)
    except ValueError:
        return None


def _lines(text: str, config: Mapping[str, Any]) -> Counter[str]:
    """Statements of a program, and keys with values of its config, counted."""
    try:
        units = units_of(text)
    except ValueError:
        return Counter()
    return Counter(piece.text for unit in units.values() for piece in pieces([unit]))


def _apart(
    known: tuple[str, str, Mapping[str, Any], Counter[str]], config: Mapping, mine: Counter[str]
) -> tuple[int, int]:
    code = ((known[3] - mine) + (mine - known[3])).total()
    return code, int(dict(known[2]) != dict(config))
