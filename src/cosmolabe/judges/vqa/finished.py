"""Judges rollouts that are already there, by their videos and the actions beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.data.rollouts import Rollout
from cosmolabe.data.video import Canvas, Limits, Sampling, Worker
from cosmolabe.judges.vqa.films import Film, Role, held
from cosmolabe.judges.vqa.judging import Vqa
from cosmolabe.judges.vqa.readings import readings_of

SIDE = 224  # of the square that a video is fitted into
MOST_FRAMES = 100_000
NO_VIDEO = "no video; draw the rollout first (`cosmolabe judge STORE --model … draws them)"


def judge(
    rollouts: Sequence[Rollout],
    protocol: str = "vqa/1",
    vqa: Vqa | None = None,
    limits: Limits | None = None,
    **more: Any,  # noqa: ANN401 - as `Vqa.judge`
) -> tuple[list[Reading], list[dict[str, Any]]]:
    """Readings of rollouts with videos by game and model, and one row a video.

    What truly happened, where its video is there, gives the ceiling.
    """
    vqa = vqa or Vqa.load(protocol=protocol)
    rows: list[dict[str, Any]] = []
    digests = []
    with_worker = Worker()
    try:
        for rollout in rollouts:
            films = films_of(rollout, limits or Limits(), with_worker)
            rows += vqa.judge(films, **more)
            digests.append([rollout.id, *(film.length for film in films)])
    finally:
        with_worker.kill()
    data = fingerprint(digests)
    return readings_of(rows, vqa.protocol, vqa.measured, data), rows


def films_of(rollout: Rollout, limits: Limits, worker: Worker) -> list[Film]:
    """The imagined film and, where its video is there, the true one."""
    context = rollout.context or 1
    common: dict[str, Any] = {
        "id": rollout.id, "fps": rollout.fps, "game": rollout.game, "context": context,
        "actions": rollout.actions if rollout.window is None else rollout.window.actions[0],
    }  # fmt: skip
    films = []
    wanted: list[tuple[Path | None, str, Role]] = [(rollout.video, rollout.model, "imagined")]
    if rollout.true_video:
        wanted.append((rollout.true_video, "true", "true"))
    for path, model, role in wanted:
        try:
            frames = read_frames(path, rollout.fps, limits, worker)
            films.append(
                Film(
                    pictures=held(frames), length=len(frames), model=model, role=role,
                    own_characters=rollout.prediction is None, **common,
                )
            )  # fmt: skip
        except ValueError as error:
            films.append(
                Film(pictures=_nothing, length=0, model=model, role=role, why=str(error), **common)
            )
    return films


def read_frames(
    path: Path | None, fps: float, limits: Limits, worker: Worker
) -> UInt8[np.ndarray, "time height width 3"]:
    """All pictures of a video at `fps`, fitted into a square, decoded in another process."""
    if path is None:
        raise ValueError(NO_VIDEO)
    sampling = Sampling("vqa-film", fps=fps, frames=MOST_FRAMES)
    for clip in worker.clips(path, sampling, Canvas(SIDE), limits):
        return clip.frames[clip.shown]
    raise ValueError(f"{path} holds no frames")


def _nothing(numbers: np.ndarray) -> np.ndarray:
    raise ValueError("a film that could not be read has no pictures")
