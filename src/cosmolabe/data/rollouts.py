"""What a world model imagined from a start state, beside what truly happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from cosmolabe.core.episode import Windows
from cosmolabe.core.manifest import Masks
from cosmolabe.core.rollout import Prediction


@dataclass(frozen=True)
class Rollout:
    """What a world model imagined from a start state and actions, and what truly happened."""

    id: str
    game: str = ""
    model: str = ""
    fps: float = 60.0
    context: int | None = None
    """Given states or frames at the start."""
    seed: int = 0
    prompt: str = ""
    window: Windows | None = None
    """The true window, batch of one."""
    prediction: Prediction | None = None
    """What was imagined, batch of one."""
    actions: Float[np.ndarray, "time action"] | None = None
    """Commanded after each frame of the video; those of states stand in `window`."""
    video: Path | None = None
    true_video: Path | None = None


def rollouts_of(
    windows: Windows,
    prediction: Prediction,
    *,
    game: str,
    model: str,
    fps: float = 60.0,
    seed: int = 0,
) -> list[Rollout]:
    """A batch as single rollouts, as a folder of them would give them."""
    rollouts = []
    for index in range(len(windows)):
        one = slice(index, index + 1)
        window, imagined = windows.take(one), prediction.take(one)
        rollouts.append(
            Rollout(
                id=name_of(game, windows, index),
                game=game,
                model=model,
                fps=fps,
                context=windows.states.shape[1] - prediction.states.shape[1],
                seed=seed,
                window=window,
                prediction=imagined,
            )
        )
    return rollouts


def name_of(game: str, windows: Windows, index: int) -> str:
    """What a rollout is called by default: game, episode and first tick."""
    return f"{game}-{int(windows.episodes[index]):06d}-{int(windows.starts[index]):05d}"


def stack(rollouts: Sequence[Rollout], horizon: int) -> tuple[Windows, Prediction]:
    """Rollouts of one game as one batch, cut to `horizon` imagined steps."""
    windows = [rollout.window for rollout in rollouts if rollout.window is not None]
    imagined = [rollout.prediction for rollout in rollouts if rollout.prediction is not None]
    assert len(windows) == len(imagined) == len(rollouts), "every rollout needs states"
    shapes = {(w.states.shape[2:], w.registry.shape) for w in windows}
    if len(shapes) > 1:
        raise ValueError(
            f"rollouts of '{rollouts[0].game}' have different slots or columns: {sorted(shapes)}; "
            "judge them apart, each with its own game name"
        )
    end = windows[0].states.shape[1] - imagined[0].states.shape[1] + horizon

    def join(name: str) -> np.ndarray:
        return np.concatenate([getattr(window, name)[:, :end] for window in windows])

    first = windows[0].masks
    masks = Masks(
        valid=np.concatenate([np.atleast_2d(w.masks.valid) for w in windows]),
        mutable=np.concatenate([np.atleast_2d(w.masks.mutable) for w in windows]),
        fields=first.fields,
        globals=first.globals,
        actions=first.actions,
        wrap=first.wrap,
    )
    batch = Windows(
        registry=np.concatenate([window.registry for window in windows]),
        states=join("states"),
        actions=join("actions"),
        globals=join("globals"),
        terminal=join("terminal"),
        masks=masks,
        episodes=np.concatenate([window.episodes for window in windows]),
        starts=np.concatenate([window.starts for window in windows]),
    )
    prediction = Prediction(
        *(
            np.concatenate([getattr(item, name)[:, :horizon] for item in imagined])
            for name in ("states", "globals", "terminal")
        )
    )
    return batch, prediction
