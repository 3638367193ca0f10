"""Runs the experiments of a recorded session again: same code, configs and seeds, same order."""

from pathlib import Path

from cosmolabe.arena.recording import choice_of, proposals_of
from cosmolabe.core.agent import AgentPart, Desk


def drive(desk: Desk) -> None:
    """Run what the recording holds and was not run here yet, then submit what it submitted."""
    recording = str(desk.settings.get("recording") or "")
    if not recording:
        raise ValueError("the replay agent needs --recording, the folder of a session")
    proposals = proposals_of(Path(recording))
    while len(desk.tried) < len(proposals):
        desk.run(proposals[len(desk.tried)])
    choice = choice_of(Path(recording))
    if choice:
        desk.submit(choice)


AGENT = AgentPart(
    "replay",
    "Runs the experiments of a recorded session again.",
    drive,
    settings={"recording": ""},
)
