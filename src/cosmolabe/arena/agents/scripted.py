"""Makes the edits of a script, one experiment each: what a person would try, fixed beforehand."""

from pathlib import Path

from cosmolabe.arena.scripts import edited, read_script
from cosmolabe.core.agent import AgentPart, Desk


def drive(desk: Desk) -> None:
    """Run the steps that were not run yet; an edit that no longer fits is refused by its name."""
    script = str(desk.settings.get("script") or "")
    if not script:
        raise ValueError("the scripted agent needs a script: --script NAME or a JSON file")
    steps = read_script(Path(script))
    while len(desk.tried) < len(steps):
        desk.run(edited(desk.starter, steps, len(desk.tried), desk.tried))


AGENT = AgentPart(
    "scripted",
    "Makes a fixed list of edits to train.py and config.json, one experiment each.",
    drive,
    settings={"script": ""},
)
