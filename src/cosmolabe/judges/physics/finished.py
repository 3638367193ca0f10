"""Judges rollouts that are already there, by their videos."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosmolabe.core.reading import Reading
from cosmolabe.data.rollouts import Rollout
from cosmolabe.judges.physics.physics import Physics
from cosmolabe.judges.physics.readings import TRUE, readings_of

if TYPE_CHECKING:
    from cosmolabe.data.video import Input


def judge(
    rollouts: Sequence[Rollout],
    protocol: str = "physics/1",
    physics: Physics | None = None,
    **more: Any,  # noqa: ANN401 - as `inputs.score_inputs`
) -> tuple[list[Reading], list[dict]]:
    """Readings of rollouts with videos by game and model, and one row a video.

    What truly happened, where its video is there, gives the ceiling. A rollout of states alone has
    nothing to look at until it is drawn: its row says so.
    """
    from cosmolabe.judges.physics.inputs import digest_of, score_inputs

    inputs, lacking = inputs_of(rollouts)
    if physics is None:
        physics = Physics.load(protocol=protocol)
    rows = [row for _, row in score_inputs(physics, inputs, **more)] + lacking
    return readings_of(rows, physics.protocol, digest_of(rows)), rows


def inputs_of(rollouts: Sequence[Rollout]) -> "tuple[list[Input], list[dict[str, Any]]]":
    """The videos of rollouts, imagined and true, and rows of those that have none."""
    from cosmolabe.data.video import Input

    inputs, lacking, seen = [], [], set()
    for rollout in rollouts:
        about = {"id": rollout.id, "game": rollout.game, "model": rollout.model}
        if rollout.video is None:
            why = "no video; draw the rollout first (`cosmolabe judge STORE --model … draws them)"
            lacking.append({"input": rollout.id, "status": "failed", "why": why, **about})
        else:
            row = {**about, "prompt": rollout.prompt, "role": "imagined"}
            inputs.append(Input(rollout.id, Path(rollout.video), row))
        if rollout.true_video is not None and rollout.true_video not in seen:
            seen.add(rollout.true_video)
            row = {**about, "model": "", "role": TRUE}
            inputs.append(Input(f"{rollout.id} (true)", Path(rollout.true_video), row))
    return inputs, lacking
