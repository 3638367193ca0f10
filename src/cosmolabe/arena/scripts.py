"""Scripts: lists of edits in JSON, each a step of somebody's research.

A step: {"name", "note", "on" ("starter", "best" or a step's name), "edits": [{"find", "replace"}],
"patch" (a unified diff beside the script), "recipe": {dial: value}, "seed"}; all but name may be
left out. A patch is made like edits: the lines that each hunk finds have to stand in exactly one
place, at whatever line number. What stands above its first `---` is its reason.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosmolabe.core.agent import Proposal, Tried
from cosmolabe.core.record import read_json


def read_script(path: Path) -> list[dict[str, Any]]:
    """The steps of a script."""
    steps = read_json(path)
    if not isinstance(steps, list) or not steps:
        raise ValueError(f"{path}: a script is a list of steps")
    names: list[str] = []
    for place, step in enumerate(steps):
        if not isinstance(step, dict) or not isinstance(step.get("name"), str):
            raise ValueError(f"{path}, step {place}: needs a name")
        unknown = set(step) - {"name", "note", "on", "edits", "recipe", "seed", "class", "patch"}
        if unknown:
            raise ValueError(f"{path}, step '{step['name']}': unknown {sorted(unknown)}")
        if step.get("on", "starter") not in ("starter", "best", *names):
            raise ValueError(
                f"{path}, step '{step['name']}': on '{step['on']}', which is no step before it"
            )
        names.append(step["name"])
    return [_with_patch(step, path.parent) for step in steps]


def read_patch(path: Path) -> tuple[str, list[dict[str, str]]]:
    """Why a unified diff was made, and its hunks as edits."""
    if not path.is_file():
        raise ValueError(f"no patch {path}; it has to lie beside the script")
    text = "\n" + path.read_text("utf-8")
    reason, _, body = text.partition("\n--- ")
    edits = [_edit_of(hunk.splitlines()[1:]) for hunk in body.split("\n@@ ")[1:]]
    if not edits:
        raise ValueError(f"{path} is no unified diff: it has no line that begins with '@@ '")
    return " ".join(reason.split()), edits


def _edit_of(lines: Sequence[str]) -> dict[str, str]:
    """A hunk as what to find and what to put in its place, whole lines both."""
    parts = {"find": " -", "replace": " +"}
    return {
        name: "".join(f"{line[1:]}\n" for line in lines if (line or " ")[0] in signs)
        for name, signs in parts.items()
    }


def _with_patch(step: dict[str, Any], folder: Path) -> dict[str, Any]:
    if "patch" not in step:
        return step
    reason, edits = read_patch(folder / step["patch"])
    return {"note": reason, **step, "edits": [*edits, *step.get("edits", ())]}


def edited(
    starter: Proposal, steps: Sequence[dict[str, Any]], place: int, tried: Sequence[Tried]
) -> Proposal:
    """The proposal of a step: its edits made on what it builds upon."""
    step = steps[place]
    base = _base(starter, steps, step.get("on", "starter"), tried)
    train = base.train
    for edit in step.get("edits", ()):
        count = train.count(edit["find"])
        if count != 1:
            raise ValueError(
                f"step '{step['name']}': its edit fits {count} places, it has to be one: "
                f"{edit['find'][:80]!r}"
            )
        train = train.replace(edit["find"], edit["replace"])
    recipe = {**base.config["recipe"], **step.get("recipe", {})}
    return replace(
        base,
        train=train,
        config={**base.config, "recipe": recipe},
        note=step.get("note") or step["name"],
        seed=step.get("seed"),
    )


def _base(
    starter: Proposal, steps: Sequence[dict[str, Any]], on: str, tried: Sequence[Tried]
) -> Proposal:
    if on == "starter":
        return starter
    if on == "best":
        scored = [one for one in tried if one.status == "ok"]
        return max(scored, key=lambda one: one.val["composite"]).proposal if scored else starter
    return tried[[step["name"] for step in steps].index(on)].proposal
