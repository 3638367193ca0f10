"""A recorded session, read to be run again."""

from pathlib import Path

from cosmolabe.arena.session import history, ledger_of, submitted
from cosmolabe.core.agent import Proposal


def proposals_of(folder: Path) -> list[Proposal]:
    """What a session tried, in order, each with the seed it was trained with."""
    found = [one.proposal for one in history(folder, ledger_of(folder))]
    missing = [place + 1 for place, one in enumerate(found) if not one.train]
    if not found or missing:
        raise ValueError(f"{folder}: no experiment, or the code of {missing} is gone")
    return found


def choice_of(folder: Path) -> str:
    """The experiment that was submitted by choice; "" where the best on val was."""
    return submitted(ledger_of(folder))
