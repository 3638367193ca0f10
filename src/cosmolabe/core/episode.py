"""A played episode as five arrays, and windows cut from it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cosmolabe.core.fields import ALIVE, NUM_HISTORY
from cosmolabe.core.manifest import Manifest, Masks
from cosmolabe.core.rollout import Context


@dataclass(frozen=True)
class Episode:
    """T states and T - 1 real actions (the last row is masked, all zero)."""

    registry: Float[np.ndarray, "slot registry"]
    states: Float[np.ndarray, "time slot state"]
    actions: Float[np.ndarray, "time action"]
    globals: Float[np.ndarray, "time global"]
    terminal: Bool[np.ndarray, " time"]
    """True in the state that ended the episode by the rules."""
    truncated: bool = False
    """True when the clock, not the rules, ended it."""

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True)
class Windows:
    """A batch of windows of W + H states, with where each came from."""

    registry: Float[np.ndarray, "batch slot registry"]
    states: Float[np.ndarray, "batch window_and_horizon slot state"]
    actions: Float[np.ndarray, "batch window_and_horizon action"]
    globals: Float[np.ndarray, "batch window_and_horizon global"]
    terminal: Bool[np.ndarray, "batch window_and_horizon"]
    masks: Masks
    episodes: np.ndarray
    """Episode number of each window, int64 (batch,)."""
    starts: np.ndarray
    """Tick of each window's first state, int64 (batch,)."""

    def __len__(self) -> int:
        return len(self.states)

    def take(self, rows: slice | np.ndarray) -> "Windows":
        """Some rows of the batch."""
        arrays = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        return Windows(**arrays, masks=self.masks.take(rows))

    def context(self, window: int, horizon: int | None = None) -> Context:
        """The first `window` states and the actions, nothing of the future states.

        `horizon` shortens what is asked for; the default is all that the window holds.
        """
        end = self.states.shape[1] if horizon is None else window + horizon
        return Context(
            registry=self.registry,
            states=self.states[:, :window],
            globals=self.globals[:, :window],
            actions=self.actions[:, :end],
            masks=self.masks,
        )


def shortest_way(
    delta: Float[np.ndarray, "*shape"],
    wrap: Bool[np.ndarray, "*axis"],
) -> Float[np.ndarray, "*shape"]:
    """Displacements, in shares of the world, the short way round (-0.5..0.5) where `wrap` says."""
    return np.where(wrap, delta - np.floor(delta + np.float32(0.5)), delta)


def rebuild_motion(
    states: Float[np.ndarray, "time slot state"],
    manifest: Manifest,
) -> Float[np.ndarray, "time slot state"]:
    """The states with history deltas computed from positions, wrapped where an axis wraps.

    A delta is 0 where the entity was dead at either end: being born is no motion.
    """
    out = states.copy()
    history = manifest.profile.num_state - NUM_HISTORY
    masks = manifest.masks()
    out[:, :, history:] = 0
    for lag in (1, 2):
        newer, older = slice(1, None), slice(None, -1)
        with np.errstate(over="ignore", invalid="ignore"):  # whoever keeps it looks for infinities
            delta = out[newer, :, :2] - out[older, :, :2]
            delta = shortest_way(delta, masks.wrap)
        both = (out[newer, :, ALIVE] > 0.5) & (out[older, :, ALIVE] > 0.5)
        delta = np.where(both[..., None], delta, 0)
        column = history + 2 * (lag - 1)
        out[lag:, :, column : column + 2] = delta[: len(out) - lag]
    return out
