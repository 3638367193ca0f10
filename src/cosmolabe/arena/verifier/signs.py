"""Signs in the predictions themselves that a score should not be read without a second look."""

import numpy as np

from cosmolabe.core.episode import Windows
from cosmolabe.core.fields import ALIVE
from cosmolabe.core.rollout import Prediction
from cosmolabe.judges.state import StateProtocol, scored_slots

FARTHEST = 1e6  # worlds; an honest rollout that diverges stays far below
FEW = 16  # windows; fewer show no habit
SAME = 1e-6  # worlds; spread of what is imagined for different windows
SPREAD = 1e-2  # worlds; spread of the truth that makes sameness telling
SHARE = 0.02
"""Of the slots shown; so many dead (alive) ones make "nobody is ever" telling."""


def spoilt(prediction: Prediction, windows: Windows) -> tuple[str, ...]:
    """Per window why its numbers cannot be used, or ""; slots that are not scored are not read."""
    slots = scored_slots(windows.masks)[:, None, :, None]
    states = prediction.states[..., : ALIVE + 1]
    with np.errstate(invalid="ignore"):
        far = (~(np.abs(states) <= FARTHEST) & slots).any((1, 2, 3))
    return tuple("not finite, or far outside any world" if one else "" for one in far)


def signs_of(
    prediction: Prediction, windows: Windows, protocol: StateProtocol, why: tuple[str, ...]
) -> tuple[str, ...]:
    """Names of `verdict.FLAGS` that the numbers alone give."""
    flags = ["invalid_predictions"] if any(why) else []
    sound = np.array([not reason for reason in why])
    if sound.sum() < FEW:
        return tuple(flags)
    rows = slice(None) if sound.all() else sound  # a view where nothing is left out
    imagined = prediction.states[rows, : protocol.horizon]
    truth = windows.states[rows]
    slots = np.broadcast_to(scored_slots(windows.masks), windows.states[:, 0, :, 0].shape)[rows]
    if _same_for_all(imagined, truth[:, protocol.window :][:, : protocol.horizon], slots):
        flags.append("ignores_context")
    lives = imagined[..., ALIVE] > protocol.alive_threshold
    shown = truth[:, protocol.window - 1, :, ALIVE] > 0.5
    if (~shown & slots).sum() >= SHARE * slots.sum() and lives[_over(slots, lives)].all():
        flags.append("everyone_alive")
    if (shown & slots).sum() >= SHARE * slots.sum() and not lives[_over(slots, lives)].any():
        flags.append("nobody_alive")
    return tuple(flags)


def _over(slots: np.ndarray, steps: np.ndarray) -> np.ndarray:
    return np.broadcast_to(slots[:, None], steps.shape)


def _same_for_all(imagined: np.ndarray, truth: np.ndarray, slots: np.ndarray) -> bool:
    """Whether every scored slot that moves about in truth stands at one place at the last step."""
    everywhere = slots.all(0)
    alive = (truth[:, -1, :, ALIVE] > 0.5).all(0)
    moves = everywhere & alive & (truth[:, -1, :, :2].std(0).max(-1) > SPREAD)
    return bool(moves.any() and (imagined[:, -1, moves, :2].std(0) < SAME).all())
