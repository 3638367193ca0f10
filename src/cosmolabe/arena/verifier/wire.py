"""What goes through the pipe: a context in, exactly the bytes of a prediction out.

One frame a chunk of windows: a line of JSON (B, W, H, N, the widths, whether the masks have rows of
their own, the seed), then the arrays of a `Context` one after the other, little-endian float32, and
its masks as bytes. The answer has no header: nothing but the float32 bytes of the states, globals
and terminal of a `Prediction`. No frame holds anything of the future but the actions.
"""

import json
from collections.abc import Mapping

import numpy as np

from cosmolabe.core.fields import ALIVE, NUM_HISTORY
from cosmolabe.core.rollout import Context, Prediction

ARRAYS = ("registry", "states", "globals", "actions")
MASKS = ("valid", "mutable", "fields", "globals", "actions", "wrap")
FLOAT = np.dtype("<f4")
NOT_PREDICTED = 2 + NUM_HISTORY  # columns of a state: velocity and the four history deltas


def header_of(context: Context, seed: int) -> dict[str, int]:
    """B, W, H, N, widths of the rows, rows of the masks (0: one for all), the rollout's seed."""
    batch, window, slots, state = context.states.shape
    rows = max(context.masks.valid.ndim, context.masks.mutable.ndim) > 1
    return {
        "B": batch,
        "W": window,
        "H": context.horizon,
        "N": slots,
        "registry": context.registry.shape[-1],
        "state": state,
        "global": context.globals.shape[-1],
        "action": context.actions.shape[-1],
        "masks": batch if rows else 0,
        "seed": seed,
    }


def mask_shapes(head: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Shapes of the masks of a frame."""
    slots = (head["masks"], head["N"]) if head["masks"] else (head["N"],)
    return {
        "valid": slots,
        "mutable": slots,
        "fields": (head["state"] - (ALIVE + 1) - NOT_PREDICTED,),
        "globals": (head["global"],),
        "actions": (head["action"],),
        "wrap": (2,),
    }


def frame_of(context: Context, seed: int) -> bytes:
    """One chunk of windows as bytes; every number is copied, nothing lies behind it."""
    head = header_of(context, seed)
    out = [json.dumps(head).encode() + b"\n"]
    out += [np.ascontiguousarray(getattr(context, name), FLOAT).tobytes() for name in ARRAYS]
    for name, shape in mask_shapes(head).items():
        mask = np.broadcast_to(getattr(context.masks, name), shape)
        out.append(np.ascontiguousarray(mask, np.uint8).tobytes())
    return b"".join(out)


def shapes_of(context: Context) -> tuple[tuple[int, ...], ...]:
    """Shapes of the states, globals and terminal that answer a context."""
    batch, _, slots, columns = context.states.shape
    horizon = context.horizon
    return (
        (batch, horizon, slots, columns - NOT_PREDICTED),
        (batch, horizon, context.globals.shape[-1]),
        (batch, horizon),
    )


def answer_size(context: Context) -> int:
    """How many bytes the answer has; no more and no fewer are taken."""
    return FLOAT.itemsize * sum(int(np.prod(shape)) for shape in shapes_of(context))


def prediction_of(context: Context, data: bytes | bytearray) -> Prediction:
    """The prediction in an answer.

    Raises:
        ValueError: It has another number of bytes than it must.
    """
    if len(data) != answer_size(context):
        raise ValueError(f"the answer has {len(data)} bytes, expected {answer_size(context)}")
    flat, arrays, start = np.frombuffer(data, FLOAT), [], 0
    for shape in shapes_of(context):
        size = int(np.prod(shape))
        arrays.append(flat[start : start + size].reshape(shape).astype(np.float32))
        start += size
    return Prediction(*arrays)
