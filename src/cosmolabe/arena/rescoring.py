"""Scores a kept checkpoint on val once more, without touching the session."""

from pathlib import Path

from cosmolabe.arena.experiments import Rules, Scored, score
from cosmolabe.arena.places import find_store
from cosmolabe.arena.session import SCORING, read_session, val_bed


def rescore(folder: Path, experiment: str, level: str = "auto") -> Scored:
    """The score of an experiment's checkpoint, from predictions made in a fresh sandbox."""
    facts, place = read_session(folder), folder / "experiments" / experiment
    if not place.is_dir():
        have = sorted(p.name for p in (folder / "experiments").glob("*"))
        raise ValueError(f"{folder} has no experiment '{experiment}'; have {have}")
    bed = val_bed(find_store(folder, facts), facts["windows"], facts["protocol"])
    return score(place, bed, Rules(folder / "task", level), SCORING)
