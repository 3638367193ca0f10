"""Runs the experiments of a recorded session again: same code, configs and seeds, same order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosmolabe.arena.recording import choice_of, proposals_of
from cosmolabe.core.agent import AgentPart, Desk


def drive(desk: Desk) -> None:
    """Run what the recording holds and was not run here yet, then submit what it submitted."""
    recording = recording_of(desk.settings)
    proposals = proposals_of(recording)
    while len(desk.tried) < len(proposals):
        desk.run(proposals[len(desk.tried)])
    choice = choice_of(recording)
    if choice:
        desk.submit(choice)


def recording_of(settings: Mapping[str, Any]) -> Path:
    """The folder that is named."""
    recording = str(settings.get("recording") or "")
    if not recording:
        raise ValueError("the replay agent needs --recording, the folder of a session")
    return Path(recording)


def check(settings: Mapping[str, Any], folder: Path) -> None:
    """A recording that can be read, with the code of all its experiments."""
    proposals_of(recording_of(settings))


AGENT = AgentPart(
    "replay",
    "Runs the experiments of a recorded session again.",
    drive,
    settings={"recording": ""},
    paths=("recording",),
    check=check,
)
