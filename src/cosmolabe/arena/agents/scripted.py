"""Makes the edits of a script, one experiment each: what a person would try, fixed beforehand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosmolabe.arena.scripts import edited, read_script
from cosmolabe.core.agent import AgentPart, Desk


def drive(desk: Desk) -> None:
    """Run the steps that were not run yet; an edit that no longer fits is refused by its name."""
    steps = read_script(script_of(desk.settings))
    while len(desk.tried) < len(steps):
        desk.run(edited(desk.starter, steps, len(desk.tried), desk.tried))


def script_of(settings: Mapping[str, Any]) -> Path:
    """The file that is named."""
    script = str(settings.get("script") or "")
    if not script:
        raise ValueError("the scripted agent needs --script, a JSON file of edits")
    return Path(script)


def check(settings: Mapping[str, Any], folder: Path) -> None:
    """A script that can be read."""
    read_script(script_of(settings))


AGENT = AgentPart(
    "scripted",
    "Makes a fixed list of edits to train.py and config.json, one experiment each.",
    drive,
    settings={"script": ""},
    paths=("script",),
    check=check,
)
