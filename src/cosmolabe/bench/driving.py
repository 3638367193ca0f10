"""Runs a world model over windows in fixed chunks; nothing it does can stop the judging.

Chunks are always of the same size, the last one filled up by repeating its last window, so how
many windows are judged changes no number.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from cosmolabe.core.episode import Windows
from cosmolabe.core.errors import in_words
from cosmolabe.core.rollout import Context, Prediction, WorldModel
from cosmolabe.core.seeds import seed_of
from cosmolabe.judges.state import sound

CHUNK = 64  # windows


def imagine(
    model: WorldModel, context: Context, seed: int = 0, chunk: int = CHUNK
) -> tuple[Prediction, tuple[str, ...]]:
    """What the model imagines for every window, and per window why it cannot be used (or "").

    The model is handed copies: no array it gets has the future in memory behind it. An exception,
    a wrong shape or a wrong dtype costs the windows of its chunk and is named, never raised.
    """
    shape = _shape(context)
    out = Prediction(
        np.empty((len(context), *shape[1:4]), np.float32),
        np.empty((len(context), shape[1], shape[4]), np.float32),
        np.empty((len(context), shape[1]), np.float32),
    )
    why: list[str] = []
    for first in range(0, len(context), chunk):
        rows = np.minimum(np.arange(first, first + chunk), len(context) - 1)
        part, reason = _one_chunk(model, context.take(rows), seed_of("roll", seed, first), shape)
        size = min(chunk, len(context) - first)
        for name in ("states", "globals", "terminal"):
            getattr(out, name)[first : first + size] = getattr(part, name)[:size]
        why += [reason] * size
    return out, tuple(why)


def imagine_single_steps(
    model: WorldModel, windows: Windows, window: int, seed: int = 0, chunk: int = CHUNK
) -> tuple[Prediction, tuple[str, ...]]:
    """One-step predictions from true states, at every step of the windows (teacher forcing)."""
    horizon = windows.states.shape[1] - window
    parts, reasons = [], [""] * len(windows)
    for step in range(horizon):
        context = Context(
            registry=windows.registry,
            states=windows.states[:, step : step + window],
            globals=windows.globals[:, step : step + window],
            actions=windows.actions[:, step : step + window + 1],
            masks=windows.masks,
        )
        part, why = imagine(model, context, seed_of("single step", seed, step), chunk)
        parts.append(part)
        reasons = [old or new for old, new in zip(reasons, why, strict=True)]
    return join_steps(parts), tuple(reasons)


def join_steps(parts: Sequence[Prediction]) -> Prediction:
    """Predictions of successive steps as one."""
    return Prediction(
        *(
            np.concatenate([getattr(part, name) for part in parts], axis=1)
            for name in ("states", "globals", "terminal")
        )
    )


def is_finite(prediction: Prediction) -> Bool[np.ndarray, " batch"]:
    """Of each rollout, whether every number in it is one."""
    arrays = (prediction.states, prediction.globals, prediction.terminal)
    return np.all([np.isfinite(a).reshape(len(a), -1).all(1) for a in arrays], axis=0)


def _shape(context: Context) -> tuple[int, int, int, int, int]:
    batch, _, slots, columns = context.states.shape
    predicted = columns - 6  # neither velocity nor the four history deltas
    return batch, context.horizon, slots, predicted, context.globals.shape[-1]


def _one_chunk(
    model: WorldModel, context: Context, seed: int, shape: tuple[int, int, int, int, int]
) -> tuple[Prediction, str]:
    # The masks say what is scored: a model that writes into its own changes nobody else's.
    context = replace(context, masks=context.masks.copy())
    # A seed of 31 bits: other people's random generators take no more.
    wanted = (len(context), *shape[1:])
    try:
        # What it hands back is its own code too: reading an attribute may raise or exit.
        return sound(model.rollout(context, seed=seed & 0x7FFFFFFF), wanted)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its exit() is no reason to stop judging
        return sound(None, wanted)[0], f"model raised {in_words(error)}"[:300]
