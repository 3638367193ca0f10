"""Judges rollouts that are already there, by their videos and the actions beside them."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from cosmolabe.core.protocol import fingerprint
from cosmolabe.core.reading import Reading
from cosmolabe.data.rollouts import Rollout
from cosmolabe.data.video import Canvas, Limits, Sampling, Worker
from cosmolabe.judges.vqa.films import Film, Pictures, Role
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
    with_worker = Worker()
    try:
        for rollout in rollouts:
            films = films_of(rollout, limits or Limits(), with_worker)
            rows += vqa.judge(films, **more)
    finally:
        with_worker.kill()
    data = data_of(rollouts)
    return readings_of(rows, vqa.protocol, vqa.measured, data), rows


def commands_of(rollout: Rollout) -> Float[np.ndarray, "time action"] | None:
    """What was commanded after each frame, where anybody knows."""
    return rollout.actions if rollout.window is None else rollout.window.actions[0]


def data_of(rollouts: Sequence[Rollout]) -> str:
    """Fingerprint of what models were told to do, whatever they made of it.

    So that the runs of two models on the same commands can be compared.
    """
    told = []
    for one in rollouts:
        actions = commands_of(one)
        kept = "" if actions is None else _digest(actions)
        told.append([one.game, one.id, one.fps, one.context or 1, kept])
    return fingerprint(sorted(told))


def _digest(actions: Float[np.ndarray, "time action"]) -> str:
    numbers = np.ascontiguousarray(actions, np.float32)
    return hashlib.sha256(str(numbers.shape).encode() + numbers.tobytes()).hexdigest()[:16]


def films_of(rollout: Rollout, limits: Limits, worker: Worker) -> list[Film]:
    """The imagined film and, where its video is there, the true one."""
    context = rollout.context or 1
    common: dict[str, Any] = {
        "id": rollout.id, "fps": rollout.fps, "game": rollout.game, "context": context,
        "actions": commands_of(rollout),
    }  # fmt: skip
    films = []
    wanted: list[tuple[Path | None, str, Role]] = [(rollout.video, rollout.model, "imagined")]
    if rollout.true_video:
        wanted.append((rollout.true_video, "true", "true"))
    for path, model, role in wanted:
        try:
            pictures, length = read_pictures(path, rollout.fps, limits, worker)
            films.append(
                Film(
                    pictures=pictures, length=length, model=model, role=role,
                    own_characters=rollout.prediction is None, **common,
                )
            )  # fmt: skip
        except ValueError as error:
            films.append(
                Film(pictures=_nothing, length=0, model=model, role=role, why=str(error), **common)
            )
    return films


def read_pictures(
    path: Path | None, fps: float, limits: Limits, worker: Worker
) -> tuple[Pictures, int]:
    """The pictures of a video at `fps`, fitted into a square, and how many; decoded elsewhere.

    What the video shows once is held once, however often `fps` shows it.
    """
    if path is None:
        raise ValueError(NO_VIDEO)
    sampling = Sampling("vqa-film", fps=fps, frames=MOST_FRAMES)
    for clip in worker.clips(path, sampling, Canvas(SIDE), limits):
        return partial(_shown, clip.frames, clip.shown), len(clip.shown)
    raise ValueError(f"{path} holds no frames")


def _shown(
    frames: UInt8[np.ndarray, "picture height width 3"],
    places: Int[np.ndarray, " time"],
    numbers: Int[np.ndarray, " wanted"],
) -> UInt8[np.ndarray, "wanted height width 3"]:
    return frames[places[numbers]]


def _nothing(numbers: np.ndarray) -> np.ndarray:
    raise ValueError("a film that could not be read has no pictures")
