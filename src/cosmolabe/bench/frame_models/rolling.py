"""Rolls a frame model out, frame after frame, on true rollouts of held actions."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt8

from cosmolabe.bench.vqa.held_play import FRAMES, held_play
from cosmolabe.core import parts
from cosmolabe.core.frame_model import FrameFacts, FrameModel, facts_of
from cosmolabe.core.record import write_jsonl, written_whole
from cosmolabe.data.coding import coded
from cosmolabe.data.questions.protocol import GAME_FPS
from cosmolabe.engine.render import draw_frames

TOGETHER = 8  # rollouts at a time, a fixed number, so that their count changes nothing


@dataclass(frozen=True)
class Painted:
    """What a frame model paints of true rollouts, beside what happened."""

    true: UInt8[np.ndarray, "rollout time height width 3"]
    painted: UInt8[np.ndarray, "rollout time height width 3"]
    actions: Float[np.ndarray, "rollout time action"]
    given: int
    """Frames at the start that are true in both."""
    fps: float
    ids: tuple[str, ...]


def paint(model: FrameModel, game: str, num: int = 16, seed: int = 0) -> Painted:
    """Rollouts of three seconds of held actions, painted onward from the first true frames."""
    facts = facts_of(model)
    true, actions, ids = true_films(game, num, seed, facts)
    painted = roll_frames(model, true[:, : facts.context], actions)
    return Painted(true, painted, actions, facts.context, GAME_FPS / facts.every, ids)


def true_films(
    game: str, num: int, seed: int, facts: FrameFacts, frames: int = FRAMES
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """(frames, actions, ids) of true play as a model of these facts is shown it."""
    part = parts.load("games", game)
    window = (facts.context - 1) * facts.every + 1
    held = held_play(game, num, seed, frames=window - 1 + frames, window=max(window, 2))
    at = np.arange((max(window, 2) - 1) % facts.every, held.windows.states.shape[1], facts.every)
    films = [
        draw_frames(
            part, held.windows.states[row][at], held.windows.globals[row][at], held.looks[row],
            facts.size,
        )
        for row in range(num)
    ]  # fmt: skip
    return np.stack(films), held.windows.actions[:, at], held.names


def roll_frames(
    model: FrameModel,
    given: UInt8[np.ndarray, "rollout context height width 3"],
    actions: Float[np.ndarray, "rollout time action"],
) -> UInt8[np.ndarray, "rollout time height width 3"]:
    """Every frame is painted from the ones before it; what is painted is what is seen next.

    Raises:
        ValueError: The model gives something else than one uint8 frame a row.
    """
    context, total = given.shape[1], actions.shape[1]
    films = np.zeros((len(given), total, *given.shape[2:]), np.uint8)
    films[:, :context] = given
    for start in range(0, len(given), TOGETHER):
        some = slice(start, start + TOGETHER)
        for at in range(context, total):
            seen = slice(at - context, at)
            painted = model.step(films[some, seen].copy(), actions[some, seen].copy())
            films[some, at] = checked(model, painted, films[some, at].shape)
    return films


def checked(model: FrameModel, painted: np.ndarray, wanted: tuple[int, ...]) -> np.ndarray:
    """What `step` gave, or a refusal that says what it should be."""
    if not isinstance(painted, np.ndarray) or painted.dtype != np.uint8 or painted.shape != wanted:
        got = (
            f"{painted.dtype} {painted.shape}"
            if isinstance(painted, np.ndarray)
            else type(painted).__name__
        )
        raise ValueError(f"{model.name}.step gives uint8 {wanted}; got {got}")
    return painted


def write_painted(folder: Path | str, told: Painted, *, game: str, model: str, seed: int) -> Path:
    """A folder of rollouts with videos, true videos and actions, which `judge` takes."""
    folder = Path(folder)
    (folder / "actions").mkdir(parents=True, exist_ok=True)
    rows = []
    for row, name in enumerate(told.ids):
        files = {"video": f"videos/{name}.mp4", "true_video": f"videos/{name}-true.mp4"}
        for file, film in zip(files.values(), (told.painted[row], told.true[row]), strict=True):
            with written_whole(folder / file) as part:
                part.write_bytes(coded(film, told.fps))
        np.savez(folder / "actions" / f"{name}.npz", actions=told.actions[row])
        rows.append(
            {"id": name, **files, "actions": f"actions/{name}.npz", "fps": told.fps,
             "context": told.given, "model": model, "seed": seed, "game": game}
        )  # fmt: skip
    write_jsonl(folder / "rollouts.jsonl", rows)
    return folder
