"""The next state row from what a model predicted: one rebuild for every model.

A model predicts x, y, alive and the game fields. Velocity and history deltas follow from positions,
positions wrap where their axis wraps, immutable slots stay as the last context state had them.
The lines below run on numpy arrays and on torch tensors alike, so that training differentiates
through the very rebuild a rollout uses, and the plain baselines need no torch.
"""

import sys
from typing import Any

from jaxtyping import Bool, Float

from cosmolabe.core.fields import ALIVE, FIELDS_START, NUM_HISTORY

MARGIN = 0.05
"""How far beyond the world's edge a predicted entity may stand, shares of the world (our choice):
balls and rocks leave the screen by their radius before they are gone."""


def library(array: Any) -> Any:  # noqa: ANN401 - numpy or torch, whichever the array is of
    """The module an array belongs to, `numpy` or `torch`."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def wrapped(
    delta: Float[Any, "*shape 2"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*shape 2"]:
    """The shortest way on axes that wrap, -0.5..0.5 there."""
    xp = library(delta)
    return xp.where(wrap, delta - xp.floor(delta + 0.5), delta)


def place(
    positions: Float[Any, "*shape 2"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*shape 2"]:
    """Positions inside the world: modulo 1 on axes that wrap, else clamped with `MARGIN`."""
    xp = library(positions)
    inside = xp.clip(positions, -MARGIN, 1 + MARGIN)
    return xp.where(wrap, positions - xp.floor(positions), inside)


def predicted_columns(states: Float[Any, "*shape state"]) -> Float[Any, "*shape predicted"]:
    """The columns x, y, alive and game fields of state rows."""
    xp = library(states)
    fields = states[..., FIELDS_START:-NUM_HISTORY]
    return xp.concatenate([states[..., : ALIVE + 1], fields], axis=-1)


def next_state(
    last: Float[Any, "*batch slot state"],
    predicted: Float[Any, "*batch slot predicted"],
    mutable: Bool[Any, "*batches slot"],
    wrap: Bool[Any, "2"],
) -> Float[Any, "*batch slot state"]:
    """The state row that a predicted row makes after `last`.

    Alive is thresholded at 0.5. A delta is 0 where the entity is dead at either end, so that being
    born is no motion; the new velocity is the new delta. The second delta of `last` is forgotten,
    the first becomes the second. Immutable slots keep x, y, alive and fields and rest.
    """
    xp = library(last)
    kept = predicted_columns(last)
    predicted = xp.where(mutable[..., None], predicted, kept)
    positions = xp.where(mutable[..., None], place(predicted[..., :2], wrap), last[..., :2])
    alive = predicted[..., ALIVE : ALIVE + 1] > 0.5
    moved = alive & (last[..., ALIVE : ALIVE + 1] > 0.5)
    delta = wrapped(positions - last[..., :2], wrap)
    delta = xp.where(moved, delta, xp.zeros_like(delta))
    older = last[..., -NUM_HISTORY : 2 - NUM_HISTORY]
    alive = xp.where(alive, xp.ones_like(delta[..., :1]), xp.zeros_like(delta[..., :1]))
    return xp.concatenate(
        [positions, alive, delta, predicted[..., ALIVE + 1 :], delta, older], axis=-1
    )


assert (ALIVE, FIELDS_START) == (2, 5), "the rebuild relies on x, y, alive, vx, vy standing first"
